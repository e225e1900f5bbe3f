"""Closed forms against published worked values, by hand, and scipy's interval of r."""

from __future__ import annotations

from math import atanh, sqrt, tanh

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from extrinsic.correlation.dependent import fisher_interval, williams, zou_interval
from extrinsic.errors import UsageError
from tests.verdict.drawing import draw

WORKED = (
    # Steiger (1980), his case A, as in the pages of R's psych::r.test.
    ((0.4, 0.5, 0.1, 103), -0.89, 2),
    # Silver, Hittner and May (2006), the program depcor, as in the tests of R's cocor.
    ((0.3, 0.4, 0.5, 100), -1.0767, 4),
    # The pages of R's bruceR::cor_diff.
    ((0.2, 0.45, 0.8, 100), -4.56, 2),
)


@pytest.mark.parametrize(("given_", "t", "digits"), WORKED)
def test_williams_as_published(given_: tuple[float, ...], t: float, digits: int) -> None:
    assert round(williams(*given_).t, digits) == t


def test_p_of_williams() -> None:
    assert round(williams(0.3, 0.4, 0.5, 100).p, 4) == 0.2843
    found = williams(0.6, 0.2, 0.3, 20)
    assert found.p == pytest.approx(2 * stats.t.sf(found.t, 17))


def test_williams_by_hand() -> None:
    """r12 .6, r13 .2, r23 .5, n 11: |R| = 1 - .36 - .04 - .25 + .12 = .47, mean .4.

    2 x 10/8 x .47 + .16 x .125 = 1.195;  t = .4 sqrt(10 x 1.5 / 1.195).
    """
    assert williams(0.6, 0.2, 0.5, 11).t == pytest.approx(0.4 * sqrt(15 / 1.195))


correlations = st.floats(-0.95, 0.95)


@given(correlations, correlations, correlations)
def test_williams_is_the_other_way_round(r12: float, r13: float, r23: float) -> None:
    assume(1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23 > 1e-6)
    one, other = williams(r12, r13, r23, 30), williams(r13, r12, r23, 30)
    assert one.t == pytest.approx(-other.t)
    assert one.p == pytest.approx(other.p)
    low, high = zou_interval(r12, r13, r23, 30)
    assert zou_interval(r13, r12, r23, 30) == pytest.approx((-high, -low))
    assert low <= r12 - r13 <= high


def test_nothing_to_tell_apart() -> None:
    assert (williams(0.5, 0.5, 0.2, 20).t, williams(0.5, 0.5, 1.0, 20).p) == (0.0, 1.0)
    for r23 in (1.0, 1.0 - 1e-16, 1.0 - 3e-16):  # whichever a processor's rounding gives
        same, nearly = williams(0.5, 0.5 + 1e-12, r23, 20), williams(0.5, 0.5 + 1e-8, r23, 20)
        assert (same.t, same.p) == (0.0, 1.0)
        assert np.isnan([nearly.t, nearly.p]).all()
    assert np.isnan(zou_interval(1.0, 0.5, 0.5, 20)).all()


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [5, 12, 64])
def test_interval_of_r_is_scipys(n: int, level: float) -> None:
    x, y = draw(1, 2, n)
    y = y + x
    found = stats.pearsonr(x, y)
    expected = found.confidence_interval(level)
    assert fisher_interval(found.statistic, n, level) == pytest.approx((expected.low, expected.high))


def test_interval_of_a_perfect_r() -> None:
    assert fisher_interval(1.0, 10) == (1.0, 1.0)
    assert fisher_interval(-1.0, 10) == (-1.0, -1.0)


def test_zou_as_published() -> None:
    """Zou (2007), the example of overlapping correlations."""
    assert [round(end, 3) for end in zou_interval(0.396, 0.179, 0.088, 66)] == [-0.093, 0.517]


def test_zou_by_hand() -> None:
    """r12 .5, r13 0, r23 0, n 28: each interval is tanh(atanh(r) -+ 1.96 / 5).

    The correlation of the two is (0 - 0)(1 - .25) + 0 = 0, so that the ends are plain hypotenuses.
    """
    reach = 1.959963984540054 / 5
    low, high = tanh(atanh(0.5) - reach), tanh(atanh(0.5) + reach)
    beside = tanh(reach)
    expected = 0.5 - sqrt((0.5 - low) ** 2 + beside**2), 0.5 + sqrt((high - 0.5) ** 2 + beside**2)
    assert zou_interval(0.5, 0.0, 0.0, 28) == pytest.approx(expected)


def test_zou_by_hand_where_both_hang_together() -> None:
    """r12 .6, r13 .4, r23 .5, n 28.

    (.5 - .12)(1 - .36 - .16 - .25) + .125 = .38 x .23 + .125 = .2124, over .64 x .84 = .5376.
    """
    together = 0.2124 / 0.5376
    reach = 1.959963984540054 / 5
    ends = {r: (tanh(atanh(r) - reach), tanh(atanh(r) + reach)) for r in (0.6, 0.4)}
    down, up = 0.6 - ends[0.6][0], ends[0.4][1] - 0.4
    low = 0.2 - sqrt(down**2 + up**2 - 2 * together * down * up)
    up, down = ends[0.6][1] - 0.6, 0.4 - ends[0.4][0]
    high = 0.2 + sqrt(up**2 + down**2 - 2 * together * up * down)
    assert zou_interval(0.6, 0.4, 0.5, 28) == pytest.approx((low, high))


@pytest.mark.parametrize("function", [williams, zou_interval])
@pytest.mark.parametrize(
    "wrong", [(1.2, 0.1, 0.1, 9), (0.1, -1.1, 0.1, 9), (0.1, 0.1, np.nan, 9), (0.1, 0.2, 0.1, 3)]
)
def test_what_makes_no_sense(function, wrong: tuple[float, ...]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        function(*wrong)
