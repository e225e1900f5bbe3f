"""Two trackers of a run: what their comparison needs beside the panel.

The differences of metrics are exact: both are scored again on every resample of dialogs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.errors import UsageError
from extrinsic.panel import item_weights, rng_of
from extrinsic.study.run import Run
from extrinsic.study.score_stage import Measurements, metric_of
from extrinsic.verdict.compare import (
    MEAN,
    PERMUTATIONS,
    RESAMPLES,
    Compared,
    ComparisonRow,
    ComparisonVerdict,
    PairCost,
    Pairing,
    comparison_rows,
    comparison_verdict,
    pair_costs,
    return_rows,
)
from extrinsic.verdict.names import Name


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
    study = run.verdict()
    if not study.verdicts:
        return []
    target = study.verdicts[0].target
    whole = [row for row in rows if row.kind == "return" and row.name == target]
    datasets = {row.dataset for row in whole}
    shown = [row for row in whole if row.dataset == MEAN or len(datasets) == 1]
    made = []
    for row in shown:
        of_row = study.of_target(target, row.variant)
        chosen = of_row.recommended if of_row else None
        costs = comparison_costs(run, first, second, target, row.variant)
        by_metric = next((cost for cost in costs if chosen and Name.of(cost) == chosen.name), None)
        made.append(comparison_verdict(run.panel, row, (first, second), by_metric, len(shown) > 1))
    return made


def comparison_costs(
    run: Run, first: str, second: str, target: str | None = None, variant: str | None = None
) -> list[PairCost]:
    """What choosing between the two by each declared metric would have cost; None: the primary target."""
    verdict = run.verdict().of_target(target, variant)
    if verdict is None:
        return []
    place = next(
        k
        for k, each in enumerate(run.panel.targets)
        if (each.name, each.variant) == (verdict.target, verdict.variant)
    )
    return pair_costs(run.panel, place, [choice.name for choice in verdict.choices], first, second)
