"""States of policies, and the features that make them of observations: blocks, and presets of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.requests import METHODS
from extrinsic.errors import UsageError
from extrinsic.policy.observations import Observations, stable_number
from extrinsic.registry import BLOCKS, FEATURES

Columns = tuple[npt.NDArray, tuple[str, ...]]  # type: ignore[type-arg]


@dataclass(frozen=True, eq=False)
class States:
    """n states: continuous (n, d), discrete (n, e), with the names of all columns."""

    continuous: Floats
    discrete: Ints
    continuous_names: tuple[str, ...]
    discrete_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for array, names in ((self.continuous, self.continuous_names), (self.discrete, self.discrete_names)):
            if array.ndim != 2 or array.shape[1] != len(names) or len(array) != len(self.continuous):
                raise UsageError("the columns of states and their names do not fit together")
        wrong = np.argwhere(~np.isfinite(self.continuous))
        if len(wrong):
            row, column = wrong[0]
            raise UsageError(
                f"the feature {self.continuous_names[column]!r} is not a finite number",
                expected="finite numbers",
                found=f"{self.continuous[row, column]} in state {row}, {len(wrong):,} such in all",
            )

    def __len__(self) -> int:
        return len(self.continuous)

    @property
    def names(self) -> tuple[str, ...]:
        return self.continuous_names + self.discrete_names

    @property
    def no_states(self) -> States:
        """An empty States with the same columns, which is what a policy keeps of those it learned from."""
        return self.take(np.zeros(0, dtype=np.int64))

    def take(self, rows: Ints) -> States:
        return States(self.continuous[rows], self.discrete[rows], self.continuous_names, self.discrete_names)

    def require_like(self, other: States) -> None:
        """Raise UsageError unless the other states have the same columns."""
        if self.names != other.names:
            raise UsageError(
                "the states have other features than those learned from: "
                f"{name_differences(other.names, self.names)}",
                expected=", ".join(other.names),
                found=", ".join(self.names),
            )


def name_differences(expected: Sequence[str], found: Sequence[str]) -> str:
    """What names differ in: which are missing, which are too many, or that only their order differs."""
    parts = [
        f"{label} {', '.join(names)}"
        for label, names in (
            ("lacking", [name for name in expected if name not in found]),
            ("in addition", [name for name in found if name not in expected]),
        )
        if names
    ]
    return "; ".join(parts) or "the same in another order"


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


@dataclass(frozen=True)
class Features:
    """A map from observations to states: the columns of its blocks, in order, and of those the domain adds.

    conditions: whether the domain's condition variables are part of the state. Leaving them out shows how
    much of a policy's apparent gain comes from distinguishing the systems that made the corpus.
    """

    blocks: tuple[str, ...]
    conditions: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.blocks, str) or not self.blocks:
            raise UsageError(
                "features are made of at least one block, named in a list", found=repr(self.blocks)
            )
        for name in self.blocks:
            BLOCKS.get(name)

    def __call__(self, observations: Observations) -> States:
        more = (*observations.domain.state, "conditions") if self.conditions else observations.domain.state
        blocks = [BLOCKS.get(name) for name in dict.fromkeys((*self.blocks, *more))]
        kinds: list[Columns] = []
        for discrete in (False, True):
            made = [block.columns(observations) for block in blocks if block.discrete == discrete]
            arrays = [array for array, _ in made] or [np.zeros((len(observations), 0))]
            names = tuple(name for _, its_names in made for name in its_names)
            kinds.append((np.concatenate(arrays, axis=1), names))
        (continuous, continuous_names), (signs, discrete_names) = kinds
        return States(continuous.astype(np.float64), signs.astype(np.int64), continuous_names, discrete_names)


def find_features(name: Features | str | Sequence[str]) -> Features:
    """Resolve a preset by its name, a list of blocks, or a feature map."""
    if isinstance(name, Features):
        return name
    if not isinstance(name, str):
        return Features(tuple(name))
    features: Features = FEATURES.get(name)
    return features


_GROUPED = ("group_scores", "group_minimum", "group_indicators", "answer")
_DIALOG = ("turn", "repeats", "answer", "offered")

FEATURES.register(
    "lee2014_literal",
    Features(("slot_scores", "slot_indicators", "top_values", "affirmed")),
    "Lee's state to the letter: raw scores, indicators, top values, yes to the next bus",
)
FEATURES.register(
    "lee2014",
    Features(("slot_scores", "slot_indicators", "affirmed")),
    "Lee's state without the top values, under which hardly two states are alike",
)
FEATURES.register(
    "grouped", Features(_GROUPED), "scores per slot group, their minima, indicators, three-valued answer"
)
FEATURES.register(
    "grouped_history",
    Features((*_GROUPED, "confirmed_share", *_DIALOG)),
    "grouped, and the dialog so far: turn, repeats, confirmed groups, offered",
)
FEATURES.register(
    "compact",
    Features(("group_minimum", "doubts", "reaction", "confirmed_share", *_DIALOG, "last_act")),
    "lowest scores, open doubts, the caller's reaction and the dialog so far (the default)",
)
