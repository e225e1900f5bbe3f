"""Within a system: is it the dialog's difficulty, the last turn, or which slots are wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.multiwoz.grid import DIFFICULTY, FINAL, METRICS, OF_PARTS, OTHERS, OUTCOMES, PARTS
from experiments.multiwoz.within import Scatters
from extrinsic.arrays import Floats
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.partial import partial_scatter
from extrinsic.correlation.two_way import Split

Rows = list[dict[str, Any]]

COMPARED: tuple[Split, ...] = ("within", "both")


def rows_of_controls(found: Scatters) -> Rows:
    """Within a system: r with what makes a dialog hard held fixed, also with what others made of it."""
    rows: Rows = []
    for outcome in OUTCOMES:
        held = {"difficulty": DIFFICULTY, "others": (*DIFFICULTY, OTHERS + outcome)}
        for metric in METRICS:
            row: dict[str, Any] = {"outcome": outcome, "metric": metric}
            row |= {"r": float(found.r("within", None, [metric], [outcome])[0, 0, 0])}
            for name, given in held.items():
                row |= _with_interval(found, name, metric, outcome, given)
                row |= _above_jga(found, name, metric, outcome, given)
            rows.append(row)
    return rows


def _with_interval(
    found: Scatters, name: str, metric: str, outcome: str, given: Sequence[str] = (), split: Split = "within"
) -> dict[str, float]:
    r = found.r(split, None, [metric], [outcome], given)[0]
    low, high = interval(r, found.r(split, "both", [metric], [outcome], given))
    return {name: float(r[0, 0]), f"{name}_low": float(low[0, 0]), f"{name}_high": float(high[0, 0])}


def _above_jga(
    found: Scatters, name: str, metric: str, outcome: str, given: Sequence[str]
) -> dict[str, float]:
    r = found.r("within", None, [metric, "jga"], [outcome], given)[0, :, 0]
    drawn = found.r("within", "both", [metric, "jga"], [outcome], given)[:, :, 0]
    low, high = interval(r[0] - r[1], drawn[:, 0] - drawn[:, 1])
    key = f"{name}_minus_jga"
    return {key: float(r[0] - r[1]), f"{key}_low": float(low), f"{key}_high": float(high)}


def rows_of_final(found: Scatters) -> Rows:
    """All turns against the last alone."""
    rows: Rows = []
    for outcome in OUTCOMES:
        for metric in METRICS:
            if FINAL + metric not in found.names:
                continue
            row: dict[str, Any] = {"outcome": outcome, "metric": metric}
            for split in COMPARED:
                pair = [FINAL + metric, metric]
                r = found.r(split, None, pair, [outcome])[0, :, 0]
                drawn = found.r(split, "both", pair, [outcome])[:, :, 0]
                low, high = interval(r[0] - r[1], drawn[:, 0] - drawn[:, 1])
                row |= {f"{split}_all": float(r[1]), f"{split}_last": float(r[0])}
                row |= {f"{split}_difference": float(r[0] - r[1])}
                row |= {f"{split}_low": float(low), f"{split}_high": float(high)}
            rows.append(row)
    return rows


def rows_of_others(found: Scatters) -> Rows:
    """What else there is to compare with: slots searched or not, difficulty, other systems, all metrics."""
    rows: Rows = []
    for outcome in OUTCOMES:
        for name in (*(part + metric for part in PARTS for metric in OF_PARTS), OTHERS + outcome):
            row: dict[str, Any] = {"outcome": outcome, "predictor": name}
            for split in COMPARED:
                # Once dialogs are taken away, the others' outcome is this one's by construction.
                if split == "within" or not name.startswith(OTHERS):
                    row |= _with_interval(found, split, name, outcome, split=split)
            rows.append(row)
        for name, given in (("domains, gold slots and turns", DIFFICULTY), ("all metrics", METRICS)):
            rows.append({"outcome": outcome, "predictor": name} | _multiple(found, outcome, given))
    return rows


def _multiple(found: Scatters, outcome: str, given: Sequence[str]) -> dict[str, float]:
    """The multiple correlation, in sample."""
    (at,) = found.at([outcome])

    def multiple(scatters: Floats) -> Floats:
        left = partial_scatter(scatters, found.at(given))[:, at, at] / scatters[:, at, at]
        return np.asarray(np.sqrt(np.maximum(1.0 - left, 0.0)))

    r = multiple(found.observed["within"])
    low, high = interval(r[0], multiple(found.resampled["both"]["within"]))
    return {"within": float(r[0]), "within_low": float(low), "within_high": float(high)}
