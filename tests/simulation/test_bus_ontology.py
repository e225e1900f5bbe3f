"""The bus_ontology: as large as a real one, its values as the corpus has them, and what sounds like what."""

from __future__ import annotations

import numpy as np

from extrinsic.corpus.formats.dstc1_corpus import value_of_pairs
from extrinsic.simulation.bus.bus_ontology import bus_ontology
from extrinsic.simulation.ontology import N_NEIGHBOURS, _spoken, likeness
from tests.simulation.worlds import BUS, slot_values

SLOTS = BUS.domain.slot_names


def text(number: int) -> str:
    return BUS.vocabulary.text(int(BUS.identity[number]))


def test_lists_of_a_real_size() -> None:
    sizes = dict(zip(SLOTS, np.diff(BUS.begin).tolist(), strict=True))
    assert sizes["from.desc"] == sizes["to.desc"] == 24 * 15
    assert 24 <= sizes["route"] <= 200
    assert all(sizes[slot] > 40 for slot in SLOTS)
    assert sizes["from.monument"] == sizes["to.monument"] == 43
    assert len(BUS) == sum(sizes.values())


def test_one_town_for_all() -> None:
    assert bus_ontology() is BUS


def test_values_of_a_slot_are_distinct_and_found_by_their_ids() -> None:
    for column in range(len(SLOTS)):
        here = np.arange(BUS.begin[column], BUS.begin[column + 1])
        assert len(np.unique(BUS.identity[here])) == len(here)
        assert np.array_equal(BUS.number[column, BUS.identity[here]], here)
        assert (BUS.slot[here] == column).all()
        assert (BUS.number[column] >= 0).sum() == len(here)


def test_pairs_are_read_back_as_the_value() -> None:
    """What acts write of a value is, to the reader of labels, that very value."""
    for number in range(len(BUS)):
        rows = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1])
        names, parts = (
            [BUS.vocabulary.value(int(identity)) for identity in column[rows]]
            for column in (BUS.pair_slot, BUS.pair_value)
        )
        slot = SLOTS[BUS.slot[number]]
        assert len(set(names)) == len(names) > 0
        value = value_of_pairs(BUS.domain, slot, dict(zip(names, parts, strict=True)))
        assert BUS.vocabulary.find(value) == BUS.identity[number]


def test_neighbours_are_other_values_of_the_slot() -> None:
    assert BUS.neighbour.shape == (len(BUS), N_NEIGHBOURS)
    assert (BUS.slot[BUS.neighbour] == BUS.slot[:, None]).all()
    assert (BUS.neighbour != np.arange(len(BUS))[:, None]).all()
    assert (np.sort(BUS.neighbour, axis=1)[:, 1:] != np.sort(BUS.neighbour, axis=1)[:, :-1]).all()


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
        assert BUS.neighbour[number].tolist() == best
    assert BUS.begin[column] == here[0]


def test_likeness_of_a_text_with_itself_is_one() -> None:
    table = likeness(["north bank", "zoo"], ["zoo", "south bank", "qqq"])
    assert table[1, 0] == 1.0
    assert 0 < table[0, 1] < 1
    assert table[1, 2] == 0.0
    assert _spoken((("time.hour", "7"), ("time.minute", "15"))) == "7 15"


def test_elsewhere_is_the_other_direction_and_another_kind_of_place() -> None:
    for number in (*slot_values("from.desc")[::50], *slot_values("to.monument")[::10]):
        slot = SLOTS[BUS.slot[number]]
        side, kind = slot.split(".")
        opposite, other_kind = BUS.elsewhere[number]
        assert SLOTS[BUS.slot[opposite]] == f"{'to' if side == 'from' else 'from'}.{kind}"
        assert text(opposite) == text(number)
        assert BUS.group[BUS.slot[other_kind]] == BUS.group[BUS.slot[number]]
        assert BUS.slot[other_kind] != BUS.slot[number]
    for slot in ("route", "date", "time"):
        here = slot_values(slot)
        assert (BUS.elsewhere[here] == here[:, None]).all()


def test_what_is_usual() -> None:
    assert {text(number) for number in np.flatnonzero(BUS.usual)} == {
        "time.rel=now",
        "date.day=today",
        "date.day=tomorrow",
    }
