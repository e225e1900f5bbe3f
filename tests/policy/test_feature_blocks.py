"""Building blocks of states, number by number on one call (tests.policy.calls.whole_call)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.policy.features import Features
from extrinsic.policy.observations import BEFORE, observations_of_corpus, stable_number
from extrinsic.registry import BLOCKS
from tests.builders import DSTC1_SLOTS
from tests.policy.calls import read, whole_call
from tests.simulation.worlds import PREDICATES

BUS_GROUPS = ("from", "to", "route", "date", "time")


def block(name: str, turns: Any) -> Any:
    """The block's columns after each turn, in words."""
    states = Features((name,), conditions=False)(
        observations_of_corpus(*read(whole_call()), np.asarray(turns))
    )
    discrete = BLOCKS.get(name).discrete
    array = states.discrete if discrete else states.continuous
    names = states.discrete_names if discrete else states.continuous_names
    return [dict(zip(names, row, strict=True)) for row in array.tolist()]


def test_slot_scores_by_hand() -> None:
    before, first, second = block("slot_scores", [BEFORE, 0, 1])
    nothing = {
        f"{kind}.{slot}": float(kind == "none") for kind in ("top", "second", "none") for slot in DSTC1_SLOTS
    }
    assert before == nothing
    from_ = {"top.from.desc": 0.7, "second.from.desc": 0.2, "none.from.desc": 0.1}
    assert first == pytest.approx({**nothing, **from_})
    to = {"top.to.desc": 0.3, "none.to.desc": 0.7, "top.to.monument": 0.6, "none.to.monument": 0.4}
    assert second == pytest.approx({**nothing, **from_, **to})


def test_group_scores_by_hand() -> None:
    """A stop with .3 and a monument with .6 are one concept: top .6, second .3, None that of the monument."""
    (found,) = block("group_scores", [1])
    nothing = {
        f"{kind}.{name}": float(kind == "none") for kind in ("top", "second", "none") for name in BUS_GROUPS
    }
    expected = {
        "top.from": 0.7,
        "second.from": 0.2,
        "none.from": 0.1,
        "top.to": 0.6,
        "second.to": 0.3,
        "none.to": 0.4,
    }
    assert found == pytest.approx({**nothing, **expected})


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
    assert {name for name, on in second.items() if on} == {
        "filled.from.desc",
        "filled.to.desc",
        "filled.to.monument",
    }
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
