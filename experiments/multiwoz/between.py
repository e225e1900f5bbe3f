"""The thirteen systems as points: what the tool itself says, and what the choice of dialogs does to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid
from experiments.multiwoz.published import BENCHMARK, ROUNDING
from experiments.runs import make_run
from extrinsic.arrays import Floats
from extrinsic.cli.run import find_config
from extrinsic.corpus.state_sets import StateSets
from extrinsic.correlation.coefficients import Coefficient, correlate
from extrinsic.correlation.influence import without_each
from extrinsic.correlation.intervals import jackknife_interval
from extrinsic.correlation.multiple_testing import holm
from extrinsic.correlation.permutation import draw_permutations, permutation_p
from extrinsic.metrics.measuring import measure
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.sources import Source
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run

Rows = list[dict[str, Any]]

SHARED, OWN, WITHOUT = "shared", "own", "without labes"
LACKING = "labes"
"""The system that lacks most dialogs."""

KEPT = ("r", "low", "high", "jackknife_low", "jackknife_high", "p", "p_adjusted")


def run_tool(runs: Path) -> dict[str, Run]:
    """configs/multiwoz.toml as it is, and without the system that lacks most dialogs."""
    settings = read_study(find_config("multiwoz"))
    assert settings.states is not None
    files = tuple(file for file in settings.states.files if not Path(file).name.startswith(LACKING))
    fewer = msgspec.structs.replace(
        settings,
        name=f"{settings.name}_without_{LACKING}",
        states=msgspec.structs.replace(settings.states, files=files),
    )
    return {dialogs: make_run(of, runs / of.name) for dialogs, of in ((SHARED, settings), (WITHOUT, fewer))}


def rows_of_run(run: Run, dialogs: str) -> Rows:
    """Of every metric and outcome, Pearson's r and Spearman's as the run has them."""
    table = {
        (row.target, row.metric, row.coefficient): row
        for row in run.table("correlations")
        if row.scope == "within" and row.trackers == "all"
    }
    returns = run.table("returns")
    above = _above_jga(run)
    rows: Rows = []
    for outcome in OUTCOMES:
        for metric in METRICS:
            place: dict[str, Any] = {"dialogs": dialogs, "outcome": outcome, "metric": metric}
            pearson, spearman = (
                table[f"outcome.{outcome}", metric, name] for name in ("pearson", "spearman")
            )
            place |= {"systems": pearson.n, "n_dialogs": returns[0].n}
            place |= {key: getattr(pearson, key) for key in KEPT}
            place |= {f"spearman_{key}": getattr(spearman, key) for key in KEPT}
            rows.append(place | above.get((f"outcome.{outcome}", metric), {}))
    return rows


def _above_jga(run: Run) -> dict[tuple[str, str], dict[str, float]]:
    """By (target, metric): how much more than JGA; of the primary target alone, as in the run."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in run.table("pairs"):
        names = row.metric_a, row.metric_b
        if "jga" in names and row.scope == "within" and row.trackers == "all":
            low, high = (np.nan if end is None else end for end in (row.low, row.high))
            first = (row.difference, low, high) if names[1] == "jga" else (-row.difference, -high, -low)
            found[row.target, names[0] if names[1] == "jga" else names[1]] = {
                "minus_jga": first[0],
                "minus_jga_low": first[1],
                "minus_jga_high": first[2],
                "minus_jga_p": row.p,
            }
    for target in {target for target, _ in found}:
        mine = [key for key in found if key[0] == target]
        adjusted = holm(np.array([found[key]["minus_jga_p"] for key in mine]))
        for key, p in zip(mine, adjusted, strict=True):
            found[key]["minus_jga_p_adjusted"] = float(p)
    return found


def values_of_run(run: Run, systems: tuple[str, ...]) -> tuple[Floats, Floats]:
    """(n_metrics, 1, n_systems) and (n_outcomes, 1, n_systems)."""
    intrinsic = {(row.metric, row.tracker): row.value for row in run.table("intrinsic")}
    came = {(row.estimator, row.tracker): row.value for row in run.table("returns")}
    metrics = np.array([[[intrinsic[metric, system] for system in systems]] for metric in METRICS])
    return metrics, np.array([[[came[outcome, system] for system in systems]] for outcome in OUTCOMES])


def values_of_own(states: Mapping[str, StateSets], grid: Grid) -> tuple[Floats, Floats]:
    """The same with each system on all of its dialogs."""
    metrics = [parse_metric(name) for name in METRICS]
    values = [[row.value for row in measure(Source(None, of), metrics, [1])] for of in states.values()]
    came = [np.nanmean(grid.of(outcome), axis=1) for outcome in OUTCOMES]
    return np.array(values, dtype=np.float64).T[:, None], np.array(came)[:, None]


def rows_of_own(metrics: Floats, came: Floats, seed: int, permutations: int) -> Rows:
    """As `rows_of_run`, without intervals of resamples: the systems have no common dialogs to draw."""
    found: dict[str, dict[str, Floats]] = {}
    drawn = draw_permutations("own dialogs", came.shape[-1], permutations, seed)
    coefficients: dict[str, Coefficient] = {"": "pearson", "spearman_": "spearman"}
    for prefix, coefficient in coefficients.items():
        r = correlate(metrics, came, coefficient, "within")
        low, high = jackknife_interval(r, without_each(metrics, came, coefficient, "within"))
        p = permutation_p(metrics, came, coefficient, "within", drawn)
        adjusted = np.stack([holm(p[:, column]) for column in range(p.shape[1])], axis=1)
        of = {"r": r, "jackknife_low": low, "jackknife_high": high, "p": p, "p_adjusted": adjusted}
        found[prefix] = of
    return [
        {"dialogs": OWN, "outcome": outcome, "metric": metric, "systems": came.shape[-1]}
        | {f"{prefix}{key}": float(of[key][i, j]) for prefix, of in found.items() for key in of}
        for j, outcome in enumerate(OUTCOMES)
        for i, metric in enumerate(METRICS)
    ]


def rows_left_out(metrics: Floats, came: Floats, systems: tuple[str, ...]) -> Rows:
    """Pearson's r without each of the systems."""
    left_out = without_each(metrics, came, "pearson", "within")
    return [
        {"outcome": outcome, "metric": metric}
        | {system: float(left_out[s, i, j]) for s, system in enumerate(systems)}
        for j, outcome in enumerate(OUTCOMES)
        for i, metric in enumerate(METRICS)
    ]


def rows_of_steps(
    own: tuple[Floats, Floats], shared: tuple[Floats, Floats], systems: tuple[str, ...]
) -> Rows:
    """JGA's r from the benchmark's figures to the run's, one change after the other."""
    jga = METRICS.index("jga")
    published = np.array(
        [[BENCHMARK[system][OUTCOMES[::-1].index(o)] for system in systems] for o in OUTCOMES]
    )
    ours = 100.0 * own[1][:, 0]
    differ = [s for s in range(len(systems)) if np.abs(ours - published)[:, s].max() > ROUNDING]
    rows: Rows = [_step("the benchmark's figures", own[0][jga, 0], published)]
    mixed = published.copy()
    for s in differ:
        mixed[:, s] = ours[:, s]
        rows.append(_step(f"outcomes of {systems[s]} as in our table", own[0][jga, 0], mixed))
    rows.append(_step("all outcomes as in our table", own[0][jga, 0], ours))
    rows.append(_step("on the dialogs that all systems have", shared[0][jga, 0], shared[1][:, 0]))
    return rows


def _step(step: str, jga: Floats, came: Floats) -> dict[str, Any]:
    r = correlate(jga[None, None], came[:, None], "pearson", "within")[0]
    return {"step": step} | {outcome: float(r[j]) for j, outcome in enumerate(OUTCOMES)}


def rows_of_systems(own: tuple[Floats, Floats], grid: Grid) -> Rows:
    """Every system on its own dialogs, in percent, beside what was published of it."""
    rows: Rows = []
    for s, system in enumerate(grid.systems):
        row: dict[str, Any] = {"system": system, "n_dialogs": int(grid.present[s].sum())}
        row |= {metric: 100.0 * float(own[0][i, 0, s]) for i, metric in enumerate(METRICS)}
        row |= {outcome: 100.0 * float(own[1][j, 0, s]) for j, outcome in enumerate(OUTCOMES)}
        inform, success = BENCHMARK[system]
        rows.append(row | {"published_success": success, "published_inform": inform})
    return rows
