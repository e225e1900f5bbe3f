"""The common structure of DSTC1 and DSTC2 tracker files: a dataset, its sessions, their turns."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import msgspec
import numpy as np

from extrinsic.corpus.formats.field_checks import Checker, check_type, listed
from extrinsic.corpus.formats.sessions import check_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problems
from extrinsic.storage import decode_loosely, is_longer, read_blocks, read_bytes, writing_atomically

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
    check_type(checker, file, TrackerFile[Any], "the file")
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

AddPart = Callable[[TrackerOutput, Corpus], None]


@contextmanager
def tracker_file(
    path: str | Path, turn_writer: Callable[[TrackerOutput, Corpus], TurnWriter]
) -> Iterator[AddPart]:
    """Write a tracker file completely or not at all: the sessions of a corpus, or of part after part.

    What the tracker gave is written in its own order.
    """
    encode = msgspec.json.Encoder().encode
    n_sessions = 0

    def add(output: TrackerOutput, corpus: Corpus) -> None:
        nonlocal n_sessions
        numbers = (output.given.score, output.given_joint.score, output.given_method.score, output.requested)
        if not all(np.isfinite(scores).all() for scores in numbers):
            raise ValueError(f"{output.name}: scores that are not finite cannot be written as JSON")
        if not n_sessions:
            head: dict[str, Any] = {"dataset": corpus.dataset}
            if output.wall_time is not None:
                head["wall-time"] = output.wall_time
            write(encode(head).removesuffix(b"}") + b',"sessions":[')
        write_turn, ends = turn_writer(output, corpus), corpus.offsets.tolist()
        for number, session in enumerate(corpus.sessions):
            turns = [write_turn(turn) for turn in range(ends[number], ends[number + 1])]
            text = encode({"session-id": session, "turns": turns})
            write(b"," + text if n_sessions else text)
            n_sessions += 1

    with writing_atomically(path) as write:
        yield add
        write(b"]}\n")


SESSION = re.compile(rb'\{\s*"session-id"')
"""Where a session begins: within a text of JSON the quotes would be escaped."""


class TrackerFileParts:
    """A long tracker file, some sessions at a time, each part as the text of a tracker file of its own."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        # One that is compressed is read at once.
        self._blocks = read_blocks(path) if is_longer(path, 0) else iter([read_bytes(path)])
        self._text = b""
        self._head: bytes | None = None

    def take(self, n_sessions: int) -> bytes:
        """The next sessions; the last ones with whatever comes after them."""
        if self._head is None:
            self._text = next(self._blocks)
            first = SESSION.search(self._text)
            if first is None:
                raise InputError(
                    "no session begins in the first part of this long file",
                    path=self.path,
                    expected='{"dataset": ..., "sessions": [{"session-id": ..., "turns": [...]}, ...]}',
                )
            self._head, self._text = self._text[: first.start()], self._text[first.start() :]
        cut = self._find(n_sessions)
        if cut is None:
            text, self._text = self._text, b""
            return self._head + (text or b"]}")
        text, self._text = self._text[:cut], self._text[cut:]
        return self._head + text.rstrip().removesuffix(b",") + b"]}"

    def _find(self, number: int) -> int | None:
        """Where the session of this number begins, the first of those not yet taken being 0."""
        position = 0
        while True:
            for match in SESSION.finditer(self._text, position):
                if not number:
                    return match.start()
                number -= 1
                position = match.end()
            # A beginning may be divided between two blocks.
            position = max(position, self._text.rfind(b"{"))
            block = next(self._blocks, None)
            if block is None:
                return None
            self._text += block

    def require_end(self, dataset: str) -> None:
        """Refuse a file that goes on after the last session of the corpus."""
        if self._text:
            raise InputError(f"the file has more sessions than the corpus {dataset!r}", path=self.path)
