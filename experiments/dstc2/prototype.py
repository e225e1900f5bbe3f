"""`python -m experiments.dstc2.prototype`: the same policies, valued on all conditions together.

A prototype of this project had RL 3.5 above SL, in 11 of 17 trackers, and most of the gain gone once the
state shows which dialog manager made a call. Learned and valued again as it may have been: on dev as a whole,
in another state, by a discounted value, against imitation of the likeliest act, with the manager hidden.
Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from experiments.data import require, run
from experiments.dstc2.candidate_settings import FILLS, Candidate
from experiments.dstc2.choose import CONFIG, FOLDER
from experiments.dstc2.tables import PrototypeWay
from extrinsic.cli.output import print_table
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.features import find_features
from extrinsic.policy.imitation import SupervisedPolicy
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.lstd import KernelSettings
from extrinsic.policy.rewards import Reward
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.study.dialog_inputs import corpus_of
from extrinsic.study.learn_stage import LearnTask
from extrinsic.study.plan import plan_study
from extrinsic.study.settings_file import read_study
from extrinsic.study.tracker_inputs import output_of
from extrinsic.tables import write_rows
from extrinsic.value.estimator import Estimator, EvaluationProblem
from extrinsic.value.lstd import Lstd, augment

TRACKERS = (
    *("baseline", "focus", "hwu", "hwu_original"),
    *("yarbus_16", "yarbus_24", "yarbus_28", "yarbus_30", "yarbus_31"),
    *("accumulate", "bayes_none", "confident_only", "last_mention", "last_turn", "logistic", "rank_only"),
    "top_hypothesis",
)
"""Seventeen, as there; which those were is not recorded."""

OURS = Candidate("compact", gamma=1.0, ridge=100.0, threshold=0.1)
NAMED = Candidate("compact", gamma=0.95, ridge=10.0, threshold=0.2)
"""With the parameters that the design document names."""
NO_HISTORY = replace(NAMED, features="grouped")
"""In a state without the dialog's history."""

WAYS = (("seen", OURS), ("seen", NAMED), ("seen", NO_HISTORY), ("hidden", OURS), ("hidden", NO_HISTORY))
"""Whether the state shows the dialog manager, and how to learn."""

ESTIMATED: dict[str, Estimator] = {
    "mean_augmented": ESTIMATORS.get("mean_augmented"),
    "lstd": ESTIMATORS.get("lstd"),
    "lstd, gamma .95, ridge 10": Lstd("lstd_discounted", KernelSettings(gamma=0.95, ridge=10.0)),
}


def learn_and_value(
    name: str, manager: str, candidate: Candidate, changes: Sequence[str] = ()
) -> list[PrototypeWay]:
    """One tracker by every estimator, against imitation by draws and by the likeliest act."""
    tasks = [task for bundle in plan_study(read_study(CONFIG, changes)).bundles for task in bundle]
    task = next(task for task in tasks if isinstance(task, LearnTask) and task.system.name == name)
    train, test = corpus_of(task.unit.train), corpus_of(task.unit.test)
    features = replace(find_features(candidate.features), conditions=manager == "seen")
    reward = Reward.of(train.domain, fill=FILLS[0], when="terminal")
    learned_from = transitions_of(train, output_of(task.system, task.unit, "train"), features, reward)
    output = output_of(task.system, task.unit, "test")
    transitions = transitions_of(test, output, features, reward)
    proxies = [output_of(proxy, task.unit, "test") for proxy in task.spec.proxies]
    augmented = augment(transitions, test, output, proxies, reward)
    behaviour = fit_behaviour(KernelLogistic(), learned_from, candidate.threshold)
    policy = KernelLSPI(gamma=candidate.gamma, ridge=candidate.ridge).fit(learned_from, behaviour)
    learned = EvaluationProblem(transitions, policy.probabilities(transitions.states), augmented)
    rows = []
    for sl, sampled in (("sampled", True), ("likeliest", False)):
        imitation = SupervisedPolicy(behaviour.model, sampled=sampled).probabilities(transitions.states)
        imitated = EvaluationProblem(transitions, imitation, augmented)
        for label, estimator in ESTIMATED.items():
            rl, other, logged = (
                estimator.estimate(problem).mean
                for problem in (learned, imitated, learned.behaviour(logged=True))
            )
            way = (
                manager,
                candidate.features,
                candidate.gamma,
                candidate.ridge,
                candidate.threshold,
                sl,
                label,
            )
            rows.append(PrototypeWay(*way, rl - other, int(rl > other), 1, rl - logged))
    return rows


def summarise(rows: Sequence[PrototypeWay]) -> list[PrototypeWay]:
    """Means over trackers; rows: of one tracker each."""
    groups: dict[tuple[object, ...], list[PrototypeWay]] = {}
    for row in rows:
        way = (row.manager, row.features, row.gamma, row.ridge, row.threshold, row.sl, row.estimator)
        groups.setdefault(way, []).append(row)
    return [
        msgspec.structs.replace(
            group[0],
            rl_sl=float(np.mean([row.rl_sl for row in group])),
            above=sum(row.above for row in group),
            trackers=len(group),
            rl_logged=float(np.mean([row.rl_logged for row in group])),
        )
        for group in groups.values()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.dstc2.prototype", description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="where the table goes")
    folder: Path = parser.parse_args().output
    require("dstc2")
    tasks = [(name, *way) for way in WAYS for name in TRACKERS]
    steps = run_in_parallel(learn_and_value, tasks, os.cpu_count() or 1)
    parts = show_progress(steps, len(tasks), "tracker", lambda rows: f"{rows[0].manager} {rows[0].features}")
    summary = summarise([row for part in parts for row in part])
    write_rows(folder / "prototype.csv", summary, PrototypeWay, decimals=3)
    print_table(summary, {name: name for name in PrototypeWay.__struct_fields__}, sys.stdout)


if __name__ == "__main__":
    run(main)
