"""DSTC1 hypotheses: a set of (slot, value) pairs of one slot group, as one value."""

from __future__ import annotations

from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, is_plain
from extrinsic.corpus.vocabulary import Value
from extrinsic.domain import Domain
from extrinsic.errors import shown

PairValue = str | int | float


class BadPairs(Exception):
    """Pairs that are not a hypothesis of a slot group; `check_pairs` reports the reason."""


def value_of_pairs(domain: Domain, slot: str, pairs: dict[str, PairValue]) -> Value:
    """The value that a non-empty set of pairs denotes; values compare as text.

    A simple slot takes exactly one pair, its own; a compound one any pairs of its parts. An empty set is
    the value (): it equals no label, so it is never right.
    """
    if slot in domain.compound_slots:
        if not all(domain.slot_of_part.get(part) == slot for part in pairs):
            raise BadPairs
        return tuple(sorted((part, str(value)) for part, value in pairs.items()))
    if not pairs:
        return ()
    if len(pairs) != 1 or slot not in pairs:
        raise BadPairs
    return str(pairs[slot])


def slot_of_pairs(domain: Domain, pairs: dict[str, PairValue]) -> str:
    """The slot that all the pairs belong to."""
    slots = {domain.slot_of_part.get(part) for part in pairs}
    if len(slots) != 1 or None in slots:
        raise BadPairs
    return str(slots.pop())


def assignment_of_pairs(domain: Domain, pairs: dict[str, PairValue]) -> dict[str, Value]:
    """The value of each slot in a joint hypothesis."""
    by_slot: dict[str, dict[str, PairValue]] = {}
    for part, value in pairs.items():
        slot = domain.slot_of_part.get(part)
        if slot is None:
            raise BadPairs
        by_slot.setdefault(slot, {})[part] = value
    return {slot: value_of_pairs(domain, slot, parts) for slot, parts in by_slot.items()}


def pairs_of_value(slot: str, value: Value) -> dict[str, str]:
    """The pairs of a value, as files write them."""
    return dict(value) if isinstance(value, tuple) else {slot: value}


def check_pairs(checker: Checker, value: Any, domain: Domain, what: str, slot: str | None = None) -> None:
    """Report what is wrong with the pairs of a hypothesis (of one slot, if given) or a label."""
    pairs = checker.object(value, what)
    slots = set()
    for part, part_value in pairs.items():
        if checker.known(part, domain.slot_of_part, f"slot in {what}"):
            slots.add(domain.slot_of_part[part])
        if not is_plain(part_value):
            checker.report(
                f"the value of {part!r} in {what} has the wrong kind",
                expected="text or a number",
                found=shown(part_value),
            )
    if slot is not None and slots - {slot}:
        checker.report(
            f"{what} contains another slot", expected=slot, found=", ".join(sorted(slots - {slot}))
        )
    elif slot in domain.slot_names and slot not in domain.compound_slots and len(pairs) > 1:
        checker.report(f"{what} has too many pairs", expected="one pair", found=str(len(pairs)))
