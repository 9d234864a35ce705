# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The report in a browser: a case is chosen, its pictures follow, nothing overlaps, nothing complains."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from ringscope.report import make_page

RECORDED = Path(__file__).parents[2] / "data" / "recorded"
#: Labels that lie on each other, as pairs of texts; SVG texts of one picture, in one call.
OVERLAPS = """
return [...document.querySelectorAll("svg.chart, .matrices svg, .lane-view svg")].flatMap(picture => {
  const boxes = [...picture.querySelectorAll("text")]
    .map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0);
  return boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
  ).map(([other]) => one + " / " + other));
});
"""


@pytest.fixture(scope="module", name="browser")
def fixture_browser():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    yield browser
    browser.quit()


@pytest.fixture(scope="module", params=["quickstart", "two-gpus"], name="html")
def fixture_html(request, pristine, tmp_path_factory):
    quickstart = Path(os.environ.get("RINGSCOPE_QUICKSTART_FILE") or pristine)
    file = {"quickstart": quickstart, "two-gpus": RECORDED / "h200-2-gpus.h5"}[request.param]
    html, said = make_page([file])
    assert said == []
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(name="page")
def fixture_page(browser, html):
    resize(browser, 1400)
    browser.get(html.as_uri())
    yield browser
    assert [line for line in browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")] == []


def resize(browser, width):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def view(browser, name):
    return browser.find_element(By.ID, name).get_attribute("innerHTML")


def test_a_click_on_a_case_changes_its_pictures(page):
    page.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    buttons = page.find_elements(By.CSS_SELECTOR, "#curves .panel:not([hidden]) button.case")
    seen = []
    for button in buttons[:3]:
        page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()
        assert Select(page.find_element(By.ID, "case")).first_selected_option.text.startswith(
            button.text + ":"
        )
        seen.append(tuple(view(page, name) for name in ("timeline-view", "matrix", "samples-view")))
    assert all(len(set(pictures)) == 3 for pictures in zip(*seen, strict=True))
    assert page.find_elements(By.CSS_SELECTOR, "#timeline-view .event")


def test_another_setting_shows_its_own_panels_alone(page):
    setting = Select(page.find_element(By.ID, "setting"))
    for option in [option.get_attribute("value") for option in setting.options]:
        setting.select_by_value(option)
        shown = page.find_elements(By.CSS_SELECTOR, ".panel:not([hidden])")
        assert len(shown) == 4 and {panel.get_attribute("data-setting") for panel in shown} == {option}


def test_the_keyboard_goes_from_event_to_event(page):
    picture = page.find_element(By.CSS_SELECTOR, "#timeline-view .lane-view svg")
    page.execute_script("arguments[0].focus()", picture)

    def press(key):
        page.switch_to.active_element.send_keys(key)
        return page.find_element(By.CSS_SELECTOR, ".details-of-event").text

    first, next_of_lane = press(Keys.ARROW_RIGHT), press(Keys.ARROW_RIGHT)
    assert "rank" in first and "chunk" in first and next_of_lane != first
    # Whose event is the first one is chance: from the lowest lane there is only the way up.
    other_lane = press(Keys.ARROW_DOWN)
    if other_lane == next_of_lane:
        other_lane = press(Keys.ARROW_UP)
    assert other_lane not in (first, next_of_lane)
    assert press("+") == other_lane
    assert len(page.find_elements(By.CSS_SELECTOR, ".event.chosen")) == 1


def test_a_key_of_the_legend_hides_its_curve(page):
    key = page.find_element(By.CSS_SELECTOR, "#curves .panel:not([hidden]) .key")
    name = key.get_attribute("data-series")
    key.click()
    curves = page.find_elements(
        By.CSS_SELECTOR, f'#curves .panel:not([hidden]) .series[data-series="{name}"]'
    )
    assert curves and not any(curve.is_displayed() for curve in curves)
    key.send_keys(Keys.ENTER)
    assert all(curve.is_displayed() for curve in curves)


def test_the_page_fits_and_no_label_lies_on_another(page, tmp_path):
    for scheme, width in (("light", 1400), ("dark", 1400), ("light", 800), ("dark", 800)):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        resize(page, width)
        page.refresh()
        root = "document.documentElement"
        assert page.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")
        assert page.execute_script(OVERLAPS) == []
        picture = tmp_path / f"page-{width}-{scheme}.png"
        assert page.save_screenshot(str(picture)) and picture.stat().st_size > 20_000
    # The check itself: a label laid upon another is found.
    page.execute_script(
        "const text = document.querySelector('svg.chart text'); text.after(text.cloneNode(true))"
    )
    assert page.execute_script(OVERLAPS) != []
