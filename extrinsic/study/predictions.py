"""Rows of counts.csv and decided.csv: how many metrics predict, and which of two trackers is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.correlation.deciding import FEWEST_TRACKERS, calibration
from extrinsic.correlation.multiple_testing import clear_count
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.settings import CorrelationTable
from extrinsic.study.tables import CountRow, DecidedRow
from extrinsic.study.targets import LOGGED_RETURN
from extrinsic.tables import plain
from extrinsic.verdict.intervals import PermutationTest


def count_rows(panel: ResampledPoints, settings: CorrelationTable, seed: int) -> Iterator[CountRow]:
    """Of every target, alone and given the logged return: metrics clearly above 0, and those by chance."""
    every = list(range(len(panel.targets)))
    alone = panel.permuted(settings.permutations, seed)
    tests: list[tuple[str | None, list[int], PermutationTest]] = [(None, every, alone)]
    if LOGGED_RETURN in panel.targets and len(panel.trackers) >= FEWEST_TRACKERS:
        others = [k for k in every if panel.targets[k] != LOGGED_RETURN]
        partial = panel.permuted(settings.permutations, seed, LOGGED_RETURN)
        tests.append((LOGGED_RETURN, others, partial))
    for given, targets, test in tests:
        for column, k in enumerate(targets):
            counted = clear_count(test.observed[:, column], test.null[:, :, column], settings.level)
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


def decided_rows(panel: ResampledPoints, kept: Ints) -> Iterator[DecidedRow]:
    """The calibration curve of deciding between two trackers by the first metric, chosen without them."""
    sample = panel.sample
    if len(panel.trackers) - 2 < FEWEST_TRACKERS or not len(kept):
        return
    r = panel.correlations("pearson", "within")[kept]
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
