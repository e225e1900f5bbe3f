"""The systems of a study of predicted states: their files read, and held against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from extrinsic.corpus.formats import AS_WRITTEN, StateFormat, read_state_file, stem
from extrinsic.corpus.state_checks import gold_differences
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.registry import FORMATS
from extrinsic.study.settings import StatesTable, TrackersTable

STATES_DATASET = "states"
"""The one dataset of a study of files with predicted states."""


class StatesInput(msgspec.Struct, frozen=True):
    """A file of predicted and gold states; `signature` is its hash when the study was planned."""

    name: str
    format: str
    path: str
    signature: str
    reading: StateReading = AS_WRITTEN

    def read(self, dialogs: Sequence[str]) -> StateSets:
        """The states of the given dialogs, in their order."""
        form: StateFormat = FORMATS.get(self.format)
        states = read_state_file(form, self.path, self.name, self.reading)
        if states.signature != self.signature:
            raise InputError("the states have changed since the study began; run it again", path=self.path)
        return _taken(states, dialogs)


def _taken(states: StateSets, dialogs: Sequence[str]) -> StateSets:
    position = {dialog: number for number, dialog in enumerate(states.dialogs)}
    return states.take([position[dialog] for dialog in dialogs])


def turns_of(states: StateSets) -> dict[str, int]:
    """How many turns every dialog has."""
    return dict(zip(states.dialogs, np.diff(states.offsets).tolist(), strict=True))


def read_systems(table: StatesTable, trackers: TrackersTable) -> tuple[dict[str, StateSets], tuple[str, ...]]:
    """The states of all systems by the path of their file, and the ids of the dialogs that all have."""
    form: StateFormat = FORMATS.get(table.format)
    problems = Problems()
    states: dict[str, StateSets] = {}
    if not table.files:
        problems.add("states.files names no file")
    for name, times in Counter(map(stem, table.files)).items():
        if times > 1:
            files = ", ".join(path for path in table.files if stem(path) == name)
            problems.add(f"several files are of one system {name!r}; rename them", found=files)
    for path in table.files:
        with problems.collecting():
            states[path] = read_state_file(form, path, reading=table.reading)
    problems.raise_errors()
    names = [system.name for system in states.values()]
    for key in ("degenerate", "recalibrated"):
        for name in getattr(trackers, key):
            if name not in names:
                problems.add(f"trackers.{key}: {name!r} is none of the systems; {did_you_mean(name, names)}")
    problems.raise_errors()
    shared = _shared_dialogs(table, states, problems)
    _require_same_turns(states, shared, problems)
    if not table.own_gold:
        # Scores by another gold would not be comparable.
        problems.extend(gold_differences({path: _taken(system, shared) for path, system in states.items()}))
    problems.raise_errors()
    return states, shared


def _shared_dialogs(
    table: StatesTable, states: Mapping[str, StateSets], problems: Problems
) -> tuple[str, ...]:
    """The ids of the dialogs that all systems have; missing ones are reported if they must be the same."""
    everything = set().union(*(system.dialogs for system in states.values()))
    shared = everything.intersection(*(system.dialogs for system in states.values()))
    for path, system in states.items() if table.dialogs == "same" else ():
        lacking = sorted(everything - set(system.dialogs))
        if lacking:
            share = f"{len(lacking):,} of {len(everything):,} dialogs"
            what = f"{system.name} lacks {share} that other systems have"
            advice = 'states.dialogs = "shared" takes those that all have'
            problems.add(f"{what}; {advice}", path=path, session=lacking[0])
    if len(shared) < 2:
        problems.add("the systems have no dialogs in common", expected="at least two dialogs")
    problems.raise_errors()
    return tuple(sorted(shared))


def _require_same_turns(states: Mapping[str, StateSets], shared: Sequence[str], problems: Problems) -> None:
    """Systems over the same dialogs must have the same turns of them."""
    (_, first), *others = states.items()
    usual = turns_of(first)
    for path, system in others:
        turns = turns_of(system)
        for dialog in shared:
            if turns[dialog] != usual[dialog]:
                message = f"{system.name} has another number of turns than {first.name}"
                numbers = {"expected": str(usual[dialog]), "found": str(turns[dialog])}
                problems.add(message, path=path, session=dialog, **numbers)
    problems.raise_errors()
