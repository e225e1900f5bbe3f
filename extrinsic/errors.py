"""Errors and problem reports that let the user find and fix what is wrong with an input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

Severity = Literal["error", "repair", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "repair", "warning", "note")

LONGEST_FOUND = 80
LONGEST_PARTS = {"message": 1_000, "path": 1_000, "session": 200, "slot": 200, "expected": 400, "found": 400}
"""Characters of each part of a problem: what comes from a file may be of any length."""

MOST_IN_TEXT = 1_000
INDEX = re.compile(r"(?<=hypothesis )\d+|(?<=\[)\d+(?=\])")
"""Where in a turn: `hypothesis 3`, `route.hyps[3].score`."""


def printable(text: str, longest: int | None = None) -> str:
    """Text from outside as a terminal may show it: on one line, nothing hidden, not beyond a length.

    Escape codes, line breaks, marks that turn the direction of text and the like appear as `\\x1b`, `\\n`,
    `\\u202e`: a name in a file can neither command the terminal nor pretend to be another line.
    """
    text = text if longest is None else shortened(text, longest)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


@dataclass(frozen=True)
class Problem:
    """One defect and its location; parts that are too long to read are shortened.

    An `error` stops the reading. A `repair` is a defect that the scoring rules themselves define how to
    treat (a negative score, scores that sum above 1). A `warning` is something that is probably a mistake,
    and is read as it stands. A `note` is information that changes nothing.
    """

    message: str
    path: str | None = None
    session: str | None = None
    turn: int | None = None
    slot: str | None = None
    expected: str | None = None
    found: str | None = None
    severity: Severity = "error"

    def __post_init__(self) -> None:
        for name, longest in LONGEST_PARTS.items():
            part = getattr(self, name)
            if part is not None and len(part) > longest:
                object.__setattr__(self, name, shortened(part, longest))

    def place(self) -> str:
        """File, session, turn and slot, as far as they are known."""
        parts = [self.path] if self.path else []
        if self.session is not None:
            parts.append(f"session {self.session}")
        if self.turn is not None:
            parts.append(f"turn {self.turn}")
        if self.slot is not None:
            parts.append(f"slot {self.slot}")
        return ", ".join(parts)

    def __str__(self) -> str:
        details = []
        if self.expected is not None:
            details.append(f"expected {self.expected}")
        if self.found is not None:
            details.append(f"found {self.found}")
        text = self.message + (f" ({', '.join(details)})" if details else "")
        place = self.place()
        return printable(f"{place}: {text}" if place else text)


def distinct_lines(problems: Iterable[Problem]) -> list[str]:
    """A line for every distinct problem: its first place, and how often it is there again elsewhere.

    Of turns, those that differ in session, turn and the number of a hypothesis only are the same: a misspelt
    slot is a line, and not one a turn. Of whole sessions each is its own.
    """
    first: dict[Problem, Problem] = {}
    counts: Counter[Problem] = Counter()
    for problem in problems:
        anywhere = problem
        if problem.turn is not None:
            anywhere = replace(problem, message=INDEX.sub("", problem.message), session=None, turn=None)
        first.setdefault(anywhere, problem)
        counts[anywhere] += 1
    return [
        f"{problem}" + (f" - and {counts[key] - 1:,} more like it" if counts[key] > 1 else "")
        for key, problem in first.items()
    ]


class ExtrinsicError(Exception):
    """Anything this package refuses to do; the command line exits with 2 and prints the problems."""

    def __init__(self, problems: str | Problem | Iterable[Problem], **details: Any) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems, **details)]
        elif isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        lines = distinct_lines(self.problems)
        rest = len(lines) - MOST_IN_TEXT
        super().__init__("\n".join([*lines[:MOST_IN_TEXT], f"... and {rest:,} more"] if rest > 0 else lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class InputError(ExtrinsicError):
    """A file that cannot be read as what it should be."""


class OutputError(ExtrinsicError):
    """A file that cannot be written: no space, no permission."""


class UsageError(ExtrinsicError):
    """A request that makes no sense: a name that does not exist, a parameter out of range."""


MOST_ERRORS = 10_000


class Problems:
    """Collects problems, so that a reader can report all of them and not just the first."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        self._items: list[Problem] = []
        self.n_errors = 0

    def add(self, message: str, **details: Any) -> None:
        """Add one; with very many errors, raise them: a file of millions would take all memory to say so."""
        details.setdefault("path", self.path)
        self.extend([Problem(message, **details)])
        if self.n_errors >= MOST_ERRORS:
            message = f"not read any further after {MOST_ERRORS:,} errors"
            self.extend([Problem(message, path=details["path"])])
            self.raise_errors()

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._items.append(problem)
            self.n_errors += problem.severity == "error"

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add the problems of an error that ends the block, and go on after it."""
        try:
            yield
        except ExtrinsicError as error:
            self.extend(error.problems)

    @property
    def has_errors(self) -> bool:
        return self.n_errors > 0

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def raise_errors(self) -> None:
        """Raise InputError if there are errors; everything else that was collected is included in it."""
        if self.has_errors:
            raise InputError(self._items)

    def strict(self) -> None:
        """Turn repairs and warnings into errors."""
        items, self._items, self.n_errors = self._items, [], 0
        self.extend(
            replace(problem, severity="error") if problem.severity in ("repair", "warning") else problem
            for problem in items
        )


def did_you_mean(name: str, options: Iterable[str], limit: int = 40) -> str:
    """A suggestion for an unknown name: the closest option, or the list of options."""
    from difflib import get_close_matches

    name = name[:LONGEST_FOUND]  # comparing takes the square of the length
    names = sorted(set(options))
    by_lower = {option.lower(): option for option in names}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]!r}?"
    if not names:
        return "none is available"
    listed = ", ".join(shortened(option, LONGEST_FOUND) for option in names[:limit])
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"available: {listed}{rest}"


def require_type(name: str, value: object, expected: str, *kinds: type) -> None:
    """Refuse an argument of another type; a truth value is no number."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UsageError(f"{name} has the wrong type", expected=expected, found=shown(value))


def require_count(name: str, value: object, least: int = 0) -> None:
    """Refuse an argument that is no whole number, or too small."""
    require_type(name, value, "a whole number", int)
    if isinstance(value, int) and value < least:
        raise UsageError(f"{name} is out of range", expected=f"at least {least}", found=str(value))


def shown(value: object) -> str:
    """A value as messages show it: its kind and an abbreviated form."""
    kinds = {dict: "object", list: "array", str: "text", bool: "boolean", type(None): "null"}
    kind = kinds.get(type(value), "number" if isinstance(value, int | float) else type(value).__name__)
    if isinstance(value, dict | list):
        return f"{kind} with {len(value)} {'entry' if len(value) == 1 else 'entries'}"
    text = repr(value)
    text = shortened(text, LONGEST_FOUND)
    return "null" if value is None else f"{kind} {text}"
