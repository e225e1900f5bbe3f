"""`extrinsic compare`: two trackers of a run, side by side, and the dialogs that explain the difference."""

from __future__ import annotations

import argparse
import sys

from extrinsic.cli.output import print_rows, print_table, put, say
from extrinsic.cli.report import open_run
from extrinsic.errors import InputError, UsageError
from extrinsic.report.comparison import write_comparison
from extrinsic.study.comparing import (
    Disagreement,
    compare_trackers,
    comparison_costs,
    comparison_verdicts,
    most_different_dialogs,
)
from extrinsic.verdict.compare import MEAN, ComparisonRow, costs_sentence, digits_of, telling_rows
from extrinsic.verdict.names import NOTHING, Name, target_title, variant_title

IN_PAGE = 10
"""How many dialogs the page shows, turn by turn."""

LONGEST = 30


def run(arguments: argparse.Namespace) -> int:
    if arguments.dialogs < 0:
        raise UsageError("the number of dialogs must be at least 0", found=str(arguments.dialogs))
    finished = open_run(arguments.run_folder, arguments.trust_plugins)
    if finished.is_grid:
        message = "this run compares policies, not trackers: its differences are in policies.csv"
        raise InputError(message, path=str(finished.folder))
    with finished.reading():
        rows = compare_trackers(finished, arguments.first, arguments.second, arguments.seed)
        verdicts = comparison_verdicts(finished, rows, arguments.first, arguments.second)
        costs = comparison_costs(finished, arguments.first, arguments.second)
    if arguments.json:
        print_rows(finished.signature, rows, sys.stdout, verdict=verdicts, costs=costs)
        return 0
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    shown = arguments.dataset or (MEAN if MEAN in datasets else datasets[0])
    if shown not in datasets:
        raise UsageError(f"the run has no dataset {shown!r}", expected=f"one of {', '.join(datasets[1:])}")
    for verdict in verdicts:
        put(verdict.sentence)
        for flag in verdict.flags:
            put(f"  {flag}")
    without = "No metric can be judged on this pair: none has a value for both."
    put(costs_sentence(costs, len(verdicts) > 1) or without)
    of_dataset = [row for row in rows if row.dataset == shown]
    target = verdicts[0].target if verdicts else ""
    _print_rows(of_dataset, arguments.first, arguments.second, target, arguments.all)
    with finished.reading():
        most = max(arguments.dialogs, IN_PAGE)
        dialogs = most_different_dialogs(finished, arguments.first, arguments.second, most)
    wanted = max(arguments.dialogs, 2) if arguments.all else arguments.dialogs
    for dialog in dialogs[:wanted]:
        _print_dialog(dialog, arguments.first, arguments.second)
    if not wanted and dialogs:
        print()
        put(f"{_heading(dialogs[0], arguments.first, arguments.second)}; --all shows it turn by turn")
    path = write_comparison(
        finished, arguments.first, arguments.second, rows, dialogs, verdicts, costs, arguments.output
    )
    say(f"the page: {path}")
    return 0


def _print_rows(rows: list[ComparisonRow], first: str, second: str, target: str, every: bool) -> None:
    """The telling rows, or all of them, under titles that people use."""
    heads = {"name": "", "a": first, "b": second, "difference": "difference", "p": "p", "better": "better"}
    names = {"a": first, "b": second}
    for kind, title in (("return", "Values of policies built on them"), ("metric", "Metrics")):
        of_kind = [row for row in rows if row.kind == kind]
        shown = of_kind if every else telling_rows(of_kind, target)
        if not shown:
            continue
        several = len({row.variant for row in of_kind if row.variant}) > 1
        lines = []
        for row in shown:
            if kind == "metric":
                name = Name(row.name, row.schedule or 0, row.component or "").directed()
            else:
                name = target_title(row.name).removeprefix("the ")
                name += f" ({variant_title(row.variant)})" if several and row.variant else ""
            digits = digits_of(row)
            # + 0.0: no -0.0 on the screen.
            a, b, difference, low, high = (
                NOTHING if value is None else f"{round(value, digits) + 0.0:.{digits}f}"
                for value in (row.a, row.b, row.difference, row.low, row.high)
            )
            p = NOTHING if row.p is None else f"{row.p:.3f}"
            line = {"name": name, "a": a, "b": b, "difference": f"{difference} [{low}, {high}]", "p": p}
            lines.append({**line, "better": names.get(row.better or "", "")})
        print()
        where = "mean of all datasets" if rows[0].dataset == MEAN else rows[0].dataset
        put(f"{title}, {where} (with 95 % intervals of the difference)")
        print_table(lines, heads, sys.stdout)
        if len(of_kind) > len(shown):
            print(f"... {len(of_kind) - len(shown)} more with --all")


def _heading(dialog: Disagreement, first: str, second: str) -> str:
    ahead = first if dialog.difference > 0 else second
    return (
        f"Dialog {dialog.session} of {dialog.dataset}: {ahead} has {abs(dialog.difference)} more slots "
        "right, summed over turns"
    )


def _print_dialog(dialog: Disagreement, first: str, second: str) -> None:
    print()
    put(_heading(dialog, first, second))
    for turn in dialog.turns:
        put(f"  turn {turn.number}  system: {turn.system}" if turn.system else f"  turn {turn.number}")
        if turn.heard:
            put("    heard: " + ", ".join(f"{text} {score:.2f}" for text, score in turn.heard))
        for slot in turn.slots:
            sides = []
            for name, entries, right in zip((first, second), slot.beliefs, slot.correct, strict=True):
                mark = "+" if right else "-"
                best = ", ".join(f"{_short(value)} {score:.2f}" for value, score in entries[:2])
                sides.append(f"{mark} {name}: {best}")
            wanted = " or ".join(map(_short, slot.right)) or "none"
            put(f"    {slot.slot} = {wanted}   " + "   ".join(sides))


def _short(text: str) -> str:
    """A value, cut so that others fit on the line."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
