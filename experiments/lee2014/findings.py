"""Every finding under one fill rule and target: the verdict, the number behind it, and what seeds say."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.lee2014.judging import FINDINGS, GAINS, Judged, Where, best_pairs, judge, related_of
from experiments.lee2014.points import Points
from extrinsic.report.results.lee_findings import FAILS, HOLDS


def finding_rows(points: Points, where: Where, group: str) -> list[dict[str, Any]]:
    """Every finding: with tracker means over seeds, and how many seeds alone say the same.

    Pooled, as Lee did, only the verdicts about metrics are given, and for all seeds together.
    """
    trackers, every = points.chosen(group), np.arange(len(points.seeds))
    together = judge(points, where, every, trackers)
    if where.scope == "pooled":
        return [_finding_row(where, group, key, together[key]) for key in FINDINGS if key not in GAINS]
    alone = [judge(points, where, np.array([seed]), trackers) for seed in every]
    pairs = best_pairs(related_of(points, where, every, trackers, resamples=2, swaps=0))
    rows = []
    for key, judged in together.items():
        said = [one[key].verdict for one in alone]
        values = [one[key].value for one in alone]
        row = _finding_row(where, group, key, judged) | {
            "seeds_same": said.count(judged.verdict),
            "seeds_hold": said.count(HOLDS),
            "seeds_fail": said.count(FAILS),
            "lowest_seed": min(values),
            "highest_seed": max(values),
            "pair": " against ".join(name.label() for name in pairs.get(key, ())) or None,
        }
        rows.append(row)
    return rows


def _finding_row(where: Where, group: str, key: str, judged: Judged) -> dict[str, Any]:
    low, high = judged.bounds
    return {
        "finding": key,
        "fill": where.fill,
        "target": where.estimator,
        "scope": where.scope,
        "trackers": group,
        "verdict": judged.verdict,
        "value": judged.value,
        "low": low,
        "high": high,
    }
