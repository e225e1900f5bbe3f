"""What is kept of the runs: metrics.csv and returns.csv, a column for every metric and every return."""

from __future__ import annotations

import msgspec

from extrinsic.verdict.names import Name

FILLS = ("argmax", "threshold")
LEE = (
    *("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v1_eer", "roc.v1_ca05", "roc.v1_ca10", "roc.v1_ca20"),
    *("roc.v2_ca05", "roc.v2_ca10", "roc.v2_ca20"),
)
"""His eleven metrics; L2 as the challenge scores it, and in his words."""

STATES = (
    *("jga", "slot_accuracy", "relative_slot_accuracy", "average_goal_accuracy"),
    *("improved_average_goal_accuracy", "slot_f1", "turn_match", "fga(0.5)", "gca"),
)
"""State-set metrics that stand beside them, filled by both rules of the reward, on schedule 1."""


def filled(metric: str, rule: str) -> str:
    """The printed form of a state-set metric of beliefs: `jga(fill=argmax)`, `fga(0.5, fill=argmax)`."""
    return f"{metric[:-1]}, fill={rule})" if metric.endswith(")") else f"{metric}(fill={rule})"


METRICS = (
    *(Name(metric, schedule, part) for schedule in (1, 2, 3) for part in ("joint", "all") for metric in LEE),
    *(Name("brier", schedule, part) for schedule in (1, 2, 3) for part in ("joint", "all")),
    *(Name(filled(metric, rule), 1, "state") for rule in FILLS for metric in STATES),
)
"""In the order of the columns of metrics.csv."""

TARGETS = (
    *("rl.live", "rl.gain", "rl.completed", "expert.live", "rl.lstd", "sl.live", "expert.completed"),
    *("behaviour.live", "behaviour.observed"),
)
RETURNS = tuple((fill, target) for fill in FILLS for target in TARGETS)
"""Fill rule, and policy with estimator, of every column of returns.csv."""


def _wide(name: str, columns: list[str], kind: object) -> type[msgspec.Struct]:
    """A row for every tracker on every dataset with every seed, and a column for every value."""
    fields = {f"value_{number}": column for number, column in enumerate(columns)}
    keys = [("seed", int), ("dataset", str), ("tracker", str), ("core", bool)]
    return msgspec.defstruct(name, [*keys, *((field, kind) for field in fields)], frozen=True, rename=fields)


MetricValues = _wide("MetricValues", [f"{n.metric} {n.component} {n.schedule}" for n in METRICS], int | None)
"""Metrics in thousandths, in the order of METRICS."""

ReturnValues = _wide("ReturnValues", [" ".join(column) for column in RETURNS], float | None)
"""Returns to a tenth of a point and shares of callers in percent, in the order of RETURNS."""
