"""Gold states from a file of their own, put beside the predictions of a system.

Read are: a file of dialogs, `{dialog: {"turns": [{"gold21": {...}, "gold24": {...}}]}}`, of which one gold is
chosen by its name; a state-sets file (its `gt`); MultiWOZ_Evaluation's `{dialog: [{"state": {...}}]}`.
"""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.corpus.formats import StateFormat, StateSetFormat, paused_collector, read_state_file
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.state_files import (
    Gather,
    State,
    WrittenState,
    build_state_sets,
    gather_states,
    numbered_turns,
    slot_of_state,
)
from extrinsic.corpus.normalisation import slot_name
from extrinsic.corpus.state_checks import Said
from extrinsic.corpus.state_sets import ABSENT, StateReading, StateSets
from extrinsic.errors import InputError, Problem, Problems, UsageError, did_you_mean
from extrinsic.storage import content_hash, decode_json, read_bytes


def dialog_key(dialog: str) -> str:
    """A dialog's id as all MultiWOZ files can be joined by it: `PMUL4648.json` is `pmul4648`."""
    return dialog.lower().removesuffix(".json")


@dataclass(frozen=True)
class GoldStates:
    """The gold states of the dialogs of a file, by the key of the dialog."""

    path: str
    name: str | None
    dialogs: dict[str, list[State]]
    signature: str
    said: dict[str, list[Said]]
    """What user and system said, by dialog and turn, where the file has their acts."""


def read_gold(path: str, name: str | None = None) -> GoldStates:
    """Read a gold file, or raise InputError with every problem in it; name: which of several golds."""
    return _parsed_gold(read_bytes(path), path, name)


@lru_cache(maxsize=2)
def _parsed_gold(data: bytes, path: str, name: str | None) -> GoldStates:
    """By the content, as many systems have one gold."""
    checker = Checker(Problems(path), is_clean=True)
    file = checker.object(decode_json(data, path), "the file")
    dialogs: dict[str, list[State]] = {}
    said: dict[str, list[Said]] = {}
    options: set[str] = set()
    for dialog, value in file.items():
        at_dialog = checker.at(session=dialog)
        states, offered = _states(at_dialog, value, name)
        options |= offered
        dialogs[dialog_key(dialog)] = states
        said[dialog_key(dialog)] = _said(value)
    if not file and not checker.problems.has_errors:
        raise InputError("the file has no dialogs", path=path)
    _check_choice(options, name, path)
    checker.problems.raise_errors()
    signature = content_hash("gold", data)
    return GoldStates(path, name, dialogs, f"{name}-{signature}" if name else signature, said)


def _check_choice(options: set[str], name: str | None, path: str) -> None:
    if name is not None and name not in options:
        hint = did_you_mean(name, options) if options else "the file has one gold alone: leave the name out"
        raise UsageError(f"there is no gold {name!r} in it; {hint}", path=path)
    if name is None and len(options) > 1:
        raise UsageError(
            "the file has several golds: choose with --gold-name, in a study with `gold_name` in [states]",
            path=path,
            found=", ".join(sorted(options)),
        )


def _states(checker: Checker, value: Any, name: str | None) -> tuple[list[State], set[str]]:
    """The gold states of a dialog, and the names of the golds that there are."""
    if isinstance(value, dict) and "turns" in value:
        turns = checker.array(value["turns"], "'turns'")
        options = {key for turn in turns if isinstance(turn, dict) for key in turn if key.startswith("gold")}
        key = name or min(options, default="gold")
        return [_member(checker.at(turn=number), turn, key) for number, turn in enumerate(turns)], options
    if isinstance(value, list):
        return [_member(checker.at(turn=number), turn, "state") for number, turn in enumerate(value)], set()
    return [_member(at_turn, turn, "gt") for at_turn, turn in numbered_turns(checker, value)], set()


def _said(dialog: Any) -> list[Said]:
    """From `user_acts` and `system_acts`, lists of [domain, act, slot, value], where they are there."""
    turns = dialog.get("turns") if isinstance(dialog, dict) else None
    before: frozenset[str] = frozenset()
    said: list[Said] = []
    for turn in turns if isinstance(turns, list) else ():
        by_user, reply = (_values(turn, key) for key in ("user_acts", "system_acts"))
        before |= by_user
        said.append(Said(before, reply))
        before |= reply
    return said


def _values(turn: Any, key: str) -> frozenset[str]:
    acts = turn.get(key) if isinstance(turn, dict) else None
    return frozenset(
        act[3].lower()
        for act in (acts if isinstance(acts, list) else ())
        if isinstance(act, list) and len(act) == 4 and isinstance(act[3], str)
    )


def _member(checker: Checker, value: Any, key: str) -> State:
    """The state that a turn has under a key."""
    turn = checker.decoded(value, _turn_type(key), "the turn", slot_of_state)
    return {} if turn is None else turn.state


@cache
def _turn_type(key: str) -> Any:
    return msgspec.defstruct("GoldTurn", [("state", WrittenState, msgspec.field(name=key))], gc=False)


def join_gold(states: StateSets, gold: GoldStates, path: str) -> StateSets:
    """The predictions of a system beside another gold; dialogs are named as in the gold file.

    The names of slots are made alike on both sides: two files seldom write them the same way.
    A predicted dialog that gold lacks, or one with another number of turns, is an error; a gold dialog that
    was not predicted is counted in a note.
    """
    problems = Problems(path)
    dialogs = {}
    for number, dialog in enumerate(states.dialogs):
        key = dialog_key(dialog)
        first, last = states.offsets[number], states.offsets[number + 1]
        wanted = gold.dialogs.get(key)
        if wanted is None:
            problems.add(f"the gold in {gold.path} lacks this dialog", session=dialog)
        elif len(wanted) != last - first:
            problems.add(
                f"the gold in {gold.path} has another number of turns",
                session=dialog,
                expected=f"{len(wanted)} turns",
                found=str(last - first),
            )
        elif key in dialogs:
            problems.add("two dialogs have one name, but for upper case and .json", session=dialog)
        else:
            predicted = [state_of(states, row) for row in states.predicted[first:last]]
            dialogs[key] = [(_alike(a), _alike(b)) for a, b in zip(wanted, predicted, strict=True)]
    problems.raise_errors()
    lacking = len(gold.dialogs) - len(dialogs)
    notes = [*states.problems]
    if lacking:
        notes.append(
            Problem(
                f"{lacking:,} of {len(gold.dialogs):,} gold dialogs are not predicted",
                path=path,
                severity="note",
            )
        )
    signature = content_hash(states.signature, gold.signature)
    return replace(
        build_state_sets(states.name, gather_states(dialogs), signature, notes),
        conventions=states.conventions,
        gold_signature=gold.signature,
    )


def _alike(state: State) -> State:
    """The same state with its domains and slots under the names that all normalisations use."""
    return {
        domain.lower(): {slot_name(slot): value for slot, value in slots.items()}
        for domain, slots in state.items()
    }


def state_of(states: StateSets, row: Any) -> WrittenState:
    """{domain: {slot: value}} of a row of value ids."""
    state: WrittenState = {}
    for column in (row != ABSENT).nonzero()[0].tolist():
        domain, slot = states.slots[column]
        state.setdefault(domain, {})[slot] = str(states.value(int(row[column])))
    return state


def read_predictions(form: StateFormat, path: str | Path, reading: StateReading) -> dict[str, list[State]]:
    """The predicted states of every dialog and turn, with the names of slots and dialogs made alike."""
    gather: Gather | None = form.gathering() if isinstance(form, StateSetFormat) else None
    with paused_collector():
        if gather is None:
            states = read_state_file(form, path, None, reading)
            written: dict[str, list[State]] = {
                dialog: [state_of(states, row) for row in states.predicted[first:last]]
                for dialog, (first, last) in zip(states.dialogs, pairwise(states.offsets), strict=True)
            }
        else:
            problems = Problems(str(path))
            dialogs = gather(Checker(problems, is_clean=True), decode_json(read_bytes(path), str(path)))
            problems.raise_errors()
            written = {dialog: [predicted for _, predicted in turns] for dialog, turns in dialogs.items()}
        return {
            dialog_key(dialog): [
                {
                    domain: {
                        slot_name(slot): text for slot, text in slots.items() if text not in ("", "none")
                    }
                    for domain, slots in state.items()
                }
                for state in states
            ]
            for dialog, states in written.items()
        }
