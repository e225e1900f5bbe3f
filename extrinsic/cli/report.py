"""`extrinsic report`: the page of a run, rendered again from its tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from extrinsic.errors import InputError

NAME = "report"
HELP = "render the report of a run again"
DESCRIPTION = (
    "Render the report of a finished run from its tables, without computing anything again: report.html, "
    "figures/*.svg and tables/*.tex in the run's directory."
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="RUN", help="the directory of a run")
    parser.add_argument("--output", metavar="FILE", help="write only the page, to this file")
    parser.add_argument("--quiet", action="store_true", help="do not say where the page is")


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    if not folder.is_dir():
        raise InputError("there is no such directory", path=str(folder), expected="the directory of a run")
    from extrinsic.report.report_files import write_report
    from extrinsic.study.finished_run import Run

    path = write_report(Run(folder), arguments.output)
    if not arguments.quiet:
        print(f"the report is in {path}", file=sys.stderr)
    return 0
