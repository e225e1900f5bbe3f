"""Own logs as JSON lines, a turn a line: reading the lines, and that they are in order.

`docs/own_logs.md` documents the fields. Such a log is a corpus where it has N-best lists and labels
(jsonl_corpus.py), and transitions where it has states and rewards (policy/transition_files.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.arrays import Ints, offsets_from_lengths
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.jsonl_fields import LogLine, check_line
from extrinsic.errors import InputError, Problems
from extrinsic.storage import decode_clean, decode_loosely, read_bytes

SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, eq=False)
class LogLines:
    """The turns of a log, dialog by dialog in the order of the file; number (n,): the line of each."""

    path: str
    data: bytes
    lines: list[LogLine]
    number: list[int]
    offsets: Ints

    def place(self, row: int) -> dict[str, Any]:
        """File, line, dialog and turn, for messages."""
        line = self.lines[row]
        return {"path": f"{self.path}:{self.number[row]}", "session": line.dialog, "turn": line.turn}

    def checker(self, problems: Problems, row: int) -> Checker:
        place = self.place(row)
        problems.path = place["path"]
        return Checker(problems, place["session"], place["turn"])

    def missing(self, field: str) -> list[int]:
        """The rows of lines without a field."""
        return [row for row, line in enumerate(self.lines) if getattr(line, field) is None]

    def require(self, fields: Sequence[str], problems: Problems, instead: str) -> None:
        """Report fields that lines lack; of one that no line has, what the log may be good for instead."""
        for field in fields:
            missing = self.missing(field)
            if len(missing) == len(self.lines):
                problems.add(f"no line has {field!r}; {instead}", path=self.path, expected=repr(field))
                continue
            for row in missing:
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
        if not path.is_dir() or file.name.endswith(SUFFIXES)
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
        if not text.strip():
            continue
        line = _decoded(text, f"{path}:{number}", problems)
        if line is not None:
            lines.append(line)
            numbers.append(number)
    if not lines and not problems.has_errors:
        problems.add("the log has no lines")
    problems.raise_errors()
    log = LogLines(str(path), data, lines, numbers, _offsets(lines))
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
        check_line(Checker(problems), decode_loosely(text, place))
    except InputError as error:
        problems.extend(error.problems)
    if len(problems) == before:
        problems.add(f"the line has an unexpected form: {reason}")
    return None


def _offsets(lines: Sequence[LogLine]) -> Ints:
    """Where dialogs begin: a line of another dialog than the one before."""
    lengths: list[int] = []
    for row, line in enumerate(lines):
        if row == 0 or line.dialog != lines[row - 1].dialog:
            lengths.append(0)
        lengths[-1] += 1
    return offsets_from_lengths(lengths)


def _check_order(log: LogLines, problems: Problems, gaps: bool) -> None:
    """Dialogs in one piece, turns 0, 1, 2, ..., and what belongs to a dialog at its first or last line."""
    seen: dict[str, int] = {}
    ending = any(line.end is not None for line in log.lines)
    for begin, end in zip(log.offsets[:-1].tolist(), log.offsets[1:].tolist(), strict=True):
        session = log.lines[begin].dialog
        if session in seen:
            log.checker(problems, begin).report(
                f"the dialog goes on after another one; its other lines end at line {seen[session]}",
                expected="all lines of a dialog together",
            )
        seen[session] = log.number[end - 1]
        for row in range(begin, end):
            checker, line = log.checker(problems, row), log.lines[row]
            if line.turn != row - begin and not gaps:
                checker.report("the turn is out of order", expected=str(row - begin), found=str(line.turn))
            _check_position(checker, line, row == begin, row == end - 1, ending)


def _check_position(checker: Checker, line: LogLine, first: bool, last: bool, ending: bool) -> None:
    if not line.dialog:
        checker.report("the dialog has no name", expected="a text that is not empty")
    if ending and bool(line.end) != last:
        what = "the dialog does not end" if last else "there are turns after the end of the dialog"
        checker.report(what, expected='"end": true at the last turn of every dialog, and only there')
    if line.outcome is not None and not last:
        checker.report("an outcome before the last turn of the dialog", expected="one at the last turn")
    if line.conditions is not None and not first:
        checker.report("conditions after the first turn of the dialog", expected="them at the first turn")
    if line.propensity is not None and line.propensities is not None:
        checker.report("both 'propensity' and 'propensities'", expected="one of them")
    if line.possible is not None and not line.possible:
        checker.report("nothing was possible at the turn", expected="at least one action")


def written_lines(lines: Iterator[dict[str, Any]]) -> bytes:
    """Lines as the bytes of a file, without the fields that are None."""
    encode = msgspec.json.Encoder().encode
    return b"".join(
        encode({key: value for key, value in line.items() if value is not None}) + b"\n" for line in lines
    )
