"""What the tables amount to, in words chosen by their figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.multiwoz.published import GIVEN_STATES
from experiments.multiwoz.shown import Tables, ranked, told, told_of
from experiments.tables import chosen, one
from extrinsic.correlation.coefficients import correlate

LEVEL = 0.05
ALIKE = 0.5
"""Orders that correlate more than this are called alike."""


def listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def metrics_that_predict(tables: Tables, outcome: str, split: str = "within") -> str:
    rows = ranked(tables, outcome, split)
    names = [row["metric"] for row in rows if row["p_adjusted"] <= LEVEL and row["r"] > 0.0]
    highest = max(row["p_adjusted"] for row in rows if row["metric"] in names) if names else 1.0
    if not names:
        return f"no metric predicts {outcome}"
    if len(names) == len(rows):
        return f"all {len(names)} metrics predict {outcome} (Holm's p at most {highest:.3f})"
    return f"the metrics that predict {outcome} are {listed(names)} (Holm's p at most {highest:.3f})"


def leaves_out_zero(row: dict[str, Any]) -> bool:
    """The difference to JGA lies above 0 by all intervals there are: by resamples, and by the jackknife."""
    return bool(row["minus_jga_low"] > 0.0 and row.get("minus_jga_jackknife_low", 1.0) > 0.0)


def p_of_all(row: dict[str, Any]) -> dict[str, float]:
    """Holm's p over all comparisons with JGA, by each way there is."""
    ways = {"by resamples": "minus_jga_p_adjusted", "by the jackknife": "minus_jga_jackknife_p_adjusted"}
    return {way: row[key] for way, key in ways.items() if row.get(key) is not None}


def is_clear(row: dict[str, Any]) -> bool:
    return leaves_out_zero(row) and all(p <= LEVEL for p in p_of_all(row).values())


def against_jga(row: dict[str, Any]) -> str:
    """One row of splits or of the tool's own table."""
    if row["metric"] == "jga":
        return "it is JGA itself"
    found = f"{told_of(row, 'minus_jga')} above JGA"
    p = listed([f"{value:.2f} {way}" for way, value in p_of_all(row).items()])
    if is_clear(row):
        return f"it beats JGA clearly ({found}; Holm's p over all such comparisons {p})"
    if leaves_out_zero(row):
        return f"it is {found}, but not clearly: Holm's p over all such comparisons is {p}"
    return f"it does not beat JGA clearly ({found}: not resolved; Holm's p {p})"


def above_jga(tables: Tables, outcome: str, split: str) -> str:
    """Every metric that is above JGA, taken by itself and among all."""
    rows = [row for row in ranked(tables, outcome, split) if row["metric"] != "jga"]
    alone = [f"`{row['metric']}`" for row in rows if leaves_out_zero(row)]
    clear = [f"`{row['metric']}`" for row in rows if is_clear(row)]
    if not alone:
        return "No metric is above JGA by its own intervals"
    among = "none" if not clear else "all" if clear == alone else listed(clear)
    return f"Above JGA by their own intervals are {listed(alone)}; among all comparisons clearly: {among}"


def first_of(tables: Tables, outcome: str, split: str) -> str:
    row = ranked(tables, outcome, split)[0]
    return f"`{row['metric']}`, r = {told(row)}; {against_jga(row)}"


def near_first(tables: Tables, outcome: str, split: str) -> str:
    """Metrics that the first is not above even when compared with them alone."""
    first, *others = ranked(tables, outcome, split)
    near = [f"`{row['metric']}`" for row in others if row["minus_first_high"] >= 0.0]
    which = "none" if not near else "all others" if len(near) == len(others) else listed(near)
    return f"Pair by pair, the resampled interval of the lead of `{first['metric']}` holds 0 for: {which}"


def orders_agree(tables: Tables, split: str) -> str:
    """Over metrics: Spearman's coefficient of their r with success between systems and in another split."""
    places = {row["metric"]: row["r"] for row in ranked(tables, "success", "between")}
    others = {row["metric"]: row["r"] for row in ranked(tables, "success", split)}
    first, second = (np.array([[[of[name] for name in places]]]) for of in (places, others))
    agreement = float(correlate(first, second, "spearman", "pooled")[0, 0])
    word = (
        "much the same as"
        if agreement > ALIKE
        else "nearly the reverse of"
        if agreement < -ALIKE
        else "unlike"
    )
    return f"{word} that between systems (Spearman {agreement:.2f})"


def by_system(tables: Tables) -> dict[str, Any]:
    name = ranked(tables, "success", "within")[0]["metric"]
    rows = sorted(chosen(tables["by_system"], outcome="success"), key=lambda row: float(row[name]))
    lowest, highest = rows[0], rows[-1]
    given = lowest["system"] in GIVEN_STATES
    return {
        "systems_above": sum(row[name] > row["jga"] for row in rows),
        "systems_positive": sum(row[name] > 0.0 for row in rows),
        "lowest": lowest[name],
        "lowest_system": lowest["system"],
        "highest": highest[name],
        "highest_system": highest["system"],
        "given": " (the benchmark lists it among systems that are given the true state when they answer)"
        if given
        else "",
    }


def difficulty_verdict(tables: Tables) -> dict[str, Any]:
    first = ranked(tables, "success", "within")[0]["metric"]
    row = one(tables["controls"], outcome="success", metric=first)
    both = ranked(tables, "success", "both")
    left = all(of["low"] > 0.0 for of in both)
    kept = one(both, metric=first)["r"] / row["r"]
    return {
        "only_difficulty": ("No, but in part." if kept < 1.0 else "No.")
        if left
        else "For some metrics it may be.",
        "kept": 100.0 * row["difficulty"] / row["r"],
        "kept_both": 100.0 * kept,
        "both_positive": sum(of["low"] > 0.0 for of in both),
        "control_jga": told_of(row, "difficulty_minus_jga"),
        "control_word": "is resolved"
        if row["difficulty_minus_jga_low"] > 0.0 or row["difficulty_minus_jga_high"] < 0.0
        else "is not resolved",
    }


def beside_verdict(tables: Tables) -> dict[str, Any]:
    """Other predictors of success within a system."""
    r = {row["predictor"]: row["within"] for row in chosen(tables["others"], outcome="success")}
    searched, not_searched = r["searched: slot_accuracy"], r["not searched: slot_accuracy"]
    matter = not_searched < searched / 2.0
    return {
        "others_r": r["others: success"],
        "all_r": r["all metrics"],
        "others_word": "more" if r["others: success"] > r["all metrics"] else "less",
        "searched": searched,
        "not_searched": not_searched,
        "slots_word": "Slots that are searched matter, the others hardly"
        if matter
        else "Slots that are searched and others matter",
    }


def final_verdict(tables: Tables) -> str:
    rows = chosen(tables["final"], outcome="success")
    worse = [f"`{row['metric']}`" for row in rows if row["within_high"] < 0.0]
    better = [f"`{row['metric']}`" for row in rows if row["within_low"] > 0.0]
    parts = [f"better for {listed(better)}" if better else "clearly better for no metric"]
    if worse:
        parts.append(f"clearly worse for {listed(worse)}")
    if len(worse) + len(better) < len(rows):
        parts.append("not resolved for the others")
    return "; ".join(parts)
