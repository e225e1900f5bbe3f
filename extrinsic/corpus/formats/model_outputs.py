"""Models' own prediction files: what each has of the turns of its dialogs, gold and predicted."""

from typing import Any

import msgspec

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_files import (
    Dialogs,
    State,
    WrittenState,
    is_number,
    numbered_turns,
    slot_of_state,
)
from extrinsic.errors import did_you_mean


def put(checker: Checker, state: WrittenState, domain: str, slot: str, value: str) -> None:
    """Add a triple to a state; a slot with two different values is a problem."""
    assigned = state.setdefault(domain, {})
    if assigned.setdefault(slot, value) != value:
        checker.at(slot=f"{domain}-{slot}").report(
            "the slot has two values", expected=repr(assigned[slot]), found=repr(value)
        )


def gather_trade(checker: Checker, value: Any) -> Dialogs:
    """TRADE's prediction file: `{dialog: {turn: {"turn_belief": [...], "pred_bs_ptr": [...]}}}`.

    Entries are `domain-slot-value`; other keys of a turn are not read. Wu et al. 2019.
    """
    dialogs: Dialogs = {}
    for dialog, turns in checker.object(value, "the file").items():
        dialogs[dialog] = []
        for at_turn, item in numbered_turns(checker.at(session=dialog), turns):
            turn = at_turn.object(item, "the turn")
            gold, predicted = (_trade_state(at_turn, turn, side) for side in ("turn_belief", "pred_bs_ptr"))
            dialogs[dialog].append((gold, predicted))
    return dialogs


def _trade_state(checker: Checker, turn: dict[str, Any], side: str) -> WrittenState:
    state: WrittenState = {}
    for entry in checker.array_in(turn, side, "the turn"):
        # A value may contain hyphens; domain and slot names do not.
        parts = entry.split("-", 2) if isinstance(entry, str) else []
        if len(parts) != 3:
            checker.report(
                f"an entry of {side!r} is not a triple", expected="domain-slot-value", found=repr(entry)
            )
            continue
        put(checker, state, *parts)
    return state


TRIPPY_GOLD = "slot_groundtruth_"
TRIPPY_PREDICTED = "slot_prediction_"
COPIED = "\u00a7\u00a7"


def gather_trippy(checker: Checker, value: Any) -> Dialogs:
    """TripPy's prediction file: a list with one object a turn, its `guid` and `slot_prediction_<slot>`.

    `guid` is [set, dialog, turn]; slots are `domain-slot`; a value that was copied from a system inform is
    marked with two section signs, which are not part of it. Heck et al. 2020.
    """
    by_dialog: dict[str, dict[int, tuple[State, State]]] = {}
    for number, item in enumerate(checker.array(value, "the file")):
        entry = checker.object(item, f"entry {number}")
        guid = checker.member(entry, "guid", f"entry {number}")
        if guid is Missing:
            continue
        dialog, turn = _identity(checker, guid, number)
        if dialog is None or turn is None:
            continue
        turn_checker = checker.at(session=dialog, turn=turn)
        turns = by_dialog.setdefault(dialog, {})
        if turn in turns:
            turn_checker.report("the turn occurs more than once")
        turns[turn] = (
            _trippy_state(turn_checker, entry, TRIPPY_GOLD),
            _trippy_state(turn_checker, entry, TRIPPY_PREDICTED),
        )
        _compare_slots(turn_checker, entry)
    return {dialog: _in_order(checker.at(session=dialog), turns) for dialog, turns in by_dialog.items()}


def _identity(checker: Checker, guid: Any, number: int) -> tuple[str | None, int | None]:
    # Dialog names contain no hyphen, so the joined form can be split from both ends.
    parts = guid.split("-") if isinstance(guid, str) else guid
    good = isinstance(parts, list) and len(parts) >= 3 and all(isinstance(part, str) for part in parts)
    if not good or not is_number(parts[-1]):
        checker.report(
            f"the guid of entry {number} is wrong", expected="[set, dialog, turn]", found=repr(guid)
        )
        return None, None
    return "-".join(parts[1:-1]), int(parts[-1])


def _compare_slots(checker: Checker, entry: dict[str, Any]) -> None:
    """Every predicted slot has its gold and every gold slot its prediction; a misspelt key is neither.

    Other keys of a turn (its tokens, its loss) are the model's own and are not read.
    """
    slots = [
        {key.removeprefix(side) for key in entry if key.startswith(side)}
        for side in (TRIPPY_GOLD, TRIPPY_PREDICTED)
    ]
    for side, others, slot in (
        *((TRIPPY_GOLD, slots[0], slot) for slot in sorted(slots[1] - slots[0])),
        *((TRIPPY_PREDICTED, slots[1], slot) for slot in sorted(slots[0] - slots[1])),
    ):
        resembling = [key for key in entry if not key.startswith((TRIPPY_GOLD, TRIPPY_PREDICTED))]
        wanted = side + slot
        hint = did_you_mean(wanted, [*resembling, *(side + other for other in others)], limit=0)
        checker.at(slot=slot).report(
            f"the entry lacks {wanted!r}" + (f"; {hint}" if hint.startswith("did") else ""),
            expected=repr(wanted),
        )


def _in_order(checker: Checker, turns: dict[int, tuple[State, State]]) -> list[tuple[State, State]]:
    order = sorted(turns)
    # Some versions count from 0, some from 1; a gap is a missing turn.
    if order[0] not in (0, 1) or order != list(range(order[0], order[0] + len(order))):
        checker.report("turns are missing", expected="consecutive numbers", found=", ".join(map(str, order)))
    return [turns[number] for number in order]


def _trippy_state(checker: Checker, entry: dict[str, Any], prefix: str) -> WrittenState:
    state: WrittenState = {}
    has_slot = False
    for key, value in entry.items():
        if not key.startswith(prefix):
            continue
        has_slot = True
        domain, hyphen, slot = key.removeprefix(prefix).partition("-")
        if not hyphen:
            checker.report(f"the key {key!r} names no slot", expected=f"{prefix}domain-slot")
        elif checker.at(slot=f"{domain}-{slot}").text(value, "the value") is not None:
            put(checker, state, domain, slot, value.removeprefix(COPIED).strip())
    if not has_slot:
        checker.report(f"the entry has no key that begins with {prefix!r}")
    return state


SIMPLETOD_GOLD = "target_turn_belief"
SIMPLETOD_PREDICTED = "generated_turn_belief"
END_OF_TEXT = "<|endoftext|>"


def gather_simpletod(checker: Checker, value: Any) -> Dialogs:
    """SimpleTOD's output: `{dialog: {"target_turn_belief": [...], "generated_turn_belief": [...]}}`.

    Both are lists with one list of entries a turn. Entries are text `domain slot value`, as generated; slots
    of a booking are two words, `book day`. Generated text that is not a triple predicts nothing (a note says
    how often). Hosseini-Asl et al. 2020.
    """
    dialogs: Dialogs = {}
    no_triples = 0
    for dialog, item in checker.object(value, "the file").items():
        dialog_checker = checker.at(session=dialog)
        entry = dialog_checker.object(item, "the dialog")
        gold, predicted = (
            dialog_checker.array_in(entry, side, "the dialog")
            for side in (SIMPLETOD_GOLD, SIMPLETOD_PREDICTED)
        )
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
            gold_state, wrong = _simpletod_state(turn_checker, gold_turn, SIMPLETOD_GOLD)
            for text in wrong:
                turn_checker.report(
                    f"an entry of {SIMPLETOD_GOLD!r} is not a triple",
                    expected="domain slot value",
                    found=repr(text),
                )
            state, wrong = _simpletod_state(turn_checker, predicted_turn, SIMPLETOD_PREDICTED)
            no_triples += len(wrong)
            dialogs[dialog].append((gold_state, state))
    if no_triples:
        checker.report(f"{no_triples} generated texts are not triples and predict nothing", severity="note")
    return dialogs


def _simpletod_state(checker: Checker, turn: Any, side: str) -> tuple[WrittenState, list[str]]:
    """The state of a turn, and the texts that are not triples. Of two values of a slot the last counts."""
    state: WrittenState = {}
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


class EvaluatedTurn(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A turn of a file of MultiWOZ_Evaluation."""

    state: WrittenState
    response: Any = None
    active_domains: Any = None


def gather_multiwoz_eval(checker: Checker, value: Any) -> Dialogs:
    """MultiWOZ_Evaluation's file: `{dialog: [{"state": {domain: {slot: value}}, "response": text}]}`.

    It holds predictions alone: the gold comes from a file of its own. Responses are not read here.
    """
    dialogs: Dialogs = {}
    for dialog, turns in checker.object(value, "the file").items():
        dialogs[dialog] = []
        for number, item in enumerate(checker.at(session=dialog).array(turns, "the dialog")):
            at_turn = checker.at(session=dialog, turn=number)
            turn = at_turn.decoded(item, EvaluatedTurn, "the turn", slot_of_state)
            dialogs[dialog].append(({}, {} if turn is None else turn.state))
    return dialogs
