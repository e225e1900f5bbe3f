"""Diagnosing invalid JSON files: what is wrong, and where.

Readers decode valid files directly into types. Only when that fails is the file read again through a
Checker, which finds every problem and not just the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import msgspec
from msgspec.inspect import (
    BoolType,
    DictType,
    FloatType,
    IntType,
    ListType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    TupleType,
    Type,
    UnionType,
    type_info,
)

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
        if not self._is(value, dict, "an object", what):
            return {}
        for key in getattr(value, "keys_repeated", ()):
            self.report(f"the key {key!r} occurs more than once in {what}")
        entry: dict[str, Any] = value
        return entry

    def array(self, value: Any, what: str) -> list[Any]:
        return value if self._is(value, list, "an array", what) else []

    def text(self, value: Any, what: str) -> str | None:
        return value if self._is(value, str, "text", what) else None

    def boolean(self, value: Any, what: str) -> None:
        self._is(value, bool, "true or false", what)

    def score(self, value: Any, what: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong_kind(value, "a number", what)
        elif not is_finite(value):
            shown_number = str(value) if isinstance(value, float) else "a whole number too large"
            self.report(f"{what} is not finite", expected="a finite number", found=shown_number)

    def _is(self, value: Any, kind: type | tuple[type, ...], expected: str, what: str) -> bool:
        if not isinstance(value, kind):
            self.wrong_kind(value, expected, what)
        return isinstance(value, kind)

    def wrong_kind(self, value: Any, expected: str, what: str) -> None:
        self.report(f"{what} has the wrong kind", expected=expected, found=shown(value))

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


def listed(value: Any, key: str) -> list[Any]:
    """value[key] if there is such a list, whatever value is."""
    items = value.get(key) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []


BY_TURN = msgspec.Meta(extra={"by": "turn"})
"""Annotates a list: its entries are the turns of the session."""

BY_SLOT = msgspec.Meta(extra={"by": "slot"})
"""Annotates an object: its keys are slots."""


def known_keys(what: str, **place: str) -> msgspec.Meta:
    """Annotates an object: which of the names given to `check_type` its keys must be among."""
    return msgspec.Meta(extra={"known": what, **place})


def check_type(
    checker: Checker, value: Any, kind: Any, what: str, names: Mapping[str, Collection[str]] | None = None
) -> None:
    """Report everything for which msgspec would not convert a JSON value to a type, not just the first.

    what: the value in words; parts of it are named by their path.   names: those that keys must be among.
    """
    before = len(checker.problems)
    _Walk(what, names or {}).check(checker, value, type_info(kind), "", {})
    if len(checker.problems) == before:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            checker.report(f"{what} has an unexpected form: {error}")


@dataclass(frozen=True)
class _Walk:
    """Compares a value with a type, part by part; extra: the annotations of the type."""

    what: str
    names: Mapping[str, Collection[str]]

    def check(self, checker: Checker, value: Any, kind: Type, path: str, extra: Mapping[str, str]) -> None:
        name = repr(path) if path else self.what
        match kind:
            case Metadata():
                inner = {} if kind.extra is None else kind.extra
                at = checker.at(slot=inner["slot"]) if "slot" in inner else checker
                self.check(at, value, kind.type, path, inner)
            case UnionType():
                options = [option for option in kind.types if not isinstance(option, NoneType)]
                if value is None and kind.includes_none:
                    return
                if len(options) == 1:
                    self.check(checker, value, options[0], path, extra)
                elif not any(_is_of(value, option) for option in options):
                    expected = " or ".join(sorted({KINDS[type(option)] for option in options}))
                    checker.wrong_kind(value, expected, name)
            case StructType():
                self._check_members(checker, value, kind, path, name)
            case DictType():
                for key, item in checker.object(value, name).items():
                    at = checker.at(slot=key) if extra.get("by") == "slot" else checker
                    known = self.names.get(extra.get("known", ""))
                    if known:
                        at.known(key, known, f"{extra['known']} in {name}")
                    self.check(at, item, kind.value_type, _joined(path, key), {})
            case ListType():
                items = checker.array(value, name)
                if value == [] and kind.min_length:
                    checker.report(f"{name} is empty", expected="at least one entry")
                by_turn = extra.get("by") == "turn"
                for number, item in enumerate(items):
                    if by_turn:
                        turn = _Walk("the turn", self.names)
                        turn.check(checker.at(turn=number), item, kind.item_type, "", {})
                    else:
                        self.check(checker, item, kind.item_type, f"{path}[{number}]", {})
            case TupleType():
                if not isinstance(value, list) or len(value) != len(kind.item_types):
                    expected = f"an array with {len(kind.item_types)} entries"
                    checker.wrong_kind(value, expected, name)
                    return
                for number, (item, of_item) in enumerate(zip(value, kind.item_types, strict=True)):
                    self.check(checker, item, of_item, f"{path}[{number}]", {})
            case StrType():
                checker.text(value, name)
            case BoolType():
                checker.boolean(value, name)
            case FloatType():
                checker.score(value, name)
            case IntType() if isinstance(value, bool) or not isinstance(value, int):
                checker.wrong_kind(value, "a whole number", name)

    def _check_members(self, checker: Checker, value: Any, kind: StructType, path: str, name: str) -> None:
        entry = checker.object(value, name)
        if not isinstance(value, dict):
            return
        if kind.forbid_unknown_fields:
            checker.only(entry, [field.encode_name for field in kind.fields], name)
        for field in kind.fields:
            if field.encode_name in entry:
                inner = _joined(path, field.encode_name)
                self.check(checker, entry[field.encode_name], field.type, inner, {})
            elif field.required:
                checker.member(entry, field.encode_name, name)


KINDS: dict[type[Type], str] = {StrType: "text", IntType: "a whole number", FloatType: "a number"}
"""What a value may be of which there are several kinds."""


def _is_of(value: Any, kind: Type) -> bool:
    kinds = {StrType: str, IntType: int, FloatType: int | float}[type(kind)]
    return is_plain(value) and isinstance(value, kinds)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
