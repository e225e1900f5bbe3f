"""One vocabulary: which side of 0, and what that makes of a claim."""

from __future__ import annotations

import json

import numpy as np
import pytest

from extrinsic.correlation.verdicts import Support, Verdict, side_of_zero, support, support_by_count


def test_clear_is_by_all_intervals() -> None:
    assert side_of_zero((0.1, 0.2)) is Verdict.ABOVE
    assert side_of_zero((-0.2, -0.1), (np.array(-0.3), np.array(-0.05))) is Verdict.BELOW
    assert side_of_zero((0.1, 0.2), (-0.3, 0.4)) is Verdict.NOT_RESOLVED
    assert side_of_zero((0.1, 0.2), (-0.2, -0.1)) is Verdict.NOT_RESOLVED


@pytest.mark.parametrize("interval", [(0.0, 0.5), (-0.5, 0.0), (np.nan, np.nan), (np.nan, 1.0)])
def test_what_touches_zero_or_is_undefined_is_not_resolved(interval: tuple[float, float]) -> None:
    assert side_of_zero(interval) is Verdict.NOT_RESOLVED
    assert side_of_zero((0.1, 0.2), interval) is Verdict.NOT_RESOLVED


def test_no_interval_resolves_nothing() -> None:
    assert side_of_zero() is Verdict.NOT_RESOLVED


def test_a_claim_is_of_either_side() -> None:
    assert [support(verdict) for verdict in Verdict] == ["holds", "does not hold", "not resolved"]
    below = [support(verdict, claimed=Verdict.BELOW) for verdict in Verdict]
    assert below == [Support.FAILS, Support.HOLDS, Support.NOT_RESOLVED]


def test_half_of_the_comparisons_decide() -> None:
    """By enumeration: at least half on one side, and more than on the other."""
    for total in range(1, 7):
        for n_for in range(total + 1):
            for n_against in range(total + 1 - n_for):
                expected = Support.NOT_RESOLVED
                if n_for >= total / 2 and n_for > n_against:
                    expected = Support.HOLDS
                if n_against >= total / 2 and n_against > n_for:
                    expected = Support.FAILS
                assert support_by_count(n_for, n_against, total) is expected


def test_words_are_stored_as_words() -> None:
    assert json.dumps([Verdict.ABOVE, Support.FAILS]) == '["above", "does not hold"]'
    assert f"{Verdict.BELOW} 0, {Support.HOLDS}" == "below 0, holds"
