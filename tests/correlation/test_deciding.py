"""Which of two trackers is better: against scipy's regression, and calibrated on simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.deciding import DialogNoise, Side, calibration, decide, relation
from extrinsic.errors import UsageError
from tests.correlation.drawing import draw

N = 12


def study(slope: float = 2.0, noise: float = 0.5) -> tuple[Floats, Floats]:
    scores = draw(1, 1, N)
    return scores, slope * scores + noise * draw(2, 1, N) + 7.0


def test_the_line_is_scipy_s() -> None:
    scores, returns = study()
    line, theirs = relation(scores, returns), stats.linregress(scores[0], returns[0])
    assert line.slope == pytest.approx(theirs.slope)
    assert line.slope_error == pytest.approx(theirs.stderr)
    rest = returns[0] - theirs.intercept - theirs.slope * scores[0]
    assert line.residual == pytest.approx(np.sqrt((rest**2).sum() / (N - 2)))
    first, second = np.array([0.4]), np.array([0.1])
    t = theirs.slope * 0.3 / np.sqrt(2.0 * line.residual**2 + (theirs.stderr * 0.3) ** 2)
    assert decide(line, first, second).probability == pytest.approx(stats.t.cdf(t, N - 2))
    assert decide(line, second, first).probability == pytest.approx(stats.t.sf(t, N - 2))


def test_datasets_are_centred_and_averaged() -> None:
    scores, returns = draw(1, 3, N), draw(2, 3, N)
    shifted = relation(scores + np.array([[0.0], [5.0], [9.0]]), returns - np.array([[1.0], [2.0], [3.0]]))
    assert shifted.slope == pytest.approx(relation(scores, returns).slope)


def test_left_out_pair_by_pair() -> None:
    scores, returns = study(1.0, 1.0)
    curve = calibration(scores, returns)
    sure = []
    for i in range(N):
        for j in range(i):
            kept = np.delete(np.arange(N), (i, j))
            line = relation(scores[:, kept], returns[:, kept])
            # Not refused here: the ends of the study are among the pairs.
            t = line.slope * (scores[0, i] - scores[0, j])
            t /= np.sqrt(2 * line.residual**2 + (line.slope_error * (scores[0, i] - scores[0, j])) ** 2)
            p = stats.t.cdf(t, N - 4)
            sure.append((max(p, 1 - p), float((p > 0.5) == (returns[0, i] > returns[0, j]))))
    for part in curve.bins:
        inside = [(p, right) for p, right in sure if part.low <= p < part.high or p == part.high == 1.0]
        assert part.n_pairs == len(inside)
        if inside:
            assert (part.predicted, part.right) == pytest.approx(tuple(np.mean(inside, axis=0)))
    assert curve.right == pytest.approx(np.mean([right for _, right in sure]))


def test_it_is_calibrated() -> None:
    """Of the pairs given 80 to 90 %, 80 to 90 % are right, within the error of so many studies."""
    sums = np.zeros((5, 3))
    for seed in range(40):
        scores = draw(seed, 2, 14)
        curve = calibration(scores, scores + 0.7 * draw(seed + 500, 2, 14))
        for number, part in enumerate(curve.bins):
            sums[number] += np.nan_to_num([1.0, part.predicted, part.right]) * part.n_pairs
    predicted, right = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
    assert right == pytest.approx(predicted, abs=0.07)
    assert 0.8 <= right[3] <= 0.9


def test_refusals() -> None:
    scores, returns = study()
    line = relation(scores, returns)
    outside = decide(line, np.array([99.0]), np.array([0.0]))
    assert outside.side is Side.REFUSED
    assert "99 lies outside" in outside.reason
    assert decide(line, np.array([np.nan]), np.array([0.0])).side is Side.REFUSED
    few = relation(scores[:, :4], returns[:, :4])
    assert decide(few, scores[:, 0], scores[:, 1]).reason == "not decided: 4 trackers, at least 5 are needed"
    flat = relation(np.ones((1, N)), returns)
    assert "the same for all" in decide(flat, np.ones(1), np.ones(1)).reason
    with pytest.raises(UsageError, match="every dataset"):
        decide(line, np.zeros(2), np.zeros(2))
    with pytest.raises(UsageError, match="both alike"):
        relation(scores, returns[:, :3])


def test_equal_scores_are_a_coin() -> None:
    scores, returns = study()
    decision = decide(relation(scores, returns), np.array([0.3]), np.array([0.1 + 0.2]))
    assert decision.side is Side.NOT_DECIDED
    assert decision.probability == 0.5


def test_what_would_settle_it() -> None:
    """With the needed trackers (or dialogs) and the same errors otherwise, the level is just reached."""
    scores, returns = study(2.0, 0.6)
    noise = 0.8 * relation(scores, returns).residual ** 2
    line = relation(scores, returns, DialogNoise(100, 0.0, noise))
    d = 1.3 * np.sqrt(2.0) * line.residual / line.slope
    away = decide(line, np.array([d]), np.array([0.0]))
    assert away.side is Side.NOT_DECIDED
    z = stats.norm.ppf(0.95)
    own, of_slope = 2.0 * line.residual**2, (line.slope_error * d) ** 2
    assert away.dialogs_needed is not None
    shrunk = own - 2.0 * noise + 2.0 * noise * 100 / away.dialogs_needed
    assert line.slope * d / np.sqrt(shrunk + of_slope) == pytest.approx(z, rel=0.02)
    nothing = decide(line, np.array([0.01]), np.array([0.0]))
    assert (nothing.dialogs_needed, nothing.trackers_needed) == (None, None)
