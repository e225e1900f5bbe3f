"""Behaviour models P(a | s) of the system that made a corpus, and the action-probability filter on them.

A behaviour model is fitted once for a tracker's transitions. The filter (Lee 2014; Henderson et al. 2008)
keeps a learned policy close to the logged actions: it admits only what was likely enough. Learners use the
model through the filter, and supervised policies imitate it.

Which actions a policy may choose is one notion everywhere, a mask (n, n_actions) called `possible`: in a log
what its turns call possible (`Transitions.possible`), in live play what the world does (`Moment.allowed`). A
policy chooses among the possible actions that the filter admits; where it admits none of them, the likeliest
possible one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.corpus import fold_of_sessions
from extrinsic.errors import UsageError
from extrinsic.policy.features import States
from extrinsic.policy.transitions import Transitions
from extrinsic.records import require_shapes

FOLDS = 5


class ActionModel(Protocol):
    """P(a | s) over all actions of the transitions it was fitted to."""

    def probabilities(self, states: States) -> Floats:
        """(n, n_actions), each row summing to 1."""
        ...


class BehaviourModel(Protocol):
    """A method to learn P(a | s): a frozen config, by its name in the registry BEHAVIOURS."""

    def fit(self, transitions: Transitions) -> ActionModel:
        """The model of all transitions, for states of other dialogs."""
        ...

    def cross_fitted(self, transitions: Transitions) -> Floats:
        """(n, n_actions) for the training states, each from a model that was not fitted to its dialog."""
        ...


@dataclass(frozen=True, eq=False)
class CrossFitting:
    """Cross-fitted probabilities, computed when first asked for: five fits, which not every learner uses."""

    model: BehaviourModel
    transitions: Transitions

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.transitions), len(self.transitions.actions)

    @cached_property
    def chances(self) -> Floats:
        return self.model.cross_fitted(self.transitions)


@dataclass(frozen=True, eq=False)
class Behaviour:
    """A behaviour model fitted to transitions, and the filter on it.

    of_log (n, n_actions): P(a | s) of the transitions' own states.   model: P(a | s) of any states.
    threshold: actions less likely than this are not admitted.
    possible (n, n_actions): what could be done in the transitions' own states, None where anything could.
    """

    of_log: Floats | CrossFitting
    model: ActionModel
    threshold: float = 0.1
    possible: Bools | None = None

    @property
    def chances(self) -> Floats:
        """(n, n_actions) P(a | s) of the transitions' own states."""
        return self.of_log.chances if isinstance(self.of_log, CrossFitting) else self.of_log

    @cached_property
    def admitted(self) -> Bools:
        """(n, n_actions) what is possible and what the filter admits in the transitions' own states."""
        return admit(self.chances, self.threshold, self.possible)

    def for_keeping(self) -> Behaviour:
        """Without what is about the transitions' own states: a saved policy decides in others."""
        return Behaviour(np.zeros((0, self.of_log.shape[1])), self.model, self.threshold)

    def choices(self, states: States, possible: Bools | None = None) -> tuple[Floats, Bools]:
        """(n, n_actions) P(a | s) of other states, and which actions are possible and admitted there."""
        chances = self.model.probabilities(states)
        return chances, admit(chances, self.threshold, possible)

    def require_about(self, transitions: Transitions) -> None:
        """Raise UsageError unless it fits the shape of the transitions."""
        expected = (len(transitions), len(transitions.actions))
        if self.of_log.shape != expected:
            raise UsageError(
                "the probabilities of actions have the wrong shape",
                expected=str(expected),
                found=str(self.of_log.shape),
            )


def fit_behaviour(model: BehaviourModel, transitions: Transitions, threshold: float = 0.1) -> Behaviour:
    """Fit a behaviour model once, for the filter, for learners and for imitation."""
    crossed = CrossFitting(model, transitions)
    return Behaviour(crossed, model.fit(transitions), threshold, transitions.possible)


class Classifier(ABC):
    """A behaviour model that is a classifier of actions; rare actions get their overall share in every state.

    rarest: actions that occur less often than this are not learned.
    """

    rarest: int

    @abstractmethod
    def fit_classes(self, states: States, action: Ints, dialog: Ints) -> ActionModel:
        """A model of actions that each occur often enough; its columns are the sorted distinct actions."""

    def fit(self, transitions: Transitions) -> ActionModel:
        return self._fit_rows(transitions, np.arange(len(transitions)))

    def cross_fitted(self, transitions: Transitions, folds: int = FOLDS) -> Floats:
        fold = fold_of_sessions(transitions.sessions, min(folds, transitions.n_dialogs))[transitions.dialog]
        probabilities = np.empty((len(transitions), len(transitions.actions)))
        for held_out in np.unique(fold):
            model = self._fit_rows(transitions, np.flatnonzero(fold != held_out))
            rows = np.flatnonzero(fold == held_out)
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
class _Mixture:
    """A model of the frequent actions, and the plain shares of the rare ones."""

    model: ActionModel | None
    learned: Ints
    share: Floats

    def __post_init__(self) -> None:
        require_shapes(self, learned="learned", share="actions")
        if not np.isin(self.learned, np.arange(len(self.share))).all():
            raise UsageError("a model of actions that do not exist", found=str(self.learned))

    def probabilities(self, states: States) -> Floats:
        rare = self.share.copy()
        rare[self.learned] = 0.0
        table = np.tile(rare, (len(states), 1))
        rest = 1.0 - table.sum(axis=1, keepdims=True)
        of_learned = np.ones((len(states), 1)) if self.model is None else self.model.probabilities(states)
        table[:, self.learned] = rest * of_learned
        return table


def admit(probabilities: Floats, threshold: float, possible: Bools | None = None) -> Bools:
    """(n, n_actions) actions more likely than the threshold; where none is, the likeliest one.

    possible (n, n_actions): the possible actions; no others are admitted.
    """
    if not 0.0 <= threshold < 1.0:
        raise UsageError("the threshold of the filter must lie in [0, 1)", found=str(threshold))
    if not np.isfinite(probabilities).all():
        raise UsageError("the probabilities of actions must be finite numbers")
    if possible is not None and not possible.any(axis=1).all():
        raise UsageError("there is a state in which nothing at all can be done")
    chances = probabilities if possible is None else np.where(possible, probabilities, -1.0)
    admitted = chances > threshold
    empty = np.flatnonzero(~admitted.any(axis=1))
    admitted[empty, chances[empty].argmax(axis=1)] = True
    return np.asarray(admitted)
