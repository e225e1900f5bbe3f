"""Printed forms `name(part, key=value)`: what is typed is what a thing is."""

from __future__ import annotations

import re
from typing import NamedTuple

_CALL = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\((?P<inside>.*)\))?\s*", re.DOTALL)


class PrintedForm(NamedTuple):
    """A name, the parts that stand without a key, and the keys with their values, as they were typed."""

    name: str
    parts: tuple[str, ...]
    named: tuple[tuple[str, str], ...]


def split_form(text: str) -> PrintedForm | None:
    """The pieces of a printed form; None for a text that is none."""
    match = _CALL.fullmatch(text)
    if match is None or text.count("(") != text.count(")"):
        return None
    arguments = [part.strip() for part in _between_commas(match["inside"] or "") if part.strip()]
    is_named = ["=" in argument.partition("(")[0] for argument in arguments]
    pairs = [argument.partition("=") for argument, named in zip(arguments, is_named, strict=True) if named]
    parts = tuple(argument for argument, named in zip(arguments, is_named, strict=True) if not named)
    return PrintedForm(match["name"], parts, tuple((key.strip(), value.strip()) for key, _, value in pairs))


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


def number_text(value: float) -> str:
    """A number as short as it can be read back, whole ones without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
