"""Reliabilities and the correlation without noise, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.correlation.disattenuation import disattenuation
from extrinsic.correlation.resampling import Sample
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import Interval
from tests.verdict.drawing import draw, draw_study


def with_noise(metrics: Floats, targets: Floats, noise_x: Floats, noise_y: Floats) -> Sample:
    return Sample(metrics, targets, metrics + noise_x, targets + noise_y)


@pytest.mark.parametrize("scope", ["within", "pooled"])
def test_point_by_point(scope: str) -> None:
    """Sums over resamples, datasets and trackers, one at a time."""
    metrics, targets = draw_study(1, 2, 3, 6)
    noise_x, noise_y = 0.3 * draw(2, 5, *metrics.shape), 0.4 * draw(3, 5, *targets.shape)
    made = disattenuation(with_noise(metrics, targets, noise_x, noise_y), scope)  # type: ignore[arg-type]
    axes = -1 if scope == "within" else (-2, -1)

    def centred(values: Floats) -> Floats:
        return values - values.mean(axis=axes, keepdims=True)

    for m in range(2):
        x, y = centred(metrics[m]), centred(targets[0])
        n_xx = np.mean([(centred(row[m]) ** 2).sum() for row in noise_x])
        n_yy = np.mean([(centred(row[0]) ** 2).sum() for row in noise_y])
        n_xy = np.mean([(centred(a[m]) * centred(b[0])).sum() for a, b in zip(noise_x, noise_y, strict=True)])
        s_xx, s_yy, s_xy = (x**2).sum(), (y**2).sum(), (x * y).sum()
        assert made.metric[m] == pytest.approx(1.0 - n_xx / s_xx)
        assert made.target[0] == pytest.approx(1.0 - n_yy / s_yy)
        r = correlate(metrics, targets, "pearson", scope)  # type: ignore[arg-type]
        if made.possible[m, 0]:
            expected = (s_xy - n_xy) / np.sqrt((s_xx - n_xx) * (s_yy - n_yy))
            assert made.true(r)[m, 0] == pytest.approx(np.clip(expected, -1.0, 1.0))


def test_spearman_s_closed_form() -> None:
    """Noise of known variance that metric and target do not share: r over the root of the reliabilities."""
    rng = np.random.default_rng(7)
    n, r, noise = 4_000, 0.8, 0.6
    truth = rng.multivariate_normal([0.0, 0.0], [[1.0, r], [r, 1.0]], n).T[:, None, None, :]
    seen = truth + noise * rng.normal(size=truth.shape)
    drawn = seen[:, None] + noise * rng.normal(size=(2, 40, 1, 1, n))
    made = disattenuation(Sample(seen[0], seen[1], drawn[0], drawn[1]), "within")
    assert made.metric[0] == pytest.approx(1.0 / (1.0 + noise**2), abs=0.02)
    observed = correlate(seen[0], seen[1], "pearson", "within")
    assert observed[0, 0] == pytest.approx(r / (1.0 + noise**2), abs=0.03)
    assert made.true(observed)[0, 0] == pytest.approx(r, abs=0.03)


def test_shared_noise_is_not_correlation() -> None:
    """Values that are unrelated, with the same noise in both: r shows it, r_true does not."""
    rng = np.random.default_rng(8)
    truth, noise = rng.normal(size=(2, 1, 1, 3_000)), 0.7 * rng.normal(size=(1, 1, 3_000))
    drawn_noise = 0.7 * rng.normal(size=(60, 1, 1, 3_000))
    x, y = truth[0] + noise, truth[1] + noise
    made = disattenuation(Sample(x, y, x + drawn_noise, y + drawn_noise), "within")
    observed = correlate(x, y, "pearson", "within")
    assert observed[0, 0] > 0.25
    assert made.true(observed)[0, 0] == pytest.approx(0.0, abs=0.05)


def test_without_resampled_dialogs_nothing_changes() -> None:
    metrics, targets = draw_study(1, 3, 2, 6)
    made = disattenuation(Sample.of_trackers(metrics, targets, 10), "within")
    r = correlate(metrics, targets, "pearson", "within")
    assert made.metric == pytest.approx(np.ones(3))
    assert made.true(r) == pytest.approx(r)
    low, high = made.true_interval(Interval(r - 0.1, r + 0.1))
    assert (low <= high).all()


def test_more_noise_than_signal() -> None:
    metrics, targets = draw_study(1, 2, 2, 6)
    made = disattenuation(
        with_noise(metrics, targets, 3.0 * draw(2, 50, 2, 2, 6), 0.0 * targets[None].repeat(50, 0)), "within"
    )
    assert (made.metric < 0.5).all()
    assert not made.possible.any()
    assert np.isnan(made.true(np.zeros((2, 1)))).all()


def test_a_constant_metric_has_no_reliability() -> None:
    metrics, targets = draw_study(1, 2, 2, 6)
    metrics[0] = 1.0
    made = disattenuation(Sample.of_trackers(metrics, targets, 5), "within")
    assert np.isnan(made.metric[0])
    assert not made.possible[0, 0]
