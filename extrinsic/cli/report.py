"""`extrinsic report`: the page of a run, rendered again from its tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from extrinsic.cli.output import print_rows, say
from extrinsic.errors import InputError
from extrinsic.plugins import load_plugins
from extrinsic.report.page import write_report
from extrinsic.study.run import Run
from extrinsic.study.run_directory import clear_parts, lock_directory


def run(arguments: argparse.Namespace) -> int:
    finished = open_run(arguments.folder, arguments.trust_plugins)
    if arguments.json:
        return _print_verdict(finished)
    if arguments.output is not None:
        path = write_report(finished, arguments.output)
    else:
        with lock_directory(finished.folder, say):
            clear_parts(finished.folder)
            path = write_report(finished)
    if not arguments.quiet:
        say(f"the report is in {path}")
    return 0


def _print_verdict(finished: Run) -> int:
    finished.require_complete()
    if finished.is_grid:
        raise InputError("this run compares policies, not metrics", path=str(finished.folder))
    with finished.reading():
        verdict = finished.verdict()
    more = {"compromise": verdict.compromise, "health": verdict.health}
    print_rows(finished.signature, verdict.verdicts, sys.stdout, sentences=verdict.sentences, **more)
    return 0


def open_run(folder: str, trusted: bool) -> Run:
    """A complete run, to be read; it may come from anybody, so its plugins are imported only if trusted."""
    finished = Run(Path(folder))
    finished.require_complete()
    if finished.changed:
        say(f"{folder}: not as the run wrote them: {', '.join(finished.changed)}")
    if finished.plugins:
        names = ", ".join(finished.plugins)
        if trusted:
            say(f"importing {names}")
            load_plugins(finished.plugins)
        else:
            say(f"the run used plugins, which are not imported without --trust-plugins: {names}")
    return finished
