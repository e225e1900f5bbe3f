"""Predicted states as their file has them: the domains of a state in the file's order, empty domains kept.

StateSets are columns and know neither; a standard evaluator depends on both.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from extrinsic.corpus.formats import StateFormat, StateSetFormat, paused_collector
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.state_sets.building import State
from extrinsic.corpus.formats.state_sets.gold_states import dialog_key, state_of
from extrinsic.corpus.formats.state_sets.native import Gather
from extrinsic.corpus.normalisations import slot_name
from extrinsic.corpus.state_sets import StateReading
from extrinsic.errors import Problems
from extrinsic.storage import decode_json, read_bytes


def read_predictions(form: StateFormat, path: str | Path, reading: StateReading) -> dict[str, list[State]]:
    """The predicted states of every dialog and turn, with the names of slots and dialogs made alike."""
    module = import_module(form.module) if isinstance(form, StateSetFormat) else None
    gather: Gather | None = getattr(module, "gather", None)
    with paused_collector():
        written = _read_states(form, path, reading) if gather is None else _gathered(gather, path)
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


def _gathered(gather: Gather, path: str | Path) -> dict[str, list[State]]:
    problems = Problems(str(path))
    dialogs = gather(Checker(problems), decode_json(read_bytes(path), str(path)))
    problems.raise_errors()
    return {dialog: [predicted for _, predicted in turns] for dialog, turns in dialogs.items()}


def _read_states(form: StateFormat, path: str | Path, reading: StateReading) -> dict[str, list[State]]:
    from extrinsic.corpus.formats import read_state_file

    states = read_state_file(form, path, None, reading)
    return {
        dialog: [state_of(states, row) for row in states.predicted[first:last]]
        for dialog, first, last in zip(states.dialogs, states.offsets[:-1], states.offsets[1:], strict=True)
    }
