"""The files of schema-guided dialogues: `schema.json`, and lists of dialogs in `dialogues_*.json`.

A dialog is `{dialogue_id, services, turns}`, a turn `{speaker, utterance, frames}`, a frame of the user's
`{service, state: {slot_values: {slot: [value, ...]}}}`. Predictions are the same files with predicted states.
Intents, requested slots, spans and the system's frames are not read. Rastogi et al. 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.errors import InputError, Problem, Problems
from extrinsic.storage import decode_clean, decode_loosely, read_bytes

SCHEMA = "schema.json"
OF_THE_SCORER = "dialogues_and_metrics.json"
"""What the challenge's scorer writes beside the predictions."""

USER = "USER"


@dataclass(frozen=True)
class Slot:
    """A slot of a service; only a categorical one has a full list of values."""

    categorical: bool
    values: frozenset[str]


Schema = Mapping[str, Mapping[str, Slot]]
"""{service: {slot: Slot}}"""

SlotValues = dict[str, list[str]]


@dataclass(frozen=True)
class Turn:
    """A turn as written; frames: {service: {slot: [value, ...]}}, of the user's turns only."""

    speaker: str
    utterance: str | None
    frames: dict[str, SlotValues]


@dataclass(frozen=True)
class Dialog:
    """A dialog as written, and the checker that reports its problems, in its own file."""

    checker: Checker
    services: frozenset[str]
    turns: list[Turn]


@dataclass
class SgdFiles:
    """Everything that was read from some files: its problems, and its bytes for a signature."""

    problems: list[Problems] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)

    def all_problems(self) -> list[Problem]:
        return [problem for problems in self.problems for problem in problems]

    def checker(self, path: Path) -> Checker:
        self.problems.append(Problems(str(path)))
        return Checker(self.problems[-1])

    def load(self, path: Path) -> tuple[Checker, Any]:
        """The checker of a file and its JSON; Missing, and a problem, where it cannot be read."""
        checker = self.checker(path)
        try:
            data = read_bytes(path)
            value = decode_clean(data)
            # Keys that stand twice are reported where the object that has them is looked at.
            value = decode_loosely(data, str(path)) if value is None else value
        except InputError as error:
            checker.problems.extend(error.problems)
            return checker, Missing
        self.contents.append(data)
        return checker, value

    def read_schema(self, path: Path) -> Schema | None:
        """The schema, or None where there is none to check names by."""
        checker, value = self.load(path)
        if value is Missing or not isinstance(value, list):
            if value is not Missing:
                checker.array(value, "the schema")
            return None
        if not value:
            checker.report("the schema has no services")
        schema: dict[str, dict[str, Slot]] = {}
        for number, item in enumerate(value):
            what = f"service {number}"
            entry, name = _named(checker, item, "service_name", what)
            if name is None:
                continue
            if name in schema:
                checker.report(f"the service {name!r} stands more than once")
            slots = checker.array_in(entry, "slots", f"the service {name!r}")
            schema[name] = _slots(checker, name, slots)
        return schema

    def read_dialogs(self, paths: list[Path], schema: Schema | None) -> dict[str, Dialog]:
        """The dialogs of all files, by id."""
        dialogs: dict[str, Dialog] = {}
        for path in paths:
            checker, value = self.load(path)
            if value == []:
                checker.report("the file has no dialogs")
            for number, item in enumerate([] if value is Missing else checker.array(value, "the file")):
                entry, name = _named(checker, item, "dialogue_id", f"dialog {number}")
                if name is None:
                    continue
                inside = checker.at(session=name)
                if name in dialogs:
                    first = dialogs[name].checker.problems.path
                    inside.report("the dialog stands more than once", found=f"first in {first}")
                    continue
                dialogs[name] = _dialog(inside, entry, schema)
        return dialogs


def dialog_files(path: Path, pattern: str) -> list[Path]:
    """The file itself, or those of a directory that are dialogs, in order of name."""
    if not path.is_dir():
        return [path]
    own = {SCHEMA, OF_THE_SCORER}
    names = {file for end in ("", ".gz") for file in path.glob(pattern + end)}
    files = sorted(file for file in names if file.name.removesuffix(".gz") not in own)
    if not files:
        raise InputError("the directory has no files of dialogs", path=str(path), expected=pattern)
    return files


def _named(checker: Checker, value: Any, key: str, what: str) -> tuple[dict[str, Any], str | None]:
    """An object and the text it has under a key, by which it is known."""
    entry = checker.object(value, what)
    name = checker.member(entry, key, what) if isinstance(value, dict) else Missing
    return entry, None if name is Missing else checker.text(name, f"{key!r} of {what}")


def _slots(checker: Checker, service: str, listed: list[Any]) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    for number, item in enumerate(listed):
        what = f"slot {number} of {service!r}"
        entry, name = _named(checker, item, "name", what)
        if name is None:
            continue
        at_slot = checker.at(slot=f"{service}-{name}")
        if name in slots:
            at_slot.report("the slot stands more than once")
        categorical = at_slot.member(entry, "is_categorical", "the slot")
        if categorical is Missing:
            continue
        at_slot.decoded(categorical, bool, "'is_categorical'")
        texts = at_slot.array_in(entry, "possible_values", "the slot") if categorical is True else []
        for text in texts:
            at_slot.text(text, "a possible value")
        slots[name] = Slot(categorical is True, frozenset(text for text in texts if isinstance(text, str)))
    return slots


def _dialog(checker: Checker, entry: dict[str, Any], schema: Schema | None) -> Dialog:
    names = checker.array_in(entry, "services", "the dialog")
    for name in names:
        if checker.text(name, "a service") is not None and schema is not None:
            checker.known(name, schema, "service")
    turns = checker.array_in(entry, "turns", "the dialog")
    return Dialog(
        checker,
        frozenset(name for name in names if isinstance(name, str)),
        [_turn(checker.at(turn=number), turn, schema) for number, turn in enumerate(turns)],
    )


def _turn(checker: Checker, value: Any, schema: Schema | None) -> Turn:
    entry, speaker = _named(checker, value, "speaker", "the turn")
    if speaker is not None:
        checker.known(speaker, (USER, "SYSTEM"), "speaker")
    utterance = checker.text(entry["utterance"], "'utterance'") if "utterance" in entry else None
    frames: dict[str, SlotValues] = {}
    written = checker.array_in(entry, "frames", "the turn") if speaker == USER else []
    for number, item in enumerate(written):
        frame, service = _named(checker, item, "service", f"frame {number}")
        if service is None or (schema is not None and not checker.known(service, schema, "service")):
            continue
        if service in frames:
            checker.report(f"the service {service!r} has more than one frame")
        frames[service] = _slot_values(checker, frame, service, schema[service] if schema else None)
    return Turn(speaker or "", utterance, frames)


def _slot_values(
    checker: Checker, frame: dict[str, Any], service: str, slots: Mapping[str, Slot] | None
) -> SlotValues:
    state = checker.member(frame, "state", f"the frame of {service!r}")
    entry = {} if state is Missing else checker.object(state, f"the state of {service!r}")
    written = (
        checker.member(entry, "slot_values", f"the state of {service!r}")
        if isinstance(state, dict)
        else Missing
    )
    values: SlotValues = {}
    if written is Missing:
        return values
    for slot, listed in checker.object(written, f"'slot_values' of {service!r}").items():
        in_schema = slots is None or slot in slots
        if (
            in_schema
            and isinstance(listed, list)
            and listed
            and all(isinstance(text, str) for text in listed)
        ):
            values[slot] = listed
        if not in_schema or slot not in values or "" in listed:
            _report_values(checker.at(slot=f"{service}-{slot}"), slot, listed, slots)
    return values


def _report_values(checker: Checker, slot: str, listed: Any, slots: Mapping[str, Slot] | None) -> None:
    """Report what is wrong with the values of a slot."""
    if slots is not None and not checker.known(slot, slots, "slot"):
        return
    if listed == []:
        checker.report("the list of values is empty", expected="values, or no such slot")
    for text in checker.array(listed, "the list of values"):
        if checker.text(text, "a value") == "":
            checker.report("a value is empty", expected="text, or no such slot")
