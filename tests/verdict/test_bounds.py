"""Bounds: how they depend on what they are given, and, in a few simulated studies, that they hold."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.verdict.bounds import FEWEST, Bounds, borrowed, bounds, losses, near_copies
from extrinsic.verdict.choices import choices, pair_sums

N, ERRORS = 24, np.array([0.2, 0.25, 0.6, 1.0, 2.0, 4.0])
"""Systems; how far metrics are from the values, in standard deviations."""


def study(n: int = N, seed: int = 1, n_datasets: int = 3, errors: Floats = ERRORS) -> tuple[Floats, Floats]:
    """Metrics (M, D, n) and values (D, n)."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) + 0.3 * rng.normal(size=(n_datasets, n))
    noise = rng.normal(size=(len(errors), 1, n)) + 0.5 * rng.normal(size=(len(errors), n_datasets, n))
    return values + errors[:, None, None] * noise, 10.0 * values


def bounded(scores: Floats, values: Floats, **changes: object) -> Bounds:
    declared = np.arange(len(scores)) < 3
    given: dict[str, object] = {"declared": declared, "identity": "made", "seed": 0, "draws": 1000}
    return bounds(scores, values, **given | changes)  # type: ignore[arg-type]


def test_the_smallest_bound_of_the_declared_is_recommended() -> None:
    scores, values = study()
    made, plain = bounded(scores, values), choices(scores, values)
    assert made.first == 0 == int(np.argmin(made.bound[:3]))
    assert (plain.lost < made.bound).all() and made.bound[0] < plain.possible[0]
    assert made.groups[0] == "recommended" and "worse" in made.groups[4:]
    assert (made.reason, made.needed) == ("", None)


def test_influence_is_that_of_leaving_out_each() -> None:
    """Of systems and of families, over pairs of unrelated systems, by a loop."""
    scores, values = study(9)
    scores[1, 0, 2] = values[1, 4] = nan
    for families in (np.arange(9), np.array([0, 0, 1, 2, 3, 3, 3, 4, 5])):
        made = losses(scores, values, families)
        n = int(families.max()) + 1

        def lost(kept: Bools, families: Ints = families) -> Floats:
            parts = []
            for x, y in zip(np.moveaxis(scores, 1, 0), values, strict=True):
                pairs = [
                    (i, j)
                    for i in range(9)
                    for j in range(i)
                    if kept[i] and kept[j] and families[i] != families[j]
                ]
                i, j = np.array(pairs).T
                apart = y[i] - y[j]
                each = (np.abs(apart) - np.sign(x[:, i] - x[:, j]) * apart) / 2.0
                parts.append(np.nanmean(each, axis=1))
            return np.asarray(np.mean(parts, axis=0))

        assert made.lost == pytest.approx(lost(np.ones(9, dtype=bool)))
        without = np.array([lost(families != unit) for unit in range(n)])
        assert made.on_lost == pytest.approx((n - 1) * (without.mean(axis=0) - without))


def test_order_and_scale_of_systems_and_metrics_do_not_matter() -> None:
    scores, values = study()
    made = bounded(scores, values)
    order = np.random.default_rng(2).permutation(N)
    # Other draws fall on each system.
    assert bounded(scores[..., order], values[:, order]).bound == pytest.approx(made.bound, rel=0.1)
    turned = bounded(scores[[2, 1, 0, 5, 4, 3]], values)
    assert turned.bound[[2, 1, 0, 5, 4, 3]] == pytest.approx(made.bound)
    curved = scores.copy()
    curved[0] = np.exp(3.0 * curved[0])
    assert bounded(curved, values).bound.tolist() == made.bound.tolist()
    assert bounded(scores, 7.0 * values + 3.0).bound == pytest.approx(7.0 * made.bound)


def test_more_metrics_are_paid_for() -> None:
    """The declared pay for each other, the exploratory for all."""
    scores, values = study(errors=np.full(40, 0.6))
    alone, few, all_ = (bounded(scores, values, declared=np.arange(40) < n).bound for n in (1, 5, 40))
    assert alone[0] < few[0] < all_[0]
    assert few[10:] == pytest.approx(all_[10:], rel=0.1)


def test_sampled_datasets_widen_the_bound() -> None:
    """More so where metrics are better on some of them."""
    scores, values = study(n_datasets=6)
    given, sampled = bounded(scores, values), bounded(scores, values, sampled=True)
    assert (sampled.bound > 0.95 * given.bound).all()
    scores[0, 0] = -values[0]
    differing = [bounded(scores, values, sampled=sampled).bound[0] for sampled in (False, True)]
    assert differing[1] > 1.5 * differing[0]
    assert "one dataset" in bounded(scores[:, :1], values[:1], sampled=True).reason


def test_copies_of_systems_are_one() -> None:
    """Three of each, with families and without: about as wide as of one of each."""
    scores, values = study(12)
    rng = np.random.default_rng(3)
    copied, thrice = (
        np.repeat(each, 3, axis=-1) + 1e-3 * rng.normal(size=(*each.shape[:-1], 36))
        for each in (scores, values)
    )
    families = np.repeat(np.arange(12), 3)
    assert near_copies(copied, thrice).tolist() == families.tolist()
    known, found = bounded(copied, thrice, families=families).bound, bounded(copied, thrice).bound
    assert known == pytest.approx(found)
    assert known == pytest.approx(bounded(scores, values).bound, rel=0.1)
    assert known[0] > 1.3 * bounded(copied, thrice, families=np.arange(36)).bound[0]
    # Unrelated systems stay apart, and so do all where a single metric could only be for or against.
    assert len(set(near_copies(scores, values))) >= 11
    assert len(set(near_copies(scores[:1, :1], values[:1]))) == 12
    assert "families" in bounded(scores, values, families=np.arange(12) // 4).reason


def test_bad_misjudgements_of_others_are_lent() -> None:
    """Five metrics as good as each other, four of which misjudge one system badly."""
    scores, values = study(errors=np.full(5, 0.1))
    plain = bounded(scores, values)
    for m in range(1, 5):
        scores[m, :, 3 * m] = -30.0 * np.sign(values[:, 3 * m])
    lent = borrowed(losses(scores, values, np.arange(N)))
    assert lent[0] > 0.0 and lent[0] > 3 * lent[1:].max()
    assert bounded(scores, values).bound[0] > plain.bound[0] + lent[0]


def test_how_many_systems_are_needed() -> None:
    """So many make it about half of a coin's loss."""
    errors = np.full(4, 0.8)
    needed = [bounded(*study(20, seed, errors=errors)).needed or 20 for seed in range(15)]
    n, parts = int(np.median(needed)), []
    assert 20 < n < 60
    for seed in range(15):
        scores, values = study(n, 100 + seed, errors=errors)
        made = bounded(scores, values)
        parts.append(np.nan_to_num(made.bound[made.first], nan=9.0) / choices(scores, values).possible[0])
    assert 0.35 < np.median(parts) < 0.7


def test_a_preferred_metric_is_recommended_where_it_is_as_good() -> None:
    scores, values = study(60)
    scores[1] = scores[0] + 1e-3 * np.random.default_rng(4).normal(size=scores[0].shape)
    plain = bounded(scores, values)
    other = 1 - plain.first  # type: ignore[operator]
    assert plain.first in (0, 1) and plain.groups[other] == "as good"
    assert bounded(scores, values, prefer=(5, other)).first == other
    assert bounded(scores, values, prefer=(5,)).first == plain.first


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1])
def test_few_systems_get_no_promise(n: int) -> None:
    made = bounded(*study(n))
    assert np.isnan(made.bound).all() and f"too few: at least {FEWEST} are needed" in made.reason


@pytest.mark.filterwarnings("error")
def test_nothing_is_recommended_that_chooses_worse_than_a_coin() -> None:
    scores, values = study()
    made = bounded(-scores, values)
    assert (made.first, made.needed, set(made.groups)) == (None, None, {"open"})
    assert "worse than a coin" in made.reason and np.isnan(made.bound).all()


def test_what_cannot_be_judged() -> None:
    scores, values = study()
    assert bounded(scores, np.ones_like(values)).first is None
    assert bounded(np.full_like(scores, nan), values).first is None
    constant = scores.copy()
    constant[0] = 1.0
    assert bounded(constant, values).first != 0
    apart = values.copy()
    apart[0, :12] = apart[1:, 12:] = nan
    assert np.isfinite(bounded(scores, apart).bound).all()
    holes = np.where(np.random.default_rng(5).random(scores.shape) < 0.2, nan, scores)
    holes[:, 2] = nan
    assert np.isfinite(bounded(holes, values).bound).all()


def test_bounds_hold_in_simulated_studies() -> None:
    """60 studies of 14 systems: six metrics, the best two equal; and of metrics unrelated to the values.

    Without the error, or with a bound from below, most would not.
    """
    held, parts, idle, wrong = [], [], [], []
    sums = pair_sums(*study(4_000, 999))
    truth, coin = (
        each.sum(axis=-1).mean(axis=-1) / (4_000 * 3_999)
        for each in (sums.possible - sums.earned, sums.possible)
    )
    for seed in range(60):
        scores, values = study(14, seed, errors=ERRORS)
        made = bounded(scores, values, declared=np.ones(6, dtype=bool), draws=300)
        promised = not np.isnan(made.bound[made.first])
        held.append(not promised or truth[made.first] <= made.bound[made.first])
        parts.append(made.bound[made.first] / choices(scores, values).possible[0] if promised else 1.0)
        groups = np.array(made.groups)
        wrong.append((truth[groups == "worse"] <= truth[made.first]).any())
        unrelated = np.random.default_rng([seed, 1]).normal(size=scores.shape)
        idle.append(np.isfinite(bounded(unrelated, values, draws=300).bound).any())
    assert np.mean(held) >= 0.95 and np.mean(wrong) <= 0.05 and np.mean(idle) <= 0.05
    # As large as it has to be: the best loses a twentieth of what a coin does.
    assert 0.15 < np.median(parts) < 0.5
    assert truth[0] < 0.15 * coin[0]
