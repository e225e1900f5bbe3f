"""`python -m experiments.embedded_world`: simulated calls, and how built-in trackers score on them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.embedded_world.tables import SimulatedDataset, TrackerAtEnd
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.cli.simulate import dataset_row
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, read_simulation, simulate
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.trackers.protocol import flags_of
from extrinsic.trackers.track import track

FOLDER = Path(__file__).parent
METRICS = ("accuracy", "l2", "avgp")


def tracker_row(name: str, dataset: str, test: Play, train: Play) -> TrackerAtEnd:
    """Learned trackers learn from `train`."""
    tracker = TRACKERS.get(name)
    output = track(tracker, test.corpus, name, [train.corpus])
    scores = score(test.corpus, output, metrics=METRICS, schedules=3, components=["all", "joint"])
    values = {(row.component, row.metric): row.value for row in scores.rows}
    numbers = [values["all", metric] for metric in METRICS] + [values["joint", m] for m in ("accuracy", "l2")]
    return TrackerAtEnd(dataset, name, *flags_of(tracker).values(), *numbers)


def other_rank(rows: Sequence[TrackerAtEnd]) -> int:
    """How many trackers have another rank by L2 than by accuracy."""
    by_accuracy = sorted(rows, key=lambda row: -row.accuracy)
    by_l2 = sorted(rows, key=lambda row: row.l2)
    return sum(a.tracker != b.tracker for a, b in zip(by_accuracy, by_l2, strict=True))


def compute(output: Path, arguments: argparse.Namespace) -> None:
    simulation = read_simulation()
    played = {names: simulate(simulation, *names) for names in simulation.corpora()}
    datasets = [SimulatedDataset(**dataset_row(play)) for play in played.values()]
    write_rows(output / "datasets.csv", datasets, SimulatedDataset, decimals=3)
    rows = [
        tracker_row(name, dataset, played[dataset, "test"], played[dataset, "train"])
        for dataset in simulation.worlds
        for name in TRACKERS.names()
    ]
    write_rows(output / "trackers.csv", rows, TrackerAtEnd, decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    text = render(
        FOLDER / "README.md.j2",
        datasets=Selection(read_rows(tables / "datasets.csv", SimulatedDataset)),
        trackers=Selection(read_rows(tables / "trackers.csv", TrackerAtEnd)),
        other_rank=other_rank,
    )
    (output / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts)
