"""MultiWOZ_Evaluation's file: `{dialog: [{"state": {domain: {slot: value}}, "response": text}]}`.

It holds predictions alone: the gold comes from a file of its own. Responses are not read here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import Dialogs, read_native
from extrinsic.corpus.formats.state_sets.gold_states import check_state
from extrinsic.corpus.state_sets import StateSets

KEYS = ("state", "response", "active_domains")


def read(path: str | Path, name: str) -> StateSets:
    return read_native(path, name, "multiwoz-eval", gather)


def gather(checker: Checker, value: Any) -> Dialogs:
    dialogs: Dialogs = {}
    for dialog, turns in checker.object(value, "the file").items():
        dialogs[dialog] = []
        for number, item in enumerate(checker.at(session=dialog).array(turns, "the dialog")):
            at_turn = checker.at(session=dialog, turn=number)
            turn = at_turn.object(item, "the turn")
            at_turn.only(turn, KEYS, "the turn")
            state = at_turn.member(turn, "state", "the turn") if isinstance(item, dict) else {}
            dialogs[dialog].append(({}, {} if state is Missing else check_state(at_turn, state, "'state'")))
    return dialogs
