"""Printed forms `name(part, key=value)`: what is typed is what a thing is.

The options of a dataclass are its fields of the form
`none: Annotated[float, option("votes for None", gt=0.0, le=10.0)] = 0.5`: they are the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from extrinsic.errors import UsageError, did_you_mean

_FORM = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\((?P<inside>.*)\))?\s*", re.DOTALL)


class PrintedForm(NamedTuple):
    """A name, the parts that stand without a key, and the keys with their values, as they were typed."""

    name: str
    parts: tuple[str, ...]
    named: dict[str, str]


def split_form(text: str) -> PrintedForm | None:
    """The pieces of a printed form; None for a text that is none."""
    match = _FORM.fullmatch(text)
    if match is None or text.count("(") != text.count(")"):
        return None
    parts: list[str] = []
    named: dict[str, str] = {}
    for argument in _between_commas(match["inside"] or ""):
        if "=" not in argument.partition("(")[0]:
            parts += [argument.strip()] if argument.strip() else []
            continue
        key, _, value = (piece.strip() for piece in argument.partition("="))
        if key in named:
            raise UsageError(f"the parameter {key!r} occurs twice in {text!r}")
        named[key] = value
    return PrintedForm(match["name"], tuple(parts), named)


def _between_commas(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def printed_form(name: str, parts: Iterable[object], named: Mapping[str, Any]) -> str:
    """The form of a name; without brackets where there is nothing to say."""
    inside = [*map(str, parts), *(f"{key}={value_text(value)}" for key, value in named.items())]
    return f"{name}({', '.join(inside)})" if inside else name


def value_text(value: Any) -> str:
    """A value as short as it can be read back, whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def option(
    what: str, drawn: Iterable[float] = (), *, ge: float = 0.0, gt: float | None = None, le: float = 1.0
) -> msgspec.Meta:
    """What an option means, the values that are drawn of it (of words: all), and its bounds, gt for ge."""
    extra = {"drawn": tuple(drawn)}
    if gt is None:
        return msgspec.Meta(description=what, extra=extra, ge=ge, le=le)
    return msgspec.Meta(description=what, extra=extra, gt=gt, le=le)


@dataclass(frozen=True)
class Option:
    """A parameter that can be typed.

    kind: its type, a number or one of some words.   default: NODEFAULT for one that has to be given.
    """

    name: str
    kind: Any
    meta: msgspec.Meta
    default: Any

    @property
    def drawn(self) -> tuple[Any, ...]:
        return self._words or (self.meta.extra or {})["drawn"]

    @property
    def expected(self) -> str:
        if self._words:
            return " | ".join(self._words)
        begin = f"from {self.meta.ge:g}" if self.meta.gt is None else f"above {self.meta.gt:g}"
        return f"{'a whole number' if self.kind is int else 'a number'} {begin} to {self.meta.le:g}"

    @property
    def _words(self) -> tuple[str, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    def read(self, whose: str, text: str) -> Any:
        if self._words:
            if text not in self._words:
                raise UsageError(f"{whose} has no {self.name} {text!r}; {did_you_mean(text, self._words)}")
            return text
        try:
            value = self.kind(text)
            low, high = self.meta.ge if self.meta.gt is None else self.meta.gt, self.meta.le
            if not low <= value <= high or value == self.meta.gt:
                raise ValueError
        except ValueError:
            out_of_range = f"{whose}: {self.name} is out of range"
            raise UsageError(out_of_range, expected=self.expected, found=text) from None
        return value


def options_of(target: type[Any]) -> dict[str, Option]:
    """The options of a class, in the order of its fields; one that is no dataclass has none."""
    hints = get_type_hints(target, include_extras=True)
    options = {}
    for field in fields(target) if is_dataclass(target) else ():
        kind, *more = get_args(hints[field.name]) or (None,)
        meta = next((part for part in more if isinstance(part, msgspec.Meta)), None)
        if meta is not None:
            default = msgspec.NODEFAULT if field.default is MISSING else field.default
            options[field.name] = Option(field.name, kind, meta, default)
    return options


def read_options(whose: str, named: Mapping[str, str], options: Mapping[str, Option]) -> dict[str, Any]:
    """The values that differ from the defaults, in the order of the options; UsageError for what is wrong."""
    for key in named:
        if key not in options:
            raise UsageError(f"{whose} has no parameter {key!r}; {did_you_mean(key, options)}")
    values = {key: part.read(whose, named[key]) for key, part in options.items() if key in named}
    for key, part in options.items():
        if part.default is msgspec.NODEFAULT and key not in values:
            message = f"{whose} needs a value for {key!r}: {part.meta.description}"
            raise UsageError(message, expected=part.expected)
    return {key: value for key, value in values.items() if value != options[key].default}
