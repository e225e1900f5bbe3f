"""`python -m experiments.truth.dstc2`: what policies on real DSTC2 trackers are worth, by all estimators.

Learned on train, valued on dev, with and without the dialog manager in the state; with a placebo. The log has
no propensities, so nothing that weighs dialogs can be said. Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import extrinsic
from experiments.data import require, run
from experiments.tables import write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.parallel import run_in_parallel
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.live_policy import StatePolicy
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.value.augmented_states import PROXIES, augment
from extrinsic.value.diagnostics import checked, with_on_policy_gap
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.placebo import placebo

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
)
VALUED = ("lstd", "lstd_augmented", "fqe", "fqe_augmented", "mean_augmented")


def learn(transitions: Transitions) -> KernelLSPI:
    """Steadier on these calls, as the design document measured."""
    return KernelLSPI(gamma=0.95, ridge=10.0).fit(transitions)


def read(dataset: str, names: tuple[str, ...]) -> tuple[Corpus, dict[str, TrackerOutput]]:
    data = require("dstc2")
    corpus = extrinsic.read_corpus(data / "dstc2_traindev.tar.gz", f"dstc2_{dataset}", format="dstc2")
    files = {name: data / "trackers" / f"{name}.{dataset}.json.gz" for name in names}
    return corpus, {name: extrinsic.read_tracker(path, corpus, name) for name, path in files.items()}


def rows_of(name: str) -> list[dict[str, Any]]:
    """Every policy of a tracker by every estimator, with and without the manager."""
    train, of_train = read("train", (name,))
    dev, of_dev = read("dev", tuple(dict.fromkeys((name, *PROXIES))))
    rows = []
    for with_manager in (True, False):
        features = replace(find_features("compact"), conditions=with_manager)
        learned_from = transitions_of(train, of_train[name], features)
        transitions = transitions_of(dev, of_dev[name], features)
        learner = learn(learned_from)
        policies: dict[str, StatePolicy] = {
            "rl": learner,
            "sl": SupervisedPolicy(learner.behaviour_),
            "sl_sampled": SupervisedPolicy(learner.behaviour_, sampled=True),
        }
        augmented = augment(transitions, dev, of_dev[name], [of_dev[proxy] for proxy in PROXIES])
        where = {"tracker": name, "manager": with_manager}
        observed = float(transitions.returns().mean())
        for policy, decides in policies.items():
            case = EvaluationProblem(transitions, decides.probabilities(transitions.states), augmented)
            row: dict[str, Any] = {**where, "policy": policy, "observed": observed}
            flags: set[str] = set()
            for estimator in VALUED:
                chosen = ESTIMATORS.get(estimator)
                value = checked(with_on_policy_gap(chosen.estimate(case), chosen, case), case)
                row[estimator] = value.mean
                flags |= set(value.flags)
            if policy == "rl":
                lstd = ESTIMATORS.get("lstd")
                row["placebo_gain"] = placebo(learn, learned_from, [transitions], lstd)[0].gain
            rows.append({**row, "flags": " ".join(sorted(flags))})
    return rows


def main() -> None:
    require("dstc2")
    done = run_in_parallel(rows_of, [(name,) for name in TRACKERS], os.cpu_count() or 1)
    parts = show_progress(done, len(TRACKERS), "tracker", lambda rows: rows[0]["tracker"])
    rows = [row for part in parts for row in part]
    write_csv(Path(__file__).parent / "dstc2.csv", rows)
    print_table(rows, {head: head for head in rows[0]}, sys.stdout)


if __name__ == "__main__":
    run(main)
