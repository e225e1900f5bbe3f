"""What trackers left out show: the influence of each, how the order of metrics settles, pairs decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from extrinsic.report.figures import (
    INK,
    MUTED,
    SERIES,
    draw,
    look,
    panels,
    put_intervals,
    put_legend,
    put_notes,
    put_points,
    put_rows,
    short,
)
from extrinsic.report.page_parts import Block, Picture, Text, described, table
from extrinsic.report.run_data import Study, VariantResults
from extrinsic.study.tables import DecidedRow, StabilityRow
from extrinsic.verdict.names import (
    COEFFICIENTS,
    Name,
    correlation,
    counted,
    family_of,
    in_brackets,
    share,
    target_title,
    variant_title,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 25


def influence_picture(evidence: VariantResults) -> Picture | None:
    """The correlation of each metric, and its range when any one tracker is left out."""
    rows = [row for row in evidence.influence if row.lowest is not None]
    shown = sorted(((row.r, row) for row in rows if row.r is not None), key=lambda pair: -pair[0])[:MOST]
    if not shown:
        return None
    title = f"Correlations without each tracker in turn, the {len(shown)} best metrics"

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.3, 0.19 * len(shown) + 0.1)
        put_rows(axes, [Name.of(row).title() for _, row in shown])
        notes = [(short(row.tracker, 22), correlation(row.r_without)) for _, row in shown]
        put_notes(axes, [f"without {tracker}: {r}" for tracker, r in notes])
        colours = [family_of(row.metric).colour for _, row in shown]
        for colour in dict.fromkeys(colours):
            of_colour = [(y, r, row) for y, (r, row) in enumerate(shown) if colours[y] == colour]
            ranges = [(y, row.lowest, row.highest) for y, _, row in of_colour]
            put_intervals(axes, ranges, color=colour, linewidth=2.6, alpha=0.45)
            put_points(axes, [(r, y) for y, r, _ in of_colour], "o", color=colour, markersize=4.6)
            moved = [(r, y) for y, _, row in of_colour if (r := row.r_without) is not None]
            put_points(axes, moved, "|", color=colour, markersize=8, markeredgewidth=1.6)
        low = min(row.lowest for _, row in shown if row.lowest is not None)
        axes.set_xlim(max(-1.0, low - 0.06), 1.01)
        axes.set_xlabel(COEFFICIENTS.get(evidence.coefficient, evidence.coefficient))

    caption = (
        f"The dot is the correlation over {evidence.group} trackers, the bar its range when any one is left "
        "out; the tick and the note at the right show the tracker that changes it most. A correlation that "
        "one tracker makes is not a finding about metrics."
    )
    return draw("influence", title + in_brackets(evidence.title), caption, paint, evidence.variant)


def stability_picture(study: Study) -> Picture | None:
    every_variant = [evidence for evidence in study.evidence if evidence.rows(StabilityRow)]
    if not every_variant:
        return None
    title = "How the order of the metrics settles as trackers are added"

    def paint(figure: Figure) -> None:
        n = len(every_variant)
        width = 7.4 / n - 0.2 if n > 1 else 5.0
        every = panels(figure, 1, n, width, 2.6, across=0.25, sharey=True)
        for axes, evidence in zip(every, every_variant, strict=True):
            rows = evidence.rows(StabilityRow, evidence.group)
            ends = [(row.n_trackers, row.low, row.high) for row in rows]
            band = [(n, low, high) for n, low, high in ends if low is not None and high is not None]
            sizes, lows, highs = zip(*band, strict=True) if band else ((), (), ())
            axes.fill_between(sizes, lows, highs, color=SERIES[0], alpha=0.14, linewidth=0)
            agreements = [(row.n_trackers, row.agreement) for row in rows if row.agreement is not None]
            winners = [(row.n_trackers, row.same_winner) for row in rows if row.same_winner is not None]
            curves = (("order agrees (τ)", agreements), ("same metric first (share)", winners))
            for number, (label, points) in enumerate(curves):
                colour, marker = look(number)
                put_points(axes, points, f"{marker}-", color=colour, markersize=4, linewidth=1.5, label=label)
            axes.set_xlabel("trackers in the subset")
            lowest = min(row.low or 0.0 for row in evidence.rows(StabilityRow))
            axes.set_ylim(min(-0.05, lowest - 0.05), 1.05)
            axes.locator_params(axis="x", integer=True)
            axes.set_title(evidence.title, color=INK)
        every[0].set_ylabel("agreement with all trackers")
        put_legend(every[0], above=0.26)

    caption = (
        "Random subsets of the trackers against all of them: Kendall's τ between the two orders of metrics "
        "(the band holds 90 % of the subsets), and how often the same metric wins. At the right end "
        "everything is 1 by definition; a curve that only gets there at the last step has not settled."
    )
    return draw("stability", title, caption, paint)


def decided_blocks(study: Study) -> tuple[Block, ...]:
    """Text, curve and table of the targets with a verdict; empty where too few trackers can be left out."""
    judged = {verdict.target for verdict in study.verdict.verdicts}
    group = study.evidence[0].group if study.evidence else "all"
    rows = [
        row
        for row in study.tables[DecidedRow]
        if row.trackers == group and row.target in judged and row.pairs and row.right is not None
    ]
    if not rows:
        return ()
    lines = []
    for row, title in zip(rows, _titles(rows), strict=True):
        given = f"{share(row.low)} to {share(row.high)}"
        lines.append((title, given, str(row.pairs), share(row.predicted), share(row.right)))
    heads = described(DecidedRow, "target", low="given", pairs="#pairs", predicted="#mean", right="#right")
    return _decided_text(rows), _decided_picture(rows, group), table("", heads, lines, "decided.csv")


def _titles(rows: Sequence[DecidedRow]) -> list[str]:
    """The target, and the variant where there are several."""
    several = len({row.variant for row in rows}) > 1
    parts = [(target_title(row.target), variant_title(row.variant) if several else "") for row in rows]
    return [", ".join(filter(None, part)) for part in parts]


def _right(rows: Sequence[DecidedRow]) -> tuple[int, float]:
    """How many pairs, and the share that is right."""
    n = sum(row.pairs for row in rows)
    return n, sum(row.pairs * (row.right or 0.0) for row in rows) / max(n, 1)


def _decided_text(rows: Sequence[DecidedRow]) -> Text:
    """Of all targets together, since one alone has few pairs of a kind."""
    total, right = _right(rows)
    n, likely = _right([row for row in rows if round(row.low, 2) == 0.8])
    sentences = [f"Of {counted(total, 'pair')} of trackers left out, {share(right)} are decided rightly."]
    if n:
        sentences.append(f"Of the {n} that were given 80 to 90 %, {share(likely)} are right.")
    return Text((" ".join(sentences),))


def _decided_picture(rows: Sequence[DecidedRow], group: str) -> Picture:
    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.2, 3.0)
        axes.plot([0.5, 1.0], [0.5, 1.0], color=MUTED, linewidth=0.8)
        most = max(row.pairs for row in rows)
        titles = _titles(rows)
        for number, title in enumerate(dict.fromkeys(titles)):
            own = [row for row, name in zip(rows, titles, strict=True) if name == title]
            points = [(row.predicted or 0.0, row.right or 0.0) for row in own]
            sizes = [8.0 + 60.0 * row.pairs / most for row in own]
            colour, marker = look(number)
            x, y = zip(*points, strict=True)
            axes.plot(x, y, color=colour, linewidth=1.2)
            axes.scatter(x, y, s=sizes, color=colour, marker=marker, label=short(title, 60))
        axes.set_xlim(0.48, 1.02)
        axes.set_xlabel("chance given to the likelier one")
        axes.set_ylabel("share that is right")
        put_legend(axes, above=0.1, ncols=1)

    caption = (
        f"Every two {group} trackers are left out in turn. The metric with the highest correlation over the "
        "others gives the chance that one of the two has the better policy. On the diagonal it is what comes "
        "true, below it too much is claimed; small points are few pairs."
    )
    return draw("decided", "Which of two trackers is better, by scores alone", caption, paint)
