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
from extrinsic.study.engine import Done, Engine
from extrinsic.study.run import Run
from extrinsic.study.run_directory import require_same_study
from extrinsic.study.runner import run_study
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import find_study, locate_keys, read_study
from extrinsic.study.tables import TimingRow
from extrinsic.verdict.names import NOTHING, in_unit, listing, metric_title, unit_title
from extrinsic.verdict.verdict import NAMED, StudyVerdict

HEADS = {"target": "for the", "metric": "choose by", "lost": "loses", "possible": "a coin loses"}
HEADS |= {"bound": "at most", "as_good": "as good"}
"""Of the table that a run ends with."""


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
    # Drawing libraries are loaded where something is drawn, and only then.
    from extrinsic.report.page import write_report

    try:
        return write_report(finished)
    except UsageError as error:
        say(str(error))
        return None


def _show(finished: Run, as_json: bool) -> None:
    """What the data lacks; then a line for each target, and at most two on all of them."""
    verdict = finished.verdict()
    if as_json:
        print_rows(finished.signature, finished.choices, sys.stdout, verdict=verdict)
        return
    for note in verdict.health:
        put(f"health: {note.text}")
    print()
    if len(verdict.verdicts) > 1 and any(each.recommended for each in verdict.verdicts):
        _print_verdicts(verdict)
    else:
        for sentence in verdict.sentences or ["Nothing was judged: the study has no target."]:
            put(sentence)


def _print_verdicts(verdict: StudyVerdict) -> None:
    """The decision on each target in a table; one metric for all; where nothing is promised, why."""
    several = len({each.variant for each in verdict.verdicts}) > 1
    lines, reasons = [], []
    for each in verdict.verdicts:
        title = each.target_title.removeprefix("the ")
        as_good = listing([metric_title(choice.metric) for choice in each.as_good], NAMED)
        line = dict.fromkeys(HEADS, NOTHING) | {"target": title, "as_good": as_good}
        if several and each.variant:
            line["target"] = f"{title}, {each.variant_title}"
        if chosen := each.recommended:
            line["metric"] = chosen.title if each.promises else f"({chosen.title})"
            line["lost"] = in_unit(chosen.lost, each.unit)
            line["possible"] = f"{in_unit(each.possible, each.unit)} {unit_title(each.unit)}"
            line["bound"] = in_unit(chosen.bound, each.unit)
        if not each.promises:
            reasons.append(each.why_not)
        lines.append(line)
    put("What choosing between two trackers loses: here, and at most (95 %) among other trackers like these")
    heads = {key: head for key, head in HEADS.items() if any(line[key] for line in lines)}
    print_table(lines, heads, sys.stdout)
    if verdict.compromise:
        put(verdict.compromise.sentence)
    if reasons:
        why = "; ".join(dict.fromkeys(reasons))
        put(f"{NOTHING}: nothing can be promised for other trackers ({why}).")
        if any(each.recommended and not each.promises for each in verdict.verdicts):
            put("In brackets: what loses least here.")
