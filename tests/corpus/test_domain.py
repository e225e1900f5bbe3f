"""A task is data: the built-in domains, and what is said about mistakes in a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.corpus.domain import built_in_domains, load_domain
from extrinsic.errors import InputError, UsageError
from tests.builders import DSTC1_SLOTS

OWN = """name = "pizza"
description = "ordering pizza"
required = ["kind"]
offer = ["offer"]
yes_no = ["confirm"]
end = []

[[slots]]
name = "topping"

[[slots]]
name = "size"
parts = ["size.inches", "size.crust"]

[groups]
kind = ["topping", "size"]

[[predicates]]
name = "offer"
acts = ["offer"]

[[predicates]]
name = "confirm"
acts = ["expl-conf", "select"]
slots = ["topping"]
"""


def complaints(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_domain(str(path))
    assert all(problem.path == str(path) for problem in caught.value.problems)
    return [problem.message for problem in caught.value.problems]


def test_the_built_in_domains_load() -> None:
    assert built_in_domains() == ["bus", "restaurants"]
    for name in built_in_domains():
        assert load_domain(name).name == name


def test_bus_is_lees_nine_slots() -> None:
    bus = load_domain("bus")
    assert bus.slot_names == DSTC1_SLOTS
    assert bus.compound_slots == {"date", "time"}
    assert bus.slot_of_part["time.ampm"] == "time"
    assert bus.slot_of_part["route"] == "route"
    assert "time" not in bus.slot_of_part  # a pair always names a part
    assert set(bus.groups) == {"from", "to", "route", "date", "time"}
    assert {slot for group in bus.groups.values() for slot in group} == set(bus.slot_names)


def test_restaurants_names_its_confounder() -> None:
    restaurants = load_domain("restaurants")
    assert set(restaurants.slot_names) == {"food", "pricerange", "name", "area"}
    assert [c.name for c in restaurants.conditions if c.in_state] == ["dialog-manager"]
    assert "name" not in {slot for group in restaurants.groups.values() for slot in group}


def test_a_domain_of_ones_own_loads_by_path(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    domain = load_domain(str(tmp_path / "own.toml"))
    assert domain.slot_names == ("topping", "size")
    assert domain.predicate_names == ("offer", "confirm")


def test_a_domain_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="did you mean 'restaurants'"):
        load_domain("restaurant")
    with pytest.raises(InputError, match=r"nowhere\.toml: there is no such file"):
        load_domain("nowhere.toml")


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('required = ["kind"]', 'required = ["kid"]', "line 3, key required", "did you mean 'kind'?"),
        ('offer = ["offer"]', 'offer = ["ofer"]', "line 4, key offer", "did you mean 'offer'?"),
        ('yes_no = ["confirm"]', 'yes_no = "confirm"', "line 5, key yes_no", "wrong kind"),
        ("end = []", 'end = ["bye"]', "line 6, key end", "no predicate 'bye'"),
        ('name = "pizza"', 'nam = "pizza"', "line 1, key nam", "did you mean 'name'?"),
        ('name = "topping"', "name = 7", "line 9, key slots[0].name", "wrong kind"),
        ('name = "size"', 'name = "topping"', "key slots", "'topping' occurs 2 times"),
        ("size.crust", "size.inches", "key slots", "'size.inches' occurs 2 times"),
        ('parts = ["', 'part = ["', "line 13, key slots[1].part", "did you mean 'parts'?"),
        ('kind = ["topping", "size"]', 'kind = ["toping"]', "line 16, key groups.kind", "'topping'?"),
        ('kind = ["topping", "size"]', "kind = []", "line 16, key groups.kind", "at least one slot"),
        ('kind = ["topping", "size"]', "kind = 7", "line 16, key groups.kind", "wrong kind"),
        ('acts = ["offer"]', "acts = []", "line 20, key predicates[0].acts", "at least one act"),
        ('slots = ["topping"]', "slots = [1]", "line 25, key predicates[1].slots[0]", "wrong kind"),
        ('description = "ordering pizza"\n', "", "key description", "missing"),
    ],
)
def test_a_mistake_is_named_with_line_and_key(
    tmp_path: Path, old: str, new: str, place: str, message: str
) -> None:
    assert old in OWN
    found = complaints(tmp_path, OWN.replace(old, new, 1))
    assert any(place in text and message in text for text in found), found


def test_mistakes_of_form_are_reported_at_once(tmp_path: Path) -> None:
    text = OWN.replace("end = []\n", "").replace('name = "topping"', "name = 7").replace("acts =", "act =")
    found = complaints(tmp_path, text)
    for key in ("end", "slots[0].name", "predicates[0].act", "predicates[1].act", "predicates[0].acts"):
        assert any(f"key {key}:" in line for line in found), (key, found)
