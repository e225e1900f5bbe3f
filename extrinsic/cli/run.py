"""`extrinsic run`: a whole study, from corpora and trackers to which metric predicts the return."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from extrinsic.cli.output import print_rows, print_table, put, say
from extrinsic.cli.progress import Progress
from extrinsic.errors import UsageError
from extrinsic.report.page import write_report
from extrinsic.study.engine import Done, Engine
from extrinsic.study.run import Run
from extrinsic.study.run_directory import require_same_study
from extrinsic.study.runner import run_study
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import find_study, locate_keys, read_study
from extrinsic.study.tables import TimingRow
from extrinsic.verdict.names import counted, interval, symbol
from extrinsic.verdict.rows import CorrelationRow
from extrinsic.verdict.verdict import Candidate, Verdict, sample

SHOWN = 8


def run(arguments: argparse.Namespace) -> int:
    return carry_out(arguments, read_study, run_study, _show)


def carry_out(
    arguments: argparse.Namespace,
    read: Callable[..., StudySettings],
    run_it: Callable[..., Run],
    show: Callable[[Run, bool], None],
) -> int:
    """Run a study, or a comparison of policies: show progress, results, and where the report is."""
    engine = Engine(arguments.engine, arguments.n_jobs, arguments.scheduler)
    config = find_study(arguments.config)

    def folder_of(settings: StudySettings) -> Path:
        return Path(arguments.output or Path("runs") / settings.name)

    def before_import(settings: StudySettings) -> None:
        require_same_study(folder_of(settings), settings.name, arguments.overwrite)
        say(f"importing {', '.join(settings.plugins)}")

    def describe(done: Done) -> str:
        took = f" ({done.seconds:.1f} s)" if arguments.verbose else ""
        return f"{done.key.kind} {done.label}{took}"

    begin = time.perf_counter()
    with Progress(arguments.command, arguments.quiet) as progress:

        def watch(steps: Iterable[Done], planned: Counter[str]) -> Iterable[Done]:
            return progress.watch_stages(steps, planned, describe)

        def finish(finished: Run) -> None:
            report = None
            if not arguments.no_report:
                progress.stage("drawing the report")
                report = _report(finished)
            progress.stop()
            show(finished, arguments.json)
            if arguments.verbose:
                _show_timings(finished)
            if not arguments.quiet:
                say(f"done in {time.perf_counter() - begin:.0f} s; everything is in {folder}")
                if report:
                    say(f"the report: {report}")

        progress.stage(f"reading {config}")
        settings = read(config, arguments.changes, before_import)
        folder = folder_of(settings)
        progress.stage("planning")
        try:
            with locate_keys(config, arguments.changes):
                run_it(settings, folder, engine, arguments.overwrite, watch, say, finish)
        except KeyboardInterrupt:
            progress.stop()
            say(f"interrupted; what was done is in {folder}: run the same command again to continue")
            return 130
    return 0


def _show_timings(finished: Run) -> None:
    """How many stages of each kind were computed and reused, and how long they took."""
    rows = finished.table(TimingRow)
    for kind in dict.fromkeys(row.stage for row in rows):
        of_kind = [row for row in rows if row.stage == kind]
        computed = [row.seconds for row in of_kind if row.status == "computed"]
        reused = len(of_kind) - len(computed)
        say(f"{kind}: {len(computed)} computed in {sum(computed):.1f} s, {reused} reused")


def _report(finished: Run) -> Path | None:
    """Write the page; a study does not fail if the libraries that draw it are missing."""
    try:
        return write_report(finished)
    except UsageError as error:
        say(str(error))
        return None


def _show(finished: Run, as_json: bool) -> None:
    """One table of the metrics that may be the best, then the verdict and what the data lacks."""
    verdict = finished.verdict()
    if as_json:
        target = verdict.verdicts[0].target if verdict.verdicts else None
        chosen = [row for row in finished.table(CorrelationRow) if row.target == target]
        print_rows(finished.signature, chosen, sys.stdout, verdict=verdict)
        return
    if verdict.verdicts:
        first = next((made for made in verdict.verdicts if made.metric), verdict.verdicts[0])
        _print_best(first, len({name for made in verdict.verdicts for name in made.variants}) > 1)
    for note in verdict.health:
        put(f"health: {note.text}")
    print()
    for sentence in verdict.sentences or ["Nothing was correlated: the study has no target."]:
        put(sentence)


def _print_best(verdict: Verdict, names_variant: bool) -> None:
    """The first metrics of those that may be the best by a target, each where it does best.

    Metrics are counted, as in the sentences; their combinations with schedules and components are a table.
    """
    if not verdict.candidates:
        return
    under = f", {verdict.variant_title}" if names_variant and verdict.variant_title else ""
    named = f"{verdict.target_title} ({verdict.target})"
    put(f"May be the best for {named}{under}, over {sample(verdict, 'core tracker')}:")
    by_metric: dict[str, Candidate] = {}
    for one in verdict.candidates:
        by_metric.setdefault(one.metric, one)
    best = list(by_metric.values())
    rows = [
        {
            "metric": one.title + (" (use this)" if one is verdict.metric else ""),
            "r": one.r,
            "interval": interval(one.low, one.high) or "-",
        }
        for one in best[:SHOWN]
    ]
    heads = {"metric": "metric", "r": symbol(verdict.coefficient), "interval": "95 % for all at once"}
    print_table(rows, heads, sys.stdout)
    if len(best) > SHOWN:
        print(f"... and {counted(len(best) - SHOWN, 'more metric')}")
    combined = counted(len(verdict.candidates), "combination")
    print(f"{combined} of metric, schedule and component, by their typed names: best_set.csv (in_set, core)")
