"""The best set and the ranks: against loops over metrics and draws, and beside the model confidence set of
arch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.best_set import FLOOR, best_set
from extrinsic.errors import UsageError
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import FEWEST_SYSTEMS, FEWEST_TO_EXTRAPOLATE, TAILS, without_each
from extrinsic.verdict.item_level import CrossedWeights, tracker_sums
from tests.verdict.drawing import draw

DRAWS = 99


def study(seed: int, spreads: list[float], n_trackers: int) -> tuple[Floats, Floats]:
    """r (n_metrics,) and left_out (n_trackers, n_metrics) of metrics that see the target with some noise."""
    target = draw(seed, 1, 2, n_trackers)
    metrics = target + np.array(spreads)[:, None, None] * draw(seed + 1, len(spreads), 2, n_trackers)
    r = correlate(metrics, target, "pearson", "within")[:, 0]
    return r, without_each(metrics, target, "pearson", "within")[..., 0]


def degrees(columns: list[Floats]) -> float:
    kurtosis = float(np.mean([stats.kurtosis(column, bias=False) for column in columns]))
    return (len(columns[0]) - 1) / (1.0 + TAILS * max(kurtosis, 0.0))


def by_loops(r: Floats, left_out: Floats, alpha: float) -> tuple[list[float], list[int], list[int]]:
    """p, rank_low and rank_high, one comparison at a time."""
    n, size = left_out.shape
    z = np.arctanh(r)
    pseudo = [n * z[k] - (n - 1) * np.arctanh(left_out[:, k]) for k in range(size)]
    error = [column.std(ddof=1) / np.sqrt(n) for column in pseudo]
    draws = rng_of("best set", "study", 0).normal(size=(DRAWS, n))
    moved = [[(row * (c - c.mean())).sum() / np.sqrt(n * (n - 1)) for c in pseudo] for row in draws]
    pairs = [(j, k) for j in range(size) for k in range(j)]
    nu = degrees([pseudo[j] - pseudo[k] for j, k in pairs])

    def between(j: int, k: int) -> float:
        alone = (pseudo[j] - pseudo[k]).std(ddof=1) / np.sqrt(n)
        return max(float(alone), FLOOR * float(max(error[j], error[k])))

    def shown(k: int, sign: float) -> tuple[float, set[int]]:
        left = {j for j in range(size) if j != k}
        first = None
        while left:
            largest = [max(sign * (row[j] - row[k]) / between(j, k) for j in left) for row in moved]
            p = {}
            for j in left:
                t = sign * (z[j] - z[k]) / between(j, k)
                same = stats.norm.ppf(stats.t.cdf(t, nu)) if t < 0 else -stats.norm.ppf(stats.t.sf(t, nu))
                p[j] = (sum(x >= same - 1e-9 for x in largest) + 1) / (DRAWS + 1)
            first = min(p.values()) if first is None else first
            gone = {j for j in left if p[j] <= alpha}
            if not gone:
                break
            left -= gone
        return first or 1.0, {j for j in range(size) if j != k} - left

    better = [shown(k, 1.0) for k in range(size)]
    worse = [shown(k, -1.0)[1] for k in range(size)]
    high = [size - sum(k in better[j][1] for j in worse[k]) for k in range(size)]
    return [p for p, _ in better], [1 + len(those) for _, those in better], high


@pytest.mark.parametrize("seed", range(4))
def test_by_loops(seed: int) -> None:
    r, left_out = study(seed, [0.2, 0.4, 1.0, 3.0], 12)
    made = best_set(r, left_out, DRAWS, "study", 0)
    p, low, high = by_loops(r, left_out, 0.05)
    assert made.p == pytest.approx(p)
    assert made.rank_low.tolist() == low
    assert made.rank_high.tolist() == high
    assert made.in_set.tolist() == [rank == 1 for rank in low]
    assert sorted(made.rank.tolist()) == [1, 2, 3, 4]


def test_simultaneous_intervals_by_hand() -> None:
    r, left_out = study(5, [0.2, 0.4, 1.0], 10)
    made = best_set(r, left_out, DRAWS, "study", 0)
    n = len(left_out)
    pseudo = n * np.arctanh(r) - (n - 1) * np.arctanh(left_out)
    error = pseudo.std(axis=0, ddof=1) / np.sqrt(n)
    draws = rng_of("best set", "study", 0).normal(size=(DRAWS, n))
    moved = np.array([((row[:, None] * (pseudo - pseudo.mean(axis=0))).sum(axis=0)) for row in draws])
    largest = (np.abs(moved) / np.sqrt(n * (n - 1)) / error).max(axis=1)
    chance = stats.norm.cdf(np.quantile(largest, 0.95))
    reach = stats.t.ppf(chance, degrees(list(pseudo.T))) * error
    assert made.low == pytest.approx(np.tanh(np.arctanh(r) - reach))
    assert made.high == pytest.approx(np.tanh(np.arctanh(r) + reach))


def test_beside_the_model_confidence_set() -> None:
    """Hansen's, over the same pseudo-values as losses: where metrics are far apart, both keep the same
    ones."""
    mcs = pytest.importorskip("arch.bootstrap").MCS
    for seed in range(3):
        r, left_out = study(10 + seed, [0.3, 0.3, 0.3, 2.0, 3.0], 60)
        made = best_set(r, left_out, 999, "study", 0)
        n = len(left_out)
        losses = (n - 1) * np.arctanh(left_out) - n * np.arctanh(r)
        other = mcs(losses, size=0.05, reps=999, block_size=1, seed=seed)
        other.compute()
        assert set(other.included) <= {0, 1, 2}
        assert {int(k) for k in np.flatnonzero(made.in_set)} <= {0, 1, 2}
        assert set(other.included) & set(np.flatnonzero(made.in_set).tolist())


def test_metrics_that_are_one_stay_together() -> None:
    """A copy, and one that differs by a thousandth: with any number of trackers, never told apart."""
    target = draw(1, 1, 2, 40)
    metric = target + 0.5 * draw(2, 1, 2, 40)
    metrics = np.concatenate([metric, metric, metric + 1e-3 * draw(3, 1, 2, 40), draw(4, 1, 2, 40)])
    r = correlate(metrics, target, "pearson", "within")[:, 0]
    made = best_set(r, without_each(metrics, target, "pearson", "within")[..., 0], 999, "study", 0)
    assert made.in_set.tolist() == [True, True, True, False]
    assert made.rank_high[:3].tolist() == [3, 3, 3]
    assert made.rank[0] == made.rank[1]


def test_a_perfect_metric_is_the_best() -> None:
    target = draw(1, 1, 1, 12)
    metrics = np.concatenate([target, 2.0 * target, draw(2, 1, 1, 12)])
    r = correlate(metrics, target, "pearson", "within")[:, 0]
    made = best_set(r, without_each(metrics, target, "pearson", "within")[..., 0], 199, "study", 0)
    assert made.in_set.tolist() == [True, True, False]


def test_few_trackers_decide_nothing() -> None:
    r, left_out = study(1, [0.2, 3.0], FEWEST_SYSTEMS - 1)
    made = best_set(r, left_out, 99, "study", 0)
    assert made.undecided == "not decided: 4 trackers, at least 5 are needed"
    assert made.size == 0
    assert np.isnan(made.p).all()
    assert made.rank.tolist() == [1, 2]


def test_a_constant_metric_has_no_rank() -> None:
    r, left_out = study(1, [0.2, 0.3], 9)
    made = best_set(np.append(r, np.nan), np.column_stack([left_out, np.full(9, np.nan)]), 99, "study", 0)
    assert (made.rank[2], made.rank_low[2], made.rank_high[2], made.in_set[2]) == (0, 0, 0, False)
    assert made.rank_high.max() == 2
    assert best_set(np.full(2, np.nan), np.full((9, 2), np.nan), 99, "study", 0).undecided


def test_arrays_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="metrics of r"):
        best_set(np.zeros(3), np.zeros((9, 2)), 99, "study", 0)


def test_of_few_trackers_no_number_is_extrapolated() -> None:
    for n, some in ((FEWEST_TO_EXTRAPOLATE - 1, False), (FEWEST_TO_EXTRAPOLATE, True)):
        r, left_out = study(3, [0.3, 0.5, 0.6, 1.0], n)
        made = best_set(r, left_out, DRAWS, "study", 0)
        assert made.size > 1
        assert np.isfinite(made.needed).any() == some
        assert not (made.needed <= n).any()


def crossed_study(seed: int, n_generators: int = 4) -> tuple[Floats, list[Floats]]:
    """Three metrics that are equally good and one that is not, over trackers x generators x dialogs."""
    rng = np.random.default_rng(seed)
    sizes = (12, n_generators, 30)
    ability = rng.normal(size=12)
    chance = ability[None, :, None] + rng.normal(size=(n_generators, 12, 1)) + rng.normal(size=(1, 1, 30))
    outcomes = (chance + rng.logistic(size=chance.shape) > 0.0).astype(float)
    metrics = ability + np.array([[0.3], [0.3], [0.3], [3.0]]) * rng.normal(size=(4, 12))
    observed = tracker_sums(metrics[None], outcomes, CrossedWeights.observed(*sizes)).correlations[0]
    left_out = [
        tracker_sums(
            np.broadcast_to(metrics, (size, 4, 12)), outcomes, CrossedWeights.without_each(sizes, axis)
        ).correlations
        for axis, size in enumerate(sizes)
    ]
    return observed, left_out


def test_a_crossed_sample_adds_its_own_errors() -> None:
    r, (trackers, generators, _) = crossed_study(0)
    alone = best_set(r, trackers, DRAWS, "study", 0)
    both = best_set(r, trackers, DRAWS, "study", 0, crossed=[generators])
    assert (both.high - both.low > alone.high - alone.low).all()
    still = best_set(r, trackers, DRAWS, "study", 0, crossed=[np.tile(r, (5, 1))])
    assert still.p == pytest.approx(alone.p)
    with pytest.raises(UsageError, match="must have the metrics of r"):
        best_set(r, trackers, DRAWS, "study", 0, crossed=[generators[:, :2]])


def test_more_trackers_do_not_make_crossed_errors_smaller() -> None:
    """Of two metrics: n with n_trackers / n times the trackers' variance, and all of the generators'."""
    r, (trackers, generators, _) = crossed_study(7)
    alone = best_set(r, trackers, DRAWS, "study", 0).needed
    both = best_set(r, trackers, DRAWS, "study", 0, crossed=[generators]).needed
    either = np.isfinite(alone) & np.isfinite(both)
    assert either.any() and (both[either] >= alone[either]).all()
    # Errors that trackers have no part in: no number of them would do.
    noisy = np.clip(r + 5.0 * (generators - r), -0.99, 0.99)
    made = best_set(r, trackers, DRAWS, "study", 0, crossed=[noisy])
    assert np.isnan(made.needed[made.in_set & (made.rank > 1)]).any()


def test_the_best_are_in_the_set_of_crossed_studies() -> None:
    made = []
    for seed in range(60):
        r, (trackers, *crossed) = crossed_study(seed)
        made.append(best_set(r, trackers, DRAWS, "study", seed, crossed=crossed))
    assert np.mean([study.in_set[:3] for study in made]) > 0.95
    assert np.mean([study.rank_high[3] for study in made]) == 4
    assert np.mean([study.in_set[3] for study in made]) < 0.7
