"""Texts of experiments: a template that a person wrote, numbers filled in from tables, conclusions guarded.

A conclusion is a sentence in the template between `{% claim CONDITION %}` and `{% endclaim %}`. The condition
is about the table that the sentence rests on (a sign, an order, an interval); where it is false, rendering
fails and names the sentence: a person has to look at the figures and write another one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from jinja2 import Environment, StrictUndefined, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class UnsupportedClaim(Exception):
    """A sentence that the tables no longer support."""


class Claim(Extension):
    """`{% claim condition %}sentence{% endclaim %}`: the sentence, if the condition holds."""

    tags = {"claim"}  # noqa: RUF012 - jinja2 declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        condition = parser.parse_expression()
        sentence = parser.parse_statements(("name:endclaim",), drop_needle=True)
        call = self.call_method("_checked", [condition, nodes.Const(line)])
        return nodes.CallBlock(call, [], [], sentence).set_lineno(line)

    def _checked(self, holds: bool, line: int, caller: nodes.Macro) -> str:
        sentence = str(caller())  # type: ignore[operator]
        if not holds:
            raise UnsupportedClaim(f"line {line} of the template: the tables do not support: {sentence}")
        return sentence


def render(template: Path, **values: object) -> str:
    """The text of a template; an undefined name or a claim that does not hold is an error."""
    environment = Environment(
        undefined=StrictUndefined,
        extensions=[Claim],
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
    )
    environment.filters |= {"number": number, "signed": signed, "with_interval": with_interval}
    environment.globals |= {"table": markdown}
    return environment.from_string(template.read_text()).render(**values)


def number(value: float | None, decimals: int = 2) -> str:
    """A number as texts show it; nothing for an undefined one."""
    if value is None or math.isnan(value):
        return ""
    # A rounded zero has no sign.
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def signed(value: float, decimals: int = 1) -> str:
    """A difference as texts show it: +20.6."""
    return f"{round(value, decimals) + 0.0:+.{decimals}f}"


def with_interval(row: msgspec.Struct, name: str = "r", decimals: int = 2) -> str:
    """`0.88 [0.73, 0.94]`: a field of a row with its `low` and `high`; without them if they are withheld."""
    ends = (getattr(row, "low"), getattr(row, "high"))  # noqa: B009 - any struct that has them
    if None in ends:
        return number(getattr(row, name), decimals)
    bounds = ", ".join(number(end, decimals) for end in ends)
    return f"{number(getattr(row, name), decimals)} [{bounds}]"


def markdown(
    rows: Sequence[msgspec.Struct], columns: Sequence[str] | Mapping[str, str], decimals: int = 2
) -> str:
    """A Markdown table of some fields; a mapping gives them other heads."""
    heads = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    lines = ["| " + " | ".join(heads.values()) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = (getattr(row, name) for name in heads)
        lines.append("| " + " | ".join(_cell(cell, decimals) for cell in cells) + " |")
    return "\n".join(lines)


def _cell(value: object, decimals: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, decimals)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
