"""Which of two trackers is better by their scores alone: what is said of pairs left out, and is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import MARKERS, MUTED, SERIES, draw, panels, put_legend, short
from extrinsic.report.drawing.page_parts import Block, Picture, Text, described, table
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import target_title, variant_title
from extrinsic.study.number_texts import counted, share
from extrinsic.study.tables.schema import DecidedRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def decided_blocks(study: Study) -> tuple[Block, ...]:
    """Text, curve and table of the targets with a verdict; empty where too few trackers can be left out."""
    judged = {verdict.target for verdict in study.verdict.verdicts}
    group = study.evidence[0].group if study.evidence else "all"
    rows = [
        row
        for row in study.tables.decided
        if row.trackers == group and row.target in judged and row.pairs and row.right is not None
    ]
    if not rows:
        return ()
    lines = [
        (
            title,
            f"{share(row.low)} to {share(row.high)}",
            str(row.pairs),
            *map(share, (row.predicted, row.right)),
        )
        for row, title in zip(rows, _titles(rows), strict=True)
    ]
    heads = described(
        DecidedRow, target="target", low="given", pairs="#pairs", predicted="#mean", right="#right"
    )
    return _text(rows), _picture(rows, group), table("", heads, lines, "decided.csv")


def _titles(rows: Sequence[DecidedRow]) -> list[str]:
    """The target, and the variant where there are several."""
    several = len({row.variant for row in rows}) > 1
    variants = [variant_title(row.variant) if several else "" for row in rows]
    return [
        ", ".join(filter(None, (target_title(row.target), v))) for row, v in zip(rows, variants, strict=True)
    ]


def _right(rows: Sequence[DecidedRow]) -> tuple[int, float]:
    """How many pairs, and the share that is right."""
    n = sum(row.pairs for row in rows)
    return n, sum(row.pairs * (row.right or 0.0) for row in rows) / max(n, 1)


def _text(rows: Sequence[DecidedRow]) -> Text:
    """Of all targets together, since one alone has few pairs of a kind."""
    total, right = _right(rows)
    n, likely = _right([row for row in rows if round(row.low, 2) == 0.8])
    sentences = [f"Of {counted(total, 'pair')} of trackers left out, {share(right)} are decided rightly."]
    if n:
        sentences.append(f"Of the {n} that were given 80 to 90 %, {share(likely)} are right.")
    return Text((" ".join(sentences),))


def _picture(rows: Sequence[DecidedRow], group: str) -> Picture:
    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.2, 3.0)
        axes.plot([0.5, 1.0], [0.5, 1.0], color=MUTED, linewidth=0.8)
        most = max(row.pairs for row in rows)
        titles = _titles(rows)
        for number, title in enumerate(dict.fromkeys(titles)):
            own = [row for row, name in zip(rows, titles, strict=True) if name == title]
            points = [(row.predicted or 0.0, row.right or 0.0) for row in own]
            sizes = [8.0 + 60.0 * row.pairs / most for row in own]
            colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
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
