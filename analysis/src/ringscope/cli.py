# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``ringscope-analysis``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ringscope import metrics, text
from ringscope.lint import lint_file
from ringscope.run import RunError, load_run

#: The exit code of the harness for output that is broken or incomplete.
BAD_FILE = 7


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; give 0, or 2 for wrong usage, or 7 for a file that cannot be trusted."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options.file)
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
    _add(commands, "table", table, "print times, bandwidths and the traffic check of every case")
    return parser


def _add(commands, name: str, function, summary: str) -> None:
    command = commands.add_parser(
        name, help=summary, description=summary.capitalize() + ".", allow_abbrev=False
    )
    command.add_argument("file", metavar="FILE", help="a .h5 file that `ringscope run` wrote")
    command.set_defaults(command=function)


def lint(path: str) -> int:
    """Print every finding on stdout, one line each."""
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


def table(path: str) -> int:
    """Print one line per case and the verdict on the traffic."""
    run = load_run(path)
    print(
        f"# {run.world_size} ranks, {run.attributes['source']}; "
        "time: median of untraced samples, with its 95 % interval"
    )
    print(text.table(metrics.overview(run)))
    print(f"# traffic: {metrics.traffic_verdict(run)}")
    return 0
