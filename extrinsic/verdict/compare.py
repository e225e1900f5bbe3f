"""Two systems of a panel: every return and metric, their paired differences, with intervals and p-values.

Both saw the same items, so items are resampled together. For p-values the two are exchanged item by item at
random (approximate randomisation): p = (count + 1) / (n + 1). The verdict on the two says whose policy earns
more, and what choosing between them by a metric would have cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Panel, item_weights, rng_of
from extrinsic.tables import plain
from extrinsic.verdict.choices import choices
from extrinsic.verdict.intervals import interval
from extrinsic.verdict.names import (
    BEHAVIOUR,
    Name,
    amount,
    in_unit,
    is_outcome,
    is_share,
    listing,
    metric_title,
    target_title,
    unit_title,
    variant_title,
    verdict_targets,
)
from extrinsic.verdict.rows import Row

RESAMPLES = 1_000
PERMUTATIONS = 1_999
SAME = 1e-12
LEVEL = 0.05
MEAN = "(mean of all)"
"""Instead of a dataset's name: the mean over datasets."""

Kind = Literal["return", "metric"]


class ComparisonRow(Row, frozen=True, kw_only=True, omit_defaults=True):
    """A return or a metric of two trackers, and their difference.

    dataset: its name, or the mean over all datasets.
    kind: `return` or `metric`.
    name: policy and estimator of a return, e.g. `rl.live`; the printed form of a metric.
    schedule, component: of a metric, when and where it is measured.
    variant: of a return, the way of learning and rewarding.
    a, b: the values of the first and the second tracker.
    difference: the first less the second.
    low, high: a 95 % interval of the difference over resampled dialogs.
    p: by exchanging the two trackers dialog by dialog.
    better: `a` or `b`; empty where it is not decided, because the interval includes 0 or p is above .05.
    """

    dataset: str
    kind: Kind
    name: str
    schedule: int | None = None
    component: str | None = None
    variant: str | None = None
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    better: str | None


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two trackers on one dataset: values (2,), resampled differences (n,), exchanged ones (k,)."""

    values: Floats
    resampled: Floats
    exchanged: Floats


@dataclass(frozen=True)
class Compared:
    """What is compared: a return or a metric."""

    kind: Kind
    name: str
    schedule: int | None = None
    component: str | None = None
    variant: str | None = None
    higher_is_better: bool | None = True


def return_rows(panel: Panel, first: str, second: str, seed: int) -> list[ComparisonRow]:
    """Every value of both, variant by variant; outcomes, which do not depend on variants, come first."""
    panel = panel.averaged()
    a, b = panel.system(first), panel.system(second)
    rows: list[ComparisonRow] = []
    for k, target in enumerate(panel.targets):
        of_outcome = is_outcome(target.name)
        if of_outcome and target.variant != panel.variants[0]:
            continue
        pairings = {}
        for d, (dataset, influence) in enumerate(zip(panel.datasets, panel.influence_of(k), strict=True)):
            apart = influence[a] - influence[b]
            drawn = "live" if target.items == "callers" else "compare"
            values = panel.values[k, d, [a, b]]
            pairings[dataset.name] = _paired(values, apart, f"{drawn} {dataset.name}", seed)
        rows += comparison_rows(
            Compared("return", target.name, variant=None if of_outcome else target.variant), pairings
        )
    return sorted(rows, key=lambda row: row.variant is not None)


def _paired(values: Floats, apart: Floats, items: str, seed: int) -> Pairing:
    """The pairing of two values (2,); apart: the difference of their influences, items: their identity."""
    n, difference = len(apart), values[0] - values[1]
    weights = item_weights(items, n, RESAMPLES, seed)
    signs = 2.0 * rng_of("exchange", items, seed).integers(0, 2, (PERMUTATIONS, n)) - 1.0
    return Pairing(values, difference + (weights - 1.0) @ apart, signs @ (difference / n + apart))


def comparison_rows(compared: Compared, pairings: Mapping[str, Pairing]) -> list[ComparisonRow]:
    """A row for each dataset and, first, one for their mean."""
    if len(pairings) > 1:
        pairings = {MEAN: _mean(list(pairings.values())), **pairings}
    rows = []
    for dataset, pairing in pairings.items():
        difference = float(pairing.values[0] - pairing.values[1])
        low, high = map(plain, interval(np.array(difference), pairing.resampled))
        p = _p(difference, pairing.exchanged)
        rows.append(
            ComparisonRow(
                dataset=dataset,
                kind=compared.kind,
                name=compared.name,
                schedule=compared.schedule,
                component=compared.component,
                variant=compared.variant,
                a=plain(pairing.values[0]),
                b=plain(pairing.values[1]),
                difference=plain(difference),
                low=low,
                high=high,
                p=p,
                better=better_one(("a", "b"), compared.higher_is_better, difference, low, high, p),
            )
        )
    return rows


def _mean(pairings: Sequence[Pairing]) -> Pairing:
    return Pairing(
        np.mean([pairing.values for pairing in pairings], axis=0),
        np.mean([pairing.resampled for pairing in pairings], axis=0),
        np.mean([pairing.exchanged for pairing in pairings], axis=0),
    )


def _p(difference: float, exchanged: Floats) -> float | None:
    if not np.isfinite(difference):
        return None
    count = (np.abs(exchanged) >= abs(difference) - SAME).sum()
    return float((count + 1.0) / (len(exchanged) + 1.0))


TELLING = 8
FIRST_METRICS = ("accuracy", "jga", "slot_f1", "l2")


def telling_rows(rows: Sequence[ComparisonRow], target: str) -> list[ComparisonRow]:
    """The few of one kind that fit on a screen: targets that have a verdict; usual metrics on a schedule."""
    if not rows or rows[0].kind == "return":
        names = [target, *(row.name for row in rows if row.name != target)]
        return [row for row in rows if row.name in (*verdict_targets(names), BEHAVIOUR)][:TELLING]
    schedules = [row.schedule for row in rows]
    schedule = 1 if 1 in schedules else schedules[0]
    usual = [row for row in rows if row.schedule == schedule and row.name.partition("(")[0] in FIRST_METRICS]
    return (usual or [row for row in rows if row.schedule == schedule])[:TELLING]


def digits_of(row: ComparisonRow) -> int:
    """Returns need one digit, shares and metrics three."""
    return 1 if row.kind == "return" and not is_share(row.name) else 3


def better_one(
    names: tuple[str, str],
    higher_is_better: bool | None,
    difference: float | None,
    low: float | None,
    high: float | None,
    p: float | None,
) -> str | None:
    """Which of two is better; None where the interval includes 0 or p is not below .05: not decided."""
    if higher_is_better is None or difference is None or low is None or high is None or p is None:
        return None
    if p >= LEVEL or low <= 0.0 <= high:
        return None
    return names[0] if (difference > 0) == higher_is_better else names[1]


class PairCost(Row, frozen=True, kw_only=True):
    """What choosing between two systems by a metric would have cost, by a target.

    a, b: the metric of the first and the second, the mean over datasets.
    picks: the one that the metric prefers on most datasets; empty for ties.
    cost: 0 where that is the better one, the difference where it is the other, half of it for a tie; the mean
    over datasets.
    """

    target: str
    variant: str | None = None
    metric: str
    schedule: int
    component: str
    a: float | None
    b: float | None
    picks: str | None
    cost: float | None


def pair_costs(panel: Panel, target: int, metrics: Sequence[Name], first: str, second: str) -> list[PairCost]:
    """Of some metrics, by the panel's target of this number; the cheapest first."""
    pair = [panel.system(first), panel.system(second)]
    keys = {Name.of(key): m for m, key in enumerate(panel.metrics)}
    places = [keys[name] for name in metrics if name in keys]
    scores, values = panel.oriented()[places][:, :, pair], panel.values[target][:, pair]
    made = choices(scores, values)
    rows = []
    for i, m in enumerate(places):
        key = panel.metrics[m]
        side = np.nansum(np.sign(scores[i, :, 0] - scores[i, :, 1]))
        a, b = (float(score) for score in panel.scores[m][:, pair].mean(axis=0))
        rows.append(
            PairCost(
                target=panel.targets[target].name,
                variant=panel.targets[target].variant,
                metric=key.metric,
                schedule=key.schedule,
                component=key.component,
                a=plain(a),
                b=plain(b),
                picks=first if side > 0 else second if side < 0 else None,
                cost=plain(made.lost[i]),
            )
        )
    return sorted(rows, key=lambda row: float("inf") if row.cost is None else row.cost)


def costs_sentence(costs: Sequence[PairCost], names_variant: bool) -> str:
    """`hwu is picked by accuracy and JGA, which costs 0.3 points; focus by L2, which costs nothing.`

    Empty where none of them can be compared.   names_variant: of the study's several.
    """
    parts = []
    for pick in dict.fromkeys(cost.picks for cost in costs if cost.cost is not None):
        own = [cost for cost in costs if cost.picks == pick and cost.cost is not None]
        titles = listing(list(dict.fromkeys(metric_title(cost.metric) for cost in own)))
        who = f"{pick} is picked" if pick else "neither is picked"
        # On several datasets they may cost differently.
        dearest = max(cost.cost or 0.0 for cost in own)
        parts.append(f"{who} by {titles}, which costs {_price(dearest, own[0].target)}")
    title = variant_title(costs[0].variant) if costs and names_variant else ""
    under = f"{title[0].upper()}{title[1:]}: " if title else ""
    return f"{under}{'; '.join(parts)}." if parts else ""


def _price(cost: float, target: str) -> str:
    unit = "share" if is_share(target) else "points"
    return f"{in_unit(cost, unit)} {unit_title(unit)}" if cost else "nothing"


class ComparisonVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Two trackers by one target, under one variant.

    better: the name of the better one; None where it is not decided.
    difference, low, high: of the first less the second, on the same dialogs or callers.
    by_metric: what the metric that the study chooses by picks, and what that costs; None without one.
    flags: reasons not to trust the two values, a sentence each.
    """

    target: str
    variant: str | None
    first: str
    second: str
    better: str | None
    difference: float | None
    low: float | None
    high: float | None
    by_metric: PairCost | None = None
    sentence: str = ""
    flags: tuple[str, ...] = ()


def comparison_verdict(
    panel: Panel,
    row: ComparisonRow,
    pair: tuple[str, str],
    by_metric: PairCost | None,
    names_variant: bool,
) -> ComparisonVerdict:
    """On one return of two systems; names_variant: in the sentence."""
    first, second = pair
    verdict = ComparisonVerdict(
        target=row.name,
        variant=row.variant,
        first=first,
        second=second,
        better={"a": first, "b": second}.get(row.better or ""),
        difference=row.difference,
        low=row.low,
        high=row.high,
        by_metric=by_metric,
        flags=tuple(value_flags(panel, row, pair)),
    )
    return msgspec.structs.replace(verdict, sentence=_sentence(verdict, names_variant))


def value_flags(panel: Panel, row: ComparisonRow, pair: tuple[str, str]) -> Iterator[str]:
    """`q_range on the value of hwu: Q is outside the returns that a dialog can have.`"""
    flagged: dict[str, set[str]] = {}
    for note in panel.notes:
        target, system = panel.targets[note.target], panel.names[note.system]
        if (target.name, target.variant) == (row.name, row.variant) and system in pair:
            for flag in note.flags:
                flagged.setdefault(flag, set()).add(system)
    for flag, systems in flagged.items():
        whose = "both values" if len(systems) == 2 else f"the value of {systems.pop()}"
        yield f"{flag} on {whose}: {panel.words.get(flag, flag)}."


def _sentence(verdict: ComparisonVerdict, names_variant: bool) -> str:
    """`By the learned policy's return, hwu earns 12 more [-3, 28] than focus: not decided.`"""
    title = variant_title(verdict.variant) if names_variant else ""
    under = f"{title[0].upper()}{title[1:]}: " if title else ""
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return f"{under}{target_title(verdict.target)} cannot be compared: it is undefined for one of them."
    ends = [verdict.first, verdict.second]
    difference, low, high = verdict.difference, verdict.low, verdict.high
    if difference < 0:
        ends, difference, low, high = ends[::-1], -difference, -high, -low
    digits = 3 if is_share(verdict.target) else 1
    numbers = f"{amount(difference, digits)} more [{amount(low, digits)}, {amount(high, digits)}]"
    told = f"{verdict.better} is the better one" if verdict.better else "not decided"
    by = f"by {target_title(verdict.target)}," if under else f"By {target_title(verdict.target)},"
    verb = "has" if is_share(verdict.target) else "earns"
    text = f"{under}{by} {ends[0]} {verb} {numbers} than {ends[1]}: {told}."
    if (cost := verdict.by_metric) is not None and cost.cost is not None:
        picks = f"picks {cost.picks}" if cost.picks else "does not tell them apart"
        price = _price(cost.cost, verdict.target)
        text += f" The study chooses by {Name.of(cost).title()}, which {picks}: here that costs {price}."
    return text
