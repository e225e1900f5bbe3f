"""What the text shows of the tables beyond their rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from statistics import mean, median

import msgspec

from experiments.lee2014.findings import ABOUT_METRICS
from experiments.lee2014.tables import (
    FILLS,
    GROUPS,
    ROC_V1,
    ROC_V2,
    STATES,
    Beyond,
    Correlation,
    Finding,
    Needed,
    Subset,
    filled,
    without_fill,
)
from experiments.lee2014.tracker_subsets import SUBSET_TARGETS, finding_key
from experiments.partial_correlations import KINDS
from experiments.selection import Selection
from extrinsic.correlation.power import CORRELATION, share_resolved
from extrinsic.study.naming import Name

FAMILIES: dict[str, list[str]] = {
    **{metric: [metric] for metric in ("l2", "l2.lee", "brier", "avgp", "mrr", "accuracy", "roc.v1_eer")},
    "best ROC.V1": list(ROC_V1),
    "best ROC.V2": list(ROC_V2),
    **{metric: [filled(metric, fill) for fill in FILLS] for metric in STATES},
}
"""The rows of the table of metrics, each of the best of its members."""

FIRST = 8
ALSO = ("accuracy", "mrr", "avgp", "l2", "l2.lee", "jga", "slot_f1", "gca")
"""Metrics that are shown beyond the logged return: the first by the gain, and these over all turns."""

FEW = 8
"""About as many trackers as Lee had."""


class Extrapolation(msgspec.Struct, frozen=True):
    """Predictions from small subsets: error predicted over error of all trackers, over all findings.

    right_off, right_worst: by how many points the share of right subsets is missed, mean and largest.
    """

    target: str
    trackers: str
    median: float
    lowest: float
    highest: float
    right_off: int
    right_worst: int


def extrapolations(needed: Selection[Needed]) -> list[Extrapolation]:
    rows = []
    for target, group in product(SUBSET_TARGETS, GROUPS):
        predicted = needed.where(target=target, trackers=group).rows
        ratios = [row.foretold / row.error for row in predicted]
        off = [100.0 * abs(row.right_foretold - row.right) for row in predicted]
        spans = (median(ratios), min(ratios), max(ratios))
        rows.append(Extrapolation(target, group, *spans, round(mean(off)), round(max(off))))
    return rows


def share_decided(needed: Selection[Needed], subsets: Selection[Subset], target: str) -> tuple[float, float]:
    """Percent of findings about metrics that subsets of FEW core trackers decide rightly, and should.

    They should with the error that all trackers show, scaled to the size.
    """
    decided, expected = [], []
    for row in needed.where(trackers="core", target=target, finding=list(ABOUT_METRICS)).rows:
        (part,) = subsets.where(size=FEW, **finding_key(row)).rows
        error = row.error * ((row.size - CORRELATION) / (FEW - CORRELATION)) ** 0.5
        decided.append(100.0 * part.right)
        expected.append(100.0 * share_resolved(row.value, error, FEW / row.size))
    return mean(decided), mean(expected)


def changed_by_pooling(findings: Selection[Finding]) -> list[tuple[str, str]]:
    """The verdicts within datasets and pooled, of the findings about metrics where they are not the same."""
    verdicts = [
        (findings.where(scope="within", **finding_key(row)).rows[0].verdict, row.verdict)
        for row in findings.where(scope="pooled").rows
    ]
    return [(within, pooled) for within, pooled in verdicts if within != pooled]


def score_metrics_apart(correlations: Selection[Correlation]) -> float:
    """The largest difference of r between L2 and AvgP, which are one metric where one hypothesis is right."""
    l2, avgp = (
        {(row.fill, row.target, row.schedule, row.component): row.r or 0.0 for row in rows}
        for rows in (correlations.where(metric=metric).rows for metric in ("l2", "avgp"))
    )
    return max(abs(r - avgp[key]) for key, r in l2.items())


def shown_beyond(beyond: Sequence[Beyond]) -> dict[str, dict[tuple[str, str], Beyond]]:
    """By the label of a metric, its rows by kind and fill rule."""
    by_label: dict[str, dict[tuple[str, str], Beyond]] = defaultdict(dict)
    for row in beyond:
        label = Name(without_fill(row.metric), row.schedule, row.component).label()
        by_label[label][row.kind, row.fill] = row
    complete = {label: rows for label, rows in by_label.items() if len(rows) == len(KINDS) * len(FILLS)}
    gains = {label: sum(rows["gain", fill].r for fill in FILLS) for label, rows in complete.items()}
    first = sorted(complete, key=lambda label: -gains[label])[:FIRST]
    also = [f"{metric} · {part} · 1" for metric in ALSO for part in ("joint", "state")]
    return {label: complete[label] for label in dict.fromkeys([*first, *also]) if label in complete}
