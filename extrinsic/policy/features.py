"""Feature maps from observations to the states of a policy: presets by name, or lists of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.errors import UsageError
from extrinsic.policy.feature_blocks import Block
from extrinsic.policy.observations import Observations
from extrinsic.policy.states import States
from extrinsic.registry import BLOCKS, FEATURES


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
        continuous, continuous_names = _columns(
            observations, [block for block in blocks if not block.discrete]
        )
        discrete, discrete_names = _columns(observations, [block for block in blocks if block.discrete])
        return States(
            continuous.astype(np.float64), discrete.astype(np.int64), continuous_names, discrete_names
        )


def _columns(observations: Observations, blocks: Sequence[Block]) -> tuple[np.ndarray, tuple[str, ...]]:
    made = [block.columns(observations) for block in blocks]
    arrays = [array for array, _ in made] or [np.zeros((len(observations), 0))]
    return np.concatenate(arrays, axis=1), tuple(name for _, names in made for name in names)


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
