"""Values as numbers: ids are stable while the vocabulary grows, and values compare as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.acts import NONE, Vocabulary

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
