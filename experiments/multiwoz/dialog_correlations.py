"""Dialogs of systems as points: r of metrics with success within a system, and with difficulty taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from scipy.special import stdtr, stdtrit

from experiments.multiwoz.dialog_grid import (
    DIFFICULTY,
    LAST_TURN,
    METRICS,
    OTHERS,
    OUTCOMES,
    PART_METRICS,
    SLOT_PARTS,
    TURN_METRICS,
    Grid,
)
from experiments.multiwoz.tables import (
    Control,
    DialogCorrelation,
    LastTurn,
    Predictor,
    SystemCorrelation,
    bounds,
    metric_rows,
)
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.dialog_level import BOTH, DIALOGS, Scatters
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.multiple_testing import SAME, holm
from extrinsic.correlation.partial import partial_scatter
from extrinsic.correlation.resampling import rng_of
from extrinsic.correlation.two_way import (
    SPLITS,
    Split,
    TwoWayWeights,
    centre,
    two_way_error,
)

JGA = METRICS.index("jga")
LEFT_OUT = ("without each system", "without each dialog")
COMPARED: tuple[Split, ...] = ("within", "both")


def all_weights(grid: Grid, resamples: TwoWayWeights) -> dict[str, TwoWayWeights]:
    """Every way of resampling, and of leaving out."""
    size = len(grid.systems), len(grid.dialogs)
    without = TwoWayWeights.without_each_system(*size), TwoWayWeights.without_each_dialog(*size)
    return {BOTH: resamples, DIALOGS: resamples.dialogs_alone(), **dict(zip(LEFT_OUT, without, strict=True))}


def grid_scatters(grid: Grid, names: Sequence[str], weights: Mapping[str, TwoWayWeights]) -> Scatters:
    return Scatters.of_values(np.array([grid[name] for name in names]), grid.present, names, weights)


def multiple(scatters: Scatters, split: Split, predictors: Sequence[str], outcome: str) -> Estimate:
    """(1,) the multiple correlation, in sample."""
    at, given = scatters.at([outcome]), scatters.at(predictors)

    def multiple_r(scatter: Floats) -> Floats:
        left = partial_scatter(scatter, given, kept=at)[..., 0] / scatter[..., at, at]
        return np.asarray(np.sqrt(np.maximum(1.0 - left, 0.0)))

    return Estimate(multiple_r(scatters.observed[split]), multiple_r(scatters.weighted[BOTH][split]))


def split_rows(scatters: Scatters, p_values: Mapping[tuple[Split, str], Floats]) -> list[DialogCorrelation]:
    """p_values (n_metrics,) by split and outcome: where outcomes of dialogs were permuted."""
    rows = []
    for outcome in OUTCOMES:
        for split in SPLITS:
            r, r_dialogs = (scatters.estimate(split, METRICS, outcome, way=way) for way in (BOTH, DIALOGS))
            winners = np.bincount(r.resampled.argmax(axis=1), minlength=len(METRICS))
            columns = {"r": r.value, "first": winners / len(r.resampled), **bounds(r.interval())}
            columns |= bounds(r_dialogs.interval(), "dialogs_")
            for name, reference in (("minus_jga", JGA), ("minus_first", int(r.value.argmax()))):
                lead, lead_dialogs = (each.minus(each.take([reference])) for each in (r, r_dialogs))
                columns |= {name: lead.value, **bounds(lead.interval(), f"{name}_")}
                columns |= bounds(lead_dialogs.interval(), f"{name}_dialogs_")
            left_out = [scatters.r(scatters.weighted[way][split], METRICS, outcome) for way in LEFT_OUT]
            lead_left_out = [each - each[:, [JGA]] for each in left_out]
            degrees = len(left_out[0]) - 1
            columns |= bounds(error_interval(r.value, two_way_error(left_out), degrees), "jackknife_")
            lead_error, lead_value = two_way_error(lead_left_out), columns["minus_jga"]
            columns |= bounds(error_interval(lead_value, lead_error, degrees), "minus_jga_jackknife_")
            columns |= {
                "minus_jga_p_adjusted": resampled_p(r.resampled, JGA),
                "minus_jga_dialogs_p_adjusted": resampled_p(r_dialogs.resampled, JGA),
                "minus_jga_jackknife_p_adjusted": error_p(lead_value, lead_error, degrees),
            }
            if (split, outcome) in p_values:
                p = p_values[split, outcome]
                columns |= {"p": p, "p_adjusted": holm(p)}
            rows += metric_rows(DialogCorrelation, METRICS, columns, outcome=outcome, split=split)
    return rows


def error_interval(values: Floats, errors: Floats, degrees: int) -> tuple[Floats, Floats]:
    """95 %, by Student's t."""
    half = stdtrit(degrees, 0.975) * errors
    return values - half, values + half


def error_p(differences: Floats, errors: Floats, degrees: int) -> Floats:
    """(n_metrics,) Holm's p by Student's t; NaN where there is no error (a metric less itself)."""
    t = np.divide(differences, errors, out=np.full_like(differences, np.nan), where=errors > 0.0)
    return holm(2.0 * stdtr(degrees, -np.abs(t)))


def resampled_p(resampled: Floats, reference: int) -> Floats:
    """(n_metrics,) Holm's p that r (n, n_metrics) differs from that of one metric, which has NaN."""
    leads = resampled - resampled[:, [reference]]
    fewer = np.minimum((leads <= 0.0).sum(axis=0), (leads >= 0.0).sum(axis=0))
    p = np.minimum(2.0 * (fewer + 1.0) / (len(leads) + 1.0), 1.0)
    p[reference] = np.nan
    return holm(p)


def permutation_tests(grid: Grid, n: int, seed: int) -> dict[tuple[Split, str], Floats]:
    """By split and outcome, (n_metrics,) two-sided p: outcomes of dialogs permuted, for all systems alike.

    A dialog that is hard for one system is hard for others; permuting whole dialogs leaves that as it is.
    Only dialogs that all systems have can be exchanged.
    """
    shared = grid.present.all(axis=0)
    dialogs = [grid.dialogs[i] for i in np.flatnonzero(shared)]
    rng = rng_of("permuted dialogs", " ".join(dialogs), seed)
    size = len(dialogs)
    orders = np.array([np.arange(size), *(rng.permutation(size) for _ in range(n))])
    p_values = {}
    for split in COMPARED:
        for outcome in OUTCOMES:
            goal = centre(grid[outcome][:, shared], split)
            r = [np.abs(permuted(centre(grid[name][:, shared], split), goal, orders)) for name in METRICS]
            p_values[split, outcome] = np.array([((x[1:] >= x[0] - SAME).sum() + 1.0) / (n + 1.0) for x in r])
    return p_values


def permuted(metric: Floats, outcome: Floats, orders: Ints) -> Floats:
    """(n,) correlations of centred values (n_systems, n_dialogs) with dialogs' outcomes in each order."""
    products = metric.T @ outcome
    dialogs = np.arange(metric.shape[1])
    sums = np.array([products[dialogs, order].sum() for order in orders])
    return np.asarray(sums / np.sqrt((metric**2).sum() * (outcome**2).sum()))


def system_rows(grid: Grid) -> list[SystemCorrelation]:
    rows = []
    for outcome in OUTCOMES:
        pairs = {metric: grid.pairs(metric, outcome) for metric in METRICS}
        for s, system in enumerate(grid.systems):
            columns = {metric: float(np.corrcoef(*pairs[metric][s])[0, 1]) for metric in METRICS}
            rows.append(msgspec.convert({"outcome": outcome, "system": system, **columns}, SystemCorrelation))
    return rows


def control_rows(scatters: Scatters) -> list[Control]:
    rows = []
    for outcome in OUTCOMES:
        columns = {"r": scatters.estimate("within", METRICS, outcome).value}
        held = {"difficulty": DIFFICULTY, "others": (*DIFFICULTY, OTHERS + outcome)}
        for name, given in held.items():
            r = scatters.estimate("within", METRICS, outcome, given)
            lead = r.minus(r.take([JGA]))
            columns |= {name: r.value, **bounds(r.interval(), f"{name}_")}
            columns |= {f"{name}_minus_jga": lead.value, **bounds(lead.interval(), f"{name}_minus_jga_")}
        rows += metric_rows(Control, METRICS, columns, outcome=outcome)
    return rows


def last_turn_rows(scatters: Scatters) -> list[LastTurn]:
    rows = []
    for outcome in OUTCOMES:
        columns: dict[str, Floats] = {}
        for split in COMPARED:
            every = scatters.estimate(split, TURN_METRICS, outcome)
            last = scatters.estimate(split, [LAST_TURN + name for name in TURN_METRICS], outcome)
            difference = last.minus(every)
            columns |= {f"{split}_all": every.value, f"{split}_last": last.value}
            columns |= {f"{split}_difference": difference.value, **bounds(difference.interval(), f"{split}_")}
        rows += metric_rows(LastTurn, TURN_METRICS, columns, outcome=outcome)
    return rows


def predictor_rows(scatters: Scatters) -> list[Predictor]:
    """Slots that are searched or not, other systems, difficulty, all metrics."""
    rows = []
    for outcome in OUTCOMES:
        estimates: dict[str, dict[Split, Estimate]] = {}
        for name in (part + metric for part in SLOT_PARTS for metric in PART_METRICS):
            estimates[name] = {split: scatters.estimate(split, [name], outcome) for split in COMPARED}
        # Once dialogs are centred, the others' outcome is this one's by construction.
        estimates[OTHERS + outcome] = {"within": scatters.estimate("within", [OTHERS + outcome], outcome)}
        for name, given in (("domains, gold slots and turns", DIFFICULTY), ("all metrics", METRICS)):
            estimates[name] = {"within": multiple(scatters, "within", given, outcome)}
        for name, by_split in estimates.items():
            columns: dict[str, Floats] = {}
            for split, r in by_split.items():
                columns |= {split: r.value, **bounds(r.interval(), f"{split}_")}
            cells = {column: values.item() for column, values in columns.items()}
            rows.append(msgspec.convert({"outcome": outcome, "predictor": name, **cells}, Predictor))
    return rows
