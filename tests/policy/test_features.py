"""What a policy sees: names of columns, numbers by hand, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.features import Features, States, find_features
from extrinsic.policy.observations import Observations, observations_of_corpus, stable_number
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import FEATURES
from tests.builders import DSTC1_SLOTS, Dstc2Files
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.policy.calls import read, whole_call
from tests.samples import small_dstc1, small_dstc2
from tests.simulation.worlds import BUS

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


def test_restaurants_by_hand() -> None:
    files = deepcopy(small_dstc2())
    files.tracker["sessions"][2]["turns"] = deepcopy(files.tracker["sessions"][2]["turns"][:1]) * 2
    files.tracker["sessions"][2]["turns"][1] = deepcopy(files.tracker["sessions"][2]["turns"][1])
    for turn, score in ((0, 0.25), (1, 0.75)):
        files.tracker["sessions"][2]["turns"][turn]["requested-slots"] = {"phone": score}
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
