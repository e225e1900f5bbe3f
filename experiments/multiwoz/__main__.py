"""`python -m experiments.multiwoz [--runs DIR]`: which metric of states predicts success on MultiWOZ?

Three runs of the tool: trackers x generators (configs/multiwoz_swap.toml) on both golds, and the end-to-end
systems with their own responses (configs/multiwoz.toml). A run that is there is not made again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.data import require
from experiments.main import run_experiment
from experiments.multiwoz.coverage import coverage_rows
from experiments.multiwoz.figure import draw
from experiments.multiwoz.state_files import (
    FIXED,
    PAIR,
    between_rows,
    generator_rows,
    normalisation_rows,
    paired_rows,
    system_rows,
)
from experiments.multiwoz.tables import DECIMALS, TABLES, Answer, Cost, Swap, Tracker
from experiments.runs import make_run
from experiments.selection import Selection
from experiments.texts import number, render
from extrinsic.study.score_stage import GENERATOR
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.verdict import certainty

FOLDER = Path(__file__).parent
FILES_24 = 'states.files=["${EXTRINSIC_DATA:-../../shared/data}/multiwoz/trackers_2.4/*.json.gz"]'
LESS = ("correlation.permutations=99", "correlation.subsets=1")
"""Of what these tables do not take from a run."""

GOLDS: dict[str, tuple[str, ...]] = {"2.1": (), "2.4": (FILES_24, *LESS)}
"""What the swap run on each gold changes in the config."""

SEED = 1


def compute(output: Path, arguments: argparse.Namespace) -> None:
    require("multiwoz")
    runs = {
        gold: make_run(read_study("multiwoz_swap", changes), arguments.runs / f"multiwoz_swap_{gold}")
        for gold, changes in GOLDS.items()
    }
    ends = make_run(read_study("multiwoz", LESS), arguments.runs / "multiwoz")
    systems = list(system_rows())
    tables: dict[str, list[Any]] = {
        "swap": [
            msgspec.convert(msgspec.structs.asdict(row) | {"gold": gold}, Swap)
            for gold, run in [*runs.items(), ("2.1", ends)]
            for row in run.table("swap")
            if row.generator in ("all", "own")
        ],
        "costs": [
            msgspec.convert(msgspec.structs.asdict(row) | {"gold": gold}, Cost)
            for gold, run in runs.items()
            for row in run.table("costs")
        ],
        "answers": list(answer_rows(runs)),
        "coverage": list(coverage_rows()),
        "trackers": list(tracker_rows(runs)),
        "generators": list(generator_rows()),
        "systems": systems,
        "between": list(between_rows(systems)),
        "normalisations": list(normalisation_rows()),
        "paired": list(paired_rows(SEED)),
    }
    for name, rows in tables.items():
        write_rows(output / f"{name}.csv", rows, TABLES[name], decimals=DECIMALS.get(name, 3))


def answer_rows(runs: dict[str, Run]) -> Iterator[Answer]:
    """The verdicts of the swap runs."""
    for gold, run in runs.items():
        for verdict in run.verdict().verdicts:
            first = run.best(target=verdict.target)[0].metric
            kind = (verdict.target, first, "core", "pearson", "within")
            (moved,) = (
                row
                for row in run.table("influence")
                if (row.target, row.metric, row.trackers, row.coefficient, row.scope) == kind
            )
            yield Answer(
                gold=gold,
                target=verdict.target,
                metric=first,
                sentence=verdict.sentence,
                certainty=certainty(verdict),
                r_means=float(moved.r or 0.0),
                without=moved.tracker or "",
                r_without=float(moved.r_without or 0.0),
            )


def success_by_generator(run: Run) -> dict[tuple[str, str], float]:
    """By tracker and generator."""
    return {
        (row.tracker, row.diagnostic.removeprefix(f"{GENERATOR}.")): float(row.value or 0.0)
        for row in run.table("diagnostics")
        if row.estimator == "success" and row.diagnostic.startswith(GENERATOR)
    }


def tracker_rows(runs: dict[str, Run]) -> Iterator[Tracker]:
    by_generator = success_by_generator(runs["2.1"])
    outcomes = {(row.tracker, row.estimator): float(row.value or 0.0) for row in runs["2.1"].table("returns")}
    scores = {
        (gold, row.tracker, row.metric): float(row.value or 0.0)
        for gold, run in runs.items()
        for row in run.table("intrinsic")
        if row.component == "all"
    }
    for row in sorted(runs["2.1"].table("trackers"), key=lambda row: outcomes[row.tracker, "success"])[::-1]:
        reached = [value for (tracker, _), value in by_generator.items() if tracker == row.tracker]
        metrics = {
            f"{metric}_{gold.replace('.', '')}": scores[gold, row.tracker, metric]
            for metric in ("jga", "slot_f1")
            for gold in runs
        }
        yield Tracker(
            tracker=row.tracker,
            flags=row.flags,
            success=outcomes[row.tracker, "success"],
            inform=outcomes[row.tracker, "inform"],
            lowest=min(reached),
            highest=max(reached),
            **metrics,
        )


def write_texts(tables: Path, output: Path) -> None:
    rows: dict[str, Selection[Any]] = {
        name: Selection(read_rows(tables / f"{name}.csv", kind)) for name, kind in TABLES.items()
    }
    draw(rows["swap"], output / "multiwoz.svg")
    text = render(
        FOLDER / "README.md.j2",
        **rows,
        own=rows["swap"].where(generator="own", trackers="core", target="outcome.success"),
        dadamrx=rows["trackers"].where(tracker=PAIR[1]).rows[0],
        pair=PAIR,
        fixed=FIXED,
        kept_order=kept_order,
        less=less,
    )
    (output / "README.md").write_text(text)


def less(row: Swap) -> str:
    """r less that of JGA."""
    if row.difference is None:
        return ""
    ends = (row.difference, row.difference_low, row.difference_high)
    return "{} [{}, {}]".format(*map(number, ends))


def kept_order(swap: Selection[Swap], trackers: str, level: str) -> tuple[float, int, int]:
    """Of metrics on both golds: Spearman's r of their r, how many pairs keep their order, and all pairs."""
    by_gold = [
        {
            row.metric: row.r
            for row in swap.where(gold=gold, trackers=trackers, level=level, generator="all").rows
        }
        for gold in GOLDS
    ]
    names = [name for name, r in by_gold[0].items() if r is not None and not name.startswith("sentinel")]
    first, second = (np.array([[[each[name] for name in names]]]) for each in by_gold)
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    kept = [(first[0, 0, i] - first[0, 0, j]) * (second[0, 0, i] - second[0, 0, j]) > 0 for i, j in pairs]
    return float(correlate(first, second, "spearman", "within")[0, 0]), sum(kept), len(pairs)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), help="where the runs of the tool are, or will be"
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
