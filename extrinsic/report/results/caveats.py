"""Caveats about an answer: only those that apply, each with the number behind it."""

from __future__ import annotations

from collections.abc import Iterator

from extrinsic.report.results.naming import Name, symbol
from extrinsic.report.results.numbers import correlation, counted, share, with_interval
from extrinsic.report.results.variant_results import VariantResults, rows_of_group
from extrinsic.study.tables.schema import CompositeRow, CorrelationRow

FEW_TRACKERS = 10
WIDE = 0.4
SETTLED = 0.8
MANY_METRICS = 20


def caveats(evidence: VariantResults, best: CorrelationRow) -> Iterator[str]:
    for caveat in (_zero, _wide, _withheld, _few, _changed, _flattered, _behaviour, _unsettled, _one_dataset):
        text = caveat(evidence, best)
        if text:
            yield text


def _zero(evidence: VariantResults, best: CorrelationRow) -> str:
    low, high = evidence.simultaneous(best)
    if low is None or high is None or not low <= 0 <= high:
        return ""
    return (
        "Even the best metric's interval includes 0 "
        f"({with_interval(best.r, low, high)}): no metric is shown to predict anything."
    )


def _wide(evidence: VariantResults, best: CorrelationRow) -> str:
    low, high = evidence.simultaneous(best)
    if low is None or high is None or high - low <= WIDE:
        return ""
    return (
        f"The interval is wide: {symbol(evidence.coefficient)} may as well be {correlation(low)} "
        f"as {correlation(high)}."
    )


def _withheld(evidence: VariantResults, best: CorrelationRow) -> str:
    return f"No interval of the best metric is to be trusted: {best.reason}." if best.reason else ""


def _few(evidence: VariantResults, best: CorrelationRow) -> str:
    n = evidence.n_trackers("core")
    if n >= FEW_TRACKERS:
        return ""
    core = (
        f" of {evidence.n_trackers()} are the core, and the rest could make the correlation"
        if evidence.has_core
        else ""
    )
    return (
        f"Only {counted(n, 'tracker')}{core}: trackers are the sample here, not dialogs, "
        "and another set of them can give another order."
    )


def _changed(evidence: VariantResults, best: CorrelationRow) -> str:
    core = evidence.best("core")
    if not evidence.has_core or core is None or Name.of(core) == Name.of(best):
        return ""
    return (
        f"The best metric changes with the trackers: {Name.of(best).in_words()} over all, "
        f"{Name.of(core).in_words()} over the core."
    )


def _flattered(evidence: VariantResults, best: CorrelationRow) -> str:
    """The best of many is selected by its own result; choosing it on other trackers removes that bias."""
    single = _composite(evidence, "best_single")
    n = len(evidence.ranked["all"])
    if n < MANY_METRICS or single is None or single.r is None:
        return ""
    return (
        f"The best of {n} is flattered by the choice: a metric chosen on some trackers reaches "
        f"{with_interval(single.r, single.low, single.high)} on those left out."
    )


def _behaviour(evidence: VariantResults, best: CorrelationRow) -> str:
    behaviour, single = _composite(evidence, "behaviour"), _composite(evidence, "best_single")
    if behaviour is None or single is None or behaviour.r is None or single.r is None:
        return ""
    low, high = behaviour.above_low, behaviour.above_high
    if high is not None and high < 0:
        return ""
    better = behaviour.r > single.r
    verb = (
        "predicts better than"
        if low is not None and low > 0
        else "predicts at least as well as"
        if better
        else "predicts about as well as"
    )
    return (
        f"What the logged dialogs earn by the tracker's own belief {verb} the best single metric: "
        f"{with_interval(behaviour.r, behaviour.low, behaviour.high)} on trackers left out, "
        f"against {with_interval(single.r, single.low, single.high)}."
    )


def _unsettled(evidence: VariantResults, best: CorrelationRow) -> str:
    n = evidence.n_trackers()
    rows = [row for row in rows_of_group(evidence.stability, "all") if row.n_trackers < n]
    if not rows:
        return ""
    last = max(rows, key=lambda row: row.n_trackers)
    if last.agreement is None or last.same_winner is None:
        return ""
    if last.same_winner >= SETTLED and last.agreement >= SETTLED:
        return ""
    without = n - last.n_trackers
    return (
        f"The ranking has not settled: with {counted(without, 'tracker')} fewer the same metric wins in "
        f"{share(last.same_winner)} of the choices, and the order agrees with τ = "
        f"{correlation(last.agreement)}."
    )


def _one_dataset(evidence: VariantResults, best: CorrelationRow) -> str:
    if len(evidence.datasets) != 1:
        return ""
    return (
        f"All of this is one dataset ({evidence.datasets[0]}); nothing here shows that it holds on another."
    )


def _composite(evidence: VariantResults, method: str) -> CompositeRow | None:
    rows = rows_of_group(evidence.composite, "all")
    return next((row for row in rows if row.method == method), None)
