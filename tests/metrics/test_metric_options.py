"""Metrics of states: a lambda for each domain (FGA), partial credit (GCA), and how they agree over turns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.errors import UsageError
from extrinsic.metrics.gca import SIMILARITIES, GranularChangeAccuracy, edit_similarity, word_similarity
from extrinsic.metrics.scoring import score
from extrinsic.metrics.state_items import table_of_states
from extrinsic.metrics.state_metrics import KIM_METRICS, turn_correlation
from tests.builders import StateSetFiles
from tests.metrics.dialogs import by_turn, states_of, values_of
from tests.metrics.reading import read_dstc1, read_states
from tests.oracles import state_sets as oracle
from tests.oracles.state_changes import gca_of_counts
from tests.samples import small_dstc1
from tests.strategies import state_set_files


@pytest.mark.parametrize(
    ("gold", "predicted", "plain", "by_edits"),
    [
        # One correct (stars), one wrong of similarity 2/3 (area), one missed (name).
        (
            "hotel-area-centre, hotel-stars-4, hotel-name-a",
            "hotel-area-center, hotel-stars-4",
            gca_of_counts((1, 1, 1, 0)),
            gca_of_counts((1 + 2 / 3, 1 / 3, 1, 0)),
        ),
        # Without any correct change gca is 0; similar values have some of one.
        ("hotel-area-centre", "hotel-area-center", 0.0, gca_of_counts((2 / 3, 1 / 3, 0, 0))),
    ],
)
def test_a_wrong_value_counts_as_partly_correct(
    gold: str, predicted: str, plain: float, by_edits: float
) -> None:
    expected = {"gca": plain, "gca(similarity=edit)": by_edits, "gca(similarity=words)": plain}
    assert values_of(states_of([(gold, predicted)]), *expected) == pytest.approx(expected)


@settings(max_examples=60)
@given(state_set_files())
def test_credit_only_adds(files: StateSetFiles) -> None:
    by = ("none", "edit", "words")
    found = values_of(read_states(files), "gca", *(f"gca(similarity={name})" for name in by))
    plain, *with_credit = found.values()
    assert len(with_credit) == 2  # by `none` it is the plain one
    for credited in with_credit:
        assert (credited is None) == (plain is None)
        assert plain is None or plain - 1e-12 <= credited <= 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("first", "second", "edit", "words"),
    [
        ("centre", "center", 1 - 2 / 6, 0.0),
        ("kitten", "sitting", 1 - 3 / 7, 0.0),
        ("the old mill", "old mill", 1 - 4 / 12, 4 / 5),
        ("12:15", "12:45", 4 / 5, 0.0),
        ("north", "", 0.0, 0.0),
        ("abc", "xyz", 0.0, 0.0),
    ],
)
def test_similarities_by_hand(first: str, second: str, edit: float, words: float) -> None:
    assert edit_similarity(first, second) == pytest.approx(edit)
    assert word_similarity(first, second) == pytest.approx(words)


@given(st.text(max_size=8), st.text(max_size=8))
def test_similarities_are_symmetric_shares(first: str, second: str) -> None:
    for similarity in SIMILARITIES.values():
        assert similarity(first, second) == similarity(second, first)
        assert 0.0 <= similarity(first, second) <= 1.0
        assert similarity(first, first) == 1.0
    assert (edit_similarity(first, second) == 1.0) == (first == second)


def plain_edits(first: str, second: str) -> int:
    """The recursion itself."""
    if not first or not second:
        return len(first) + len(second)
    substituted = plain_edits(first[1:], second[1:]) + (first[0] != second[0])
    return min(substituted, plain_edits(first[1:], second) + 1, plain_edits(first, second[1:]) + 1)


@given(st.text("ab", max_size=4), st.text("ab", max_size=5))
def test_edits_by_recursion(first: str, second: str) -> None:
    longer = max(len(first), len(second), 1)
    assert edit_similarity(first, second) == pytest.approx(1 - plain_edits(first, second) / longer)


def test_credit_is_given_where_the_wrong_change_is_counted() -> None:
    """Once, in the turn of the change; a value against one that was dropped resembles nothing."""
    states = states_of(
        [("hotel-area-centre", "hotel-area-center"), ("hotel-area-centre", "hotel-area-center")],
        [("hotel-area-north", "hotel-area-north"), ("hotel-area-south", ""), ("hotel-area-south", "")],
    )
    items = table_of_states(states).select("all", 1)
    assert items.changes.credit(edit_similarity).tolist() == pytest.approx([2 / 3, 0, 0, 0, 0])
    statistics = GranularChangeAccuracy(similarity="edit").statistics(items)
    assert statistics[0] == pytest.approx([2 / 3, 1 / 3, 0, 0])


def test_of_filled_beliefs() -> None:
    corpus, output = read_dstc1(small_dstc1())
    rows = score(corpus, output, metrics=["gca", "gca(similarity=edit)"], fill=["argmax"]).rows
    values = [row.value for row in rows if row.schedule == 1]
    assert len(values) == 2 and not np.isnan(values).any()
    assert values[0] <= values[1]  # type: ignore[operator]


# The hotel goes wrong, then the taxi; then the hotel is put right, then the taxi.
DIALOG = [
    ("hotel-area-north", "hotel-area-south"),
    ("hotel-area-north", "hotel-area-south"),
    ("hotel-area-north, taxi-leave-9", "hotel-area-south, taxi-leave-8"),
    ("hotel-area-north, taxi-leave-9", "hotel-area-south, taxi-leave-8"),
    ("hotel-area-north, taxi-leave-9", "hotel-area-north, taxi-leave-8"),
    ("hotel-area-north, taxi-leave-9", "hotel-area-north, taxi-leave-9"),
]


def forgiven(decay: float, since: int) -> float:
    return round(1 - math.exp(-decay * since), 4)


def test_the_strictest_domain_that_is_still_wrong_decides() -> None:
    states = states_of(DIALOG)
    # Own errors at turns 0 and 2. Turn 1: hotel, 1 after. Turn 3: both, 1 after. Turn 4: taxi, 2 after.
    assert by_turn(states, "fga(hotel=0.5, taxi=2)") == [
        0, forgiven(0.5, 1), 0, forgiven(0.5, 1), forgiven(2, 2), 1
    ]  # fmt: skip
    assert by_turn(states, "fga(hotel=2, taxi=0.25)") == [
        0, forgiven(2, 1), 0, forgiven(0.25, 1), forgiven(0.25, 2), 1
    ]  # fmt: skip
    # A domain that is not named has 0.5, or what is given for the rest.
    assert by_turn(states, "fga(taxi=2)") == by_turn(states, "fga(hotel=0.5, taxi=2)")
    assert by_turn(states, "fga(0, taxi=2)") == [0, 0, 0, 0, forgiven(2, 2), 1]
    assert by_turn(states, "fga(0, taxi=inf)") == [0, 0, 0, 0, 1, 1]


def plain(dialog, decays) -> list[float]:  # type: ignore[no-untyped-def]
    scores, error = [], -1
    for turn, kind in enumerate(oracle.turn_kinds(dialog)):
        gold, predicted = oracle.turns_of(dialog)[turn]
        wrong = {
            domain
            for domain, slot in {*gold, *predicted}
            if gold.get((domain, slot)) != predicted.get((domain, slot))
        }
        if kind == "exact":
            scores.append(1.0)
        elif kind == "type 1":
            error = turn
            scores.append(0.0)
        else:
            strictest = min(decays.get(domain, 0.5) for domain in wrong)
            scores.append(1.0 - math.exp(-strictest * (turn - error)))
    return scores


@settings(max_examples=60)
@given(state_set_files(), st.floats(0, 5), st.floats(0, 5))
def test_it_equals_a_plain_loop(files: StateSetFiles, hotel: float, taxi: float) -> None:
    expected = [
        score for dialog in files.states.values() for score in plain(dialog, {"hotel": hotel, "taxi": taxi})
    ]
    (row,) = score(read_states(files), metrics=[f"fga(hotel={hotel!r}, taxi={taxi!r})"]).rows
    assert row.value == pytest.approx(sum(expected) / len(expected), abs=1e-12)


@settings(max_examples=60)
@given(state_set_files(), st.floats(0, 5))
def test_equal_lambdas_are_one_lambda(files: StateSetFiles, decay: float) -> None:
    states = read_states(files)
    each = ", ".join(f"{domain}={decay!r}" for domain in ("hotel", "taxi", "train"))
    same = score(states, metrics=[f"fga({decay!r})", f"fga({decay!r}, {each})", f"fga({each})"]).rows
    assert len({row.value for row in same}) == 1


def test_a_domain_scored_alone_has_its_own_lambda() -> None:
    states = states_of(DIALOG)
    metrics = ["fga(hotel=0.25, taxi=2)", "fga(2)", "fga(0.25)"]
    rows = {
        (row.component, row.metric): row.value
        for row in score(states, metrics=metrics, components=["hotel", "taxi"]).rows
    }
    assert rows["taxi", metrics[0]] == rows["taxi", "fga(2)"] != rows["taxi", "fga(0.25)"]
    assert rows["hotel", metrics[0]] == rows["hotel", "fga(0.25)"]


def test_domains_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="no domain 'hotle'; did you mean 'hotel'"):
        score(states_of(DIALOG), metrics=["fga(hotle=1)"])
    # One of the task may be absent from a file.
    score(states_of(DIALOG), metrics=["fga(restaurant=1)"])
    corpus, output = read_dstc1(small_dstc1())
    with pytest.raises(UsageError, match="no domains"):
        score(corpus, output, metrics=["fga(hotel=1, fill=argmax)"])


# Slots of MultiWOZ are 30. By turn: right; one of two missed; nothing yet, one too many; one wrong of one.
STATES = states_of(
    [("a-a-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1, a-b-1")],
    [("", "b-c-1"), ("b-c-2", "b-c-1")],
)
BY_HAND = {
    "jga": [1, 0, 1, 0, 0],
    "slot_accuracy": [1, 29 / 30, 1, 29 / 30, 29 / 30],
    "slot_f1": [1, 2 / 3, 1, 0, 0],
    "relative_slot_accuracy": [1, 1 / 2, 1, 0, 0],
}


def test_against_numpy() -> None:
    found = turn_correlation(STATES)
    assert found.metrics == KIM_METRICS == tuple(BY_HAND)
    assert found.correlation == pytest.approx(np.corrcoef(list(BY_HAND.values())))
    assert (found.n == 5).all()


def test_a_pair_leaves_out_turns_that_one_does_not_score() -> None:
    # Average goal accuracy has no score for the turn without a gold state: four of five remain.
    found = turn_correlation(STATES, ["jga", "average_goal_accuracy"])
    assert found.n.tolist() == [[5, 4], [4, 4]]
    assert found.correlation[0, 1] == pytest.approx(np.corrcoef([1, 0, 1, 0], [1, 1 / 2, 1, 0])[0, 1])


def test_a_constant_metric_correlates_with_nothing() -> None:
    perfect = states_of([("a-a-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1, a-b-1")])
    rows = turn_correlation(perfect, ["jga", "average_goal_accuracy"]).as_rows()
    assert [row["correlation"] for row in rows] == [None] * 4
    assert [row["n"] for row in rows] == [2] * 4
    # One turn is too few.
    assert np.isnan(turn_correlation(states_of([("a-a-1", "a-a-1")])).correlation).all()
    # Never right, but one slot wrong and then two: only one of the two metrics is constant.
    wrong = states_of([("a-a-1", ""), ("a-a-1, a-b-1", "")])
    found = turn_correlation(wrong, ["jga", "slot_accuracy"]).as_rows()
    assert [row["correlation"] for row in found] == [None, None, None, pytest.approx(1)]


@pytest.mark.parametrize("metric", ["gca", "accuracy", "first_error", "jga(fill=argmax)"])
def test_metrics_without_a_score_for_a_turn_are_refused(metric: str) -> None:
    with pytest.raises(UsageError, match="no score for a single turn"):
        turn_correlation(STATES, ["jga", metric])
