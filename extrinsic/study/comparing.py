"""Two trackers of a run: what their comparison needs beside the panel.

The differences of metrics are exact: both are scored again on every resample of dialogs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from extrinsic.correlation.deciding import Side, decide, relation
from extrinsic.errors import UsageError
from extrinsic.panel import item_weights, rng_of
from extrinsic.study.run import Run
from extrinsic.study.score_stage import Measurements, metric_of
from extrinsic.verdict.compare import (
    MEAN,
    PERMUTATIONS,
    RESAMPLES,
    ByScores,
    Compared,
    ComparisonRow,
    ComparisonVerdict,
    Pairing,
    comparison_rows,
    comparison_verdict,
    return_rows,
)
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.health import joint_only_trackers
from extrinsic.verdict.names import Name, counted, is_of_single_slots
from extrinsic.verdict.rows import BestSetRow, TrackerRow
from extrinsic.verdict.verdict import Verdict


def compare_trackers(run: Run, first: str, second: str, seed: int = 0) -> list[ComparisonRow]:
    """Rows of every return and metric: by dataset, and the mean over datasets."""
    for name in (first, second):
        run.panel.system(name)
    if first == second:
        raise UsageError("a tracker cannot be compared with itself", found=first)
    return return_rows(run.panel, first, second, seed) + _metrics(run, first, second, seed)


def _metrics(run: Run, first: str, second: str, seed: int) -> list[ComparisonRow]:
    cells = {
        name: {
            dataset: Measurements.of(result, dataset)
            for result in run.scores(name)
            for dataset in result.values.datasets
        }
        for name in (first, second)
    }
    every = {
        dataset: _metric_pairings(a, cells[second][dataset], dataset, seed)
        for dataset, a in cells[first].items()
    }
    rows: list[ComparisonRow] = []
    for number, measured in enumerate(next(iter(cells[first].values())).rows):
        higher = metric_of(measured.metric).higher_is_better
        name = measured.metric, measured.schedule, measured.component
        compared = Compared("metric", *name, higher_is_better=higher)
        rows += comparison_rows(compared, {dataset: pairings[number] for dataset, pairings in every.items()})
    return rows


def _metric_pairings(a: Measurements, b: Measurements, dataset: str, seed: int) -> list[Pairing]:
    """One for every metric; both trackers are scored on the same resamples."""
    n = a.n_dialogs
    weights = item_weights(f"compare {dataset}", n, RESAMPLES, seed)
    resampled = a.resampled(weights) - b.resampled(weights)
    coins = rng_of("exchange", dataset, seed).integers(0, 2, (PERMUTATIONS, n))
    both = a.joined(b)
    exchanged_a = both.resampled(np.concatenate([coins, 1 - coins], axis=1))
    exchanged_b = both.resampled(np.concatenate([1 - coins, coins], axis=1))
    values = np.array([[row.value for row in side.rows] for side in (a, b)], dtype=np.float64)
    exchanged = exchanged_a - exchanged_b
    return [Pairing(values[:, m], resampled[m], exchanged[m]) for m in range(len(a.rows))]


def comparison_verdicts(
    run: Run, rows: Sequence[ComparisonRow], first: str, second: str
) -> list[ComparisonVerdict]:
    """For every variant, by the primary target; from the rows of `compare_trackers`."""
    study = run.verdict().verdicts
    if not study:
        return []
    target = study[0].target
    whole = [row for row in rows if row.kind == "return" and row.name == target]
    datasets = {row.dataset for row in whole}
    shown = [row for row in whole if row.dataset == MEAN or len(datasets) == 1]
    of_target = [verdict for verdict in study if verdict.target == target]
    made = []
    for row in shown:
        of_row = [verdict for verdict in of_target if (row.variant or "") in (verdict.variants or ("",))]
        by_scores = _by_scores(run, row, of_row, first, second)
        made.append(comparison_verdict(run.panel, row, (first, second), by_scores, len(shown) > 1))
    return made


def _by_scores(run: Run, row: ComparisonRow, study: Sequence[Verdict], first: str, second: str) -> ByScores:
    """The metric that the other core trackers choose, the probability by it, and why there is none."""
    if not any(verdict.metric for verdict in study):
        return ByScores(refusal="the study decides for no metric")
    panel, trackers = run.panel.averaged(), run.table(TrackerRow)
    others = [each.tracker for each in trackers if each.core and each.tracker not in (first, second)]
    joint_only = bool(joint_only_trackers(trackers))
    names = {
        Name.of(each)
        for each in run.table(BestSetRow)
        if (each.target, each.trackers, each.variant) == (row.name, CORE, row.variant)
        and each.r is not None
        and not (joint_only and is_of_single_slots(Name.of(each)))
    }
    systems = [panel.system(name) for name in (*others, first, second)]
    scores = panel.oriented()[:, :, systems]
    complete = [
        m
        for m, metric in enumerate(panel.metrics)
        if Name.of(metric) in names and not np.isnan(scores[m]).any()
    ]
    if not complete:
        return ByScores(refusal="no metric has a score of every tracker")
    several = scores[complete]
    target = next(
        k for k, each in enumerate(panel.targets) if (each.name, each.variant) == (row.name, row.variant)
    )
    line = relation(several[..., :-2], panel.values[target][:, systems[:-2]])
    chosen = Name.of(panel.metrics[complete[line.metric]]).title()
    decision = decide(line, several[line.metric, :, -2], several[line.metric, :, -1])
    if decision.side is not Side.REFUSED:
        return ByScores(chosen, decision.probability)
    names_of = [dataset.name for dataset in panel.datasets]
    named = re.sub(r"dataset (\d+)", lambda match: names_of[int(match[1]) - 1], decision.reason)
    return ByScores(chosen, None, f"{named}, of {counted(len(others), f'other {CORE} tracker')}")
