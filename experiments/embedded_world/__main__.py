"""`python -m experiments.embedded_world`: the tables of datasets and trackers beside this file, made anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from experiments.tables import write_csv
from extrinsic.cli.simulate import dataset_row
from extrinsic.cli.text_tables import print_table
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, read_simulation, simulate
from extrinsic.trackers.protocol import flags_of
from extrinsic.trackers.track import track

FOLDER = Path(__file__).parent
METRICS = ("accuracy", "l2", "avgp")


def tracker_row(name: str, dataset: str, test: Play, train: Play) -> dict[str, Any]:
    """The scores of a tracker at the end of the dialogs (schedule 3); learned ones learn from `train`."""
    tracker = TRACKERS.get(name)
    output = track(tracker, test.corpus, name, [train.corpus])
    scores = score(test.corpus, output, metrics=METRICS, schedules=3, components=["all", "joint"])
    by_key = {(row.component, row.metric): row.value for row in scores.rows}
    return {
        "dataset": dataset,
        "tracker": name,
        **flags_of(tracker),
        **{metric: by_key["all", metric] for metric in METRICS},
        "joint_accuracy": by_key["joint", "accuracy"],
        "joint_l2": by_key["joint", "l2"],
    }


def show(name: str, rows: list[dict[str, Any]]) -> None:
    write_csv(FOLDER / name, rows)
    print_table(rows, {key: key for key in rows[0]}, sys.stdout)
    print()


def main() -> None:
    simulation = read_simulation()
    played = {names: simulate(simulation, *names) for names in simulation.corpora()}
    show("datasets.csv", [dataset_row(play) for play in played.values()])
    rows = [
        tracker_row(name, dataset, played[dataset, "test"], played[dataset, "train"])
        for dataset in simulation.worlds
        for name in TRACKERS.names()
    ]
    show("trackers.csv", rows)
    for dataset in simulation.worlds:
        of_dataset = [row for row in rows if row["dataset"] == dataset]
        joint = [row["joint_accuracy"] for row in of_dataset]
        by_accuracy = sorted(of_dataset, key=lambda row: -row["accuracy"])
        by_l2 = sorted(of_dataset, key=lambda row: row["l2"])
        moved = sum(a["tracker"] != b["tracker"] for a, b in zip(by_accuracy, by_l2, strict=True))
        print(
            f"{dataset}: joint accuracy {min(joint):.3f} to {max(joint):.3f}; {moved} of {len(joint)} "
            "trackers have another rank by L2 than by accuracy"
        )


if __name__ == "__main__":
    main()
