"""What a page is made of: sections with text, pictures, tables and parts that fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.report.results.numbers import NOTHING


@dataclass(frozen=True)
class Text:
    """Paragraphs."""

    kind = "text"
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A figure: `inline` for the page, `file` to stand alone; both SVG."""

    kind = "picture"
    name: str
    title: str
    caption: str
    inline: str
    file: str


@dataclass(frozen=True)
class Column:
    text: str
    is_number: bool = False


@dataclass(frozen=True)
class Table:
    """Cells are text; a row may begin a new group by being a single cell."""

    kind = "table"
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str | None = None
    """The table of the run that has all of it."""


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    kind = "fold"
    title: str
    blocks: tuple[Any, ...]
    is_aside: bool = False
    """Particulars: printed only when opened."""


@dataclass(frozen=True)
class Partial:
    """A template of its own with what it shows."""

    kind = "partial"
    template: str
    values: dict[str, Any] = field(default_factory=dict)


Block = Text | Picture | Table | Fold | Partial


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    blocks: tuple[Block, ...]


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], source: str | None = None
) -> Table:
    """A head that begins with # is of numbers. Columns that say nothing in any row are left out."""
    told = [at for at in range(len(heads)) if any(row[at] not in ("", NOTHING) for row in rows)]
    columns = tuple(Column(heads[at].lstrip("#"), heads[at].startswith("#")) for at in told)
    return Table(caption, columns, tuple(tuple(row[at] for at in told) for row in rows), source)


def pictures(blocks: Sequence[Block]) -> list[Picture]:
    """Every picture of some blocks, also those folded away."""
    found: list[Picture] = []
    for block in blocks:
        if isinstance(block, Picture):
            found.append(block)
        elif isinstance(block, Fold):
            found += pictures(block.blocks)
    return found
