"""SimpleTOD's output: `{dialog: {"target_turn_belief": [...], "generated_turn_belief": [...]}}`.

Both are lists with one list of entries a turn.

Entries are text `domain slot value`, as generated; slots of a booking are two words, `book day`. Generated
text that is not a triple predicts nothing (a note reports how often). Hosseini-Asl et al. 2020.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.building import Dialogs, read_native
from extrinsic.corpus.state_sets import StateSets

GOLD = "target_turn_belief"
PREDICTED = "generated_turn_belief"
END_OF_TEXT = "<|endoftext|>"


def read(path: str | Path, name: str) -> StateSets:
    return read_native(path, name, "simpletod", gather)


def gather(checker: Checker, value: Any) -> Dialogs:
    dialogs: Dialogs = {}
    no_triples = 0
    for dialog, item in checker.object(value, "the file").items():
        dialog_checker = checker.at(session=dialog)
        entry = dialog_checker.object(item, "the dialog")
        gold, predicted = (_turns(dialog_checker, entry, side) for side in (GOLD, PREDICTED))
        if len(gold) != len(predicted):
            dialog_checker.report(
                "gold and prediction differ in their number of turns",
                expected=f"{len(gold)} turns",
                found=str(len(predicted)),
            )
            continue
        dialogs[dialog] = []
        for number, (gold_turn, predicted_turn) in enumerate(zip(gold, predicted, strict=True)):
            turn_checker = dialog_checker.at(turn=number)
            gold_state, wrong = _state(turn_checker, gold_turn, GOLD)
            for text in wrong:
                turn_checker.report(
                    f"an entry of {GOLD!r} is not a triple", expected="domain slot value", found=repr(text)
                )
            state, wrong = _state(turn_checker, predicted_turn, PREDICTED)
            no_triples += len(wrong)
            dialogs[dialog].append((gold_state, state))
    if no_triples:
        checker.report(f"{no_triples} generated texts are not triples and predict nothing", severity="note")
    return dialogs


def _turns(checker: Checker, entry: dict[str, Any], side: str) -> list[Any]:
    turns = checker.member(entry, side, "the dialog")
    return [] if turns is Missing else checker.array(turns, repr(side))


def _state(checker: Checker, turn: Any, side: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The state of a turn, and the texts that are not triples. Of two values of a slot the last counts."""
    state: dict[str, dict[str, str]] = {}
    wrong = []
    for item in checker.array(turn, f"a turn of {side!r}"):
        text = checker.text(item, f"an entry of {side!r}")
        words = (text or "").replace(END_OF_TEXT, " ").split()
        if not words:
            continue
        n_slot_words = 2 if words[1:2] == ["book"] else 1
        if len(words) < 2 + n_slot_words:
            wrong.append(item)
            continue
        slot = " ".join(words[1 : 1 + n_slot_words])
        state.setdefault(words[0], {})[slot] = " ".join(words[1 + n_slot_words :])
    return state, wrong
