"""Composites against the nested loop written out, sklearn's ridge, scipy's nnls; and nothing leaks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV

from extrinsic.arrays import Floats
from extrinsic.verdict.composite import METHODS, PENALTIES, compose, learn, out_of_sample
from tests.verdict.panels import draw, flattened

N_METRICS, N_DATASETS, N_TRACKERS = 3, 2, 6

Fit = Callable[[Floats, Floats, float], Floats]


def study(seed: int = 1, n_metrics: int = N_METRICS) -> tuple[Floats, Floats]:
    """Metrics of very different size, and a target that is a little of each."""
    metrics = draw(seed, n_metrics, N_DATASETS, N_TRACKERS) * np.logspace(-2, 2, n_metrics)[:, None, None]
    target = np.tensordot(np.logspace(2, -2, n_metrics), metrics, axes=1)
    return metrics + 5.0, 3.0 * target + 2.0 * draw(seed + 50, N_DATASETS, N_TRACKERS)


def ridge(points: Floats, goal: Floats, penalty: float) -> Floats:
    return np.asarray(Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(points, goal).coef_)


def nonnegative(points: Floats, goal: Floats, penalty: float) -> Floats:
    """Least squares with as many rows more as there are metrics."""
    n = points.shape[1]
    return np.asarray(nnls(np.vstack([points, np.sqrt(penalty) * np.eye(n)]), np.r_[goal, np.zeros(n)])[0])


def best_single(points: Floats, goal: Floats, _: float) -> Floats:
    r = [np.corrcoef(column, goal)[0, 1] for column in points.T]
    best = int(np.argmax(r))
    weights = np.zeros(points.shape[1])
    weights[best] = LinearRegression(fit_intercept=False).fit(points[:, [best]], goal).coef_[0]
    return weights


def mean(points: Floats, goal: Floats, _: float) -> Floats:
    slope = LinearRegression(fit_intercept=False).fit(points.mean(axis=1)[:, None], goal).coef_[0]
    return np.full(points.shape[1], slope / points.shape[1])


REFERENCE = {fit.__name__: fit for fit in (ridge, nonnegative, best_single, mean)}
every_method = pytest.mark.parametrize("method", METHODS)


def without(values: Floats, left: int) -> Floats:
    return np.delete(values, left, axis=-1)


def away(values: Floats) -> Floats:
    return values - values.mean(axis=-1, keepdims=True)


def reference(metrics: Floats, target: Floats, fit: Fit, penalised: bool) -> Floats:
    """Weights of the metrics as they are; the penalty is that of ridge, chosen by leaving points out."""
    units = [np.sqrt(np.mean(away(metric) ** 2)) for metric in metrics]
    points = np.column_stack(
        [away(metric).ravel() / unit for metric, unit in zip(metrics, units, strict=True)]
    )
    goal = away(target).ravel()
    errors = []
    for penalty in PENALTIES if penalised else PENALTIES[:1]:
        rest = [np.delete(np.arange(len(goal)), left) for left in range(len(goal))]
        weights = [ridge(points[others], goal[others], penalty) for others in rest]
        errors.append(sum((points[i] @ weights[i] - goal[i]) ** 2 for i in range(len(goal))))
    return np.asarray(fit(points, goal, PENALTIES[int(np.argmin(errors))]) / np.array(units))


def predicted(metrics: Floats, target: Floats, method: str) -> Floats:
    ahead, _ = out_of_sample(metrics, target, METHODS[method])
    return ahead


@every_method
@pytest.mark.parametrize("seed", [1, 2])
def test_the_nested_loop_written_out(method: str, seed: int) -> None:
    metrics, target = study(seed)
    fit, penalised = REFERENCE[method], method in ("ridge", "nonnegative")
    found, wanted = out_of_sample(metrics, target, METHODS[method])
    for left in range(N_TRACKERS):
        others = without(metrics, left)
        weights = reference(others, without(target, left), fit, penalised)
        for dataset in range(N_DATASETS):
            ahead = metrics[:, dataset, left] - others[:, dataset].mean(axis=-1)
            assert found[dataset, left] == pytest.approx(weights @ ahead)
            apart = target[dataset, left] - without(target, left)[dataset].mean()
            assert wanted[dataset, left] == pytest.approx(apart)
    weights = reference(metrics, target, fit, penalised)
    units = np.array([np.sqrt(np.mean(away(metric) ** 2)) for metric in metrics])
    assert learn(metrics, target, METHODS[method])[0] == pytest.approx(weights * units)
    fitted = np.tensordot(weights, metrics, axes=1)
    r = [
        np.corrcoef(flattened(x, "within"), flattened(y, "within"))[0, 1]
        for x, y in ((found, wanted), (fitted, target))
    ]
    made = compose(metrics, target, method)
    assert [made.r, made.r_in_sample] == pytest.approx(r, abs=1e-9)
    assert made.shares == pytest.approx(weights * units / np.abs(weights * units).sum(), abs=1e-8)


@pytest.mark.parametrize("shape", [(12, 3), (8, 20)])
def test_nonnegative_is_optimal(shape: tuple[int, int]) -> None:
    """No weight below 0; the slope is 0 where there is weight and uphill where there is none."""
    points, goal = draw(7, *shape), draw(8, shape[0])
    weights = METHODS["nonnegative"](points, goal)
    penalty = RidgeCV(alphas=PENALTIES, fit_intercept=False).fit(points, goal).alpha_
    slope = points.T @ (points @ weights - goal) + penalty * weights
    assert (weights >= 0.0).all()
    assert 0 < np.count_nonzero(weights) < shape[1]
    assert (slope >= -1e-9).all()
    assert weights * slope == pytest.approx(np.zeros(shape[1]), abs=1e-9)
    assert weights == pytest.approx(nonnegative(points, goal, penalty))


@every_method
@pytest.mark.parametrize("left", [0, N_TRACKERS - 1])
def test_a_target_left_out_is_not_looked_at(method: str, left: int) -> None:
    metrics, target = study(9, n_metrics=10)
    before = out_of_sample(metrics, target, METHODS[method])
    target[:, left] += [100.0, -300.0]
    after = out_of_sample(metrics, target, METHODS[method])
    assert (after[0][:, left] == before[0][:, left]).all()
    assert (without(after[0], left) != without(before[0], left)).any(axis=0).all()
    assert after[1][:, left] - before[1][:, left] == pytest.approx(np.array([100.0, -300.0]))


@every_method
def test_a_tracker_left_out_does_not_teach(method: str) -> None:
    """Its metrics neither: only its own prediction is a (straight) line in them."""
    metrics, target = study(10)
    ahead = []
    for step in (0.0, 1.0, 2.0):
        moved = metrics.copy()
        moved[:, 1, 2] += step * np.array([0.01, 1.0, 50.0])
        ahead.append(predicted(moved, target, method)[:, 2])
    assert ahead[2] - ahead[1] == pytest.approx(ahead[1] - ahead[0])
    assert ahead[1][0] == ahead[0][0]
    assert ahead[1][1] != ahead[0][1]


@every_method
def test_units_do_not_matter(method: str) -> None:
    metrics, target = study(11)
    slopes, shifts = np.array([1e3, 1e-3, 7.0])[:, None, None], np.array([[0.0], [5.0]])
    moved = slopes * metrics + shifts, target + shifts
    assert predicted(*moved, method) == pytest.approx(predicted(metrics, target, method))
    assert compose(*moved, method).shares == pytest.approx(compose(metrics, target, method).shares)


def test_best_single_by_hand() -> None:
    """The first metric is the target in other units: all weight on it, and each tracker foretold."""
    target = draw(12, N_DATASETS, N_TRACKERS)
    metrics = np.stack([target / 4.0 + 1.0, -target, draw(13, N_DATASETS, N_TRACKERS)])
    found = compose(metrics, target, "best_single")
    assert found.shares.tolist() == [1.0, 0.0, 0.0]
    assert np.subtract(*out_of_sample(metrics, target, METHODS["best_single"])) == pytest.approx(0.0)
    assert (found.r, found.r_in_sample) == pytest.approx((1.0, 1.0))


def test_rounding_does_not_choose_among_equal_metrics() -> None:
    """Both are the target over the trackers that teach, and disagree about the one that is left out."""
    target = draw(16, 1, N_TRACKERS)
    first, second = 3.0 * target + 0.7, target / 7.0 + 0.1
    first[0, -1], second[0, -1] = 5.0, -5.0
    others = np.arange(N_TRACKERS - 1)
    for noise in range(20):
        moved = np.stack([first, second]) * (1.0 + 1e-14 * draw(noise, 2, 1, N_TRACKERS))
        found = compose(moved[..., others], target[:, others], "best_single")
        assert found.shares.tolist() == [1.0, 0.0]


def test_shares_that_differ_by_rounding_are_equal() -> None:
    metrics, target = study(17)
    made = compose(np.concatenate([metrics, metrics * (1.0 + 1e-13)]), target, "ridge")
    assert (made.shares[:N_METRICS] == made.shares[N_METRICS:]).all()
    assert np.abs(made.shares).sum() == pytest.approx(1.0)


@every_method
@pytest.mark.parametrize("first", [0.3, 0.1 + 0.2])
def test_a_metric_flat_up_to_rounding_says_nothing(method: str, first: float) -> None:
    metrics, target = study(15)
    flat = np.full((1, N_DATASETS, N_TRACKERS), 0.3)
    flat[0, 0, 0] = first
    with_flat = predicted(np.concatenate([metrics, flat]), target, method)
    assert with_flat == pytest.approx(predicted(metrics, target, method))


@every_method
def test_done_again_without_each_tracker(method: str) -> None:
    metrics, target = study(3)
    made = compose(metrics, target, method)
    for left in range(N_TRACKERS):
        again = compose(without(metrics, left), without(target, left), method)
        assert made.left_out[left] == pytest.approx(again.r)
