"""What is observed before a decision, in a stored corpus or in live play."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.acts import NONE, Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.history import History
from extrinsic.corpus.hypotheses import Beliefs
from extrinsic.corpus.requests import METHODS
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError
from extrinsic.simulation.group_tops import best_values
from extrinsic.simulation.world import Conditions, View
from extrinsic.trackers.tracking import StepBelief


@dataclass(frozen=True, eq=False)
class Summary:
    """A summary of beliefs about slots: value (n, n_slots) of the best hypothesis that is not None (NONE
    where there is none), its score `top`, the score of the `second`, and None's own."""

    value: Ids
    top: Floats
    second: Floats
    none: Floats


@dataclass(frozen=True, eq=False)
class Observations:
    """n moments before a decision.

    summary: of the tracker's beliefs.   history: up to that moment.
    requestable: what a caller may ask for.   requests (n, n_requestable): the probability that it was.
    method (n,): the likeliest method of search, NONE where none is tracked.
    conditions: per name (n,) numbers that encode what is known of the call in advance.
    """

    domain: Domain
    slots: tuple[str, ...]
    vocabulary: Vocabulary
    summary: Summary
    history: History
    requestable: tuple[str, ...]
    requests: Floats
    method: Ids
    conditions: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.requests)

    @property
    def requested(self) -> Bools:
        """(n,) whether the caller probably asks for something."""
        return np.asarray(self.requests.max(axis=1, initial=0.0) > 0.5)

    @cached_property
    def columns(self) -> list[Ints]:
        """The slots of each group."""
        return [np.array(columns) for columns in self.domain.group_columns(self.slots)]

    @cached_property
    def top_slot(self) -> Ints:
        """(n, n_groups) the slot that has the best value of the group."""
        return np.stack([slots[self.summary.top[:, slots].argmax(axis=1)] for slots in self.columns], axis=1)

    @cached_property
    def group_top(self) -> Floats:
        """(n, n_groups)"""
        return np.stack([self.summary.top[:, slots].max(axis=1) for slots in self.columns], axis=1)

    @cached_property
    def group_second(self) -> Floats:
        """(n, n_groups) the second best of all values of the group's slots."""
        best_two = [
            np.sort(
                np.concatenate([self.summary.top[:, slots], self.summary.second[:, slots]], axis=1), axis=1
            )
            for slots in self.columns
        ]
        return np.stack([scores[:, -2] for scores in best_two], axis=1)

    @cached_property
    def group_none(self) -> Floats:
        """(n, n_groups) None's score for the slot that has the best value."""
        return np.take_along_axis(self.summary.none, self.top_slot, axis=1)

    @cached_property
    def group_filled(self) -> Bools:
        """(n, n_groups) whether there is any value."""
        return np.stack(
            [(self.summary.value[:, slots] != NONE).any(axis=1) for slots in self.columns], axis=1
        )

    @cached_property
    def required(self) -> Bools:
        """(n, n_groups) whether the system needs the group."""
        return self.history.required(self.domain)

    @cached_property
    def required_missing(self) -> Floats:
        """(n,) the share of required groups without a value."""
        return np.asarray((self.required & ~self.group_filled).sum(axis=1) / self._n_required)

    @cached_property
    def required_mean(self) -> Floats:
        """(n,) the mean top score of required groups."""
        return np.asarray((self.required * self.group_top).sum(axis=1) / self._n_required)

    @property
    def _n_required(self) -> Ints:
        return np.asarray(np.maximum(self.required.sum(axis=1), 1))

    @cached_property
    def group_confirmed(self) -> Bools:
        """(n, n_groups) whether the best value was confirmed."""
        value = np.take_along_axis(self.summary.value, self.top_slot, axis=1)
        confirmed = np.take_along_axis(self.history.confirmed, self.top_slot, axis=1)
        return np.asarray((value != NONE) & (value == confirmed))


BEFORE = -1
"""The moment before the first turn: nothing has been said."""


def observations_of_corpus(
    corpus: Corpus, output: TrackerOutput, turns: Ints, dialogs: Ints | None = None
) -> Observations:
    """The observations after each of the given turns (BEFORE: at the beginning of the given dialog)."""
    output.require_about(corpus)
    _require_slots(corpus)
    known_turns, early = np.maximum(turns, 0), turns == BEFORE
    n_slots = len(corpus.slots)
    summary = _without(_summary_of(output.marginals(corpus), n_slots, known_turns), early)
    history = corpus.history.take(known_turns)
    if early.any():
        history.forget(np.flatnonzero(early))
    dialog = corpus.dialog_of_turn[known_turns] if dialogs is None else dialogs
    return Observations(
        domain=corpus.domain,
        slots=corpus.slots,
        vocabulary=corpus.vocabulary,
        summary=summary,
        history=history,
        requestable=corpus.requestable,
        requests=np.where(early[:, None], 0.0, output.requested[known_turns]),
        method=np.where(early, NONE, _summary_of(output.method, 1, known_turns).value[:, 0]),
        conditions={
            name: numbers[dialog]
            for name, numbers in _condition_numbers(corpus.domain, corpus.conditions).items()
        },
    )


def _require_slots(corpus: Corpus) -> None:
    """Require that every slot of the domain's groups is tracked."""
    missing = [slot for group in corpus.domain.groups.values() for slot in group if slot not in corpus.slots]
    if missing:
        raise UsageError(
            f"the corpus {corpus.dataset!r} lacks slots that the domain {corpus.domain.name!r} groups",
            expected=", ".join(missing),
            found=", ".join(corpus.slots),
        )


def observations_of_view(moment: View) -> Observations:
    """The observations at a moment of live play."""
    likeliest = moment.vocabulary.ids(METHODS)[moment.method.argmax(axis=1)]
    return Observations(
        domain=moment.domain,
        slots=moment.slots,
        vocabulary=moment.vocabulary,
        summary=_summary_of_step(moment.belief),
        history=moment.history,
        requestable=moment.requestable,
        requests=moment.requested,
        method=np.where(moment.method.any(axis=1), likeliest, NONE).astype(np.int32),
        conditions=_condition_numbers(moment.domain, moment.conditions),
    )


def _condition_numbers(domain: Domain, conditions: Conditions) -> dict[str, Ints]:
    """Per condition that is part of the state, a number for every dialog."""
    return {
        condition.name: _numbers(conditions[condition.name])
        for condition in domain.conditions
        if condition.in_state and condition.name in conditions
    }


def _summary_of(beliefs: Beliefs, n_slots: int, turns: Ints) -> Summary:
    """The summary of ranked beliefs, which include None."""
    item = turns[:, None] * n_slots + np.arange(n_slots)
    first, size = beliefs.offsets[item], np.diff(beliefs.offsets)[item]
    last = len(beliefs.value) - 1

    def at(position: int) -> tuple[Ids, Floats]:
        index = np.minimum(first + position, last)
        exists = size > position
        return np.where(exists, beliefs.value[index], NONE), np.where(exists, beliefs.score[index], 0.0)

    (v0, s0), (v1, s1), (_, s2) = at(0), at(1), at(2)
    none_first, none_second = v0 == NONE, v1 == NONE
    none_at = np.flatnonzero(beliefs.value == NONE)  # every item has exactly one
    return Summary(
        value=np.where(none_first, v1, v0).astype(np.int32),
        top=np.where(none_first, s1, s0),
        second=np.where(none_first | none_second, s2, s1),
        none=beliefs.score[none_at[item]],
    )


def _summary_of_step(belief: StepBelief) -> Summary:
    score = np.where(belief.value != NONE, belief.score, 0.0)
    value, top = best_values(StepBelief(belief.value, score))
    second = np.partition(score, -2, axis=2)[..., -2]
    return Summary(value, top, second, none=np.maximum(1.0 - score.sum(axis=2), 0.0))


def _without(summary: Summary, early: Bools) -> Summary:
    """The summary with empty beliefs before the first turn."""
    rows = early[:, None]
    return Summary(
        np.where(rows, NONE, summary.value).astype(np.int32),
        np.where(rows, 0.0, summary.top),
        np.where(rows, 0.0, summary.second),
        np.where(rows, 1.0, summary.none),
    )


def stable_number(text: str) -> int:
    """A hash of a text that is the same in every process and corpus."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "little")


def _numbers(values: tuple[str | None, ...]) -> Ints:
    numbers = {value: stable_number(str(value)) for value in set(values)}
    return np.array([numbers[value] for value in values], dtype=np.int64)
