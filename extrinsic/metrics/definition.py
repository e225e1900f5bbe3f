"""The protocol of metrics: a name with parameters, statistics summed over dialogs, and a value of the sum.

`metric.statistics(items)` is an (n_dialogs, k) array (or something that sums and multiplies like one);
`metric.value(statistics.sum(0))` is the score. A resample of dialogs is `weights @ statistics`: no metric
has to be computed twice on the same items.

A metric's printed form is its identity and what the user types: `fga(0.5)`, `gca(weights=plain)`.
"""

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.hypotheses import Fill
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.belief_items import ItemHypotheses, Items
from extrinsic.metrics.state_items import StateItems
from extrinsic.printed_forms import printed_form, split_form, value_text
from extrinsic.registry import METRICS


@dataclass(frozen=True)
class Metric(ABC):
    """A metric with its parameters; the dataclass fields of a subclass are its parameters.

    name, formula, citation: its name, how it is computed, its source.
    higher_is_better: its direction, None where neither is better.
    kind: "belief" (it scores hypotheses: Items) or "state" (it scores sets of triples: StateItems).
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    citation: ClassVar[str]
    kind: ClassVar[str]
    higher_is_better: ClassVar[bool | None] = True
    whole_dialogs: ClassVar[bool] = False
    """It needs whole dialogs, so only schedule 1 makes sense."""
    positional: ClassVar[str | None] = None
    """The parameter that may be given without its name."""

    @abstractmethod
    def statistics(self, items: Any) -> Any:
        """(n_dialogs, k) statistics of the items, one row per dialog."""

    @abstractmethod
    def values(self, totals: Any) -> Floats:
        """(..., k) sums of statistics -> (...,) values, NaN where undefined."""

    def value(self, totals: Any) -> float | None:
        """The value of one sum of statistics, None where there is nothing to score."""
        value = float(self.values(totals))
        return None if math.isnan(value) else value

    def count(self, items: Any, totals: Any) -> int:
        """How many items the value is based on."""
        return int(items.count)

    def __str__(self) -> str:
        values = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        changed = {each.name: values[each.name] for each in fields(self) if values[each.name] != each.default}
        first = [value_text(changed.pop(self.positional))] if self.positional in changed else []
        return printed_form(self.name, first, changed)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    nothing = np.full(np.shape(denominator), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=nothing, where=np.not_equal(denominator, 0)))


def check_choice(metric: str, parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise UsageError for a parameter that is not one of the choices."""
    if value not in choices:
        raise UsageError(
            f"the metric {metric!r} has no {parameter} {value!r}; {did_you_mean(str(value), choices)}"
        )


@dataclass(frozen=True)
class Mean(Metric):
    """A metric whose statistics are a numerator and a denominator."""

    def values(self, totals: Any) -> Floats:
        totals = np.asarray(totals)
        return ratio(totals[..., 0], totals[..., 1])

    def count(self, items: Any, totals: Any) -> int:
        return int(totals[1])


@dataclass(frozen=True)
class ItemMean(Mean):
    """A belief metric that is the mean of one field over the items; subclasses name the field."""

    kind: ClassVar[str] = "belief"
    field: ClassVar[str]

    def statistics(self, items: Items) -> Floats:
        """(n_dialogs, 2): the sum of the field, and the number of items."""
        return np.stack([items.sum_by_dialog(self.field), items.count_by_dialog], axis=1)


@dataclass(frozen=True)
class HypothesisMean(Mean):
    """A belief metric that is the mean of a score of all hypotheses of an item; subclasses say which."""

    kind: ClassVar[str] = "belief"

    @abstractmethod
    def item_scores(self, hypotheses: ItemHypotheses) -> Floats:
        """(n_items,) the score of each item, NaN for one that does not count."""

    def statistics(self, items: Items) -> Floats:
        """(n_dialogs, 2): the sum of the scores, and the number of items that count."""
        scores = np.empty((items.table.n_turns, len(items.columns)))
        for position, column in enumerate(items.columns):
            scores[:, position] = items.table.item_scores(self.item_scores, self, column)
        counts = items.table.schedules[items.schedule][:, items.columns] & ~np.isnan(scores)
        by_turn = np.stack([np.where(counts, scores, 0.0).sum(axis=1), counts.sum(axis=1)], axis=1)
        return np.asarray(np.add.reduceat(by_turn, items.table.offsets[:-1], axis=0))


@dataclass(frozen=True)
class TurnMean(Mean):
    """A state-set metric that is the mean of a score over turns; subclasses define score and turns."""

    kind: ClassVar[str] = "state"

    @abstractmethod
    def turn_scores(self, items: StateItems) -> Floats:
        """(n_turns,) the score of each turn, NaN for a turn that does not count."""

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): the sum of the scores, and the number of turns that count."""
        scores = self.turn_scores(items)
        counts = items.scheduled & ~np.isnan(scores)
        return items.sum_by_dialog(np.stack([np.where(counts, scores, 0.0), counts], axis=1))


@dataclass(frozen=True)
class Filled(Metric):
    """Another metric, on filled beliefs; prints as `fga(0.5, fill=argmax)`."""

    metric: Metric
    fill: Fill

    def __post_init__(self) -> None:
        for name in ("name", "formula", "citation", "kind", "higher_is_better", "whole_dialogs"):
            object.__setattr__(self, name, getattr(self.metric, name))

    def __str__(self) -> str:
        name, _, parameters = str(self.metric).partition("(")
        prefix = f"{parameters.removesuffix(')')}, " if parameters else ""
        return f"{name}({prefix}fill={self.fill})"

    def statistics(self, items: StateItems) -> Any:
        return self.metric.statistics(items)

    def values(self, totals: Any) -> Floats:
        return self.metric.values(totals)

    def count(self, items: StateItems, totals: Any) -> int:
        return self.metric.count(items, totals)


ALIASES = {"lambda": "decay"}
"""Parameter names of the papers that are keywords in Python."""


def parse_metric(text: str) -> Metric:
    """The metric that a printed form names; with `fill`, a state-set metric of a belief tracker."""
    form = split_form(text)
    if form is None:
        raise UsageError(f"{text!r} is not a metric", expected="name or name(value, parameter=value)")
    factory = METRICS.get(form.name)
    named = {ALIASES.get(key, key): _value(value) for key, value in form.named.items()}
    if len(named) < len(form.named):
        raise UsageError(f"the parameter {' or '.join(ALIASES)} occurs twice in {text!r}")
    fill = named.pop("fill", None)
    metric = _metric(form.name, factory, [_value(part) for part in form.parts], named)
    if fill is None:
        return metric
    if metric.kind != "state":
        raise UsageError(f"the metric {form.name!r} scores beliefs as they are and takes no fill rule")
    return Filled(metric, Fill.parse(fill))


def _value(text: str) -> Any:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _metric(name: str, factory: Any, positional: list[Any], named: dict[str, Any]) -> Metric:
    """Call a registered factory with parameters; UsageError for those that it does not have."""
    parameters = dict(inspect.signature(factory).parameters)
    takes_any = [key for key, parameter in parameters.items() if parameter.kind is parameter.VAR_KEYWORD]
    for key in takes_any:
        del parameters[key]
    names = list(parameters)
    for key in named:
        if key not in names and not takes_any:
            raise UsageError(f"the metric {name!r} has no parameter {key!r}; {did_you_mean(key, names)}")
    if len(positional) > min(1, len(names)):
        raise UsageError(
            f"the metric {name!r} takes {'one value' if names else 'no value'} without a name",
            found=", ".join(map(str, positional)),
        )
    specified = {*names[: len(positional)], *named}
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in specified:
            summary = next(entry.summary for entry in METRICS.entries() if entry.name == name)
            raise UsageError(f"the metric {name!r} needs a value for {key!r}; {summary}")
    try:
        metric: Metric = factory(*positional, **named)
    except TypeError as error:
        raise UsageError(f"the metric {name!r} cannot be made of these parameters: {error}") from None
    return metric
