# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The sum of the test results: what CTest and pytest write, and everything that must not pass as success."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "launch" / "sum_results.py"

# As CTest 3.25 writes them.
CTEST_PASSED = '<testcase name="ring.a" classname="ring.a" status="run"><system-out>x</system-out></testcase>'
CTEST_CRASHED = '<testcase name="ring.b" classname="ring.b" status="fail"><failure message=""/></testcase>'
CTEST_SKIPPED = '<testcase name="ring.c" classname="ring.c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
CTEST_GTEST_SKIP = (
    '<testcase name="ring.d" classname="ring.d" status="notrun">'
    '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
)
CTEST_DISABLED = '<testcase name="ring.e" classname="ring.e" status="disabled"/>'
CTEST_NOT_BUILT = (
    '<testcase name="ring_NOT_BUILT" classname="ring_NOT_BUILT" status="notrun">'
    '<skipped message="Unable to find executable"/></testcase>'
)
CTEST_FIXTURE = (
    '<testcase name="ring.f" classname="ring.f" status="notrun"><skipped message="Fixture dependency failed"/></testcase>'
)
# As pytest 7 writes them.
PYTEST_PASSED = '<testcase classname="tests.test_a" name="test_x[1]" time="0.1"/>'
PYTEST_FAILED = '<testcase classname="tests.test_a" name="test_y"><failure message="assert 1 == 2&#10;more">..</failure></testcase>'
PYTEST_ERROR = '<testcase classname="" name="tests.test_b"><error message="collection failure">..</error></testcase>'
PYTEST_SKIPPED = '<testcase classname="tests.test_a" name="test_z"><skipped type="pytest.skip" message="why"/></testcase>'


class Sum:
    """Writes suites into a folder and runs the script on them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.suites: list[str] = []
        self.allowed = ""

    def add(self, name: str, text: str | None, code: int = 0) -> "Sum":
        file = self.folder / f"{name}.xml"
        if text is not None:
            file.write_text(text, encoding="utf-8")
        self.suites.append(f"{name}={code}={file}")
        return self

    def ctest(self, *cases: str, code: int = 0) -> "Sum":
        return self.add("release", f'<?xml version="1.0"?><testsuite name="x">{"".join(cases)}</testsuite>', code)

    def pytest(self, *cases: str, code: int = 0) -> "Sum":
        return self.add("analysis", f'<testsuites><testsuite name="pytest">{"".join(cases)}</testsuite></testsuites>', code)

    def run(self) -> tuple[int, list[str]]:
        allowed = self.folder / "allowed.txt"
        allowed.write_text(self.allowed, encoding="utf-8")
        command = [sys.executable, str(SCRIPT), "--allowed-skips", str(allowed), *self.suites]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, (done.stdout or done.stderr).splitlines()


@pytest.fixture(name="results")
def fixture_results(tmp_path):
    folder = tmp_path / "with space"
    folder.mkdir()
    return Sum(folder)


def test_sum_two_runners_that_pass(results):
    code, lines = results.ctest(CTEST_PASSED).pytest(PYTEST_PASSED).run()
    assert (code, lines) == (0, ["2 passed, 0 failed, 0 skipped"])


@pytest.mark.parametrize("case", [CTEST_CRASHED, CTEST_NOT_BUILT, CTEST_FIXTURE])
def test_sum_ctest_case_that_did_not_pass_is_failed(results, case):
    code, lines = results.ctest(CTEST_PASSED, case, code=8).run()
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")
    assert lines[0].startswith("failed: release: ring")


def test_sum_pytest_failure_and_collection_error(results):
    code, lines = results.pytest(PYTEST_PASSED, PYTEST_FAILED, PYTEST_ERROR, code=1).run()
    assert (code, lines[-1]) == (1, "1 passed, 2 failed, 0 skipped")
    assert lines[0] == "failed: analysis: tests.test_a.test_y: assert 1 == 2"


@pytest.mark.parametrize("case", [CTEST_SKIPPED, CTEST_GTEST_SKIP, CTEST_DISABLED])
def test_sum_skip_nobody_allowed_is_named_and_fails(results, case):
    code, lines = results.ctest(CTEST_PASSED, case).run()
    assert (code, lines[-1]) == (1, "1 passed, 0 failed, 1 skipped")
    assert lines[0].startswith("skipped, not allowed: release: ring.")


def test_sum_allowed_skips_pass_and_give_their_reason(results):
    results.allowed = "# comment\n\nring.c # needs a GPU\ntests.test_a.test_z # needs a network\n"
    code, lines = results.ctest(CTEST_PASSED, CTEST_SKIPPED).pytest(PYTEST_SKIPPED).run()
    assert (code, lines[-1]) == (0, "1 passed, 0 failed, 2 skipped")
    assert lines[0] == "skipped: release: ring.c: needs a GPU"


def test_sum_test_that_could_not_start_is_failed_even_where_its_skip_is_allowed(results):
    results.allowed = "ring_NOT_BUILT # never\n"
    code, lines = results.ctest(CTEST_PASSED, CTEST_NOT_BUILT, code=8).run()
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")


def test_sum_allowed_skip_without_a_reason_is_refused(results):
    results.allowed = "ring.c\n"
    code, lines = results.ctest(CTEST_PASSED).run()
    assert code == 1
    assert "a skip needs its reason" in lines[-1]


def test_sum_runner_without_a_file(results):
    code, lines = results.ctest(CTEST_PASSED).add("tsan", None, code=139).run()
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")
    assert "no result file; the runner ended with 139" in lines[0]


def test_sum_file_cut_short(results):
    code, lines = results.add("asan", '<?xml version="1.0"?><testsuite><testcase name="a"').run()
    assert (code, lines[-1]) == (1, "0 passed, 1 failed, 0 skipped")


def test_sum_suite_without_tests(results):
    code, lines = results.ctest(CTEST_PASSED).pytest().run()
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")
    assert lines[0] == "failed: analysis: (whole suite): no tests"


def test_sum_runner_that_ended_badly_after_its_last_test(results):
    code, lines = results.ctest(CTEST_PASSED, code=1).run()
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")
