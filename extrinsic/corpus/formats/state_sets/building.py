"""From states as files have them, whatever their format, to StateSets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.arrays import Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import distinct
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets, state_vocabulary
from extrinsic.errors import Problem, Problems
from extrinsic.storage import content_hash, decode_clean, decode_loosely, read_bytes, report_defects

State = Mapping[str, Mapping[str, str]]
"""{domain: {slot: value}}"""

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


def turn_numbers(keys: Iterable[str], checker: Checker) -> list[str]:
    """The keys in the order of the turns they name; none, and a problem, if they are not 0, 1, 2, ..."""
    keys = list(keys)
    wrong = [key for key in keys if not is_number(key) or str(int(key)) != key]
    for key in wrong:
        checker.report("a turn is not named by its number", expected="'0', '1', ...", found=repr(key))
    if wrong:
        return []
    expected = [str(number) for number in range(len(keys))]
    given = set(keys)
    missing = [number for number in expected if number not in given]
    if missing:
        checker.report(
            "turns are missing", expected=f"turns 0 to {len(keys) - 1}", found=f"no {missing[0]!r}"
        )
        return []
    return expected


Dialogs = dict[str, Turns]
Gather = Callable[[Checker, Any], Dialogs]


def read_native(path: str | Path, name: str, layout: str, gather: Gather) -> StateSets:
    """Read a file whose JSON `gather` converts to dialogs, reporting problems to its Checker."""
    data = read_bytes(path)
    problems = Problems(str(path))
    value = decode_clean(data)
    if value is None:
        value = decode_loosely(data, str(path))
        report_defects(value, "", problems)
    checker = Checker(problems)
    dialogs = gather(checker, value)
    for dialog, turns in dialogs.items():
        if not turns:
            checker.at(session=dialog).report("the dialog has no turns")
    if not dialogs and not problems.has_errors:
        problems.add("the file has no dialogs")
    problems.raise_errors()
    return build_state_sets(name, gather_states(dialogs), content_hash(layout, data), list(problems))
