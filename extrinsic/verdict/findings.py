"""Lee's three findings (2014), each as what choices by metrics lose.

1. Metrics of score quality come first: AvgP, and L2. The challenge's L2 and Lee's own, over all hypotheses,
   are two metrics, and the finding is judged by each. MRR is one of the others: it measures "the quality of
   rank instead of score".
2. Schedule 2 predicts less than schedules 1 and 3.
3. ROC.V2, which measures discrimination alone, hardly predicts.

Errors are drawn over systems: with Student's weights the jackknife's influences sum to an error of each loss,
of all at once. Which metric stands for a group is chosen anew in every draw, among those that are within one
error of the group's first (the others cannot be first: Fang and Santos 2019), so that a contrast found in the
data is not tested as if it had been named before. What that choice takes from a difference is not given back
where it would help a claim: the ends of the interval are those of the two that came first, or farther away.
Two groups that are equally good are told apart in 3 % of simulated studies or fewer, with 8 to 40 systems;
basic bootstrap intervals of the best of each did so in 8 to 22 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.panel import MetricKey, Panel, rng_of
from extrinsic.verdict.bounds import losses
from extrinsic.verdict.correlations import CORE, points_of
from extrinsic.verdict.names import Name, amount, in_unit, share, unit_title

RANKED = ("accuracy", "mrr", "roc.")
"""What Lee compares score quality with."""

QUALITY = {"the challenge's L2": ("l2", "avgp"), "Lee's own L2": ("l2.lee", "avgp")}
DISCRIMINATION = "roc.v2_"
HALF = 0.5
"""Of what a perfect choice earns; a metric that keeps less of it hardly predicts."""

FEWEST, DRAWS = 6, 2_000
Judgement = Literal["holds", "does not hold", "not resolved"]


@dataclass(frozen=True)
class Finding:
    claim: str
    verdict: Judgement
    numbers: str


class Losses(NamedTuple):
    """What choices by each metric lose (M,), their errors drawn (n, M), and a coin's loss with its own (n,).

    influence (S, M): of each system on the losses, so that its squares sum to squared errors.
    """

    keys: Sequence[MetricKey]
    lost: Floats
    drawn: Floats
    influence: Floats
    coin: float
    coin_drawn: Floats
    unit: str

    def first(self, among: Bools) -> int:
        places = np.flatnonzero(among)
        return int(places[np.argmin(self.lost[places])])

    def errors(self, among: Bools) -> Floats:
        """(n,) of the loss of the first of some metrics, chosen anew among those that might be."""
        first = self.first(among)
        apart = np.sqrt(((self.influence - self.influence[:, [first]]) ** 2).sum(axis=0))
        near = among & (self.lost - self.lost[first] <= apart)
        return np.asarray(self.drawn[:, near].min(axis=1))

    def shown(self, m: int) -> str:
        key = self.keys[m]
        title = Name(key.metric, key.schedule, key.component).title()
        return f"{title} loses {in_unit(float(self.lost[m]), self.unit)}"


def panel_findings(panel: Panel, core: Sequence[str], target: int, seed: int) -> list[Finding]:
    """By one target of a panel, over its core systems."""
    variant = panel.targets[target].variant
    points = points_of(panel, variant, CORE, core, averaged=False)
    values = points.targets[points.target_keys.index(panel.targets[target])]
    unit = panel.targets[target].unit
    return findings(points.metric_keys, points.metrics, values, unit, points.identity, seed)


def findings(
    keys: Sequence[MetricKey],
    scores: Floats,
    values: Floats,
    unit: str,
    identity: str,
    seed: int,
    level: float = 0.95,
) -> list[Finding]:
    """Those that can be judged; none where the study lacks the metrics of Lee, or systems to tell apart.

    scores (M, D, S), higher is better; values (D, S).
    """
    whole = [m for m in range(len(keys)) if np.isfinite(scores[m]).all()]
    if not whole or values.shape[1] < FEWEST or not np.isfinite(values).all():
        return []
    made = _losses([keys[m] for m in whole], scores[whole], values, unit, identity, seed)
    if not made.coin > 0.0:
        return []
    found = [*_score_quality(made, level), _schedules(made, level), _discrimination(made, level)]
    return [finding for finding in found if finding is not None]


def _losses(
    keys: Sequence[MetricKey], scores: Floats, values: Floats, unit: str, identity: str, seed: int
) -> Losses:
    n = values.shape[1]
    made = losses(scores, values, np.arange(n))
    rng = rng_of("findings", identity, seed)
    weights = rng.standard_normal((DRAWS, n)) / np.sqrt(rng.chisquare(n - 1, DRAWS) / (n - 1))[:, None]
    influence, on_coin = (each / np.sqrt(n * (n - 1)) for each in (made.on_lost, made.on_possible[:, 0]))
    drawn, coin = weights @ influence, float(made.possible[0])
    return Losses(keys, made.lost, drawn, influence, coin, weights @ on_coin, unit)


def _interval(value: float, errors: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(errors, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return value - float(high), value - float(low)


def judged(low: float, high: float, above: float = 0.0) -> Judgement:
    """Whether an interval lies above a number, below it, or on both sides."""
    if low > above:
        return "holds"
    return "does not hold" if high < above else "not resolved"


def _score_quality(made: Losses, level: float) -> Iterator[Finding]:
    """The best of score quality against the best of the others, at any schedule and component."""
    others = np.array([key.metric.startswith(RANKED) for key in made.keys])
    for which, metrics in QUALITY.items():
        quality = np.array([key.metric in metrics for key in made.keys])
        if not others.any() or not {key.metric for key in made.keys} >= set(metrics):
            continue
        first, other = made.first(quality), made.first(others)
        less = float(made.lost[other] - made.lost[first])
        as_named = _interval(less, made.drawn[:, other] - made.drawn[:, first], level)
        low = min(as_named[0], _interval(less, made.drawn[:, other] - made.errors(quality), level)[0])
        high = max(as_named[1], _interval(less, made.errors(others) - made.drawn[:, first], level)[1])
        ends, which_way = _ends(less, low, high, made), "less"
        if less < 0.0:
            ends, which_way = _ends(-less, -high, -low, made), "more"
        numbers = (
            f"{made.shown(first)} (the best of AvgP and {which}), {made.shown(other)} "
            f"(the best of the others): {ends} {unit_title(made.unit)} {which_way}, of "
            f"{in_unit(made.coin, made.unit)} that a coin loses."
        )
        yield Finding(f"Metrics of score quality (AvgP, {which}) come first", judged(low, high), numbers)


def _ends(value: float, low: float, high: float, made: Losses) -> str:
    low_text, high_text = (in_unit(end, made.unit) for end in (low, high))
    return f"{in_unit(value, made.unit)} [{low_text}, {high_text}]"


def _schedules(made: Losses, level: float) -> Finding | None:
    """Every metric on schedule 2 against itself on schedules 1 and 3."""
    quality = {metric for metrics in QUALITY.values() for metric in metrics}
    keys = [key for key in made.keys if key.metric.startswith((*RANKED, *quality))]
    places = {Name(key.metric, key.schedule, key.component): made.keys.index(key) for key in keys}
    pairs: Ints = np.array(
        [
            (place, places[name._replace(schedule=other)])
            for name, place in places.items()
            for other in (1, 3)
            if name.schedule == 2 and name._replace(schedule=other) in places
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    if not len(pairs):
        return None
    more = made.lost[pairs[:, 0]] - made.lost[pairs[:, 1]]
    errors = (made.drawn[:, pairs[:, 0]] - made.drawn[:, pairs[:, 1]]).mean(axis=1)
    low, high = _interval(float(more.mean()), errors, level)
    numbers = (
        f"A metric on schedule 2 loses {_ends(float(more.mean()), low, high, made)} "
        f"{unit_title(made.unit)} more than itself on schedules 1 and 3, on average; it loses more in "
        f"{int((more > 0).sum())} of {len(pairs)} comparisons."
    )
    return Finding("Schedule 2 predicts less than schedules 1 and 3", judged(low, high), numbers)


def _discrimination(made: Losses, level: float) -> Finding | None:
    curves = np.array([key.metric.startswith(DISCRIMINATION) for key in made.keys])
    if not curves.any():
        return None
    first = made.first(curves)
    lost = float(made.lost[first]) / made.coin

    def ends(errors: Floats) -> tuple[float, float]:
        """Of what is kept, the ratio linearised."""
        return _interval(1.0 - lost, (lost * made.coin_drawn - errors) / made.coin, level)

    low, high = ends(made.drawn[:, first])
    low = min(low, ends(made.errors(curves))[0])
    numbers = (
        f"The best of {int(curves.sum())} keeps {share(max(1.0 - lost, 0.0))} "
        f"[{amount(100 * low, 0)}, {amount(100 * high, 0)}] of what a perfect choice earns."
    )
    return Finding("ROC.V2 hardly predicts", judged(-high, -low, -HALF), numbers)
