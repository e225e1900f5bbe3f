"""Rows of counts.csv and decided.csv: how many metrics predict, and which of two trackers is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.deciding import FEWEST_TRACKERS, calibration
from extrinsic.correlation.permutation import PermutationTest, draw_permutations, permutation_test
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.configuration.targets import LOGGED_RETURN
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.stages.store import plain
from extrinsic.study.tables.metric_rows import CountRow, DecidedRow


def partial_test(panel: Panel, others: list[int], settings: CorrelationTable, seed: int) -> PermutationTest:
    """Pearson's r of every metric with some targets, given the logged return, against permuted trackers."""
    sample, given = panel.sample, panel.targets.index(LOGGED_RETURN)
    drawn = draw_permutations(panel.identity, len(panel.trackers), settings.permutations, seed)
    return permutation_test(
        sample.metrics, sample.targets[others], "pearson", "within", drawn, sample.targets[[given]]
    )


def count_rows(panel: Panel, settings: CorrelationTable, seed: int) -> Iterator[CountRow]:
    """Of every target, alone and given the logged return: metrics clearly above 0, and those by chance."""
    every, sample = list(range(len(panel.targets))), panel.sample
    drawn = draw_permutations(panel.identity, len(panel.trackers), settings.permutations, seed)
    alone = permutation_test(sample.metrics, sample.targets, "pearson", "within", drawn)
    tests: list[tuple[str | None, list[int], PermutationTest]] = [(None, every, alone)]
    if LOGGED_RETURN in panel.targets and len(panel.trackers) >= FEWEST_TRACKERS:
        others = [k for k in every if panel.targets[k] != LOGGED_RETURN]
        tests.append((LOGGED_RETURN, others, partial_test(panel, others, settings, seed)))
    for given, targets, test in tests:
        for column, k in enumerate(targets):
            counted = test.clear(column, settings.level)
            yield CountRow(
                target=panel.targets[k],
                given=given,
                clear=counted.count,
                metrics=counted.total,
                expected=counted.expected,
                most=counted.most,
                p=counted.p,
                trackers=panel.group,
                variant=panel.variant,
            )


def decided_rows(panel: Panel, kept: Ints) -> Iterator[DecidedRow]:
    """The calibration curve of deciding between two trackers by the first metric, chosen without them."""
    sample = panel.sample
    if len(panel.trackers) - 2 < FEWEST_TRACKERS or not len(kept):
        return
    r = correlate(sample.metrics[kept], sample.targets, "pearson", "within")
    for k, target in enumerate(panel.targets):
        if np.isnan(r[:, k]).all():
            continue
        first = kept[int(np.nanargmax(r[:, k]))]
        metric, schedule, component, _ = panel.metrics[first]
        for part in calibration(sample.metrics[kept], sample.targets[k]).bins:
            yield DecidedRow(
                target=target,
                metric=metric,
                schedule=schedule,
                component=component,
                low=part.low,
                high=part.high,
                pairs=part.n_pairs,
                predicted=plain(part.predicted),
                right=plain(part.right),
                trackers=panel.group,
                variant=panel.variant,
            )
