"""The tool's runs of several seeds, and the tool's own statistics of their means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from extrinsic.correlation.resampling import Sample
from extrinsic.study.correlation_stage import best_set_rows
from extrinsic.study.metric_pairs import pair_rows, swap_metrics
from extrinsic.study.predictions import decided_rows
from extrinsic.study.resampled_points import ResampledPoints

from experiments.lee2014.tables import (
    FILLS,
    GROUPS,
    LEE,
    METRICS,
    RETURNS,
    STATES,
    Correlation,
    Decided,
    MetricValues,
    Name,
    PolicyGain,
    ReturnValues,
    Verdict,
    filled,
    is_higher_better,
)
from experiments.runs import make_run
from extrinsic.arrays import Floats, Ints
from extrinsic.panel import MetricKey, Target
from extrinsic.study.run import Run
from extrinsic.study.settings import CorrelationTable, StudySettings
from extrinsic.study.settings_file import read_study
from extrinsic.tables import plain, read_rows
from extrinsic.verdict.correlations import Points as Correlated
from extrinsic.verdict.correlations import correlation_rows, defined_metrics, interval_of_one
from extrinsic.verdict.findings import Finding, findings
from extrinsic.verdict.rows import CorrelationRow

CONFIG = Path(__file__).parents[2] / "configs" / "lee2014.toml"

SEEDS = (541, 542, 543)
"""Never used for anything else, and written down before the run; built on 11 and 12."""

CHANGES = (
    "sensitivity={}",
    "value.on_policy=false",
    'policy.policies=["rl", "sl", "expert"]',
    'value.estimators=["live", "lstd"]',
    'correlation.coefficients=["pearson"]',
    "correlation.permutations=199",
    "correlation.resamples=300",
    "correlation.subsets=1",
)
"""What is left out of the study for the sake of time: nothing that is reported here."""

SETTINGS = CorrelationTable(coefficients=("pearson",), resamples=1000, permutations=999)
FEW = msgspec.structs.replace(SETTINGS, resamples=100)
"""Where intervals by resampled trackers, which are not shown here, are computed with the rest."""

SEED = 14
"""Of draws of trackers and of swaps."""

GAINS = (
    ("rl.live", "behaviour.live", "points"),
    ("rl.live", "expert.live", "points"),
    ("rl.live", "sl.live", "points"),
    ("rl.completed", "expert.completed", "percent"),
    ("rl.lstd", "behaviour.observed", "points"),
)
"""The policy that should do better, and the other one; the last is the gain as LSTD estimates it."""


def seed_settings(seed: int, changes: Sequence[str] = ()) -> StudySettings:
    """The study with other calls and, since live callers depend on the study's own seed, other callers."""
    return read_study(CONFIG, [f"seed={seed}", f"simulation.seed={seed}", *CHANGES, *changes])


def run_seed(seed: int, folder: Path, n_jobs: int = -1, changes: Sequence[str] = ()) -> Run:
    return make_run(seed_settings(seed, changes), folder, n_jobs)


def metric_rows(run: Run, seed: int) -> list[msgspec.Struct]:
    core = {row.tracker: row.core for row in run.table("trackers")}
    values: dict[tuple[str, str], dict[Name, int]] = defaultdict(dict)
    for row in run.table("intrinsic"):
        if row.value is not None:
            values[row.dataset, row.tracker][Name.of(row)] = round(1000.0 * row.value)
    return [MetricValues(seed, *key, core[key[1]], *map(cells.get, METRICS)) for key, cells in values.items()]


def return_rows(run: Run, seed: int) -> list[msgspec.Struct]:
    core = {row.tracker: row.core for row in run.table("trackers")}
    values: dict[tuple[str, str], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in run.table("returns"):
        scale = 100.0 if row.estimator == "completed" else 1.0
        column = ((row.variant or "").removeprefix("fill="), f"{row.policy}.{row.estimator}")
        values[row.dataset, row.tracker][column] = None if row.value is None else scale * row.value
    return [ReturnValues(seed, *key, core[key[1]], *map(cells.get, RETURNS)) for key, cells in values.items()]


@dataclass(frozen=True, eq=False)
class Points:
    """metrics (n_metrics, n_seeds, n_datasets, n_trackers): in the order of METRICS, higher is better.

    returns: by fill rule and target, (n_seeds, n_datasets, n_trackers). What is undefined is NaN.
    core: indices of the trackers that are core ones with every seed.
    """

    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    metrics: Floats
    returns: dict[tuple[str, str], Floats]
    core: Ints

    def panel(
        self, fill: str, target: str, group: str, seeds: Sequence[int], resamples: int = SETTINGS.resamples
    ) -> ResampledPoints:
        """Metrics and a target, means over seeds, as the tool's statistics take them.

        A tracker's mean stands for its dialogs: only trackers are resampled. State-set metrics are filled by
        the rule of the reward.
        """
        states = {filled(metric, fill) for metric in STATES}
        other = {filled(metric, rule) for metric in STATES for rule in FILLS} - states
        shown = [i for i, name in enumerate(METRICS) if name.metric not in other]
        metrics = self.metrics[np.ix_(shown, seeds)].mean(axis=1)
        earned = self.returns[fill, target][list(seeds)].mean(axis=0)[None]
        panel = ResampledPoints(
            datasets=self.datasets,
            trackers=self.trackers,
            metrics=tuple((*METRICS[i], None) for i in shown),
            targets=(target,),
            sample=Sample.of_trackers(metrics, earned, resamples),
            contributions=tuple(metrics[:, d, :, None] for d in range(len(self.datasets))),
            variant=f"fill={fill}",
        )
        return panel.take_trackers(self.core, group) if group == "core" else panel


def read_points(folder: Path) -> Points:
    """From metrics.csv and returns.csv."""
    metric_cells, return_cells = (
        {cells[:3]: cells[3:] for cells in map(msgspec.structs.astuple, read_rows(folder / name, kind))}
        for name, kind in (("metrics.csv", MetricValues), ("returns.csv", ReturnValues))
    )
    seeds, datasets, trackers = axes = [tuple(dict.fromkeys(key)) for key in zip(*metric_cells, strict=True)]

    def array(cells: dict[tuple[Any, ...], tuple[Any, ...]], n_columns: int) -> Floats:
        values = np.full((n_columns, *map(len, axes)), np.nan)
        for key, (_, *row) in cells.items():
            seed, dataset, tracker = (axis.index(part) for axis, part in zip(axes, key, strict=True))
            values[:, seed, dataset, tracker] = np.array(row, dtype=np.float64)
        return values

    signs = np.array([1.0 if is_higher_better(name.metric) else -1.0 for name in METRICS])
    metrics = array(metric_cells, len(METRICS)) / 1000.0 * signs[:, None, None, None]
    left_out = {key[2] for key, (is_core, *_) in metric_cells.items() if not is_core}
    core = np.array([i for i, name in enumerate(trackers) if name not in left_out], dtype=np.int64)
    returns = dict(zip(RETURNS, array(return_cells, len(RETURNS)), strict=True))
    return Points(seeds, datasets, trackers, metrics, returns, core)


def correlations(points: Points, fill: str, target: str) -> list[Correlation]:
    """Every metric with a target, for all and for core trackers, the best first."""
    rows = []
    for group in GROUPS:
        panel = points.panel(fill, target, group, range(len(points.seeds)), FEW.resamples)
        own = {Name.of(row): row for row in _within(panel)}
        part = []
        for row in best_set_rows(panel, SETTINGS, SEED):
            name = Name.of(row)
            part.append(
                Correlation(
                    *(fill, target, group, *name),
                    *(row.r, own[name].low, own[name].high, row.low, row.high, own[name].p_max_t),
                    *(row.in_set, row.rank, row.rank_low, row.rank_high, row.reason or own[name].reason),
                    own[name].carried_by,
                )
            )
        rows += sorted(part, key=lambda row: 2.0 if row.r is None else -row.r)
    return rows


def _within(panel: ResampledPoints) -> list[CorrelationRow]:
    """Pearson's r of every metric, by the study's own rules."""
    points = Correlated(
        panel.sample.metrics,
        panel.sample.targets,
        tuple(MetricKey(*name) for name in panel.metrics),
        tuple(Target(name, panel.variant) for name in panel.targets),
        panel.datasets,
        panel.trackers,
        panel.group,
    )
    rows = correlation_rows(points, ["pearson"], FEW.permutations, FEW.level, SEED)
    return [row for row in rows if row.scope == "within"]


def decided(points: Points, fill: str, target: str) -> list[Decided]:
    """Every two trackers left out, of all and of core trackers: what was said of them, and what is right."""
    rows = []
    for group in GROUPS:
        panel = points.panel(fill, target, group, range(len(points.seeds)))
        for row in decided_rows(panel, defined_metrics(panel.sample.metrics, panel.sample.targets[0])):
            rows.append(Decided(fill, target, group, row.low, row.high, row.pairs, row.predicted, row.right))
    return rows


def verdicts(points: Points, fill: str, target: str) -> list[Verdict]:
    """Lee's findings as the report judges them, for all and for core trackers."""
    every = range(len(points.seeds))
    rows = []
    for group in GROUPS:
        alone = [_judged(points.panel(fill, target, group, [seed])) for seed in every]
        for claim, finding in _judged(points.panel(fill, target, group, every)).items():
            same = sum(claim in each and each[claim].verdict == finding.verdict for each in alone)
            rows.append(Verdict(fill, target, group, claim, finding.verdict, same))
    return rows


def _judged(panel: ResampledPoints) -> dict[str, Finding]:
    lee = np.array(
        [
            i
            for i in defined_metrics(panel.sample.metrics, panel.sample.targets[0])
            if panel.metrics[i][0] in LEE
        ],
        dtype=np.int64,
    )
    r, left_out = panel.correlations("pearson", "within"), panel.left_out("pearson", "within")
    ends = interval_of_one(r, left_out, "pearson", SETTINGS.level)
    ranked = [
        CorrelationRow(
            **Name(*panel.metrics[i][:3])._asdict(),
            target=panel.targets[0],
            scope="within",
            coefficient="pearson",
            r=float(r[i, 0]),
            low=plain(ends.low[i, 0]),
            high=plain(ends.high[i, 0]),
            n=panel.n_points,
            trackers=panel.group,
        )
        for i in lee.tolist()
    ]
    swapped = swap_metrics(panel, lee, "within", "trackers", SETTINGS, SEED)
    pairs = pair_rows(panel, lee, swapped, swapped, "within", SETTINGS, SEED)
    ordered = sorted(ranked, key=lambda row: -(row.r or 0.0))
    return {finding.claim: finding for finding in findings(ordered, pairs)}


def policy_gains(points: Points) -> Iterator[PolicyGain]:
    """Mean differences of policies with Student's interval over trackers."""
    from scipy.stats import ttest_1samp

    for fill in FILLS:
        for more, less, unit in GAINS:
            gain = points.returns[fill, more] - points.returns[fill, less]
            by_tracker, by_seed = gain.mean(axis=(0, 1)), gain.mean(axis=(1, 2))
            low, high = ttest_1samp(by_tracker, 0.0).confidence_interval(0.95)
            yield PolicyGain(
                *(fill, more, less, unit, float(gain.mean()), float(low), float(high)),
                *(float(by_seed.min()), float(by_seed.max())),
                *(int((by_tracker > 0.0).sum()), len(by_tracker)),
            )
