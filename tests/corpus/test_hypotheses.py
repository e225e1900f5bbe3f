"""Ranking, None and repairs: figures by hand, and a plain implementation that takes one item at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.arrays import offsets_from_lengths
from extrinsic.corpus.hypotheses import Ranking, RankingRule, rank_dstc1, rank_dstc2
from tests.strategies import EXACT, INEXACT

Ranked = list[tuple[int, float]]
"""(which hypothesis, -1 for None; its score), best first."""

scores = st.lists(
    st.sampled_from((*EXACT, *INEXACT, 1.0, -0.1, -0.0, 1.5, 1.000001, 0.50000001)) | st.floats(-1, 2),
    max_size=5,
)


def rank(rule: RankingRule, *items: list[float]) -> Ranking:
    flat = np.array([score for item in items for score in item], dtype=np.float64)
    return rule(offsets_from_lengths([len(item) for item in items]), flat)


def ranked(rule: RankingRule, item: list[float]) -> Ranked:
    found = rank(rule, item)
    return list(zip(found.source.tolist(), found.score.tolist(), strict=True))


def plain_dstc1(given: list[float]) -> Ranked:
    order = sorted(range(len(given)), key=lambda i: -given[i])
    found = [(i, max(given[i], 0.0)) for i in order]
    none = 1.0
    for _, score in found:
        none -= score
    if none < 0:
        total = 0.0
        for _, score in found:
            total += score
        none, found = 0.0, [(i, score / total) for i, score in found]
    return sorted([(-1, none), *found], key=lambda item: -item[1])


def plain_dstc2(given: list[float]) -> Ranked:
    total = 0.0
    for score in given:
        total += score
    found = [(i, score / total if total > 1.0 else score) for i, score in enumerate(given)]
    none = 0.0 if total > 1.0 else 1.0 - total
    return sorted([*found, (-1, none)], key=lambda item: -item[1])


@pytest.mark.parametrize(
    ("given", "dstc1", "dstc2"),
    [
        ([], [(-1, 1.0)], [(-1, 1.0)]),
        # None has .5 too: it comes before its equal in DSTC1, and last in DSTC2.
        ([0.5], [(-1, 0.5), (0, 0.5)], [(0, 0.5), (-1, 0.5)]),
        ([0.25, 0.5], [(1, 0.5), (-1, 0.25), (0, 0.25)], [(1, 0.5), (0, 0.25), (-1, 0.25)]),
        # Equal scores keep the order of the file.
        ([0.25, 0.375, 0.25], [(1, 0.375), (0, 0.25), (2, 0.25), (-1, 0.125)], None),
        ([0.0, 1.0], [(1, 1.0), (-1, 0.0), (0, 0.0)], [(1, 1.0), (0, 0.0), (-1, 0.0)]),
        # A negative score counts as 0 in DSTC1; DSTC2 keeps it, so None gets more than the rest.
        ([0.5, -0.25], [(-1, 0.5), (0, 0.5), (1, 0.0)], [(-1, 0.75), (0, 0.5), (1, -0.25)]),
        ([-0.5, -0.25], [(-1, 1.0), (1, 0.0), (0, 0.0)], [(-1, 1.75), (1, -0.25), (0, -0.5)]),
        # A sum above 1 is divided out, None gets nothing.
        ([1.0, 3.0], [(1, 0.75), (0, 0.25), (-1, 0.0)], [(1, 0.75), (0, 0.25), (-1, 0.0)]),
        (
            [1.5, 0.5, 0.0],
            [(0, 0.75), (1, 0.25), (-1, 0.0), (2, 0.0)],
            [(0, 0.75), (1, 0.25), (2, 0.0), (-1, 0.0)],
        ),
    ],
)
def test_by_hand(given: list[float], dstc1: Ranked, dstc2: Ranked | None) -> None:
    assert ranked(rank_dstc1, given) == dstc1
    assert ranked(rank_dstc2, given) == (dstc2 or dstc1)


def test_the_order_of_the_float_operations_shows() -> None:
    """.7 + .3 is 1, but 1 - .7 - .3 is not 0: DSTC1 subtracts in ranked order, DSTC2 adds in the file's."""
    assert dict(ranked(rank_dstc1, [0.3, 0.7]))[-1] == 1.0 - 0.7 - 0.3 > 0
    assert dict(ranked(rank_dstc2, [0.3, 0.7]))[-1] == 0.0
    # 1 - .9 - .1 falls below 0, though .9 + .1 is not above 1: None is 0, not negative.
    assert 1.0 - 0.9 - 0.1 < 0
    assert ranked(rank_dstc1, [0.1, 0.9]) == [(1, 0.9), (0, 0.1), (-1, 0.0)]


@pytest.mark.parametrize("rule", [rank_dstc1, rank_dstc2])
@pytest.mark.parametrize(
    ("given", "excess"),
    [([0.5, 0.5], False), ([0.5, 0.500009], False), ([0.5, 0.500011], True), ([2.0], True)],
)
def test_rounding_is_normalised_without_a_report(rule: RankingRule, given: list[float], excess: bool) -> None:
    """A sum beyond 1 by less than 1e-5 is divided out all the same, but nobody is told."""
    found = rank(rule, given)
    assert found.excess.tolist() == [excess]
    assert found.total.tolist() == [sum(given)]
    assert found.score.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("rule", [rank_dstc1, rank_dstc2])
def test_negatives_are_flagged_where_they_were_given(rule: RankingRule) -> None:
    found = rank(rule, [0.5, -0.1], [], [-0.0, -1e-300])
    assert found.negative.tolist() == [False, True, False, True]


@given(st.lists(scores, max_size=6))
def test_many_items_at_once_rank_like_one_at_a_time(items: list[list[float]]) -> None:
    """To the last bit, both rules."""
    for rule, plain in ((rank_dstc1, plain_dstc1), (rank_dstc2, plain_dstc2)):
        found = rank(rule, *items)
        for i, item in enumerate(items):
            row = slice(found.offsets[i], found.offsets[i + 1])
            starts = sum(len(before) for before in items[:i])
            sources = [source - starts if source >= 0 else -1 for source in found.source[row].tolist()]
            assert list(zip(sources, found.score[row].tolist(), strict=True)) == plain(item)


@given(st.lists(scores, min_size=1, max_size=4))
def test_a_dstc1_belief_is_a_distribution(items: list[list[float]]) -> None:
    found = rank(rank_dstc1, *items)
    assert (found.score >= 0).all()
    for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True):
        assert found.score[begin:end].sum() == pytest.approx(1.0)
        assert (np.diff(found.score[begin:end]) <= 0).all()
        assert (found.source[begin:end] == -1).sum() == 1


@pytest.mark.parametrize("rule", [rank_dstc1, rank_dstc2])
def test_huge_scores_make_no_noise(rule: RankingRule) -> None:
    """A sum that overflows is absurd but finite input: no warning (they are errors here), no NaN."""
    found = rank(rule, [1e308, 1e308], [0.5])
    assert np.isfinite(found.score).all()
