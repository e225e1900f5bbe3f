"""Shared code of the readers of models' own prediction files: gather the turns of dialogs, then build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.state_sets.building import Turns, build_state_sets, gather_states
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import Problems
from extrinsic.storage import content_hash, decode_clean, decode_loosely, read_bytes, report_defects

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


def put(checker: Checker, state: dict[str, dict[str, str]], domain: str, slot: str, value: str) -> None:
    """Add a triple to a state; a slot with two different values is a problem."""
    assigned = state.setdefault(domain, {})
    if assigned.setdefault(slot, value) != value:
        checker.at(slot=f"{domain}-{slot}").report(
            "the slot has two values", expected=repr(assigned[slot]), found=repr(value)
        )
