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
from pathlib import Path
from typing import Any

import numpy as np

import extrinsic
from experiments.data import require, run
from experiments.dstc2.candidates import N_FOLDS, Calls, gains_of, summarise
from experiments.tables import write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.correlation.duplicates import agreement, near_duplicates
from extrinsic.parallel import run_in_parallel
from extrinsic.registry import TRACKERS
from extrinsic.storage import encode_json, write_atomic
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.configuration.targets import tracker_names
from extrinsic.trackers.track import track

CHOSEN = ("features", "gamma", "ridge", "threshold")
FOLDER = Path(__file__).parent
CONFIG = FOLDER.parents[1] / "configs" / "dstc2.toml"
ASKED = ("baseline", "hwu", "yarbus_24", "logistic", "rank_only", "accumulate")
"""Whose policies are looked at: given and ours, good and poor, with and without useful scores."""
NEAR_BEST = 0.05
"""A tracker is good whose joint goals (schedule 2, scheme a: the featured figure) are right so nearly as
often as the best one's."""


def training_calls(settings: StudySettings) -> Corpus:
    assert settings.corpus is not None and settings.corpus.train is not None
    return extrinsic.read_corpus(settings.corpus.path, settings.corpus.train, format=settings.corpus.format)


def believed(name: str, corpus: Corpus, settings: StudySettings) -> TrackerOutput:
    """What a tracker believes of the training calls; a learned one is cross-fitted on them."""
    files = settings.trackers.files
    if files is not None and name in files.names and files.train is not None:
        return extrinsic.read_tracker(files.train.replace("{tracker}", name), corpus, name)
    return track(TRACKERS.get(name), corpus, name)


def rows_of(name: str, fold: int) -> list[dict[str, Any]]:
    settings = read_study(CONFIG)
    corpus = training_calls(settings)
    proxies = tuple(believed(proxy, corpus, settings) for proxy in settings.value.proxies)
    rows = gains_of(Calls(corpus, believed(name, corpus, settings), proxies), fold)
    return [{"tracker": name, "fold": fold, **row} for row in rows]


def judge_trackers(settings: StudySettings) -> list[dict[str, Any]]:
    """Every tracker of the study on the training calls: joint accuracy, good or not, nearly which other."""
    corpus = training_calls(settings)
    names = tracker_names(settings)
    outputs = [believed(name, corpus, settings) for name in names]
    accuracy = [joint_accuracy(corpus, output) for output in outputs]
    good = [number > max(accuracy) - NEAR_BEST for number in accuracy]
    chosen = [i for i, is_good in enumerate(good) if is_good]
    beliefs = [outputs[i].marginals(corpus) for i in chosen]
    tops = [belief.value[belief.top].astype(np.int64) for belief in beliefs]
    scores = [belief.score[belief.top] for belief in beliefs]
    found = near_duplicates(agreement(tops, scores), settings.trackers.near_duplicate)
    nearly = {chosen[i]: names[chosen[j]] for i, j in enumerate(found) if j is not None}
    return [
        {
            "tracker": name,
            "given": settings.trackers.files is not None and name in settings.trackers.files.names,
            "accuracy": accuracy[i],
            "good": good[i],
            "nearly": nearly.get(i),
        }
        for i, name in enumerate(names)
    ]


def joint_accuracy(corpus: Corpus, output: TrackerOutput) -> float:
    scores = extrinsic.score(corpus, output, metrics="accuracy", schedules=[2], components="goal.joint")
    return next(float(row["value"]) for row in scores.as_rows() if row["label_scheme"] == "a")


def choices_text(first: dict[str, Any], judged: list[dict[str, Any]]) -> str:
    """choices.toml: the settings that came first, and the good trackers."""
    good = [row["tracker"] for row in judged if row["good"] and not row["nearly"]]
    return "\n".join(
        [
            "# Written by `python -m experiments.dstc2.choose`, from the training calls alone.",
            *(f"{key} = {_toml(first[key])}" for key in CHOSEN),
            f"good = {_toml(good)}",
            "",
        ]
    )


def _toml(value: Any) -> str:
    return encode_json(value).decode().strip()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.dstc2.choose", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER))
    folder = Path(parser.parse_args().output)
    folder.mkdir(parents=True, exist_ok=True)
    require("dstc2")
    tasks = [(name, fold) for name in ASKED for fold in range(N_FOLDS)]
    done = run_in_parallel(rows_of, tasks, os.cpu_count() or 1)
    parts = show_progress(done, len(tasks), "tracker, fold", lambda rows: rows[0]["tracker"])
    summary = summarise([row for part in parts for row in part])
    judged = judge_trackers(read_study(CONFIG))
    write_csv(folder / "candidates.csv", summary)
    write_csv(folder / "trackers.csv", judged)
    write_atomic(folder / "choices.toml", choices_text(summary[0], judged).encode())
    for rows in (summary, judged):
        print_table(rows, {key: key for key in rows[0]}, sys.stdout)


if __name__ == "__main__":
    run(main)
