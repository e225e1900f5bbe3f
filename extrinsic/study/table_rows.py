"""The tables of a run: their columns, and the rows that stages stored put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from extrinsic.correlation.coefficients import correlate
from extrinsic.study.planning import Plan
from extrinsic.study.planning.variants import Variant
from extrinsic.study.stages.store import Result

Rows = list[dict[str, Any]]

HEADS: dict[str, tuple[str, ...]] = {
    "intrinsic": ("dataset", "tracker", "component", "metric", "schedule", "label_scheme", "n", "value"),
    "returns": (
        "dataset",
        "tracker",
        "policy",
        "estimator",
        "value",
        "low",
        "high",
        "n",
        "feasible_low",
        "feasible_high",
        "flags",
        "variant",
    ),
    "correlations": (
        "target",
        "metric",
        "schedule",
        "component",
        "scope",
        "coefficient",
        "r",
        "low",
        "high",
        "p",
        "p_adjusted",
        "n",
        "trackers",
        "q",
        "dialogs_low",
        "dialogs_high",
        "trackers_low",
        "trackers_high",
        "jackknife_low",
        "jackknife_high",
        "cluster",
        "label_scheme",
        "variant",
        "reason",
    ),
    "pairs": (
        "target",
        "metric_a",
        "schedule_a",
        "component_a",
        "metric_b",
        "schedule_b",
        "component_b",
        "scope",
        "r_a",
        "r_b",
        "difference",
        "low",
        "high",
        "p",
        "p_both",
        "williams_t",
        "williams_p",
        "zou_low",
        "zou_high",
        "r_ab",
        "n",
        "n_independent",
        "trackers",
        "variant",
    ),
    "composite": (
        "target",
        "scope",
        "method",
        "r",
        "low",
        "high",
        "r_in_sample",
        "above_best_single",
        "above_low",
        "above_high",
        "n",
        "trackers",
        "variant",
        "weights",
    ),
    "influence": (
        "target",
        "metric",
        "schedule",
        "component",
        "scope",
        "coefficient",
        "r",
        "lowest",
        "highest",
        "tracker",
        "r_without",
        "trackers",
        "variant",
    ),
    "stability": (
        "target",
        "scope",
        "coefficient",
        "n_trackers",
        "n_subsets",
        "agreement",
        "low",
        "high",
        "same_winner",
        "loss",
        "trackers",
        "variant",
    ),
    "sensitivity": (
        "parameter",
        "setting",
        "trackers",
        "target",
        "metric",
        "schedule",
        "component",
        "r",
        "low",
        "high",
        "usual_winner_r",
        "usual_winner_rank",
        "agreement",
        "n_metrics",
        "variant",
    ),
    "trackers": (
        "tracker",
        "core",
        "degenerate",
        "recalibrated",
        "near_duplicate_of",
        "nearest",
        "agreement",
    ),
    "diagnostics": (
        "dataset",
        "tracker",
        "policy",
        "estimator",
        "kernels",
        "iterations",
        "converged",
        "cycle",
        "condition",
        "zero_kernel",
        "largest_q",
        "feasible_low",
        "feasible_high",
        "effective_size",
        "unseen_share",
        "on_policy_gap",
        "placebo_gain",
        "flags",
        "variant",
    ),
}


def intrinsic_rows(plan: Plan, measured: Mapping[str, list[Result]]) -> Rows:
    rows: Rows = []
    for dataset in plan.dialogs:
        for tracker in plan.trackers:
            for result in measured[tracker.name]:
                for row in result.values.get(dataset, {}).get("rows", ()):
                    rows.append({"dataset": dataset, "tracker": tracker.name, **row})
    return rows


LearnedResults = Mapping[str, Mapping[str, list[Result]]]
"""By variant and tracker, what was stored of its policies."""


def return_rows(plan: Plan, learned: LearnedResults) -> Rows:
    rows: Rows = [
        {**row, "tracker": tracker, "variant": variant.name}
        for variant, tracker, row, _ in _values(plan, learned)
    ]
    for (dataset, tracker), outcomes in (plan.outcomes or {}).items():
        for name, value in outcomes.items():
            rows.append(
                {
                    "dataset": dataset,
                    "tracker": tracker,
                    "policy": "outcome",
                    "estimator": name.removeprefix("outcome."),
                    "value": value.mean,
                    "n": len(value.influence),
                }
            )
    return rows


def diagnostic_rows(plan: Plan, learned: LearnedResults) -> Rows:
    """A row for every learner, and one for every value."""
    rows: Rows = []
    for variant, tracker, row, result in _values(plan, learned):
        names = ("dataset", "policy", "feasible_low", "feasible_high")
        where = {**{name: row[name] for name in names}, "tracker": tracker, "variant": variant.name}
        if row["policy"] == "behaviour":
            rows.append({**where, "policy": "rl", "estimator": "learner", **result.values["learner"]})
            continue
        told = row["diagnostics"]
        reach = [abs(told[name]) for name in ("lowest_q", "highest_q") if name in told]
        rows.append(
            {
                **where,
                "estimator": row["estimator"],
                "flags": row["flags"],
                "largest_q": max(reach) if reach else None,
                **told,
            }
        )
    return rows


def _values(plan: Plan, learned: LearnedResults) -> Iterator[tuple[Variant, str, dict[str, Any], Result]]:
    """Every stored value, dataset by dataset within each variant."""
    for variant in plan.variants:
        for dataset in plan.dialogs:
            for tracker in plan.trackers:
                for result in learned[variant.name][tracker.name]:
                    for row in result.values["rows"]:
                        if row["dataset"] == dataset:
                            yield variant, tracker.name, row, result


def related_rows(related: Mapping[str, Result], name: str) -> Rows:
    """The rows of one table over all variants of the study; those tried for sensitivity have none."""
    return [{**row, "variant": variant} for variant, result in related.items() for row in result.values[name]]


def sensitivity_rows(plan: Plan, related: Mapping[str, Result]) -> Rows:
    """The best metric under every setting, and how it compares to the study's first variant."""
    if not plan.variants:
        return []
    usual = plan.variants[0]
    rows: Rows = []
    for variant in plan.variants:
        for trackers in ("all", "core"):
            base = _ranking(related[usual.name], trackers)
            mine = _ranking(related[variant.name], trackers)
            known = [name for name, row in mine.items() if row["r"] is not None and name in base]
            if not known:
                continue
            best = max(known, key=lambda name: mine[name]["r"])
            winner = max((n for n in base if base[n]["r"] is not None), key=lambda name: base[name]["r"])
            rows.append(
                {
                    "parameter": variant.parameter or "(the study's own)",
                    "setting": variant.value,
                    "trackers": trackers,
                    "target": variant.targets[0],
                    **mine[best],
                    "usual_winner_r": mine[winner]["r"],
                    "usual_winner_rank": 1 + sum(mine[n]["r"] > (mine[winner]["r"] or -2.0) for n in known),
                    "agreement": _agreement(base, mine, known),
                    "n_metrics": len(known),
                    "variant": variant.name,
                }
            )
    return rows


def _ranking(result: Result, trackers: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {
        (row["metric"], row["schedule"], row["component"]): row
        for row in result.values["ranking"]
        if row["trackers"] == trackers
    }


def _agreement(base: Any, mine: Any, known: list[Any]) -> float | None:
    """Kendall's tau between the two orders of the metrics."""
    both = [name for name in known if base[name]["r"] is not None]
    if len(both) < 2:
        return None
    first, second = (np.array([[[of[name]["r"] for name in both]]]) for of in (base, mine))
    tau = float(correlate(first, second, "kendall", "pooled")[0, 0])
    return tau if np.isfinite(tau) else None
