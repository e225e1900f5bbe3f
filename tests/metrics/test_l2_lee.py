"""L2 in Lee's words and the Brier score: by hand, in closed form, and what holds of every belief."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import offsets_from_lengths
from extrinsic.metrics.belief_items import ItemHypotheses, brier_scores
from tests.metrics.calls import CallScores, Turn
from tests.metrics.reading import Files, files_of_any_format, read
from tests.oracles.belief_stats import squared_distance

C, D, X = {"route": "61c"}, {"route": "61d"}, {"route": "28x"}


@pytest.mark.parametrize(
    ("hypotheses", "right", "squared"),
    [
        # 61d .5, 61c .3, None .2; 61c is right: (.5, .3, .2) - (0, 1, 0).   Nothing is: None is.
        ([(0.5, D), (0.3, C)], [C], 0.5**2 + 0.7**2 + 0.2**2),
        ([(0.5, D), (0.3, C)], [], 0.5**2 + 0.3**2 + 0.8**2),
        # 61c is right, and neither 61d (.75) nor None (.25) is: the vector has its 1 outside of the list.
        ([(0.75, D)], [C], 1 + 0.75**2 + 0.25**2),
        ([(0.375, D), (0.375, X)], [C], 1 + 2 * 0.375**2 + 0.25**2),
        # 61c .25 and 61d .5 are both right and share one position, None .25 is not: c = .75.
        ([(0.25, C), (0.5, D)], [C, D], 2 * 0.25**2),
        # 1.5 and .5 are divided by their sum; a negative score counts as 0, and None has the rest.
        ([(1.5, C), (0.5, D)], [C], 2 * 0.25**2),
        ([(0.75, C), (-0.5, D)], [C], 2 * 0.25**2),
    ],
)
def test_items_by_hand(hypotheses: Any, right: list[dict[str, str]], squared: float) -> None:
    scores = CallScores([Turn({"route": hypotheses}, right=right)])
    found = scores["route", "brier"], scores["route", "l2.lee"]
    assert found == pytest.approx((squared, math.sqrt(squared)))


def test_the_challenges_own_l2_knows_no_difference_between_one_wrong_value_and_several() -> None:
    one, several = (
        CallScores([Turn({"route": hypotheses}, right=[C])])["route", "l2"]
        for hypotheses in ([(0.75, D)], [(0.375, D), (0.375, X)])
    )
    assert one == several


def test_means_over_items_turns_and_components() -> None:
    scores = CallScores(
        [
            Turn({"route": [(0.5, C)], "joint": [(0.5, C)]}),
            Turn({"route": [(1.0, C)], "joint": [(0.5, C), (0.25, D)]}, right=[C]),
        ]
    )
    roots = [math.sqrt(2 * 0.5**2), 0.0]
    assert scores["route", "l2.lee"] == pytest.approx(sum(roots) / 2)
    assert scores["all", "l2.lee"] == pytest.approx(sum(roots) / 18)
    assert scores["joint", "l2.lee"] == pytest.approx((roots[0] + math.sqrt(0.5**2 + 2 * 0.25**2)) / 2)
    assert scores["route", "l2.lee", 3] == 0.0
    assert scores["route", "brier", 2] is None


def hypotheses_of(items: list[list[tuple[float, bool]]]) -> ItemHypotheses:
    flat = [pair for item in items for pair in item]
    score, correct = np.array([pair[0] for pair in flat]), np.array([pair[1] for pair in flat])
    return ItemHypotheses(
        offsets_from_lengths([len(item) for item in items]), score, correct, correct & False
    )


@given(st.floats(0, 1))
def test_two_hypotheses_have_the_challenges_distance(c: float) -> None:
    scores = brier_scores(hypotheses_of([[(c, True), (1 - c, False)], [(1 - c, False), (c, True)]]))
    assert np.sqrt(scores) == pytest.approx(math.sqrt(2) * (1 - c), abs=1e-12)


BELIEFS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=6)


@given(st.lists(BELIEFS, min_size=1, max_size=5))
def test_it_equals_a_plain_loop(items: list[list[tuple[float, bool]]]) -> None:
    expected = [squared_distance(item) for item in items]
    assert brier_scores(hypotheses_of(items)) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30)
@given(files_of_any_format())
def test_bounds_by_the_probability_of_what_is_right(files: Files) -> None:
    """1 - c <= l2.lee <= sqrt 2 (1 - c): all of the rest on many wrong hypotheses, or on a single one.

    Equal on the right where one wrong hypothesis has the rest. Scores below 0 (DSTC2) are outside of it.
    """
    for table in read(files).belief_tables:
        columns = [column for part in table.hypotheses for column in part.columns]
        assert sorted(columns) == list(range(table.top_score.shape[1]))
        for part in table.hypotheses:
            hypotheses = part.hypotheses
            if (hypotheses.score < 0).any():
                continue
            distance = table.fields["l2_lee"][:, part.columns].ravel()
            rest = 1 - hypotheses.sum_by_item(np.where(hypotheses.correct, hypotheses.score, 0.0))
            assert (distance >= rest - 1e-9).all()
            assert (distance <= math.sqrt(2) * rest + 1e-9).all()
            wrong = hypotheses.sum_by_item(~hypotheses.correct & (hypotheses.score > 0))
            assert distance[wrong <= 1] == pytest.approx(math.sqrt(2) * rest[wrong <= 1], abs=1e-7)
            squared = table.fields["brier"][:, part.columns].ravel()
            assert squared == pytest.approx(brier_scores(hypotheses), abs=1e-12)
