#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up the JUnit files of several test runners and prints `N passed, N failed, N skipped` as its last line.

What looks like nothing counts as a failure: a runner without a result file or with a broken one, a suite without
tests, a test that was not started, a runner that ended badly though none of its tests failed, and a skip that the
list of allowed skips does not name.
"""

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Outcome:
    """What became of one test, or of a whole suite where there are no tests to speak of."""

    suite: str
    name: str
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class Suite:
    """One run of a test runner: its name, its exit code and the file it should have written."""

    name: str
    code: int
    file: Path


def parse_suite(text: str) -> Suite:
    """Reads NAME=CODE=FILE."""
    name, code, file = text.split("=", 2)
    return Suite(name, int(code), Path(file))


def read_allowed_skips(path: Path) -> dict[str, str]:
    """Reads lines of the form `NAME # REASON`; empty lines and lines that begin with # are comments."""
    allowed = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition(" # ")
        if not reason.strip():
            raise ValueError(f"{path}:{number}: a skip needs its reason: NAME # REASON")
        allowed[name.strip()] = reason.strip()
    return allowed


def full_name(case: ElementTree.Element) -> str:
    """CTest writes the same word as class and name; pytest writes the module and the function."""
    name, group = case.get("name", ""), case.get("classname", "")
    return name if group in ("", name) else f"{group}.{name}"


def first_line(text: str) -> str:
    """The start of a message that may go on for pages: pytest puts whole differences into it."""
    return text.strip().partition("\n")[0][:200]


def verdict_of(case: ElementTree.Element) -> tuple[str, str]:
    """CTest calls a test that it could not start `skipped` too; only its two ways to skip on purpose are one."""
    for tag in ("failure", "error"):
        found = case.find(tag)
        if found is not None:
            return FAILED, first_line(found.get("message") or "") or tag
    if case.get("status") == "disabled":
        return SKIPPED, "disabled"
    skip = case.find("skipped")
    if skip is None:
        return PASSED, ""
    reason = first_line(skip.get("message") or "") or "no reason given"
    on_purpose = case.get("status") is None or reason.startswith("SKIP_")
    return (SKIPPED if on_purpose else FAILED), reason


def read_cases(suite: Suite) -> list[Outcome]:
    """Reads the test cases of a JUnit file, whatever the depth at which they stand."""
    cases = ElementTree.parse(suite.file).getroot().iter("testcase")
    return [Outcome(suite.name, full_name(case), *verdict_of(case)) for case in cases]


def read_suite(suite: Suite) -> list[Outcome]:
    """Reads one suite, and adds a failed outcome where the suite as a whole is not to be trusted."""

    def failed(reason: str) -> Outcome:
        return Outcome(suite.name, "(whole suite)", FAILED, reason)

    if not suite.file.is_file():
        return [failed(f"no result file; the runner ended with {suite.code}")]
    try:
        outcomes = read_cases(suite)
    except ElementTree.ParseError as error:
        return [failed(f"broken result file: {error}")]
    if not outcomes:
        return [failed("no tests")]
    if suite.code != 0 and all(outcome.verdict != FAILED for outcome in outcomes):
        outcomes.append(failed(f"the runner ended with {suite.code} though no test failed"))
    return outcomes


def report(outcomes: list[Outcome], allowed: dict[str, str]) -> int:
    """Names every failure and every skip, prints the sum, and returns the exit code."""
    forbidden = 0
    for outcome in outcomes:
        if outcome.verdict == FAILED:
            print(f"failed: {outcome.suite}: {outcome.name}: {outcome.reason}")
        elif outcome.verdict == SKIPPED and outcome.name in allowed:
            print(f"skipped: {outcome.suite}: {outcome.name}: {allowed[outcome.name]}")
        elif outcome.verdict == SKIPPED:
            forbidden += 1
            print(f"skipped, not allowed: {outcome.suite}: {outcome.name}: {outcome.reason}")
    count = Counter(outcome.verdict for outcome in outcomes)
    print(f"{count[PASSED]} passed, {count[FAILED]} failed, {count[SKIPPED]} skipped")
    return 1 if count[FAILED] or forbidden or not outcomes else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--allowed-skips", type=Path, required=True, metavar="FILE")
    parser.add_argument("suites", nargs="+", type=parse_suite, metavar="NAME=CODE=FILE")
    options = parser.parse_args(arguments)
    outcomes = [outcome for suite in options.suites for outcome in read_suite(suite)]
    return report(outcomes, read_allowed_skips(options.allowed_skips))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
