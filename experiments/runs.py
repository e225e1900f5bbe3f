"""Running the tool from an experiment, as `extrinsic run` does: resumed, and with progress."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from extrinsic.cli.progress import show_progress
from extrinsic.report.run_data import read_tables, variant_results
from extrinsic.study.engine import Done, Engine
from extrinsic.study.run import Run
from extrinsic.study.runner import run_policies, run_study
from extrinsic.study.settings import StudySettings
from extrinsic.verdict.findings import Finding, findings
from extrinsic.verdict.rows import PairRow


def make_run(settings: StudySettings, folder: Path, n_jobs: int = -1) -> Run:
    """The run of a study or of a grid of policies; what a directory already holds is taken."""

    def watch(steps: Iterable[Done], planned: Counter[str]) -> Iterable[Done]:
        return show_progress(
            steps, planned.total(), folder.name, lambda done: f"{done.key.kind} {done.label}"
        )

    def tell(text: str) -> None:
        print(text, file=sys.stderr)

    make = run_study if settings.grid is None else run_policies
    return make(settings, folder, Engine(n_jobs=n_jobs), watch=watch, notify=tell)


def findings_of_report(run: Run) -> Iterator[tuple[str, str, Finding]]:
    """What the report of a run says of Lee's findings, with its fill rule and group of trackers."""
    for results in variant_results(read_tables(run.folder)):
        for group in results.groups:
            for finding in findings(results.ranked[group], results.rows(PairRow, group)):
                yield results.variant.removeprefix("fill="), group, finding
