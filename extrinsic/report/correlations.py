"""Correlations: metric by schedule with a panel for each component, and all of them in a table to filter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from extrinsic.report.figures import draw, short
from extrinsic.report.page_parts import Block, Partial, Picture, Section, Text, by_variant
from extrinsic.report.run_data import Study, VariantResults
from extrinsic.study.tables import column_help
from extrinsic.verdict.names import (
    FAMILIES,
    component_title,
    correlation,
    family_of,
    in_brackets,
    metric_title,
    schedule_title,
    target_title,
    variant_title,
)
from extrinsic.verdict.rows import BestSetRow, CorrelationRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIGHT, DARK = "#fdfdfd", "#111418"
CELL, CELL_WIDTH = 0.2, 0.56
LETTER = 0.064
"""Inches: of a cell, and of a letter of a name."""

NARROW = {1: "every\nturn", 2: "men-\ntioned", 3: "last\nturn"}

MOST_WIDTH = 8.8
MOST_COMPONENTS = 6


def heat_map_section(study: Study) -> Section:
    """Metric by schedule, a panel for each component: what to measure, and when."""

    def of_variant(evidence: VariantResults) -> tuple[Block, ...]:
        rows = evidence.ranked[evidence.group]
        # With one schedule and component the metrics alone show everything.
        several = len({(row.schedule, row.component) for row in rows}) > 1
        return (_where_measured(evidence), _heat_map(evidence)) if several else ()

    return Section("when", "Which schedule and component?", by_variant(study, of_variant))


def _where_measured(evidence: VariantResults) -> Text:
    """Where the metrics that may be the best are measured."""
    defined = [row for row in evidence.sets.values() if row.r is not None]
    chosen = [row for row in defined if row.in_set]
    under = evidence.heading
    if not chosen:
        no = "no" if under else "No"
        return Text((f"{under}{no} schedule and no component is ruled out: nothing is decided.",))

    def shares(key: Callable[[BestSetRow], str]) -> str:
        counts, totals = Counter(map(key, chosen)), Counter(map(key, defined))
        return ", ".join(f"{name} {counts[name]} of {totals[name]}" for name in totals)

    schedules = shares(lambda row: schedule_title(row.schedule))
    components = shares(lambda row: component_title(row.component))
    what = "what" if under else "What"
    return Text((f"{under}{what} may be the best, by schedule: {schedules}. By component: {components}.",))


def _heat_map(evidence: VariantResults) -> Picture:
    rows = evidence.ranked[evidence.group]
    components = list(dict.fromkeys(row.component for row in rows))
    # Those with most metrics first; a study of every slot by itself would not fit on a page.
    components.sort(key=lambda name: -sum(row.component == name for row in rows))
    shown = components[:MOST_COMPONENTS]
    title = f"Correlation by metric and schedule{in_brackets(evidence.title)}"

    def paint(figure: Figure) -> None:
        figure.set_size_inches(1, 1)
        right = top = deepest = 0.0
        for component in shown:
            of_component = [row for row in rows if row.component == component]
            # By family, then by the best correlation.
            metrics = dict.fromkeys(row.metric for row in of_component)
            names = sorted(metrics, key=lambda name: FAMILIES.index(family_of(name)))
            wide = CELL_WIDTH * len({row.schedule for row in of_component})
            words = LETTER * max(len(_label(name)) for name in names) + 0.15
            if right and right + words + wide > MOST_WIDTH:
                right, top, deepest = 0.0, top - deepest - 0.75, 0.0
            tall = CELL * len(names)
            # The figure measures one inch, so that shares of it are inches.
            axes = figure.add_axes((right + words, top - tall, wide, tall))
            _panel(axes, of_component, component, names)
            right, deepest = right + words + wide + 0.25, max(deepest, tall)

    rest = len(components) - len(shown)
    more = f" {rest} more components are in the table." if rest else ""
    caption = (
        f"Each number is r with {target_title(evidence.target)} over {evidence.group} trackers; "
        "blue is positive, orange negative, pale is none. Compare along a line for when to measure, down a "
        f"column for what.{more}"
    )
    return draw("heat_map", title, caption, paint, evidence.variant)


def _label(metric: str) -> str:
    return short(metric_title(metric), 42)


def _panel(axes: Axes, rows: list[CorrelationRow], component: str, metrics: list[str]) -> None:
    from matplotlib.patches import Rectangle

    schedules = sorted({row.schedule for row in rows})
    for row, r in ((row, row.r) for row in rows if row.r is not None):
        x, y = schedules.index(row.schedule), metrics.index(row.metric)
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=shade(r), edgecolor="none"))
        ink = LIGHT if abs(r) > 0.75 else DARK
        axes.text(x + 0.5, y + 0.52, correlation(r), ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xlim(0, len(schedules))
    axes.set_ylim(len(metrics), 0)
    titles = [NARROW.get(schedule, str(schedule)) for schedule in schedules]
    axes.set_xticks([x + 0.5 for x in range(len(schedules))], titles, fontsize=6.8)
    axes.set_yticks([y + 0.5 for y in range(len(metrics))], [_label(name) for name in metrics], fontsize=7.5)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.set_title(component_title(component) or "all", pad=8)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


BLUE, ORANGE, PALE = (0x0B, 0x5C, 0x94), (0xC2, 0x5A, 0x08), (0xF3, 0xF1, 0xEC)


def shade(r: float) -> str:
    """From pale to blue for 1, to orange for -1."""
    end = BLUE if r >= 0 else ORANGE
    weight = min(abs(r), 1.0)
    mixed = (round(pale + (full - pale) * weight) for pale, full in zip(PALE, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


WHICH = ("variant", "target", "trackers", "scope", "coefficient")
WORDS = (*WHICH, "metric", "component", "schedule", "carried_by")
"""Columns of few different texts, stored as indices."""

NUMBERS = ("r", "low", "high", "p_max_t")
WHOLE = ("n",)
TITLES: dict[str, Callable[[str], str]] = {
    "variant": variant_title,
    "target": target_title,
    "metric": metric_title,
    "component": component_title,
    "schedule": lambda schedule: schedule_title(int(schedule)),
}
"""What people call the texts of a column."""

DIGITS = 10_000
MOST_ROWS = 20_000
"""At most this many rows are embedded; a big study has the rest in its csv."""


def all_correlations_section(study: Study) -> Section | None:
    rows = study.tables[CorrelationRow]
    if not rows:
        return None
    kept = embedded(rows)
    shown = {row.target for row in kept}
    left = list(dict.fromkeys(row.target for row in rows if row.target not in shown))
    numbers = {
        "n_rows": len(kept),
        "n_all": len(rows),
        "left": left,
        "cut": len(rows) > len(kept) and not left,
    }
    values = {"data": columns(kept), **numbers, "coefficient": study.coefficient, "target": study.target}
    return Section("everything", "Every correlation", (Partial("everything.html", values),))


def embedded(rows: list[CorrelationRow], most: int = MOST_ROWS) -> list[CorrelationRow]:
    """Whole targets in their order, as long as there is room; of the first one at least what fits."""
    kept: list[CorrelationRow] = []
    for target in dict.fromkeys(row.target for row in rows):
        of_target = [row for row in rows if row.target == target]
        if len(kept) + len(of_target) > most:
            break
        kept += of_target
    return kept or rows[:most]


def columns(rows: list[CorrelationRow]) -> str:
    """JSON for a script element: names, columns, and the help of the columns.

    {"names": {...}, "titles": {...}, "columns": {...}, "help": {...}}; numbers times 10,000.
    """
    names: dict[str, list[str]] = {}
    made: dict[str, list[int | None]] = {}
    for key in WORDS:
        texts = [str(getattr(row, key) or "") for row in rows]
        number_of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        names[key] = list(number_of)
        made[key] = [number_of[text] for text in texts]
    for key in NUMBERS:
        values = (getattr(row, key) for row in rows)
        made[key] = [None if value is None else round(value * DIGITS) for value in values]
    for key in WHOLE:
        made[key] = [getattr(row, key) for row in rows]
    meanings = column_help(CorrelationRow)
    texts_of = {key: f"{key}: {meanings[key]}".replace("`", "") for key in made}
    titles = {key: [title(name) for name in names[key]] for key, title in TITLES.items()}
    data = {"names": names, "titles": titles, "columns": made, "help": texts_of}
    return escape_script(json.dumps(data, separators=(",", ":")))


def escape_script(text: str) -> str:
    """Escape text so that no markup can begin in it: neither </script> nor a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
