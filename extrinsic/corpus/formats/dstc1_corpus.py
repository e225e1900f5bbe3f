"""DSTC1 corpora: `dstc.log.json` and `dstc.labels.json` per session, `config/<dataset>.sessions`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from extrinsic.corpus.conventions import DSTC1
from extrinsic.corpus.formats.datasets import find_dataset
from extrinsic.corpus.formats.field_checks import BY_TURN, Checker, listed
from extrinsic.corpus.formats.logs import write_log
from extrinsic.corpus.formats.sessions import SessionLabels, Sessions, TurnLabels, read_sessions, sign_corpus
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import Value, Vocabulary
from extrinsic.domain import Domain
from extrinsic.errors import Problems
from extrinsic.storage import encode_json, write_atomic

PairValue = str | int | float


class BadPairs(Exception):
    """Pairs that are not a hypothesis of a slot group; `check_pairs` reports the reason."""


def value_of_pairs(domain: Domain, slot: str, pairs: dict[str, PairValue]) -> Value:
    """The value that a non-empty set of pairs denotes; values compare as text.

    A simple slot takes exactly one pair, its own; a compound one any pairs of its parts. An empty set is
    the value (): it equals no label, so it is never right.
    """
    if slot in domain.compound_slots:
        if not all(domain.slot_of_part.get(part) == slot for part in pairs):
            raise BadPairs
        return tuple(sorted((part, str(value)) for part, value in pairs.items()))
    if not pairs:
        return ()
    if len(pairs) != 1 or slot not in pairs:
        raise BadPairs
    return str(pairs[slot])


def slot_of_pairs(domain: Domain, pairs: dict[str, PairValue]) -> str:
    """The slot that all the pairs belong to."""
    slots = {domain.slot_of_part.get(part) for part in pairs}
    if len(slots) != 1 or None in slots:
        raise BadPairs
    return str(slots.pop())


def assignment_of_pairs(domain: Domain, pairs: dict[str, PairValue]) -> dict[str, Value]:
    """The value of each slot in a joint hypothesis."""
    by_slot: dict[str, dict[str, PairValue]] = {}
    for part, value in pairs.items():
        slot = domain.slot_of_part.get(part)
        if slot is None:
            raise BadPairs
        by_slot.setdefault(slot, {})[part] = value
    return {slot: value_of_pairs(domain, slot, parts) for slot, parts in by_slot.items()}


def written_pairs(corpus: Corpus, column: int, identity: int) -> dict[str, str]:
    """The pairs of a value of a slot, as files write them."""
    value = corpus.vocabulary.value(identity)
    assert value is not None
    return dict(value) if isinstance(value, tuple) else {corpus.slots[column]: value}


def check_pairs(
    checker: Checker, pairs: dict[str, Any], domain: Domain, what: str, slot: str | None = None
) -> None:
    """Report names of pairs that a hypothesis (of one slot, if given) or a label cannot have."""
    parts = [part for part in pairs if checker.known(part, domain.slot_of_part, f"slot in {what}")]
    others = {domain.slot_of_part[part] for part in parts} - {slot}
    if slot is not None and others:
        checker.report(f"{what} contains another slot", expected=slot, found=", ".join(sorted(others)))
    elif slot in domain.slot_names and slot not in domain.compound_slots and len(pairs) > 1:
        checker.report(f"{what} has too many pairs", expected="one pair", found=str(len(pairs)))


LIST_EXTENSION = "sessions"


class SluLabel(msgspec.Struct, gc=False):
    slots: dict[str, PairValue]
    label: bool


class LabelTurn(TurnLabels, gc=False, rename="kebab"):
    slu_labels: list[SluLabel]


class Labels(SessionLabels, gc=False, rename="kebab"):
    turns: Annotated[list[LabelTurn], BY_TURN]

    def is_complete(self) -> bool:
        return all(label.slots for turn in self.turns for label in turn.slu_labels)


def read_corpus(path: str | Path, name: str | None, domain: Domain) -> Corpus:
    """Read a dataset from a directory or an archive of one."""
    dataset = find_dataset(path, name, LIST_EXTENSION)
    check_labels = partial(_check_labels, domain)
    sessions = read_sessions(dataset, domain, "dstc.log.json", "dstc.labels.json", Labels, check_labels)
    vocabulary = Vocabulary()
    problems = Problems(str(path))
    labels = _label_columns(sessions, domain, vocabulary, problems)
    problems.raise_errors()
    return Corpus(
        dataset=dataset.name,
        format=DSTC1.name,
        conventions=DSTC1,
        domain=domain,
        slots=domain.slot_names,
        requestable=(),
        vocabulary=vocabulary,
        directories=dataset.directories,
        labels=labels,
        conditions=sessions.frozen_conditions(),
        signature=sign_corpus(DSTC1.name, dataset, domain, sessions.signature),
        **sessions.logs.build(vocabulary, domain),
    )


def _label_columns(
    sessions: Sessions[Labels], domain: Domain, vocabulary: Vocabulary, problems: Problems
) -> LabelEvents:
    column_of = {slot: column for column, slot in enumerate(domain.slot_names)}
    turns: list[int] = []
    columns: list[int] = []
    values: list[Value] = []
    correct: list[bool] = []
    first = 0
    for session, labels, file in zip(
        sessions.logs.sessions, sessions.labels, sessions.label_files, strict=True
    ):
        problems.path = file
        for number, turn in enumerate(labels.turns):
            for label in turn.slu_labels:
                try:
                    slot = slot_of_pairs(domain, label.slots)
                    value = value_of_pairs(domain, slot, label.slots)
                except BadPairs:
                    _check_label(Checker(problems, session, number), label.slots, domain)
                    continue
                turns.append(first + number)
                columns.append(column_of[slot])
                values.append(value)
                correct.append(label.label)
        first += len(labels.turns)
    return LabelEvents(
        np.array(turns, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        vocabulary.ids(values),
        np.array(correct, dtype=bool),
    )


def _check_labels(domain: Domain, checker: Checker, turns: list[Any]) -> None:
    """Report labels that are not about one slot of the domain."""
    for number, turn in enumerate(turns):
        for label in listed(turn, "slu-labels"):
            if isinstance(label, dict) and isinstance(label.get("slots"), dict):
                _check_label(checker.at(turn=number), label["slots"], domain)


def _check_label(checker: Checker, pairs: dict[str, Any], domain: Domain) -> None:
    before = len(checker.problems)
    check_pairs(checker, pairs, domain, "a label")
    if len(checker.problems) > before:
        return
    try:
        value_of_pairs(domain, slot_of_pairs(domain, pairs), pairs)
    except BadPairs:
        found = ", ".join(pairs) or "no pairs"
        checker.report("a label is not about one slot", expected="pairs of one slot", found=found)


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a directory in the challenge's layout, its list of sessions in `config`."""
    root = Path(path)
    labels = corpus.labels
    assert isinstance(labels, LabelEvents)
    order = np.argsort(labels.turn, kind="stable")
    bounds = np.searchsorted(labels.turn[order], np.arange(corpus.n_turns + 1))

    def labels_of(turn: int) -> dict[str, Any]:
        events = order[bounds[turn] : bounds[turn + 1]]
        return {
            "slu-labels": [
                {
                    "slots": written_pairs(corpus, int(labels.slot[event]), int(labels.value[event])),
                    "label": bool(labels.correct[event]),
                }
                for event in events
            ]
        }

    for dialog, directory in enumerate(corpus.directories):
        turns = range(corpus.offsets[dialog], corpus.offsets[dialog + 1])
        written = {"session-id": corpus.sessions[dialog], "turns": [labels_of(turn) for turn in turns]}
        write_atomic(root / directory / "dstc.log.json", encode_json(write_log(corpus, dialog)))
        write_atomic(root / directory / "dstc.labels.json", encode_json(written))
    lines = "".join(f"{directory}\n" for directory in corpus.directories)
    write_atomic(root / "config" / f"{corpus.dataset}.{LIST_EXTENSION}", lines.encode())
