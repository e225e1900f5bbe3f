"""The filter, and policies that do what the system would have done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import ActionModel
from extrinsic.policy.filter import admit
from extrinsic.policy.states import States
from extrinsic.policy.supervised import SupervisedPolicy
from tests.policy.decisions import drawn_decisions, states_of


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, np.ndarray]:
    """Probabilities with ties and zeros, and what is possible: at least one action in every state."""
    n, n_actions = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    odds = draw(arrays.arrays(float, (n, n_actions), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    odds[odds.sum(axis=1) == 0.0] = 1.0
    possible = draw(arrays.arrays(bool, (n, n_actions)))
    possible[np.arange(n), draw(st.lists(st.integers(0, n_actions - 1), min_size=n, max_size=n))] = True
    return odds / odds.sum(axis=1, keepdims=True), possible


@given(tables(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.99]))
def test_every_state_keeps_an_action(table: tuple[Floats, np.ndarray], threshold: float) -> None:
    chances, possible = table
    for allowed in (None, possible):
        admitted = admit(chances, threshold, allowed)
        for row, (chance, kept) in enumerate(zip(chances.tolist(), admitted.tolist(), strict=True)):
            can = [True] * len(chance) if allowed is None else allowed[row].tolist()
            likely = [p > threshold and ok for p, ok in zip(chance, can, strict=True)]
            if any(likely):
                assert kept == likely
            else:
                best = max(p for p, ok in zip(chance, can, strict=True) if ok)
                (only,) = [i for i, flag in enumerate(kept) if flag]
                assert can[only]
                assert chance[only] == best


def test_by_hand() -> None:
    chances = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    assert admit(chances, 0.2).tolist() == [[True, True, False]] * 2
    possible = np.array([[False, True, True], [False, False, True]])
    assert admit(chances, 0.2, possible).tolist() == [[False, True, False], [False, False, True]]
    assert chances.tolist() == [[0.5, 0.3, 0.2]] * 2  # left alone


@pytest.mark.parametrize("threshold", [-0.01, 1.0, 2.0, float("nan")])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    with pytest.raises(UsageError, match=r"must lie in \[0, 1\)"):
        admit(np.ones((1, 1)), threshold)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_probabilities_are_numbers(number: float) -> None:
    with pytest.raises(UsageError, match="finite"):
        admit(np.array([[0.5, 0.5], [number, 0.5]]), 0.1)


def test_where_nothing_can_be_done() -> None:
    with pytest.raises(UsageError, match="nothing at all can be done"):
        admit(np.full((2, 2), 0.5), 0.1, np.array([[True, False], [False, False]]))


class Fixed(ActionModel):
    def __init__(self, chances: Floats) -> None:
        self.chances = chances

    def probabilities(self, states: States) -> Floats:
        return self.chances


@given(tables())
def test_supervised_policies(table: tuple[Floats, np.ndarray]) -> None:
    """The likeliest of what is possible; or the probabilities themselves, scaled to what is."""
    chances, possible = table
    states = states_of(np.zeros((len(chances), 0)), np.zeros((len(chances), 0)))
    for allowed in (None, possible):
        mask = np.ones_like(possible) if allowed is None else allowed
        best = SupervisedPolicy(Fixed(chances)).probabilities(states, allowed)
        drawn = SupervisedPolicy(Fixed(chances), sampled=True).probabilities(states, allowed)
        for found in (best, drawn):
            assert found.sum(axis=1) == pytest.approx(np.ones(len(chances)))
            assert (found >= 0.0).all()
            assert not found[~mask].any()
        assert set(np.unique(best)) <= {0.0, 1.0}
        for row in range(len(chances)):
            can = chances[row] * mask[row]
            assert chances[row, best[row].argmax()] == can.max()
            expected = can / can.sum() if can.sum() > 0 else None
            assert expected is None or drawn[row] == pytest.approx(expected)
            assert expected is not None or sorted(set(drawn[row])) in ([0.0, 1.0], [1.0])


def test_a_threshold_leaves_out_what_is_unlikely() -> None:
    """Of a draw; the likeliest is the likeliest. Where nothing is above it, the likeliest is left."""
    states = states_of(np.zeros((2, 0)), np.zeros((2, 0)))
    model = Fixed(np.array([[0.6, 0.3, 0.1], [0.4, 0.3, 0.3]]))
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.25).probabilities(states)
    assert drawn == pytest.approx(np.array([[2 / 3, 1 / 3, 0.0], [0.4, 0.3, 0.3]]))
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.5).probabilities(states)
    assert drawn.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    best = SupervisedPolicy(model, threshold=0.7).probabilities(states)
    assert best.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    possible = np.array([[False, True, True], [True, True, True]])
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.25).probabilities(states, possible)
    assert drawn == pytest.approx(np.array([[0.0, 1.0, 0.0], [0.4, 0.3, 0.3]]))


def test_a_learned_model_as_a_policy() -> None:
    from extrinsic.policy.kernel_logistic import KernelLogistic

    log = drawn_decisions(100)
    model = KernelLogistic().fit(log)
    chances = model.probabilities(log.states)
    drawn = SupervisedPolicy(model, sampled=True).probabilities(log.states)
    assert drawn == pytest.approx(chances)
    assert np.array_equal(
        SupervisedPolicy(model).probabilities(log.states).argmax(axis=1), chances.argmax(axis=1)
    )
