"""Feature blocks: each computes some columns of a state from the observations before a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extrinsic.corpus.requests import METHODS
from extrinsic.corpus.vocabulary import NONE
from extrinsic.policy.observations import Observations, stable_number
from extrinsic.registry import BLOCKS

Columns = tuple[npt.NDArray, tuple[str, ...]]  # type: ignore[type-arg]


@dataclass(frozen=True)
class Block:
    """Columns of a state; discrete ones are compared for equality."""

    name: str
    summary: str
    discrete: bool
    columns: Callable[[Observations], Columns]


def _block(summary: str, discrete: bool = False) -> Callable[[Callable[[Observations], Columns]], Block]:
    def register(columns: Callable[[Observations], Columns]) -> Block:
        block = Block(columns.__name__, summary, discrete, columns)
        BLOCKS.register(block.name, block, summary)
        return block

    return register


def _named(prefix: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names)


@_block("top, second and None scores of every slot (Lee)")
def slot_scores(observations: Observations) -> Columns:
    summary = observations.summary
    names = [name for kind in ("top", "second", "none") for name in _named(kind, observations.slots)]
    return np.concatenate([summary.top, summary.second, summary.none], axis=1), tuple(names)


@_block("top, second and None scores of every slot group")
def group_scores(observations: Observations) -> Columns:
    names = [name for kind in ("top", "second", "none") for name in _named(kind, observations.domain.groups)]
    return np.concatenate(
        [observations.group_top, observations.group_second, observations.group_none], axis=1
    ), tuple(names)


@_block("lowest top score of required and of filled groups, mean of the required ones")
def group_minimum(observations: Observations) -> Columns:
    required = np.where(observations.required, observations.group_top, 1.0).min(axis=1)
    filled = np.where(observations.group_filled, observations.group_top, 1.0).min(axis=1)
    columns = np.stack([required, filled, observations.required_mean], axis=1)
    return columns, ("lowest.required", "lowest.filled", "mean.required")


@_block("the turn, min(t, 15) / 8")
def turn(observations: Observations) -> Columns:
    return (np.minimum(observations.history.turn, 15) / 8.0)[:, None], ("turn",)


@_block("how often the system just said the very same, min(n, 3) / 2")
def repeats(observations: Observations) -> Columns:
    return (np.minimum(observations.history.streak - 1, 3).clip(0) / 2.0)[:, None], ("repeats",)


@_block("share of groups whose best value was confirmed")
def confirmed_share(observations: Observations) -> Columns:
    return observations.group_confirmed.mean(axis=1)[:, None], ("confirmed",)


@_block("whether each slot has a value (Lee)", discrete=True)
def slot_indicators(observations: Observations) -> Columns:
    return observations.summary.value != NONE, _named("filled", observations.slots)


@_block("whether each group has a value", discrete=True)
def group_indicators(observations: Observations) -> Columns:
    return observations.group_filled, _named("filled", observations.domain.groups)


@_block("the best value of every slot (Lee)", discrete=True)
def top_values(observations: Observations) -> Columns:
    words = np.unique(observations.summary.value)
    numbers = np.array(
        [stable_number(observations.vocabulary.text(int(word))) for word in words], dtype=np.int64
    )
    return numbers[np.searchsorted(words, observations.summary.value)], _named("value", observations.slots)


@_block("the answer to the last yes/no question: not asked, yes, not yes", discrete=True)
def answer(observations: Observations) -> Columns:
    return observations.history.answer[:, None], ("answer",)


@_block("whether the caller said yes to the last yes/no question (Lee)", discrete=True)
def affirmed(observations: Observations) -> Columns:
    return (observations.history.answer == 1)[:, None], ("affirmed",)


@_block("whether something was offered", discrete=True)
def offered(observations: Observations) -> Columns:
    return observations.history.offered[:, None], ("offered",)


@_block("what the system did last", discrete=True)
def last_act(observations: Observations) -> Columns:
    return observations.history.predicate[:, None], ("last_act",)


@_block("whether the caller probably asks for something", discrete=True)
def requested(observations: Observations) -> Columns:
    return observations.requested[:, None], ("requested",)


@_block("the probability that the caller asks for each thing that there is to ask for")
def requested_slots(observations: Observations) -> Columns:
    return observations.requests, _named("requested", observations.requestable)


@_block("the likeliest method of search (DSTC2): 1 to 5, 0 for none", discrete=True)
def method(observations: Observations) -> Columns:
    numbers = observations.vocabulary.ids(METHODS)
    return (observations.method[:, None] == numbers) @ np.arange(1, len(METHODS) + 1)[:, None], ("method",)


@_block("the conditions that the domain puts into the state", discrete=True)
def conditions(observations: Observations) -> Columns:
    names = tuple(observations.conditions)
    columns = [observations.conditions[name] for name in names]
    table = np.stack(columns, axis=1) if columns else np.zeros((len(observations), 0), dtype=np.int64)
    return table, _named("condition", names)


@_block("scores of a no and of any value at the last turn: an objection, or news")
def reaction(observations: Observations) -> Columns:
    columns = np.stack([observations.history.negates, observations.history.informs], axis=1)
    return np.clip(columns, 0.0, 1.0), ("negated", "informed")


@_block("lowest top score of filled groups that are not confirmed; share of required groups missing")
def doubts(observations: Observations) -> Columns:
    open_ = observations.group_filled & ~observations.group_confirmed
    lowest = np.where(open_, observations.group_top, 1.0).min(axis=1)
    return np.stack([lowest, observations.required_missing], axis=1), ("lowest.unconfirmed", "missing")
