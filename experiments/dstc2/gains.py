"""What policies are worth on dev, tracker by tracker: learned, imitated, logged, and their differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.dstc2.cells import FILLS, Cell
from extrinsic.arrays import Floats
from extrinsic.study.run import Run
from extrinsic.study.store import Result

Rows = list[dict[str, Any]]
Worth = tuple[float, Floats]
"""A value, and what each dialog adds to or takes from it."""

ESTIMATOR = "mean_augmented"


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
    """With the interval that resampled dialogs give it."""
    difference, half = a[0] - b[0], 1.96 * float(np.sqrt(((a[1] - b[1]) ** 2).sum()))
    return {name: difference, f"{name}_low": difference - half, f"{name}_high": difference + half}


def placebo_rows(cell: Cell, run: Run, trackers: list[str]) -> Rows:
    """By LSTD alone, as the placebo is valued: what is gained in truth, and from shuffled actions."""
    rows: Rows = []
    n_dialogs = {row["dataset"]: row["n"] for row in run.table("returns")}
    logged = {
        (row["variant"], row["tracker"], row["dataset"]): row["value"]
        for row in run.table("returns")
        if row["policy"] == "behaviour"
    }
    learned = {
        (row["variant"], row["tracker"], row["dataset"]): row["value"]
        for row in run.table("returns")
        if (row["policy"], row["estimator"]) == ("rl", "lstd")
    }
    found = {
        (row["variant"], row["tracker"], row["dataset"]): row
        for row in run.table("diagnostics")
        if (row["policy"], row["estimator"]) == ("rl", "lstd")
    }
    datasets = list(n_dialogs)
    shares = np.array([n_dialogs[dataset] for dataset in datasets], dtype=np.float64)
    shares /= shares.sum()
    for fill in FILLS:
        for tracker in trackers:
            keys = [(f"fill={fill}", tracker, dataset) for dataset in datasets]
            # What LSTD says of the logged policy itself: what was observed and its gap.
            gain = [learned[key] - logged[key] - found[key]["on_policy_gap"] for key in keys]
            placebo = [found[key]["placebo_gain"] for key in keys]
            rows.append({
                **cell.label, "fill": fill, "tracker": tracker,
                "gain": float(shares @ np.array(gain)), "placebo": float(shares @ np.array(placebo)),
            })  # fmt: skip
    return rows
