"""Kernels between states, their blocks, and sparse rows of basis functions, against the full kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from extrinsic.arrays import Ints
from extrinsic.errors import UsageError
from extrinsic.policy import basis as basis_module
from extrinsic.policy import kernels
from extrinsic.policy.basis import Basis, StateActions, rows_after, with_action
from extrinsic.policy.kernels import UNKNOWN, Blocks, Gaussian, state_gram
from extrinsic.policy.transitions import END
from tests.oracles.kernels import Points, full_kernel
from tests.policy.decisions import states_of


def test_by_hand() -> None:
    """p^2 exp(-|x - y|^2 / 2 sigma^2), and 0 where a sign differs; without signs all are the same."""
    first = states_of([[0.0, 0.0]], [[1, 2]])
    second = states_of([[3.0, 4.0]] * 3, [[1, 2], [1, 3], [1, 2]])
    height = 4.0 * np.exp(-25.0 / 18.0)
    gaussian = Gaussian(2.0, 3.0)
    assert gaussian.between(first.continuous, second.continuous)[0] == pytest.approx([height] * 3)
    assert state_gram(gaussian, first, second)[0] == pytest.approx([height, 0.0, height])
    alike = states_of(np.zeros((2, 1)), np.zeros((2, 0)))
    assert state_gram(Gaussian(1.0), alike, alike).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["height", "width"])
def test_bad_parameters(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"the {name} of a Gaussian kernel must be positive"):
        replace(Gaussian(), **{name: value})


NUMBERS = st.integers(-2, 2) | st.sampled_from([2**63 - 1, -(2**63), 2**56 - 1, 255, 256, -256])


def tables(n_columns: int) -> st.SearchStrategy[Ints]:
    shape = st.tuples(st.integers(1, 12), st.just(n_columns))
    return shape.flatmap(lambda size: arrays.arrays(np.int64, size, elements=NUMBERS))


@settings(max_examples=100)
@given(st.data(), st.sampled_from([5, kernels.SORTED]))
def test_every_row_has_its_number(data: st.DataObject, n_sorted: int) -> None:
    """Blocks against a plain dictionary of rows."""
    n_columns = data.draw(st.integers(0, 3))
    table, others = data.draw(tables(n_columns)), data.draw(tables(n_columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "SORTED", n_sorted)
        signatures, number = Blocks.of(table)
        places, other_places = signatures.find(table), signatures.find(others)
    expected = sorted({tuple(row) for row in table.tolist()})
    assert [tuple(row) for row in signatures.rows.tolist()] == expected
    assert number.tolist() == places.tolist() == [expected.index(tuple(row)) for row in table.tolist()]
    place_of = {row: place for place, row in enumerate(expected)}
    assert other_places.tolist() == [place_of.get(tuple(row), UNKNOWN) for row in others.tolist()]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    n_columns=st.integers(0, 2),
    nu=st.sampled_from([0.01, 1.0, 8.0]),
    largest=st.none() | st.integers(1, 3),
)
def test_rows_are_the_full_kernel(seed: int, n: int, n_columns: int, nu: float, largest: int | None) -> None:
    """Between any points, of signatures seen and not, and those of the dictionary."""
    rng = np.random.default_rng(seed)

    def draw(size: int, kinds: int) -> Points:
        states = states_of(rng.normal(0, 1, (size, 2)), rng.integers(0, kinds, (size, n_columns)))
        return Points(states.continuous, with_action(states, rng.integers(0, kinds, size)))

    points, others = draw(n, 2), draw(15, 3)
    basis, dictionary = Basis.fit(points.continuous, points.signs, Gaussian(4.0, 0.8), nu, largest)
    centers = points.take(dictionary.rows)
    kinds = {tuple(row) for row in points.signs.tolist()}
    for at in (points, others):
        rows = basis.rows(at.continuous, basis.block_of(at.signs))
        backwards = np.arange(len(at))[::-1]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(basis_module, "ROWS", 7)
            in_parts = basis.rows(at.continuous, basis.block_of(at.signs[backwards]), backwards)
        assert np.abs(in_parts.toarray() - rows.toarray()[backwards]).max(initial=0.0) <= 1e-12
        assert np.abs(rows.toarray() - full_kernel(at, centers, 4.0, 0.8)).max(initial=0.0) <= 1e-9
        is_known = np.array([tuple(row) in kinds for row in at.signs.tolist()])
        assert ((basis.block_of(at.signs) == UNKNOWN) == ~is_known).all()
        assert (np.diff(rows.indptr)[~is_known] == 0).all()


@pytest.mark.parametrize("greedy", [True, False])
def test_a_policy_mixes_the_rows_of_its_actions(greedy: bool) -> None:
    """Here, and in the states that follow; with one action in every state they are only looked up."""
    n, n_actions, rng = 30, 3, np.random.default_rng(4)
    states = states_of(rng.normal(0, 1, (n, 2)), rng.integers(0, 2, (n, 1)))
    table = with_action(states, rng.integers(0, n_actions, n))
    basis, _ = Basis.fit(states.continuous, table, Gaussian(4.0, 0.8), 1.0)
    admitted = rng.random((n, n_actions)) < 0.6
    admitted[np.arange(n), rng.integers(0, n_actions, n)] = True
    policy = admitted * rng.random((n, n_actions))
    if greedy:
        policy = np.eye(n_actions)[policy.argmax(axis=1)]
    policy = policy / policy.sum(axis=1, keepdims=True)
    following = np.where(np.arange(n) % 4 == 3, END, np.arange(n) + 1)
    following[-1] = END
    pairs = StateActions.of(basis, states, admitted)
    expected = np.zeros((n, len(basis)))
    for row, state, action in zip(pairs.rows.toarray(), pairs.state, pairs.action, strict=True):
        block = basis.block_of(with_action(states.take(np.array([state])), np.array([action])))
        assert row == pytest.approx(basis.rows(states.continuous[[state]], block).toarray()[0])
        expected[state] += policy[state, action] * row
    after = np.where((following == END)[:, None], 0.0, expected[following])
    assert pairs.mixed(policy).toarray() == pytest.approx(expected)
    assert pairs.mixed(policy, following).toarray() == pytest.approx(after)
    assert rows_after(pairs.mixed(policy), following).toarray() == pytest.approx(after)
