"""The vocabulary of verdicts: on which side of 0 a number lies, and whether a claim holds.

A number is clearly on one side of 0 only if all of its intervals are (by resamples, and by the jackknife
where there is one). Everything else, an undefined interval included, is not resolved.

Both types are strings, so that they can be compared with, formatted as and stored as their words.

>>> f"{side_of_zero((0.1, 0.6), (0.05, 0.7))}, {side_of_zero((0.1, 0.6), (-0.05, 0.7))}"
'above, not resolved'
>>> f"{support(Verdict.BELOW)}, {support(Verdict.BELOW, claimed=Verdict.BELOW)}"
'does not hold, holds'
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Where a number lies, clearly: above 0, below 0, or neither."""

    ABOVE = "above"
    BELOW = "below"
    NOT_RESOLVED = "not resolved"


class Support(StrEnum):
    """Whether figures support a claim: it holds, it does not, or they do not decide."""

    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_RESOLVED = "not resolved"


def side_of_zero(*intervals: tuple[Any, Any]) -> Verdict:
    """Above where every interval (low, high) has low > 0, below where every one has high < 0.

    low, high: numbers or arrays of one number; NaN is on neither side.
    """
    if intervals and all(float(low) > 0.0 for low, _ in intervals):
        return Verdict.ABOVE
    if intervals and all(float(high) < 0.0 for _, high in intervals):
        return Verdict.BELOW
    return Verdict.NOT_RESOLVED


def support(verdict: Verdict, claimed: Verdict = Verdict.ABOVE) -> Support:
    """The support for the claim that a number lies above 0, or below it (`claimed`)."""
    if verdict is Verdict.NOT_RESOLVED:
        return Support.NOT_RESOLVED
    return Support.HOLDS if verdict is claimed else Support.FAILS


def support_by_count(n_for: int, n_against: int, total: int) -> Support:
    """A claim holds when at least half of all comparisons clearly support it, and more than contradict it.

    It does not hold when the same is true of those that clearly contradict it.

    >>> str(support_by_count(3, 1, 6)), str(support_by_count(2, 1, 6)), str(support_by_count(3, 3, 6))
    ('holds', 'not resolved', 'not resolved')
    """
    if n_for > n_against and 2 * n_for >= total:
        return Support.HOLDS
    return Support.FAILS if n_against > n_for and 2 * n_against >= total else Support.NOT_RESOLVED
