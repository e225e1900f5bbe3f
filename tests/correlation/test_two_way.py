"""Systems by dialogs against brute force: cells repeated as drawn, effects taken away by least squares."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.correlation.partial import partial_scatter, scatter_correlations
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.correlation.two_way import (
    BLOCK,
    SPLITS,
    Split,
    TwoWaySums,
    TwoWayWeights,
    draw_two_way,
    two_way_scatter,
)
from extrinsic.panel import item_weights
from tests.verdict.drawing import centre, draw


def grid(gaps: bool = True) -> tuple[Floats, Bools]:
    """(4, 4, 9) values with effects of systems and dialogs, NaN where (4, 9) is not present."""
    present = np.ones((4, 9), dtype=bool)
    if gaps:
        present[[0, 0, 2], [1, 5, 7]] = False
    values = draw(1, 4, 4, 9) + draw(2, 4, 4, 1) + draw(3, 4, 1, 9)
    values[2] += values[0]
    values[3] = values[3] > 0.0
    return np.where(present, values, np.nan), present


def residuals(columns: Floats, values: Floats) -> Floats:
    """(n_points, k) what dummies (n_points, m) leave of values."""
    return np.asarray(values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0])


def by_brute_force(values: Floats, present: Bools, systems: Ints, dialogs: Ints) -> dict[Split, Floats]:
    cells = [
        (s, d) for s, d in zip(*np.nonzero(present), strict=True) for _ in range(systems[s] * dialogs[d])
    ]
    points = np.array([values[:, s, d] for s, d in cells])
    of_system = np.array([[s == i for i in range(len(systems))] for s, _ in cells], dtype=float)
    of_dialog = np.array([[d == i for i in range(len(dialogs))] for _, d in cells], dtype=float)
    means = [points[of_system[:, s] > 0].mean(axis=0) for s in range(len(systems)) for _ in range(systems[s])]
    left: dict[Split, Floats] = {
        "pooled": points - points.mean(axis=0),
        "between": np.array(means) - np.mean(means, axis=0),
        "within": residuals(of_system, points),
        "dialog": residuals(of_dialog, points),
        "both": residuals(np.hstack([of_system, of_dialog]), points),
    }
    return {split: part.T @ part for split, part in left.items()}


@pytest.mark.parametrize("gaps", [False, True])
def test_scatters_by_brute_force(gaps: bool) -> None:
    values, present = grid(gaps)
    rng = np.random.default_rng(3)
    systems = np.concatenate([np.ones((1, 4), int), rng.multinomial(4, [0.25] * 4, size=8)])
    dialogs = np.concatenate([np.ones((1, 9), int), rng.multinomial(9, [1 / 9] * 9, size=8)])
    # A resample may leave a dialog, or a system, without any cell; the effects of what is left still hold.
    systems[3] = [0, 2, 1, 1]
    dialogs[:, 0] += 1
    scatters = two_way_scatter(TwoWaySums.of(values, present), TwoWayWeights(systems, dialogs))
    for number in range(len(systems)):
        expected = by_brute_force(values, present, systems[number], dialogs[number])
        for split in SPLITS:
            assert scatters[split][number] == pytest.approx(expected[split], abs=1e-9), split


@pytest.mark.parametrize("split", SPLITS)
def test_without_gaps_it_is_the_correlation_of_what_is_centred(split: Split) -> None:
    values, present = grid(gaps=False)
    scatter = two_way_scatter(TwoWaySums.of(values, present), TwoWayWeights.observed(4, 9))[split]
    expected = np.corrcoef(centre(values, split).reshape(4, -1))
    assert scatter_correlations(scatter, range(4), range(4))[0] == pytest.approx(expected)


def test_correlations_given_others() -> None:
    values, present = grid()
    scatter = two_way_scatter(TwoWaySums.of(values, present), TwoWayWeights.observed(4, 9))["pooled"]
    points = values[:, present].T
    held = np.column_stack([np.ones(len(points)), points[:, 1:3]])
    left = residuals(held, points[:, [0, 3]])
    r = scatter_correlations(partial_scatter(scatter, [1, 2]), [0], [3])
    assert r[0, 0, 0] == pytest.approx(np.corrcoef(left.T)[0, 1])


def test_draws() -> None:
    names = [str(i) for i in range(9)]
    drawn = draw_two_way("wxyz", names, 50, 1)
    assert (drawn.systems.sum(axis=1) == 4).all()
    assert (drawn.dialogs.sum(axis=1) == 9).all()
    assert ((drawn.systems > 0).sum(axis=1) >= 2).all()
    # The draws of a study of the same systems and dialogs.
    counts = [np.bincount(row, minlength=4) for row in draw_trackers("w x y z", 4, 50, 1)]
    assert (drawn.systems == np.array(counts)).all()
    assert (drawn.dialogs == item_weights(" ".join(names), 9, 50, 1)).all()
    alone = drawn.dialogs_alone()
    assert (alone.systems == 1.0).all()
    assert alone.dialogs is drawn.dialogs


def test_blocks_of_resamples_make_no_difference() -> None:
    values, present = grid()
    drawn = draw_two_way("wxyz", "abcdefghi", BLOCK + 7, 1)
    scatters = two_way_scatter(TwoWaySums.of(values, present), drawn)
    last = TwoWayWeights(drawn.systems[BLOCK:], drawn.dialogs[BLOCK:])
    for split, part in two_way_scatter(TwoWaySums.of(values, present), last).items():
        assert scatters[split].shape == (BLOCK + 7, 4, 4)
        assert scatters[split][BLOCK:] == pytest.approx(part, nan_ok=True)
