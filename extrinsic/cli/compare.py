"""`extrinsic compare`: two trackers of a run, side by side, and the dialogs that explain the difference."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from extrinsic.cli.arguments import add_trust_argument, open_run
from extrinsic.cli.output import print_rows, put, say
from extrinsic.cli.text_tables import print_table
from extrinsic.errors import InputError, UsageError

if TYPE_CHECKING:
    from extrinsic.study.comparing import ComparisonRow
    from extrinsic.study.disagreements import Disagreement

NAME = "compare"
HELP = "compare two trackers of a run: every metric and return, and the dialogs that differ"
DESCRIPTION = (
    "Compare two trackers of a run: every return and metric, their difference with a 95 % interval over "
    "dialogs and a p-value by exchanging the two dialog by dialog; then the dialogs in which they differ "
    "most, turn by turn."
)

IN_PAGE = 10
"""How many dialogs the page shows, turn by turn."""

LONGEST = 30


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="the directory of a run")
    parser.add_argument("first", metavar="A", help="a tracker of the run")
    parser.add_argument("second", metavar="B", help="another one")
    parser.add_argument("--dataset", metavar="D", help="show this dataset (default: the mean over all)")
    parser.add_argument("--dialogs", type=int, default=2, metavar="N", help="dialogs to show, 0 for none (2)")
    parser.add_argument("--output", metavar="FILE", help="the page (default: RUN/compare-A-B.html)")
    parser.add_argument("--seed", type=int, default=0, metavar="K", help="of the resamples (0)")
    parser.add_argument("--json", action="store_true", help="every row, of every dataset, as JSON on stdout")
    add_trust_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.report.comparison import write_comparison
    from extrinsic.study.comparing import MEAN, compare_trackers
    from extrinsic.study.disagreements import most_different_dialogs

    if arguments.dialogs < 0:
        raise UsageError("the number of dialogs must be at least 0", found=str(arguments.dialogs))
    finished = open_run(arguments.run_folder, arguments.trust_plugins)
    if finished.is_grid:
        raise InputError(
            "this run compares policies, not trackers: its differences are in policies.csv",
            path=str(finished.folder),
        )
    with finished.reading():
        rows = compare_trackers(finished, arguments.first, arguments.second, arguments.seed)
    if arguments.json:
        print_rows(finished.signature, rows, sys.stdout)
        return 0
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    shown = arguments.dataset or (MEAN if MEAN in datasets else datasets[0])
    if shown not in datasets:
        raise UsageError(f"the run has no dataset {shown!r}", expected=f"one of {', '.join(datasets[1:])}")
    _print_rows([row for row in rows if row.dataset == shown], arguments.first, arguments.second)
    with finished.reading():
        most = max(arguments.dialogs, IN_PAGE)
        dialogs = most_different_dialogs(finished, arguments.first, arguments.second, most)
    for dialog in dialogs[: arguments.dialogs]:
        _print_dialog(dialog, arguments.first, arguments.second)
    path = write_comparison(finished, arguments.first, arguments.second, rows, dialogs, arguments.output)
    say(f"the page: {path}")
    return 0


def _print_rows(rows: list[ComparisonRow], first: str, second: str) -> None:
    from msgspec.structs import replace

    put(
        f"{first} against {second}, {rows[0].dataset} "
        "(95% interval of the difference; p by exchanging dialogs)"
    )
    heads = {
        "a": first,
        "b": second,
        "difference": "difference",
        "low": "low",
        "high": "high",
        "p": "p",
        "better": "better",
    }
    names = {"a": first, "b": second}
    named = [replace(row, better=names.get(row.better or "")) for row in rows]
    returns = [row for row in named if row.kind == "return"]
    if returns:
        print("\nValues of policies built on them")
        print_table(returns, {"variant": "variant", "name": "return", **heads}, sys.stdout)
    print("\nMetrics")
    metrics = [row for row in named if row.kind == "metric"]
    labels = {"name": "metric", "schedule": "schedule", "component": "component"}
    print_table(metrics, {**labels, **heads}, sys.stdout)


def _print_dialog(dialog: Disagreement, first: str, second: str) -> None:
    ahead = first if dialog.difference > 0 else second
    print()
    put(
        f"Dialog {dialog.session} of {dialog.dataset}: {ahead} has {abs(dialog.difference)} more slots "
        "right, summed over turns"
    )
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
