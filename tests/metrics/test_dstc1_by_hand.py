"""DSTC1 scores of small calls by hand: what is right, what each item is worth, which count in a schedule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from extrinsic.metrics.roc import EQUAL_ERRORS
from extrinsic.metrics.roc_curves import RocStatistics
from tests.builders import DSTC1_SLOTS, act, heard
from tests.metrics.calls import CallScores, Turn

C, D, X = {"route": "61c"}, {"route": "61d"}, {"route": "28x"}
CMU = {"from.desc": "cmu"}
ROOT2 = math.sqrt(2)


@pytest.mark.parametrize(
    ("hypotheses", "right", "expected"),
    [
        # 61d .5, 61c .3, None .2; 61c is right: rank 2, c = .3.
        ([(0.5, D), (0.3, C)], [C], {"accuracy": 0, "mrr": 1 / 2, "avgp": 0.3, "l2": ROOT2 * 0.7}),
        ([(0.5, D), (0.3, C)], [C], {"hypothesis_count": 2, "nonempty": 1}),
        # 61d .5 and 61c .25 are both right: avgp takes the higher, l2 their sum c = .75; None (.25) is wrong.
        ([(0.25, C), (0.5, D)], [C, D], {"accuracy": 1, "mrr": 1, "avgp": 0.5, "l2": ROOT2 * 0.25}),
        # 61c .5 ties with None .5; None stands first. Without a right value None is right.
        ([(0.5, C)], [], {"accuracy": 1}),
        ([(0.5, C)], [C], {"accuracy": 0, "mrr": 1 / 2}),
        # Equal scores keep the order of the file: None has 1 - .375 - .375 = .25.
        ([(0.375, C), (0.375, D)], [C], {"mrr": 1}),
        ([(0.375, D), (0.375, C)], [C], {"mrr": 1 / 2}),
        # The file need not be sorted.
        ([(0.125, D), (0.625, C)], [C], {"accuracy": 1}),
        # 1 - .8 - .1 = .09999999999999995 in floats: None is third, although in numbers it ties with 61c
        # and would come before it.
        ([(0.8, D), (0.1, C)], [], {"mrr": 1 / 3}),
        # .75 + .5 = 1.25: 61d .6, 61c .4, None 0, which ranks behind both.
        ([(0.75, D), (0.5, C)], [C], {"avgp": 0.4, "l2": ROOT2 * 0.6}),
        ([(0.75, D), (0.5, C)], [], {"mrr": 1 / 3}),
        # 61c -.5 becomes 0, so None has 1 - .25 = .75 (not 1.25) and 61d .25.
        ([(-0.5, C), (0.25, D)], [D], {"avgp": 0.25}),
        ([(-0.5, C), (0.25, D)], [], {"avgp": 0.75}),
        ([(-0.5, C), (0.25, D)], [C], {"mrr": 1 / 3}),
        # It is sorted by what was written: -.5 comes behind a 0 that follows it in the file.
        ([(-0.5, C), (0.0, D)], [D], {"mrr": 1 / 2}),
        # Nothing right was observed: None is right, 28x is not, though nobody said so.
        ([(0.75, X)], [], {"accuracy": 0, "avgp": 0.25}),
    ],
)
def test_one_item(hypotheses: Any, right: list[dict[str, str]], expected: dict[str, float]) -> None:
    """A call of one turn with a belief about the route."""
    scores = CallScores([Turn({"route": hypotheses}, right=right)])
    assert {name: scores["route", name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert scores.n("route") == 1


def test_labels_accumulate_and_false_may_become_true() -> None:
    belief = {"route": [(0.75, C)]}
    call = [Turn(belief, wrong=[C]), Turn(belief, right=[C]), Turn(belief, wrong=[C]), Turn(belief)]
    # False at turn 0, true at 1, and it stays true whatever comes: accuracy 0, 1, 1, 1.
    scores = CallScores(call)
    assert scores["route", "accuracy"] == 3 / 4
    # At turn 0 None (.25) is right, later 61c (.75).
    assert scores["route", "avgp"] == (0.25 + 3 * 0.75) / 4


def test_a_restart_clears_the_labels() -> None:
    belief = {"route": [(0.75, C)]}
    call = [Turn(belief, right=[C]), Turn(belief, restart=True), Turn(belief, right=[C])]
    # Right; then nothing is known and None is right again; then right again.
    assert CallScores(call)["route", "accuracy"] == 2 / 3
    # Labels of one call say nothing about the next.
    assert CallScores([Turn(belief, right=[C])], [Turn(belief)])["route", "accuracy"] == 1 / 2


def test_date_and_time_are_sets_of_pairs() -> None:
    seven = {"time.hour": "7", "time.ampm": "pm"}
    # The order of the pairs and number against text do not matter; a part or a superset is another value.
    for pairs, right in (
        ({"time.ampm": "pm", "time.hour": 7}, 1),
        ({"time.hour": "7"}, 0),
        ({**seven, "time.minute": "30"}, 0),
    ):
        assert CallScores([Turn({"time": [(0.75, pairs)]}, right=[seven])])["time", "accuracy"] == right
    day = {"date.absmonth": "5", "date.absday": "22"}
    assert CallScores([Turn({"date": [(0.75, day)]}, right=[day])])["date", "accuracy"] == 1


def test_all_pools_the_slots_without_the_joint() -> None:
    scores = CallScores([Turn({"route": [(0.75, C)], "joint": [(1.0, C)]})])
    # Of nine slots eight are None and right; the route is wrong, and so is the joint.
    assert scores["all", "accuracy"] == pytest.approx(8 / 9)
    assert scores.n("all") == len(DSTC1_SLOTS)
    assert scores["joint", "accuracy"] == 0


@pytest.mark.parametrize(
    ("joint", "right", "expected"),
    [
        (C, [C], 1),
        (C, [C, CMU], 0),  # from.desc is left out, but a right value of it is known
        ({**C, **CMU}, [C, CMU], 1),
        ({**C, **CMU}, [C], 0),  # says more than was observed
        ({**C, "time.hour": "7"}, [C, {"time.hour": "7", "time.ampm": "pm"}], 0),
        ({}, [], 0),  # no pairs: never right, not even where None is
        (None, [], 1),  # no hypothesis at all: None with 1
        (None, [C], 0),
    ],
)
def test_joint(joint: dict[str, str] | None, right: list[dict[str, str]], expected: int) -> None:
    hypotheses = [] if joint is None else [(1.0, joint)]
    assert CallScores([Turn({"joint": hypotheses}, right=right)])["joint", "accuracy"] == expected


def test_a_joint_left_out_of_the_turn_is_none() -> None:
    scores = CallScores([Turn()], [Turn(right=[C])])
    assert scores["joint", "accuracy"] == 1 / 2
    assert scores["joint", "hypothesis_count"] == 0


def roc_items(*items: tuple[float, bool]) -> CallScores:
    """One-turn calls whose top route is 61c with these scores (above .5), right or wrong."""
    return CallScores(
        *([Turn({"route": [(score, C)]}, right=[C] if right else [])] for score, right in items)
    )


def test_roc_of_five_items() -> None:
    # By descending score: 1 right, .9 wrong, .8 right, .7 right, .6 wrong. Accepting the best k (N = 5,
    # 3 right, 2 wrong), from the lowest threshold up:
    #   k   TA  FA  FR   FA/N  TA/N  FA/2  TA/3
    #   5    3   2   0    .4    .6    1     1
    #   4    3   1   0    .2    .6    .5    1
    #   3    2   1   1    .2    .4    .5    2/3
    #   2    1   1   2    .2    .2    .5    1/3
    #   1    1   0   2    0     .2    0     1/3
    #   0    0   0   3    0     0     0     0     (the last threshold rejects everything)
    scores = roc_items((0.6, False), (0.9, False), (1.0, True), (0.7, True), (0.8, True))
    assert scores["route", "roc.v1_eer"] == pytest.approx((1 + 1) / 5)  # k = 3: the first with FR >= FA
    assert scores["route", "roc.v1_eer_lee"] == pytest.approx(1 / 5)  # FA alone
    assert scores["route", "roc.v1_ca05"] == scores["route", "roc.v1_ca10"] == 1 / 5
    assert scores["route", "roc.v1_ca20"] == 3 / 5
    assert scores["route", "roc.v2_ca05"] == scores["route", "roc.v2_ca20"] == pytest.approx(1 / 3)


def test_the_two_equal_error_rates_differ_where_errors_jump() -> None:
    # .75 right, wrong, wrong, tied: they are accepted together (FA 2, FR 0) or rejected (FA 0, FR 1).
    # FR >= FA first where all are rejected: FA + FR = 1 of 3, Lee's FA = 0.
    scores = roc_items((0.75, True), (0.75, False), (0.75, False))
    assert scores["route", "roc.v1_eer"] == pytest.approx(1 / 3)
    assert scores["route", "roc.v1_eer_lee"] == 0
    assert scores["route", "roc.v1_ca05"] == 0


def test_scores_closer_than_two_thresholds_are_one() -> None:
    # Between .6 and 1 thresholds are .4/9999 = .00004 apart. .80001 (wrong) and .80002 (right) fall between
    # two of them, so the right one is never accepted alone: from 4 to 2 items, TA 3 -> 1 ... of N = 4.
    #   all: TA 3 FA 1; without .6: TA 2 FA 1; only 1.0: TA 1 FA 0.
    scores = roc_items((0.6, True), (0.80001, False), (0.80002, True), (1.0, True))
    assert scores["route", "roc.v2_ca05"] == pytest.approx(1 / 3)
    # Further apart than a step they are told apart: TA 2 FA 0.
    apart = roc_items((0.6, True), (0.8, False), (0.8005, True), (1.0, True))
    assert apart["route", "roc.v2_ca05"] == pytest.approx(2 / 3)


def test_roc_needs_two_items_of_both_kinds() -> None:
    one = roc_items((0.75, True))
    assert one["route", "accuracy"] == 1
    assert one["route", "roc.v1_eer"] is one["route", "roc.v1_ca20"] is one["route", "roc.v2_ca20"] is None
    for right in (True, False):
        both = roc_items((0.75, right), (1.0, right))
        assert both["route", "roc.v1_eer"] == 0  # all right: accept all; all wrong: reject all
        assert both["route", "roc.v1_ca05"] == right
        assert both["route", "roc.v2_ca05"] is None


def test_scores_too_near_for_different_thresholds() -> None:
    """1 and the next number below it: most of the 10,000 thresholds between them are one or the other."""
    score = np.array([1.0, 1.0, 1.0, np.nextafter(1.0, 0.0)])
    correct = np.array([True, True, True, False])
    totals = RocStatistics("even_thresholds", 4, score, correct, np.arange(4)).sum()
    curve = totals.curve
    # The lowest threshold accepts all four, the first above the wrong one only the three right ones.
    assert curve is not None
    at = totals.first(EQUAL_ERRORS)
    assert (curve.true_accept[0], curve.false_accept[0]) == (3, 1)
    assert (at.true_accept, at.false_accept) == (3, 0)


ROUTE = act("inform", ("route", "61c"))
HEARD = [heard(0.5, ROUTE)]
POOLED = {"all", "joint"}
"""Wherever a slot has an item, so have these two."""


def test_schedule_1_is_every_turn() -> None:
    scores = CallScores([Turn(), Turn()], [Turn()])
    assert {slot: scores.n(slot) for slot in DSTC1_SLOTS} == dict.fromkeys(DSTC1_SLOTS, 3)
    assert (scores.n("joint"), scores.n("all")) == (3, 27)


@pytest.mark.parametrize("turn", [Turn(live=HEARD), Turn(batch=HEARD), Turn(system=[ROUTE])])
def test_schedule_2_takes_slots_that_anybody_named(turn: Turn) -> None:
    # It is about this very turn: the two others say nothing.
    scores = CallScores([Turn(), turn, Turn()])
    assert scores.on_schedule(2) == {"route", *POOLED}
    assert scores.n("route", 2) == scores.n("joint", 2) == scores.n("all", 2) == 1


def test_schedule_2_takes_parts_by_their_prefix() -> None:
    parts = act("inform", ("time.hour", "7"), ("date.day", "today"))
    assert CallScores([Turn(live=[heard(0.5, parts)])]).on_schedule(2) == {"time", "date", *POOLED}


def test_schedule_2_does_not_take_what_is_named_as_a_value() -> None:
    assert CallScores([Turn(system=[act("request", ("slot", "route"))])]).on_schedule(2) == set()


@pytest.mark.parametrize("dataset", ["train3a", "test3"])
def test_the_third_corpus_has_no_neighborhoods(dataset: str) -> None:
    oakland = act("inform", ("from.neighborhood", "oakland"))
    call = [Turn(live=[heard(0.5, oakland)]), Turn(live=HEARD)]
    scores = CallScores(call, dataset=dataset)
    # The neighborhood is never on schedule 2, and the stop is when its neighborhood is named.
    assert scores.on_schedule(2) == {"from.desc", "route", *POOLED}
    assert scores.n("joint", 2) == 2
    elsewhere = CallScores(call, dataset="train2")
    assert elsewhere.on_schedule(2) == {"from.neighborhood", "route", *POOLED}


def test_schedule_3_is_the_last_turn_of_slots_with_a_label() -> None:
    wrong = {"route": [(0.75, C)]}
    scores = CallScores([Turn(wrong, right=[C]), Turn(wrong, wrong=[CMU]), Turn()])
    # Labels so far, right or wrong, of any turn: route and from.desc. At the last turn None has 1 in both:
    # wrong for the route, right for from.desc.
    assert scores.on_schedule(3) == {"route", "from.desc", *POOLED}
    assert (scores["route", "accuracy", 3], scores["from.desc", "accuracy", 3]) == (0, 1)
    assert scores.n("route", 3) == scores.n("joint", 3) == 1
    assert scores["all", "accuracy", 3] == 1 / 2


def test_schedule_3_takes_the_turn_before_a_restart_too() -> None:
    belief = {"route": [(0.75, C)]}
    call = [Turn(belief, right=[C]), Turn(belief), Turn(belief, restart=True), Turn(belief)]
    scores = CallScores(call)
    # Turn 1 (its segment has a label; 61c is right) and turn 3, whose segment has none: it does not count.
    assert scores.n("route", 3) == 1
    assert scores["route", "accuracy", 3] == 1
    # With a label after the restart both ends count; 61c is right at the first end only.
    again = CallScores([*call[:3], Turn(belief, wrong=[C])])
    assert again.n("route", 3) == 2
    assert again["route", "accuracy", 3] == 1 / 2


def test_schedule_3_without_labels_has_no_values() -> None:
    scores = CallScores([Turn({"route": [(0.75, C)]})])
    assert scores.on_schedule(3) == set()
    assert (
        scores["route", "accuracy", 3] is scores["joint", "l2", 3] is scores["all", "roc.v1_eer", 3] is None
    )
