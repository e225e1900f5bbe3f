"""`python -m experiments.dstc2.choose`: fix what is left to choose, by the training calls alone.

Reads dstc2_train and the trackers' outputs on it, never dev. Learns without a third of the calls and values
on that third; the settings that gain most are written to choices.toml, which the study reads before it reads
dev. Also which trackers are good, and which of those are nearly the same. Needs EXTRINSIC_DATA, or
../shared/data.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

import extrinsic
from experiments.data import require, run
from experiments.dstc2.candidate_settings import N_FOLDS, Calls, CandidateGain, candidate_gains, summarise
from experiments.dstc2.tables import CandidateRow, JudgedTracker
from extrinsic.cli.output import print_table
from extrinsic.cli.progress import show_progress
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problems
from extrinsic.parallel import run_in_parallel
from extrinsic.registry import LEARNERS, TRACKERS
from extrinsic.storage import encode_json, write_atomic
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import read_study
from extrinsic.study.tracker_inputs import tracker_names
from extrinsic.tables import write_rows
from extrinsic.trackers.track import track
from extrinsic.typed_files import read_toml
from extrinsic.verdict.core_systems import agreement, near_duplicates

FOLDER = Path(__file__).parent
CONFIG = FOLDER.parents[1] / "configs" / "dstc2.toml"
LEARNER = "kernel_lspi"
TRIED = ("baseline", "hwu", "yarbus_24", "logistic", "rank_only", "accumulate")
"""Whose policies are looked at: given and ours, good and poor, with and without useful scores."""
NEAR_BEST = 0.05
"""A tracker is good whose joint goals (schedule 2, scheme a: the featured figure) are right so nearly as
often as the best one's."""


class Choices(msgspec.Struct, frozen=True):
    """What is chosen on the training calls: four settings of the learner, and the trackers that are good."""

    features: str
    gamma: float
    ridge: float
    threshold: float
    good: tuple[str, ...]

    def text(self) -> str:
        lines = [
            f"{key} = {encode_json(value).decode().strip()}"
            for key, value in msgspec.structs.asdict(self).items()
        ]
        head = "# Written by `python -m experiments.dstc2.choose`, from the training calls alone."
        return "\n".join([head, *lines, ""])


def make_choices(candidates: Sequence[CandidateRow], trackers: Sequence[JudgedTracker]) -> Choices:
    """The settings that came first, and the good trackers."""
    first = candidates[0]
    good = tuple(row.tracker for row in trackers if row.good and not row.nearly)
    return Choices(first.features, first.gamma, first.ridge, first.threshold, good)


def read_choices() -> Choices:
    """What was chosen; refuses to go on where the study does not keep to it."""
    path = FOLDER / "choices.toml"
    if not path.exists():
        raise InputError("nothing is chosen yet: run python -m experiments.dstc2.choose", path=str(path))
    choices = read_toml(path, Choices)
    policy = read_study(CONFIG).policy
    learner = policy.component(LEARNER).make(LEARNERS)
    settings = {
        "features": policy.features,
        "threshold": policy.threshold,
        f"{LEARNER}.gamma": learner.gamma,
        f"{LEARNER}.ridge": learner.ridge,
    }
    problems = Problems(CONFIG.name)
    for key, value in settings.items():
        expected = getattr(choices, key.rpartition(".")[2])
        if value != expected:
            problems.add(
                f"policy.{key} is not what was chosen on the training calls",
                expected=str(expected),
                found=str(value),
            )
    problems.raise_errors()
    return choices


def training_calls(settings: StudySettings) -> Corpus:
    assert settings.corpus is not None and settings.corpus.train is not None
    return extrinsic.read_corpus(settings.corpus.path, settings.corpus.train, format=settings.corpus.format)


def training_output(name: str, corpus: Corpus, settings: StudySettings) -> TrackerOutput:
    """What a tracker believes of the training calls; a learned one is cross-fitted on them."""
    files = settings.trackers.files
    if files is not None and name in files.names and files.train is not None:
        return extrinsic.read_tracker(files.train.replace("{tracker}", name), corpus, name)
    return track(TRACKERS.get(name), corpus, name)


def fold_gains(tracker: str, fold: int) -> list[CandidateGain]:
    settings = read_study(CONFIG)
    corpus = training_calls(settings)
    proxies = tuple(training_output(proxy, corpus, settings) for proxy in settings.value.proxies)
    calls = Calls(corpus, training_output(tracker, corpus, settings), proxies)
    return list(candidate_gains(tracker, calls, fold))


def judge_trackers(settings: StudySettings) -> list[JudgedTracker]:
    """Every tracker of the study on the training calls."""
    corpus = training_calls(settings)
    names = tracker_names(settings)
    outputs = [training_output(name, corpus, settings) for name in names]
    accuracy = [joint_accuracy(corpus, output) for output in outputs]
    good = [i for i, share in enumerate(accuracy) if share > max(accuracy) - NEAR_BEST]
    beliefs = [outputs[i].marginals(corpus) for i in good]
    tops = [belief.value[belief.top].astype(np.int64) for belief in beliefs]
    scores = [belief.score[belief.top] for belief in beliefs]
    duplicates = near_duplicates(agreement(tops, scores), settings.trackers.near_duplicate)
    nearly = {good[i]: names[good[j]] for i, j in enumerate(duplicates) if j is not None}
    given = settings.trackers.files.names if settings.trackers.files is not None else ()
    return [
        JudgedTracker(name, name in given, accuracy[i], i in good, nearly.get(i))
        for i, name in enumerate(names)
    ]


def joint_accuracy(corpus: Corpus, output: TrackerOutput) -> float:
    scores = extrinsic.score(corpus, output, metrics="accuracy", schedules=[2], components="goal.joint")
    return next(float(row["value"]) for row in scores.as_rows() if row["label_scheme"] == "a")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.dstc2.choose", description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="where the tables go")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    require("dstc2")
    tasks = [(name, fold) for name in TRIED for fold in range(N_FOLDS)]
    steps = run_in_parallel(fold_gains, tasks, os.cpu_count() or 1)
    parts = show_progress(steps, len(tasks), "tracker, fold", lambda gains: gains[0].tracker)
    candidates = summarise([gain for part in parts for gain in part])
    trackers = judge_trackers(read_study(CONFIG))
    write_rows(folder / "candidates.csv", candidates, CandidateRow, decimals=3)
    write_rows(folder / "trackers.csv", trackers, JudgedTracker, decimals=3)
    write_atomic(folder / "choices.toml", make_choices(candidates, trackers).text().encode())
    print_table(candidates, {name: name for name in CandidateRow.__struct_fields__}, sys.stdout)
    print_table(trackers, {name: name for name in JudgedTracker.__struct_fields__}, sys.stdout)


if __name__ == "__main__":
    run(main)
