"""Rows of pairs.csv: two metrics against the primary target."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Scope, correlate, is_flat
from extrinsic.correlation.dependent import williams, zou_interval
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.paired_permutation import Swapped, swapped_p
from extrinsic.correlation.resampling import draw_trackers, resampled_correlations
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.stages.store import plain

Rows = list[dict[str, Any]]

SWAPS = 999
"""Enough for a p-value that no correction for many metrics is put on."""


def kept_metrics(panel: Panel, scope: Scope) -> Ints:
    """The metrics that have a correlation with the primary target at all."""
    sample = panel.sample
    if np.isnan(sample.targets[0]).any() or is_flat(sample.targets[:1], scope)[0]:
        return np.zeros(0, dtype=np.int64)
    missing = np.isnan(sample.metrics).any(axis=(1, 2))
    return np.flatnonzero(~missing & ~is_flat(np.nan_to_num(sample.metrics), scope))


def swap_metrics(
    panel: Panel, kept: Ints, scope: Scope, way: Swapped, settings: CorrelationTable, seed: int
) -> Floats:
    """(n_kept, n_kept) p-values of the differences of metrics, by swapping."""
    contributions = [part[kept] for part in panel.contributions]
    swaps = min(settings.permutations, SWAPS)
    return swapped_p(contributions, panel.sample.targets[0], scope, way, swaps, panel.identity, seed)


def pair_rows(
    panel: Panel,
    kept: Ints,
    by_trackers: Floats,
    by_both: Floats,
    scope: Scope,
    settings: CorrelationTable,
    seed: int,
) -> Rows:
    """Every two metrics, the better one first.

    n_independent: the points less what centring takes; Williams and Zou take them as independent draws.
    """
    sample, target = panel.sample, panel.targets[0]
    r = correlate(sample.metrics[kept], sample.targets[:1], "pearson", scope)[:, 0]
    among = correlate(sample.metrics[kept], sample.metrics[kept], "pearson", scope)
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, seed)
    resampled = resampled_correlations(sample, "pearson", scope, "both", drawn)[:, kept, 0]
    n = len(panel.datasets) * len(panel.trackers)
    n_independent = n - (len(panel.datasets) - 1 if scope == "within" else 0)
    order = np.argsort(-r, kind="stable").tolist()
    rows: Rows = []
    for position, a in enumerate(order):
        others = order[position + 1 :]
        differences = r[a] - r[others]
        low, high = interval(
            differences, resampled[:, [a]] - resampled[:, others], None, "percentile", settings.level
        )
        for number, b in enumerate(others):
            row = {
                "target": target,
                **_names(panel, kept, a, "a"),
                **_names(panel, kept, b, "b"),
                "scope": scope,
            }
            row |= {
                "r_a": float(r[a]),
                "r_b": float(r[b]),
                "difference": float(differences[number]),
                "low": plain(low[number]),
                "high": plain(high[number]),
                "p": float(by_trackers[a, b]),
                "p_both": float(by_both[a, b]),
            }
            rows.append(row | _closed_forms(float(r[a]), float(r[b]), float(among[a, b]), n_independent, n))
    return rows


def _names(panel: Panel, kept: Ints, metric: int, side: str) -> dict[str, Any]:
    name, schedule, component, _ = panel.metrics[kept[metric]]
    return {f"metric_{side}": name, f"schedule_{side}": schedule, f"component_{side}": component}


def _closed_forms(r_a: float, r_b: float, r_ab: float, n_independent: int, n: int) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(("williams_t", "williams_p", "zou_low", "zou_high"))
    if n_independent > 3:
        test = williams(r_a, r_b, r_ab, n_independent)
        low, high = zou_interval(r_a, r_b, r_ab, n_independent)
        found = {
            "williams_t": plain(test.t),
            "williams_p": plain(test.p),
            "zou_low": plain(low),
            "zou_high": plain(high),
        }
    return {**found, "r_ab": r_ab, "n": n, "n_independent": n_independent}
