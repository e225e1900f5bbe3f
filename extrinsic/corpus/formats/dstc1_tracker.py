"""DSTC1 tracker files: per turn and slot group, and for the joint, a list of scored hypotheses."""

from dataclasses import replace
from typing import Annotated, Any

import msgspec
import numpy as np

from extrinsic.arrays import offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.conventions import DSTC1
from extrinsic.corpus.formats.dstc1_corpus import (
    BadPairs,
    PairValue,
    assignment_of_pairs,
    check_pairs,
    value_of_pairs,
    written_pairs,
)
from extrinsic.corpus.formats.field_checks import Checker, check_type, known_keys, listed
from extrinsic.corpus.formats.notes import note_joint_only, note_unlabelled, report_repairs
from extrinsic.corpus.formats.tracker_files import TrackerFile, TurnWriter, refuse_tracker_file
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.vocabulary import NONE, Value
from extrinsic.errors import Problems
from extrinsic.storage import decode_clean

FORMAT = DSTC1.name
JOINT = "joint"


class Hypothesis(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    slots: dict[str, PairValue]
    score: float


class HypothesisList(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    hyps: list[Hypothesis]


Turn = Annotated[dict[str, HypothesisList], known_keys("slot", by="slot")]


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
    labelled = corpus.labels.ever_labelled(corpus.segment_end, n_slots)
    return item[~labelled.is_correct(item // n_slots, item % n_slots, hypotheses.value)]


def _check_turn(checker: Checker, value: Any, corpus: Corpus) -> None:
    check_type(checker, value, Turn, "the turn", {"slot": (*corpus.slots, JOINT)})
    for slot, written in value.items() if isinstance(value, dict) else ():
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
