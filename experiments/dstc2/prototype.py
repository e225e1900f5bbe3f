"""`python -m experiments.dstc2.prototype`: the same policies, valued on all conditions together.

A prototype of this project had RL 3.5 above SL, in 11 of 17 trackers, and most of the gain gone once the
state tells which dialog manager made a call. Learned and valued again as it may have been: on dev as a whole,
in another state, by a discounted value, against imitation of the likeliest act, with the manager hidden.
Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import require, run
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.choose import CONFIG, FOLDER
from experiments.tables import write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.parallel import run_in_parallel
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.reward import Reward
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_plan
from extrinsic.study.stages.inputs import corpus_of, output_of
from extrinsic.value.augmented_states import augment
from extrinsic.value.estimators import Estimator
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.lstd_value import Lstd
from extrinsic.value.q_function import KernelSettings

TRACKERS = (
    "baseline",
    "focus",
    "hwu",
    "hwu_original",
    "yarbus_16",
    "yarbus_24",
    "yarbus_28",
    "yarbus_30",
    "yarbus_31",
    "accumulate",
    "bayes_none",
    "confident_only",
    "last_mention",
    "last_turn",
    "logistic",
    "rank_only",
    "top_hypothesis",
)
"""Seventeen, as there; which those were is not told."""

OURS = {"features": "compact", "gamma": 1.0, "ridge": 100.0, "threshold": 0.1}
NAMED = {"gamma": 0.95, "ridge": 10.0, "threshold": 0.2}
"""The parameters that the design document names."""

WAYS = (
    {"manager": "seen", **OURS},
    {"manager": "seen", "features": "compact", **NAMED},
    {"manager": "seen", "features": "grouped", **NAMED},  # a state without the dialog's history
    {"manager": "hidden", **OURS},
    {"manager": "hidden", "features": "grouped", **NAMED},
)

WAY = ("manager", "features", "gamma", "ridge", "threshold", "sl", "estimator")

ESTIMATED: dict[str, Estimator] = {
    "mean_augmented": ESTIMATORS.get("mean_augmented"),
    "lstd": ESTIMATORS.get("lstd"),
    "lstd, gamma .95, ridge 10": Lstd("lstd_discounted", KernelSettings(gamma=0.95, ridge=10.0)),
}


def rows_of(name: str, way: dict[str, Any]) -> list[dict[str, Any]]:
    """RL less SL, and less what the logged policy earned, of one tracker by every estimator."""
    plan = make_plan(read_study(CONFIG))
    unit, tracker, setting = next(bundle for bundle in plan.bundles if bundle[0].tracker == name)[1].arguments
    train, test = corpus_of(unit.train), corpus_of(unit.test)
    features = replace(find_features(way["features"]), conditions=way["manager"] == "seen")
    reward = Reward.of(train.domain, fill=FILLS[0])
    learned_from = transitions_of(train, output_of(tracker, unit, "train"), features, reward)
    output = output_of(tracker, unit, "test")
    transitions = transitions_of(test, output, features, reward)
    proxies = [output_of(proxy, unit, "test") for proxy in setting.proxies]
    augmented = augment(transitions, test, output, proxies, reward)
    learner = KernelLSPI(gamma=way["gamma"], ridge=way["ridge"], threshold=way["threshold"])
    learner.fit(learned_from)
    rl = EvaluationProblem(transitions, learner.probabilities(transitions.states), augmented)
    rows = []
    for sampled in (True, False):
        imitated = SupervisedPolicy(learner.behaviour_, sampled=sampled).probabilities(transitions.states)
        sl = EvaluationProblem(transitions, imitated, augmented)
        for label, estimator in ESTIMATED.items():
            value = estimator.estimate(rl).mean
            rows.append(
                {
                    **way,
                    "sl": "sampled" if sampled else "likeliest",
                    "estimator": label,
                    "tracker": name,
                    "rl_sl": value - estimator.estimate(sl).mean,
                    "rl_logged": value - estimator.estimate(rl.behaviour(logged=True)).mean,
                }
            )
    return rows


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over trackers; above: in how many of them RL is above SL."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in WAY), []).append(row)
    return [
        {
            **dict(zip(WAY, group, strict=True)),
            "rl_sl": float(np.mean([row["rl_sl"] for row in found])),
            "above": sum(row["rl_sl"] > 0 for row in found),
            "trackers": len(found),
            "rl_logged": float(np.mean([row["rl_logged"] for row in found])),
        }
        for group, found in groups.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.dstc2.prototype", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER))
    folder = Path(parser.parse_args().output)
    require("dstc2")
    tasks = [(name, way) for way in WAYS for name in TRACKERS]
    done = run_in_parallel(rows_of, tasks, os.cpu_count() or 1)
    parts = show_progress(done, len(tasks), "tracker", lambda rows: rows[0]["tracker"])
    summary = summarise([row for part in parts for row in part])
    write_csv(folder / "prototype.csv", summary)
    print_table(summary, {key: key for key in summary[0]}, sys.stdout)


if __name__ == "__main__":
    run(main)
