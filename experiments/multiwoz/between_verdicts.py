"""What the tables of systems as points amount to, in words chosen by their figures."""

from __future__ import annotations

from typing import Any

from experiments.multiwoz.between import OWN, SHARED, WITHOUT
from experiments.multiwoz.published import PROTOTYPE, ROUNDING
from experiments.multiwoz.shown import Rows, Tables
from experiments.multiwoz.verdicts import LEVEL, listed
from experiments.tables import chosen, one


def between_verdict(tables: Tables, outcome: str) -> str:
    rows = sorted(chosen(tables["between"], dialogs=SHARED, outcome=outcome), key=lambda row: -row["r"])
    sure = [row["metric"] for row in rows if row["p_adjusted"] <= LEVEL]
    held = [row for row in rows if row["low"] <= 0.0 <= row["high"]]
    word = f"{listed(sure)} predict {outcome}" if sure else f"no metric's r with {outcome} is resolved"
    interval = "every interval holds 0" if len(held) == len(rows) else f"{len(held)} of {len(rows)} hold 0"
    return f"{word}: {interval}, Holm's p is at least {min(row['p_adjusted'] for row in rows):.2f}"


def lacking(tables: Tables) -> str:
    most = max(row["n_dialogs"] for row in tables["systems"])
    return listed(
        [f"{row['system']} {most - row['n_dialogs']}" for row in tables["systems"] if row["n_dialogs"] < most]
    )


def differing(tables: Tables) -> str:
    """Systems of which the benchmark has other figures."""
    told = []
    for row in tables["systems"]:
        if any(abs(row[name] - row[f"published_{name}"]) > ROUNDING for name in ("success", "inform")):
            told.append(
                f"{row['system']} (success {row['success']:.1f}, published {row['published_success']:.1f}; "
                f"inform {row['inform']:.1f}, published {row['published_inform']:.1f})"
            )
    return listed(told)


def steps_verdict(tables: Tables) -> dict[str, Any]:
    first, last = tables["steps"][0], tables["steps"][-1]
    same = all(abs(first[name] - r) < 0.005 for name, r in PROTOTYPE.items())
    moves = [
        (abs(after["success"] - before["success"]), after["step"])
        for before, after in zip(tables["steps"], tables["steps"][1:], strict=False)
    ]
    return {
        "prototype_word": "which a prototype of this project had as well"
        if same
        else "where a prototype of this project had others",
        "prototype_success": PROTOTYPE["success"],
        "prototype_inform": PROTOTYPE["inform"],
        "from_success": first["success"],
        "from_inform": first["inform"],
        "to_success": last["success"],
        "to_inform": last["inform"],
        "largest_step": max(moves)[1],
    }


def influence_verdict(tables: Tables) -> dict[str, Any]:
    """The system whose absence moves JGA most, and what is left of all metrics without it."""
    row = one(tables["left_out"], outcome="success", metric="jga")
    observed = one(tables["between"], dialogs=SHARED, outcome="success", metric="jga")["r"]
    systems = [key for key in row if key not in ("outcome", "metric")]
    mover = max(systems, key=lambda name: abs(row[name] - observed))
    up = max(systems, key=lambda name: row[name])
    left: Rows = chosen(tables["left_out"], outcome="success")
    highest = max(of["r"] for of in chosen(tables["between"], dialogs=SHARED, outcome="success"))
    carried = max(of[mover] for of in left) < highest / 2.0
    return {
        "carried": "One system carries what there is." if carried else "No single system carries it.",
        "mover": mover,
        "jga_without": row[mover],
        "up": up,
        "jga_up": row[up],
        "jga_r": observed,
        "left_low": min(of[mover] for of in left),
        "left_high": max(of[mover] for of in left),
        "change_own": _largest_change(tables, OWN),
        "change_without": _largest_change(tables, WITHOUT),
    }


def _largest_change(tables: Tables, dialogs: str) -> float:
    """Of any r between systems, from the dialogs that all have to others."""
    usual = {(row["outcome"], row["metric"]): row["r"] for row in chosen(tables["between"], dialogs=SHARED)}
    rows = chosen(tables["between"], dialogs=dialogs)
    return float(max(abs(row["r"] - usual[row["outcome"], row["metric"]]) for row in rows))
