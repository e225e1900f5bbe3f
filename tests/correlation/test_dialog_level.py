"""Dialog-level correlations: by centring and numpy, and their intervals by resampling one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.correlation.dialog_level import GROUPED, dialog_level
from extrinsic.correlation.tie_calibration import tie_calibration
from extrinsic.correlation.two_way import SPLITS, TwoWayWeights, draw_two_way
from extrinsic.errors import UsageError
from tests.verdict.drawing import centre, draw

SYSTEMS, DIALOGS = "abcd", [str(number) for number in range(12)]
N = 60


def test_every_split() -> None:
    outcome = draw(1, 4, 12)
    metrics = outcome + draw(2, 2, 4, 12)
    made = {each.split: each for each in dialog_level(metrics, outcome, SYSTEMS, DIALOGS, N, 0)}
    assert tuple(made) == SPLITS
    for split, each in made.items():
        for m, metric in enumerate(metrics):
            expected = np.corrcoef(centre(metric, split).ravel(), centre(outcome, split).ravel())[0, 1]
            assert each.r[m] == pytest.approx(expected)
        assert (each.low <= each.high).all()
        if split in GROUPED:
            assert each.ties[0] == tie_calibration(metrics[0], outcome, GROUPED[split])
        else:
            assert each.ties == ()


def test_resampled_one_at_a_time() -> None:
    """Within systems: the drawn systems and dialogs repeated, then centred."""
    outcome = draw(1, 4, 12)
    metric = outcome + draw(2, 4, 12)
    (within,) = (
        e for e in dialog_level(metric[None], outcome, SYSTEMS, DIALOGS, N, 3) if e.split == "within"
    )

    def resampled(weights: TwoWayWeights) -> list[float]:
        values = []
        for systems, dialogs in zip(weights.systems, weights.dialogs, strict=True):
            rows, columns = (np.repeat(np.arange(len(w)), w.astype(int)) for w in (systems, dialogs))
            x, y = (centre(part[np.ix_(rows, columns)], "within").ravel() for part in (metric, outcome))
            values.append(float(np.corrcoef(x, y)[0, 1]))
        return values

    drawn = draw_two_way(SYSTEMS, DIALOGS, N, 3)
    assert (within.low[0], within.high[0]) == pytest.approx(
        tuple(np.quantile(resampled(drawn), [0.025, 0.975]))
    )
    alone = np.quantile(resampled(drawn.dialogs_alone()), [0.025, 0.975])
    assert (within.dialogs_low[0], within.dialogs_high[0]) == pytest.approx(tuple(alone))


def test_a_missing_point_is_left_out_of_all() -> None:
    outcome = draw(1, 4, 12)
    metrics = outcome + draw(2, 2, 4, 12)
    metrics[0, 1, 3] = np.nan
    made = dialog_level(metrics, outcome, SYSTEMS, DIALOGS, N, 0)
    kept = np.ones((4, 12), dtype=bool)
    kept[1, 3] = False
    assert made[0].r[1] == pytest.approx(np.corrcoef(metrics[1][kept], outcome[kept])[0, 1])


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="every system on every dialog"):
        dialog_level(np.zeros((1, 4, 12)), np.zeros((4, 11)), SYSTEMS, DIALOGS, N, 0)
