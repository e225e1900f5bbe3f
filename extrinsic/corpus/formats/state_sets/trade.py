"""TRADE's prediction file: `{dialog: {turn: {"turn_belief": [...], "pred_bs_ptr": [...]}}}`.

Entries are `domain-slot-value`; other keys of a turn are not read. Wu et al. 2019.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import Dialogs, put, read_native, turn_numbers
from extrinsic.corpus.state_sets import StateSets


def read(path: str | Path, name: str) -> StateSets:
    return read_native(path, name, "trade", gather)


def gather(checker: Checker, value: Any) -> Dialogs:
    dialogs: Dialogs = {}
    for dialog, turns in checker.object(value, "the file").items():
        dialog_checker = checker.at(session=dialog)
        entries = dialog_checker.object(turns, "the dialog")
        dialogs[dialog] = []
        for number, key in enumerate(turn_numbers(entries, dialog_checker) or []):
            turn_checker = dialog_checker.at(turn=number)
            turn = turn_checker.object(entries[key], "the turn")
            gold, predicted = (_state(turn_checker, turn, side) for side in ("turn_belief", "pred_bs_ptr"))
            dialogs[dialog].append((gold, predicted))
    return dialogs


def _state(checker: Checker, turn: dict[str, Any], side: str) -> dict[str, dict[str, str]]:
    state: dict[str, dict[str, str]] = {}
    entries = checker.member(turn, side, "the turn")
    for entry in () if entries is Missing else checker.array(entries, repr(side)):
        # A value may contain hyphens; domain and slot names do not.
        parts = entry.split("-", 2) if isinstance(entry, str) else []
        if len(parts) != 3:
            checker.report(
                f"an entry of {side!r} is not a triple", expected="domain-slot-value", found=repr(entry)
            )
            continue
        put(checker, state, *parts)
    return state
