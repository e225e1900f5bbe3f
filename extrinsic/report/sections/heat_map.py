"""Metric by schedule, a panel for each component: what to measure, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import draw, short
from extrinsic.report.drawing.page_parts import Block, Fold, Picture, Section, Text
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults
from extrinsic.study.naming import (
    FAMILIES,
    component_title,
    family_of,
    metric_title,
    schedule_title,
    target_title,
)
from extrinsic.study.number_texts import correlation, in_brackets
from extrinsic.study.tables.metric_rows import BestSetRow, CorrelationRow

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


def heat_map_section(study: Study) -> Section | None:
    blocks: list[Block] = []
    for evidence in study.evidence:
        rows = evidence.ranked[evidence.group]
        # With one schedule and component the metrics alone show everything.
        if len({(row.schedule, row.component) for row in rows}) < 2:
            continue
        made: tuple[Block, ...] = (_text(evidence), _picture(evidence))
        blocks += made if evidence in study.shown else [Fold(evidence.title, made)]
    return Section("when", "Which schedule and component?", tuple(blocks)) if blocks else None


def _text(evidence: VariantResults) -> Text:
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


def _picture(evidence: VariantResults) -> Picture:
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
            names = _metrics(of_component)
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


def _metrics(rows: list[CorrelationRow]) -> list[str]:
    """By family, then by the best correlation."""
    names = dict.fromkeys(row.metric for row in rows)
    return sorted(names, key=lambda name: FAMILIES.index(family_of(name)))


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
