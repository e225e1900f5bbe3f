"""DSTC2/3: `log.json` and `label.json` per session, `<dataset>.flist`, an ontology; tracker files.

A tracker file has beliefs about goals (per slot and joint), method and requested slots. All that knows this
challenge's files is here, hence the length.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import NONE, Vocabulary, columns_of, distinct
from extrinsic.corpus.conventions import DSTC2
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.formats.datasets import Dataset, find_dataset
from extrinsic.corpus.formats.field_checks import Checker, listed
from extrinsic.corpus.formats.logs import WrittenAct, columns_of_acts, write_acts, write_log
from extrinsic.corpus.formats.notes import (
    note_joint_only,
    report_repairs,
    report_requested_repairs,
    warn_of_values,
)
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
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.requests import METHODS
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import UNDECODABLE, decode_clean, decode_json, encode_json, has_keys, write_atomic
from extrinsic.typed_files import Keys

LIST_EXTENSION = "flist"


class Semantics(msgspec.Struct, gc=False):
    json: list[WrittenAct]


class LabelTurn(TurnLabels, gc=False, rename="kebab"):
    goal_labels: dict[str, str]
    method_label: str
    requested_slots: list[str]
    semantics: Semantics


class Feedback(msgspec.Struct, gc=False):
    success: bool | None = None


class Task(msgspec.Struct, gc=False):
    feedback: Feedback | None = None


class Labels(SessionLabels, gc=False, rename="kebab"):
    turns: list[LabelTurn]
    task_information: Task | None = None

    def is_complete(self) -> bool:
        return True

    def success(self) -> float:
        """The caller's own judgement after the call: 1, 0, or NaN if missing."""
        feedback = self.task_information.feedback if self.task_information else None
        return np.nan if feedback is None or feedback.success is None else float(feedback.success)


class Ontology(msgspec.Struct):
    """The task as the challenge describes it; order matters (it is the order of items)."""

    informable: dict[str, list[str]]
    requestable: list[str]
    method: list[str] = []


def read_corpus(path: str | Path, dataset: str | None, domain: Domain) -> Corpus:
    """Read a dataset from a directory or from the challenge's archive."""
    listed = find_dataset(path, dataset, LIST_EXTENSION)
    ontology, ontology_data = read_ontology(listed)
    _check_domain(domain, ontology, listed)
    sessions = read_sessions(listed, domain, "log.json", "label.json", Labels)
    vocabulary = Vocabulary()
    vocabulary.ids(METHODS)  # label scheme b gives them also where no label does
    slots, requestable = tuple(ontology.informable), tuple(ontology.requestable)
    problems = Problems(str(path))
    labels = _label_columns(sessions, slots, requestable, vocabulary, problems)
    problems.raise_errors()
    logged = sessions.columns(vocabulary, domain)
    success = {"success": tuple(session.labels.success() for session in sessions.all)}
    corpus = Corpus(
        dataset=listed.name,
        format=DSTC2.name,
        conventions=DSTC2,
        domain=domain,
        slots=slots,
        requestable=requestable,
        vocabulary=vocabulary,
        directories=listed.directories,
        labels=labels,
        conditions=sessions.conditions,
        ontology=msgspec.to_builtins(ontology),
        signature=sign_corpus(DSTC2.name, listed, domain, sessions.signature, ontology_data),
        **{**logged, "outcomes": success | logged["outcomes"]},
    )
    turn, slot = np.nonzero(labels.goal)
    warn_of_values(problems, corpus, "labels", turn, slot, labels.goal[turn, slot])
    return replace(corpus, problems=tuple(problems))


def _check_domain(domain: Domain, ontology: Ontology, dataset: Dataset) -> None:
    """Require that the domain's groups contain only slots of the corpus."""
    problems = Problems(dataset.tree.place(dataset.folder))
    for group, slots in domain.groups.items():
        for slot in slots:
            if slot not in ontology.informable:
                hint = did_you_mean(slot, ontology.informable)
                problems.add(
                    f"the domain {domain.name!r} has a group {group!r} of a slot the corpus lacks; {hint}",
                    slot=slot,
                )
    problems.raise_errors()


def read_ontology(dataset: Dataset) -> tuple[Ontology, bytes]:
    """The ontology beside the list of sessions; among several, the one the dataset is named after."""
    names = [
        name
        for name in dataset.lists.names(dataset.folder)
        if PurePosixPath(name).name.startswith("ontology") and name.endswith(".json")
    ]
    if len(names) > 1:
        prefix = dataset.name.partition("_")[0]
        names = [name for name in names if PurePosixPath(name).stem.endswith(f"_{prefix}")]
    if len(names) != 1:
        raise InputError(
            "there is no ontology for this dataset",
            path=dataset.lists.place(dataset.folder),
            expected="one file ontology_*.json beside the list of sessions",
            found=f"{len(names)}",
        )
    path = dataset.lists.place(names[0])
    data = dataset.lists.read(names[0])
    try:
        return msgspec.convert(decode_json(data, path), Ontology), data
    except msgspec.ValidationError as error:
        raise InputError(f"the ontology has the wrong form: {error}", path=path) from None


def _label_columns(
    sessions: Sessions[Labels],
    slots: tuple[str, ...],
    requestable: tuple[str, ...],
    vocabulary: Vocabulary,
    problems: Problems,
) -> GoalLabels:
    turns = list(chain.from_iterable(session.labels.turns for session in sessions.all))
    goals = [turn.goal_labels for turn in turns]
    requests = [turn.requested_slots for turn in turns]
    goal = np.zeros((len(turns), len(slots)), dtype=np.int32)
    requested = np.zeros((len(turns), len(requestable)), dtype=bool)
    try:
        column = columns_of(chain.from_iterable(goals), slots)
        requested_column = columns_of(chain.from_iterable(requests), requestable)
    except KeyError:
        _report_unknown_slots(sessions, slots, requestable, problems)
        problems.raise_errors()
        raise
    row = np.repeat(np.arange(len(turns)), list(map(len, goals)))
    goal[row, column] = vocabulary.ids([value for labels in goals for value in labels.values()])
    requested[np.repeat(np.arange(len(turns)), list(map(len, requests))), requested_column] = True
    method = vocabulary.ids([turn.method_label for turn in turns])
    heard = columns_of_acts([turn.semantics.json for turn in turns], vocabulary)
    return GoalLabels(goal, requested, method, heard)


def _report_unknown_slots(
    sessions: Sessions[Labels], slots: tuple[str, ...], requestable: tuple[str, ...], problems: Problems
) -> None:
    for session in sessions.all:
        problems.path = session.label_file
        for number, turn in enumerate(session.labels.turns):
            checker = Checker(problems, session.log.session_id, number)
            for slot in turn.goal_labels:
                checker.at(slot=slot).known(slot, slots, "slot in 'goal-labels'")
            for slot in turn.requested_slots:
                checker.at(slot=slot).known(slot, requestable, "slot in 'requested-slots'")


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a directory in the challenge's layout."""
    root = Path(path)
    for dialog, directory in enumerate(corpus.directories):
        folder = root / "data" / directory
        write_atomic(folder / "log.json", encode_json(write_log(corpus, dialog)))
        write_atomic(folder / "label.json", encode_json(_written_labels(corpus, dialog)))
    config = root / "scripts" / "config"
    prefix = corpus.dataset.partition("_")[0]
    write_atomic(config / f"ontology_{prefix}.json", encode_json(dict(corpus.ontology)))
    lines = "".join(f"{directory}\n" for directory in corpus.directories)
    write_atomic(config / f"{corpus.dataset}.{LIST_EXTENSION}", lines.encode())


def _written_labels(corpus: Corpus, dialog: int) -> dict[str, Any]:
    labels = corpus.labels
    assert isinstance(labels, GoalLabels)
    turns = []
    for number, turn in enumerate(range(corpus.offsets[dialog], corpus.offsets[dialog + 1])):
        turns.append(
            {
                "turn-index": number,
                "goal-labels": {
                    corpus.slots[column]: corpus.vocabulary.value(int(labels.goal[turn, column]))
                    for column in np.flatnonzero(labels.goal[turn] != NONE)
                },
                "method-label": corpus.vocabulary.value(int(labels.method[turn])),
                "requested-slots": [corpus.requestable[i] for i in np.flatnonzero(labels.requested[turn])],
                "semantics": {"json": write_acts(corpus.vocabulary, labels.heard, turn)},
            }
        )
    success = corpus.outcomes.get("success", (np.nan,) * corpus.n_dialogs)[dialog]
    feedback = {"success": None if np.isnan(success) else bool(success)}
    return {"session-id": corpus.sessions[dialog], "turns": turns, "task-information": {"feedback": feedback}}


FORMAT = DSTC2.name


class JointHypothesis(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    slots: dict[str, str]
    score: float


class TrackerTurn(msgspec.Struct, gc=False, rename="kebab", forbid_unknown_fields=True):
    """A turn; the distributions of goals are left as text."""

    goal_labels: dict[str, msgspec.Raw]
    method_label: dict[str, float]
    requested_slots: dict[str, float]
    goal_labels_joint: list[JointHypothesis] | msgspec.UnsetType = msgspec.UNSET


class WholeTurn(TrackerTurn, gc=False, rename="kebab", forbid_unknown_fields=True):
    """A turn with all that is in it."""

    goal_labels: dict[str, dict[str, float]]  # type: ignore[assignment]


_values = methodcaller("values")

DECODER = msgspec.json.Decoder(TrackerFile[TrackerTurn])
DISTRIBUTION = msgspec.json.Decoder(dict[str, float])


def tracker_of_text(data: bytes, path: str, corpus: Corpus, name: str, signature: str) -> TrackerOutput:
    """A tracker file, or the part of one that is about a part of a corpus; InputError with every problem."""
    decoded = _decode(data, corpus)
    if decoded is None:
        refuse_tracker_file(data, path, corpus, _check_turn)
    file, columns = decoded
    output, rankings = build_output(
        corpus,
        name,
        columns.given,
        columns.joint,
        columns.method,
        columns.requested,
        wall_time=file.seconds(),
        signature=signature,
    )
    problems = Problems(path)
    note_joint_only(problems, output.joint_only)
    report_repairs(problems, corpus, rankings.slots, columns.given, corpus.slots)
    report_repairs(problems, corpus, rankings.joint, columns.joint, ["joint"])
    report_repairs(problems, corpus, rankings.method, columns.method, ["method"])
    report_requested_repairs(problems, corpus, columns.requested)
    item = row_of_each(columns.given.offsets)
    turn, slot = np.divmod(item, len(corpus.slots))
    warn_of_values(problems, corpus, "hypotheses", turn, slot, columns.given.value)
    turn = row_of_each(columns.joint.offsets)
    hypothesis, slot = np.nonzero(columns.joint.assignment)
    value = columns.joint.assignment[hypothesis, slot]
    warn_of_values(problems, corpus, "parts of joint hypotheses", turn[hypothesis], slot, value)
    return replace(output, problems=tuple(problems))


@dataclass(frozen=True, eq=False)
class Columns:
    """A tracker file in columns; n_slots_given, n_requested: how many slots its turns name."""

    given: Hypotheses
    n_slots_given: int
    joint: JointHypotheses
    method: Hypotheses
    requested: Floats
    n_requested: int


def _decode(data: bytes, corpus: Corpus) -> tuple[TrackerFile[TrackerTurn], Columns] | None:
    """The file and its columns, or None if anything in it is invalid."""
    try:
        file = DECODER.decode(data)
        if not file.fits(corpus):
            return None
        turns = file.turns()
        columns = Columns(
            *_goal_columns(turns, corpus),
            _joint_columns(turns, corpus),
            _method_columns(turns, corpus),
            *_requested_columns(turns, corpus),
        )
    except (*UNDECODABLE, KeyError):  # KeyError: an unknown slot or method
        return None
    if has_keys(data, _count_keys(file, columns)) or decode_clean(data) is not None:
        return file, columns
    return None


def _count_keys(file: TrackerFile[TrackerTurn], columns: Columns) -> int:
    """How many keys a file with this content has if none is repeated."""
    of_file = 2 + (file.wall_time is not msgspec.UNSET)
    of_joint = 2 * len(columns.joint.score) + np.count_nonzero(columns.joint.assignment != NONE)
    return int(
        of_file
        + 2 * len(file.sessions)
        + 3 * len(columns.joint.given)
        + columns.joint.given.sum()
        + of_joint
        + columns.n_slots_given
        + len(columns.given.value)
        + len(columns.method.value)
        + columns.n_requested
    )


def _check_turn(checker: Checker, value: Any, corpus: Corpus) -> None:
    checker.decoded(value, WholeTurn, "the turn", _place_in_turn)
    if not isinstance(value, dict):
        return
    for key, allowed, what in (
        ("goal-labels", corpus.slots, "slot"),
        ("requested-slots", corpus.requestable, "requestable slot"),
        ("method-label", corpus.ontology.get("method", ()), "method"),
    ):
        for name in value.get(key, ()) if allowed and isinstance(value.get(key), dict) else ():
            at = checker.at(slot="method" if what == "method" else name)
            at.known(name, allowed, f"{what} in {key!r}")
    for hypothesis in listed(value, "goal-labels-joint"):
        slots = hypothesis.get("slots") if isinstance(hypothesis, dict) else None
        for slot in slots if isinstance(slots, dict) else ():
            checker.at(slot="joint").known(slot, corpus.slots, "slot in 'goal-labels-joint'")


def _place_in_turn(keys: Keys) -> dict[str, Any]:
    if keys[:1] == ("method-label",):
        return {"slot": "method"}
    if keys[:1] == ("goal-labels-joint",):
        return {"slot": "joint"}
    return {"slot": keys[1]} if len(keys) > 1 else {}


# The columns are gathered with chains and maps: a tracker file has far more hypotheses than anything
# else, and a Python loop over them would cost more than decoding the file.


def _goal_columns(turns: list[TrackerTurn], corpus: Corpus) -> tuple[Hypotheses, int]:
    goals = [turn.goal_labels for turn in turns]
    turn = np.repeat(np.arange(len(turns)), list(map(len, goals)))
    item = turn * len(corpus.slots) + columns_of(chain.from_iterable(goals), corpus.slots)
    # Beliefs rarely change between turns: only distinct texts of distributions are decoded.
    texts, text_of_row = distinct(map(bytes, chain.from_iterable(map(_values, goals))))
    distributions = list(map(DISTRIBUTION.decode, texts))
    value = corpus.vocabulary.ids(list(chain.from_iterable(distributions)))
    score = _scores(chain.from_iterable(map(_values, distributions)), len(value))
    # Rows as written (slots in any order, some left out) become one row for every (turn, slot).
    row_of_item = np.full(len(turns) * len(corpus.slots), len(texts), dtype=np.int64)
    row_of_item[item] = text_of_row
    offsets, flat = take_rows(offsets_from_lengths([*map(len, distributions), 0]), row_of_item)
    return Hypotheses(offsets, value[flat], score[flat]), len(text_of_row)


def _joint_columns(turns: list[TrackerTurn], corpus: Corpus) -> JointHypotheses:
    lists = [turn.goal_labels_joint for turn in turns]
    has_joint = np.array([joint is not msgspec.UNSET for joint in lists], dtype=bool)
    hypotheses = list(chain.from_iterable(joint for joint in lists if joint is not msgspec.UNSET))
    slots = [hypothesis.slots for hypothesis in hypotheses]
    row = np.repeat(np.arange(len(slots)), list(map(len, slots)))
    assignment = np.full((len(slots), len(corpus.slots)), NONE, dtype=np.int32)
    column = columns_of(chain.from_iterable(slots), corpus.slots)
    assignment[row, column] = corpus.vocabulary.ids(list(chain.from_iterable(map(_values, slots))))
    return JointHypotheses(
        has_joint,
        offsets_from_lengths([0 if joint is msgspec.UNSET else len(joint) for joint in lists]),
        assignment,
        np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64),
    )


def _method_columns(turns: list[TrackerTurn], corpus: Corpus) -> Hypotheses:
    methods = [turn.method_label for turn in turns]
    values = list(chain.from_iterable(methods))
    known_methods = corpus.ontology.get("method")
    if known_methods and not set(known_methods).issuperset(values):
        raise KeyError
    return Hypotheses(
        offsets_from_lengths(list(map(len, methods))),
        corpus.vocabulary.ids(values),
        _scores(chain.from_iterable(map(_values, methods)), len(values)),
    )


def _requested_columns(turns: list[TrackerTurn], corpus: Corpus) -> tuple[Floats, int]:
    requests = [turn.requested_slots for turn in turns]
    row = np.repeat(np.arange(len(turns)), list(map(len, requests)))
    requested = np.zeros((len(turns), len(corpus.requestable)))
    column = columns_of(chain.from_iterable(requests), corpus.requestable)
    requested[row, column] = _scores(chain.from_iterable(map(_values, requests)), len(row))
    return requested, len(row)


def _scores(scores: Iterable[float], count: int) -> Floats:
    return np.fromiter(scores, dtype=np.float64, count=count)


def turn_writer(output: TrackerOutput, corpus: Corpus) -> TurnWriter:
    n_slots = len(corpus.slots)
    value = corpus.vocabulary.value
    # Plain lists: taking elements out of arrays one by one would cost more than everything else.
    goals, methods = _distributions(output.given, corpus), _distributions(output.given_method, corpus)
    has_joint, joint_offsets = output.given_joint.given.tolist(), output.given_joint.offsets.tolist()
    requests: list[dict[str, float]] = [{} for _ in range(corpus.n_turns)]
    for turn, column in zip(*(index.tolist() for index in np.nonzero(output.requested)), strict=True):
        requests[turn][corpus.requestable[column]] = float(output.requested[turn, column])

    def write_joint(row: int) -> dict[str, Any]:
        assignment = output.given_joint.assignment[row]
        columns = np.flatnonzero(assignment != NONE)
        slots = {corpus.slots[column]: value(int(assignment[column])) for column in columns}
        return {"slots": slots, "score": float(output.given_joint.score[row])}

    def write_turn(turn: int) -> dict[str, Any]:
        of_slots = zip(corpus.slots, goals[turn * n_slots : (turn + 1) * n_slots], strict=True)
        written: dict[str, Any] = {
            "goal-labels": {slot: scores for slot, scores in of_slots if scores},
            "method-label": methods[turn],
            "requested-slots": requests[turn],
        }
        if has_joint[turn]:
            rows = range(*joint_offsets[turn : turn + 2])
            written["goal-labels-joint"] = [write_joint(row) for row in rows]
        return written

    return write_turn


def _distributions(hypotheses: Hypotheses, corpus: Corpus) -> list[dict[str, float]]:
    """The values and scores of every item."""
    texts = [str(corpus.vocabulary.value(identity)) for identity in hypotheses.value.tolist()]
    pairs = list(zip(texts, hypotheses.score.tolist(), strict=True))
    offsets = hypotheses.offsets.tolist()
    return [dict(pairs[begin:end]) for begin, end in pairwise(offsets)]
