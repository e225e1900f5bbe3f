"""Kernels between states, their blocks and rows; both forms of sparsification, against the full kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from extrinsic.arrays import Ints
from extrinsic.errors import UsageError
from extrinsic.policy import basis as basis_module
from extrinsic.policy import kernels
from extrinsic.policy.basis import Basis, StateActions, rows_after, with_action
from extrinsic.policy.kernels import UNKNOWN, Blocks, Gaussian, state_gram
from extrinsic.policy.sparsification import DEPENDENT, Dictionary, sparsify
from extrinsic.policy.transitions import END
from tests.oracles import sparsification as oracle
from tests.oracles.kernels import Points, full_kernel
from tests.oracles.removal import remove
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


UNIT = Gaussian(1.0, 1.0)


def one_block(points: Any, nu: float, kernel: Gaussian = UNIT, **options: Any) -> Dictionary:
    points = np.asarray(points, dtype=float)[:, None]
    return sparsify(points, np.zeros(len(points), dtype=np.int64), 1, kernel, nu, **options)


def draw_points(draw: st.DataObject) -> Points:
    """Numbers in some clusters, points that come twice, up to four signatures and two actions."""
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    n, d = draw.draw(st.integers(1, 40)), draw.draw(st.integers(1, 5))
    continuous = rng.normal(0, draw.draw(st.sampled_from([0.1, 0.5, 2.0])), (n, d))
    continuous[rng.random(n) < 0.3] = continuous[0]
    discrete = rng.integers(0, draw.draw(st.integers(1, 2)), (n, 2))
    return Points(continuous, np.column_stack([discrete, rng.integers(0, 2, n)]))


@settings(max_examples=200)
@given(
    data=st.data(),
    share=st.sampled_from([1e-5, 0.001, 0.06, 0.5, 0.95, 0.999]),
    height=st.sampled_from([1.0, 4.0]),
    width=st.sampled_from([0.5, 1.0, 3.0]),
    largest=st.none() | st.integers(1, 6),
)
def test_growing_is_its_definition(
    data: st.DataObject, share: float, height: float, width: float, largest: int | None
) -> None:
    points = draw_points(data)
    nu = share * height**2
    expected = oracle.sparsify(points, height, width, nu, largest)
    # A delta right at the threshold may fall on either side by rounding.
    assume(all(abs(delta - nu) > 1e-8 * height**2 for delta in expected.deltas))
    signatures, block = Blocks.of(points.signs)
    made = sparsify(points.continuous, block, len(signatures), Gaussian(height, width), nu, largest)
    of_block = [made.rows[made.offsets[i] : made.offsets[i + 1]].tolist() for i in range(len(signatures))]
    assert of_block == [
        [i for i in expected.chosen if block[i] == number] for number in range(len(signatures))
    ]
    assert len(made) == len(expected.chosen)
    assert made.full.tolist() == sorted({int(block[i]) for i in expected.refused})
    assert np.abs(made.residual - np.maximum(expected.residual, 0.0)).max() <= 1e-7 * height**2
    assert (made.residual[made.rows] == 0.0).all()
    if not len(made.full):
        assert made.residual.max() <= nu


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.tuples(st.integers(1, 30), st.integers(1, 5)),
    spread=st.sampled_from([0.1, 0.5, 2.0]),
    share=st.sampled_from([0.06, 3 / 16, 0.5, 0.95]),
    height=st.sampled_from([1.0, 4.0]),
)
def test_removal_is_its_definition(
    seed: int, size: tuple[int, int], spread: float, share: float, height: float
) -> None:
    """In two blocks; points that come twice among them."""
    rng, nu = np.random.default_rng(seed), share * height**2
    points = rng.normal(0, spread, size)
    points[rng.random(len(points)) < 0.3] = points[0]
    block = rng.integers(0, 2, len(points))
    made = sparsify(points, block, 2, Gaussian(height, 1.0), nu, method="removal")
    for number in range(2):
        members = np.flatnonzero(block == number)
        exact = remove(points[members], height, nu, DEPENDENT)
        # A delta right at a threshold may fall on either side by rounding.
        assume(all(abs(delta / (DEPENDENT * height**2) - 1.0) > 1e-4 for delta in exact.leaving))
        assume(all(abs(delta - nu) > 1e-9 * nu for delta in exact.deltas))
        chosen = made.rows[made.offsets[number] : made.offsets[number + 1]]
        assert chosen.tolist() == members[exact.remaining].tolist()
        assert made.residual[members] == pytest.approx(exact.residual, abs=1e-12 * height**2)


def test_growing_by_hand() -> None:
    """On a line, k = exp(-d^2 / 2): 0 joins; .1 has delta 1 - exp(-.01) = .00995; 3 is far from both."""
    line = [0.0, 0.1, 3.0, 0.0]
    made = one_block(line, 0.01)
    assert made.rows.tolist() == [0, 2]
    assert made.residual[1] == pytest.approx(1.0 - np.exp(-0.01), abs=1e-4)  # 3 takes a little of it
    assert made.residual[[0, 2, 3]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert one_block(line, 0.0099).rows.tolist() == [0, 1, 2]
    # Whole numbers, as a config may write them.
    assert one_block(line, 1, Gaussian(4, 1)).rows.tolist() == one_block(line, 1.0, Gaussian()).rows.tolist()
    # Blocks each begin anew, also those without points; many members outgrow the first room.
    made = sparsify(np.zeros((2, 1)), np.array([2, 0]), 4, Gaussian(), 1.0)
    assert (made.offsets.tolist(), made.rows.tolist()) == ([0, 1, 1, 2, 2], [1, 0])
    assert one_block(np.arange(0.0, 1000.0, 10.0), 1.0, Gaussian()).rows.tolist() == list(range(100))


def test_removal_by_hand() -> None:
    """Of 0, 0 and 3 the first 0 depends on the second. Of 0 and .1 the first goes, as 1 - exp(-.01) < .01 is
    what is left of it; growing keeps the first instead."""
    assert one_block([0.0, 0.0, 3.0], 0.01, method="removal").rows.tolist() == [1, 2]
    assert one_block([0.0, 0.0, 3.0], 0.01).rows.tolist() == [0, 2]
    made = one_block([0.0, 0.1], 0.01, method="removal")
    assert made.rows.tolist() == [1]
    assert made.residual == pytest.approx([1.0 - np.exp(-0.01), 0.0])
    # A long row of neighbours: each depends on the next when it goes, and the last one alone remains.
    removed, grown = (one_block(np.arange(0.0, 6.0, 0.1), 0.2, method=m) for m in ("removal", "growing"))
    assert len(removed) < len(grown)
    assert removed.residual.max() > 0.2 >= grown.residual.max()


@pytest.mark.parametrize(
    ("nu", "height", "options", "message"),
    [
        *[(nu, 4.0, {}, "nu must be positive") for nu in (0.0, -1.0, float("nan"), float("inf"))],
        *[
            (nu, height, {}, f"no point would become a kernel .* {height**2:g}, found {nu}")
            for height, nu in ((4.0, 16.0), (4, 17), (1.0, 1.0), (0.5, 0.3))
        ],
        *[(1.0, 4.0, {"largest": size}, f"at least 1 .*found {size}") for size in (0, -1)],
        (0.5, 4.0, {"largest": 1, "method": "removal"}, "'growing' only"),
    ],
)
def test_refusals(nu: float, height: float, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        one_block([0.0], nu, Gaussian(height), **options)
    assert len(one_block([0.0], 0.99 * height**2, Gaussian(height))) == 1
