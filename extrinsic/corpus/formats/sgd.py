"""sgd: predictions for schema-guided dialogues (SGD, DSTC8, MultiWOZ 2.2), joined with their gold.

Gold and predictions are the same files: lists of dialogs `{dialogue_id, services, turns}`, a turn `{speaker,
utterance, frames}`, a frame of the user's `{service, state: {slot_values: {slot: [value, ...]}}}`; beside the
gold lies `schema.json`. Intents, requested slots, spans and the system's frames are not read. Rastogi et al.
2020.

The value of a categorical slot is right if it is the gold one. Another slot has a list of gold values that
mean the same: the prediction is right if it is any of them, or with `fuzzy` similar enough to any. The
challenge's scorer multiplies such similarities into a joint score; sets have no halves, so a value that
reaches `fuzzy` counts as equal and any other as wrong. Only the first of several predicted values counts, and
frames that gold does not have are not scored: both as in that scorer. "none" is no value, as in all state
sets.

`sgd`: a turn of the user has the latest frame of every service so far, so that a state grows over the dialog.
`sgd-frames`: every service of a dialog is a dialog, its frames are the turns. Joint goal accuracy is then the
scorer's own without fuzzy matching. Where every turn has all frames (MultiWOZ 2.2), `sgd` gives the scorer's
joint_acc_across_turn.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.corpus.conventions import STATE_SETS
from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_files import Turns, build_state_sets, gather_states
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.errors import InputError, Problem, Problems, shown
from extrinsic.storage import content_hash, decode_clean, decode_loosely, read_bytes

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
            checker = checker.at(is_clean=value is not None)
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
        for entry, name in _by_name(checker, value, "service_name", "service"):
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
            items = [] if value is Missing else checker.array(value, "the file")
            for entry, name in _by_name(checker, items, "dialogue_id", "dialog"):
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


def _by_name(checker: Checker, items: list[Any], key: str, what: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list with the text by which each is known; one without it is reported."""
    for number, item in enumerate(items):
        entry, name = _named(checker, item, key, f"{what} {number}")
        if name is not None:
            yield entry, name


def _slots(checker: Checker, service: str, listed: list[Any]) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    for entry, name in _by_name(checker, listed, "name", f"{service!r}: slot"):
        at_slot = checker.at(slot=f"{service}-{name}")
        if name in slots:
            at_slot.report("the slot stands more than once")
        categorical = at_slot.member(entry, "is_categorical", "the slot")
        if categorical is Missing:
            continue
        at_slot.decoded(categorical, bool, "'is_categorical'")
        texts = at_slot.array_in(entry, "possible_values", "the slot") if categorical is True else []
        at_slot.decoded(texts, list[str], "the possible values")
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
    for entry, service in _by_name(checker, written, "service", "frame"):
        if schema is not None and not checker.known(service, schema, "service"):
            continue
        if service in frames:
            checker.report(f"the service {service!r} has more than one frame")
        frames[service] = _slot_values(checker, entry, service, schema[service] if schema else None)
    return Turn(speaker or "", utterance, frames)


class FrameState(msgspec.Struct, gc=False):
    slot_values: dict[str, Any]


class WrittenFrame(msgspec.Struct, gc=False):
    state: FrameState


def _slot_values(checker: Checker, entry: Any, service: str, slots: Mapping[str, Slot] | None) -> SlotValues:
    """The values of a frame, without those that are wrong."""
    frame = checker.decoded(entry, WrittenFrame, f"the frame of {service!r}")
    values: SlotValues = {}
    for slot, listed in frame.state.slot_values.items() if frame is not None else ():
        at_slot = checker.at(slot=f"{service}-{slot}")
        if slots is not None and not at_slot.known(slot, slots, "slot"):
            continue
        texts = at_slot.decoded(listed, list[str], "the list of values")
        if texts == []:
            at_slot.report("the list of values is empty", expected="values, or no such slot")
        elif texts is not None:
            values[slot] = texts
        for _ in range((texts or []).count("")):
            at_slot.report("a value is empty", expected="text, or no such slot")
    return values


_NO_WORD = re.compile(r"\W")
_LATIN_1 = dict.fromkeys(range(128, 256))


@lru_cache(maxsize=200_000)
def token_sort_ratio(left: str, right: str) -> int:
    """0 to 100: the share of characters in matching blocks, in lower case and with the words in order.

    What is no letter, digit or underscore divides words; letters with accents (Latin-1) are left out, as the
    challenge's scorer does. A value without any word is similar to nothing.
    """
    first, second = _words_in_order(left), _words_in_order(right)
    if not first or not second:
        return 0
    return round(100 * SequenceMatcher(None, first, second).ratio())


def _words_in_order(text: str) -> str:
    return " ".join(sorted(_NO_WORD.sub(" ", text.translate(_LATIN_1)).lower().split()))


DONT_CARE = "dontcare"
"""A value that every slot can have, whatever the schema lists."""

Frame = tuple[str, dict[str, str], dict[str, str]]
"""A service, and its gold and predicted {slot: value}."""

Arrange = Callable[[str, list[list[Frame]]], dict[str, Turns]]
"""A dialog's id and the frames of its user turns -> dialogs of state sets."""


def read_dialogs(path: str | Path, name: str, reading: StateReading) -> StateSets:
    """Predictions as dialogs in which a user's turn has the states of all services so far."""
    return _read(path, name, reading, "sgd", _whole_dialog)


def read_frames(path: str | Path, name: str, reading: StateReading) -> StateSets:
    """Predictions as one dialog for each service of a dialog."""
    return _read(path, name, reading, "sgd-frames", _dialog_of_each_service)


def _whole_dialog(dialog: str, turns: list[list[Frame]]) -> dict[str, Turns]:
    gold: dict[str, dict[str, str]] = {}
    predicted: dict[str, dict[str, str]] = {}
    states: Turns = []
    for frames in turns:
        gold = gold | {service: values for service, values, _ in frames}
        predicted = predicted | {service: values for service, _, values in frames}
        states.append((gold, predicted))
    return {dialog: states}


def _dialog_of_each_service(dialog: str, turns: list[list[Frame]]) -> dict[str, Turns]:
    states: dict[str, Turns] = {}
    for frames in turns:
        for service, gold, predicted in frames:
            states.setdefault(f"{dialog} {service}", []).append(({service: gold}, {service: predicted}))
    return states


def _read(path: str | Path, name: str, reading: StateReading, form: str, arrange: Arrange) -> StateSets:
    assert reading.gold is not None
    gold_files, files = SgdFiles(), SgdFiles()
    gold_path = Path(reading.gold)
    folder = gold_path if gold_path.is_dir() else gold_path.parent
    schema = gold_files.read_schema(folder / SCHEMA)
    gold = _dialogs(gold_files, gold_path, "dialogues_*.json", schema)
    predicted = _dialogs(files, Path(path), "*.json", schema)
    joining = Joining(schema or {}, reading.fuzzy)
    _report_missing(files.checker(Path(path)), gold, predicted)
    dialogs: dict[str, Turns] = {}
    for dialog in gold:
        if dialog in predicted:
            dialogs |= arrange(dialog, list(joining.frames(gold[dialog], predicted[dialog])))
    problems = gold_files.all_problems() + files.all_problems()
    if not problems and not any(dialogs.values()):
        problems.append(Problem("no turn of a user has a frame", path=reading.gold))
    if any(problem.severity == "error" for problem in problems):
        raise InputError(problems)
    problems += [Problem(text, path=str(path), severity="note") for text in joining.notes()]
    gold_signature = content_hash("sgd", *gold_files.contents)
    signature = content_hash(form, reading.value_rules, gold_signature, *files.contents)
    return replace(
        build_state_sets(name, gather_states(dialogs), signature, problems),
        conventions=replace(STATE_SETS, name=form),
        gold_signature=gold_signature,
        value_rules=reading.value_rules,
        n_values_changed=joining.counts["fuzzy"],
    )


def _dialogs(files: SgdFiles, path: Path, pattern: str, schema: Schema | None) -> dict[str, Dialog]:
    try:
        paths = dialog_files(path, pattern)
    except InputError as error:
        files.checker(path).problems.extend(error.problems)
        return {}
    dialogs = files.read_dialogs(paths, schema)
    for dialog in dialogs.values():
        if not any(turn.speaker == USER for turn in dialog.turns):
            dialog.checker.report("the dialog has no turns of the user")
    return dialogs


def _report_missing(checker: Checker, gold: dict[str, Dialog], predicted: dict[str, Dialog]) -> None:
    """Report dialogs that only one side has; where a side could not be read at all, that is said already."""
    if not gold or not predicted:
        return
    for dialog in gold:
        if dialog not in predicted:
            checker.at(session=dialog).report("gold has a dialog that was not predicted")
    for dialog, written in predicted.items():
        if dialog not in gold:
            written.checker.report("a dialog was predicted that gold does not have")


@dataclass
class Joining:
    """Puts gold and prediction side by side, and counts what is worth a note."""

    schema: Schema
    fuzzy: int | None
    counts: Counter[str] = field(default_factory=Counter)

    def frames(self, gold: Dialog, predicted: Dialog) -> Iterator[list[Frame]]:
        """Of every turn of the user the frames that gold has."""
        checker = predicted.checker
        if gold.services != predicted.services:
            checker.report(
                "gold and prediction differ in their services",
                expected=", ".join(sorted(gold.services)) or "none",
                found=", ".join(sorted(predicted.services)) or "none",
            )
        if len(gold.turns) != len(predicted.turns):
            checker.report(
                "gold and prediction differ in their number of turns",
                expected=f"{len(gold.turns)} turns",
                found=str(len(predicted.turns)),
            )
        names: dict[tuple[str, str], str] = {}
        for number, (turn, other) in enumerate(zip(gold.turns, predicted.turns, strict=False)):
            _compare_turns(checker.at(turn=number), turn, other)
            if turn.speaker != USER:
                continue
            self.counts["frames"] += len(other.frames.keys() - turn.frames.keys())
            yield [
                (service, *self._states(service, values, other.frames.get(service, {}), names))
                for service, values in turn.frames.items()
            ]

    def _states(
        self, service: str, gold: SlotValues, predicted: SlotValues, names: dict[tuple[str, str], str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """A value each; names: by which of its values each gold slot went before, kept as long as it is one.

        So neither a longer list of gold values nor another choice among them is a change.
        """
        slots = self.schema.get(service, {})
        states: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for slot, values in gold.items():
            is_open = slot in slots and not slots[slot].categorical
            before = names.get((service, slot))
            value = before if is_open and before is not None and before in values else values[0]
            states[0][slot] = names[service, slot] = value
        for slot, values in predicted.items():
            self.counts["values"] += 1
            self.counts["more"] += len(values) > 1
            value = values[0]
            if slot in slots and slots[slot].categorical:
                self.counts["unlisted"] += value not in slots[slot].values and value != DONT_CARE
            elif slot in gold and self._is_right(value, gold[slot]):
                value = states[0][slot]
            states[1][slot] = value
        return states

    def _is_right(self, value: str, gold: list[str]) -> bool:
        """Whether a predicted value of an open slot counts as the gold one."""
        if value in gold:
            return True
        similar = self.fuzzy is not None and any(token_sort_ratio(text, value) >= self.fuzzy for text in gold)
        self.counts["fuzzy"] += similar
        return similar

    def notes(self) -> list[str]:
        """What was counted, in words."""
        of_all = f"of {self.counts['values']:,} predicted values"
        texts = {
            "frames": "predicted frames are of services that gold has no frame of in that turn: not scored",
            "more": f"{of_all} are followed by others for the same slot: only the first counts",
            "unlisted": f"{of_all} are none of those that the schema lists for the categorical slot",
            "fuzzy": f"{of_all} count as gold ones by fuzzy={self.fuzzy} alone",
        }
        # What a rule changed is said even if that is nothing.
        told = {key for key in texts if self.counts[key] or (key == "fuzzy" and self.fuzzy is not None)}
        return [f"{self.counts[key]:,} {texts[key]}" for key in texts if key in told]


def _compare_turns(checker: Checker, gold: Turn, predicted: Turn) -> None:
    if gold.speaker != predicted.speaker:
        checker.report(
            "gold and prediction have another speaker", expected=gold.speaker, found=predicted.speaker
        )
        return
    if gold.speaker != USER:
        return
    if predicted.utterance is not None and gold.utterance not in (None, predicted.utterance):
        checker.report(
            "gold and prediction have another utterance",
            expected=shown(gold.utterance),
            found=shown(predicted.utterance),
        )
    for service in gold.frames:
        if service not in predicted.frames:
            checker.report(f"the prediction has no frame of {service!r}, which gold has")
