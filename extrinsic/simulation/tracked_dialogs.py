"""Dialogs as the system tracks them: beliefs, requests, method and history; in live play and in a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.acts import NONE, Acts, NBest, Value
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.evidence import Evidence, gather_evidence
from extrinsic.corpus.history import History
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.requests import METHODS, RequestTracking, Rule, gather_requests
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.simulation.chance import TurnNumber
from extrinsic.simulation.group_tops import filled_values, group_tops
from extrinsic.simulation.record import CONVENTIONS
from extrinsic.simulation.world import Conditions, Task, View
from extrinsic.trackers.tracking import StepBelief, Tracker, Tracking, joined_beliefs


class TrackedDialogs:
    """n dialogs of a task as the system tracks them, a turn of some of them at a time.

    Requests and the method are tracked where there is something to request, by the rule that the tracker
    follows, as they are in a stored corpus.
    requested (n, n_requestable), method (n, n_methods): the beliefs after the last turn.
    trackers: each tracks an equal part of the dialogs.
    fills: the rules by which values count as filled, each for an equal part of the dialogs; () for none.
    """

    def __init__(
        self, task: Task, trackers: Sequence[Tracker], n_dialogs: int, fills: tuple[Fill, ...] = ()
    ) -> None:
        self.task, self.fills, self.n_dialogs = task, fills, n_dialogs
        self.rank = CONVENTIONS[task.domain.log_format].rank
        self._parts = list(_parts_of(trackers, n_dialogs, task))
        self.history = History.of(n_dialogs, len(task.slots))
        n_requestable = len(task.requestable)
        self.requested: Floats = np.zeros((n_dialogs, n_requestable))
        self.method: Floats = np.zeros((n_dialogs, len(METHODS)))

    def hear(
        self, dialogs: Ints, system: Acts, nbest: NBest, restart: Bools, predicate: Ints
    ) -> tuple[StepBelief, Evidence]:
        """One more turn of each of the chosen dialogs: the beliefs after it, and the evidence."""
        task = self.task
        evidence = gather_evidence(task.domain, task.slots, task.vocabulary, system, nbest, restart)
        if len(self._parts) == 1:
            belief = self._parts[0].tracking.step(dialogs, evidence)
        else:
            belief = joined_beliefs(
                [
                    part.tracking.step(dialogs[rows] - part.first, evidence.take(rows))
                    for part, rows in self._shares(dialogs)
                ]
            )
        self.history.step(task.domain, dialogs, predicate, system, evidence)
        if task.requestable:
            asked = gather_requests(task.domain, task.requestable, task.vocabulary, system, nbest, restart)
            for part, rows in self._shares(dialogs):
                own = dialogs[rows]
                requests = part.requests.step(own - part.first, asked.take(rows))
                self.requested[own], self.method[own] = requests.requested, requests.method
        return belief, evidence

    def _shares(self, dialogs: Ints) -> Iterator[tuple[_Part, Ints]]:
        """The parts that have some of these dialogs, and where they stand; of several, in ascending order."""
        begins = np.searchsorted(dialogs, [part.first for part in self._parts[1:]])
        for part, begin, end in zip(self._parts, [0, *begins], [*begins, len(dialogs)], strict=True):
            if begin < end:
                yield part, np.arange(begin, end)

    def view(self, dialogs: Ints, turn: TurnNumber, belief: StepBelief, conditions: Conditions) -> View:
        """The chosen dialogs before the system acts; conditions: those of all n dialogs."""
        task, filled = self.task, None
        if self.fills:
            part = dialogs * len(self.fills) // self.n_dialogs
            filled = filled_values(task.domain, task.slots, belief, self.rank, self.fills, part)
        return View(
            domain=task.domain,
            slots=task.slots,
            vocabulary=task.vocabulary,
            dialogs=dialogs,
            turn=turn,
            belief=belief,
            tops=group_tops(task.domain, task.slots, belief),
            history=self.history.take(dialogs),
            requestable=task.requestable,
            requested=self.requested[dialogs],
            method=self.method[dialogs],
            conditions={
                name: tuple(values[dialog] for dialog in dialogs) for name, values in conditions.items()
            },
            filled=filled,
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """Consecutive dialogs of one tracker, from the first on, and what is remembered of them."""

    first: int
    tracking: Tracking
    requests: RequestTracking


def _parts_of(trackers: Sequence[Tracker], n_dialogs: int, task: Task) -> Iterator[_Part]:
    """Neighbouring parts of the same tracker are one."""
    size, first = n_dialogs // len(trackers), 0
    for _, group in groupby(trackers, key=id):
        same = list(group)
        n_own = size * len(same)
        tracking = Tracking(same[0], n_own, len(task.slots))
        yield _Part(first, tracking, RequestTracking(rule_of(same[0]), n_own, len(task.requestable)))
        first += n_own


def rule_of(tracker: Tracker) -> Rule:
    """The rule by which a tracker follows requests, the method and joint goals; a plain one has none."""
    rule: Rule = getattr(tracker, "rule", "focus")
    return rule


@dataclass(frozen=True)
class BeliefState:
    """The tracker's beliefs about one dialog after a turn.

    goals: per slot the scores of values, those above 0.
    requested: per slot that the caller may ask for, the probability of an open question about it.
    method: scores of search methods (DSTC2).   turn: how many turns there were.
    filled: per slot the value that may be offered: what counts as filled by the fill rule that is played
    under; without a rule, the best value. Slots that stay empty are left out.
    """

    goals: dict[str, dict[Value, float]]
    requested: dict[str, float]
    method: dict[str, float]
    turn: int
    filled: dict[str, Value]

    def best(self, slot: str) -> tuple[Value | None, float]:
        """The best value of a slot and its score; (None, 0) where there is none."""
        return max(self.goals[slot].items(), key=lambda entry: entry[1], default=(None, 0.0))


def belief_states(view: View) -> list[BeliefState]:
    """The beliefs of each of m dialogs."""
    goals: list[dict[str, dict[Value, float]]] = [{slot: {} for slot in view.slots} for _ in view.dialogs]
    for row, slot, position in np.argwhere(view.belief.score > 0.0).tolist():
        value = view.vocabulary.value(int(view.belief.value[row, slot, position]))
        assert value is not None
        goals[row][view.slots[slot]][value] = float(view.belief.score[row, slot, position])
    filled: list[dict[str, Value]] = [
        {slot: max(scores, key=lambda value: scores[value]) for slot, scores in state.items() if scores}
        for state in goals
    ]
    if view.filled is not None:
        filled = [{} for _ in view.dialogs]
        for row, slot in np.argwhere(view.filled.value != NONE).tolist():
            value = view.vocabulary.value(int(view.filled.value[row, slot]))
            assert value is not None
            filled[row][view.slots[slot]] = value
    return [
        BeliefState(
            goals[row],
            dict(zip(view.requestable, view.requested[row].tolist(), strict=True)),
            {
                name: score
                for name, score in zip(METHODS, view.method[row].tolist(), strict=True)
                if score > 0
            },
            int(view.history.turn[row]),
            filled[row],
        )
        for row in range(len(goals))
    ]


def mask_of_names(rows: Iterable[Iterable[str]], domain: Domain, what: str) -> Bools:
    """(m, n_predicates) from the names of predicates; each row needs at least one."""
    column = {name: number for number, name in enumerate(domain.predicate_names)}
    lists = [list(row) for row in rows]
    mask = np.zeros((len(lists), len(column)), dtype=bool)
    for row, names in enumerate(lists):
        if not names:
            raise UsageError(f"{what}: nothing can be done; end the dialog, or name a predicate")
        for name in names:
            if name not in column:
                raise UsageError(f"{what}: there is no predicate {name!r}; {did_you_mean(str(name), column)}")
            mask[row, column[name]] = True
    return mask
