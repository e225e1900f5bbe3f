"""The protocol of worlds that play many dialogs in lockstep: a task, and batches of its dialogs.

Such a world is two classes: a `LockstepWorld`, which defines the task, and the `Dialogs` that it begins,
which define the possible actions, the system's acts and the callers' answers. It is the fast form: a world
that plays one dialog at a time is easier to write (`single_world.py`), and is wrapped into this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints
from extrinsic.corpus.acts import NONE, Acts, NBest, Vocabulary
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.history import History
from extrinsic.errors import UsageError
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.group_tops import FilledValues, GroupTops
from extrinsic.trackers.tracking import StepBelief

GOES_ON, GOODBYE, HANG_UP, CUT_OFF = -1, 0, 1, 2
"""How a dialog ends: the system says goodbye, the caller hangs up, or it reaches the maximum length."""

Conditions = Mapping[str, tuple[str | None, ...]]
"""Per name, one value for each dialog."""


@dataclass(frozen=True, eq=False)
class View(Columns):
    """What the system observes of m dialogs before it acts.

    dialogs (m,): their indices among the dialogs played.
    turn: how many turns each of them has had; (m,) where they differ, which in `play` they never do.
    belief: the tracker's, after the last turn.   tops: the best value of every group.
    history: the history of these m dialogs.
    requested (m, n_requestable): the probability that the caller asked for each, and was not answered yet.
    method (m, n_methods): the belief about how the caller searches (DSTC2's METHODS); 0 if not tracked.
    conditions: what was known of these m dialogs in advance.
    filled: what counts as filled by the fill rule that is played under: offers are for these values, and
    need those that they require. None without a rule: then the best values are offered, whatever their score.
    """

    domain: Domain
    slots: tuple[str, ...]
    vocabulary: Vocabulary
    dialogs: Ints
    turn: TurnNumber
    belief: StepBelief
    tops: GroupTops
    history: History
    requestable: tuple[str, ...]
    requested: Floats
    method: Floats
    conditions: Conditions
    filled: FilledValues | None = None

    def moment(self, possible: Bools) -> Moment:
        """What a policy observes where these predicates (m, n_predicates) are possible."""
        return Moment(**{field.name: getattr(self, field.name) for field in fields(self)}, allowed=possible)

    @property
    def confirmed(self) -> Bools:
        """(m, n_groups) whether the best value of the group was confirmed explicitly."""
        return self._is_top(self.history.confirmed)

    @property
    def implied(self) -> Bools:
        """(m, n_groups) whether it was confirmed implicitly, without objection."""
        return self._is_top(self.history.implied)

    def _is_top(self, value: Ids) -> Bools:
        filled = self.tops.value != NONE
        return np.asarray(filled & (np.take_along_axis(value, self.tops.slot, axis=1) == self.tops.value))


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment(View):
    """What a policy observes: a view, and which predicates are `allowed` (m, n_predicates): the possible
    ones, as a log's `possible` names them."""

    allowed: Bools

    def take(self, rows: Ints | Bools) -> Self:
        """That of some of the m dialogs, given by their positions."""
        positions = np.arange(len(self.dialogs))[rows].tolist()
        conditions = {
            name: tuple(values[row] for row in positions) for name, values in self.conditions.items()
        }
        return replace(super().take(rows), conditions=conditions)


class Policy(Protocol):
    """Decides what the system does next."""

    def probabilities(self, moment: Moment) -> Floats:
        """(m, n_predicates) the probability of each predicate; 0 for those not allowed."""
        ...


@dataclass(frozen=True, eq=False)
class Exchange:
    """One turn of each of m dialogs: the system's acts and the caller's answer.

    system: the system's acts.   nbest: the recogniser's hypotheses about the answer.
    goal, said (m, n_slots): the value of each slot that the caller wants now, and the one that was truly
    said; NONE where there is none. A value of the N-best list is labelled right if it is the goal.
    ending (m,): GOES_ON, GOODBYE or HANG_UP.   restart (m,): the system forgot everything and started over.
    said_acts: all that was truly said, as acts. A world with requestable slots needs them: its calls are
    labelled as DSTC2's are, and `goal` has what was asked for so far.
    """

    system: Acts
    nbest: NBest
    goal: Ids
    said: Ids
    ending: Ints
    restart: Bools
    said_acts: Acts | None = None


class Dialogs(ABC):
    """The state of n dialogs of a world, from the greeting to the end.

    `view.dialogs` are some of those that are still running. Every random draw must come from the dialogs'
    Chance, by turn and purpose: then every policy meets the same callers.
    """

    @property
    @abstractmethod
    def outcomes(self) -> Mapping[str, Floats]:
        """Per name (n,) how the dialogs turned out; `success`, 0 or 1, is whether the goal was reached."""

    @abstractmethod
    def greet(self) -> Exchange:
        """The first turn of all n dialogs; a greeting is not a decision."""

    @abstractmethod
    def possible(self, view: View) -> Bools:
        """(m, n_predicates) the possible predicates; at least one in every dialog."""

    @abstractmethod
    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        """The turn in which the system does the chosen predicates (m,), their arguments taken from the
        beliefs. The domain's rules must map its acts to these predicates."""

    def carried_out(self, moment: Moment, chances: Floats) -> Floats:
        """(m, n_predicates) the probability that each predicate is executed if a policy chooses by `chances`.

        It differs from `chances` where the world replaces a choice; the predicate is drawn from the result,
        which is also logged.
        """
        return chances

    @property
    def conditions(self) -> Conditions:
        """Per name (n,) what is known of the dialogs in advance."""
        return {}


class Task(Protocol):
    """What is tracked: the slots of a domain, and what callers may ask for.

    vocabulary: one object per process, so that beliefs, goals and acts share its ids.
    """

    @property
    def domain(self) -> Domain: ...
    @property
    def slots(self) -> tuple[str, ...]: ...
    @property
    def requestable(self) -> tuple[str, ...]: ...
    @property
    def vocabulary(self) -> Vocabulary: ...


class LockstepWorld(Task, Protocol):
    """A task that can be played in batches."""

    @property
    def longest_dialog(self) -> int: ...

    def signature(self) -> str:
        """A hash of everything that determines how callers behave."""
        ...

    def begin(self, chance: Chance) -> Dialogs:
        """Begin one dialog for each row of `chance`."""
        ...


BOOLS, WHOLE, NUMBERS = "b", "iu", "fiu"
"""Kinds of arrays: flags, whole numbers, any numbers."""


def require_array(method: str, part: str, array: Any, shape: tuple[int, ...], kinds: str) -> None:
    """Raise UsageError unless a method of a world returned an array of that shape and kind."""
    name = f"{method}.{part}" if part else method
    actual = np.shape(array)
    if actual != shape:
        raise UsageError(f"the world's {name} has the wrong shape", expected=str(shape), found=str(actual))
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        kind_name = {BOOLS: "booleans", WHOLE: "whole numbers", NUMBERS: "numbers"}[kinds]
        actual_type = str(array.dtype) if isinstance(array, np.ndarray) else type(array).__name__
        raise UsageError(
            f"the world's {name} is not an array of {kind_name}", expected=kind_name, found=actual_type
        )


def require_exchange(method: str, exchange: Any, n_dialogs: int, world: LockstepWorld) -> None:
    """Raise UsageError unless the parts of an exchange have `n_dialogs` turns."""
    if not isinstance(exchange, Exchange):
        raise UsageError(
            f"the world's {method} returned no Exchange", expected="Exchange", found=type(exchange).__name__
        )
    per_slot = (n_dialogs, len(world.slots))
    require_array(method, "system.offsets", exchange.system.offsets, (n_dialogs + 1,), WHOLE)
    require_array(method, "nbest.offsets", exchange.nbest.offsets, (n_dialogs + 1,), WHOLE)
    require_array(method, "goal", exchange.goal, per_slot, WHOLE)
    require_array(method, "said", exchange.said, per_slot, WHOLE)
    require_array(method, "ending", exchange.ending, (n_dialogs,), WHOLE)
    require_array(method, "restart", exchange.restart, (n_dialogs,), BOOLS)
    if exchange.said_acts is not None or world.requestable:
        offsets = None if exchange.said_acts is None else exchange.said_acts.offsets
        require_array(method, "said_acts.offsets", offsets, (n_dialogs + 1,), WHOLE)


def possible_in(dialogs: Dialogs, view: View) -> Bools:
    """(m, n_predicates) what the world says is possible, checked."""
    possible = dialogs.possible(view)
    require_array("possible", "", possible, (len(view.dialogs), len(view.domain.predicate_names)), BOOLS)
    if not possible.any(axis=1).all():
        raise UsageError(
            "the world's possible leaves nothing to do in some dialog; a world must end a dialog or let "
            "the system act"
        )
    return possible


def outcomes_of(dialogs: Dialogs, n_dialogs: int) -> dict[str, Floats]:
    """Per name (n_dialogs,) the outcomes that the world reports, checked."""
    outcomes = dict(dialogs.outcomes)
    if "success" not in outcomes:
        raise UsageError("the world's outcomes lack 'success'", found=", ".join(outcomes) or "none")
    for name, outcome in outcomes.items():
        require_array("outcomes", f"[{name!r}]", outcome, (n_dialogs,), NUMBERS)
    return {name: np.asarray(outcome, dtype=np.float64) for name, outcome in outcomes.items()}
