"""DSTC2/3 corpora: `log.json` and `label.json` per session, `<dataset>.flist`, an ontology."""

from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec
import numpy as np

from extrinsic.corpus.conventions import DSTC2
from extrinsic.corpus.formats.datasets import Dataset, find_dataset
from extrinsic.corpus.formats.field_checks import BY_SLOT, BY_TURN, Checker
from extrinsic.corpus.formats.logs import WrittenAct, columns_of_acts, write_acts, write_log
from extrinsic.corpus.formats.notes import warn_of_values
from extrinsic.corpus.formats.sessions import SessionLabels, Sessions, TurnLabels, read_sessions, sign_corpus
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.requests import METHODS
from extrinsic.corpus.vocabulary import NONE, Vocabulary, columns_of
from extrinsic.domain import Domain
from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import decode_json, encode_json, write_atomic

LIST_EXTENSION = "flist"


class Semantics(msgspec.Struct, gc=False):
    json: list[WrittenAct]


class LabelTurn(TurnLabels, gc=False, rename="kebab"):
    goal_labels: Annotated[dict[str, str], BY_SLOT]
    method_label: str
    requested_slots: list[str]
    semantics: Semantics


class Feedback(msgspec.Struct, gc=False):
    success: bool | None = None


class Task(msgspec.Struct, gc=False):
    feedback: Feedback | None = None


class Labels(SessionLabels, gc=False, rename="kebab"):
    turns: Annotated[list[LabelTurn], BY_TURN]
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
    logged = sessions.logs.build(vocabulary, domain)
    success = {"success": tuple(labels.success() for labels in sessions.labels)}
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
        conditions=sessions.frozen_conditions(),
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
    turns = list(chain.from_iterable(labels.turns for labels in sessions.labels))
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
    for session, labels, file in zip(
        sessions.logs.sessions, sessions.labels, sessions.label_files, strict=True
    ):
        problems.path = file
        for number, turn in enumerate(labels.turns):
            checker = Checker(problems, session, number)
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
