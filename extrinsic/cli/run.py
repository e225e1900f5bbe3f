"""`extrinsic run`: a whole study, from corpora and trackers to which metric predicts the return."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from extrinsic.cli.output import print_rows, put, say
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.errors import UsageError

if TYPE_CHECKING:
    from extrinsic.study.configuration.settings import StudySettings
    from extrinsic.study.engine import Done
    from extrinsic.study.finished_run import Run
    from extrinsic.study.tables.schema import CorrelationRow

NAME = "run"
HELP = "run a study: which metric predicts the values of policies"
DESCRIPTION = (
    "Run the study of a configuration (a .toml file, or a name of `extrinsic ls configs`): measure and learn "
    "on every tracker, value every policy, correlate. Results that the directory already holds are reused: "
    "an interrupted run continues where it stopped, a changed setting computes only what depends on it."
)
SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser, "the correlations with the primary target, as JSON on stdout")


def add_run_arguments(parser: argparse.ArgumentParser, json_help: str) -> None:
    """What every command has that computes stages."""
    parser.add_argument(
        "config", metavar="CONFIG", help="a study (.toml), or a name of `extrinsic ls configs`"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="the run's directory (default: runs/<name of the study>)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="A.B=C",
        dest="changes",
        help="set a key of the configuration, e.g. correlation.resamples=2000; repeatable",
    )
    parser.add_argument(
        "--n-jobs", type=int, default=-1, metavar="N", help="processes (-1: one per processor)"
    )
    parser.add_argument("--engine", default="joblib", metavar="E", help="joblib (default) or dask")
    parser.add_argument("--scheduler", metavar="ADDR", help="of a Dask cluster, e.g. tcp://host:8786")
    parser.add_argument(
        "--overwrite", action="store_true", help="use the directory even if it holds another study"
    )
    parser.add_argument("--no-report", action="store_true", help="write only the tables, no page")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--verbose", action="store_true", help="how long every stage took, what was reused")
    parser.add_argument("--json", action="store_true", help=json_help)


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.study.configuration.settings_file import read_study
    from extrinsic.study.runner import run_study

    return carry_out(arguments, read_study, run_study, _show)


def carry_out(
    arguments: argparse.Namespace,
    read: Callable[..., StudySettings],
    run_it: Callable[..., Run],
    show: Callable[[Run, bool], None],
) -> int:
    """Run a study, or a comparison of policies: show progress, results, and where the report is."""
    from extrinsic.study.configuration.packaged import find_study
    from extrinsic.study.configuration.settings_file import locate_keys
    from extrinsic.study.engine import Engine
    from extrinsic.study.run_directory import require_same_study

    engine = Engine(arguments.engine, arguments.n_jobs, arguments.scheduler)
    config = find_study(arguments.config)

    def folder_of(settings: StudySettings) -> Path:
        return Path(arguments.output or Path("runs") / settings.name)

    def before_import(settings: StudySettings) -> None:
        require_same_study(folder_of(settings), settings.name, arguments.overwrite)
        say(f"importing {', '.join(settings.plugins)}")

    settings = read(config, arguments.changes, before_import)
    folder = folder_of(settings)

    def watch(steps: Iterable[Done], total: int) -> Iterable[Done]:
        return show_progress(steps, total, arguments.command, describe, arguments.quiet)

    def describe(done: Done) -> str:
        took = f" ({done.seconds:.1f} s)" if arguments.verbose else ""
        return f"{done.key.kind} {done.label}{took}"

    begin = time.perf_counter()

    def finish(finished: Run) -> None:
        show(finished, arguments.json)
        report = None if arguments.no_report else _report(finished)
        if arguments.verbose:
            _show_timings(finished)
        if not arguments.quiet:
            say(f"done in {time.perf_counter() - begin:.0f} s; everything is in {folder}")
            if report:
                say(f"the report: {report}")

    try:
        with locate_keys(config, arguments.changes):
            run_it(settings, folder, engine, arguments.overwrite, watch, say, finish)
    except KeyboardInterrupt:
        say(f"interrupted; what was done is in {folder}: run the same command again to continue")
        return 130
    return 0


def _show_timings(finished: Run) -> None:
    """How many stages of each kind were computed and reused, and how long they took."""
    rows = finished.table("timings")
    for kind in dict.fromkeys(row.stage for row in rows):
        of_kind = [row for row in rows if row.stage == kind]
        computed = [row.seconds for row in of_kind if row.status == "computed"]
        reused = len(of_kind) - len(computed)
        say(f"{kind}: {len(computed)} computed in {sum(computed):.1f} s, {reused} reused")


def _report(finished: Run) -> Path | None:
    """Write the page; a study does not fail if the libraries that draw it are missing."""
    from extrinsic.report.report_files import write_report

    try:
        return write_report(finished)
    except UsageError as error:
        say(str(error))
        return None


def _show(finished: Run, as_json: bool) -> None:
    """The best and the worst metrics by the primary target, of every variant."""
    rows, sets = finished.table("correlations"), finished.table("best_set")
    target = rows[0].target if rows else None
    chosen = [row for row in rows if row.target == target]
    if as_json:
        print_rows(finished.signature, chosen, sys.stdout)
        return
    heads = {
        "metric": "metric",
        "schedule": "schedule",
        "component": "component",
        "r": "r",
        "low": "low",
        "high": "high",
        "p_adjusted": "p (Holm)",
    }
    for variant in dict.fromkeys(row.variant for row in chosen):
        for trackers in ("all", "core"):
            ranked = _ranked(chosen, variant, trackers)
            n = next((row.n for row in chosen if row.trackers == trackers), 0)
            print()
            put(
                f"Pearson's r with {target} within datasets, {trackers} trackers ({n} points)"
                + (f", {variant}" if variant else "")
            )
            if not ranked:
                put(f"none: {next((row.reason for row in chosen if row.trackers == trackers), '')}")
                continue
            print_table(ranked[:SHOWN], heads, sys.stdout)
            if len(ranked) > SHOWN:
                print(f"... {len(ranked) - SHOWN - 1} more, the last:")
                print_table(ranked[-1:], heads, sys.stdout)
            key = (variant, trackers, target)
            of_target = [
                row for row in sets if (row.variant, row.trackers, row.target) == key and row.r is not None
            ]
            n_best = sum(row.in_set for row in of_target)
            undecided = next((row.reason for row in of_target if not n_best), None)
            print(
                f"the best metric: {undecided}"
                if undecided
                else f"{n_best} of {len(of_target)} may be the best"
            )


def _ranked(rows: list[CorrelationRow], variant: str | None, trackers: str) -> list[CorrelationRow]:
    defined = [
        (row.r, row)
        for row in rows
        if (row.variant, row.trackers, row.scope, row.coefficient) == (variant, trackers, "within", "pearson")
        and row.r is not None
    ]
    return [row for _, row in sorted(defined, key=lambda pair: -pair[0])]
