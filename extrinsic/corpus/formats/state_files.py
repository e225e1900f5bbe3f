"""Files of states: what their formats share, and state-sets, the package's own.

state-sets: `{dialog: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}`, plain or gzip.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np

from extrinsic.arrays import Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import distinct
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets, state_vocabulary
from extrinsic.errors import InputError, Problem, Problems
from extrinsic.storage import (
    UNDECODABLE,
    content_hash,
    decode_clean,
    decode_loosely,
    keeps_keys,
    read_bytes,
    report_defects,
)
from extrinsic.typed_files import Keys

State = Mapping[str, Mapping[str, str]]
"""{domain: {slot: value}}"""

WrittenState = dict[str, dict[str, str]]
"""The same, as it stands in a file."""

Turns = list[tuple[State, State]]
"""The gold and the predicted state of each turn."""

_values = methodcaller("values")


@dataclass(frozen=True, eq=False)
class WrittenStates:
    """States as written in a file: the gold states of all turns, then the predicted states of all turns.

    domains_per_state (n_states): how many domains each has.   domains: their names, concatenated.
    parts: the distinct {slot: value}.   part_of_domain: the index of each domain's part.
    """

    dialogs: tuple[str, ...]
    turns_per_dialog: list[int]
    domains_per_state: list[int]
    domains: list[str]
    parts: Sequence[Mapping[str, str]]
    part_of_domain: Ints


def gather_states(dialogs: Mapping[str, Turns]) -> WrittenStates:
    """Collect states that were built one by one."""
    turns = list(chain.from_iterable(dialogs.values()))
    states = [turn[0] for turn in turns] + [turn[1] for turn in turns]
    parts = list(chain.from_iterable(map(_values, states)))
    return WrittenStates(
        dialogs=tuple(dialogs),
        turns_per_dialog=list(map(len, dialogs.values())),
        domains_per_state=list(map(len, states)),
        domains=list(chain.from_iterable(states)),
        parts=parts,
        part_of_domain=np.arange(len(parts)),
    )


def build_state_sets(
    name: str, written: WrittenStates, signature: str, problems: Sequence[Problem] = ()
) -> StateSets:
    """Written states -> columns. Triples with an empty value are dropped.

    Gathered with chains and maps: a Python loop over the triples would cost more than decoding them.
    """
    vocabulary = state_vocabulary()
    part_offsets = offsets_from_lengths(list(map(len, written.parts)))
    slot_names, part_slot = distinct(chain.from_iterable(written.parts))
    part_value = vocabulary.ids(list(chain.from_iterable(map(_values, written.parts)))).astype(np.int64)
    domain_names, domain = distinct(written.domains)
    offsets, flat = take_rows(part_offsets, written.part_of_domain)
    lengths = np.diff(offsets)
    state = np.repeat(np.arange(len(written.domains_per_state)), written.domains_per_state)
    slot, value = part_slot[flat], part_value[flat]
    kept = value != vocabulary.id("")
    key = (np.repeat(domain, lengths) * len(slot_names) + slot)[kept]
    slots, column = _sorted_slots(key, domain_names, slot_names)
    n_turns = len(written.domains_per_state) // 2
    table = np.zeros((2 * n_turns, len(slots)), dtype=np.int32)
    table[np.repeat(state, lengths)[kept], column] = value[kept]
    return StateSets(
        name=name,
        dialogs=written.dialogs,
        offsets=offsets_from_lengths(written.turns_per_dialog),
        slots=slots,
        vocabulary=vocabulary,
        gold=table[:n_turns],
        predicted=table[n_turns:],
        in_gold=np.asarray((table[:n_turns] > GIVEN_NONE).any(axis=0)),
        problems=tuple(problems),
        signature=signature,
    )


def _sorted_slots(
    key: Ints, domain_names: list[str], slot_names: list[str]
) -> tuple[tuple[tuple[str, str], ...], Ints]:
    """The (domain, slot) pairs that occur, sorted, and the column of each triple."""
    keys, pair = np.unique(key, return_inverse=True)
    names = [(domain_names[k // len(slot_names)], slot_names[k % len(slot_names)]) for k in keys.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    column_of_pair = np.empty(len(names), dtype=np.int64)
    column_of_pair[order] = np.arange(len(names))
    return tuple(names[i] for i in order), column_of_pair[pair]


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a size that turns can have."""
    return text.isascii() and text.isdigit() and len(text) < 10


def numbered_turns(checker: Checker, dialog: Any) -> list[tuple[Checker, Any]]:
    """The turns of a dialog {"0": turn, ...} in order; none, and a problem, if they are not 0, 1, 2, ..."""
    turns = checker.object(dialog, "the dialog")
    wrong = [key for key in turns if not is_number(key) or str(int(key)) != key]
    for key in wrong:
        checker.report("a turn is not named by its number", expected="'0', '1', ...", found=repr(key))
    missing = [str(number) for number in range(len(turns)) if str(number) not in turns]
    if missing and not wrong:
        expected = f"turns 0 to {len(turns) - 1}"
        checker.report("turns are missing", expected=expected, found=f"no {missing[0]!r}")
    if wrong or missing:
        return []
    return [(checker.at(turn=number), turns[str(number)]) for number in range(len(turns))]


def slot_of_state(keys: Keys) -> dict[str, Any]:
    """The place of a value in a turn: what follows `gt`, `pr` or `state` is a domain and a slot."""
    return {"slot": f"{keys[1]}-{keys[2]}"} if len(keys) > 2 else {}


Dialogs = dict[str, Turns]
Gather = Callable[[Checker, Any], Dialogs]


def read_native(path: str | Path, name: str, layout: str, gather: Gather) -> StateSets:
    """Read a file whose JSON `gather` converts to dialogs, reporting problems to its Checker."""
    data = read_bytes(path)
    problems = Problems(str(path))
    value = decode_clean(data)
    is_clean = value is not None
    if not is_clean:
        value = decode_loosely(data, str(path))
        report_defects(value, "", problems)
    checker = Checker(problems, is_clean=is_clean)
    dialogs = gather(checker, value)
    for dialog, turns in dialogs.items():
        if not turns:
            checker.at(session=dialog).report("the dialog has no turns")
    if not dialogs and not problems.has_errors:
        problems.add("the file has no dialogs")
    problems.raise_errors()
    return build_state_sets(name, gather_states(dialogs), content_hash(layout, data), list(problems))


class StateTurn(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The gold and the predicted state of a turn of a state-sets file."""

    gt: WrittenState
    pr: WrittenState


def gather_state_sets(checker: Checker, value: Any) -> Dialogs:
    """The states of a decoded state-sets file in its own order."""
    dialogs: Dialogs = {}
    for dialog, written in checker.object(value, "the file").items():
        dialogs[dialog] = []
        for at_turn, item in numbered_turns(checker.at(session=dialog), written):
            turn = at_turn.decoded(item, StateTurn, "the turn", slot_of_state)
            dialogs[dialog].append(({}, {}) if turn is None else (turn.gt, turn.pr))
    return dialogs


def read_state_sets(path: str | Path, name: str) -> StateSets:
    """Read a state-sets file, or raise InputError with every problem in it."""
    data = read_bytes(path)
    written = _decode(data)
    if written is None:
        _refuse(data, str(path))
    return build_state_sets(name, written, content_hash("state-sets", data))


class RawTurn(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    gt: dict[str, msgspec.Raw]
    pr: dict[str, msgspec.Raw]


DECODER = msgspec.json.Decoder(dict[str, dict[str, RawTurn]])
PART_DECODER = msgspec.json.Decoder(dict[str, str])


def _decode(data: bytes) -> WrittenStates | None:
    """The states of a file, or None if anything in it is invalid.

    States are cumulative, so a domain mostly has the same slots and values as a turn before: the text of
    a domain is decoded only where it differs from all the others.
    """
    try:
        file = DECODER.decode(data)
        if not file or not all(file.values()):
            return None
        dialogs = [[turns[str(number)] for number in range(len(turns))] for turns in file.values()]
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


def _refuse(data: bytes, path: str) -> NoReturn:
    """Raise InputError with every problem of a state-sets file that could not be decoded directly."""
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
    gather_state_sets(checker, file)
    problems.raise_errors()
    raise AssertionError("a state-sets file was refused without a reason")
