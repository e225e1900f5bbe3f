"""The state-set oracle against the outside world: published tables, and dialogs worked by hand."""

import math

import pytest

from tests.published_figures import AGA, END_TO_END_JGA, KIM_A6, RSA, RUNNING_EXAMPLE, WORKED_EXAMPLES

from . import state_changes, state_sets
from .real_data import read_state_sets


def make_dialog(*turns):
    """Turns (gold, predicted), each a text 'domain-slot-value, ...'."""

    def state(text):
        nested = {}
        for triple in filter(None, text.split(", ")):
            domain, slot, value = triple.split("-")
            nested.setdefault(domain, {})[slot] = value
        return nested

    return {str(t): {"gt": state(gold), "pr": state(predicted)} for t, (gold, predicted) in enumerate(turns)}


def as_percent(value):
    return round(100 * value, 2)


# ---- published figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKED_EXAMPLES)
def test_worked_examples(name):
    corpus = read_state_sets(f"worked_examples/{name}.json")
    scores = {
        "jga": state_sets.jga(corpus),
        RSA: state_sets.relative_slot_accuracy(corpus),
        AGA: state_sets.average_goal_accuracy(corpus),
        "fga(0.5)": state_sets.fga(corpus, 0.5),
        "gca": state_sets.gca(corpus),
    }
    expected = WORKED_EXAMPLES[name]
    assert {metric: as_percent(scores[metric]) for metric in expected} == expected


def test_t5_zero_shot_attraction():
    corpus = read_state_sets("t5_zeroshot_attraction.json.gz")
    assert len(corpus) == 395
    assert as_percent(state_sets.jga(corpus)) == 33.47
    assert as_percent(state_sets.slot_accuracy(corpus)) == 96.54
    assert as_percent(state_sets.average_goal_accuracy(corpus)) == 24.57
    assert as_percent(state_sets.improved_average_goal_accuracy_published(corpus)) == 23.74
    assert as_percent(state_sets.relative_slot_accuracy(corpus)) == 18.26
    by_decay = [as_percent(state_sets.fga(corpus, decay)) for decay in (0.25, 0.5, 0.75, 1.0)]
    assert by_decay == [55.63, 64.99, 69.85, 72.73]
    assert as_percent(state_sets.gca(corpus)) == 33.11


def test_som_dst_on_the_hundred_dialogs():
    corpus = read_state_sets("som_dst_100.json.gz")
    assert sum(len(dialog) for dialog in corpus.values()) == 751
    assert as_percent(state_sets.jga(corpus)) == 49.93
    assert state_sets.fga(corpus, 0) == state_sets.jga(corpus)
    assert state_sets.fga(corpus, 1e9) == state_sets.turn_match(corpus)


@pytest.mark.parametrize("name", END_TO_END_JGA)
def test_end_to_end_systems(name):
    assert as_percent(state_sets.jga(read_state_sets(f"end_to_end/{name}.json.gz"))) == END_TO_END_JGA[name]


def test_running_example_of_dey():
    dialog = make_dialog(*RUNNING_EXAMPLE)
    corpus = {"figure 1": dialog}
    later = 1 - math.exp(-0.5)
    assert state_sets.fga_per_turn(dialog, 0.5) == [1, 1, 0, later, 0, later]
    assert as_percent(state_sets.fga(corpus, 0.5)) == 46.45
    assert as_percent(state_sets.jga(corpus)) == 33.33
    assert as_percent(state_sets.slot_accuracy_per_turn(dialog)[2]) == 93.33
    assert as_percent(state_sets.slot_accuracy(corpus)) == 94.44
    assert state_sets.average_goal_accuracy_per_turn(dialog)[2:5:2] == [4 / 6, 5 / 7]
    assert as_percent(state_sets.average_goal_accuracy(corpus)) == 76.19


def test_kim_table_3():
    gold = "restaurant-area-centre, restaurant-food-indian, restaurant-people-2"
    both = "restaurant-area-centre, restaurant-food-chinese, attraction-area-centre"
    extra = ", restaurant-name-nusha, attraction-pricerange-cheap"
    dialog = make_dialog((gold, both), (gold, both + extra))
    rounded = [round(value, 4) for value in state_sets.relative_slot_accuracy_per_turn(dialog)]
    assert rounded == [0.25, 0.1667]
    assert [round(value, 4) for value in state_sets.average_goal_accuracy_per_turn(dialog)] == [
        0.3333,
        0.3333,
    ]
    assert state_sets.jga_per_turn(dialog) == [0, 0]


def test_kim_table_a6():
    dialog = make_dialog(*KIM_A6)
    slot = [round(value, 4) for value in state_sets.slot_accuracy_per_turn(dialog)]
    relative = [round(value, 4) for value in state_sets.relative_slot_accuracy_per_turn(dialog)]
    assert slot == [0.9667, 0.9667, 0.9333, 0.9333, *[0.9667] * 6]
    assert relative == [0, 0, 0, 0, 0.6667, 0.75, 0.8, 0.8, 0.8, 0.8]
    assert state_sets.first_joint_error(dialog) == 0


# ---- dialogs worked by hand ----------------------------------------------------------------------------


def test_a_dropped_slot_after_an_exact_match():
    """The error is of type 2 by Algorithm 1 (nothing new on either side), of type 1 by the published code."""
    dialog = make_dialog(("a-a-1, a-b-1", "a-a-1, a-b-1"), ("a-a-1", "a-a-1, a-b-1"))
    assert state_sets.fga_per_turn(dialog, 0.5) == state_sets.turn_match_per_turn(dialog) == [1, 0]
    assert state_sets.fga_per_turn(dialog, 0.5, literal=True) == [1, 1 - math.exp(-1)]
    assert state_sets.fga_per_turn(dialog, 0, literal=True) == [1, 0]
    assert state_sets.first_joint_error(dialog) == 1


def test_both_sides_drop_a_slot():
    dialog = {"d": make_dialog(("a-a-1", "a-a-1"), ("", ""))}
    assert state_sets.gca_counts(dialog) == (2, 0, 1, 0)
    assert state_sets.gca_counts(dialog, count_double_drops_once=True) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([("a-a-none", "")], (1, 0, 0, 0)),
        ([("a-a-1", ""), ("", "")], (1, 0, 1, 0)),
        ([("", "a-a-1"), ("", "")], (1, 0, 0, 1)),
        ([("a-a-1", "a-a-1"), ("a-a-1", "")], (1, 0, 1, 0)),
        ([("a-a-1", "a-a-1"), ("", "a-a-1")], (1, 0, 0, 1)),
        ([("a-a-1", "a-a-1"), ("a-a-2", "a-a-1"), ("a-a-2", "a-a-2")], (2, 1, 0, 0)),
        ([("a-a-1", "a-a-1"), ("a-a-1", ""), ("a-a-2", "")], (1, 1, 1, 0)),
        ([("a-a-1", "a-a-1"), ("", "a-a-2")], (1, 1, 0, 1)),
    ],
)
def test_change_counts(turns, expected):
    assert state_sets.gca_counts({"d": make_dialog(*turns)}) == expected


def test_no_values():
    empty = {"d": make_dialog(("", ""), ("", ""))}
    assert state_sets.jga(empty) == 1
    assert state_sets.relative_slot_accuracy(empty) == 0
    for score in ("average_goal_accuracy", "improved_average_goal_accuracy_published", "slot_f1", "gca"):
        assert getattr(state_sets, score)(empty) is None
    assert state_sets.tail_orientation(empty["d"]) is state_sets.non_uniformity(empty["d"]) is None


def test_f1_improved_average_and_domains():
    corpus = {"d": make_dialog(("a-a-1, b-a-1", "a-a-1, b-a-2"), ("", "a-a-1"))}
    assert state_sets.slot_f1(corpus) == 2 * 1 / (2 + 3)
    assert state_sets.improved_average_goal_accuracy(corpus) == (1 / 3 + 0) / 2
    assert state_sets.improved_average_goal_accuracy_published(corpus) == 1 / 3
    only = state_sets.restrict_to_domain(corpus, "a")
    assert state_sets.jga_per_turn(only["d"]) == [1, 0]


def test_traits_of_sample_1():
    """Seven turns, one mistake in turn 2 and two in turn 4."""
    (dialog,) = read_state_sets("worked_examples/sample_1.json").values()
    assert state_changes.mistakes_per_turn(dialog) == [0, 0, 1, 0, 2, 0, 0]
    assert state_sets.tail_orientation(dialog) == pytest.approx((10 / 3 - 3) / 7)
    assert state_sets.tail_orientation_summed(dialog) == pytest.approx((-1 + 1 + 1) / 7)
    assert state_sets.non_uniformity(dialog) == pytest.approx((5 * 3 / 7 + 4 / 7 + 11 / 7) / (3 / 7))
    assert state_sets.non_uniformity_squared(dialog) == pytest.approx((5 * 9 + 16 + 121) / 49)
