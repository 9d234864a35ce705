"use strict";
// Brings the page to life: which setting and which case is shown, tips, and the three pictures of one case.
(() => {
  // A section that could not be made has left no data.
  const data = (name, none) => JSON.parse((document.getElementById("data-" + name) || {textContent: none}).textContent);
  const cases = data("cases", "[]"), links = data("links", "{}"), lines = data("timelines", "{}"), samples = data("samples", "{}");
  const byKey = new Map(cases.map(one => [one.key, one]));
  const find = id => document.getElementById(id);
  const chooser = {setting: find("setting"), case: find("case")};

  // ---- words

  const escaped = text => String(text).replace(/[&<>"]/g, sign => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[sign]);

  function digits(value) {
    if (value === 0) return "0";
    return value.toFixed(Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))));
  }

  function duration(ns) {
    for (const [factor, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
      if (Math.abs(ns) >= factor) return digits(ns / factor) + " " + unit;
    return digits(ns) + " ns";
  }

  // A round number of an axis needs no zeros behind its point.
  const plain = words => words.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
  const tickOf = ns => ns === 0 ? "0" : plain(duration(ns));

  function size(bytes) {
    for (const [factor, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
      if (bytes >= factor && bytes % factor === 0) return bytes / factor + " " + unit;
    return bytes + " B";
  }

  const titleOf = one => `${one.series}, ${size(one.bytes)}, ${one.mode}, ${one.engine}`;
  const colourOf = one => (document.querySelector(`.series[data-series="${CSS.escape(one.series)}"], .key[data-series="${CSS.escape(one.series)}"]`) || document.body).style.getPropertyValue("--c") || "var(--accent)";

  // ---- what is shown

  function showSetting(key, wanted) {
    chooser.setting.value = key;
    for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.dataset.setting !== String(key);
    const mine = cases.filter(one => String(one.setting) === String(key));
    chooser.case.innerHTML = mine.map(one => `<option value="${one.key}">${one.case}: ${escaped(titleOf(one))}</option>`).join("");
    const place = byKey.get(wanted) || mine.filter(one => lines[one.key]).sort((a, b) => b.bytes - a.bytes)[0] || mine[0];
    if (place) showCase(place.key);
  }

  function showCase(key) {
    const one = byKey.get(key);
    if (String(one.setting) !== chooser.setting.value) return showSetting(one.setting, key);
    chooser.case.value = key;
    drawMatrices(one);
    drawTimeline(one);
    drawSamples(one);
  }

  // ---- tips and curves

  const tip = find("tip");
  document.addEventListener("pointermove", event => {
    const words = event.target.dataset && event.target.dataset.tip;
    tip.hidden = !words;
    if (!words) return;
    tip.textContent = words;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (event.clientY + box.height + 26 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18) + "px";
  });

  const curvesBeside = key => [...key.closest(".panel, section").querySelectorAll(".series")];
  function highlight(key, on) {
    for (const curve of curvesBeside(key)) curve.classList.toggle("faded", on && curve.dataset.series !== key.dataset.series);
  }
  for (const key of document.querySelectorAll(".key")) {
    key.addEventListener("pointerenter", () => highlight(key, true));
    key.addEventListener("pointerleave", () => highlight(key, false));
    key.addEventListener("click", () => {
      const on = key.getAttribute("aria-pressed") !== "true";
      key.setAttribute("aria-pressed", on);
      for (const curve of curvesBeside(key)) if (curve.dataset.series === key.dataset.series) curve.classList.toggle("off", !on);
    });
  }

  // ---- matrices of bytes

  const ACCOUNTS = [["declared", 2], ["traced", 3], ["closed form", 4]];

  function drawMatrices(one) {
    if (!find("matrix")) return;
    const here = links[one.key];
    if (!here) {
      find("matrix").innerHTML = `<h3>${escaped(titleOf(one))}</h3><p class="note">The traffic of this case is not observable, or not on this page.</p>`;
      return;
    }
    const largest = Math.max(1, ...here.rows.map(row => Math.max(row[2], row[3], row[4])));
    const pictures = ACCOUNTS.map(([name, place]) => matrix(name, place, here, largest)).join("");
    find("matrix").innerHTML = `<h3>${escaped(titleOf(one))}</h3><div class="matrices">${pictures}</div>${equality(here.rows)}`;
  }

  function equality(rows) {
    const off = rows.filter(row => new Set(row.slice(2, 5).filter(bytes => bytes >= 0)).size > 1).length;
    const words = off ? `${off} of ${rows.length} links differ; they are framed.` : `All ${rows.length} links agree as integers, as far as there are accounts of them.`;
    return `<p class="caption">${words}</p>`;
  }

  function matrix(name, place, here, largest) {
    if (here.rows.every(row => row[place] < 0)) return `<figure><figcaption>${name}</figcaption><p class="note">There is none.</p></figure>`;
    const step = 300 / here.ranks, cells = new Map(here.rows.map(row => [row[0] * here.ranks + row[1], row]));
    let inside = "";
    for (let src = 0; src < here.ranks; ++src)
      for (let dst = 0; dst < here.ranks; ++dst) inside += cell(name, place, cells.get(src * here.ranks + dst), src, dst, step, largest);
    for (let rank = 0; here.ranks <= 16 && rank < here.ranks; ++rank)
      inside += `<text class="tick" x="${30 + (rank + .5) * step}" y="14" text-anchor="middle">${rank}</text>` +
        `<text class="tick" x="24" y="${20 + (rank + .5) * step + 4}" text-anchor="end">${rank}</text>`;
    return `<figure><figcaption>${name}</figcaption><svg viewBox="0 0 332 322" role="img" aria-label="${name} bytes per link">${inside}</svg></figure>`;
  }

  function cell(name, place, row, src, dst, step, largest) {
    const bytes = row ? row[place] : 0, depth = Math.max(0, bytes / largest);
    const differs = row && new Set(row.slice(2, 5).filter(value => value >= 0)).size > 1;
    const x = 30 + dst * step, y = 20 + src * step;
    const words = bytes > 0 && step >= 36 ? `<text class="cell-text ${depth > .55 ? "deep" : ""}" x="${x + step / 2}" y="${y + step / 2 + 4}" text-anchor="middle">${short(bytes)}</text>` : "";
    return `<rect class="cell ${differs ? "differs" : ""}" x="${x}" y="${y}" width="${step}" height="${step}" fill-opacity="${(depth * .92).toFixed(2)}" ` +
      `data-tip="${src} to ${dst}: ${bytes < 0 ? "not available" : bytes.toLocaleString("en") + " B " + name}"/>${words}`;
  }

  function short(bytes) {
    for (const [factor, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (bytes >= factor) return digits(bytes / factor) + unit;
    return String(bytes);
  }

  // ---- time line

  const view = {line: null, events: [], chosen: -1, zoom: 1};

  // Columns come as differences and as single values; see timeline.py.
  function unpacked(line) {
    const column = name => Array.isArray(line.columns[name]) ? place => line.columns[name][place] : () => line.columns[name];
    const get = Object.fromEntries(Object.keys(line.columns).map(name => [name, column(name)]));
    let begin = 0;
    return Array.from({length: line.shown}, (_, place) => {
      const one = Object.fromEntries(Object.entries(get).map(([name, value]) => [name, value(place)]));
      begin += one.begin;
      return {...one, begin, ready: begin + one.waits, end: begin + one.waits + one.moves, posted: one.posted >= 0 ? begin + one.posted : -1};
    });
  }

  function drawTimeline(one) {
    const place = find("timeline-view"), line = lines[one.key];
    if (!place) return;
    if (!line) {
      place.innerHTML = `<h3>${escaped(titleOf(one))}</h3><p class="note">This case has no events: its algorithm is not observable, or it was not traced.</p>`;
      return;
    }
    Object.assign(view, {line, events: unpacked(line), chosen: -1, zoom: 1});
    const lanes = [...new Set(view.events.map(event => event.rank * 1e6 + event.channel))].sort((a, b) => a - b);
    view.lanes = new Map(lanes.map((lane, row) => [lane, row]));
    view.laneHeight = lanes.length > 20 ? 16 : lanes.length > 10 ? 22 : 32;
    const several = new Set(lanes.map(lane => lane % 1e6)).size > 1;
    const names = lanes.map(lane => `<div style="height:${view.laneHeight}px;line-height:${view.laneHeight}px">rank ${Math.floor(lane / 1e6)}${several ? ", channel " + lane % 1e6 : ""}</div>`).join("");
    place.innerHTML = `<h3>${escaped(titleOf(one))}, iteration ${line.iteration}</h3>` +
      (line.left_out ? `<p class="note">${escaped(line.left_out)}</p>` : "") +
      `<div class="tools"><button type="button" data-zoom="2">Zoom in</button><button type="button" data-zoom="0.5">Zoom out</button><button type="button" data-zoom="0">Whole</button>` +
      `<span>Keys in the picture: arrows go from event to event, + - 0 zoom.</span></div>` +
      `<div class="lanes"><div class="lane-names">${names}</div><div class="lane-view"></div></div><div class="details-of-event" aria-live="polite">Point at a bar, or press an arrow key in the picture.</div>`;
    for (const button of place.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
    drawLanes();
  }

  function drawLanes() {
    const box = find("timeline-view").querySelector(".lane-view"), height = view.lanes.size * view.laneHeight;
    const width = Math.max(300, box.clientWidth) * view.zoom, end = Math.max(1, ...view.events.map(event => event.end));
    const x = view.x = ns => 1 + ns / end * (width - 30);
    let inside = "";
    for (let row = 0; row < view.lanes.size; ++row) inside += `<rect class="lane" x="0" width="${width}" y="${row * view.laneHeight + 1}" height="${view.laneHeight - 2}"/>`;
    for (const tick of ticks(end, width / 110)) inside += `<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="0" y2="${height + 4}"/><text class="tick" x="${Math.max(x(tick), 3)}" y="${height + 17}" text-anchor="${tick ? "middle" : "start"}">${tickOf(tick)}</text>`;
    view.events.forEach((event, place) => { inside += bars(event, place, x); });
    box.innerHTML = `<svg width="${width}" height="${height + 22}" tabindex="0" role="group" aria-label="Events; arrow keys go from one to the next">${inside}<path class="message"/></svg>`;
    const picture = box.firstChild;
    picture.addEventListener("keydown", onKey);
    const pointed = event => { const bar = event.target.closest(".event"); if (bar) choose(Number(bar.dataset.place), false); };
    picture.addEventListener("pointerover", pointed);
    picture.addEventListener("click", pointed);
    if (view.chosen >= 0) choose(view.chosen, true);
  }

  function topOf(event) {
    const half = view.laneHeight / 2 - 2;
    return view.lanes.get(event.rank * 1e6 + event.channel) * view.laneHeight + (event.direction === "send" ? half + 2 : 2);
  }

  function bars(event, place, x) {
    const y = topOf(event), height = view.laneHeight / 2 - 3;
    const bar = (kind, from, to) => `<rect class="${event.direction}-${kind}" x="${x(from).toFixed(1)}" y="${y}" width="${Math.max(x(to) - x(from), .6).toFixed(1)}" height="${height}"/>`;
    return `<g class="event" data-place="${place}">${bar("waiting", event.begin, event.ready)}${bar("moving", event.ready, event.end)}</g>`;
  }

  function ticks(end, wanted) {
    const rough = end / Math.max(2, wanted), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(factor => factor * power).find(value => value >= rough);
    return Array.from({length: Math.floor(end / step) + 1}, (_, place) => place * step);
  }

  function partnerOf(event) {
    return view.events.findIndex(other => other.direction !== event.direction && other.rank === event.peer && other.peer === event.rank &&
      other.seq === event.seq && other.channel === event.channel);
  }

  function choose(place, scroll) {
    view.chosen = place;
    const root = find("timeline-view"), event = view.events[place], other = partnerOf(event);
    for (const bar of root.querySelectorAll(".event.chosen, .event.partner")) bar.classList.remove("chosen", "partner");
    const bar = root.querySelector(`.event[data-place="${place}"]`);
    bar.classList.add("chosen");
    const middle = one => topOf(one) + view.laneHeight / 4 - 1;
    let way = "";
    if (other >= 0) {
      root.querySelector(`.event[data-place="${other}"]`).classList.add("partner");
      const [from, to] = event.direction === "send" ? [event, view.events[other]] : [view.events[other], event];
      way = `M${view.x(from.ready)} ${middle(from)}L${view.x(to.ready)} ${middle(to)}`;
    }
    root.querySelector(".message").setAttribute("d", way);
    root.querySelector(".details-of-event").innerHTML = details(event, other);
    if (scroll) bar.scrollIntoView({block: "nearest", inline: "nearest"});
  }

  function details(event, other) {
    const sends = event.direction === "send";
    const waited = event.waited > 0 ? `waits ${duration(event.waited)} for ${sends ? "a free slot" : "data"}` : "does not wait";
    const flight = other < 0 ? "its other end is not shown" : `${sends ? "received" : "sent"} there from ${duration(view.events[other].ready)} to ${duration(view.events[other].end)}`;
    return `<b>rank ${event.rank} ${sends ? "sends to" : "receives from"} rank ${event.peer}</b>: ${size(event.payload)}, chunk ${event.chunk}, slice ${event.slice}, channel ${event.channel}, ` +
      `step ${event.step} (${event.phase}), op ${event.op}, message ${event.seq}<br>begins at ${duration(event.begin)}, ready at ${duration(event.ready)}, done at ${duration(event.end)}; ` +
      `${waited}, then moves for ${duration(event.moves)}${event.posted >= 0 ? `; its first part is handed over at ${duration(event.posted)}` : ""}<br>${flight}`;
  }

  function onKey(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], lane = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) choose(neighbour(step), true);
    else if (lane) choose(inLane(lane), true);
    else if (event.key === "+" || event.key === "=") zoom(2);
    else if (event.key === "-") zoom(.5);
    else if (event.key === "0") zoom(0);
    else return;
    event.preventDefault();
  }

  const rowOf = event => view.lanes.get(event.rank * 1e6 + event.channel) * 2 + (event.direction === "send");

  function neighbour(step) {
    if (view.chosen < 0) return 0;
    const row = rowOf(view.events[view.chosen]);
    for (let place = view.chosen + step; place >= 0 && place < view.events.length; place += step)
      if (rowOf(view.events[place]) === row) return place;
    return view.chosen;
  }

  function inLane(step) {
    if (view.chosen < 0) return 0;
    const here = view.events[view.chosen];
    for (let row = rowOf(here) + step; row >= 0 && row < view.lanes.size * 2; row += step) {
      const there = view.events.map((event, place) => [Math.abs(event.begin - here.begin), place]).filter(([, place]) => rowOf(view.events[place]) === row);
      if (there.length) return there.sort((a, b) => a[0] - b[0])[0][1];
    }
    return view.chosen;
  }

  function zoom(factor) {
    const box = find("timeline-view").querySelector(".lane-view"), focused = box.contains(document.activeElement);
    // About the chosen event, or what is in the middle.
    const about = view.chosen >= 0 ? view.x(view.events[view.chosen].ready) : box.scrollLeft + box.clientWidth / 2;
    const middle = about / (box.clientWidth * view.zoom);
    view.zoom = factor ? Math.min(64, Math.max(1, view.zoom * factor)) : 1;
    drawLanes();
    box.scrollLeft = middle * box.clientWidth * view.zoom - box.clientWidth / 2;
    if (focused) box.firstChild.focus();
  }

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (document.querySelector("#timeline-view .lane-view")) drawLanes(); }, 150);
  });

  // ---- samples

  const FRAME = {width: 600, height: 300, left: 66, right: 14, top: 12, bottom: 42};

  function drawSamples(one) {
    if (!find("samples-view")) return;
    const here = samples[one.key];
    if (!here || !here.ns.length) {
      find("samples-view").innerHTML = `<h3>${escaped(titleOf(one))}</h3><p class="note">This case has no samples.</p>`;
      return;
    }
    const rows = here.ns.map((ns, place) => ({ns, state: here.state[place], traced: here.traced[place], iteration: here.iteration[place]})).filter(row => row.ns > 0);
    const counted = rows.filter(row => row.state === "ok" && !row.traced);
    const thin = here.shown < here.of ? `<p class="note">${here.shown} of ${here.of} samples are shown.</p>` : "";
    find("samples-view").innerHTML = `<h3>${escaped(titleOf(one))}</h3>${thin}<div class="pair" style="--c:${colourOf(one)}">` +
      `<figure><figcaption>In their order</figcaption>${ordered(one, rows)}</figure>` +
      (counted.length ? `<figure><figcaption>Distribution of the ${counted.length} that count</figcaption>${distribution(one, counted)}</figure>` : "") + "</div>";
  }

  function logScale(values) {
    const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values)), half = Math.max(high - low, Math.log(1.1)) * .56, middle = (low + high) / 2;
    return {low: Math.exp(middle - half), high: Math.exp(middle + half), at: value => (Math.log(value) - middle + half) / (2 * half)};
  }

  // Round numbers between low and high: decades, 1-2-5, or even steps where the axis is short.
  function roundTicks(low, high) {
    const decades = Math.log10(high / low);
    if (decades < .7) {
      const step = ticks(high - low, 5)[1];
      return Array.from({length: 12}, (_, place) => (Math.ceil(low / step) + place) * step).filter(value => value <= high);
    }
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power)
      for (const factor of decades < 3 ? [1, 2, 5] : [1]) found.push(factor * 10 ** power);
    return found.filter(value => value >= low && value <= high);
  }

  const svg = (inside, label) => `<svg class="chart" viewBox="0 0 ${FRAME.width} ${FRAME.height}" role="img" aria-label="${label}">${inside}</svg>`;

  function ordered(one, rows) {
    const y = logScale(rows.map(row => row.ns)), height = FRAME.height - FRAME.top - FRAME.bottom, bottom = FRAME.height - FRAME.bottom;
    const last = Math.max(1, ...rows.map(row => row.iteration));
    const px = row => FRAME.left + 8 + row.iteration / last * (FRAME.width - FRAME.left - FRAME.right - 16), py = ns => bottom - y.at(ns) * height;
    let inside = roundTicks(y.low, y.high).map(tick => `<line class="grid" x1="${FRAME.left}" x2="${FRAME.width - FRAME.right}" y1="${py(tick)}" y2="${py(tick)}"/><text class="tick" x="${FRAME.left - 8}" y="${py(tick) + 4}" text-anchor="end">${tickOf(tick)}</text>`).join("");
    if (one.median_ns) inside += `<line class="median" x1="${FRAME.left}" x2="${FRAME.width - FRAME.right}" y1="${py(one.median_ns)}" y2="${py(one.median_ns)}"/>`;
    inside += rows.map(row => `<circle class="sample ${row.state === "ok" && !row.traced ? "" : "out"}" cx="${px(row).toFixed(1)}" cy="${py(row.ns).toFixed(1)}" r="3.6" data-tip="iteration ${row.iteration}\n${duration(row.ns)}\n${row.state}${row.traced ? ", traced" : ""}"/>`).join("");
    inside += ticks(last, 8).filter(tick => Number.isInteger(tick)).map(tick => `<text class="tick" x="${px({iteration: tick})}" y="${bottom + 17}" text-anchor="middle">${tick}</text>`).join("");
    inside += `<line class="frame" x1="${FRAME.left}" x2="${FRAME.width - FRAME.right}" y1="${bottom}" y2="${bottom}"/><text class="axis" x="${(FRAME.left + FRAME.width) / 2}" y="${bottom + 35}" text-anchor="middle">iteration</text>`;
    return svg(inside, "Samples in their order");
  }

  function distribution(one, rows) {
    const x = logScale(rows.map(row => row.ns)), width = FRAME.width - FRAME.left - FRAME.right, bottom = FRAME.height - FRAME.bottom, height = bottom - FRAME.top;
    const px = ns => FRAME.left + x.at(ns) * width, py = share => bottom - share * height;
    const sorted = rows.map(row => row.ns).sort((a, b) => a - b);
    let inside = [0, .25, .5, .75, 1].map(share => `<line class="grid" x1="${FRAME.left}" x2="${FRAME.width - FRAME.right}" y1="${py(share)}" y2="${py(share)}"/><text class="tick" x="${FRAME.left - 8}" y="${py(share) + 4}" text-anchor="end">${share * 100} %</text>`).join("");
    let free = 0;
    for (const tick of roundTicks(x.low, x.high)) {
      if (px(tick) < free) continue;
      free = px(tick) + 58;
      inside += `<line class="frame" x1="${px(tick)}" x2="${px(tick)}" y1="${bottom}" y2="${bottom + 4}"/><text class="tick" x="${px(tick)}" y="${bottom + 17}" text-anchor="middle">${tickOf(tick)}</text>`;
    }
    if (one.median_ns) inside += `<line class="median" x1="${px(one.median_ns)}" x2="${px(one.median_ns)}" y1="${FRAME.top}" y2="${bottom}"/>`;
    let way = `M${px(sorted[0])} ${bottom}`;
    sorted.forEach((ns, place) => { way += `H${px(ns).toFixed(1)}V${py((place + 1) / sorted.length).toFixed(1)}`; });
    inside += `<path class="curve" d="${way}"/><line class="frame" x1="${FRAME.left}" x2="${FRAME.width - FRAME.right}" y1="${bottom}" y2="${bottom}"/>`;
    inside += `<text class="axis" x="${(FRAME.left + FRAME.width) / 2}" y="${bottom + 35}" text-anchor="middle">time of one operation</text>`;
    return svg(inside, "Share of samples that took no longer");
  }

  // ---- begin

  chooser.setting.addEventListener("change", () => showSetting(chooser.setting.value));
  chooser.case.addEventListener("change", () => showCase(chooser.case.value));
  document.addEventListener("click", event => {
    const button = event.target.closest("button.case");
    if (!button) return;
    showCase(button.dataset.case);
    find("timeline").scrollIntoView();
  });
  if (chooser.setting.options.length) showSetting(chooser.setting.options[0].value);
})();
