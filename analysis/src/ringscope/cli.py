# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``ringscope-analysis``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringscope import load_run, metrics, perfetto, text
from ringscope.batch import Batch, batch_overview, launch_times
from ringscope.compare import DELTA, compare, comparison_summary, comparison_table
from ringscope.lint import lint_file
from ringscope.report import write_page
from ringscope.run import Run, RunError
from ringscope.versus import CHOICE, CHOICE_OF_ONE, LIMIT, versus, versus_tables

#: The exit code of the harness for output that is broken or incomplete.
BAD_FILE = 7
_RUN, _BATCH = "a .h5 file that `ringscope run` wrote", "the folder of a batch"
_FILES = {
    "lint": _RUN,
    "table": f"{_RUN}, or {_BATCH}",
    "compare": _BATCH,
    "versus": f"{_BATCH}, or {_RUN}",
    "report": f"{_RUN}, or {_BATCH}",
    "timeline": _RUN,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; give 0, or 2 for wrong usage, or 7 for a file that cannot be trusted."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except RunError as error:
        print(f"ringscope-analysis: {error}", file=sys.stderr)
        return BAD_FILE
    except BrokenPipeError:
        # Whoever read the output has seen enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ringscope-analysis", description="Checks and prints trace files of ringscope."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add(commands, "lint", lint, "check a file; one line per finding, exit code 7 if there is any")
    _add_incomplete(
        _add(commands, "table", table, "print times, bandwidths and the traffic check of every case")
    )
    comparison = _add(commands, "compare", compare_arms, "say which arms of a batch are faster")
    comparison.add_argument(
        "--base", metavar="ARM", help="what the others are compared with (default: the first)"
    )
    _add_judging(comparison)
    _add_judging(
        _add(commands, "versus", against_baselines, "set our algorithms against NCCL and MPI, size by size")
    )
    page = _add(commands, "report", report, "make one HTML page of one or several runs", nargs="+")
    page.add_argument(
        "-o",
        "--output",
        type=_page,
        default=Path("report.html"),
        metavar="PAGE.html",
        help="the page; an older one is replaced (default: %(default)s)",
    )
    _add_timeline(commands)
    return parser


def _add_judging(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--delta",
        type=_fraction,
        default=DELTA,
        help="a ratio within 1 +- DELTA is SAME (default: %(default)s)",
    )
    command.add_argument("--seed", type=int, default=1, help="of the bootstrap (default: %(default)s)")


def _add_timeline(commands: Any) -> None:
    command = _add(commands, "timeline", timeline, "write one traced operation for https://ui.perfetto.dev")
    command.add_argument("--perfetto", metavar="OUT.json", required=True, help="the file to write")
    command.add_argument("--case", type=int, metavar="C", help="default: the traced case with the most bytes")
    command.add_argument(
        "--iteration", type=int, metavar="I", help="default: the first traced one that is ok"
    )
    command.add_argument("--force", action="store_true", help="replace OUT.json if it is there")
    _add_incomplete(command)


def _add_incomplete(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-incomplete", action="store_true", help="read a file that its writer did not finish"
    )


def _page(text_given: str) -> Path:
    # A slip such as `-o run.h5` must not cost the run.
    if Path(text_given).suffix not in (".html", ".htm"):
        raise argparse.ArgumentTypeError("takes a name that ends in .html")
    return Path(text_given)


def _fraction(text_given: str) -> float:
    value = float(text_given)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("takes a fraction between 0 and 1, such as 0.03")
    return value


def _add(commands, name: str, function, summary: str, nargs: str | None = None) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name, help=summary, description=summary.capitalize() + ".", allow_abbrev=False
    )
    command.add_argument("file", metavar="FILE", help=_FILES[name], nargs=nargs)
    command.set_defaults(command=function)
    return command


def lint(options: argparse.Namespace) -> int:
    """Print every finding on stdout, one line each."""
    path = options.file
    findings = lint_file(path)
    for finding in findings:
        print(finding)
    summary = (
        "no findings"
        if not findings
        else f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}"
    )
    print(f"ringscope-analysis: {path}: {summary}", file=sys.stderr)
    return BAD_FILE if findings else 0


def table(options: argparse.Namespace) -> int:
    """Print one line per case, and of a run the verdict on the traffic."""
    run = load_run(options.file, options.allow_incomplete)
    if isinstance(run, Batch):
        _print_batch(run)
    else:
        _print_run(run)
    return 0


def _print_run(run: Run) -> None:
    print(
        f"# {run.world_size} ranks, {run.attributes['source']}; "
        "time: median of untraced samples, with its 95 % interval"
    )
    print(text.table(metrics.overview(run)))
    print(f"# traffic: {metrics.traffic_verdict(run)}")
    for note in notes(run):
        print(f"# {note}")


def notes(run: Run) -> list[str]:
    """Say of a run, a line each, what its reader must know before believing the table."""
    cases = run.cases
    said = []
    if cases.empty:
        said.append("no case: the sweep ended before the first one did")
    if run.attributes.get("complete") != 1:
        said.append("incomplete: these are the cases that ended; the file may lack more than cases")
    if run.attributes["lossy"]:
        lost = int((cases["events_dropped"] > 0).sum())
        lack = "lacks" if lost == 1 else "lack"
        said.append(
            f"lossy: {lost} of {len(cases)} cases {lack} events; times are whole, their time lines are not"
        )
    modes = cases["mode"].unique()
    if len(modes) > 1:
        said.append(f"modes: {', '.join(modes)}; times of one are not comparable with those of another")
    return said


def _print_batch(batch: Batch) -> None:
    finished = batch.times["launch"].nunique()
    print(
        f"# {finished} of {len(batch.launches)} launches; "
        "time: median over launches of their medians, with its 95 % interval"
    )
    print(text.table(batch_overview(batch)))


def compare_arms(options: argparse.Namespace) -> int:
    """Print one line per arm and case: the ratio to the base arm, its interval, and the verdict."""
    batch = load_run(options.file)
    if not isinstance(batch, Batch):
        raise RunError(f"{options.file}: one launch is no comparison; name the folder of a batch")
    frame = compare(batch, options.base, options.delta, options.seed)
    base, seed = frame["base"].iloc[0], options.seed
    print(
        f"# base: {base}; ratio of launch medians, above 1 is slower; 95 % interval, bootstrap over launches"
    )
    print(f"# seed {seed}, delta {options.delta:g}; verdicts are per case, not corrected for their number")
    print(text.table(comparison_table(frame)))
    for line in comparison_summary(frame):
        print(f"# {line}")
    return 0


def against_baselines(options: argparse.Namespace) -> int:
    """Print a table per setting: the fastest of ours and of the baselines, and what the machine allows."""
    try:
        frame = versus(launch_times(load_run(options.file)), options.delta, options.seed)
    except RunError as error:
        raise RunError(f"{options.file}: {error}") from error
    print(
        "# ours / fastest of the baselines: ratio of launch medians, below 1 ours is faster; 95 % interval, "
        "bootstrap over launches"
    )
    print(f"# {CHOICE if frame['n'].max() > 1 else CHOICE_OF_ONE}")
    print(f"# {LIMIT}")
    print(
        f"# seed {options.seed}, delta {options.delta:g}; verdicts are per size, not corrected for their number"
    )
    for name, table_of_texts in versus_tables(frame):
        print(f"\n# {name}\n{text.table(table_of_texts)}")
    return 0


def report(options: argparse.Namespace) -> int:
    """Write the page; say on stderr what could not be shown. Exit code 7 only where that is everything."""
    for line in write_page(options.file, options.output):
        print(f"ringscope-analysis: {line}", file=sys.stderr)
    print(f"ringscope-analysis: wrote {options.output}", file=sys.stderr)
    return 0


def timeline(options: argparse.Namespace) -> int:
    """Write one operation as a file for Perfetto, and say what is in it."""
    run = load_run(options.file, options.allow_incomplete)
    if isinstance(run, Batch):
        raise RunError(f"{options.file}: a batch has many time lines; name one of the files in launches/")
    output = Path(options.perfetto)
    if output.exists() and not options.force:
        raise RunError(f"{output}: exists; name another file, or replace it with --force")
    case = metrics.largest_traced_case(run) if options.case is None else options.case
    try:
        written = perfetto.write(run, output, case, options.iteration)
    except OSError as error:
        raise RunError(f"{output}: cannot be written ({error.strerror}); name a file elsewhere") from error
    for warning in metrics.out_of_order(run, case):
        print(f"ringscope-analysis: {warning}", file=sys.stderr)
    print(f"# {output}: {perfetto.summary(written)}; open it at https://ui.perfetto.dev")
    return 0
