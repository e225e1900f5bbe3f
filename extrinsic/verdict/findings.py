"""Lee's three findings (2014), each as what choices by metrics lose.

1. Metrics of score quality come first: AvgP, and L2. The challenge's L2 and Lee's own, over all hypotheses,
   are two metrics, and the finding is judged by each. MRR is one of the others: it measures "the quality of
   rank instead of score".
2. Schedule 2 predicts less than schedules 1 and 3.
3. ROC.V2, which measures discrimination alone, hardly predicts.

Intervals are basic bootstrap intervals over systems (Davison and Hinkley 1997). Which metric stands for a
group is chosen anew in every resample, so that a contrast found in the data is not tested as if it had been
named before. A loss is resampled by its projection on systems: lost + 2 (weighted mean - mean) of what each
system's pairs lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.panel import MetricKey, Panel, item_weights
from extrinsic.verdict.choices import pair_sums
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
    """What choices by each metric lose (M,), resampled (n, M), and a coin's loss, resampled (n,)."""

    keys: Sequence[MetricKey]
    lost: Floats
    drawn: Floats
    coin: float
    coin_drawn: Floats
    unit: str

    def among(self, chosen: Bools) -> tuple[int, Floats]:
        """The best of some metrics, and what the best of them loses in every resample."""
        places = np.flatnonzero(chosen)
        return int(places[np.argmin(self.lost[places])]), self.drawn[:, places].min(axis=1)

    def shown(self, m: int) -> str:
        key = self.keys[m]
        title = Name(key.metric, key.schedule, key.component).title()
        return f"{title} loses {in_unit(float(self.lost[m]), self.unit)}"


def panel_findings(panel: Panel, core: Sequence[str], target: int, seed: int) -> list[Finding]:
    """By one target of a panel, over its core systems."""
    variant = panel.targets[target].variant
    points = points_of(panel, variant, CORE, core, averaged=False)
    values = points.targets[points.target_keys.index(panel.targets[target])]
    return findings(
        points.metric_keys, points.metrics, values, panel.targets[target].unit, points.identity, seed
    )


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
    losses = _losses([keys[m] for m in whole], scores[whole], values, unit, identity, seed)
    if not losses.coin > 0.0:
        return []
    made = [*_score_quality(losses, level), _schedules(losses, level), _discrimination(losses, level)]
    return [finding for finding in made if finding is not None]


def _losses(
    keys: Sequence[MetricKey], scores: Floats, values: Floats, unit: str, identity: str, seed: int
) -> Losses:
    sums, n = pair_sums(scores, values), values.shape[1]
    # (M, S) and (S,): of every system the mean over its pairs, and over datasets.
    possible = (sums.possible / sums.partners)[0].mean(axis=0)
    lost = (possible - (sums.earned / sums.partners).mean(axis=1)).astype(np.float64)
    apart = 2.0 * (item_weights(f"findings {identity}", n, DRAWS, seed) - 1.0) / n
    mean, coin = lost.mean(axis=1), float(possible.mean())
    return Losses(keys, mean, mean + apart @ lost.T, coin, coin + apart @ possible, unit)


def _interval(value: float, drawn: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return 2.0 * value - float(high), 2.0 * value - float(low)


def judged(low: float, high: float, above: float = 0.0) -> Judgement:
    """Whether an interval lies above a number, below it, or on both sides."""
    if low > above:
        return "holds"
    return "does not hold" if high < above else "not resolved"


def _score_quality(losses: Losses, level: float) -> Iterator[Finding]:
    """The best of score quality against the best of the others, at any schedule and component."""
    others = np.array([key.metric.startswith(RANKED) for key in losses.keys])
    for which, metrics in QUALITY.items():
        quality = np.array([key.metric in metrics for key in losses.keys])
        if not others.any() or not {key.metric for key in losses.keys} >= set(metrics):
            continue
        (first, drawn), (other, others_drawn) = losses.among(quality), losses.among(others)
        less = float(losses.lost[other] - losses.lost[first])
        low, high = _interval(less, others_drawn - drawn, level)
        numbers = (
            f"{losses.shown(first)}, the best of the others, {losses.shown(other)}: "
            f"{_ends(less, low, high, losses)} {unit_title(losses.unit)} less, of "
            f"{in_unit(losses.coin, losses.unit)} that a coin loses."
        )
        yield Finding(f"Metrics of score quality (AvgP, {which}) come first", judged(low, high), numbers)


def _ends(value: float, low: float, high: float, losses: Losses) -> str:
    low_text, high_text = (in_unit(end, losses.unit) for end in (low, high))
    return f"{in_unit(value, losses.unit)} [{low_text}, {high_text}]"


def _schedules(losses: Losses, level: float) -> Finding | None:
    """Every metric on schedule 2 against itself on schedules 1 and 3."""
    quality = {metric for metrics in QUALITY.values() for metric in metrics}
    keys = [key for key in losses.keys if key.metric.startswith((*RANKED, *quality))]
    places = {Name(key.metric, key.schedule, key.component): losses.keys.index(key) for key in keys}
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
    more = losses.lost[pairs[:, 0]] - losses.lost[pairs[:, 1]]
    drawn = (losses.drawn[:, pairs[:, 0]] - losses.drawn[:, pairs[:, 1]]).mean(axis=1)
    low, high = _interval(float(more.mean()), drawn, level)
    numbers = (
        f"A metric on schedule 2 loses {_ends(float(more.mean()), low, high, losses)} "
        f"{unit_title(losses.unit)} more than itself on schedules 1 and 3, on average; it loses more in "
        f"{int((more > 0).sum())} of {len(pairs)} comparisons."
    )
    return Finding("Schedule 2 predicts less than schedules 1 and 3", judged(low, high), numbers)


def _discrimination(losses: Losses, level: float) -> Finding | None:
    curves = np.array([key.metric.startswith(DISCRIMINATION) for key in losses.keys])
    if not curves.any():
        return None
    first, drawn = losses.among(curves)
    kept = 1.0 - float(losses.lost[first]) / losses.coin
    # Where a resample leaves nothing to choose between, nothing is kept.
    ratio = np.divide(drawn, losses.coin_drawn, out=np.ones_like(drawn), where=losses.coin_drawn > 0.0)
    low, high = _interval(kept, 1.0 - ratio, level)
    numbers = (
        f"The best of {int(curves.sum())} keeps {share(max(kept, 0.0))} "
        f"[{amount(100 * low, 0)}, {amount(100 * high, 0)}] of what a perfect choice earns."
    )
    return Finding("ROC.V2 hardly predicts", judged(-high, -low, -HALF), numbers)
