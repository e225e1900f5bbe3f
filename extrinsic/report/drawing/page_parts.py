"""The parts of a page: sections with text, pictures, tables and folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.study.number_texts import NOTHING
from extrinsic.study.tables.schema import Row, column_help


class Term(str):
    """A name that people use, with its typed form and what it means."""

    key: str
    help: str

    def __new__(cls, text: str, key: str, help: str) -> Term:
        term = super().__new__(cls, text)
        term.key, term.help = key, help
        return term


@dataclass(frozen=True)
class Text:
    """Paragraphs."""

    kind = "text"
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A figure: `inline` for the page, `file` as a file of its own; both SVG. figure: of matplotlib."""

    kind = "picture"
    name: str
    title: str
    caption: str
    inline: str
    file: str
    figure: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Column:
    """The head of a column; help: what it means, shown on hovering."""

    text: str
    is_number: bool = False
    help: str = ""


Head = str | Column


@dataclass(frozen=True)
class Table:
    """Cells are text; a row may begin a new group by being a single cell."""

    kind = "table"
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str | None = None
    """The table of the run that has all rows."""


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    kind = "fold"
    title: str
    blocks: tuple[Block, ...]
    is_aside: bool = False
    """Details: printed only when opened."""


@dataclass(frozen=True)
class Partial:
    """A template of its own with its values."""

    kind = "partial"
    template: str
    values: Mapping[str, object] = field(default_factory=dict)


Block = Text | Picture | Table | Fold | Partial


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    blocks: tuple[Block, ...]


def described(kind: type[Row], **heads: str) -> list[Column]:
    """Heads of columns that show fields of a table, with the help of the schema."""
    texts = column_help(kind)
    return [_column(head, f"{name}: {texts[name]}".replace("`", "")) for name, head in heads.items()]


def _column(head: str, text: str = "") -> Column:
    return Column(head.lstrip("#"), head.startswith("#"), text)


def table(
    caption: str, heads: Sequence[Head], rows: Sequence[Sequence[str]], source: str | None = None
) -> Table:
    """A head that begins with # is of a column of numbers.

    Columns that are empty throughout are left out, and that of a single variant.
    """
    columns = tuple(head if isinstance(head, Column) else _column(head) for head in heads)
    shown = [
        i
        for i, column in enumerate(columns)
        if any(row[i] not in ("", NOTHING) for row in rows)
        and (column.text != "variant" or len({row[i] for row in rows}) > 1)
    ]
    lines = tuple(tuple(row[i] for i in shown) for row in rows)
    return Table(caption, tuple(columns[i] for i in shown), lines, source)


def pictures(blocks: Sequence[Block]) -> list[Picture]:
    """Every picture of some blocks, also those folded away."""
    every: list[Picture] = []
    for block in blocks:
        if isinstance(block, Picture):
            every.append(block)
        elif isinstance(block, Fold):
            every += pictures(block.blocks)
    return every
