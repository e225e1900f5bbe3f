"""The town: as large as a real one, its values as the corpus has them, and what sounds like what."""

from __future__ import annotations

import numpy as np

from extrinsic.corpus.formats.dstc1.values import value_of_pairs
from extrinsic.simulation.values import N_NEIGHBOURS, _likeness, _spoken, town
from tests.simulation.worlds import TOWN, slot_values

SLOTS = TOWN.domain.slot_names


def text(number: int) -> str:
    return TOWN.vocabulary.text(int(TOWN.identity[number]))


def test_lists_of_a_real_size() -> None:
    sizes = dict(zip(SLOTS, np.diff(TOWN.begin).tolist(), strict=True))
    assert sizes["from.desc"] == sizes["to.desc"] == 24 * 15
    assert 24 <= sizes["route"] <= 200
    assert all(sizes[slot] > 40 for slot in SLOTS)
    assert sizes["from.monument"] == sizes["to.monument"] == 43
    assert len(TOWN) == sum(sizes.values())


def test_one_town_for_all() -> None:
    assert town() is TOWN


def test_values_of_a_slot_are_distinct_and_found_by_their_ids() -> None:
    for column in range(len(SLOTS)):
        here = np.arange(TOWN.begin[column], TOWN.begin[column + 1])
        assert len(np.unique(TOWN.identity[here])) == len(here)
        assert np.array_equal(TOWN.number[column, TOWN.identity[here]], here)
        assert (TOWN.slot[here] == column).all()
        assert (TOWN.number[column] >= 0).sum() == len(here)


def test_pairs_are_read_back_as_the_value() -> None:
    """What acts write of a value is, to the reader of labels, that very value."""
    for number in range(len(TOWN)):
        rows = slice(TOWN.pair_offsets[number], TOWN.pair_offsets[number + 1])
        names, parts = (
            [TOWN.vocabulary.value(int(identity)) for identity in column[rows]]
            for column in (TOWN.pair_slot, TOWN.pair_value)
        )
        slot = SLOTS[TOWN.slot[number]]
        assert len(set(names)) == len(names) > 0
        value = value_of_pairs(TOWN.domain, slot, dict(zip(names, parts, strict=True)))
        assert TOWN.vocabulary.find(value) == TOWN.identity[number]


def test_neighbours_are_other_values_of_the_slot() -> None:
    assert TOWN.neighbour.shape == (len(TOWN), N_NEIGHBOURS)
    assert (TOWN.slot[TOWN.neighbour] == TOWN.slot[:, None]).all()
    assert (TOWN.neighbour != np.arange(len(TOWN))[:, None]).all()
    assert (np.sort(TOWN.neighbour, axis=1)[:, 1:] != np.sort(TOWN.neighbour, axis=1)[:, :-1]).all()


def test_neighbours_sound_alike_most_alike_first() -> None:
    """Against a plain Dice coefficient of letter pairs."""

    def alike(first: str, second: str) -> float:
        one, two = ({f" {word} "[i : i + 2] for i in range(len(word) + 1)} for word in (first, second))
        return 2 * len(one & two) / (len(one) + len(two))

    column = SLOTS.index("from.neighborhood")
    here = slot_values("from.neighborhood")
    for number in here[::9]:
        scores = {other: alike(text(number), text(other)) for other in here if other != number}
        best = sorted(scores, key=lambda other: (-scores[other], other))[:N_NEIGHBOURS]
        assert TOWN.neighbour[number].tolist() == best
    assert TOWN.begin[column] == here[0]


def test_likeness_of_a_text_with_itself_is_one() -> None:
    table = _likeness(["north bank", "zoo"], ["zoo", "south bank", "qqq"])
    assert table[1, 0] == 1.0
    assert 0 < table[0, 1] < 1
    assert table[1, 2] == 0.0
    assert _spoken((("time.hour", "7"), ("time.minute", "15"))) == "7 15"


def test_elsewhere_is_the_other_direction_and_another_kind_of_place() -> None:
    for number in (*slot_values("from.desc")[::50], *slot_values("to.monument")[::10]):
        slot = SLOTS[TOWN.slot[number]]
        side, kind = slot.split(".")
        opposite, other_kind = TOWN.elsewhere[number]
        assert SLOTS[TOWN.slot[opposite]] == f"{'to' if side == 'from' else 'from'}.{kind}"
        assert text(opposite) == text(number)
        assert TOWN.group[TOWN.slot[other_kind]] == TOWN.group[TOWN.slot[number]]
        assert TOWN.slot[other_kind] != TOWN.slot[number]
    for slot in ("route", "date", "time"):
        here = slot_values(slot)
        assert (TOWN.elsewhere[here] == here[:, None]).all()


def test_what_is_usual() -> None:
    assert {text(number) for number in np.flatnonzero(TOWN.usual)} == {
        "time.rel=now", "date.day=today", "date.day=tomorrow",
    }  # fmt: skip
