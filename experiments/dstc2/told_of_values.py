"""Sentences on what is gained, what a metric adds to it, and on the control."""

from __future__ import annotations

import numpy as np

from experiments.dstc2.candidates import FILLS
from experiments.dstc2.control import RETURN
from experiments.dstc2.shown import DEGENERATE, MAIN, Rows, mean
from experiments.tables import chosen, spelled

LARGE = 10
"""Points, of a placebo's gain."""


def told_of_gains(gains: Rows, checks: Rows, flags: Rows) -> str:
    some, checked = ([row for row in rows if row["tracker"] != DEGENERATE] for rows in (gains, checks))
    lines = []
    for fill in FILLS:
        of = chosen(checked, fill=fill)
        seen = mean(chosen(some, **MAIN, fill=fill), "rl_behaviour")
        large = sum(abs(row["placebo"]) > LARGE for row in of)
        lines.append(
            f"- Filled by {fill}: {seen:+.1f} over the logged policy, of which the estimator itself adds "
            f"{mean(of, 'on_policy_gap'):+.1f}: so much more than was observed does it say of the logged "
            "policy. "
            f"By LSTD alone, against its own word on the logged policy: {mean(of, 'gain'):+.1f}, and "
            f"{mean(of, 'placebo'):+.1f} when it learns from shuffled actions (the placebo; beyond {LARGE} "
            "points "
            f"for {large} of {len(of)} trackers)."
        )
    told = ", ".join(f"{row['flag']} {row['count']} of {row['of']}" for row in flags)
    lines.append(f"- Flags of the learned policies' values, by tracker, condition and fill rule: {told}.")
    return "\n".join(lines)


def told_of_good(gains: Rows, good: list[str], error: float) -> str:
    """How much room there is among the good trackers for anything to be resolved."""
    rows = [row for row in chosen(gains, **MAIN, fill=FILLS[0]) if row["tracker"] != DEGENERATE]
    spread, few = (
        float(np.std([row["rl"] for row in of], ddof=1))
        for of in (rows, [row for row in rows if row["tracker"] in good])
    )
    return (
        f"Returns of the good trackers have a standard deviation of {few:.1f} points (of all but "
        f"{DEGENERATE}: "
        f"{spread:.1f}), where the estimator errs by {error:.0f}: that nothing is clear among them says "
        "that there "
        "is little to see, not that metrics are equally good."
    )


def told_of_control(rows: Rows) -> str:
    metrics = [row for row in rows if row["metric"] != RETURN]
    clear = sum(row["low"] > 0 for row in metrics)
    flat = sum(row["between_trackers"] is None for row in rows)
    first = max(metrics, key=lambda row: row["between_calls"])
    own = next(row for row in rows if row["metric"] == RETURN)
    return (
        f"{clear} of {len(metrics)} metrics go with success between calls, the first {first['metric']} with "
        f"{spelled(first, 'between_calls')}; the logged return itself {spelled(own, 'between_calls')}. That "
        f"is how hard a call is, not what a tracker does. Between trackers {flat} of {len(rows)} have no r: "
        "an "
        "identity, which cannot fail, and stands here to show what a null looks like. *pooled* mixes four "
        "conditions, that is four values of success: what a study gets for free that does not centre."
    )
