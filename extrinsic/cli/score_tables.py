"""Printing scores: a table for people, rows for programs, LaTeX and Markdown for papers."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.cli.output import print_data
from extrinsic.corpus.conventions import ScoreConventions
from extrinsic.errors import printable
from extrinsic.metrics.items.state_tables import STATE
from extrinsic.metrics.scoring import Score, Scores
from extrinsic.study.health import HealthNote
from extrinsic.study.naming import Name, is_of_single_slots

WIDE = 1_000
TELLING = ("accuracy", "l2", "jga", "slot_f1")
"""The metrics that a table shows unless more are asked for; beside the tracker they fit in 80 columns."""

Line = tuple[str, str, int, str | None]
"""Tracker, component, schedule, label scheme."""

Lines = dict[Line, dict[str, Score]]


def print_scores(
    scores: Scores,
    form: str,
    shown: ScoreConventions | None,
    stream: TextIO,
    every: bool = False,
    health: Sequence[HealthNote] = (),
) -> None:
    """shown: the conventions whose default rows a table has; None for all rows, where the user chose them.

    every: all metrics and components of these; otherwise a table for people has the few telling ones: the
    joint goal and all slots.   health: what is wrong with the files.
    """
    noted = {"health": health} if health else {}
    if print_data(form, scores.as_rows(), scores.signature, stream, **noted):
        return
    rows = [row for row in scores.rows if shown is None or _is_default(row, shown)]
    if form == "latex":
        _print_latex(rows, scores.signature, stream)
    elif form == "markdown":
        _print_markdown(rows, scores.signature, stream)
    else:
        if shown is not None and not every:
            components = (*shown.shown_components[:2], STATE)
            telling = [row for row in rows if row.metric.partition("(")[0] in TELLING]
            rows = [row for row in telling if row.component in components] or telling or rows
        _print_table(rows, scores, stream, {name for note in health for name in note.trackers})


def _is_default(row: Score, conventions: ScoreConventions) -> bool:
    components = (*conventions.shown_components, STATE)
    return row.component in components and row.label_scheme in (None, conventions.label_schemes[0])


def _pivot(rows: Sequence[Score]) -> tuple[list[str], Lines]:
    """A line for each tracker, component, schedule and label scheme, a column for each metric."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    lines: Lines = {}
    for row in rows:
        key = (row.tracker, row.component, row.schedule, row.label_scheme)
        lines.setdefault(key, {})[row.metric] = row
    return metrics, lines


def _number(score: Score | None) -> str:
    if score is None:
        return ""
    if score.value is None:
        return "-"
    text = f"{score.value:.4f}" if abs(score.value) < 1000 else f"{score.value:,.0f}"
    return text if score.low is None or score.high is None else f"{text} [{score.low:.4f}, {score.high:.4f}]"


def _head(lines: Lines) -> list[str]:
    head = ["tracker", "component", "schedule"]
    head += ["labels", "n"] if any(line[3] for line in lines) else ["n"]
    changed = any(score.changed is not None for scores in lines.values() for score in scores.values())
    return [*head, "changed"] if changed else head


def _cells(line: Line, by_metric: dict[str, Score], head: Sequence[str]) -> list[str]:
    tracker, component, schedule, labels = line
    # Metrics of one line may count different items (turns with a gold state); the largest n is shown.
    n = max(score.n for score in by_metric.values())
    changed = max(score.changed or 0 for score in by_metric.values())
    cells = {
        "tracker": tracker,
        "component": component,
        "schedule": str(schedule),
        "labels": labels or "",
        "n": f"{n:,}",
        "changed": f"{changed:,}",
    }
    return [printable(cells[name]) for name in head]


MARK = "*"


def _is_empty(score: Score | None, joint_only: Collection[str]) -> bool:
    """Whether it is of single slots, of a tracker that has no beliefs about them."""
    return (
        score is not None
        and score.tracker in joint_only
        and is_of_single_slots(Name(score.metric, score.schedule, score.component))
    )


def _print_table(
    rows: Sequence[Score], scores: Scores, stream: TextIO, joint_only: Collection[str] = ()
) -> None:
    metrics, lines = _pivot(rows)
    head = _head(lines)
    cells = {line: _cells(line, by_metric, head) for line, by_metric in lines.items()}
    fixed = sum(max(map(len, column)) + 2 for column in zip(head, *cells.values(), strict=True))
    widest = max(_width(metric, lines) for metric in metrics)
    console = Console(file=stream, highlight=False)
    if not (console.is_terminal or "COLUMNS" in os.environ):
        console.width = WIDE  # a pipe has no width, and a number must never be cut off
    console.width = max(console.width, fixed + widest)
    with console.capture() as text:  # rich would leave with exit code 1 where the reader closed the pipe
        for part in _fitting(metrics, lines, console.width - fixed):
            table = Table(box=None, pad_edge=False, header_style="bold")
            # As Text: a name in brackets would be taken for a style.
            for name in head:
                table.add_column(
                    name, justify="right" if name in ("n", "schedule", "changed") else "left", no_wrap=True
                )
            for metric in part:
                table.add_column(Text(printable(metric)), justify="right", no_wrap=True)
            for line, by_metric in lines.items():
                numbers = []
                for score in map(by_metric.get, part):
                    mark = MARK if _is_empty(score, joint_only) else " " * bool(joint_only)
                    numbers.append(Text(_number(score) + mark))
                table.add_row(*map(Text, cells[line]), *numbers)
            console.print(table)
            console.print()
        if any(_is_empty(row, joint_only) for row in rows):
            empty = f"{MARK} says nothing of the tracker: its file has joint hypotheses only"
            console.print(empty, soft_wrap=True)
        if len(rows) < len(scores.rows):
            shown = f"{len(rows):,} of {len(scores.rows):,} scores shown"
            advice = "--all: every metric; --component, --json, --csv: more"
            console.print(f"{shown}; {advice}", style="dim", soft_wrap=True)
        console.print(Text(printable(scores.signature)), style="dim", soft_wrap=True)
    stream.write(text.get())


def _width(metric: str, lines: Lines) -> int:
    """The width of a metric's column, with the space beside it."""
    return max([len(metric), *(len(_number(by_metric.get(metric))) for by_metric in lines.values())]) + 2


def _fitting(metrics: Sequence[str], lines: Lines, width: int) -> list[list[str]]:
    """The metrics in groups that fit beside each other."""
    groups: list[list[str]] = [[]]
    used = 0
    for metric in metrics:
        needed = _width(metric, lines)
        if groups[-1] and used + needed > width:
            groups.append([])
            used = 0
        groups[-1].append(metric)
        used += needed
    return groups


def _escaped(
    lines: Lines, head: Sequence[str], metrics: Sequence[str], escape: Callable[[str], str]
) -> Iterator[list[str]]:
    for line, by_metric in lines.items():
        numbers = [_number(by_metric.get(metric)) for metric in metrics]
        yield [*map(escape, _cells(line, by_metric, head)), *numbers]


def _print_markdown(rows: Sequence[Score], signature: str, stream: TextIO) -> None:
    metrics, lines = _pivot(rows)
    head = _head(lines)
    rule = ["---"] * len(head) + ["---:"] * len(metrics)
    print(f"| {' | '.join(map(_escape_markdown, [*head, *metrics]))} |\n|{'|'.join(rule)}|", file=stream)
    for cells in _escaped(lines, head, metrics, _escape_markdown):
        print(f"| {' | '.join(cells)} |", file=stream)
    print(f"\n`{printable(signature).replace('`', chr(39))}`", file=stream)


MARKDOWN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*[]|~"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


def _escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is: neither its own signs nor HTML in it are obeyed.

    An underscore within a word means nothing in Markdown, and names are full of them.
    """
    return printable(text).translate(MARKDOWN)


def _print_latex(rows: Sequence[Score], signature: str, stream: TextIO) -> None:
    metrics, lines = _pivot(rows)
    head = _head(lines)
    print(f"% {printable(signature)}", file=stream)
    print(f"\\begin{{tabular}}{{{'l' * len(head)}{'r' * len(metrics)}}}", file=stream)
    print(" & ".join(map(_escape_latex, [*head, *metrics])) + r" \\ \hline", file=stream)
    for cells in _escaped(lines, head, metrics, _escape_latex):
        print(" & ".join(cells) + r" \\", file=stream)
    print(r"\end{tabular}", file=stream)


def _escape_latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in printable(text))
