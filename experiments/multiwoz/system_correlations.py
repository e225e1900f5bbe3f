"""The thirteen systems as points: the tool's own run, and how its result depends on the choice of dialogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from experiments.multiwoz.benchmark import PUBLISHED, ROUNDING
from experiments.multiwoz.dialog_grid import METRICS, OUTCOMES, Grid
from experiments.multiwoz.tables import BetweenSystems, Step, System, WithoutSystem, bounds, metric_rows
from experiments.runs import make_run
from extrinsic.arrays import Floats
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

SHARED, OWN, WITHOUT = "shared", "own", "without labes"
LACKING = "labes"
"""The system that lacks most dialogs."""

COEFFICIENTS: dict[str, Coefficient] = {"": "pearson", "spearman_": "spearman"}
"""By the prefix of their columns."""

KEPT = ("r", "low", "high", "jackknife_low", "jackknife_high", "p", "p_adjusted")


@dataclass(frozen=True, eq=False)
class Scores:
    """metrics (n_metrics, 1, n_systems), outcomes (n_outcomes, 1, n_systems)."""

    systems: Sequence[str]
    metrics: Floats
    outcomes: Floats

    @staticmethod
    def of_run(run: Run, systems: Sequence[str]) -> Scores:
        """On the dialogs that all systems have."""
        scores = {(row.metric, row.tracker): row.value for row in run.table("intrinsic")}
        scores |= {(row.estimator, row.tracker): row.value for row in run.table("returns")}
        metrics, outcomes = (
            np.array([[[scores[name, system] for system in systems]] for name in names])
            for names in (METRICS, OUTCOMES)
        )
        return Scores(systems, metrics, outcomes)

    @staticmethod
    def of_own_dialogs(states: Mapping[str, StateSets], grid: Grid) -> Scores:
        """Each system on all of its dialogs."""
        metrics = [parse_metric(name) for name in METRICS]
        values = [
            [row.value for row in measure(Source(None, each), metrics, [1])] for each in states.values()
        ]
        outcomes = [np.nanmean(grid[outcome], axis=1) for outcome in OUTCOMES]
        return Scores(tuple(states), np.array(values, dtype=float).T[:, None], np.array(outcomes)[:, None])


def run_tool(runs: Path) -> dict[str, Run]:
    """configs/multiwoz.toml as it is, and without the system that lacks most dialogs."""
    settings = read_study("multiwoz")
    assert settings.states is not None
    files = tuple(file for file in settings.states.files if not Path(file).name.startswith(LACKING))
    fewer = msgspec.structs.replace(
        settings,
        name=f"{settings.name}_without_{LACKING}",
        states=msgspec.structs.replace(settings.states, files=files),
    )
    return {
        dialogs: make_run(study, runs / study.name)
        for dialogs, study in ((SHARED, settings), (WITHOUT, fewer))
    }


def run_rows(run: Run, dialogs: str) -> list[BetweenSystems]:
    """Of every metric and outcome, Pearson's r and Spearman's as the run has them."""
    correlations = {
        (row.target, row.metric, row.coefficient): row
        for row in run.table("correlations")
        if row.scope == "within" and row.trackers == "all"
    }
    n_dialogs = run.table("returns")[0].n
    leads = _leads_over_jga(run)
    rows = []
    for outcome in OUTCOMES:
        for metric in METRICS:
            target = f"outcome.{outcome}"
            columns = {"systems": correlations[target, metric, "pearson"].n, "n_dialogs": n_dialogs}
            for prefix, coefficient in COEFFICIENTS.items():
                row = correlations[target, metric, coefficient]
                columns |= {prefix + name: getattr(row, name) for name in KEPT}
            keys = {"dialogs": dialogs, "outcome": outcome, "metric": metric}
            rows.append(msgspec.convert(keys | columns | leads.get((target, metric), {}), BetweenSystems))
    return rows


def _leads_over_jga(run: Run) -> dict[tuple[str, str], dict[str, float]]:
    """By target and metric: r less that of JGA; of the primary target alone, as in the run."""
    leads = {}
    for row in run.table("pairs"):
        if "jga" not in (row.metric_a, row.metric_b) or row.scope != "within" or row.trackers != "all":
            continue
        assert row.low is not None and row.high is not None
        metric, sign = (row.metric_a, 1.0) if row.metric_b == "jga" else (row.metric_b, -1.0)
        low, high = sorted((sign * row.low, sign * row.high))
        leads[row.target, metric] = {
            "minus_jga": sign * row.difference,
            "minus_jga_low": low,
            "minus_jga_high": high,
            "minus_jga_p": row.p,
        }
    adjusted = holm(np.array([lead["minus_jga_p"] for lead in leads.values()]))
    for lead, p in zip(leads.values(), adjusted, strict=True):
        lead["minus_jga_p_adjusted"] = float(p)
    return leads


def own_rows(scores: Scores, seed: int, permutations: int) -> list[BetweenSystems]:
    """As `run_rows`, without intervals of resamples: the systems have no common dialogs to draw."""
    metrics, outcomes = scores.metrics, scores.outcomes
    drawn = draw_permutations("own dialogs", len(scores.systems), permutations, seed)
    columns: dict[str, Floats] = {}
    for prefix, coefficient in COEFFICIENTS.items():
        r = correlate(metrics, outcomes, coefficient, "within")
        jackknife = jackknife_interval(r, without_each(metrics, outcomes, coefficient, "within"))
        p = permutation_p(metrics, outcomes, coefficient, "within", drawn)
        columns |= {f"{prefix}r": r, **bounds(jackknife, f"{prefix}jackknife_"), f"{prefix}p": p}
        columns[f"{prefix}p_adjusted"] = np.apply_along_axis(holm, 0, p)
    rows = []
    for j, outcome in enumerate(OUTCOMES):
        chosen = {name: values[:, j] for name, values in columns.items()}
        keys = {"dialogs": OWN, "outcome": outcome}
        rows += metric_rows(BetweenSystems, METRICS, chosen, systems=len(scores.systems), **keys)
    return rows


def left_out_rows(scores: Scores) -> list[WithoutSystem]:
    r = without_each(scores.metrics, scores.outcomes, "pearson", "within")
    rows = []
    for j, outcome in enumerate(OUTCOMES):
        columns = dict(zip(scores.systems, r[:, :, j], strict=True))
        rows += metric_rows(WithoutSystem, METRICS, columns, outcome=outcome)
    return rows


def step_rows(own: Scores, shared: Scores) -> list[Step]:
    """JGA's r from the benchmark's figures to the run's, one change after the other."""
    published = np.array([PUBLISHED[system] for system in own.systems]).T[:, None]
    ours = 100.0 * own.outcomes
    steps = [("the benchmark's figures", own, published)]
    mixed = published
    for s in np.flatnonzero(np.abs(ours - published).max(axis=(0, 1)) > ROUNDING).tolist():
        mixed = mixed.copy()
        mixed[..., s] = ours[..., s]
        steps.append((f"outcomes of {own.systems[s]} as in our table", own, mixed))
    steps.append(("all outcomes as in our table", own, ours))
    steps.append(("on the dialogs that all systems have", shared, shared.outcomes))
    jga = [METRICS.index("jga")]
    r = [correlate(scores.metrics[jga], outcomes, "pearson", "within")[0] for _, scores, outcomes in steps]
    return [Step(step, *map(float, pair)) for (step, *_), pair in zip(steps, r, strict=True)]


def score_rows(own: Scores, grid: Grid) -> list[System]:
    """Every system on its own dialogs, in percent, beside what was published of it."""
    names = (*METRICS, *OUTCOMES)
    values = 100.0 * np.concatenate([own.metrics, own.outcomes])[:, 0]
    rows = []
    for s, system in enumerate(own.systems):
        columns = dict(zip(names, values[:, s].tolist(), strict=True))
        published = {
            f"published_{name}": each for name, each in zip(OUTCOMES, PUBLISHED[system], strict=True)
        }
        keys = {"system": system, "n_dialogs": int(grid.present[s].sum())}
        rows.append(msgspec.convert(keys | columns | published, System))
    return rows
