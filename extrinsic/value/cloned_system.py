"""A clone of the system that made a log: its decisions as a forest has them, heeding what callers reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.tracking import Tracker
from extrinsic.policy.decisions import decision_turns
from extrinsic.policy.features import find_features
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.states import States
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation.fitted.fitted_world import FittedWorld
from extrinsic.simulation.world import Policy
from extrinsic.trackers.track import track

FEATURES = "compact"
"""What the clone sees, of the tracker that stands for the system's own."""

N_TREES, SMALLEST_LEAF = 100, 3

PRIOR_DECISIONS = 1.0
"""With how many decisions as the forest expects them those after a reply are mixed."""


@dataclass(frozen=True, eq=False)
class ClonedSystem:
    """The world in which the clone acts, which weighs its choices by what callers reply; its policy and the
    tracker that stands for the system's own."""

    world: FittedWorld
    policy: Policy
    tracker: Tracker


def clone_system(world: FittedWorld) -> ClonedSystem:
    """Learn the decisions of the logs that a world is fitted to.

    States do not hold commands such as "the next bus", which decide what a system does next. So after each
    reply the forest's probabilities are multiplied by how much oftener the log did something than the forest
    expects there, by trees that have not seen the decision.
    """
    tracker, features = TRACKERS.get(world.logs.tracker), find_features(FEATURES)
    logs = [
        transitions_of(log, track(tracker, log, world.logs.tracker), features) for log in world.logs.corpora
    ]
    states, action = zip(*((log.states, log.action) for log in logs), strict=True)
    model = ForestOfDecisions.fit(states, np.concatenate(action), len(logs[0].actions))
    weights = _weights(world, model.expected, np.concatenate(action))
    policy = LivePolicy(features, SupervisedPolicy(model, sampled=True))
    return ClonedSystem(replace(world, reply_weights=weights), policy, tracker)


def _weights(world: FittedWorld, expected: Floats, action: Ints) -> Floats:
    """By place and reply (see `Sequels`) how much likelier the log made each predicate than expected.

    expected (n_decisions, n_predicates), action (n_decisions,): of the logs' transitions.
    """
    sequels, last = world.rules.sequels, world.logs.turns.system.predicate
    sums = np.full((2, *sequels.after.shape), PRIOR_DECISIONS)
    first, decided = 0, 0
    for log in world.logs.corpora:
        turns = decision_turns(log)
        rows = slice(decided, decided + len(turns))
        before = first + turns - 1
        place = (log.history.offered[turns - 1].astype(np.int64), last[before] + 1, sequels.reply[before])
        np.add.at(sums[0], (*place, action[rows]), 1.0)
        np.add.at(sums[1], place, expected[rows])
        first, decided = first + log.n_turns, decided + len(turns)
    return np.asarray(sums[0] / sums[1])


@dataclass(frozen=True, eq=False)
class ForestOfDecisions:
    """P(a | s) by the trees of a random forest.

    expected (n, n_actions): of the states that it was learned from, by trees that did not see them.
    """

    forest: Any
    expected: Floats

    @staticmethod
    def fit(states: Sequence[States], action: Ints, n_actions: int) -> ForestOfDecisions:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            N_TREES,
            min_samples_leaf=SMALLEST_LEAF,
            max_features=0.5,
            random_state=0,
            n_jobs=1,
            oob_score=True,
        )
        forest.fit(np.vstack([_row(part) for part in states]), action)
        expected = np.zeros((len(action), n_actions))
        expected[:, forest.classes_] = forest.oob_decision_function_
        return ForestOfDecisions(forest, expected)

    def probabilities(self, states: States) -> Floats:
        """(n, n_actions)."""
        chances = np.zeros((len(states), self.expected.shape[1]))
        chances[:, self.forest.classes_] = self.forest.predict_proba(_row(states))
        return chances


def _row(states: States) -> Floats:
    return np.hstack([states.continuous, states.discrete])
