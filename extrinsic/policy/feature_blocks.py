"""Building blocks of states: each makes some columns of what is known before a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extrinsic.corpus.vocabulary import NONE
from extrinsic.policy.observations import Observations, stable_number
from extrinsic.registry import BLOCKS

Columns = tuple[npt.NDArray, tuple[str, ...]]  # type: ignore[type-arg]


@dataclass(frozen=True)
class Block:
    """Columns of a state; discrete ones are compared as the same or not."""

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
def slot_scores(known: Observations) -> Columns:
    summary = known.summary
    names = [name for kind in ("top", "second", "none") for name in _named(kind, known.slots)]
    return np.concatenate([summary.top, summary.second, summary.none], axis=1), tuple(names)


@_block("top, second and None scores of every slot group")
def group_scores(known: Observations) -> Columns:
    names = [name for kind in ("top", "second", "none") for name in _named(kind, known.domain.groups)]
    return np.concatenate([known.group_top, known.group_second, known.group_none], axis=1), tuple(names)


@_block("lowest top score of required and of filled groups, mean of the required ones")
def group_minimum(known: Observations) -> Columns:
    required = np.where(known.required, known.group_top, 1.0).min(axis=1)
    filled = np.where(known.group_filled, known.group_top, 1.0).min(axis=1)
    columns = np.stack([required, filled, known.required_mean], axis=1)
    return columns, ("lowest.required", "lowest.filled", "mean.required")


@_block("the turn, min(t, 15) / 8")
def turn(known: Observations) -> Columns:
    return (np.minimum(known.history.turn, 15) / 8.0)[:, None], ("turn",)


@_block("how often the system just said the very same, min(n, 3) / 2")
def repeats(known: Observations) -> Columns:
    return (np.minimum(known.history.streak - 1, 3).clip(0) / 2.0)[:, None], ("repeats",)


@_block("share of groups whose best value was confirmed")
def confirmed_share(known: Observations) -> Columns:
    return known.group_confirmed.mean(axis=1)[:, None], ("confirmed",)


@_block("whether each slot has a value (Lee)", discrete=True)
def slot_indicators(known: Observations) -> Columns:
    return known.summary.value != NONE, _named("filled", known.slots)


@_block("whether each group has a value", discrete=True)
def group_indicators(known: Observations) -> Columns:
    return known.group_filled, _named("filled", known.domain.groups)


@_block("the best value of every slot (Lee)", discrete=True)
def top_values(known: Observations) -> Columns:
    words = np.unique(known.summary.value)
    numbers = np.array([stable_number(known.vocabulary.text(int(word))) for word in words], dtype=np.int64)
    return numbers[np.searchsorted(words, known.summary.value)], _named("value", known.slots)


@_block("the answer to the last yes/no question: not asked, yes, not yes", discrete=True)
def answer(known: Observations) -> Columns:
    return known.history.answer[:, None], ("answer",)


@_block("whether the caller said yes to the last yes/no question (Lee)", discrete=True)
def affirmed(known: Observations) -> Columns:
    return (known.history.answer == 1)[:, None], ("affirmed",)


@_block("whether something was offered", discrete=True)
def offered(known: Observations) -> Columns:
    return known.history.offered[:, None], ("offered",)


@_block("what the system did last", discrete=True)
def last_act(known: Observations) -> Columns:
    return known.history.predicate[:, None], ("last_act",)


@_block("whether the caller probably asks for something", discrete=True)
def requested(known: Observations) -> Columns:
    return known.requested[:, None], ("requested",)


@_block("the conditions that the domain puts into the state", discrete=True)
def conditions(known: Observations) -> Columns:
    names = tuple(known.conditions)
    columns = [known.conditions[name] for name in names]
    table = np.stack(columns, axis=1) if columns else np.zeros((len(known), 0), dtype=np.int64)
    return table, _named("condition", names)


@_block("scores of a no and of any value at the last turn: an objection, or news")
def reaction(known: Observations) -> Columns:
    columns = np.stack([known.history.negates, known.history.informs], axis=1)
    return np.clip(columns, 0.0, 1.0), ("negated", "informed")


@_block("lowest top score of filled groups that are not confirmed; share of required groups missing")
def doubts(known: Observations) -> Columns:
    open_ = known.group_filled & ~known.group_confirmed
    lowest = np.where(open_, known.group_top, 1.0).min(axis=1)
    return np.stack([lowest, known.required_missing], axis=1), ("lowest.unconfirmed", "missing")
