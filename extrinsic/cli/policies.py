"""`extrinsic policies`: learners, features, rewards, filters and trackers compared on one corpus."""

from __future__ import annotations

import argparse
import sys

import msgspec

from extrinsic.cli.output import print_rows, print_table, put
from extrinsic.cli.run import carry_out
from extrinsic.study.run import Run
from extrinsic.study.runner import run_policies
from extrinsic.study.settings_file import read_policies
from extrinsic.study.tables import PolicyRow

HEADS = {name: name for name in ("policy", "estimator", "value", "low", "high", "difference")}
HEADS |= {"difference_low": "low", "difference_high": "high", "placebo_gain": "placebo", "flags": "flags"}


def run(arguments: argparse.Namespace) -> int:
    return carry_out(arguments, read_policies, run_policies, _show)


def _show(finished: Run, as_json: bool) -> None:
    """The mean over all datasets and trackers, by every estimator; the best first."""
    rows = finished.table(PolicyRow)
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
        of_estimator.sort(key=lambda row: -(row.value if row.value is not None else float("-inf")))
        lines = [{**msgspec.structs.asdict(row), "flags": " ".join(row.flags)} for row in of_estimator]
        print_table(lines, HEADS, sys.stdout)
        print()
