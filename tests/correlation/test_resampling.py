"""Resamples: which trackers are drawn, and the coefficient computed again on each, one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.correlation import resampling
from extrinsic.correlation.resampling import WAYS, Resampled, Sample, draw_trackers, resampled_correlations
from extrinsic.errors import UsageError
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import COEFFICIENTS, Coefficient, correlate
from tests.verdict.drawing import draw, draw_study

N = 12


def sample_of(n_metrics: int = 3, n_datasets: int = 2, n_trackers: int = 6) -> Sample:
    metrics, targets = draw_study(1, n_metrics, n_datasets, n_trackers)
    targets = np.concatenate([targets, draw(2, *targets.shape)])
    return Sample(
        metrics, targets, metrics + draw(3, N, *metrics.shape) / 5, targets + draw(4, N, *targets.shape) / 5
    )


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("way", WAYS)
def test_one_by_one(coefficient: Coefficient, way: Resampled) -> None:
    sample = sample_of()
    drawn = draw_trackers("study", sample.n_trackers, N, 0)
    found = resampled_correlations(sample, coefficient, "within", way, drawn)
    assert found.shape == (N, 3, 2)
    for row in range(N):
        metrics = sample.metrics if way == "trackers" else sample.metrics_drawn[row]
        targets = sample.targets if way == "trackers" else sample.targets_drawn[row]
        if way != "dialogs":
            metrics, targets = metrics[:, :, drawn[row]], targets[:, :, drawn[row]]
        expected = correlate(metrics, targets, coefficient, "within")
        assert found[row] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
@pytest.mark.parametrize("way", WAYS)
def test_blocks_do_not_matter(
    coefficient: Coefficient, way: Resampled, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = sample_of()
    drawn = draw_trackers("study", sample.n_trackers, N, 0)
    expected = resampled_correlations(sample, coefficient, "pooled", way, drawn)
    monkeypatch.setattr(resampling, "BLOCK", 200)
    found = resampled_correlations(sample, coefficient, "pooled", way, drawn)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_same_trackers_of_metrics_and_targets() -> None:
    """A metric that is the target stays so on every resample."""
    sample = sample_of(1)
    twin = replace(sample, targets=sample.metrics, targets_drawn=sample.metrics_drawn)
    drawn = draw_trackers("study", 6, N, 0)
    for way in WAYS:
        assert resampled_correlations(twin, "pearson", "within", way, drawn) == pytest.approx(1.0)


def test_draws_of_trackers() -> None:
    """By name and seed; of two trackers always both, in their four orders less the two with one alone."""
    drawn = draw_trackers("study", 5, 400, 0)
    assert drawn.shape == (400, 5)
    assert (np.unique(drawn) == np.arange(5)).all()
    assert (drawn == draw_trackers("study", 5, 400, 0)).all()
    for other in (draw_trackers("other", 5, 400, 0), draw_trackers("study", 5, 400, 1)):
        assert (drawn != other).any()
    assert np.unique(draw_trackers("study", 2, 100, 0), axis=0).tolist() == [[0, 1], [1, 0]]
    assert (np.ptp(draw_trackers("study", 3, 500, 0), axis=1) > 0).all()
    with pytest.raises(UsageError, match="at least two trackers"):
        draw_trackers("study", 1, 10, 0)


def test_random_numbers_depend_on_what_they_are_for() -> None:
    first = rng_of("trackers", "study", 0).random()
    assert first == rng_of("trackers", "study", 0).random()
    others = [rng_of("swapping", "study", 0), rng_of("trackers", "other", 0), rng_of("trackers", "study", 1)]
    assert len({first, *(rng.random() for rng in others)}) == 4


def test_taking_targets() -> None:
    sample = sample_of()
    part = sample.take_targets(1)
    assert (part.targets == sample.targets[:1]).all()
    assert (part.targets_drawn == sample.targets_drawn[:, :1]).all()
    assert (part.metrics is sample.metrics, part.metrics_drawn is sample.metrics_drawn) == (True, True)


def test_taking_trackers() -> None:
    sample = sample_of()
    part = sample.take_trackers(np.array([4, 1]))
    assert (part.n_trackers, part.n_resamples) == (2, N)
    for name in ("metrics", "targets", "metrics_drawn", "targets_drawn"):
        assert (getattr(part, name) == getattr(sample, name)[..., [4, 1]]).all()
