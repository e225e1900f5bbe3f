"""Lee's figure 3: how every metric goes with the return of the learned policy, and what that owes to whom."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from experiments.lee2014.judging import Where, returns_of
from experiments.lee2014.points import Points
from experiments.lee2014.relating import Related, bounds, relate
from experiments.lee2014.runs import LEE, STATES, filled
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import correlate
from extrinsic.report.results.naming import Name

Rows = list[dict[str, Any]]


def shown_metrics(points: Points, fill: str) -> list[int]:
    """Lee's, and those of state sets that are filled by the same rule as the reward."""
    states = {filled(metric, fill) for metric in STATES}
    return [i for i, name in enumerate(points.names) if name.metric in LEE or name.metric in states]


def correlation_rows(points: Points, where: Where) -> Rows:
    """A row for every metric, the best first.

    r: mean over seeds, with their lowest and highest, and an interval over trackers drawn for all seeds at
    once. of_means: r where metric and return are averaged over seeds first; core: the same of core trackers.
    pooled: mean over seeds of r over all points as they are, which is what Lee computed.
    """
    places = shown_metrics(points, where.fill)
    names = [points.names[i] for i in places]
    target = returns_of(points, where, "rl")
    every = points.chosen("all")
    by_seed = _by_seed(points, where, places, every)
    known = set.intersection(*(set(one.names) for one in by_seed))
    pooled = np.stack(
        [
            correlate(points.metrics[places, seed], target[seed, None], "pearson", "pooled")[:, 0]
            for seed in range(len(points.seeds))
        ]
    )
    of_means = {group: _of_means(points, where, places, points.chosen(group)) for group in ("all", "core")}
    rows: Rows = []
    for number, name in enumerate(names):
        row: dict[str, Any] = {"fill": where.fill, "target": where.estimator, **name._asdict()}
        if name not in known:
            rows.append(row)
            continue
        r = np.array([one.r[one.names.index(name)] for one in by_seed])
        drawn = np.mean([one.drawn[:, one.names.index(name)] for one in by_seed], axis=0)
        low, high = bounds(r.mean(), drawn)
        row |= {
            "r": float(r.mean()),
            "lowest_seed": float(r.min()),
            "highest_seed": float(r.max()),
            "low": float(low),
            "high": float(high),
            "of_means": of_means["all"].get(name),
            "core": of_means["core"].get(name),
            "pooled": float(pooled[:, number].mean()),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: -row.get("r", -2.0))


def _by_seed(points: Points, where: Where, places: list[int], trackers: Ints) -> list[Related]:
    """The same trackers are drawn for every seed."""
    names, target = [points.names[i] for i in places], returns_of(points, where, "rl")
    identity = " ".join(points.trackers[i] for i in trackers)
    return [
        relate(
            names,
            points.metrics[places, seed][..., trackers],
            target[seed][:, trackers],
            identity,
            where.scope,
            swaps=0,
        )
        for seed in range(len(points.seeds))
    ]


def _of_means(points: Points, where: Where, places: list[int], trackers: Ints) -> dict[Name, float]:
    metrics = points.metrics[places][..., trackers].mean(axis=1)
    target = returns_of(points, where, "rl")[..., trackers].mean(axis=0)
    r = correlate(metrics, target[None], "pearson", where.scope)[:, 0]
    return {points.names[i]: float(value) for i, value in zip(places, r, strict=True)}


def spread_row(points: Points, where: Where, group: str) -> dict[str, Any]:
    """Of r with Lee's metrics: what seeds (dialogs and callers) and what trackers contribute to its spread.

    by_seeds, by_trackers: standard deviations, medians over metrics. seeds_share: median share of the
    variance of a study of one seed. attenuation: how much r gains by averaging over seeds first.
    reliability: correlation of the return itself between two seeds, within datasets.
    """
    trackers = points.chosen(group)
    places = [i for i, name in enumerate(points.names) if name.metric in LEE]
    by_seed = _by_seed(points, where, places, trackers)
    known = [points.names[i] for i in places if all(points.names[i] in one.names for one in by_seed)]
    r = np.array([[one.r[one.names.index(name)] for name in known] for one in by_seed])
    drawn = np.mean([one.drawn[:, [one.names.index(name) for name in known]] for one in by_seed], axis=0)
    of_seeds, of_trackers = r.var(axis=0, ddof=1), drawn.var(axis=0, ddof=1)
    of_means = _of_means(points, where, places, trackers)
    return {
        "fill": where.fill,
        "target": where.estimator,
        "trackers": group,
        "metrics": len(known),
        "by_seeds": float(np.median(np.sqrt(of_seeds))),
        "by_trackers": float(np.median(np.sqrt(of_trackers))),
        "seeds_share": float(np.median(of_seeds / (of_seeds + of_trackers))),
        "attenuation": float(np.median([of_means[name] for name in known] - r.mean(axis=0))),
        "reliability": reliability(returns_of(points, where, "rl")[..., trackers]),
    }


def reliability(values: Floats) -> float:
    """(n_seeds, n_datasets, n_trackers) -> the mean correlation, within datasets, of each two seeds."""
    between = correlate(values, values, "pearson", "within")
    pairs = list(combinations(range(len(values)), 2))
    return float(np.mean([between[i, j] for i, j in pairs]))
