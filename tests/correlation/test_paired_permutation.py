"""Swapping against doing it: scores really change places, pair by pair, by the same coins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.correlation import paired_permutation
from extrinsic.correlation.paired_permutation import Swapped, swapped_p
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import SCOPES, Scope

SIZES = (5, 8)
"""Dialogs of two datasets."""

N = 60
WAYS: tuple[Swapped, ...] = ("trackers", "both")


def study(seed: int, n_metrics: int = 4, n_trackers: int = 7) -> tuple[list[Floats], Floats]:
    rng = np.random.default_rng(seed)
    contributions = [
        (rng.normal(size=(n_metrics, n_trackers, 1)) + rng.normal(size=(n_metrics, n_trackers, size))) / size
        for size in SIZES
    ]
    target = contributions[0][0].sum(axis=1) + rng.normal(size=(len(SIZES), n_trackers))
    return contributions, target


def centred(values: Floats, scope: str) -> Floats:
    return values - (values.mean(axis=1, keepdims=True) if scope == "within" else values.mean())


def r_of(values: Floats, target: Floats, scope: str) -> float:
    return float(np.corrcoef(centred(values, scope).ravel(), centred(target, scope).ravel())[0, 1])


def standardised(parts: list[Floats], scope: str) -> list[Floats]:
    """(n_trackers, n_dialogs) of one metric on each dataset: its values centred and of length 1, and what the
    centre weighs shared out among the dialogs."""
    values = np.stack([part.sum(axis=1) for part in parts])
    centre, length = values - centred(values, scope), np.linalg.norm(centred(values, scope))
    return [(part - centre[d][:, None] / part.shape[1]) / length for d, part in enumerate(parts)]


def swapped_one_by_one(
    contributions: list[Floats], target: Floats, scope: str, coins: list[list[Floats]]
) -> Floats:
    """coins: for each permutation and dataset (n_trackers, n_dialogs) of 1 (stays) and 0 (changes places)."""
    n_metrics = contributions[0].shape[0]
    parts = [standardised([part[m] for part in contributions], scope) for m in range(n_metrics)]
    p = np.empty((n_metrics, n_metrics))
    for a, b in product(range(n_metrics), repeat=2):
        whole = [np.stack([part.sum(axis=1) for part in parts[m]]) for m in (a, b)]
        observed = abs(r_of(whole[0], target, scope) - r_of(whole[1], target, scope))
        count = 0
        for toss in coins:
            one = np.stack(
                [np.where(c == 1, x, y).sum(axis=1) for c, x, y in zip(toss, parts[a], parts[b], strict=True)]
            )
            other = np.stack(
                [np.where(c == 1, y, x).sum(axis=1) for c, x, y in zip(toss, parts[a], parts[b], strict=True)]
            )
            count += abs(r_of(one, target, scope) - r_of(other, target, scope)) >= observed - 1e-9
        p[a, b] = (count + 1) / (len(coins) + 1)
    return p


def of_trackers(coins: Floats) -> list[list[Floats]]:
    """(n, n_trackers) one coin a tracker, for all its dialogs on every dataset."""
    return [[np.repeat(toss[:, None], size, axis=1) for size in SIZES] for toss in coins]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_trackers_really_swapped(scope: Scope, seed: int) -> None:
    contributions, target = study(seed)
    coins = rng_of("swapping trackers", "study", 3).integers(0, 2, (N, 7), dtype=np.int8)
    found = swapped_p(contributions, target, scope, "trackers", N, "study", 3)
    assert found == pytest.approx(swapped_one_by_one(contributions, target, scope, of_trackers(coins)))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_dialogs_really_swapped(scope: Scope, seed: int) -> None:
    contributions, target = study(seed)
    rng = rng_of("swapping both", "study", 3)
    tossed = [[rng.integers(0, 2, (N, size), dtype=np.int8) for _ in range(7)] for size in SIZES]
    coins = [[np.stack([of[row] for of in dataset]) for dataset in tossed] for row in range(N)]
    found = swapped_p(contributions, target, scope, "both", N, "study", 3)
    assert found == pytest.approx(swapped_one_by_one(contributions, target, scope, coins))


@pytest.mark.parametrize("scope", SCOPES)
def test_all_swaps_of_few_trackers(scope: Scope) -> None:
    """Of four trackers there are 16 ways, the one that swaps nothing included; whatever the seed."""
    contributions, target = study(4, n_trackers=4)
    coins = np.array(list(product((1, 0), repeat=4)))[1:]
    expected = swapped_one_by_one(contributions, target, scope, of_trackers(coins))
    for seed in (0, 1):
        found = swapped_p(contributions, target, scope, "trackers", 15, "study", seed)
        assert found == pytest.approx(expected)
        assert (found * 16 == np.round(found * 16)).all()


@pytest.mark.parametrize(("scope", "way"), list(product(SCOPES, WAYS)))
def test_a_metric_does_not_differ_from_itself(scope: Scope, way: Swapped) -> None:
    """Nor from itself in other units; and it does not matter which of two comes first."""
    contributions, target = study(5)
    for part in contributions:
        part[3] = 2.5 * part[1] + 1.0 / part.shape[2]
    p = swapped_p(contributions, target, scope, way, N, "study", 0)
    assert np.diagonal(p).tolist() == [1.0] * 4
    assert p[1, 3] == 1.0
    assert p == pytest.approx(p.T)
    assert p[0] == pytest.approx(
        swapped_p([part[::-1] for part in contributions], target, scope, way, N, "study", 0)[3, ::-1]
    )


@pytest.mark.parametrize("way", WAYS)
def test_units_do_not_matter(way: Swapped) -> None:
    contributions, target = study(6)
    expected = swapped_p(contributions, target, "within", way, N, "study", 0)
    slopes = np.array([1.0, 10.0, 0.1, 3.0])[:, None, None]
    moved = [slopes * part + number for number, part in enumerate(contributions)]
    shifted = 7.0 * target + np.arange(len(SIZES))[:, None]
    assert swapped_p(moved, shifted, "within", way, N, "study", 0) == pytest.approx(expected)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    contributions, target = study(7)
    expected = swapped_p(contributions, target, "within", "trackers", N, "study", 0)
    monkeypatch.setattr(paired_permutation, "BLOCK", 300)
    assert (swapped_p(contributions, target, "within", "trackers", N, "study", 0) == expected).all()


def test_as_many_draws_as_asked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that do not divide the number: p is a multiple of 1 / (n + 1) all the same."""
    contributions, target = study(8)
    monkeypatch.setattr(paired_permutation, "BLOCK", 91 * 7)
    p = swapped_p(contributions, target, "within", "both", N, "study", 0)
    assert p * (N + 1) == pytest.approx(np.round(p * (N + 1)))
    assert np.diagonal(p).tolist() == [1.0] * 4


def test_a_clear_difference_is_found() -> None:
    """One metric is the target and the other noise: no swap does better but that of all trackers."""
    contributions, _ = study(9, n_trackers=12)
    target = np.stack([part[0].sum(axis=1) for part in contributions])
    p = swapped_p(contributions, target, "within", "trackers", 400, "study", 0)
    assert p[0, 1] < 0.02


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spoilt", [np.nan, 0.25])
def test_no_coefficient_no_p(way: Swapped, spoilt: float) -> None:
    contributions, target = study(10)
    expected = swapped_p(contributions, target, "within", way, N, "study", 0)
    for part in contributions:
        part[2] = spoilt
    p = swapped_p(contributions, target, "within", way, N, "study", 0)
    assert np.isnan(p[2]).all()
    assert np.isnan(p[:, 2]).all()
    assert p[np.ix_([0, 1, 3], [0, 1, 3])] == pytest.approx(expected[np.ix_([0, 1, 3], [0, 1, 3])])
