"""Which of two trackers is better: against scipy's regression, and calibrated on simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.deciding import MOST_PAIRS, DialogNoise, Side, calibration, decide, relation
from extrinsic.errors import UsageError
from extrinsic.verdict.coefficients import correlate
from tests.verdict.drawing import draw

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


def shrunk_line(scores: Floats, returns: Floats) -> tuple[int, float, float, float]:
    """The chosen metric, its shrunk slope, the residual and the slope's error, by plain loops."""

    def fitted(kept: list[int]) -> tuple[int, Floats, Floats, float]:
        r = correlate(scores[..., kept], returns[None][..., kept], "pearson", "within")[:, 0]
        metric = int(r.argmax())
        x, y = ((v - v[:, kept].mean(axis=1, keepdims=True)).mean(axis=0) for v in (scores[metric], returns))
        return metric, x, y, float(x[kept] @ y[kept] / (x[kept] @ x[kept]))

    n = returns.shape[1]
    predicted, goal = np.zeros(n), np.zeros(n)
    for left in range(n):
        _, x, y, slope = fitted([tracker for tracker in range(n) if tracker != left])
        predicted[left], goal[left] = slope * x[left], y[left]
    shrinkage = min(max(float(predicted @ goal / (predicted @ predicted)), 0.0), 1.0)
    residual = float(np.sqrt(((goal - shrinkage * predicted) ** 2).sum() / (n - 2)))
    metric, x, _, slope = fitted(list(range(n)))
    return metric, shrinkage * slope, residual, residual / float(np.sqrt(x @ x))


@pytest.mark.parametrize("seed", [3, 5])
def test_a_chosen_metric_is_shrunk_by_what_the_rest_would_have_chosen(seed: int) -> None:
    returns = draw(seed, 2, 9)
    scores = returns + np.array([0.7, 0.9, 0.8])[:, None, None] * draw(seed + 1, 3, 2, 9)
    line = relation(scores, returns)
    metric, slope, residual, error = shrunk_line(scores, returns)
    assert line.metric == metric
    assert (line.slope, line.residual, line.slope_error) == pytest.approx((slope, residual, error))
    assert line.lowest == pytest.approx(scores[metric].min(axis=1))


def test_a_metric_is_chosen_without_the_pair() -> None:
    """Pair by pair, against the line of the metric that the other trackers choose."""
    returns = draw(3, 2, 9)
    scores = returns + np.array([1.0, 1.1, 1.2])[:, None, None] * draw(4, 3, 2, 9)
    sure, chosen = [], []
    for i in range(9):
        for j in range(i):
            kept = np.delete(np.arange(9), (i, j))
            metric, slope, residual, error = shrunk_line(scores[..., kept], returns[:, kept])
            away = (scores[metric, :, i] - scores[metric, :, j]).mean()
            p = stats.t.cdf(slope * away / np.sqrt(2 * residual**2 + (error * away) ** 2), 9 - 4)
            said, better = np.sign(p - 0.5), np.sign((returns[:, i] - returns[:, j]).mean())
            sure.append((max(p, 1 - p), 0.5 + 0.5 * said * better))
            chosen.append(metric)
    curve = calibration(scores, returns)
    assert len(set(chosen)) > 1
    for part in curve.bins:
        inside = [(p, right) for p, right in sure if part.low <= p < part.high]
        assert part.n_pairs == len(inside)
        if inside:
            assert (part.predicted, part.right) == pytest.approx(tuple(np.mean(inside, axis=0)))


def test_many_trackers_are_left_out_in_some_pairs() -> None:
    scores = draw(1, 3, 1, 60)
    assert calibration(scores, scores[0] + draw(2, 1, 60)).n_pairs == MOST_PAIRS < 60 * 59 // 2


def test_the_first_of_many_metrics_is_calibrated() -> None:
    """Chosen of thirty, each with r = .8, by fourteen trackers."""
    sums = np.zeros((5, 3))
    for seed in range(60):
        returns = draw(seed, 1, 14)
        scores = 0.8 * returns + 0.6 * draw(seed + 500, 30, 1, 14)
        for number, part in enumerate(calibration(scores, returns).bins):
            sums[number] += np.nan_to_num([1.0, part.predicted, part.right]) * part.n_pairs
    right = sums[:, 2] / sums[:, 0]
    assert 0.8 <= right[3] <= 0.9
    assert right[4] >= 0.9


def test_chosen_noise_is_no_knowledge() -> None:
    """The first of thirty unrelated metrics: hardly a pair gets more than 60 %."""
    sums = np.zeros(5)
    for seed in range(20):
        curve = calibration(draw(seed, 30, 1, 12), draw(seed + 500, 1, 12))
        sums += [part.n_pairs for part in curve.bins]
    assert sums[0] / sums.sum() > 0.75


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
    assert "99 is beyond" in outside.reason
    assert decide(line, np.array([np.nan]), np.array([0.0])).side is Side.REFUSED
    few = relation(scores[:, :4], returns[:, :4])
    assert decide(few, scores[:, 0], scores[:, 1]).reason == "not decided: 4 trackers, at least 5 are needed"
    flat = relation(np.ones((1, N)), returns)
    assert "the same for all" in decide(flat, np.ones(1), np.ones(1)).reason
    with pytest.raises(UsageError, match="every dataset"):
        decide(line, np.zeros(2), np.zeros(2))
    with pytest.raises(UsageError, match="same datasets and trackers"):
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
