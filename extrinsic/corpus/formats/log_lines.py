"""Own logs as JSON lines, a turn a line: the fields of a line, reading them, and that they are in order.

`docs/own_logs.md` documents the fields. Such a log is a corpus where it has N-best lists and labels
(jsonl.py), and transitions where it has states and rewards (policy/decision_tables.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.logs import WrittenAct
from extrinsic.errors import InputError, Problems
from extrinsic.storage import decode_clean, decode_loosely, read_bytes
from extrinsic.typed_files import Keys


class Heard(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A hypothesis of what the caller said."""

    acts: list[WrittenAct]
    score: float


class Labels(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What the caller wants at the turn, asks for, by which method, and truly said."""

    goal: dict[str, str]
    requested: list[str] = []
    method: str | None = None
    said: list[WrittenAct] = []


class LogLine(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A turn; what is missing or null was not logged. docs/own_logs.md has an example of every field."""

    dialog: str
    turn: int
    system: list[WrittenAct] | None = None
    action: str | None = None
    nbest: list[Heard] | None = None
    state: dict[str, float] | None = None
    discrete: dict[str, int | str] | None = None
    propensity: float | None = None
    propensities: dict[str, float] | None = None
    possible: list[str] | None = None
    reward: float | None = None
    labels: Labels | None = None
    outcome: dict[str, float] | None = None
    conditions: dict[str, str] | None = None
    restart: bool = False
    end: bool | None = None


@dataclass(frozen=True, eq=False)
class LogLines:
    """The turns of a log, dialog by dialog in the order of the file.

    number (n,): the line of each.   fields: those that any line has.
    """

    path: str
    data: bytes
    lines: list[LogLine]
    number: list[int]
    offsets: Ints
    fields: frozenset[str]

    def place(self, row: int) -> dict[str, Any]:
        """File, line, dialog and turn, for messages."""
        line = self.lines[row]
        return {"path": f"{self.path}:{self.number[row]}", "session": line.dialog, "turn": line.turn}

    def checker(self, problems: Problems, row: int) -> Checker:
        place = self.place(row)
        problems.path = place["path"]
        return Checker(problems, place["session"], place["turn"])

    def places(self) -> Iterator[tuple[str, str, int]]:
        """Dialog, file and line, and turn, of every line."""
        for row, line in enumerate(self.lines):
            yield line.dialog, f"{self.path}:{self.number[row]}", line.turn

    def missing(self, field: str) -> list[int]:
        """The rows of lines without a field."""
        return [row for row, line in enumerate(self.lines) if getattr(line, field) is None]

    def require(self, fields: Sequence[str], problems: Problems, instead: str) -> None:
        """Report fields that lines lack; of one that no line has, what the log may be good for instead."""
        for field in fields:
            if field not in self.fields:
                problems.add(f"no line has {field!r}; {instead}", path=self.path, expected=repr(field))
                continue
            for row in self.missing(field):
                problems.add(f"the line lacks {field!r}", expected=repr(field), **self.place(row))

    @property
    def last(self) -> list[int]:
        """The last row of every dialog."""
        return [int(end) - 1 for end in self.offsets[1:]]


def log_files(path: str | Path) -> dict[str, Path]:
    """The logs at a path, by name: a file, or the .jsonl and .jsonl.gz files of a folder."""
    path = Path(path)
    paths = sorted(path.iterdir()) if path.is_dir() else [path]
    return {
        file.name.removesuffix(".gz").removesuffix(".jsonl"): file
        for file in paths
        if not path.is_dir() or file.name.endswith((".jsonl", ".jsonl.gz"))
    }


def read_lines(path: str | Path, gaps: bool = False) -> LogLines:
    """The lines of a log, or InputError with every line that is malformed or out of place.

    gaps: whether turns may be left out, as those are that are no decisions.
    """
    data = read_bytes(path)
    problems = Problems(str(path))
    lines: list[LogLine] = []
    numbers: list[int] = []
    for number, text in enumerate(data.splitlines(), start=1):
        line = _decoded(text, f"{path}:{number}", problems) if text.strip() else None
        if line is not None:
            lines.append(line)
            numbers.append(number)
    if not lines and not problems.has_errors:
        problems.add("the log has no lines")
    problems.raise_errors()
    names = LogLine.__struct_fields__
    fields = frozenset(name for name in names if any(getattr(line, name) is not None for line in lines))
    # A dialog begins at a line of another one than the line before.
    begins = [row for row, line in enumerate(lines) if row == 0 or line.dialog != lines[row - 1].dialog]
    log = LogLines(str(path), data, lines, numbers, np.array([*begins, len(lines)]), fields)
    _check_order(log, problems, gaps)
    problems.raise_errors()
    return log


def _decoded(text: bytes, place: str, problems: Problems) -> LogLine | None:
    """A line, or None and what is wrong with it."""
    try:
        return msgspec.convert(decode_clean(text), LogLine)
    except msgspec.ValidationError as error:
        reason = str(error)
    before = len(problems)
    problems.path = place
    try:
        value = decode_loosely(text, place)
        line = value if isinstance(value, dict) else {}
        session, turn = line.get("dialog"), line.get("turn")
        checker = Checker(problems).at(
            session=session if isinstance(session, str) else None,
            turn=turn if isinstance(turn, int) and not isinstance(turn, bool) else None,
        )
        checker.decoded(value, LogLine, "the line", _place_in_line)
    except InputError as error:
        problems.extend(error.problems)
    if len(problems) == before:
        problems.add(f"the line has an unexpected form: {reason}")
    return None


def _place_in_line(keys: Keys) -> dict[str, Any]:
    return {"slot": keys[2]} if keys[:2] == ("labels", "goal") and len(keys) > 2 else {}


def _check_order(log: LogLines, problems: Problems, gaps: bool) -> None:
    """Dialogs in one piece, turns 0, 1, 2, ..., and what belongs to a dialog at its first or last line."""
    last_lines: dict[str, int] = {}
    ending = "end" in log.fields
    for begin, end in zip(log.offsets[:-1].tolist(), log.offsets[1:].tolist(), strict=True):
        session = log.lines[begin].dialog
        if session in last_lines:
            log.checker(problems, begin).report(
                f"the dialog goes on after another one; its other lines end at line {last_lines[session]}",
                expected="all lines of a dialog together",
            )
        last_lines[session] = log.number[end - 1]
        for row in range(begin, end):
            line, first, last = log.lines[row], row == begin, row == end - 1
            if line.turn != row - begin and not gaps:
                log.checker(problems, row).report(
                    "the turn is out of order", expected=str(row - begin), found=str(line.turn)
                )
            for message, expected in _misplaced(line, first, last, ending):
                log.checker(problems, row).report(message, expected=expected)


def _misplaced(line: LogLine, first: bool, last: bool, ending: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with a line at its place, and what was expected."""
    if not line.dialog:
        yield "the dialog has no name", "a text that is not empty"
    if ending and bool(line.end) != last:
        what = "the dialog does not end" if last else "there are turns after the end of the dialog"
        yield what, '"end": true at the last turn of every dialog, and only there'
    if line.outcome is not None and not last:
        yield "an outcome before the last turn of the dialog", "one at the last turn"
    if line.conditions is not None and not first:
        yield "conditions after the first turn of the dialog", "them at the first turn"
    if line.propensity is not None and line.propensities is not None:
        yield "both 'propensity' and 'propensities'", "one of them"
    if line.possible is not None and not line.possible:
        yield "nothing was possible at the turn", "at least one action"


def written_lines(lines: Iterator[dict[str, Any]]) -> bytes:
    """Lines as the bytes of a file, without the fields that are None."""
    encode = msgspec.json.Encoder().encode
    return b"".join(
        encode({key: value for key, value in line.items() if value is not None}) + b"\n" for line in lines
    )
