"""The parts of a page: sections with text, pictures, tables and folds; names with their definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.registry import ESTIMATORS
from extrinsic.study.tables import column_help
from extrinsic.verdict.names import (
    COMPONENTS,
    NOTHING,
    POLICIES,
    SCHEDULES,
    Name,
    estimator_title,
    metric_definition,
    metric_title,
    policy_title,
    registered_summary,
    target_title,
    variant_title,
)
from extrinsic.verdict.rows import Row


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
    """A figure: `inline` for the page, `file` as a file of its own; both SVG.

    in_page: what the page shows instead.   figure: of matplotlib.
    """

    kind = "picture"
    name: str
    title: str
    caption: str
    inline: str
    file: str
    in_page: Partial | None = None
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


def described(kind: type[Row], *same: str, **heads: str) -> list[Column]:
    """Heads of columns that show fields of a table, with its help; same: those headed by their own name."""
    texts, heads = column_help(kind), {name: name for name in same} | heads
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
    inside = [pictures(block.blocks) if isinstance(block, Fold) else [block] for block in blocks]
    return [block for part in inside for block in part if isinstance(block, Picture)]


RULES = {
    "fill=argmax": "the reward counts the value of a concept that the tracker ranks first",
    "fill=threshold": "the reward counts a value of a concept only if its score is above a threshold",
}


def name_term(name: Name) -> Term:
    """A metric on its schedule and component: `slot F1, last turn`."""
    parts = [
        metric_definition(name.metric),
        COMPONENTS.get(name.component, ("", ""))[1],
        SCHEDULES.get(name.schedule, ("", ""))[1],
    ]
    return Term(name.title(), name.label(), "; ".join(filter(None, parts)))


def metric_term(metric: str) -> Term:
    return Term(metric_title(metric), metric, metric_definition(metric))


def policy_term(policy: str) -> Term:
    return Term(policy_title(policy), policy, POLICIES.get(policy, ("", ""))[1])


def estimator_term(estimator: str) -> Term:
    return Term(estimator_title(estimator), estimator, registered_summary(ESTIMATORS, estimator))


def target_term(target: str) -> Term:
    policy, _, estimator = target.partition(".")
    parts = (POLICIES.get(policy, ("", ""))[1], registered_summary(ESTIMATORS, estimator))
    return Term(target_title(target), target, "; ".join(filter(None, parts)))


def variant_term(variant: str | None) -> Term:
    """The rule by which the reward counts a concept as filled, not that of a metric."""
    title = variant_title(variant)
    return Term(title, variant or "", RULES.get((variant or "").partition(":")[0], ""))
