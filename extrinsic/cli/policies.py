"""`extrinsic policies`: learners, features, rewards, filters and trackers compared on one corpus."""

from __future__ import annotations

import argparse
import sys

from extrinsic.cli.output import print_rows, print_table, put
from extrinsic.cli.run import carry_out
from extrinsic.study.configuration.settings_file import read_policies
from extrinsic.study.finished_run import Run
from extrinsic.study.runner import run_policies
from extrinsic.study.tables.value_rows import PolicyRow

HEADS = {name: name for name in ("policy", "estimator", "value", "low", "high", "difference")}
HEADS |= {"difference_low": "low", "difference_high": "high", "placebo_gain": "placebo", "flags": "flags"}


def run(arguments: argparse.Namespace) -> int:
    return carry_out(arguments, read_policies, run_policies, _show)


def _show(finished: Run, as_json: bool) -> None:
    """The mean over all datasets and trackers, by every estimator; the best first."""
    rows = finished.table("policies")
    if as_json:
        print_rows(finished.signature, rows, sys.stdout)
        return
    shown = [row for row in rows if (row.dataset, row.tracker) == (rows[0].dataset, rows[0].tracker)]
    cells = len({(row.dataset, row.tracker) for row in rows} - {(shown[0].dataset, shown[0].tracker)})
    where = f"the mean of {cells} datasets and trackers" if cells else f"{rows[0].dataset}, {rows[0].tracker}"
    baselines = sorted({row.baseline for row in rows if row.baseline})
    print()
    put(f"Return of a dialog, {where}; differences to {' or '.join(baselines)}")
    for estimator in dict.fromkeys(row.estimator for row in shown):
        of_estimator = [row for row in shown if row.estimator == estimator]
        print_table([_line(row) for row in _ordered(of_estimator)], HEADS, sys.stdout)
        print()


def _ordered(rows: list[PolicyRow]) -> list[PolicyRow]:
    return sorted(rows, key=lambda row: -(row.value if row.value is not None else float("-inf")))


def _line(row: PolicyRow) -> dict[str, object]:
    line: dict[str, object] = {name: getattr(row, name) for name in HEADS}
    return {**line, "flags": " ".join(row.flags)}
