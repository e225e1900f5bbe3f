"""DSTC1: `dstc.log.json` and `dstc.labels.json` per session, `config/<dataset>.sessions`; tracker files.

A tracker file has per turn and slot group, and for the joint, a list of scored hypotheses. All that knows
this challenge's files is here, hence the length.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import NONE, Value, Vocabulary
from extrinsic.corpus.conventions import DSTC1
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.formats.datasets import find_dataset
from extrinsic.corpus.formats.field_checks import Checker, listed
from extrinsic.corpus.formats.logs import write_log
from extrinsic.corpus.formats.notes import note_joint_only, note_unlabelled, report_repairs
from extrinsic.corpus.formats.sessions import (
    SessionLabels,
    Sessions,
    TrackerFile,
    TurnLabels,
    TurnWriter,
    read_sessions,
    refuse_tracker_file,
    sign_corpus,
)
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.errors import Problems
from extrinsic.storage import decode_clean, encode_json, write_atomic

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
    turns: list[LabelTurn]

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
        conditions=sessions.conditions,
        signature=sign_corpus(DSTC1.name, dataset, domain, sessions.signature),
        **sessions.columns(vocabulary, domain),
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
    for session in sessions.all:
        problems.path = session.label_file
        for number, turn in enumerate(session.labels.turns):
            for label in turn.slu_labels:
                try:
                    slot = slot_of_pairs(domain, label.slots)
                    value = value_of_pairs(domain, slot, label.slots)
                except BadPairs:
                    _check_label(Checker(problems, session.log.session_id, number), label.slots, domain)
                    continue
                turns.append(first + number)
                columns.append(column_of[slot])
                values.append(value)
                correct.append(label.label)
        first += len(session.labels.turns)
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


FORMAT = DSTC1.name
JOINT = "joint"


class Hypothesis(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    slots: dict[str, PairValue]
    score: float


class HypothesisList(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    hyps: list[Hypothesis]


Turn = dict[str, HypothesisList]


def tracker_of_text(data: bytes, path: str, corpus: Corpus, name: str, signature: str) -> TrackerOutput:
    """A tracker file, or the part of one that is about a part of a corpus; InputError with every problem."""
    decoded = _decode(data, corpus)
    if decoded is None:
        refuse_tracker_file(data, path, corpus, _check_turn)
    file, hypotheses, joint = decoded
    output, rankings = build_output(
        corpus, name, hypotheses, joint, wall_time=file.seconds(), signature=signature
    )
    problems = Problems(path)
    note_joint_only(problems, output.joint_only)
    if len(hypotheses.value) and not joint.given.any():
        problems.add(
            "the file has no joint hypotheses: by the challenge's rules every joint belief is None",
            expected="'joint' beside the slots of a turn",
            severity="note",
        )
    report_repairs(problems, corpus, rankings.slots, hypotheses, corpus.slots)
    report_repairs(problems, corpus, rankings.joint, joint, [JOINT])
    note_unlabelled(problems, corpus, _unlabelled(corpus, hypotheses))
    return replace(output, problems=tuple(problems))


def _decode(data: bytes, corpus: Corpus) -> tuple[TrackerFile[Turn], Hypotheses, JointHypotheses] | None:
    """The file in columns, or None if anything in it is invalid."""
    try:
        file = msgspec.convert(decode_clean(data), TrackerFile[Turn])
        if not file.fits(corpus):
            return None
        turns = file.turns()
        return file, _slot_columns(turns, corpus), _joint_columns(turns, corpus)
    except (msgspec.ValidationError, BadPairs, KeyError):  # KeyError: an unknown slot group
        return None


def _slot_columns(turns: list[Turn], corpus: Corpus) -> Hypotheses:
    column_of = {slot: column for column, slot in enumerate(corpus.slots)}
    n_slots = len(corpus.slots)
    row_of_item = np.full(len(turns) * n_slots, -1, dtype=np.int64)
    lengths: list[int] = []
    values: list[Value] = []
    scores: list[float] = []
    for number, turn in enumerate(turns):
        for slot, written in turn.items():
            if slot == JOINT:
                continue
            row_of_item[number * n_slots + column_of[slot]] = len(lengths)
            lengths.append(len(written.hyps))
            for hypothesis in written.hyps:
                values.append(value_of_pairs(corpus.domain, slot, hypothesis.slots))
                scores.append(hypothesis.score)
    # Slots come in any order, and one that is missing has no hypotheses: the empty row at the end.
    offsets, flat = take_rows(offsets_from_lengths([*lengths, 0]), row_of_item)
    return Hypotheses(offsets, corpus.vocabulary.ids(values)[flat], np.array(scores, dtype=np.float64)[flat])


def _joint_columns(turns: list[Turn], corpus: Corpus) -> JointHypotheses:
    column_of = {slot: column for column, slot in enumerate(corpus.slots)}
    lists = [turn[JOINT].hyps if JOINT in turn else [] for turn in turns]
    hypotheses = [hypothesis for written in lists for hypothesis in written]
    assignment = np.full((len(hypotheses), len(corpus.slots)), NONE, dtype=np.int32)
    for row, hypothesis in enumerate(hypotheses):
        for slot, value in assignment_of_pairs(corpus.domain, hypothesis.slots).items():
            assignment[row, column_of[slot]] = corpus.vocabulary.id(value)
    return JointHypotheses(
        np.array([JOINT in turn for turn in turns], dtype=bool),
        offsets_from_lengths(list(map(len, lists))),
        assignment,
        np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64),
    )


def _unlabelled(corpus: Corpus, hypotheses: Hypotheses) -> np.ndarray:
    """The items of hypotheses whose value has not been labelled up to their turn."""
    assert isinstance(corpus.labels, LabelEvents)
    item = row_of_each(hypotheses.offsets)
    n_slots = len(corpus.slots)
    every_label = replace(corpus.labels, correct=np.ones(len(corpus.labels.turn), dtype=bool))
    labelled = every_label.truth(corpus.segment_end, n_slots)
    return item[~labelled.is_correct(item // n_slots, item % n_slots, hypotheses.value)]


def _check_turn(checker: Checker, value: Any, corpus: Corpus) -> None:
    checker.decoded(value, Turn, "the turn", lambda keys: {"slot": keys[0]} if keys else {})
    for slot, written in value.items() if isinstance(value, dict) else ():
        checker.at(slot=slot).known(slot, (*corpus.slots, JOINT), "slot in the turn")
        for number, hypothesis in enumerate(listed(written, "hyps")):
            pairs = hypothesis.get("slots") if isinstance(hypothesis, dict) else None
            if isinstance(pairs, dict):
                of_slot = slot if slot in corpus.slots else None
                check_pairs(checker.at(slot=slot), pairs, corpus.domain, f"hypothesis {number}", of_slot)


def turn_writer(output: TrackerOutput, corpus: Corpus) -> TurnWriter:
    n_slots = len(corpus.slots)

    def write_turn(turn: int) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for column, slot in enumerate(corpus.slots):
            rows = range(*output.given.offsets[turn * n_slots + column :][:2])
            if rows:
                hypotheses = [
                    {
                        "slots": written_pairs(corpus, column, int(output.given.value[row])),
                        "score": float(output.given.score[row]),
                    }
                    for row in rows
                ]
                written[slot] = {"hyps": hypotheses}
        if output.given_joint.given[turn]:
            rows = range(*output.given_joint.offsets[turn : turn + 2])
            written[JOINT] = {"hyps": [_joint_hypothesis(output, corpus, row) for row in rows]}
        return written

    return write_turn


def _joint_hypothesis(output: TrackerOutput, corpus: Corpus, row: int) -> dict[str, Any]:
    assignment = output.given_joint.assignment[row]
    pairs: dict[str, str] = {}
    for column in np.flatnonzero(assignment != NONE):
        pairs |= written_pairs(corpus, int(column), int(assignment[column]))
    return {"slots": pairs, "score": float(output.given_joint.score[row])}
