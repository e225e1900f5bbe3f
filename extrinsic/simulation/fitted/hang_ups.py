"""When callers hang up: a hazard, fitted to what has annoyed them and to whether they have what they want."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.fitted.caller_states import REACTED_TO
from extrinsic.simulation.fitted.logged_dialogs import Logs

PRESENTED, TOLD = REACTED_TO.index("something presented"), REACTED_TO.index("fact told")


@dataclass(frozen=True, eq=False)
class HangUps:
    """The probability that a caller hangs up after what the system just said.

    at_once: after the greeting.   weights, intercept: of a logistic regression, for who is not content; the
    last weights are those of the predicate: few hang up on the last question before an offer.
    most (len(ANNOYANCES),): nobody was worn more in the logs. Who is counts as worn that much: of others the
    regression knows nothing.
    leaves (2, 3): of content ones, by whether they still want to know something, and whether the system just
    did neither, presented something or told a fact.
    """

    at_once: float
    weights: Floats
    intercept: float
    most: Floats
    leaves: Floats
    n_predicates: int

    def hazard(
        self, is_first: Bools, content: Bools, wishes_left: Bools, predicate: Ints, now: Bools, worn: Floats
    ) -> Floats:
        """(m,) the probability for each caller.

        predicate (m,), now (m, len(REACTED_TO)): what the system just did.
        worn (m, len(ANNOYANCES)): what annoyed before.
        """
        features = _features(np.minimum(worn, self.most), now, predicate, self.n_predicates)
        unhappy = 1.0 / (1.0 + np.exp(-(features @ self.weights + self.intercept)))
        happy = self.leaves[wishes_left.astype(np.int64), _given(now)]
        return np.where(is_first, self.at_once, np.where(content, happy, unhappy))


def _given(now: Bools) -> Ints:
    """(m,) 1 if something was just presented, 2 if a fact was told, else 0."""
    return np.asarray(now[:, PRESENTED] + 2 * now[:, TOLD])


def _features(worn: Floats, now: Bools, predicate: Ints, n_predicates: int) -> Floats:
    """Turns without content, straight and in logarithms, every other annoyance, and what just happened."""
    turns, did = worn[:, -1], predicate[:, None] == np.arange(n_predicates)
    return np.column_stack([turns / 10.0, np.log1p(turns), worn[:, :-1] / 3.0, now, did])


def fit_hang_ups(logs: Logs, by_system: Ints) -> HangUps:
    """by_system: the predicates with which the system ends a dialog itself."""
    turns = logs.turns
    ended = np.isin(turns.system.predicate, by_system)
    hangs_up = turns.is_last & ~ended
    is_first = turns.turn == 0
    given = _given(turns.now)
    leaves = np.zeros((2, 3))
    for left, kind in np.ndindex(2, 3):
        alike = turns.content & (turns.wishes_left == left) & (given == kind) & ~ended & ~is_first
        # How long content callers stay on is a matter of the last log.
        alike &= turns.own
        leaves[left, kind] = (hangs_up[alike].sum() + 0.5) / (alike.sum() + 1.0)
    used = ~turns.content & ~ended & ~is_first
    n_predicates = len(logs.corpora[-1].domain.predicate_names)
    features = _features(turns.worn[used], turns.now[used], turns.system.predicate[used], n_predicates)
    weights, intercept = _logistic(features, hangs_up[used])
    at_once = float(hangs_up[is_first].mean()) if is_first.any() else 0.0
    most = turns.worn[used].max(axis=0, initial=0.0)
    return HangUps(at_once, weights, intercept, most, leaves, n_predicates)


def _logistic(features: Floats, target: Bools) -> tuple[Floats, float]:
    from sklearn.linear_model import LogisticRegression

    if not target.any() or target.all():
        share = (target.sum() + 0.5) / (len(target) + 1.0)
        return np.zeros(features.shape[1]), float(np.log(share / (1.0 - share)))
    model = LogisticRegression(C=100.0, max_iter=5000).fit(features, target)
    return model.coef_[0], float(model.intercept_[0])
