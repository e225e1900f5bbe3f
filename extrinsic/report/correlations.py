"""Every metric by schedule and component: a heat map with a switch, and a table of all numbers to filter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from extrinsic.report.figures import draw, short
from extrinsic.report.page_parts import Partial, Picture, Section, Term, Text, metric_term
from extrinsic.report.run_data import Study
from extrinsic.study.tables import column_help
from extrinsic.verdict.choice_table import DECLARED_FAMILY
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.names import (
    FAMILIES,
    Name,
    component_title,
    correlation,
    family_of,
    in_brackets,
    in_unit,
    is_share,
    listing,
    metric_title,
    schedule_title,
    target_title,
    unit_title,
    variant_title,
)
from extrinsic.verdict.rows import ChoiceRow, CorrelationRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL, CELL_WIDTH, LETTER = 0.2, 0.56, 0.064
"""Inches: of a cell, and of a letter of a name."""

NARROW = {1: "every\nturn", 2: "men-\ntioned", 3: "last\nturn"}
MOST_WIDTH = 8.8
MOST_COMPONENTS = 6
LIGHT, DARK = "#fdfdfd", "#111418"


class Cell(NamedTuple):
    """key: of its row among the embedded numbers."""

    key: str
    share: float

    @property
    def text(self) -> str:
        return correlation(self.share)

    @property
    def full(self) -> int:
        """How full its colour is, in percent: squared, so that .9 and .95 look different."""
        return round(100.0 * min(self.share * self.share, 1.0))


class Block(NamedTuple):
    """A component in the heat map: a line for each metric, a cell for each schedule, which may be missing."""

    component: str
    schedules: list[int]
    lines: list[tuple[Term, list[Cell | None]]]


def heat_map_section(study: Study) -> Section | None:
    """What to measure, and when: by the primary target first; a switch shows others, and coefficients."""
    variant = study.variants[0]
    blocks = heat_blocks(study.choices(study.target, variant), numbers_of(study).names)
    # With one schedule and component the first figure shows everything.
    if not blocks or (len(blocks) == 1 and len(blocks[0].schedules) == 1):
        return None
    picture = _heat_map(study, variant, blocks)
    return Section("when", "What to measure, and when", (*_when(study, variant), picture))


def _when(study: Study, variant: str | None) -> tuple[Text, ...]:
    """What the recommended metric loses on each of its schedules and components, the least first."""
    verdict = study.verdict.of_target(study.target, variant)
    chosen = verdict.recommended if verdict else None
    if verdict is None or chosen is None:
        return ()
    rows = [
        row
        for row in study.choices(study.target, variant)
        if row.metric == chosen.metric and row.lost is not None
    ]
    if len(rows) < 2:
        return ()
    losses = []
    for row in sorted(rows, key=lambda row: row.lost or 0.0):
        declared = "" if row.family == DECLARED_FAMILY else "; exploratory"
        losses.append(f"{in_unit(row.lost, verdict.unit)} ({Name.of(row).title()}{declared})")
    unit = unit_title(verdict.unit)
    return (Text((f"Where and when it is measured, in {unit} lost in this study: {listing(losses)}.",)),)


def heat_blocks(rows: Sequence[ChoiceRow], places: Mapping[str, list[str]]) -> list[Block]:
    """By component, those with most metrics first; metrics by family, then the best first.

    places: the names that the embedded numbers have in a column.
    """
    shown = [row for row in rows if row.share is not None]
    components = list(dict.fromkeys(row.component for row in shown))
    components.sort(key=lambda name: -len({row.metric for row in shown if row.component == name}))
    blocks = []
    for component in components[:MOST_COMPONENTS]:
        cells = {}
        for row in shown:
            if row.component == component:
                texts = {"metric": row.metric, "schedule": str(row.schedule), "component": component}
                # A row that had no room among the numbers has a key that nothing has.
                key = [
                    places[name].index(text) if text in places[name] else -1 for name, text in texts.items()
                ]
                cells[row.metric, row.schedule] = Cell(" ".join(map(str, key)), row.share or 0.0)
        schedules = sorted({schedule for _, schedule in cells})
        metrics = dict.fromkeys(metric for metric, _ in cells)
        names = sorted(metrics, key=lambda name: list(FAMILIES).index(family_of(name)))
        lines = [
            (metric_term(name), [cells.get((name, schedule)) for schedule in schedules]) for name in names
        ]
        blocks.append(Block(component_title(component) or "all", schedules, lines))
    return blocks


def _heat_map(study: Study, variant: str | None, blocks: Sequence[Block]) -> Picture:
    """Cells of the page that a script can fill with another measure; the file has the shares."""

    def paint(figure: Figure) -> None:
        figure.set_size_inches(1, 1)
        right = top = deepest = 0.0
        for block in blocks:
            wide = CELL_WIDTH * len(block.schedules)
            words = LETTER * max(len(short(term, 42)) for term, _ in block.lines) + 0.15
            if right and right + words + wide > MOST_WIDTH:
                right, top, deepest = 0.0, top - deepest - 0.75, 0.0
            tall = CELL * len(block.lines)
            # The figure measures one inch, so that shares of it are inches.
            _panel(figure.add_axes((right + words, top - tall, wide, tall)), block)
            right, deepest = right + words + wide + 0.25, max(deepest, tall)

    title = f"Share of what a perfect choice earns{in_brackets(study.variant_title(variant))}"
    caption = (
        "Over the core trackers. Blue: choices by this metric earn as much as perfect ones, or the "
        "coefficient is 1; orange: they are worse than a coin's. Compare along a line for when to measure, "
        "down a column for what."
    )
    values = {"blocks": blocks, "target": study.target, "variant": variant or "", "core": CORE}
    return draw("heat_map", title, caption, paint, variant, Partial("heat_map.html", values))


BLUE, ORANGE, PALE = (0x0B, 0x5C, 0x94), (0xC2, 0x5A, 0x08), (0xF3, 0xF1, 0xEC)


def _panel(axes: Axes, block: Block) -> None:
    from matplotlib.patches import Rectangle

    for y, (_, line) in enumerate(block.lines):
        for x, cell in enumerate(line):
            if cell is None:
                continue
            full = cell.full / 100.0
            ends = zip(PALE, BLUE if cell.share >= 0.0 else ORANGE, strict=True)
            colour = "#" + "".join(f"{round(pale + (end - pale) * full):02x}" for pale, end in ends)
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="none"))
            look: Any = {"fontsize": 7.5, "color": LIGHT if full > 0.6 else DARK}
            axes.text(x + 0.5, y + 0.52, cell.text, ha="center", va="center", **look)
    axes.set_xlim(0, len(block.schedules))
    axes.set_ylim(len(block.lines), 0)
    titles = [NARROW.get(schedule, str(schedule)) for schedule in block.schedules]
    axes.set_xticks([x + 0.5 for x in range(len(titles))], titles, fontsize=6.8)
    labels = [short(term, 42) for term, _ in block.lines]
    axes.set_yticks([y + 0.5 for y in range(len(labels))], labels, fontsize=7.5)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    axes.set_title(block.component, pad=8)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


WORDS = ("variant", "target", "systems", "metric", "component", "schedule", "family", "group", "carried_by")
"""Columns of few different texts, stored as indices."""

POINTS = ("lost", "bound", "lost_hard", "lost_of_3", "lost_of_5", "lost_of_10")
"""In points, or in percentage points; stored times 100."""

SHARES = ("share", "pearson", "low", "high", "spearman", "kendall")
"""Stored times 1,000; low and high are Pearson's."""

TITLES: dict[str, Callable[[str], str]] = {
    "variant": variant_title,
    "target": target_title,
    "metric": metric_title,
    "component": component_title,
    "schedule": lambda schedule: schedule_title(int(schedule)),
}
"""What people call the texts of a column."""

HELP = {
    "pearson": "pearson: Pearson's r between metric and target, within datasets",
    "spearman": "spearman: Spearman's rank correlation, within datasets",
    "kendall": "kendall: Kendall's tau, within datasets",
}
MOST_ROWS = 20_000
"""At most this many rows are embedded; a big study has the rest in its csv."""


class Numbers(NamedTuple):
    """The rows of choices.csv with their coefficients, as columns of whole numbers.

    names: the texts of the columns that are stored as indices.   n: how many rows there are in the table.
    """

    rows: Sequence[ChoiceRow]
    n: int
    names: dict[str, list[str]]
    columns: dict[str, list[int | None]]

    def encode(self) -> str:
        """JSON for a script element: names, titles, columns, and the help of the columns."""
        meanings = column_help(CorrelationRow) | column_help(ChoiceRow)
        texts = {key: HELP.get(key) or f"{key}: {meanings[key]}".replace("`", "") for key in self.columns}
        titles = {key: [title(name) for name in self.names[key]] for key, title in TITLES.items()}
        data = {"names": self.names, "titles": titles, "columns": self.columns, "help": texts}
        return escape_script(json.dumps(data, separators=(",", ":")))


@lru_cache(maxsize=1)
def numbers_of(study: Study) -> Numbers:
    return make_numbers(study.tables[ChoiceRow], study.tables[CorrelationRow])


def make_numbers(choices: list[ChoiceRow], correlations: Sequence[CorrelationRow]) -> Numbers:
    """Every metric with what choosing by it loses, and its coefficients within datasets."""
    rows = embedded(choices)
    kept = {row.target for row in rows}
    found: dict[tuple[object, ...], dict[str, CorrelationRow]] = {}
    for each in correlations:
        if each.scope == "within" and each.target in kept:
            place = each.target, each.variant, each.trackers, each.label_scheme, Name.of(each)
            found.setdefault(place, {})[each.coefficient] = each
    names: dict[str, list[str]] = {}
    made: dict[str, list[int | None]] = {}
    coefficients = [
        found.get((row.target, row.variant, row.systems, row.label_scheme, Name.of(row)), {}) for row in rows
    ]
    pearson = [every.get("pearson") for every in coefficients]
    for key in WORDS:
        sources: Sequence[object] = pearson if key == "carried_by" else rows
        texts = [str(getattr(row, key, None) or "") for row in sources]
        number_of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        names[key] = list(number_of)
        made[key] = [number_of[text] for text in texts]
    for key in POINTS:
        scales = [10_000.0 if is_share(row.target) else 100.0 for row in rows]
        made[key] = [_whole(getattr(row, key), scale) for row, scale in zip(rows, scales, strict=True)]
    for key in SHARES:
        if key in ("low", "high"):
            values = [getattr(row, key, None) for row in pearson]
        elif key == "share":
            values = [row.share for row in rows]
        else:
            values = [getattr(every.get(key), "r", None) for every in coefficients]
        made[key] = [_whole(value, 1_000.0) for value in values]
    return Numbers(rows, len(choices), names, made)


def _whole(value: float | None, scale: float) -> int | None:
    return None if value is None else round(value * scale)


def all_numbers_section(study: Study) -> Section | None:
    numbers = numbers_of(study)
    if not numbers.rows:
        return None
    left = dict.fromkeys(row.target for row in study.tables[ChoiceRow])
    shown = {row.target for row in numbers.rows}
    values = {
        "data": numbers.encode(),
        "n_rows": len(numbers.rows),
        "n_all": numbers.n,
        "left": [target for target in left if target not in shown],
        "target": study.target,
    }
    return Section("everything", "Every number", (Partial("everything.html", values),))


def embedded(rows: list[ChoiceRow], most: int = MOST_ROWS) -> list[ChoiceRow]:
    """Whole targets in their order, as long as there is room; of the first one at least what fits."""
    kept: list[ChoiceRow] = []
    for target in dict.fromkeys(row.target for row in rows):
        of_target = [row for row in rows if row.target == target]
        if len(kept) + len(of_target) > most:
            break
        kept += of_target
    return kept or rows[:most]


def escape_script(text: str) -> str:
    """Escape text so that no markup can begin in it: neither </script> nor a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
