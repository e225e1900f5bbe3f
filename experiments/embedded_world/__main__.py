"""`python -m experiments.embedded_world`: simulated calls, and how built-in trackers score on them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from experiments.embedded_world.figure import draw
from experiments.embedded_world.profile import profile
from experiments.embedded_world.tables import CorpusProfile, SimulatedDataset, TrackerAtEnd
from experiments.main import Experiment, Made, require
from extrinsic.cli.simulate import dataset_row
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.simulation import BusSimulation, Play, read_simulation, simulate
from extrinsic.trackers.protocol import flags_of
from extrinsic.trackers.track import track

FOLDER = Path(__file__).parent
METRICS = ("accuracy", "l2", "avgp")
FRESH_SEED, N_FRESH = 7919, 2000
HALVES = ("train3_plain_a", "train3_plain_b")
"""Of DSTC1's train3 without restarts and apologies: letsgo is fitted to the first, checked on the second."""


def tracker_row(name: str, dataset: str, test: Play, train: Play) -> TrackerAtEnd:
    """Learned trackers learn from `train`."""
    tracker = TRACKERS.get(name)
    output = track(tracker, test.corpus, name, [train.corpus])
    scores = score(test.corpus, output, metrics=METRICS, schedules=3, components=["all", "joint"])
    values = {(row.component, row.metric): row.value for row in scores.rows}
    numbers = [values["all", metric] for metric in METRICS] + [values["joint", m] for m in ("accuracy", "l2")]
    return TrackerAtEnd(dataset, name, *flags_of(tracker).values(), *numbers)


def profile_row(corpus: Corpus, is_real: bool) -> CorpusProfile:
    numbers = msgspec.structs.asdict(profile(corpus))
    shares = numbers.pop("predicates")
    named = CorpusProfile.__struct_fields__[CorpusProfile.__struct_fields__.index("request") :]
    return CorpusProfile(is_real=is_real, **numbers, **{name: shares.get(name) for name in named})


def real_corpora() -> list[Corpus]:
    """Both halves of the real bus calls, and the training calls of DSTC2."""
    calls = require("dstc1") / "dstc1_train3.tar.gz"
    return [
        *(DSTC1.read_corpus(calls, half) for half in HALVES),
        DSTC2.read_corpus(require("dstc2") / "dstc2_traindev.tar.gz", "dstc2_train"),
    ]


def fresh_letsgo() -> Corpus:
    """Callers of letsgo that its settings were not looked at with: those of another seed."""
    simulation = BusSimulation.read(None, FRESH_SEED)
    dialogs = {"letsgo": {"test": N_FRESH}}
    played = simulate(msgspec.structs.replace(simulation, dialogs=dialogs), "letsgo", "test")
    return replace(played.corpus, dataset="letsgo_fresh")


def other_rank(rows: Sequence[TrackerAtEnd]) -> int:
    """How many trackers have another rank by L2 than by accuracy."""
    by_accuracy = sorted(rows, key=lambda row: -row.accuracy)
    by_l2 = sorted(rows, key=lambda row: row.l2)
    return sum(a.tracker != b.tracker for a, b in zip(by_accuracy, by_l2, strict=True))


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    simulation = read_simulation()
    played = {names: simulate(simulation, *names) for names in simulation.corpora()}
    yield "datasets", [SimulatedDataset(**dataset_row(play)) for play in played.values()]
    profiles = [profile_row(corpus, True) for corpus in real_corpora()]
    profiles += [profile_row(play.corpus, False) for (_, split), play in played.items() if split == "test"]
    yield "profiles", [*profiles, profile_row(fresh_letsgo(), False)]
    rows = [
        tracker_row(name, dataset, played[dataset, "test"], played[dataset, "train"])
        for dataset in simulation.worlds
        for name in TRACKERS.names()
    ]
    yield "trackers", rows


EXPERIMENT = Experiment(
    FOLDER,
    __doc__,
    {"datasets": SimulatedDataset, "trackers": TrackerAtEnd, "profiles": CorpusProfile},
    compute,
    lambda tables: {"other_rank": other_rank},
    lambda tables, output: draw(tables["profiles"], output / "profiles.svg"),
)

if __name__ == "__main__":
    EXPERIMENT.main()
