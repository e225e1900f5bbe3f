"""state-sets: `{dialog: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}`, plain or gzip."""

from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.corpus.acts import distinct
from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import (
    Dialogs,
    State,
    WrittenStates,
    build_state_sets,
    turn_numbers,
)
from extrinsic.corpus.formats.state_sets.gold_states import check_state
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import InputError, Problems
from extrinsic.storage import (
    UNDECODABLE,
    content_hash,
    decode_loosely,
    keeps_keys,
    read_bytes,
)


class Turn(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    gt: dict[str, msgspec.Raw]
    pr: dict[str, msgspec.Raw]


DECODER = msgspec.json.Decoder(dict[str, dict[str, Turn]])
PART_DECODER = msgspec.json.Decoder(dict[str, str])

_values = methodcaller("values")


def read(path: str | Path, name: str) -> StateSets:
    """Read a file, or raise InputError with every problem in it."""
    data = read_bytes(path)
    written = _decode(data)
    if written is None:
        _diagnose(data, str(path))
        raise AssertionError("a state-sets file was refused without a reason")
    return build_state_sets(name, written, content_hash("state-sets", data))


def _decode(data: bytes) -> WrittenStates | None:
    """The states of a file, or None if anything in it is invalid.

    States are cumulative, so a domain mostly has the same slots and values as a turn before: the text of
    a domain is decoded only where it differs from all the others.
    """
    try:
        file = DECODER.decode(data)
        if not file or not all(file.values()):
            return None
        dialogs = [_in_order(turns) for turns in file.values()]
        turns = list(chain.from_iterable(dialogs))
        states = [turn.gt for turn in turns] + [turn.pr for turn in turns]
        texts, part_of_domain = distinct(map(bytes, chain.from_iterable(map(_values, states))))
        parts = list(map(PART_DECODER.decode, texts))
    except (*UNDECODABLE, KeyError):  # KeyError: turns are missing
        return None
    written = WrittenStates(
        dialogs=tuple(file),
        turns_per_dialog=list(map(len, dialogs)),
        domains_per_state=list(map(len, states)),
        domains=list(chain.from_iterable(states)),
        parts=parts,
        part_of_domain=part_of_domain,
    )
    if _count_agrees(data, texts, written) or (keeps_keys(data, file) and all(map(keeps_keys, texts, parts))):
        return written
    return None


def _count_agrees(data: bytes, texts: list[bytes], written: WrittenStates) -> bool:
    """Whether the text has exactly as many colons as keys and values account for: no key is repeated.

    A cheap test: True is reliable, False (an escaped or unexpected colon) has to be checked.
    """
    colons = np.fromiter((text.count(b":") for text in texts), dtype=np.int64, count=len(texts))
    words = chain.from_iterable(chain.from_iterable(part.items()) for part in written.parts)
    in_parts = sum(map(len, written.parts)) + "".join(words).count(":")
    # Above the domains: a key for each dialog, and for each turn its number, "gt" and "pr".
    above = len(written.dialogs) + 3 * sum(written.turns_per_dialog) + len(written.domains)
    in_data = above + colons[written.part_of_domain].sum()
    return b"\\u003" not in data and bool(colons.sum() == in_parts and data.count(b":") == in_data)


def _in_order(turns: dict[str, Turn]) -> list[Turn]:
    """The turns 0, 1, 2, ... whatever their order in the file; KeyError if one is missing."""
    return [turns[str(number)] for number in range(len(turns))]


def gather(checker: Checker, value: Any) -> Dialogs:
    """The states of a decoded file in its own order, problems reported to the checker."""
    dialogs: Dialogs = {}
    for dialog, turns in checker.object(value, "the file").items():
        at_dialog = checker.at(session=dialog)
        entries = at_dialog.object(turns, "the dialog")
        order = turn_numbers(entries, at_dialog)
        dialogs[dialog] = [
            _states(at_dialog.at(turn=number), entries[str(number)]) for number in range(len(order))
        ]
    return dialogs


def _states(checker: Checker, value: Any) -> tuple[State, State]:
    """The gold and the predicted state of a turn."""
    turn = checker.object(value, "the turn")
    if not isinstance(value, dict):
        return {}, {}
    checker.only(turn, ("gt", "pr"), "the turn")
    gold, predicted = (checker.member(turn, side, "the turn") for side in ("gt", "pr"))
    return (
        {} if gold is Missing else check_state(checker, gold, "'gt'"),
        {} if predicted is Missing else check_state(checker, predicted, "'pr'"),
    )


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
        if isinstance(turns, dict) and not turns:
            checker.at(session=dialog).report("the dialog has no turns")
    gather(checker, file)
    problems.raise_errors()
