"""Points are dialogs of systems: what metrics say of success within a system, and when difficulty is out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid
from extrinsic.arrays import Floats
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.multiple_testing import holm
from extrinsic.correlation.partial import partial_scatter, scatter_correlations
from extrinsic.correlation.two_way import (
    SPLITS,
    Split,
    TwoWaySums,
    TwoWayWeights,
    two_way_error,
    two_way_scatter,
)

Rows = list[dict[str, Any]]

WAYS = ("both", "dialogs")
"""Systems and dialogs drawn anew (Owen's pigeonhole bootstrap, 2007); or dialogs alone: these systems."""

LEFT_OUT = ("without each system", "without each dialog")


@dataclass(frozen=True, eq=False)
class Scatters:
    """Sums of products by split: as observed (1, k, k), and by way on every resample (n, k, k).

    Ways: those of WAYS, and leaving out each system and each dialog (LEFT_OUT).
    """

    names: tuple[str, ...]
    observed: dict[Split, Floats]
    resampled: dict[str, dict[Split, Floats]]

    def at(self, names: Sequence[str]) -> list[int]:
        return [self.names.index(name) for name in names]

    def r(
        self,
        split: Split,
        way: str | None,
        rows: Sequence[str],
        columns: Sequence[str],
        given: Sequence[str] = (),
    ) -> Floats:
        """(n, rows, columns): on resamples drawn in some way, without each of something, or as observed."""
        scatter = self.observed[split] if way is None else self.resampled[way][split]
        if given:
            scatter = partial_scatter(scatter, self.at(given))
        return scatter_correlations(scatter, self.at(rows), self.at(columns))


def scatters_of(grid: Grid, resamples: TwoWayWeights, names: Sequence[str]) -> Scatters:
    sums = TwoWaySums.of(grid.values[[grid.at(name) for name in names]], grid.present)
    size = len(grid.systems), len(grid.dialogs)
    weights = {
        "both": resamples,
        "dialogs": resamples.dialogs_alone(),
        "without each system": TwoWayWeights.without_each_system(*size),
        "without each dialog": TwoWayWeights.without_each_dialog(*size),
    }
    # Only metrics and outcomes are compared in every way; of much else, one is enough and fits in memory.
    chosen = weights if set(names) == {*METRICS, *OUTCOMES} else ("both",)
    return Scatters(
        tuple(names),
        two_way_scatter(sums, TwoWayWeights.observed(*size)),
        {way: two_way_scatter(sums, weights[way]) for way in chosen},
    )


def rows_of_splits(found: Scatters, p: dict[tuple[str, str], tuple[Floats, Floats]]) -> Rows:
    """r of every metric in every split, with intervals; p: by (split, outcome), plain and Holm's.

    first: share of resamples in which it is the highest. minus_jga, minus_first: differences on the same
    resamples; minus_jga_p_adjusted: twice the share of them on the other side of 0, Holm's over metrics.
    """
    rows: Rows = []
    for outcome in OUTCOMES:
        for split in SPLITS:
            r = found.r(split, None, METRICS, [outcome])[0, :, 0]
            drawn = {way: found.r(split, way, METRICS, [outcome])[:, :, 0] for way in WAYS}
            ends = {way: interval(r, drawn[way]) for way in WAYS}
            highest = np.bincount(drawn["both"].argmax(axis=1), minlength=len(METRICS)) / len(drawn["both"])
            against = {"jga": METRICS.index("jga"), "first": int(r.argmax())}
            left_out = [found.r(split, way, METRICS, [outcome])[:, :, 0] for way in LEFT_OUT]
            error = two_way_error(left_out)
            apart = r - r[against["jga"]]
            error_apart = two_way_error([part - part[:, [against["jga"]]] for part in left_out])
            reach = stdtrit(len(left_out[0]) - 1, 0.975)
            by_error = apart_by_error(apart, error_apart, len(left_out[0]) - 1)
            told_apart = {way: apart_from(drawn[way], against["jga"]) for way in WAYS}
            for i, metric in enumerate(METRICS):
                row: dict[str, Any] = {"outcome": outcome, "split": split, "metric": metric, "r": float(r[i])}
                row |= {"low": float(ends["both"][0][i]), "high": float(ends["both"][1][i])}
                row |= {"dialogs_low": float(ends["dialogs"][0][i])}
                row |= {"dialogs_high": float(ends["dialogs"][1][i]), "first": float(highest[i])}
                for name, j in against.items():
                    row |= _difference(f"minus_{name}", r[i] - r[j], drawn, i, j)
                row |= _around("jackknife", r[i], reach * error[i])
                row |= _around("minus_jga_jackknife", apart[i], reach * error_apart[i])
                if metric != "jga":
                    row |= {"minus_jga_p_adjusted": float(told_apart["both"][i])}
                    row |= {"minus_jga_dialogs_p_adjusted": float(told_apart["dialogs"][i])}
                    row |= {"minus_jga_jackknife_p_adjusted": float(by_error[i])}
                if (split, outcome) in p:
                    plain, adjusted = p[split, outcome]
                    row |= {"p": float(plain[i]), "p_adjusted": float(adjusted[i])}
                rows.append(row)
    return rows


def apart_by_error(differences: Floats, errors: Floats, degrees: int) -> Floats:
    """(n_metrics,) Holm's p of differences by Student's t; NaN where there is no error (one with itself)."""
    t = np.divide(differences, errors, out=np.full_like(differences, np.nan), where=errors > 0.0)
    return holm(2.0 * stdtr(degrees, -np.abs(t)))


def _around(name: str, centre: float, half: float) -> dict[str, float]:
    return {f"{name}_low": float(centre - half), f"{name}_high": float(centre + half)}


def apart_from(drawn: Floats, one: int) -> Floats:
    """(n_metrics,) Holm's p that a metric's r (n, n_metrics) differs from that of one of them; NaN for it."""
    differences = drawn - drawn[:, [one]]
    fewer = np.minimum((differences <= 0.0).sum(axis=0), (differences >= 0.0).sum(axis=0))
    p = np.minimum(2.0 * (fewer + 1.0) / (len(drawn) + 1.0), 1.0)
    p[one] = np.nan
    return holm(p)


def _difference(name: str, observed: float, drawn: dict[str, Floats], i: int, j: int) -> dict[str, float]:
    row = {name: float(observed)}
    for way, prefix in (("both", ""), ("dialogs", "dialogs_")):
        low, high = interval(np.array(observed), drawn[way][:, i] - drawn[way][:, j])
        row |= {f"{name}_{prefix}low": float(low), f"{name}_{prefix}high": float(high)}
    return row


def rows_by_system(grid: Grid) -> Rows:
    """r of every metric over the dialogs of one system."""
    rows: Rows = []
    for outcome in OUTCOMES:
        for s, system in enumerate(grid.systems):
            there = grid.present[s]
            goal = grid.of(outcome)[s, there]
            row: dict[str, Any] = {"outcome": outcome, "system": system}
            for metric in METRICS:
                row[metric] = float(np.corrcoef(grid.of(metric)[s, there], goal)[0, 1])
            rows.append(row)
    return rows
