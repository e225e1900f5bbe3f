"""Own logs as JSON lines, a turn a line: reading the lines, and that they are in order.

`docs/own_logs.md` documents the fields. Such a log is a corpus where it has N-best lists and labels
(jsonl_corpus.py), and transitions where it has states and rewards (policy/transition_files.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as field_with
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.arrays import Ints, offsets_from_lengths
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.formats.jsonl_fields import FIELDS, LogLine, check_line
from extrinsic.errors import InputError, Problems
from extrinsic.storage import UNDECODABLE, decode_clean, decode_loosely, read_blocks, read_bytes

SUFFIXES = (".jsonl", ".jsonl.gz")
NO_LINES = "the log has no lines"


@dataclass
class LogContents:
    """What lines of a log have at all: fields, whether any label has a method, which slots are requested."""

    fields: set[str] = field_with(default_factory=set)
    has_method: bool = False
    requested: set[str] = field_with(default_factory=set)

    def add(self, lines: Iterable[LogLine]) -> LogContents:
        absent = [name for name in FIELDS if name not in self.fields]
        for line in lines:
            if absent and (present := [name for name in absent if getattr(line, name) is not None]):
                self.fields.update(present)
                absent = [name for name in absent if name not in present]
            if line.labels is not None:
                self.has_method = self.has_method or line.labels.method is not None
                self.requested.update(line.labels.requested)
        return self


@dataclass(frozen=True, eq=False)
class LogLines:
    """The turns of a log, dialog by dialog in the order of the file; number (n,): the line of each.

    contents: of the whole log, where these lines are a part of it.
    """

    path: str
    data: bytes
    lines: list[LogLine]
    number: list[int]
    offsets: Ints
    contents: LogContents

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
            if field not in self.contents.fields:
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
        if not path.is_dir() or file.name.endswith(SUFFIXES)
    }


def read_lines(path: str | Path, gaps: bool = False) -> LogLines:
    """The lines of a log, or InputError with every line that is malformed or out of place.

    gaps: whether turns may be left out, as those are that are no decisions.
    """
    data = read_bytes(path)
    problems = Problems(str(path))
    lines, numbers = _decoded_lines(enumerate(data.splitlines(), start=1), str(path), problems)
    if not lines and not problems.has_errors:
        problems.add(NO_LINES)
    problems.raise_errors()
    contents = LogContents().add(lines)
    log = LogLines(str(path), data, lines, numbers, _offsets(lines), contents)
    _check_order(log, problems, gaps, {})
    problems.raise_errors()
    return log


def read_line_parts(
    path: str | Path, contents: LogContents, n_dialogs: int, problems: Problems
) -> Iterator[LogLines]:
    """The lines of a log in parts of so many dialogs, without those parts that have problems.

    After a malformed line nobody knows which lines are in order: from there on only such ones are reported.
    """
    last_lines: dict[str, int] = {}
    lines: list[LogLine] = []
    numbers: list[int] = []
    n_read = 0
    malformed = False

    def checked(n_lines: int) -> Iterator[LogLines]:
        offsets = _offsets(lines[:n_lines])
        log = LogLines(str(path), b"", lines[:n_lines], numbers[:n_lines], offsets, contents)
        del lines[:n_lines], numbers[:n_lines]
        before = problems.n_errors
        _check_order(log, problems, False, last_lines)
        if problems.n_errors == before:
            yield log

    for texts in _text_blocks(path):
        before = problems.n_errors
        decoded = _decoded_lines(enumerate(texts, start=n_read + 1), str(path), problems)
        n_read += len(texts)
        malformed = malformed or problems.n_errors > before
        if malformed:
            continue
        lines += decoded[0]
        numbers += decoded[1]
        # The last dialog may go on in the next block.
        while len(begins := _offsets(lines)) > n_dialogs + 1:
            yield from checked(int(begins[n_dialogs]))
    if lines and not malformed:
        yield from checked(len(lines))
    if not last_lines and not malformed:
        problems.add(NO_LINES, path=str(path))


def contents_of_file(path: str | Path) -> LogContents:
    """What the lines of a log have; malformed ones are left to whoever reads them."""
    contents = LogContents()
    decoder = msgspec.json.Decoder(LogLine)

    def decoded(texts: Sequence[bytes]) -> Iterator[LogLine]:
        for text in texts:
            try:
                yield decoder.decode(text)
            except UNDECODABLE:
                continue

    for texts in _text_blocks(path):
        contents.add(decoded(texts))
    return contents


def _text_blocks(path: str | Path) -> Iterator[list[bytes]]:
    """The texts of some whole lines at a time."""
    rest = b""
    for block in read_blocks(path):
        whole, newline, after = block.rpartition(b"\n")
        if newline:
            yield (rest + whole).splitlines()
        rest = after if newline else rest + block
    if rest:
        yield rest.splitlines()


def _decoded_lines(
    texts: Iterable[tuple[int, bytes]], path: str, problems: Problems
) -> tuple[list[LogLine], list[int]]:
    """The lines that are well formed, and the number of each."""
    lines: list[LogLine] = []
    numbers: list[int] = []
    for number, text in texts:
        if not text.strip():
            continue
        line = _decoded(text, f"{path}:{number}", problems)
        if line is not None:
            lines.append(line)
            numbers.append(number)
    return lines, numbers


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
    before = None
    for line in lines:
        if line.dialog != before:
            lengths.append(0)
            before = line.dialog
        lengths[-1] += 1
    return offsets_from_lengths(lengths)


def _check_order(log: LogLines, problems: Problems, gaps: bool, last_lines: dict[str, int]) -> None:
    """Dialogs in one piece, turns 0, 1, 2, ..., and what belongs to a dialog at its first or last line.

    last_lines: the last line of every dialog so far; those of this part are added.
    """
    ending = "end" in log.contents.fields
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
