"""TripPy's prediction file: a list with one object a turn, its `guid` and `slot_prediction_<slot>`.

`guid` is [set, dialog, turn]; slots are `domain-slot`; a value that was copied from a system inform is
marked with two section signs, which are not part of it. Heck et al. 2020.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import Dialogs, State, is_number, put, read_native
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import did_you_mean

GOLD = "slot_groundtruth_"
PREDICTED = "slot_prediction_"
COPIED = "\u00a7\u00a7"


def read(path: str | Path, name: str) -> StateSets:
    return read_native(path, name, "trippy", gather)


def gather(checker: Checker, value: Any) -> Dialogs:
    by_dialog: dict[str, dict[int, tuple[State, State]]] = {}
    for number, item in enumerate(checker.array(value, "the file")):
        entry = checker.object(item, f"entry {number}")
        guid = checker.member(entry, "guid", f"entry {number}")
        if guid is Missing:
            continue
        dialog, turn = _identity(checker, guid, number)
        if dialog is None or turn is None:
            continue
        turn_checker = checker.at(session=dialog, turn=turn)
        turns = by_dialog.setdefault(dialog, {})
        if turn in turns:
            turn_checker.report("the turn occurs more than once")
        turns[turn] = (_state(turn_checker, entry, GOLD), _state(turn_checker, entry, PREDICTED))
        _compare_slots(turn_checker, entry)
    return {dialog: _in_order(checker.at(session=dialog), turns) for dialog, turns in by_dialog.items()}


def _identity(checker: Checker, guid: Any, number: int) -> tuple[str | None, int | None]:
    # Dialog names contain no hyphen, so the joined form can be split from both ends.
    parts = guid.split("-") if isinstance(guid, str) else guid
    good = isinstance(parts, list) and len(parts) >= 3 and all(isinstance(part, str) for part in parts)
    if not good or not is_number(parts[-1]):
        checker.report(
            f"the guid of entry {number} is wrong", expected="[set, dialog, turn]", found=repr(guid)
        )
        return None, None
    return "-".join(parts[1:-1]), int(parts[-1])


def _compare_slots(checker: Checker, entry: dict[str, Any]) -> None:
    """Every predicted slot has its gold and every gold slot its prediction; a misspelt key is neither.

    Other keys of a turn (its tokens, its loss) are the model's own and are not read.
    """
    slots = [{key.removeprefix(side) for key in entry if key.startswith(side)} for side in (GOLD, PREDICTED)]
    for side, others, slot in (
        *((GOLD, slots[0], slot) for slot in sorted(slots[1] - slots[0])),
        *((PREDICTED, slots[1], slot) for slot in sorted(slots[0] - slots[1])),
    ):
        resembling = [key for key in entry if not key.startswith((GOLD, PREDICTED))]
        wanted = side + slot
        hint = did_you_mean(wanted, [*resembling, *(side + other for other in others)], limit=0)
        checker.at(slot=slot).report(
            f"the entry lacks {wanted!r}" + (f"; {hint}" if hint.startswith("did") else ""),
            expected=repr(wanted),
        )


def _in_order(checker: Checker, turns: dict[int, tuple[State, State]]) -> list[tuple[State, State]]:
    order = sorted(turns)
    # Some versions count from 0, some from 1; a gap is a missing turn.
    if order[0] not in (0, 1) or order != list(range(order[0], order[0] + len(order))):
        checker.report("turns are missing", expected="consecutive numbers", found=", ".join(map(str, order)))
    return [turns[number] for number in order]


def _state(checker: Checker, entry: dict[str, Any], prefix: str) -> dict[str, dict[str, str]]:
    state: dict[str, dict[str, str]] = {}
    has_slot = False
    for key, value in entry.items():
        if not key.startswith(prefix):
            continue
        has_slot = True
        domain, hyphen, slot = key.removeprefix(prefix).partition("-")
        if not hyphen:
            checker.report(f"the key {key!r} names no slot", expected=f"{prefix}domain-slot")
        elif checker.at(slot=f"{domain}-{slot}").text(value, "the value") is not None:
            put(checker, state, domain, slot, value.removeprefix(COPIED).strip())
    if not has_slot:
        checker.report(f"the entry has no key that begins with {prefix!r}")
    return state
