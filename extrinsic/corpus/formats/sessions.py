"""The layout that both challenges share: the sessions of a dataset, and tracker files that cover the same.

One subject, hence the length: reading sessions, a tracker file's form, and whether its sessions are those.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import msgspec
import numpy as np

from extrinsic.corpus.acts import Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import DIRECTORY, ENDED_BY, Domain
from extrinsic.corpus.formats.datasets import Dataset
from extrinsic.corpus.formats.field_checks import Checker, listed
from extrinsic.corpus.formats.logs import Log, columns_of_logs, conditions_of_log, ended_by
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problems
from extrinsic.storage import content_hash, decode_clean, decode_loosely, report_defects, write_atomic
from extrinsic.typed_files import Keys

L = TypeVar("L", bound=msgspec.Struct)

SHOWN_IDS = 5


class TurnLabels(msgspec.Struct, gc=False, rename="kebab", kw_only=True):
    """What is common to the labels of a turn: a file may say which turn it is."""

    turn_index: int | None = None


class SessionLabels(msgspec.Struct, gc=False, rename="kebab", kw_only=True):
    """What is common to the labels of a session: a file may say which session it is."""

    session_id: str | None = None


@dataclass(frozen=True)
class Session(Generic[L]):
    """The files of a session, decoded, and their names for messages."""

    log: Log
    labels: L
    log_file: str
    label_file: str


@dataclass(frozen=True)
class Sessions(Generic[L]):
    """The sessions of a dataset; conditions: of each; signature: a hash of their files."""

    all: list[Session[L]]
    conditions: dict[str, tuple[str | None, ...]]
    signature: str

    def columns(self, vocabulary: Vocabulary, domain: Domain) -> dict[str, Any]:
        """The fields of Corpus that come from the logs."""
        files = [session.log_file for session in self.all]
        return columns_of_logs([session.log for session in self.all], files, vocabulary, domain)


LabelCheck = Callable[[Checker, list[Any]], None]
"""Reports what is wrong with the labels of turns beyond their types."""


def read_sessions(
    dataset: Dataset,
    domain: Domain,
    log_name: str,
    label_name: str,
    label_type: type[L],
    check_labels: LabelCheck | None = None,
) -> Sessions[L]:
    """Read the log and the labels of every session, or raise InputError with every problem found."""
    sessions: list[Session[L]] = []
    names = [DIRECTORY, *(condition.name for condition in domain.conditions)]
    names += [ENDED_BY] if domain.ended_by is not None else []
    keys = [condition.key for condition in domain.conditions]
    conditions: list[list[str | None]] = []
    problems = Problems()
    digest = hashlib.sha256()
    folder = dataset.session_folder(log_name)
    if folder is None:
        raise InputError(
            f"none of the {len(dataset.directories)} sessions of {dataset.name!r} is here",
            path=str(dataset.tree.path),
            expected=f"{dataset.directories[0]}/{log_name} and so on",
        )
    for directory in dataset.directories:
        files = [f"{folder}{directory}/{name}" for name in (log_name, label_name)]
        contents = _read_files(dataset, directory, files, problems)
        if contents is None:
            continue
        log_data, label_data = contents
        digest.update(len(log_data).to_bytes(8, "little") + log_data)
        digest.update(len(label_data).to_bytes(8, "little") + label_data)
        log_value = decode_clean(log_data)
        log = _convert(log_value, Log)
        labels = _convert(decode_clean(label_data), label_type)
        if log is None or labels is None or not _fits(log, labels):
            _diagnose(dataset, directory, files, contents, label_type, check_labels, problems)
            continue
        sessions.append(Session(log, labels, *map(dataset.tree.place, files)))
        values = [directory.partition("/")[0], *conditions_of_log(log_value, keys)]
        values += [ended_by(log_value, domain.ended_by)] if domain.ended_by is not None else []
        conditions.append(values)
    # Ids that sessions share are reported at the last of them.
    last = {session.log.session_id: session.label_file for session in sessions}
    for identity, count in Counter(session.log.session_id for session in sessions).items():
        if count > 1:
            message = f"{count} sessions of {dataset.name!r} have the same session id"
            problems.add(message, path=last[identity], session=identity)
    problems.raise_errors()
    by_name = dict(zip(names, zip(*conditions, strict=True), strict=True))
    return Sessions(sessions, by_name, digest.hexdigest())


def sign_corpus(form: str, dataset: Dataset, domain: Domain, *contents: bytes | str) -> str:
    """A hash of everything that a corpus is read from."""
    return content_hash(form, dataset.name, *dataset.directories, msgspec.json.encode(domain), *contents)


def _read_files(dataset: Dataset, directory: str, files: list[str], problems: Problems) -> list[bytes] | None:
    """The contents of a session's files, or None and a problem for each that cannot be read."""
    contents = []
    for file in files:
        try:
            contents.append(dataset.tree.read(file))
        except InputError as error:
            problems.extend(replace(problem, session=directory) for problem in error.problems)
    return contents if len(contents) == len(files) else None


def _convert(value: Any, kind: type[L]) -> L | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _fits(log: Log, labels: Any) -> bool:
    return (
        all(turn.turn_index == number for number, turn in enumerate(log.turns))
        and len(labels.turns) == len(log.turns)
        and labels.session_id in (None, log.session_id)
        and all(turn.turn_index in (None, number) for number, turn in enumerate(labels.turns))
        and bool(labels.is_complete())
    )


def _diagnose(
    dataset: Dataset,
    directory: str,
    files: list[str],
    contents: list[bytes],
    label_type: type[msgspec.Struct],
    check_labels: LabelCheck | None,
    problems: Problems,
) -> None:
    """Report what is wrong with a session whose files could not be decoded directly."""
    values: list[Any] = []
    kinds: tuple[type[msgspec.Struct], ...] = (Log, label_type)
    for file, data, kind in zip(files, contents, kinds, strict=True):
        file_problems = Problems(dataset.tree.place(file))
        checker = Checker(file_problems, session=directory)
        try:
            value = decode_loosely(data, dataset.tree.place(file))
        except InputError as error:
            problems.extend(replace(problem, session=directory) for problem in error.problems)
            continue
        what = "the log" if kind is Log else "the label file"
        checker.decoded(value, kind, what, _place_in_session)
        turns = listed(value, "turns")
        for number, turn in enumerate(turns):
            index = turn.get("turn-index", number) if isinstance(turn, dict) else number
            if isinstance(index, int) and index != number:
                checker.at(turn=number).report(
                    "the turn index is out of order", expected=str(number), found=repr(index)
                )
        if kind is not Log and check_labels is not None:
            check_labels(checker, turns)
        values.append(value)
        if len(values) == 2 and all(isinstance(value, dict) for value in values):
            of_log, of_labels = (value.get("session-id") for value in values)
            if of_labels not in (None, of_log):
                checker.report(
                    "the labels are of another session", expected=repr(of_log), found=repr(of_labels)
                )
        if not len(file_problems):
            # Members that are not read must be valid too: a repeated key may be a misspelt one.
            report_defects(value, "", file_problems)
        problems.extend(file_problems)
    counts = [len(listed(value, "turns")) for value in values]
    if len(counts) == 2 and counts[0] != counts[1]:
        problems.add(
            "the labels and the log differ in their number of turns",
            path=dataset.tree.place(files[1]),
            session=directory,
            expected=f"{counts[0]} turns",
            found=str(counts[1]),
        )


def _place_in_session(keys: Keys) -> dict[str, Any]:
    in_turn = keys[:1] == ("turns",) and len(keys) > 1
    place: dict[str, Any] = {"turn": keys[1]} if in_turn else {}
    return place | ({"slot": keys[3]} if keys[2:3] == ("goal-labels",) and len(keys) > 3 else {})


def check_sessions(problems: Problems, corpus: Corpus, ids: Sequence[str], n_turns: Sequence[int]) -> None:
    """Report sessions that are missing, extra, repeated or out of order, and turn counts that differ."""
    _check_same_sessions(problems, corpus, ids)
    expected = dict(zip(corpus.sessions, np.diff(corpus.offsets).tolist(), strict=True))
    for session, count in zip(ids, n_turns, strict=True):
        if session in expected and count != expected[session]:
            problems.add(
                "the number of turns differs from the corpus",
                session=session,
                expected=f"{expected[session]} turns",
                found=str(count),
            )


def _check_same_sessions(problems: Problems, corpus: Corpus, ids: Sequence[str]) -> None:
    expected_ids, actual_ids = set(corpus.sessions), set(ids)
    if not ids:
        problems.add("the file has no sessions", expected=f"{len(corpus.sessions)} sessions", found="none")
        return
    if not expected_ids & actual_ids:
        problems.add(
            f"this file is about another corpus than {corpus.dataset!r}: no session is in both",
            expected=_some(corpus.sessions),
            found=_some(ids),
        )
        return
    for session, count in Counter(ids).items():
        if count > 1:
            problems.add(f"the session occurs {count} times in the file", session=session)
    extra = [session for session in dict.fromkeys(ids) if session not in expected_ids]
    missing = [session for session in corpus.sessions if session not in actual_ids]
    for session in extra:
        problems.add(f"the session is not in the corpus {corpus.dataset!r}", session=session, found=session)
    for session in missing:
        problems.add("a session of the corpus is missing in the file", session=session, expected=session)
    if not extra and not missing and len(ids) == len(corpus.sessions):
        for position, (session, expected) in enumerate(zip(ids, corpus.sessions, strict=True)):
            if session != expected:
                problems.add(
                    f"the sessions are out of order, first at position {position}",
                    session=session,
                    expected=expected,
                    found=session,
                )
                break


def _some(ids: Sequence[str]) -> str:
    rest = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + rest


TurnCheck = Callable[[Checker, Any, Corpus], None]


T = TypeVar("T")


class TrackerSession(msgspec.Struct, Generic[T], gc=False, rename="kebab", forbid_unknown_fields=True):
    session_id: str
    turns: list[T]


class TrackerFile(msgspec.Struct, Generic[T], gc=False, rename="kebab", forbid_unknown_fields=True):
    """A tracker file whose turns are of the type T."""

    sessions: list[TrackerSession[T]]
    dataset: str
    wall_time: float | msgspec.UnsetType = msgspec.UNSET

    def turns(self) -> list[T]:
        return [turn for session in self.sessions for turn in session.turns]

    def seconds(self) -> float | None:
        return None if self.wall_time is msgspec.UNSET else self.wall_time

    def fits(self, corpus: Corpus) -> bool:
        """Whether it covers the corpus's dataset, its sessions in order, and all their turns."""
        same_sessions = tuple(session.session_id for session in self.sessions) == corpus.sessions
        n_turns = [len(session.turns) for session in self.sessions]
        same_dataset = self.dataset == corpus.dataset
        return same_dataset and same_sessions and n_turns == np.diff(corpus.offsets).tolist()


def refuse_tracker_file(data: bytes, path: str, corpus: Corpus, check_turn: TurnCheck) -> NoReturn:
    """Raise InputError with every problem of a tracker file that could not be decoded directly."""
    problems = Problems(path)
    checker = Checker(problems)
    value = decode_loosely(data, path)
    file = checker.object(value, "the file")
    if isinstance(value, dict):
        _check_file(checker, file, corpus, check_turn)
    problems.raise_errors()
    raise AssertionError("a tracker file was refused without a reason")


def _check_file(checker: Checker, file: dict[str, Any], corpus: Corpus, check_turn: TurnCheck) -> None:
    if "sessions" not in file:
        # Most likely a file of another kind; reporting its keys would only be noise.
        checker.member(file, "sessions", "the file")
        return
    checker.decoded(file, TrackerFile[Any], "the file")
    if isinstance(file.get("dataset"), str) and file["dataset"] != corpus.dataset:
        checker.report(
            "the file says it is about another dataset",
            expected=repr(corpus.dataset),
            found=repr(file["dataset"]),
        )
    counts: list[tuple[str, int]] = []
    for number, session in enumerate(listed(file, "sessions")):
        identity = session.get("session-id") if isinstance(session, dict) else None
        turns = listed(session, "turns")
        if isinstance(identity, str):
            counts.append((identity, len(turns)))
        at_session = checker.at(session=identity if isinstance(identity, str) else f"number {number}")
        for position, turn in enumerate(turns):
            check_turn(at_session.at(turn=position), turn, corpus)
    if isinstance(file["sessions"], list):
        check_sessions(checker.problems, corpus, [name for name, _ in counts], [n for _, n in counts])


TurnWriter = Callable[[int], Any]
"""The turn of this number in a tracker's output, as JSON."""


def write_tracker_file(
    path: str | Path,
    output: TrackerOutput,
    corpus: Corpus,
    turn_writer: Callable[[TrackerOutput, Corpus], TurnWriter],
) -> None:
    """Write a tracker file completely or not at all; what the tracker gave is written in its own order."""
    numbers = (output.given.score, output.given_joint.score, output.given_method.score, output.requested)
    if not all(np.isfinite(scores).all() for scores in numbers):
        raise ValueError(f"{output.name}: scores that are not finite cannot be written as JSON")
    file: dict[str, Any] = {"dataset": corpus.dataset}
    if output.wall_time is not None:
        file["wall-time"] = output.wall_time
    write_turn = turn_writer(output, corpus)
    file["sessions"] = [
        {"session-id": session, "turns": [write_turn(turn) for turn in range(begin, end)]}
        for session, (begin, end) in zip(corpus.sessions, pairwise(corpus.offsets.tolist()), strict=True)
    ]
    write_atomic(path, msgspec.json.encode(file) + b"\n")
