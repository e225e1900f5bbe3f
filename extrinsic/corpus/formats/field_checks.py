"""Diagnosing invalid JSON files: what is wrong, and where.

Readers decode valid files directly into types. Only when that fails is the file read again through a
Checker, which finds every problem and not just the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from extrinsic.errors import Problems, did_you_mean, shown


@dataclass(frozen=True)
class Checker:
    """Reports problems at a location; `at` returns a checker for a nested location."""

    problems: Problems
    session: str | None = None
    turn: int | None = None
    slot: str | None = None

    def at(self, **location: Any) -> Checker:
        return replace(self, **location)

    def report(self, message: str, **details: Any) -> None:
        self.problems.add(message, session=self.session, turn=self.turn, slot=self.slot, **details)

    def object(self, value: Any, what: str) -> dict[str, Any]:
        """The object, or an empty one and a problem; repeated keys are problems too."""
        if not isinstance(value, dict):
            self.report(f"{what} has the wrong kind", expected="an object", found=shown(value))
            return {}
        for key in getattr(value, "keys_repeated", ()):
            self.report(f"the key {key!r} occurs more than once in {what}")
        return value

    def array(self, value: Any, what: str) -> list[Any]:
        if not isinstance(value, list):
            self.report(f"{what} has the wrong kind", expected="an array", found=shown(value))
            return []
        return value

    def text(self, value: Any, what: str) -> str | None:
        if not isinstance(value, str):
            self.report(f"{what} has the wrong kind", expected="text", found=shown(value))
            return None
        return value

    def boolean(self, value: Any, what: str) -> None:
        if not isinstance(value, bool):
            self.report(f"{what} has the wrong kind", expected="true or false", found=shown(value))

    def score(self, value: Any, what: str = "the score") -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.report(f"{what} has the wrong kind", expected="a number", found=shown(value))
        elif not is_finite(value):
            shown_number = str(value) if isinstance(value, float) else "a whole number too large"
            self.report(f"{what} is not finite", expected="a finite number", found=shown_number)

    def member(self, value: dict[str, Any], key: str, what: str) -> Any:
        """value[key]; if it is missing, report a problem and return Missing."""
        if key not in value:
            self.report(f"{what} lacks {key!r}", expected=repr(key), found=keys_of(value))
            return Missing
        return value[key]

    def known(self, name: str, allowed: Iterable[str], what: str) -> bool:
        options = list(allowed)
        if name in options:
            return True
        self.report(
            f"unknown {what}; {did_you_mean(name, options)}", expected=one_of(options), found=repr(name)
        )
        return False

    def only(self, value: dict[str, Any], allowed: Iterable[str], what: str) -> None:
        """Report unexpected keys: a misspelt one would otherwise be ignored silently."""
        options = list(allowed)
        for key in value:
            if key not in options:
                self.report(
                    f"unknown key in {what}; {did_you_mean(key, options)}",
                    expected=one_of(options),
                    found=repr(key),
                )


def keys_of(value: dict[str, Any], most: int = 5) -> str:
    rest = f" and {len(value) - most} more" if len(value) > most else ""
    return f"the keys {', '.join(map(repr, list(value)[:most]))}{rest}" if value else "no keys"


def one_of(options: list[str], most: int = 10) -> str:
    """A list of names for a message."""
    rest = f" and {len(options) - most} more" if len(options) > most else ""
    return f"one of {', '.join(options[:most])}{rest}"


def is_finite(value: float) -> bool:
    """Whether a number is finite; False for an integer too large for a float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


def is_plain(value: Any) -> bool:
    """Whether the value of a pair is text or a number (which compares as text)."""
    return isinstance(value, str) or (
        isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)
    )


class Missing:
    """What `Checker.member` returns for a missing member."""


def check_acts(checker: Checker, acts: Any, what: str) -> None:
    """[{act, slots: [[slot, value], ...]}, ...]"""
    for number, act in enumerate(checker.array(acts, what)):
        act_name = f"act {number} of {what}"
        entry = checker.object(act, act_name)
        if not entry:
            continue
        name = checker.member(entry, "act", act_name)
        if name is not Missing:
            checker.text(name, f"the name of {act_name}")
        slots = checker.member(entry, "slots", act_name)
        if slots is Missing:
            continue
        for pair in checker.array(slots, f"the slots of {act_name}"):
            good = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
            if not good or not (pair[1] is None or is_plain(pair[1])):
                checker.report(
                    f"a slot of {act_name} is not a pair", expected="[slot, value]", found=repr(pair)[:80]
                )
