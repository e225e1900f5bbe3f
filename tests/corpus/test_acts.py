"""Values as numbers: ids are stable while the vocabulary grows, and values compare as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.acts import NONE, Vocabulary

written = (
    st.none() | st.text(max_size=3) | st.integers(0, 9) | st.sampled_from(["1", "None", (("a", "b"),), ()])
)


def test_none_has_its_own_id_and_is_not_the_text() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.id(None) == NONE
    assert vocabulary.value(NONE) is None
    assert vocabulary.id("None") != NONE


def test_pairs_are_values_of_their_own() -> None:
    vocabulary = Vocabulary()
    seven = vocabulary.id((("time.ampm", "pm"), ("time.hour", "7")))
    assert seven != vocabulary.id("time.ampm=pm time.hour=7")
    assert vocabulary.text(seven) == "time.ampm=pm time.hour=7"


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


def test_compound_values_by_the_ids_of_their_parts() -> None:
    vocabulary = Vocabulary()
    seven, pm = vocabulary.id("7"), vocabulary.id("pm")
    names = ("time.ampm", "time.hour", "time.rel")
    whole = vocabulary.compound_id(names, (pm, seven, NONE))
    assert vocabulary.value(whole) == (("time.ampm", "pm"), ("time.hour", "7"))
    assert vocabulary.compound_id(names, (pm, seven, NONE)) == whole
    assert vocabulary.compound_id(names, (NONE, seven, NONE)) == vocabulary.id((("time.hour", "7"),))
