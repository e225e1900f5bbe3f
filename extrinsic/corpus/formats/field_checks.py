"""Diagnosing invalid JSON files: what is wrong, and where.

Readers decode valid files directly into types. Only when that fails is the value walked once more
(typed_files.Walk), which finds every fault and not just the first; a format knows their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from extrinsic.errors import Problems, did_you_mean
from extrinsic.typed_files import Fault, Keys, Walk, dotted, keys_of, one_of

T = TypeVar("T")

PlaceOf = Callable[[Keys], dict[str, Any]]
"""The turn and the slot that the keys of a value lead to, as far as they do."""


def nowhere(keys: Keys) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Checker:
    """Reports problems at a location; `at` returns a checker for a nested location.

    is_clean: no key is repeated and no number infinite, so that whatever msgspec converts is right.
    """

    problems: Problems
    session: str | None = None
    turn: int | None = None
    slot: str | None = None
    is_clean: bool = False

    def at(self, **location: Any) -> Checker:
        return replace(self, **location)

    def report(self, message: str, **details: Any) -> None:
        self.problems.add(message, session=self.session, turn=self.turn, slot=self.slot, **details)

    def decoded(self, value: Any, kind: type[T], what: str, place: PlaceOf = nowhere) -> T | None:
        """The value as a type; None, and every fault at its place, where it does not fit.

        what: the value in words; its parts are named by their keys, those of a turn by the keys within it.
        """
        try:
            decoded = msgspec.convert(value, kind)
            if self.is_clean:
                return decoded
            reason = ""
        except msgspec.ValidationError as error:
            decoded, reason = None, str(error)
        faults = Walk(json=True).faults(value, kind)
        for fault in faults:
            # A key that is missing or unknown is a fault of the object that should have it.
            owner = fault.keys[:-1] if fault.of_key else fault.keys
            where = place(owner)
            inner = owner[owner.index(where["turn"]) + 1 :] if "turn" in where else owner
            name = repr(dotted(inner)) if inner else "the turn" if "turn" in where else what
            self.at(**where).report(_sentence(fault, name), expected=fault.expected, found=fault.found)
        if reason and not faults:
            self.report(f"{what} has an unexpected form: {reason}")
        return None if faults else decoded

    def object(self, value: Any, what: str) -> dict[str, Any]:
        """The object, or an empty one and a problem; repeated keys are problems too."""
        for key in getattr(value, "keys_repeated", ()):
            self.report(f"the key {key!r} occurs more than once in {what}")
        return value if isinstance(value, dict) else self.decoded(value, dict[str, Any], what) or {}

    def array(self, value: Any, what: str) -> list[Any]:
        return value if isinstance(value, list) else self.decoded(value, list[Any], what) or []

    def text(self, value: Any, what: str) -> str | None:
        return value if isinstance(value, str) else self.decoded(value, str, what)

    def member(self, value: dict[str, Any], key: str, what: str) -> Any:
        """value[key]; if it is missing, report a problem and return Missing."""
        if key not in value:
            self.report(f"{what} lacks {key!r}", expected=repr(key), found=keys_of(value))
            return Missing
        return value[key]

    def array_in(self, value: dict[str, Any], key: str, what: str) -> list[Any]:
        """The array value[key]; if it is missing or none, an empty one and a problem."""
        array = self.member(value, key, what)
        return [] if array is Missing else self.array(array, repr(key))

    def known(self, name: str, allowed: Iterable[str], what: str) -> bool:
        options = list(allowed)
        if name not in options:
            hint = did_you_mean(name, options)
            self.report(f"unknown {what}; {hint}", expected=one_of(options), found=repr(name))
        return name in options


def _sentence(fault: Fault, name: str) -> str:
    if fault.of_key:
        unknown = f"unknown key in {name}{fault.message.removeprefix('unknown')}"
        return f"{name} lacks {fault.keys[-1]!r}" if fault.message == "missing" else unknown
    if fault.message.startswith("the key"):
        return f"{fault.message} in {name}"
    states = {"wrong kind": " has the wrong kind", "not finite": " is not finite", "empty": " is empty"}
    state = states.get(fault.message)
    return f"{name}{state or f': {fault.message}'}"


class Missing:
    """What `Checker.member` returns for a missing member."""


def listed(value: Any, key: str) -> list[Any]:
    """value[key] if there is such a list, whatever value is."""
    items = value.get(key) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []
