"""What a policy sees: names of columns, blocks by hand on one call (whole_call), what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.features import Features, States, find_features
from extrinsic.policy.observations import BEFORE, Observations, observations_of_corpus, stable_number
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import BLOCKS, FEATURES
from tests.builders import DSTC1_SLOTS, Dstc2Files
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.policy.calls import read, whole_call
from tests.samples import small_dstc1, small_dstc2
from tests.simulation.worlds import BUS, PREDICATES

BUS_GROUPS = ("from", "to", "route", "date", "time")
RESTAURANT_SLOTS, RESTAURANT_GROUPS = ("food", "pricerange", "name", "area"), ("food", "area", "pricerange")


def named(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names)


def scores_of(names: tuple[str, ...]) -> tuple[str, ...]:
    return named("top", names) + named("second", names) + named("none", names)


MINIMA = ("lowest.required", "lowest.filled", "mean.required")
COMPACT = (*MINIMA, "lowest.unconfirmed", "missing", "negated", "informed", "confirmed", "turn", "repeats")


def columns_of(preset: str, slots: tuple[str, ...], groups: tuple[str, ...]) -> tuple[Any, Any]:
    filled = named("filled", groups)
    return {
        "lee2014_literal": (scores_of(slots), (*named("filled", slots), *named("value", slots), "affirmed")),
        "lee2014": (scores_of(slots), (*named("filled", slots), "affirmed")),
        "grouped": ((*scores_of(groups), *MINIMA), (*filled, "answer")),
        "grouped_history": (
            (*scores_of(groups), *MINIMA, "confirmed", "turn", "repeats"),
            (*filled, "answer", "offered"),
        ),
        "compact": (COMPACT, ("answer", "offered", "last_act")),
    }[preset]


@pytest.mark.parametrize("preset", FEATURES.names())
def test_columns_of_presets(preset: str) -> None:
    """On restaurants also the last act, whether something was asked for, and the dialog manager."""
    corpus, output = read_dstc1(small_dstc1())
    continuous, discrete = columns_of(preset, DSTC1_SLOTS, BUS_GROUPS)
    bus = find_features(preset)(observations_of_corpus(corpus, output, np.arange(3)))
    assert (bus.continuous_names, bus.discrete_names) == (continuous, discrete)
    assert (bus.continuous.shape, bus.discrete.shape) == ((3, len(continuous)), (3, len(discrete)))

    corpus, output = read_dstc2(small_dstc2())
    continuous, discrete = columns_of(preset, RESTAURANT_SLOTS, RESTAURANT_GROUPS)
    more = ("last_act", "requested", "condition.dialog-manager")
    restaurants = find_features(preset)(observations_of_corpus(corpus, output, np.arange(5)))
    assert restaurants.continuous_names == continuous
    assert restaurants.discrete_names == tuple(dict.fromkeys((*discrete, *more)))
    without = replace(find_features(preset), conditions=False)(
        observations_of_corpus(corpus, output, np.arange(5))
    )
    assert without.discrete_names == restaurants.discrete_names[:-1]
    assert np.array_equal(without.discrete, restaurants.discrete[:, :-1])


def known(turns: Any) -> Observations:
    corpus, output = read(whole_call())
    return observations_of_corpus(corpus, output, np.asarray(turns))


def block(name: str, turns: Any) -> Any:
    """The block's columns after each turn, in words."""
    states = Features((name,), conditions=False)(known(turns))
    discrete = BLOCKS.get(name).discrete
    array = states.discrete if discrete else states.continuous
    names = states.discrete_names if discrete else states.continuous_names
    return [dict(zip(names, row, strict=True)) for row in array.tolist()]


def no_scores(names: tuple[str, ...]) -> dict[str, float]:
    """Of slots or groups of which nothing was heard."""
    return {name: float(name.startswith("none")) for name in scores_of(names)}


def test_slot_scores_by_hand() -> None:
    before, first, second = block("slot_scores", [BEFORE, 0, 1])
    nothing = no_scores(DSTC1_SLOTS)
    assert before == nothing
    from_ = {"top.from.desc": 0.7, "second.from.desc": 0.2, "none.from.desc": 0.1}
    assert first == pytest.approx({**nothing, **from_})
    to = {"top.to.desc": 0.3, "none.to.desc": 0.7, "top.to.monument": 0.6, "none.to.monument": 0.4}
    assert second == pytest.approx({**nothing, **from_, **to})


def test_group_scores_by_hand() -> None:
    """A stop with .3 and a monument with .6 are one concept: top .6, second .3, None that of the monument."""
    (found,) = block("group_scores", [1])
    from_ = {"top.from": 0.7, "second.from": 0.2, "none.from": 0.1}
    to = {"top.to": 0.6, "second.to": 0.3, "none.to": 0.4}
    assert found == pytest.approx({**no_scores(BUS_GROUPS), **from_, **to})


def test_group_minimum_by_hand() -> None:
    """Required are from, to and time."""
    before, second, late = block("group_minimum", [BEFORE, 1, 3])
    assert list(before.values()) == [0.0, 1.0, 0.0]
    assert list(second.values()) == pytest.approx([0.0, 0.6, 1.3 / 3])
    assert list(late.values()) == pytest.approx([0.4, 0.4, (0.95 + 0.6 + 0.4) / 3])


def test_the_dialog_so_far_by_hand() -> None:
    """The confirmation came twice, the question for another bus as well; a bus was offered at turn 4."""
    turns = [BEFORE, 0, 1, 2, 3, 4, 5, 6]
    assert [row["turn"] for row in block("turn", turns)] == [number / 8 for number in range(8)]
    assert [row["repeats"] for row in block("repeats", turns)] == [0, 0, 0, 0, 0.5, 0, 0, 0.5]
    assert [row["offered"] for row in block("offered", turns)] == [0, 0, 0, 0, 0, 1, 1, 1]
    names = ["hello", "request", "confirm", "confirm", "offer", "next_bus", "next_bus"]
    expected = [-1, *(PREDICATES.index(name) for name in names)]
    assert [row["last_act"] for row in block("last_act", turns)] == expected
    # not asked, but for the two questions for another bus: yes, no
    assert [row["answer"] for row in block("answer", turns)] == [0, 0, 0, 0, 0, 0, 1, 2]
    assert [row["affirmed"] for row in block("affirmed", turns)] == [0, 0, 0, 0, 0, 0, 1, 0]


def test_confirmations_by_hand() -> None:
    """A yes of .9 to cmu at turn 2: one of five groups. A no of .3 takes nothing back."""
    assert [row["confirmed"] for row in block("confirmed_share", [1, 2, 3])] == pytest.approx([0.0, 0.2, 0.2])
    doubts = block("doubts", [BEFORE, 0, 1, 2, 3])
    assert [row["lowest.unconfirmed"] for row in doubts] == pytest.approx([1.0, 0.7, 0.6, 0.6, 0.4])
    assert [row["missing"] for row in doubts] == pytest.approx([1.0, 2 / 3, 1 / 3, 1 / 3, 0.0])


def test_reactions_by_hand() -> None:
    """What informs does not count the yes to a confirmation."""
    found = block("reaction", [BEFORE, 0, 2, 3, 4, 6])
    assert [row["negated"] for row in found] == pytest.approx([0.0, 0.0, 0.05, 0.3, 0.0, 0.8])
    assert [row["informed"] for row in found] == pytest.approx([0.0, 0.7, 0.0, 0.4, 0.0, 0.0])


def test_indicators_and_values_by_hand() -> None:
    before, second, late = block("slot_indicators", [BEFORE, 1, 3])
    assert not any(before.values())
    filled = {"filled.from.desc", "filled.to.desc", "filled.to.monument"}
    assert {name for name, on in second.items() if on} == filled
    assert late["filled.time"] == 1
    (groups,) = block("group_indicators", [1])
    assert {name for name, on in groups.items() if on} == {"filled.from", "filled.to"}
    (values,) = block("top_values", [3])
    words = {"from.desc": "cmu", "to.desc": "oak", "to.monument": "zoo", "time": "time.hour=7"}
    assert values == {f"value.{slot}": stable_number(words.get(slot, "None")) for slot in DSTC1_SLOTS}


def test_a_value_below_none_is_still_the_best_value() -> None:
    """Time at .4, None at .6."""
    (found,) = block("slot_scores", [3])
    assert (found["top.time"], found["second.time"], found["none.time"]) == pytest.approx((0.4, 0.0, 0.6))


def test_restaurants_by_hand() -> None:
    files = small_dstc2()
    last = files.tracker["sessions"][2]
    last["turns"] = [{**last["turns"][0], "requested-slots": {"phone": score}} for score in (0.25, 0.75)]
    corpus, output = read_dstc2(files)
    states = find_features("compact")(observations_of_corpus(corpus, output, np.array([0, 3, 4])))
    column = dict(zip(states.discrete_names, states.discrete.T.tolist(), strict=True))
    assert column["requested"] == [0, 0, 1]
    assert column["last_act"] == [0, 0, corpus.domain.predicate_names.index("confirm")]
    assert column["condition.dialog-manager"] == [stable_number("0"), stable_number("1"), stable_number("1")]
    assert column["answer"] == [0, 0, 1]
    numbers = dict(zip(states.continuous_names, states.continuous.T.tolist(), strict=True))
    assert numbers["confirmed"] == pytest.approx([0.0, 0.0, 1 / 3])
    assert numbers["lowest.unconfirmed"] == pytest.approx([0.75, 0.75, 1.0])
    assert numbers["missing"] == pytest.approx([2 / 3] * 3)
    assert numbers["mean.required"] == pytest.approx([0.25] * 3)


def without_greetings(files: Dstc2Files) -> Dstc2Files:
    """Every call begins with its second turn, if it has one."""
    for directory, call in files.logs.items():
        session = call["session-id"]
        if len(call["turns"]) > 1:
            call["turns"] = [{**turn, "turn-index": i} for i, turn in enumerate(call["turns"][1:])]
            files.labels[directory]["turns"] = files.labels[directory]["turns"][1:]
            for part in files.tracker["sessions"]:
                if part["session-id"] == session:
                    part["turns"] = part["turns"][1:]
    return files


def test_a_call_without_greeting_has_its_own_conditions() -> None:
    """Its first decision is made before anything was said, but by a dialog manager that is known."""
    corpus, output = read_dstc2(without_greetings(small_dstc2()))
    transitions = transitions_of(corpus, output)
    assert transitions.sessions == ("one", "three")
    assert transitions.turn.tolist() == [0, 0]
    manager = transitions.states.discrete[
        :, transitions.states.discrete_names.index("condition.dialog-manager")
    ]
    assert manager.tolist() == [stable_number("0"), stable_number("1")]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *[(lambda blocks=blocks: Features(blocks), "at least one block") for blocks in ((), "turn", "")],
        (lambda: find_features([]), "at least one block"),
        (lambda: find_features(["turns"]), "no feature block 'turns'; did you mean 'turn'"),
        (lambda: find_features("compct"), "did you mean 'compact'"),
        (
            lambda: find_features("compact")(
                replace(known([0]), domain=msgspec.structs.replace(BUS.domain, state=("ofered",)))
            ),
            "did you mean 'offered'",
        ),
        *[
            (lambda sizes=sizes: States(*map(np.zeros, sizes), ("a",), ("c",)), "do not fit")  # type: ignore[arg-type]
            for sizes in (((2, 2), (2, 1)), ((2, 1), (3, 1)))
        ],
    ],
)
def test_what_are_no_features_and_no_states(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(number: float) -> None:
    situations = known([0, 1])
    top = situations.summary.top.copy()
    top[1, 1] = number
    spoilt = replace(situations, summary=replace(situations.summary, top=top))
    with pytest.raises(
        UsageError, match=r"'top.from.desc' is not a finite number .* in state 1, 1 such in all"
    ):
        find_features("lee2014")(spoilt)
