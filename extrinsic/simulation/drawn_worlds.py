"""Worlds drawn from ranges: datasets of a settings file with some properties changed.

A drawn world is named by what it is, `ds1(noise=0.31, patience=9)`, wherever a dataset can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.printed_forms import number_text, split_form
from extrinsic.storage import content_hash

STEPS = 40
"""How many different values of a property are drawn from a range."""

Tree = dict[str, Any]


@dataclass(frozen=True)
class Property:
    """A property of worlds.

    low, high: the values that it can have; drawn: the range that is drawn from by default.
    settings: the settings of a world with a given value, as the tables of its file.
    """

    name: str
    what: str
    low: float
    high: float
    drawn: tuple[float, float]
    settings: Callable[[float], Tree]
    whole: bool = False

    @property
    def expected(self) -> str:
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:g} to {self.high:g}"

    def require(self, value: float) -> None:
        if not self.low <= value <= self.high or (self.whole and not float(value).is_integer()):
            found = number_text(value) if np.isfinite(value) else str(value)
            raise UsageError(f"the world's {self.name} is out of range", expected=self.expected, found=found)

    def values(self, low: float, high: float) -> list[float]:
        """The values that are drawn from a range."""
        if self.whole:
            return [float(value) for value in range(round(low), round(high) + 1)]
        return [float(f"{value:.3g}") for value in np.linspace(low, high, STEPS + 1)]


Properties = Mapping[str, Property]


def is_drawn(dataset: str) -> bool:
    """Whether a dataset's name is that of a drawn world."""
    return "(" in dataset


def read_drawn(dataset: str, properties: Properties) -> tuple[str, dict[str, float]]:
    """The dataset that a drawn world is drawn around, and the properties that it changes."""
    pieces = split_form(dataset)
    if pieces is None or pieces.parts:
        raise UsageError(f"{dataset!r} is not a world", expected="dataset(property=number)")
    chosen: dict[str, float] = {}
    for key, text in pieces.named:
        if key not in properties:
            raise UsageError(f"worlds of this kind have no {key!r}; {did_you_mean(key, properties)}")
        if key in chosen:
            raise UsageError(f"the property {key!r} occurs twice in {dataset!r}")
        try:
            chosen[key] = float(text)
        except ValueError:
            raise UsageError(
                f"the world's {key} is no number", expected=properties[key].expected, found=text
            ) from None
        properties[key].require(chosen[key])
    return pieces.name, chosen


def settings_of(chosen: Mapping[str, float], properties: Properties) -> list[Tree]:
    """The settings of the changed properties, as the tables of a file."""
    return [properties[name].settings(value) for name, value in chosen.items()]


def draw_worlds(
    base: Sequence[str],
    n_worlds: int,
    properties: Properties,
    ranges: Mapping[str, tuple[float, float]],
    seed: int = 0,
) -> list[str]:
    """The names of worlds around each of some datasets in turn, by a design that fills the ranges.

    ranges: per property its lowest and highest value; without any, every property in its own range.
    """
    from scipy.stats import qmc

    for name in ranges:
        if name not in properties:
            raise UsageError(f"worlds of this kind have no {name!r}; {did_you_mean(name, properties)}")
    chosen = ranges or {name: part.drawn for name, part in properties.items()}
    axes = []
    for name, (low, high) in chosen.items():
        for value in (low, high):
            properties[name].require(value)
        if low > high:
            raise UsageError(f"the range of {name} is empty", found=f"{low:g} to {high:g}")
        axes.append(list(dict.fromkeys(properties[name].values(low, high))))
    space = len(base) * int(np.prod([len(axis) for axis in axes]))
    if n_worlds > space:
        raise UsageError(f"there are only {space:,} different worlds in these ranges", found=f"{n_worlds:,}")
    rng = np.random.default_rng(int(content_hash("worlds", *base, *chosen, str(seed))[:16], 16))
    sequence = qmc.Sobol(len(axes), scramble=True, rng=rng)
    names: dict[str, None] = {}
    while len(names) < n_worlds:
        for place in (sequence.random(64) * [len(axis) for axis in axes]).astype(np.int64).tolist():
            values = [axis[position] for axis, position in zip(axes, place, strict=True)]
            inside = [f"{name}={number_text(value)}" for name, value in zip(chosen, values, strict=True)]
            names.setdefault(f"{base[len(names) % len(base)]}({', '.join(inside)})")
    return list(names)[:n_worlds]
