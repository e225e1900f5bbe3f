"""How likely the system that made a corpus was to act in each way: P(a | s), learned or logged.

Used to keep a learned policy near what was tried (the filter), and as a policy of its own (supervised).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.splits import fold_of_sessions
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions

FOLDS = 5


class ActionModel(ABC):
    """P(a | s) over all actions of the transitions it was fitted to."""

    @abstractmethod
    def probabilities(self, states: States) -> Floats:
        """(n, n_actions), each row summing to 1."""


class ActionLearner(ABC):
    """Learns an ActionModel from transitions; small classes are told how often they come, not where."""

    rarest: int = 10
    """Actions seen less often than this are not learned: they keep their share everywhere."""

    @abstractmethod
    def fit_classes(self, states: States, action: Ints, dialog: Ints) -> ActionModel:
        """A model of actions that each come often enough; its columns are the sorted distinct actions."""

    def fit(self, transitions: Transitions) -> ActionModel:
        """The model of all transitions."""
        return self._fit_rows(transitions, np.arange(len(transitions)))

    def cross_fitted(self, transitions: Transitions, folds: int = FOLDS) -> Floats:
        """(n, n_actions) for the training states, each from a model that never saw its dialog."""
        fold = fold_of_sessions(transitions.sessions, min(folds, transitions.n_dialogs))[transitions.dialog]
        probabilities = np.empty((len(transitions), len(transitions.actions)))
        for held in np.unique(fold):
            model = self._fit_rows(transitions, np.flatnonzero(fold != held))
            rows = np.flatnonzero(fold == held)
            probabilities[rows] = model.probabilities(transitions.states.take(rows))
        return probabilities

    def _fit_rows(self, transitions: Transitions, rows: Ints) -> ActionModel:
        counts = np.bincount(transitions.action[rows], minlength=len(transitions.actions))
        learned = np.flatnonzero(counts >= self.rarest)
        if len(learned) == 0:
            learned = np.array([counts.argmax()])
        share = counts / counts.sum()
        if len(learned) == 1:
            return _Mixture(None, learned, share)
        rows = rows[np.isin(transitions.action[rows], learned)]
        model = self.fit_classes(
            transitions.states.take(rows), transitions.action[rows], transitions.dialog[rows]
        )
        return _Mixture(model, learned, share)


@dataclass(frozen=True, eq=False)
class _Mixture(ActionModel):
    """A model of the frequent actions, and the plain shares of the rare ones."""

    model: ActionModel | None
    learned: Ints
    share: Floats

    def probabilities(self, states: States) -> Floats:
        table = np.tile(
            np.where(np.isin(np.arange(len(self.share)), self.learned), 0.0, self.share), (len(states), 1)
        )
        rest = 1.0 - table.sum(axis=1, keepdims=True)
        of_learned = np.ones((len(states), 1)) if self.model is None else self.model.probabilities(states)
        table[:, self.learned] = rest * of_learned
        return table


@dataclass(frozen=True, eq=False)
class Logged(ActionModel):
    """The propensities of the log itself; only for the very transitions they were logged with."""

    transitions: Transitions

    def __post_init__(self) -> None:
        missing = np.asarray(np.isnan(self.transitions.propensities).any(axis=1))
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise UsageError(
                f"{int(missing.sum()):,} of {len(missing):,} decisions have no logged propensities; "
                "choose behaviour 'logistic' or 'svm'",
                session=self.transitions.sessions[self.transitions.dialog[row]],
                turn=int(self.transitions.turn[row]),
            )

    def probabilities(self, states: States) -> Floats:
        if states is not self.transitions.states:
            raise UsageError(
                "logged propensities are known for the logged decisions only; "
                "to decide elsewhere, learn with behaviour 'logistic' or 'svm'"
            )
        return self.transitions.propensities


def find_learner(name: str, **parameters: Any) -> ActionLearner:
    """The learner of action probabilities called `name`: logistic or svm."""
    if name == "logistic":
        from extrinsic.policy.kernel_logistic import KernelLogistic

        return KernelLogistic(**parameters)
    if name == "svm":
        from extrinsic.policy.calibrated_svm import CalibratedSVM

        return CalibratedSVM(**parameters)
    raise UsageError(
        f"there is no behaviour model {name!r}; {did_you_mean(name, ('logistic', 'svm', 'logged'))}"
    )
