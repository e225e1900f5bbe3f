"""What holds for every kernel and every product of kernels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.errors import UsageError
from extrinsic.policy.kernels import (
    Delta,
    Gaussian,
    Kernel,
    Points,
    Product,
    SameAction,
    state_action_kernel,
    state_kernel,
)

KERNELS: list[Kernel] = [
    Gaussian(),
    Gaussian(0.5, 0.2),
    Gaussian(10.0, 5.0),
    Delta(),
    SameAction(),
    Gaussian() * Delta(),
    Delta() * SameAction(),
    Gaussian(2.0, 0.5) * Gaussian(1.0, 3.0),
    state_kernel(3.0, 0.7),
    state_action_kernel(3.0, 0.7),
]

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def points_of(seed: int, n: int = 25) -> Points:
    """With some that come twice."""
    rng = np.random.default_rng(seed)
    points = Points(rng.normal(0, 1, (n, 3)), rng.integers(0, 2, (n, 2)), rng.integers(0, 3, n))
    return points.take(np.concatenate([np.arange(n), rng.integers(0, n, 5)]))


@every_kernel
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_symmetric_and_positive_semi_definite(kernel: Kernel, seed: int) -> None:
    points = points_of(seed)
    gram = kernel(points, points)
    assert gram.shape == (len(points), len(points))
    assert np.abs(gram - gram.T).max() <= 1e-12 * gram.max()
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-9 * gram.max()
    assert np.abs(np.diag(gram) - kernel.diagonal(points)).max() <= 1e-12 * gram.max()
    others = points_of(seed + 1, 7)
    assert np.abs(kernel(points, others) - kernel(others, points).T).max() <= 1e-12 * gram.max()


@every_kernel
def test_a_part_of_the_points_is_a_part_of_the_matrix(kernel: Kernel) -> None:
    points = points_of(3)
    rows = np.array([4, 1, 1])
    assert kernel(points.take(rows), points) == pytest.approx(kernel(points, points)[rows], abs=1e-12)


@every_kernel
def test_copies(kernel: Kernel) -> None:
    points = points_of(1)
    for copy in (
        type(kernel)(**kernel.get_params()),
        kernel.with_params(),
        pickle.loads(pickle.dumps(kernel)),
    ):
        assert copy == kernel
        assert np.array_equal(copy(points, points), kernel(points, points))


def test_by_hand() -> None:
    """p^2 exp(-|x - y|^2 / 2 sigma^2), and 1 or 0."""
    first = Points(np.array([[0.0, 0.0]]), np.array([[1, 2]]), np.array([0]))
    second = Points(np.array([[3.0, 4.0]] * 3), np.array([[1, 2], [1, 3], [1, 2]]), np.array([0, 0, 1]))
    height = 4.0 * np.exp(-25.0 / 18.0)
    assert Gaussian(2.0, 3.0)(first, second)[0] == pytest.approx([height] * 3)
    assert Delta()(first, second).tolist() == [[1.0, 0.0, 1.0]]
    assert SameAction()(first, second).tolist() == [[1.0, 1.0, 0.0]]
    assert state_kernel(2.0, 3.0)(first, second)[0] == pytest.approx([height, 0.0, height])
    assert state_action_kernel(2.0, 3.0)(first, second)[0] == pytest.approx([height, 0.0, 0.0])


def test_without_signs_all_are_the_same() -> None:
    points = Points(np.zeros((2, 1)), np.zeros((2, 0), dtype=np.int64))
    assert Delta()(points, points).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_changed_copy_leaves_the_kernel_alone() -> None:
    kernel = Gaussian(2.0, 3.0)
    assert kernel.with_params(width=5.0) == Gaussian(2.0, 5.0)
    assert kernel == Gaussian(2.0, 3.0)
    assert kernel.get_params() == {"height": 2.0, "width": 3.0}
    product = Delta() * SameAction()
    assert product.get_params() == {"first": Delta(), "second": SameAction()}
    assert product.with_params(second=Gaussian()) == Product(Delta(), Gaussian())


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["height", "width"])
def test_bad_parameters(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"the {name} of a Gaussian kernel must be positive"):
        Gaussian(**{name: value})
    with pytest.raises(UsageError, match=name):
        Gaussian().with_params(**{name: value})


def test_points_without_an_action_are_refused() -> None:
    points = Points(np.zeros((2, 1)), np.zeros((2, 1), dtype=np.int64))
    assert state_kernel()(points, points).shape == (2, 2)
    for kernel in (SameAction(), state_action_kernel()):
        with pytest.raises(UsageError, match="compares actions"):
            kernel(points, points)
