"""What policies are worth on dev, tracker by tracker: learned, imitated, logged, and their differences."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from experiments.dstc2.candidates import ESTIMATOR, FILLS
from experiments.dstc2.cells import Cell
from extrinsic.arrays import Floats
from extrinsic.study.finished_run import Run
from extrinsic.study.stages.store import Result

Rows = list[dict[str, Any]]
Worth = tuple[float, Floats]
"""A value, and what each dialog adds to or takes from it."""


def gain_rows(cell: Cell, run: Run, trackers: list[str]) -> Rows:
    """A row for every fill rule and tracker; every dialog counts as much, whatever its condition."""
    rows: Rows = []
    for tracker in trackers:
        stored = dict(run.stored("learn", tracker))
        for fill in FILLS:
            worth = _worth(stored[f"fill={fill}"])
            rl = worth["rl", ESTIMATOR]
            row = {**cell.label, "fill": fill, "tracker": tracker}
            for name, key in (("behaviour", "observed"), ("sl_sampled", ESTIMATOR)):
                row[name] = worth[name, key][0]
            row["rl"] = rl[0]
            row |= _difference("rl_behaviour", rl, worth["behaviour", "observed"])
            row |= _difference("rl_sl", rl, worth["sl_sampled", ESTIMATOR])
            rows.append(row)
    return rows


def _worth(result: Result) -> dict[tuple[str, str], Worth]:
    """Of every policy by every estimator, over all conditions together."""
    datasets = dict.fromkeys(row["dataset"] for row in result.values["rows"])
    parts: dict[tuple[str, str], dict[str, Worth]] = {}
    for number, row in enumerate(result.values["rows"]):
        of = parts.setdefault((row["policy"], row["estimator"]), {})
        of[row["dataset"]] = row["value"], result.arrays[f"influence{number}"]
    return {key: _together([of[dataset] for dataset in datasets]) for key, of in parts.items()}


def _together(parts: list[Worth]) -> Worth:
    sizes = np.array([len(influence) for _, influence in parts], dtype=np.float64)
    shares = sizes / sizes.sum()
    value = float(shares @ np.array([value for value, _ in parts]))
    return value, np.concatenate(
        [share * influence for share, (_, influence) in zip(shares, parts, strict=True)]
    )


def _difference(name: str, a: Worth, b: Worth) -> dict[str, float]:
    """With a normal interval over dialogs; what the estimator gets wrong is not in it."""
    difference, half = a[0] - b[0], 1.96 * float(np.sqrt(((a[1] - b[1]) ** 2).sum()))
    return {name: difference, f"{name}_low": difference - half, f"{name}_high": difference + half}


def check_rows(cell: Cell, run: Run, trackers: list[str]) -> Rows:
    """Of the main run: what is gained by LSTD, in truth and from shuffled actions (the placebo is valued so);
    and what the study's estimator says of the logged policy itself, less what was observed."""
    returns = {
        (row.variant, row.tracker, row.dataset, row.policy, row.estimator): row.value
        for row in run.table("returns")
    }
    diagnostics = {
        (row.variant, row.tracker, row.dataset, row.policy, row.estimator, row.diagnostic): row.value
        for row in run.table("diagnostics")
    }
    sizes = {row.dataset: row.n for row in run.table("returns")}
    shares = np.array(list(sizes.values()), dtype=np.float64) / sum(sizes.values())
    rows: Rows = []
    for fill in FILLS:
        for tracker in trackers:
            gain, placebo, own = [], [], []
            for dataset in sizes:
                place = (f"fill={fill}", tracker, dataset)
                parts = (
                    returns[*place, "rl", "lstd"],
                    returns[*place, "behaviour", "observed"],
                    diagnostics[*place, "rl", "lstd", "on_policy_gap"],
                )
                learned, logged, gap = (np.nan if part is None else part for part in parts)
                gain.append(learned - logged - gap)
                placebo.append(diagnostics[*place, "rl", "lstd", "placebo_gain"])
                own.append(diagnostics[*place, "rl", ESTIMATOR, "on_policy_gap"])
            rows.append(
                {
                    **cell.label,
                    "fill": fill,
                    "tracker": tracker,
                    "gain": float(shares @ np.array(gain)),
                    "placebo": float(shares @ np.array(placebo)),
                    "on_policy_gap": float(shares @ np.array(own)),
                }
            )
    return rows


def flag_rows(run: Run) -> Rows:
    """How many values of the learned policy carry which flag."""
    rows = [row for row in run.table("returns") if (row.policy, row.estimator) == ("rl", ESTIMATOR)]
    counts = Counter(flag for row in rows for flag in row.flags)
    return [{"flag": flag, "count": count, "of": len(rows)} for flag, count in sorted(counts.items())]
