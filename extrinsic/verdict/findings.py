"""Lee's three findings (2014), each tested against the intervals of this study.

1. Metrics of score quality (L2, AvgP) correlate more than others. MRR is one of the others: it
   measures "the quality of rank instead of score".
2. Schedule 2 correlates less than schedules 1 and 3.
3. ROC.V2, which measures discrimination alone, hardly correlates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from extrinsic.verdict.names import Name, correlation, interval, probability, symbol, with_interval
from extrinsic.verdict.rows import CorrelationRow, PairRow

SCORE_QUALITY = ("l2", "l2.lee", "avgp")
DISCRIMINATION = "roc.v2_"
SOME = 0.5
"""From here on a correlation is not small."""

OTHERS = ("accuracy", "mrr", "roc.")

LEVEL = 0.05
HOLDS, FAILS, OPEN = "holds", "does not hold", "not resolved"


@dataclass(frozen=True)
class Finding:
    claim: str
    verdict: str
    numbers: str


def findings(ranked: Sequence[CorrelationRow], pairs: Sequence[PairRow]) -> list[Finding]:
    """The findings that can be tested; empty where the study lacks the metrics of Lee.

    ranked: of one target, variant and group of trackers, the best first.   pairs: of the same.
    """
    rows = [row for row in ranked if row.metric.startswith((*SCORE_QUALITY, *OTHERS))]
    made = [_score_quality(rows, pairs), _schedules(rows, pairs), _roc(rows)]
    return [finding for finding in made if finding is not None]


def verdict_of(clear_for: int, clear_against: int, total: int) -> str:
    """A claim holds when at least half of the comparisons are clearly for it, and more than against it."""
    if clear_for > clear_against and 2 * clear_for >= total:
        return HOLDS
    return FAILS if clear_against > clear_for and 2 * clear_against >= total else OPEN


def is_clear(low: float | None, high: float | None, p: float | None) -> bool:
    """Whether the interval excludes 0 and p is small, too: where they disagree nothing is clear."""
    away = low is not None and high is not None and (low > 0 or high < 0)
    return away and p is not None and p < LEVEL


def _score_quality(rows: Sequence[CorrelationRow], pairs: Sequence[PairRow]) -> Finding | None:
    """The best of score quality against the best of the others."""
    quality = next((row for row in rows if row.metric in SCORE_QUALITY), None)
    other = next((row for row in rows if row.metric.startswith(OTHERS)), None)
    if quality is None or other is None:
        return None
    # Compare the metric first: building two names for every row of a long table is slow.
    with_both = (row for row in pairs if quality.metric in (row.metric_a, row.metric_b))
    names = Name.of(quality), Name.of(other)
    pair = next((row for row in with_both if Name.of_pair(row) in (names, names[::-1])), None)
    if pair is None:
        return None
    difference, low, high = pair.difference, pair.low, pair.high
    if Name.of_pair(pair) != names:
        difference, low, high = -difference, _minus(high), _minus(low)
    verdict = OPEN if not is_clear(low, high, pair.p) else HOLDS if difference > 0 else FAILS
    numbers = (
        f"{_shown(quality)} against {_shown(other)}, the best of the others: difference "
        f"{correlation(difference)} {interval(low, high)}"
    ).strip()
    p = probability(pair.p)
    by_swapping = f", p {p if p[0] == '<' else f'= {p}'} by swapping the two"
    return Finding("Metrics of score quality (L2, AvgP) come first", verdict, f"{numbers}{by_swapping}.")


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _schedules(rows: Sequence[CorrelationRow], all_pairs: Sequence[PairRow]) -> Finding | None:
    """Every metric on schedule 2 against itself on schedules 1 and 3."""
    pairs = {Name.of_pair(row): row for row in all_pairs if row.metric_a == row.metric_b}
    names = {Name.of(row) for row in rows}
    lower = higher = clear_lower = clear_higher = 0
    lead: list[float] = []
    for name in sorted(names):
        if name.schedule != 2:
            continue
        for schedule in (1, 3):
            full = name._replace(schedule=schedule)
            row, sign = (pairs[full, name], 1) if (full, name) in pairs else (pairs.get((name, full)), -1)
            if full not in names or row is None:
                continue
            clear = is_clear(row.low, row.high, row.p)
            first_is_better = sign * row.difference > 0
            lower, higher = lower + first_is_better, higher + (not first_is_better)
            clear_lower += clear and first_is_better
            clear_higher += clear and not first_is_better
            lead.append(sign * row.difference)
    if not lead:
        return None
    middle = round(median(lead), 2)
    side = "lower" if middle > 0 else "higher"
    typical = f"typically it is {correlation(abs(middle))} {side}" if middle else "typically it is neither"
    numbers = (
        f"Schedule 2 is lower in {lower} of {len(lead)} comparisons of a metric with itself on schedules 1 "
        f"and 3 (clearly in {clear_lower}) and higher in {higher} (clearly in {clear_higher}); "
        f"{typical} (median)."
    )
    verdict = verdict_of(clear_lower, clear_higher, len(lead))
    return Finding("Schedule 2 correlates less than schedules 1 and 3", verdict, numbers)


def hardly_correlates(intervals: Sequence[tuple[float, float]]) -> str:
    """No interval leaves out 0 or reaches a correlation of .5; it does not hold if most leave out 0."""
    away = sum(_away_from_zero(intervals))
    # The largest correlation, of either sign, that the intervals still allow.
    reach = max(abs(end) for bounds in intervals for end in bounds)
    return FAILS if 2 * away > len(intervals) else OPEN if away or reach >= SOME else HOLDS


def _away_from_zero(intervals: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """How many lie above 0, and how many below."""
    return sum(low > 0 for low, _ in intervals), sum(high < 0 for _, high in intervals)


def _roc(rows: Sequence[CorrelationRow]) -> Finding | None:
    curves = [row for row in rows if row.metric.startswith(DISCRIMINATION) and row.low is not None]
    intervals = [(row.low, row.high) for row in curves if row.low is not None and row.high is not None]
    if not intervals:
        return None
    above, below = _away_from_zero(intervals)
    verdict = hardly_correlates(intervals)
    least, most = (_shown(curves[end]) for end in (-1, 0))
    numbers = (
        f"{symbol(rows[0].coefficient)} from {least} to {most}; "
        f"{above} of {len(intervals)} intervals lie above 0{f', {below} below' if below else ''}."
    )
    return Finding("ROC.V2 hardly correlates", verdict, numbers)


def _shown(row: CorrelationRow) -> str:
    return f"{with_interval(row.r, row.low, row.high)} ({Name.of(row).title()})"
