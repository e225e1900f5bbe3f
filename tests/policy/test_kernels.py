"""What holds for kernels between states."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.kernels import Gaussian, state_gram
from extrinsic.policy.states import States
from tests.policy.decisions import states_of

Kernel = Callable[[Gaussian, States, States], Floats]


def numbers_only(kernel: Gaussian, first: States, second: States) -> Floats:
    return kernel.between(first.continuous, second.continuous)


GAUSSIANS = [Gaussian(), Gaussian(0.5, 0.2), Gaussian(10.0, 5.0), Gaussian(3.0, 0.7)]
every_gaussian = pytest.mark.parametrize("gaussian", GAUSSIANS, ids=str)
every_kernel = pytest.mark.parametrize("kernel", [numbers_only, state_gram])


def random_states(seed: int, n: int = 25) -> States:
    """With some that occur twice."""
    rng = np.random.default_rng(seed)
    states = states_of(rng.normal(0, 1, (n, 3)), rng.integers(0, 2, (n, 2)))
    return states.take(np.concatenate([np.arange(n), rng.integers(0, n, 5)]))


@every_gaussian
@every_kernel
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_symmetric_and_positive_semi_definite(kernel: Kernel, gaussian: Gaussian, seed: int) -> None:
    states = random_states(seed)
    gram = kernel(gaussian, states, states)
    assert gram.shape == (len(states), len(states))
    assert np.abs(gram - gram.T).max() <= 1e-12 * gram.max()
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-9 * gram.max()
    assert np.abs(np.diag(gram) - gaussian.height**2).max() <= 1e-12 * gram.max()
    others = random_states(seed + 1, 7)
    across = kernel(gaussian, states, others)
    assert np.abs(across - kernel(gaussian, others, states).T).max() <= 1e-12 * gram.max()


@every_gaussian
@every_kernel
def test_a_part_of_the_states_is_a_part_of_the_matrix(kernel: Kernel, gaussian: Gaussian) -> None:
    states = random_states(3)
    rows = np.array([4, 1, 1])
    part = kernel(gaussian, states.take(rows), states)
    assert part == pytest.approx(kernel(gaussian, states, states)[rows], abs=1e-12)


@every_gaussian
@every_kernel
def test_copies(kernel: Kernel, gaussian: Gaussian) -> None:
    states = random_states(1)
    for copy in (replace(gaussian), pickle.loads(pickle.dumps(gaussian))):
        assert copy == gaussian
        assert np.array_equal(kernel(copy, states, states), kernel(gaussian, states, states))


def test_by_hand() -> None:
    """p^2 exp(-|x - y|^2 / 2 sigma^2), and 0 where a sign differs."""
    first = states_of([[0.0, 0.0]], [[1, 2]])
    second = states_of([[3.0, 4.0]] * 3, [[1, 2], [1, 3], [1, 2]])
    height = 4.0 * np.exp(-25.0 / 18.0)
    gaussian = Gaussian(2.0, 3.0)
    assert gaussian.between(first.continuous, second.continuous)[0] == pytest.approx([height] * 3)
    assert state_gram(gaussian, first, second)[0] == pytest.approx([height, 0.0, height])


def test_without_signs_all_are_the_same() -> None:
    states = states_of(np.zeros((2, 1)), np.zeros((2, 0)))
    assert state_gram(Gaussian(1.0), states, states).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["height", "width"])
def test_bad_parameters(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"the {name} of a Gaussian kernel must be positive"):
        Gaussian(**{name: value})
    with pytest.raises(UsageError, match=name):
        replace(Gaussian(), **{name: value})
