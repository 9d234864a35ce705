# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The checker of files: silent on a faithful one, and one mutant for every rule it keeps."""

from __future__ import annotations

import pytest

from ringscope.cli import main
from ringscope.cli import main
from ringscope.lint import lint_file


def test_lint_of_a_faithful_file_finds_nothing(pristine, capsys):
    assert main(["lint", str(pristine)]) == 0
    assert capsys.readouterr().out == ""


def put(path, place, value):
    """A mutant that stores one value."""

    def change(file):
        file[path][place] = value

    return change


def add(path, place, value):
    """A mutant that shifts one value."""

    def change(file):
        file[path][place] += value

    return change


def remove(path):
    def change(file):
        del file[path]

    return change


def undescribe(file):
    del file["events/seq"].attrs["units"]


def swap_stamps(file):
    file["events/begin_ns"][5], file["events/end_ns"][5] = (
        file["events/end_ns"][5],
        file["events/begin_ns"][5],
    )


def receive_early(file):
    # Row 1 is rank 0's first receive, of the send that rank 3 begins 10 us before.
    for name in ("begin_ns", "ready_ns", "end_ns"):
        file[f"events/{name}"][1] -= 10_000 + 9_000 + 1


MUTANTS = {
    "missing column": (remove("events/wire_bytes"), "/events/wire_bytes: missing"),
    "missing units": (undescribe, "/events/seq: no units"),
    "disorder": (swap_stamps, "not begin <= ready <= end"),
    "ready after end": (add("events/ready_ns", 7, 50_000), "not begin <= ready <= end"),
    "zero stamp": (put("events/begin_ns", 3, 0), "a stamp is missing"),
    "zero minus epoch": (put("events/end_ns", 3, -123_456_789), "a stamp is missing"),
    "zero sample": (put("samples/enter_ns", 8, 0), "a stamp of the sample is missing"),
    "exit before entry": (add("samples/exit_ns", 8, -5_000_000), "exit before entry"),
    "payload of one end": (add("events/payload_bytes", 4, 16), "link 0 -> 1, message 2: sent"),
    "wire of one end": (add("events/wire_bytes", 4, 16), "on the wire"),
    "message renumbered": (put("events/seq", 0, 99), "never received"),
    "message twice": (put("events/seq", 0, 1), "occurs twice"),
    "wrong peer": (put("events/peer", 0, 2), "link 0 -> 2"),
    "received early": (receive_early, "received before it was sent"),
    "lost event": (add("cases/events_written", 0, -1), "case 0: 95 events written + 0 dropped, expected 96"),
    "unannounced loss": (add("cases/events_dropped", 0, 1), "lossy"),
    "traced 16 more": (add("traffic/traced_payload", 0, 16), "16 bytes more than the closed form"),
    "declared 16 less": (add("traffic/declared_payload", 0, -16), "16 bytes less than the closed form"),
    "closed form": (add("traffic/closed_form", 0, 4), "4 bytes less than the closed form"),
    "unknown case": (put("traffic/case", 0, 77), "/traffic: case 77 is not in /cases"),
    "sample twice": (put("samples/rank", 1, 0), "more than one sample"),
    "incomplete": (lambda file: file.attrs.__setitem__("complete", 0), "incomplete"),
    "major version": (lambda file: file.attrs.__setitem__("schema_version", "2.0.0"), "2.0.0"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_lint_finds_the_mutant(spoiled, capsys, mutant):
    change, words = MUTANTS[mutant]
    path = spoiled(change)
    assert main(["lint", str(path)]) == 7
    assert words in capsys.readouterr().out


def test_lint_names_case_link_and_bytes_of_wrong_traffic(spoiled):
    findings = lint_file(spoiled(add("traffic/traced_payload", 9, 16)))
    assert (
        "case 2 (ring-simple, 1000 bytes) link 1 -> 2: "
        "traced 1520 bytes, 16 bytes more than the closed form (1504)" in findings
    )


def test_lint_of_a_simulated_file_allows_the_time_zero(spoiled):
    def simulate(file):
        file.attrs["source"] = "simulated"
        for name in ("begin_ns", "ready_ns", "end_ns"):
            file[f"events/{name}"][...] -= file["events/begin_ns"][0] if name != "begin_ns" else 0
        file["events/begin_ns"][...] -= file["events/begin_ns"][0]

    assert lint_file(spoiled(simulate)) == []


def test_lint_of_a_lossy_case_checks_no_pairs(spoiled):
    def lose(file):
        file.attrs["lossy"] = 1
        file["cases/events_dropped"][0] += 1
        file["cases/events_expected"][0] += 1
        file["events/seq"][0] = 99

    assert lint_file(spoiled(lose)) == []


@pytest.mark.parametrize(("recovered", "words"), [(1, ""), (0, "samples of ")])
def test_lint_of_a_recovered_file_lets_an_unfinished_case_lack_rows(spoiled, recovered, words):
    def end_early(file):
        file.attrs["recovered"] = recovered
        file["cases/status"][0] = "failed"
        first = int(file["samples/rank"][0])
        alone = (file["samples/case"][...] == 0) & (file["samples/rank"][...] == first)
        file["samples/iteration"][alone] += 1000
        file["events/seq"][0] = 99

    findings = lint_file(spoiled(end_early))
    assert words in "\n".join(findings) and bool(findings) == bool(words)


def test_lint_of_an_aborted_iteration_checks_no_pairs(spoiled):
    def abort(file):
        rows = (file["samples/case"][...] == 0) & (file["samples/iteration"][...] == 22)
        file["samples/state"][rows] = 4
        file["samples/exit_ns"][rows] = -1
        file["events/seq"][0] = 99
        file["events/end_ns"][0] = -1

    assert lint_file(spoiled(abort)) == []


@pytest.mark.parametrize("command", ["lint", "table"])
def test_commands_refuse_what_is_not_hdf5(tmp_path, command):
    path = tmp_path / "text.h5"
    path.write_text("no trace")
    assert main([command, str(path)]) == 7


def test_table_prints_every_case_and_the_verdict(pristine, capsys):
    assert main(["table", str(pristine)]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 1 + 1 + 6 + 1
    assert "every link of 4 cases carries exactly its closed form" in printed


def test_usage_error_is_2(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["report"])
    assert stopped.value.code == 2


def test_a_file_must_have_the_columns_of_its_minor_version(spoiled):
    def claim(file):
        file.attrs["schema_version"] = "1.2.0"

    findings = lint_file(spoiled(claim))
    assert "/events/posted_ns: missing" in findings and "/clock_exchanges/asked_ns: missing" in findings


def test_a_trace_out_of_order_is_said_wherever_its_order_is_shown(spoiled, tmp_path, capsys):
    def break_order(file):
        count = file["cases/case"].shape[0]
        for column, value in (("pairs", 40), ("decisive", 30), ("violations", 3)):
            name = f"cases/causality_{column}"
            file[name] = [value if case == 1 else 0 for case in range(count)]
            file[name].attrs.update({"units": "1", "long_name": column})

    path = spoiled(break_order)
    said = "3 of 40 messages were received before they were sent"
    assert any(finding.startswith("case 1 ") and said in finding for finding in lint_file(path))
    assert main(["timeline", str(path), "--case", "1", "--perfetto", str(tmp_path / "one.json")]) == 0
    assert said in capsys.readouterr().err
    assert main(["timeline", str(path), "--case", "0", "--perfetto", str(tmp_path / "none.json")]) == 0
    assert said not in capsys.readouterr().err
    page = tmp_path / "page.html"
    assert main(["report", str(path), "-o", str(page)]) == 0
    assert said in page.read_text(encoding="utf-8")
