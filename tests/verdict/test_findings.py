"""Lee's three findings: held against intervals, each with the numbers that decide."""

from __future__ import annotations

import msgspec
import pytest

from extrinsic.verdict.findings import FAILS, HOLDS, OPEN, Finding, findings, verdict_of
from extrinsic.verdict.names import metric_title
from extrinsic.verdict.rows import CorrelationRow, PairRow


def row(metric: str, schedule: int, r: float, low: float, high: float) -> CorrelationRow:
    return CorrelationRow(
        target="rl.live",
        metric=metric,
        schedule=schedule,
        component="joint",
        scope="within",
        coefficient="pearson",
        r=r,
        low=low,
        high=high,
        n=24,
        trackers="all",
    )


def pair(a: tuple[str, int], b: tuple[str, int], difference: float, low: float, high: float) -> PairRow:
    p = 0.01 if low > 0 or high < 0 else 0.5
    return PairRow(
        target="rl.live",
        metric_a=a[0],
        schedule_a=a[1],
        component_a="joint",
        metric_b=b[0],
        schedule_b=b[1],
        component_b="joint",
        scope="within",
        r_a=0.5 + difference,
        r_b=0.5,
        difference=difference,
        low=low,
        high=high,
        p=p,
        p_both=p,
        r_ab=0.5,
        n=24,
        n_independent=23,
        trackers="all",
    )


def judged(rows: list[CorrelationRow], pairs: list[PairRow]) -> list[Finding]:
    return findings(sorted(rows, key=lambda row: -(row.r or 0.0)), pairs)


@pytest.mark.parametrize(
    ("r", "difference", "low", "high", "verdict"),
    [(0.9, 0.3, 0.1, 0.5, HOLDS), (0.9, 0.3, -0.1, 0.5, OPEN), (0.3, -0.3, -0.5, -0.1, FAILS)],
)
def test_score_quality_first(r: float, difference: float, low: float, high: float, verdict: str) -> None:
    rows = [row("avgp", 1, r, r - 0.1, r), row("accuracy", 1, 0.6, 0.5, 0.7)]
    for given in (
        pair(("avgp", 1), ("accuracy", 1), difference, low, high),
        pair(("accuracy", 1), ("avgp", 1), -difference, -high, -low),
    ):
        (finding,) = judged(rows, [given])
        assert finding.verdict == verdict
        assert "AvgP, joint goal, every turn" in finding.numbers and "accuracy, joint goal" in finding.numbers


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.05, 0.3, HOLDS), (-0.05, 0.3, OPEN), (-0.3, -0.05, FAILS)]
)
def test_schedule_two_is_lower(low: float, high: float, verdict: str) -> None:
    middle = (low + high) / 2
    rows = [row("l2", 1, 0.8, 0.5, 0.9), row("l2", 2, 0.8 - middle, 0.3, 0.9), row("l2", 3, 0.8, 0.5, 0.9)]
    pairs = [pair(("l2", 1), ("l2", 2), middle, low, high), pair(("l2", 2), ("l2", 3), -middle, -high, -low)]
    (finding,) = judged(rows, pairs)
    assert finding.verdict == verdict
    counts = (2, 0) if middle > 0 else (0, 2)
    assert f"lower in {counts[0]} of 2" in finding.numbers and f"higher in {counts[1]}" in finding.numbers


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([(0.1, -0.2, 0.4), (0.0, -0.3, 0.3)], HOLDS),
        ([(0.1, -0.2, 0.4), (0.3, -0.1, 0.6)], OPEN),
        ([(0.8, 0.5, 0.9), (0.0, -0.3, 0.3), (0.1, -0.3, 0.3)], OPEN),
        ([(0.8, 0.5, 0.9), (0.7, 0.3, 0.8)], FAILS),
        ([(0.1, -0.2, 0.4), (-0.3, -0.6, 0.1)], OPEN),
        ([(-0.7, -0.8, -0.3), (-0.8, -0.9, -0.5)], FAILS),
    ],
)
def test_discrimination_hardly_correlates(intervals: list[tuple[float, float, float]], verdict: str) -> None:
    rows = [row(f"roc.v2_ca{number:02d}", 1, *of) for number, of in enumerate(intervals)]
    (finding,) = judged(rows, [])
    assert finding.verdict == verdict
    assert f"of {len(rows)} intervals lie above 0" in finding.numbers


def test_an_interval_that_p_does_not_confirm_is_shown_with_its_p() -> None:
    rows = [row("accuracy", 1, 0.9, 0.8, 1.0), row("l2", 1, 0.7, 0.6, 0.8)]
    unclear = msgspec.structs.replace(pair(("accuracy", 1), ("l2", 1), 0.2, 0.01, 0.3), p=0.2)
    first = judged(rows, [unclear])[0]
    assert first.verdict == OPEN
    assert "−.20 [−.30, −.01], p = .200" in first.numbers


def test_a_median_of_nothing_is_neither_lower_nor_higher() -> None:
    rows = [row("accuracy", schedule, 0.5, 0.1, 0.8) for schedule in (1, 2)]
    (schedules,) = judged(rows, [pair(("accuracy", 2), ("accuracy", 1), 0.001, -0.1, 0.1)])
    assert "typically it is neither" in schedules.numbers


def test_a_study_of_states_has_none_of_them() -> None:
    assert judged([row("jga", 1, 0.9, 0.8, 1.0), row("gca", 1, 0.8, 0.7, 0.9)], []) == []


def test_without_pairs_nothing_is_said_of_differences() -> None:
    rows = [row("avgp", 1, 0.9, 0.8, 1.0), row("avgp", 2, 0.9, 0.8, 1.0), row("accuracy", 1, 0.6, 0.5, 0.7)]
    assert judged(rows, []) == []
    assert judged([], []) == []


def test_a_verdict_needs_half_of_what_decides_it() -> None:
    assert [verdict_of(*counts) for counts in ((2, 0, 4), (1, 0, 4), (0, 2, 4), (2, 2, 4), (0, 0, 0))] == [
        HOLDS,
        OPEN,
        FAILS,
        OPEN,
        OPEN,
    ]


def test_mrr_measures_rank_and_not_score() -> None:
    """The best of all, MRR is what L2, in either form, is held against."""
    for score in ("l2", "l2.lee", "avgp"):
        rows = [row("mrr", 1, 0.9, 0.8, 1.0), row(score, 1, 0.6, 0.5, 0.7), row("accuracy", 1, 0.5, 0.4, 0.6)]
        (finding,) = judged(rows, [pair(("mrr", 1), (score, 1), 0.3, 0.1, 0.5)])
        assert finding.verdict == FAILS
        assert "MRR" not in finding.claim
        assert (
            f"{metric_title(score)}, joint goal" in finding.numbers and "MRR, joint goal" in finding.numbers
        )
    assert judged([row("mrr", 1, 0.9, 0.8, 1.0), row("accuracy", 1, 0.5, 0.4, 0.6)], []) == []
