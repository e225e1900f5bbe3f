"""The common structure of DSTC1 and DSTC2 tracker files: a dataset, its sessions, their turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

import msgspec
import numpy as np

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.sessions import check_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import Problems
from extrinsic.storage import decode_loosely

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
    checker.only(file, ("dataset", "wall-time", "sessions"), "the file")
    dataset = checker.member(file, "dataset", "the file")
    if dataset is not Missing and dataset != corpus.dataset:
        checker.report(
            "the file says it is about another dataset", expected=repr(corpus.dataset), found=repr(dataset)
        )
    if "wall-time" in file:
        checker.score(file["wall-time"], "'wall-time'")
    if not isinstance(file["sessions"], list):
        checker.array(file["sessions"], "'sessions'")
        return
    ids: list[str] = []
    counts: list[int] = []
    for number, value in enumerate(file["sessions"]):
        session = checker.object(value, f"session {number} of the file")
        identity = checker.member(session, "session-id", f"session {number} of the file")
        named = identity is not Missing and checker.text(identity, f"the id of session {number}") is not None
        session_checker = checker.at(session=identity if named else f"number {number}")
        session_checker.only(session, ("session-id", "turns"), "the session")
        turns = session_checker.member(session, "turns", "the session")
        turns = [] if turns is Missing else session_checker.array(turns, "'turns'")
        if named:
            ids.append(identity)
            counts.append(len(turns))
        for position, turn in enumerate(turns):
            check_turn(session_checker.at(turn=position), turn, corpus)
    check_sessions(checker.problems, corpus, ids, counts)


def tracker_file(output: TrackerOutput, corpus: Corpus, write_turn: Callable[[int], Any]) -> dict[str, Any]:
    """A tracker file as JSON, its turns written by `write_turn`."""
    sessions = [
        {
            "session-id": session,
            "turns": [write_turn(turn) for turn in range(corpus.offsets[i], corpus.offsets[i + 1])],
        }
        for i, session in enumerate(corpus.sessions)
    ]
    file: dict[str, Any] = {"dataset": corpus.dataset}
    if output.wall_time is not None:
        file["wall-time"] = output.wall_time
    return {**file, "sessions": sessions}
