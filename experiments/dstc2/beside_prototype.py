"""The figures of a prototype of this project beside ours, and why one of them differs."""

from __future__ import annotations

from experiments.dstc2.candidates import FILLS
from experiments.dstc2.prototype import WAY
from experiments.dstc2.shown import DEGENERATE, GROUPS, MAIN, Row, Rows, headline, mean
from experiments.tables import chosen, markdown

PROTOTYPE = {"accuracy": (0.85, 0.95), "jga": (0.85, 0.95), "l2": (0.60, 0.80), "roc.v2_ca05": (-0.10, 0.10)}
"""What a prototype of this project had over 17 trackers, by the issue that asked for this study; "about 0"
taken as within .1."""

STEPS = {"features": "the state", "sl": "how SL acts", "estimator": "the estimator"}
PROTOTYPE_GAIN = 3.5
"""RL over SL, in points; in 11 of its 17 trackers."""


def prototype_table(correlations: Rows, gains: Rows) -> str:
    """The prototype's figures beside ours."""
    lines = []
    for metric, (low, high) in PROTOTYPE.items():
        line: Row = {"figure": f"r of {metric}@1", "prototype": f"{low:.2f} to {high:.2f}"}
        for group in GROUPS:
            found = [headline(correlations, fill, group)[f"{metric}@1"]["r"] for fill in FILLS]
            line[group] = " / ".join(f"{r:.2f}" for r in found)
        lines.append(line)
    line = {"figure": "RL - SL, manager seen", "prototype": f"{PROTOTYPE_GAIN:+.1f} (11 of 17)"}
    some = [row for row in gains if row["tracker"] != DEGENERATE]
    line["all"] = " / ".join(
        f"{mean(of, 'rl_sl'):+.1f} ({sum(row['rl_sl'] > 0 for row in of)} of {len(of)})"
        for of in (chosen(some, **MAIN, fill=fill) for fill in FILLS)
    )
    lines.append(line)
    return markdown(lines, ("figure", "prototype", *GROUPS))


def told_of_prototype(rows: Rows) -> str:
    """Why RL gains more over SL here; rows of prototype.csv, our own way first."""
    own = rows[0]
    rows = chosen(rows, manager="seen")
    near = min(rows, key=lambda row: abs(row["rl_sl"] - PROTOTYPE_GAIN))
    steps = {}
    for key in STEPS:
        there = {name: near[name] for name in WAY} | {key: own[key]}
        steps[key] = next(row["rl_sl"] for row in chosen(rows, **there)) - near["rl_sl"]
    largest = max(steps, key=lambda key: abs(steps[key]))
    return (
        f"RL gains {own['rl_sl']:+.1f} over SL here ({own['above']} of {own['trackers']} trackers), "
        f"{PROTOTYPE_GAIN:+.1f} there. How the prototype learned and valued is told in part only. Of the "
        f"{len(rows)} ways tried here the nearest gives {near['rl_sl']:+.1f} ({near['above']} of "
        f"{near['trackers']}), picked because it is the nearest: features {near['features']}, SL by the "
        f"{near['sl']} act, valued by {near['estimator']}. From there to ours, of state, imitation and "
        f"estimator the largest step is {STEPS[largest]} ({steps[largest]:+.1f})."
    )
