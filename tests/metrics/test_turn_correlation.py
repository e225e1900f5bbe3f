"""How metrics agree over turns, against numpy on turns scored by hand."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.metrics.state_metrics import KIM_METRICS, turn_correlation
from tests.metrics.dialogs import states_of

# Slots of MultiWOZ are 30. By turn: right; one of two missed; nothing yet, one too many; one wrong of one.
STATES = states_of(
    [("a-a-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1, a-b-1")],
    [("", "b-c-1"), ("b-c-2", "b-c-1")],
)
BY_HAND = {
    "jga": [1, 0, 1, 0, 0],
    "slot_accuracy": [1, 29 / 30, 1, 29 / 30, 29 / 30],
    "slot_f1": [1, 2 / 3, 1, 0, 0],
    "relative_slot_accuracy": [1, 1 / 2, 1, 0, 0],
}


def test_against_numpy() -> None:
    found = turn_correlation(STATES)
    assert found.metrics == KIM_METRICS == tuple(BY_HAND)
    assert found.correlation == pytest.approx(np.corrcoef(list(BY_HAND.values())))
    assert (found.n == 5).all()


def test_a_pair_leaves_out_turns_that_one_does_not_score() -> None:
    # Average goal accuracy has no score for the turn without a gold state: four of five remain.
    found = turn_correlation(STATES, ["jga", "average_goal_accuracy"])
    assert found.n.tolist() == [[5, 4], [4, 4]]
    assert found.correlation[0, 1] == pytest.approx(np.corrcoef([1, 0, 1, 0], [1, 1 / 2, 1, 0])[0, 1])


def test_a_constant_metric_correlates_with_nothing() -> None:
    perfect = states_of([("a-a-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1, a-b-1")])
    rows = turn_correlation(perfect, ["jga", "average_goal_accuracy"]).as_rows()
    assert [row["correlation"] for row in rows] == [None] * 4
    assert [row["n"] for row in rows] == [2] * 4
    # One turn is too few.
    assert np.isnan(turn_correlation(states_of([("a-a-1", "a-a-1")])).correlation).all()
    # Never right, but one slot wrong and then two: only one of the two metrics is constant.
    wrong = states_of([("a-a-1", ""), ("a-a-1, a-b-1", "")])
    found = turn_correlation(wrong, ["jga", "slot_accuracy"]).as_rows()
    assert [row["correlation"] for row in found] == [None, None, None, pytest.approx(1)]


@pytest.mark.parametrize("metric", ["gca", "accuracy", "first_error", "jga(fill=argmax)"])
def test_metrics_without_a_score_for_a_turn_are_refused(metric: str) -> None:
    with pytest.raises(UsageError, match="no score for a single turn"):
        turn_correlation(STATES, ["jga", metric])
