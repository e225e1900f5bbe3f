"""The protocol of worlds that play one dialog at a time, and how they are played in lockstep.

This is the easy form of a world: plain Python values, acts as DSTC's JSON. `docs/toy_world.py` is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.acts import NONE, Acts, NBest, Vocabulary
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.formats.logs import WrittenAct, WrittenHypothesis, columns_of_acts
from extrinsic.corpus.mentions import predicate_of_turns
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.plugins import hash_of_source
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.tracked_dialogs import BeliefState, belief_states, mask_of_names
from extrinsic.simulation.world import (
    GOES_ON,
    GOODBYE,
    HANG_UP,
    Dialogs,
    Exchange,
    LockstepWorld,
    Moment,
    View,
)
from extrinsic.storage import content_hash

JsonActs = Sequence[dict[str, Any]]
"""[{"act": "inform", "slots": [["food", "thai"]]}, ...]"""

JsonNBest = Sequence[dict[str, Any]]
"""[{"slu-hyp": [acts], "score": 0.7}, ...], best first."""

ACTS = '[{"act": "inform", "slots": [["food", "thai"]]}]'
NBEST = '[{"slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}], "score": 0.7}]'


def acts_of_json(owners: Sequence[JsonActs], vocabulary: Vocabulary, name: str = "system acts") -> Acts:
    """The acts of every turn, or of every hypothesis."""
    return columns_of_acts([_converted(acts, list[WrittenAct], name, ACTS) for acts in owners], vocabulary)


def nbest_of_json(lists: Sequence[JsonNBest], vocabulary: Vocabulary, name: str = "N-best list") -> NBest:
    """The list of every turn."""
    written = [_converted(entries, list[WrittenHypothesis], name, NBEST) for entries in lists]
    hypotheses: list[WrittenHypothesis] = [hypothesis for entries in written for hypothesis in entries]
    score = np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64)
    if not np.isfinite(score).all():
        raise UsageError(f"a score of the {name} is not a finite number", found=str(score.tolist()))
    return NBest(
        offsets_from_lengths([len(entries) for entries in written]),
        score,
        np.zeros(len(hypotheses), dtype=bool),
        columns_of_acts([hypothesis.slu_hyp for hypothesis in hypotheses], vocabulary),
    )


def _converted(value: Any, kind: Any, name: str, form: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the {name} has the wrong form: {error}", expected=form, found=repr(value)
        ) from None


LONGEST = 200
"""A dialog of more turns is an error, unless the world itself has a `longest_dialog`: then it is cut off."""


@dataclass(frozen=True)
class Turn:
    """One turn: the system's acts and the caller's answer.

    system: what the system says.   nbest: what the recogniser makes of the answer, best first.
    said: what was truly said.   goal: per slot the value that the caller has asked for so far.
    ends: the caller hangs up after this turn.
    """

    system: JsonActs
    nbest: JsonNBest = ()
    said: JsonActs = ()
    goal: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False


@runtime_checkable
class World(Protocol):
    """A task, and one dialog of it at a time.

    Everything random must depend on the seed of the dialog: then every policy meets the same callers.
    A world may have `longest_dialog`, the number of turns after which a dialog is cut off, and
    `expert(beliefs, possible) -> {predicate: probability}`, which conducts the dialogs of its logs; without
    it they are conducted at random.
    """

    @property
    def domain(self) -> Domain: ...

    def begin(self, seed: int) -> Turn:
        """Begin a new dialog: the greeting, which is not a decision, and the answer."""
        ...

    def possible(self, beliefs: BeliefState) -> Iterable[str]:
        """The predicates of the domain that are possible now; at least one."""
        ...

    def act(self, predicate: str, beliefs: BeliefState) -> Turn | None:
        """The turn in which the system does the predicate, its arguments taken from the beliefs.

        None: the dialog ends with it, and nothing is answered.
        """
        ...

    def outcome(self) -> Mapping[str, float]:
        """How the dialog turned out: `success`, 0 or 1, and whatever else there is."""
        ...


class SingleWorld:
    """A world of single dialogs in lockstep form: each dialog has a world of its own."""

    def __init__(self, make: Callable[[], World]) -> None:
        self.make = make
        first = make()
        self.domain = first.domain
        self.slots, self.requestable = self.domain.slot_names, self.domain.requestable
        self.vocabulary = Vocabulary()
        cap: int | None = getattr(first, "longest_dialog", None)
        self.is_capped = cap is not None
        self.longest_dialog = LONGEST + 1 if cap is None else cap
        self._signature = content_hash("world", type(first).__qualname__, hash_of_source(type(first), first))

    def signature(self) -> str:
        return self._signature

    def begin(self, chance: Chance) -> SingleDialogs:
        return SingleDialogs(self, chance)


def lockstep_form(world: World | type[World] | LockstepWorld) -> LockstepWorld:
    """A world in its lockstep form; one of single dialogs is copied for each dialog, its class is called."""
    if isinstance(world, type):
        return SingleWorld(world)
    return SingleWorld(partial(deepcopy, world)) if isinstance(world, World) else world


class SingleDialogs(Dialogs):
    """n dialogs, each with its own world."""

    def __init__(self, task: SingleWorld, chance: Chance) -> None:
        self.task, self.seeds = task, chance.key.tolist()
        self.worlds = [task.make() for _ in self.seeds]
        self.goal: Ids = np.full((len(self.worlds), len(task.slots)), NONE, dtype=np.int32)
        self._beliefs: tuple[Any, list[BeliefState]] = (None, [])

    @property
    def outcomes(self) -> Mapping[str, Floats]:
        outcomes = [world.outcome() for world in self.worlds]
        names = list(outcomes[0])
        for outcome in outcomes:
            if list(outcome) != names:
                raise UsageError(
                    "the world's outcome has other names in another dialog",
                    expected=", ".join(names),
                    found=", ".join(outcome),
                )
        return {name: np.array([float(outcome[name]) for outcome in outcomes]) for name in names}

    def greet(self) -> Exchange:
        turns = [world.begin(seed) for world, seed in zip(self.worlds, self.seeds, strict=True)]
        return self._exchange("begin", np.arange(len(turns)), turns)

    def possible(self, view: View) -> Bools:
        states = self._states(view)
        names = [
            self.worlds[dialog].possible(state) for dialog, state in zip(view.dialogs, states, strict=True)
        ]
        return mask_of_names(names, self.task.domain, "the world's possible(beliefs)")

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        names = [self.task.domain.predicate_names[number] for number in predicate]
        turns = [
            self.worlds[dialog].act(name, state) or self._farewell(name)
            for dialog, name, state in zip(moment.dialogs, names, self._states(moment), strict=True)
        ]
        exchange = self._exchange("act", moment.dialogs, turns)
        self._require_predicates(exchange, predicate, names)
        goes_on = exchange.ending == GOES_ON
        goes_on = goes_on & (np.asarray(moment.turn) + 1 >= LONGEST)
        if not self.task.is_capped and goes_on.any():
            raise UsageError(
                f"a dialog of the world has not ended after {LONGEST} turns; act must return None or a Turn "
                "that ends, or the world needs a longest_dialog at which dialogs are cut off",
                found=f"{goes_on.sum()} of {len(self.worlds)} dialogs",
            )
        return exchange

    def _states(self, view: View) -> list[BeliefState]:
        """The beliefs, made once for a moment."""
        if self._beliefs[0] is not view.belief:
            self._beliefs = (view.belief, belief_states(view))
        return self._beliefs[1]

    def _farewell(self, predicate: str) -> Turn:
        """The last turn of a dialog: the act of the predicate's rule, no answer."""
        rule = next(rule for rule in self.task.domain.predicates if rule.name == predicate)
        return Turn([{"act": rule.acts[0], "slots": []}], ends=True)

    def _exchange(self, method: str, dialogs: Ints, turns: list[Turn]) -> Exchange:
        task, words = self.task, self.task.vocabulary
        for turn in turns:
            if not isinstance(turn, Turn):
                raise UsageError(
                    f"the world's {method} returned no Turn", expected="a Turn", found=type(turn).__name__
                )
        said = acts_of_json([turn.said for turn in turns], words, f"acts said, of the world's {method},")
        system = acts_of_json([turn.system for turn in turns], words, f"system acts of the world's {method}")
        for dialog, turn in zip(dialogs, turns, strict=True):
            for slot, value in turn.goal.items():
                if slot not in task.slots:
                    raise UsageError(
                        f"the goal of the world's {method} has no slot of the domain; "
                        f"{did_you_mean(slot, task.slots)}",
                        found=slot,
                    )
                self.goal[dialog, task.slots.index(slot)] = words.id(value)
        ends = np.array([turn.ends for turn in turns], dtype=bool)
        names = task.domain.predicate_names
        by_system = [names.index(name) for name in task.domain.end]
        predicate = predicate_of_turns(task.domain, system, words)
        ending = np.where(np.isin(predicate, by_system), GOODBYE, HANG_UP)
        return Exchange(
            system=system,
            nbest=nbest_of_json(
                [turn.nbest for turn in turns], words, f"N-best list of the world's {method}"
            ),
            goal=self.goal[dialogs],
            said=np.array([self._values_said(turn) for turn in turns], dtype=np.int32),
            ending=np.where(ends, ending, GOES_ON),
            restart=np.zeros(len(turns), dtype=bool),
            said_acts=said,
        )

    def _values_said(self, turn: Turn) -> list[int]:
        """(n_slots) the value of each slot that was truly said."""
        values = dict.fromkeys(self.task.slots, NONE)
        for act in turn.said:
            if act["act"] in self.task.domain.user.inform:
                values |= {
                    slot: self.task.vocabulary.id(value) for slot, value in act["slots"] if slot in values
                }
        return list(values.values())

    def _require_predicates(self, exchange: Exchange, predicate: Ints, names: list[str]) -> None:
        """Require that the domain's rules see the acts as the predicates that were chosen."""
        task = self.task
        logged = predicate_of_turns(task.domain, exchange.system, task.vocabulary)
        wrong = np.flatnonzero(logged != predicate)
        if len(wrong):
            row = int(wrong[0])
            meant = "none" if logged[row] < 0 else repr(task.domain.predicate_names[logged[row]])
            raise UsageError(
                f"the rules of {task.domain.name!r} see another predicate in the acts of the world's act",
                expected=repr(names[row]),
                found=meant,
            )
