"""state-sets: `{dialog: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}`, plain or gzip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from extrinsic.corpus.formats.checking import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import State, build_state_sets
from extrinsic.corpus.formats.state_sets.turns import turn_numbers
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.errors import InputError, Problems
from extrinsic.storage import (
    UNDECODABLE,
    content_hash,
    decode_loosely,
    encode_json,
    keeps_keys,
    read_bytes,
    write_atomic,
)


class Turn(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    gt: dict[str, dict[str, str]]
    pr: dict[str, dict[str, str]]


DECODER = msgspec.json.Decoder(dict[str, dict[str, Turn]])


def read(path: str | Path, name: str) -> StateSets:
    """Read a file, or raise InputError with every problem in it."""
    data = read_bytes(path)
    dialogs = _decode(data)
    if dialogs is None:
        _diagnose(data, str(path))
        raise AssertionError("a state-sets file was refused without a reason")
    return build_state_sets(name, dialogs, content_hash("state-sets", data))


def _decode(data: bytes) -> dict[str, list[tuple[State, State]]] | None:
    try:
        file = DECODER.decode(data)
    except UNDECODABLE:
        return None
    if not file or not keeps_keys(data, file):
        return None
    dialogs: dict[str, list[tuple[State, State]]] = {}
    for dialog, turns in file.items():
        if list(turns) != [str(number) for number in range(len(turns))]:
            order = turn_numbers(turns, None)
            if order is None:
                return None
            turns = {key: turns[key] for key in order}
        if not turns:
            return None
        dialogs[dialog] = [(turn.gt, turn.pr) for turn in turns.values()]
    return dialogs


def _diagnose(data: bytes, path: str) -> None:
    problems = Problems(path)
    checker = Checker(problems)
    value = decode_loosely(data, path)
    file = checker.object(value, "the file")
    if isinstance(value, dict) and not file:
        raise InputError("the file has no dialogs", path=path)
    if isinstance(file.get("sessions"), list):
        raise InputError("this looks like a tracker file of DSTC1 or DSTC2", path=path, expected="state sets")
    for dialog, turns in file.items():
        inside = checker.at(session=dialog)
        entries = inside.object(turns, "the dialog")
        if isinstance(turns, dict) and not entries:
            inside.report("the dialog has no turns")
        order = turn_numbers(entries, inside) or []
        for number, key in enumerate(order):
            _check_turn(inside.at(turn=number), entries[key])
    problems.raise_errors()


def _check_turn(checker: Checker, value: Any) -> None:
    turn = checker.object(value, "the turn")
    if not isinstance(value, dict):
        return
    checker.only(turn, ("gt", "pr"), "the turn")
    for side in ("gt", "pr"):
        state = checker.member(turn, side, "the turn")
        if state is Missing:
            continue
        for domain, assigned in checker.object(state, repr(side)).items():
            for slot, slot_value in checker.object(assigned, f"the domain {domain!r} of {side!r}").items():
                checker.at(slot=f"{domain}-{slot}").text(slot_value, f"the value in {side!r}")


def write(states: StateSets, path: str | Path) -> None:
    """Write states so that reading them back gives the same arrays."""
    file: dict[str, dict[str, dict[str, Any]]] = {}
    for i, dialog in enumerate(states.dialogs):
        rows = range(states.offsets[i], states.offsets[i + 1])
        file[dialog] = {
            str(number): {"gt": _state(states, states.gold[row]), "pr": _state(states, states.predicted[row])}
            for number, row in enumerate(rows)
        }
    write_atomic(path, encode_json(file))


def _state(states: StateSets, row: Any) -> dict[str, dict[str, Any]]:
    state: dict[str, dict[str, Any]] = {}
    for column in (row != ABSENT).nonzero()[0]:
        domain, slot = states.slots[column]
        state.setdefault(domain, {})[slot] = states.value(int(row[column]))
    return state
