"""The corpus in columns: segments, conditions, taking dialogs, folds; and what is right at a turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.acts import NONE, Vocabulary
from extrinsic.corpus.corpus import Corpus, fold_of_sessions
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.corpus.labels import LabelEvents, TableTruth, covered
from extrinsic.errors import UsageError
from tests.builders import write_dstc1, write_dstc2
from tests.contents import corpus_content
from tests.samples import small_dstc1, small_dstc2


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return DSTC1.read_corpus(write_dstc1(tmp_path_factory.mktemp("bus"), small_dstc1()).corpus)


@pytest.fixture(scope="module")
def restaurants(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return DSTC2.read_corpus(write_dstc2(tmp_path_factory.mktemp("food"), small_dstc2()).corpus)


def test_segments_end_at_restarts_and_at_the_end_of_a_dialog(bus: Corpus) -> None:
    assert bus.offsets.tolist() == [0, 2, 5]
    assert bus.restart.tolist() == [False, False, False, True, False]
    assert bus.segment_end.tolist() == [2, 2, 3, 5, 5]
    assert bus.turn_in_dialog.tolist() == [0, 1, 0, 1, 2]
    assert bus.dialog_of_turn.tolist() == [0, 0, 1, 1, 1]


def test_conditions_and_outcomes(restaurants: Corpus) -> None:
    for condition, expected in (
        ("directory", {"Mar13_S0A0": [0, 1], "Mar13_S1A1": [2]}),
        ("dialog-manager", {"0": [0, 1], "1": [2]}),
    ):
        found = restaurants.dialogs_by(condition)
        assert {name: dialogs.tolist() for name, dialogs in found.items()} == expected
    with pytest.raises(UsageError, match="did you mean 'dialog-manager'"):
        restaurants.dialogs_by("dialog-manger")
    # Of the third caller nobody asked whether it was a success: NaN.
    assert restaurants.outcomes["success"] == pytest.approx((1.0, 0.0, float("nan")), nan_ok=True)


def test_taking_dialogs_in_another_order_and_back(bus: Corpus, restaurants: Corpus) -> None:
    turned = restaurants.take([2, 0, 1])
    assert turned.sessions == ("three", "one", "two")
    assert corpus_content(turned.take([1, 2, 0])) == corpus_content(restaurants) != corpus_content(turned)
    for corpus in (bus, restaurants):
        none = corpus.take([])
        assert (none.n_dialogs, none.n_turns, none.segment_end.tolist()) == (0, 0, [])


SESSIONS = tuple(f"call-{number}" for number in range(23))


def test_sizes_differ_by_at_most_one_and_the_seed_decides() -> None:
    folds = fold_of_sessions(SESSIONS, 5).tolist()
    assert [folds.count(fold) for fold in range(5)] == [5, 5, 5, 4, 4]
    one, again, other = (fold_of_sessions(SESSIONS, 2, seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


@given(st.permutations(range(len(SESSIONS))), st.integers(0, 3))
def test_the_order_of_sessions_does_not(order: list[int], seed: int) -> None:
    shuffled = [SESSIONS[place] for place in order]
    folds = fold_of_sessions(SESSIONS, 4, seed)
    assert fold_of_sessions(shuffled, 4, seed).tolist() == folds[order].tolist()


@pytest.mark.parametrize(
    ("n_sessions", "n_folds", "said"),
    [
        *[(3, n_folds, "between 2 and the number of dialogs .* 2 to 3") for n_folds in (4, 1, 0, -1)],
        *[(n_sessions, 5, rf"at least two, .* \(found {n_sessions}\)") for n_sessions in (0, 1)],
    ],
)
def test_an_impossible_number_of_folds_is_refused(n_sessions: int, n_folds: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        fold_of_sessions(SESSIONS[:n_sessions], n_folds)


# One slot of two, values 1 and 2; turns 0-2 are one segment, turns 3-4 another (a restart at 3).
SEGMENT_END = np.array([3, 3, 3, 5, 5])


def events(*found: tuple[int, int, int, bool]) -> LabelEvents:
    columns = list(zip(*found, strict=True)) if found else [(), (), (), ()]
    turn, slot, value, correct = columns
    return LabelEvents(
        np.array(turn, dtype=np.int64),
        np.array(slot, dtype=np.int64),
        np.array(value, dtype=np.int32),
        np.array(correct, dtype=bool),
    )


@pytest.mark.parametrize(
    ("labels", "of_value", "of_none"),
    [
        (events(), [False] * 5, [True] * 5),
        # Once true, true until the restart; a false value may become true later.
        (events((1, 0, 1, True), (2, 0, 1, False)), [0, 1, 1, 0, 0], [1, 0, 0, 1, 1]),
        (events((0, 0, 1, False), (2, 0, 1, True)), [0, 0, 1, 0, 0], [1, 1, 0, 1, 1]),
    ],
)
def test_which_value_is_right(labels: LabelEvents, of_value: list[bool], of_none: list[bool]) -> None:
    """Value 1 and None of the first slot, at each of the five turns."""
    truth, turns, slots = labels.truth(SEGMENT_END, 2), np.arange(5), np.zeros(5, int)
    for value, expected in ((1, of_value), (0, of_none)):
        assert truth.is_correct(turns, slots, np.full(5, value, dtype=np.int32)).tolist() == expected


def test_labelled_counts_wrong_values_too() -> None:
    """Schedule 3 asks for a label of any kind, not for a right one."""
    labels = events((1, 0, 1, False))
    assert labels.labelled(SEGMENT_END, 2).tolist() == [
        [False, False],
        [True, False],
        [True, False],
        [False, False],
        [False, False],
    ]


def test_covered_by_overlapping_spans() -> None:
    slots, starts, ends = np.array([0, 0]), np.array([0, 1]), np.array([2, 3])
    assert covered(slots, starts, ends, 4, 1).ravel().tolist() == [True, True, True, False]


def test_a_table_has_one_right_value() -> None:
    truth = TableTruth(np.array([[5, 0]], dtype=np.int32))
    turn = np.zeros(3, dtype=np.int64)
    value = np.array([5, 5, 0], dtype=np.int32)
    assert truth.is_correct(turn, np.array([0, 1, 1]), value).tolist() == [True, False, True]


def test_events_of_chosen_turns() -> None:
    """In the order of the turns chosen; within a turn in that of the files, which need not be by turn."""
    labels = events((3, 0, 1, True), (0, 1, 2, False), (3, 1, 2, True), (1, 0, 1, False))
    taken = labels.take(np.array([3, 2, 0]))
    assert taken.turn.tolist() == [0, 0, 2]
    assert taken.slot.tolist() == [0, 1, 1]
    assert taken.correct.tolist() == [True, True, False]
    assert len(events().take(np.array([0, 1])).turn) == 0


written = (
    st.none() | st.text(max_size=3) | st.integers(0, 9) | st.sampled_from(["1", "None", (("a", "b"),), ()])
)


def test_none_and_pairs_are_values_of_their_own() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.id(None) == NONE != vocabulary.id("None")
    assert vocabulary.value(NONE) is None
    seven = vocabulary.id((("time.ampm", "pm"), ("time.hour", "7")))
    assert seven != vocabulary.id("time.ampm=pm time.hour=7")
    assert vocabulary.text(seven) == "time.ampm=pm time.hour=7"
    # By the ids of their parts.
    hour, pm = vocabulary.id("7"), vocabulary.id("pm")
    names = ("time.ampm", "time.hour", "time.rel")
    assert vocabulary.compound_id(names, (pm, hour, NONE)) == seven
    assert vocabulary.compound_id(names, (NONE, hour, NONE)) == vocabulary.id((("time.hour", "7"),))


def test_finding_adds_nothing() -> None:
    vocabulary = Vocabulary()
    known = vocabulary.id("a")
    assert vocabulary.find("b") == -1
    assert vocabulary.find("a") == known
    assert vocabulary.find_all(["b", "a", "c"]).tolist() == [known]
    assert len(vocabulary) == 2  # None and "a"


@given(st.lists(written), st.lists(written))
def test_ids_given_out_stay_valid(first: list[object], second: list[object]) -> None:
    vocabulary = Vocabulary()
    early = vocabulary.ids(first).tolist()
    read_early = [vocabulary.value(identity) for identity in early]
    vocabulary.ids(second)
    assert vocabulary.ids(first).tolist() == early
    assert [vocabulary.value(identity) for identity in early] == read_early
    as_text = [value if value is None or isinstance(value, tuple) else str(value) for value in first]
    assert read_early == as_text
