"""Flexible goal accuracy with a lambda for each domain."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.errors import UsageError
from extrinsic.metrics.scoring import score
from tests.builders import StateSetFiles
from tests.metrics.dialogs import by_turn, states_of
from tests.metrics.reading import read_dstc1, read_states
from tests.oracles import state_sets as oracle
from tests.samples import small_dstc1
from tests.strategies import state_set_files

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
