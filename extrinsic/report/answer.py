"""The answer: what to choose by for each target, every metric by what it loses, and Lee's findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extrinsic.report.figures import (
    INK,
    MUTED,
    PAPER,
    SERIES,
    draw,
    panels,
    put_dataset,
    put_intervals,
    put_legend,
    put_notes,
    put_points,
    put_rows,
    short,
)
from extrinsic.report.page_parts import (
    Block,
    Fold,
    Partial,
    Picture,
    Section,
    Text,
    name_term,
    target_term,
)
from extrinsic.report.run_data import Study
from extrinsic.verdict.bounds import AS_GOOD, OPEN, RECOMMENDED, WORSE
from extrinsic.verdict.choice_table import DECLARED_FAMILY
from extrinsic.verdict.findings import panel_findings
from extrinsic.verdict.names import (
    Name,
    counted,
    in_brackets,
    in_unit,
    is_higher_better,
    share,
    slug,
    target_title,
    unit_title,
)
from extrinsic.verdict.rows import ChoiceRow
from extrinsic.verdict.verdict import TargetVerdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.215
MOST_EXPLORATORY, MOST_NAMED = 12, 4
"""Metrics in the first figure, beside all declared ones; trackers that a scatter names."""

COLOURS = {RECOMMENDED: SERIES[2], AS_GOOD: SERIES[0], WORSE: SERIES[1], OPEN: SERIES[6]}
"""Of the groups in the first figure."""


def verdict_section(study: Study) -> Section:
    """The sentences, then the picture of the primary target; those of the others are folded."""
    verdicts = study.verdict.verdicts
    if not verdicts:
        nothing = "Nothing was judged in this run: it has no target, or no metric that has a direction."
        return Section("verdict", "The verdict", (Text((nothing,)),))
    compromise = study.verdict.compromise
    values = {
        "answers": [_answer(study, verdict) for verdict in verdicts],
        "compromise": compromise.sentence if compromise else "",
        "health": [note.text for note in study.verdict.health],
    }
    blocks: list[Block] = [Partial("verdict.html", values)]
    for number, verdict in enumerate(verdicts):
        shown = _of_target(study, verdict)
        if not number:
            blocks += shown
        elif shown:
            title = target_title(verdict.target) + in_brackets(study.variant_title(verdict.variant))
            blocks.append(Fold(f"The same for {title}", shown))
    return Section("verdict", "The verdict", tuple(blocks))


def _answer(study: Study, verdict: TargetVerdict) -> dict[str, str | bool]:
    """The sentence on a target, divided where the metric stands in it; metric: empty where it names none."""
    chosen = verdict.recommended
    before, _, after = verdict.sentence.partition(chosen.title) if chosen else (verdict.sentence, "", "")
    return {
        "target": target_term(verdict.target),
        "under": study.variant_title(verdict.variant),
        "before": before,
        "metric": name_term(chosen.name) if chosen else "",
        "after": after,
        "promises": verdict.promises,
    }


def _of_target(study: Study, verdict: TargetVerdict) -> tuple[Block, ...]:
    rows = study.choices(verdict.target, verdict.variant)
    if not rows:
        return ()
    declared = [row for row in rows if row.family == DECLARED_FAMILY]
    exploratory = [row for row in rows if row.family != DECLARED_FAMILY]
    # Declared before exploratory where they lose the same.
    shown = sorted([*declared, *exploratory[:MOST_EXPLORATORY]], key=lambda row: row.lost or 0.0)
    losses = _losses(study, verdict, shown, len(rows) - len(shown))
    scatter = _scatter(study, verdict)
    title = "Tracker by tracker: the metric against what it is chosen for"
    return (losses, Fold(title, (scatter,))) if scatter else (losses,)


def _name(verdict: TargetVerdict, study: Study, name: str) -> str:
    """Of a figure: that of the primary target has its kind's name alone."""
    return name if verdict.target == study.target else f"{name}_{slug(verdict.target)}"


def _losses(study: Study, verdict: TargetVerdict, rows: Sequence[ChoiceRow], rest: int) -> Picture:
    """Metrics by what they lose: a dot, and a line to what they lose at most."""
    unit, coin = verdict.unit, verdict.possible or rows[0].possible or 0.0
    scale = 100.0 if unit == "share" else 1.0

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 5.2, ROW * len(rows) + 0.1)
        strong = [y for y, row in enumerate(rows) if row.group == RECOMMENDED]
        put_rows(axes, [Name.of(row).title() for row in rows], strong)
        ends = [in_unit(row.lost, unit) + _promised(row, unit, coin) for row in rows]
        put_notes(axes, ends)
        for group, colour in COLOURS.items():
            for is_declared in (True, False):
                members = [
                    (y, row)
                    for y, row in enumerate(rows)
                    if _group(row) == group and (row.family == DECLARED_FAMILY) == is_declared
                ]
                _dots(axes, members, colour, is_declared, scale)
            if any(_group(row) == group for row in rows):
                put_points(axes, [], "o", color=colour, markersize=5.5, label=group)
        if any(row.family != DECLARED_FAMILY for row in rows):
            look = {"color": MUTED, "markerfacecolor": PAPER, "markersize": 5.0, "alpha": 0.6}
            put_points(axes, [], "o", label="exploratory", **look)
        axes.axvline(scale * coin, color=INK, linewidth=1.4)
        axes.text(scale * coin, -0.75, "a coin", ha="center", va="bottom", fontsize=8, fontweight="bold")
        # A longer line than a coin's promises nothing; how long it is says no more.
        most = max([1.12 * coin, *(1.05 * (row.lost or 0.0) for row in rows)])
        axes.set_xlim(-0.02 * scale * most, scale * most)
        axes.set_xlabel(f"{unit_title(unit)} lost by a choice between two trackers")
        put_legend(axes, above=0.24)

    title = f"What choosing by each metric loses of {target_title(verdict.target)}"
    title += in_brackets(study.variant_title(verdict.variant))
    return draw(
        _name(verdict, study, "losses"), title, _losses_caption(verdict, rest), paint, verdict.variant
    )


def _group(row: ChoiceRow) -> str:
    """Its colour: where nothing is promised only the title of what loses least stands out."""
    return OPEN if row.bound is None else row.group or OPEN


def _promised(row: ChoiceRow, unit: str, coin: float) -> str:
    return f", at most {in_unit(row.bound, unit)}" if row.bound is not None and row.bound < coin else ""


def _dots(
    axes: Axes, members: Sequence[tuple[int, ChoiceRow]], colour: str, is_declared: bool, scale: float
) -> None:
    """Exploratory ones are hollow and pale."""
    intervals = [
        (y, scale * (row.lost or 0.0), None if row.bound is None else scale * row.bound) for y, row in members
    ]
    line: Any = {"linewidth": 2.0, "alpha": 0.75} if is_declared else {"linewidth": 1.0, "alpha": 0.45}
    put_intervals(axes, intervals, color=colour, **line)
    points = [(scale * (row.lost or 0.0), y) for y, row in members]
    face = colour if is_declared else PAPER
    look: Any = {
        "color": colour,
        "markerfacecolor": face,
        "markersize": 5.5,
        "alpha": 1.0 if is_declared else 0.6,
    }
    put_points(axes, points, "o", **look)


def _losses_caption(verdict: TargetVerdict, rest: int) -> str:
    coin = f"{in_unit(verdict.possible, verdict.unit)} {unit_title(verdict.unit)}"
    text = (
        f"Dot: what a choice between two of the {counted(verdict.n_systems, 'core tracker')} loses against a "
        "perfect one. Line: up to what it loses at most among other trackers like these (95 %); where it is "
        f"missing or passes the coin, nothing is promised. A coin loses {coin}"
    )
    if verdict.possible_corrected is not None:
        corrected = in_unit(verdict.possible_corrected, verdict.unit)
        text += f" ({corrected} without the noise of the values)"
    if verdict.log_share is not None:
        kept = "nothing" if verdict.log_share <= 0 else share(verdict.log_share)
        text += f"; choosing by the return of the logged dialogs keeps {kept} of that"
    text += (
        ". Hollow: exploratory, not named beforehand, with the wider bound of all of them; the best of them "
        f"are shown, {rest:,} more are in the table of all numbers."
        if rest
        else "."
    )
    for flag in verdict.flags:
        text += f" {flag.n} of {flag.total} values are flagged {flag.flag}."
    return text


def _scatter(study: Study, verdict: TargetVerdict) -> Picture | None:
    """The metric to choose by against the target, a point for every core tracker and dataset."""
    panel, name = study.view, verdict.recommended.name if verdict.recommended else None
    keys = [Name.of(key) for key in panel.metrics]
    if name not in keys:
        return None
    core = [panel.system(tracker) for tracker in study.core]
    targets = [(each.name, each.variant) for each in panel.targets]
    x = panel.scores[keys.index(name)][:, core]
    y = panel.values[targets.index((verdict.target, verdict.variant))][:, core]
    several = len(study.datasets) > 1
    if several:
        x, y = (side - np.nanmean(side, axis=1, keepdims=True) for side in (x, y))
    points = [
        [(a, b) for a, b in zip(*sides, strict=True) if math.isfinite(a + b)]
        for sides in zip(x.tolist(), y.tolist(), strict=True)
    ]

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 5.6, 3.4)
        for number, dataset in enumerate(study.datasets):
            put_dataset(axes, number, dataset, points[number])
        axes.margins(0.12)
        axes.locator_params(nbins=5)
        lower = not is_higher_better(name.metric)
        if lower:
            axes.invert_xaxis()
        centre = ", less the dataset's mean" if several else ""
        axes.set_xlabel(short(name.title(), 50) + centre + (" (lower is better)" if lower else ""))
        axes.set_ylabel(short(target_title(verdict.target).removeprefix("the "), 44))
        # The trackers that it misjudges most: those whose two ranks differ most.
        ranks = ((-x if lower else x).argsort().argsort(), y.argsort().argsort())
        apart = np.abs(ranks[0] - ranks[1])
        for place in apart.ravel().argsort()[::-1][:MOST_NAMED]:
            d, s = divmod(int(place), len(core))
            if math.isfinite(x[d, s] + y[d, s]):
                offset: Any = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
                axes.annotate(
                    short(study.core[s], 24), (x[d, s], y[d, s]), fontsize=6.8, color=MUTED, **offset
                )
        if several:
            put_legend(axes, above=0.05)

    caption = (
        "Every point is a core tracker on a dataset. A choice between two of them loses where the one "
        "further to the right is the lower one; named are those that the metric misjudges most."
    )
    title = f"{short(name.title(), 44)} against {short(target_title(verdict.target), 44)}"
    return draw(_name(verdict, study, "scatter"), title, caption, paint, verdict.variant)


def lee_section(study: Study) -> Section | None:
    """Whether Lee's three findings hold here, by the primary target of every variant."""
    held = []
    for k, target in enumerate(study.panel.targets):
        if target.name == study.target and target.variant in study.variants:
            made = panel_findings(study.panel, study.core, k, study.seed)
            held.append((study.variant_title(target.variant), made))
    if not any(made for _, made in held):
        return None
    return Section("lee", "Lee's findings (2014), here", (Partial("lee.html", {"held": held}),))
