"""`extrinsic report`: the page of a run, rendered again from its tables."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from extrinsic.cli.arguments import add_trust_argument, open_run
from extrinsic.cli.output import print_rows, say
from extrinsic.errors import InputError

if TYPE_CHECKING:
    from extrinsic.study.finished_run import Run

NAME = "report"
HELP = "render the report of a run again"
DESCRIPTION = (
    "Render the report of a finished run from its tables, without computing anything again: report.html, "
    "figures/*.svg and tables/*.tex in the run's directory."
)


def configure(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option("folder", metavar="RUN", help="the directory of a run")
    option("--output", metavar="FILE", help="write only the page, to this file")
    option("--quiet", action="store_true", help="do not say where the page is")
    option("--json", action="store_true", help="instead: verdict and health of the data, as JSON on stdout")
    add_trust_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.report.report_files import write_report

    finished = open_run(arguments.folder, arguments.trust_plugins)
    if arguments.json:
        return _print_verdict(finished)
    if arguments.output is not None:
        path = write_report(finished, arguments.output)
    else:
        from extrinsic.study.run_directory import clear_parts, lock_directory

        with lock_directory(finished.folder, say):
            clear_parts(finished.folder)
            path = write_report(finished)
    if not arguments.quiet:
        say(f"the report is in {path}")
    return 0


def _print_verdict(finished: Run) -> int:
    from extrinsic.study.verdict import run_verdict

    finished.require_complete()
    if finished.is_grid:
        raise InputError("this run compares policies, not metrics", path=str(finished.folder))
    with finished.reading():
        verdict = run_verdict(finished)
    print_rows(
        finished.signature, verdict.verdicts, sys.stdout, agreement=verdict.agreement, health=verdict.health
    )
    return 0
