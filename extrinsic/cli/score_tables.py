"""Printing scores: a table for people, rows for programs, LaTeX and Markdown for papers."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from extrinsic.cli.output import print_rows
from extrinsic.cli.text_tables import print_table
from extrinsic.corpus.conventions import STATE_SETS, ScoreConventions
from extrinsic.corpus.ratings import Ratings
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import printable
from extrinsic.metrics.fga_fitting import FittedLambda
from extrinsic.metrics.items.state_tables import STATE
from extrinsic.metrics.paired_scores import PERMUTATIONS, PairedScore
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.scoring import Score, Scores
from extrinsic.metrics.sources import Source
from extrinsic.metrics.turn_correlation import TurnCorrelation
from extrinsic.signature import sign
from extrinsic.storage import content_hash, read_bytes, text_cell
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
    if form == "json":
        print_rows(scores.signature, scores.as_rows(), stream, **({"health": health} if health else {}))
        return
    if form == "csv":
        _print_csv(scores.as_rows(), scores.signature, stream)
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


def _print_csv(rows: list[dict[str, Any]], signature: str, stream: TextIO) -> None:
    """The signature is a column, so that every row keeps it and any reader of CSV can read the file."""
    writer = csv.DictWriter(stream, [*rows[0], "signature"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        signed = {**row, "signature": signature}
        writer.writerow(
            {
                name: text_cell(printable(cell)) if isinstance(cell, str) else cell
                for name, cell in signed.items()
            }
        )


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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    metrics, lines = _pivot(rows)
    head = _head(lines)
    cells = {line: _cells(line, by_metric, head) for line, by_metric in lines.items()}
    fixed = sum(max(map(len, column)) + 2 for column in zip(head, *cells.values(), strict=True))
    widest = max(_width(metric, lines) for metric in metrics)
    console = Console(file=stream, highlight=False)
    if not (console.is_terminal or "COLUMNS" in os.environ):
        console.width = WIDE  # a pipe has no width, and a number must never be cut off
    console.width = max(console.width, fixed + widest)
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
        print(f"{MARK} says nothing of the tracker: its file has joint hypotheses only", file=stream)
    if len(rows) < len(scores.rows):
        shown = f"{len(rows):,} of {len(scores.rows):,} scores shown"
        advice = "--all: every metric; --component, --json, --csv: more"
        console.print(f"{shown}; {advice}", style="dim", soft_wrap=True)
    console.print(Text(printable(scores.signature)), style="dim", soft_wrap=True)


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


def _print_markdown(rows: Sequence[Score], signature: str, stream: TextIO) -> None:
    metrics, lines = _pivot(rows)
    head = _head(lines)
    print("| " + " | ".join(map(_escape_markdown, [*head, *metrics])) + " |", file=stream)
    print("|" + "|".join(["---"] * len(head) + ["---:"] * len(metrics)) + "|", file=stream)
    for line, by_metric in lines.items():
        cells = [_escape_markdown(cell) for cell in _cells(line, by_metric, head)]
        print(
            "| " + " | ".join(cells + [_number(by_metric.get(metric)) for metric in metrics]) + " |",
            file=stream,
        )
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
    for line, by_metric in lines.items():
        cells = [_escape_latex(cell) for cell in _cells(line, by_metric, head)]
        print(
            " & ".join(cells + [_number(by_metric.get(metric)) for metric in metrics]) + r" \\", file=stream
        )
    print(r"\end{tabular}", file=stream)


def _escape_latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in printable(text))


def print_turn_correlations(
    results: Sequence[tuple[StateSets, TurnCorrelation]], form: str, stream: TextIO
) -> None:
    """One document for all files; a table each for people (LaTeX and Markdown have no form of their own)."""
    trackers = content_hash(*(states.signature for states, _ in results))[:12]
    first = results[0][0]
    signature = sign(
        format=first.conventions.name,
        gold=first.gold_signature[:12] or None,
        values=first.value_rules or None,
        trackers=trackers,
        turn_correlation="pearson",
    )
    rows = [{"tracker": states.name, **row} for states, result in results for row in result.as_rows()]
    if form == "json":
        print_rows(signature, rows, stream)
    elif form == "csv":
        _print_csv(rows, signature, stream)
    else:
        for states, result in results:
            _print_matrix(states, result, stream)
        print(printable(signature), file=stream)


def print_paired(
    rows: Sequence[PairedScore],
    sources: tuple[Source, Source],
    n_resamples: int,
    arguments: argparse.Namespace,
    stream: TextIO,
) -> None:
    """One table: both values, their difference with its interval, p, and which tracker the metric prefers."""
    first, second = (source.tracker for source in sources)
    states = first if isinstance(first, StateSets) else None
    signature = sign(
        format=sources[0].conventions.name,
        gold=states.gold_signature[:12] or None if states else None,
        values=states.value_rules or None if states else None,
        corpus=sources[0].corpus.signature[:12] if sources[0].corpus else None,
        paired=content_hash(first.signature, second.signature)[:12],
        bootstrap=f"{n_resamples},seed={arguments.seed}",
        permutations=str(PERMUTATIONS),
    )
    plain = [asdict(row) for row in rows]
    if arguments.form == "json":
        print_rows(signature, plain, stream)
        return
    if arguments.form == "csv":
        _print_csv(plain, signature, stream)
        return
    chosen = bool(arguments.metric or arguments.schedule or arguments.component)
    shown = [
        row
        for row in rows
        if chosen
        or (row.component in sources[0].conventions.shown_components and row.label_scheme in (None, "a"))
    ]
    heads = {
        "metric": "metric",
        "component": "component",
        "schedule": "schedule",
        "first": first.name,
        "second": second.name,
        "difference": "difference",
        "low": "low",
        "high": "high",
        "p": "p",
        "better": "better",
    }
    if any(row.label_scheme for row in shown):
        heads = {"metric": "metric", "label_scheme": "labels"} | heads
    lines = []
    for row in shown:
        undecided = row.difference is not None and parse_metric(row.metric).higher_is_better is not None
        better = row.better or ("not decided" if undecided else None)
        # Three decimals would print a small p as 0.
        lines.append(asdict(row) | {"p": "-" if row.p is None else f"{row.p:.4f}", "better": better})
    print_table(lines, heads, stream, markdown=arguments.form == "markdown")
    print(
        f"\ndifference: {first.name} less {second.name}; low, high: 95 % over {n_resamples:,} resamples of "
        f"{sources[0].n_dialogs:,} dialogs; p: {PERMUTATIONS:,} permutations, not adjusted for many metrics",
        file=stream,
    )
    print(f"\n{signature}", file=stream)


def print_fitted_lambda(
    fitted: FittedLambda,
    ratings: Ratings,
    systems: Sequence[StateSets],
    arguments: argparse.Namespace,
    stream: TextIO,
) -> None:
    """The chosen lambda, what it gets of dialogs that it was not chosen on, and what fixed ones get."""
    signature = sign(
        format=STATE_SETS.name,
        trackers=content_hash(*(states.signature for states in systems))[:12],
        ratings=content_hash(read_bytes(arguments.fit_fga))[:12],
        folds=str(arguments.folds),
        seed=str(arguments.seed),
    )
    rows = fitted.as_rows()
    if arguments.form == "json":
        print_rows(signature, rows, stream)
    elif arguments.form == "csv":
        _print_csv(rows, signature, stream)
    else:
        rated = "turns" if fitted.of_turns else "dialogs"
        counted = f"{ratings.n_ratings:,} ratings by {len(ratings.raters):,} people"
        print(f"{counted} of {fitted.n_units:,} {rated} ({fitted.n_dialogs:,} dialogs)", file=stream)
        choices = ", ".join(f"{decay:g}" for decay in fitted.of_folds)
        print(
            f"chosen: {fitted.metric}; over resampled dialogs lambda from {fitted.low:g} to {fitted.high:g}; "
            f"by fold {choices}\n",
            file=stream,
        )
        heads = {
            "metric": "metric",
            "choice": "lambda",
            "correlation": "r",
            "low": "low",
            "high": "high",
            "gain": "held out - this",
            "gain_low": "low",
            "gain_high": "high",
        }
        print_table(fitted.rows, heads, stream)
        print(f"\n{printable(signature)}", file=stream)


def _print_matrix(states: StateSets, result: TurnCorrelation, stream: TextIO) -> None:
    first = max(map(len, result.metrics))
    widths = [max(len(metric), 7) for metric in result.metrics]
    print(f"{printable(states.name)}: correlation of metrics over {states.n_turns:,} turns", file=stream)
    heads = (f"{metric:>{width}}" for metric, width in zip(result.metrics, widths, strict=True))
    print(" " * first, *heads, file=stream)
    for metric, row in zip(result.metrics, result.correlation, strict=True):
        texts = ("-" if value != value else f"{value:.4f}" for value in row)
        print(
            f"{metric:<{first}}",
            *(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True)),
            file=stream,
        )
    print(file=stream)
