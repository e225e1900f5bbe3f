"""Bias, error, correlation and coverage of estimators over all cells."""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = list[dict[str, Any]]

RESAMPLES = 1_000


def summarise(rows: Rows) -> Rows:
    """A row for every estimator, the best by error first.

    r: correlation with the live return within (seed, dataset), pooled after centring; r_core: without
    degenerate trackers. above_observed: how much r_core exceeds that of the observed return, with an interval
    over resampled (seed, dataset) groups. coverage: intervals that hold the live return; coverage_near: that
    do so when allowed the noise of the live return itself.
    """
    estimators = list(dict.fromkeys(row["estimator"] for row in rows))
    observed = _groups([row for row in rows if row["estimator"] == "observed" and not row["degenerate"]])
    return sorted((_summary(name, rows, observed) for name in estimators), key=lambda row: row["rmse"])


def _summary(name: str, rows: Rows, observed: dict[Any, np.ndarray]) -> dict[str, Any]:
    of = [row for row in rows if row["estimator"] == name]
    core = [row for row in of if not row["degenerate"]]
    errors = np.array([row["value"] - row["live"] for row in core])
    groups, core_groups = _groups(of), _groups(core)
    low, high = _interval_of_difference(core_groups, observed)
    inside = [row["low"] <= row["live"] <= row["high"] for row in core]
    near = [_holds(row) for row in core]
    return {
        "estimator": name,
        "cells": len(core),
        "bias": float(errors.mean()),
        "rmse": float(np.sqrt((errors**2).mean())),
        "r": _pooled(list(groups.values())),
        "r_core": _pooled(list(core_groups.values())),
        "above_observed": _pooled(list(core_groups.values())) - _pooled(list(observed.values())),
        "above_low": low,
        "above_high": high,
        "coverage": float(np.mean(inside)),
        "coverage_near": float(np.mean(near)),
        "infeasible": sum("infeasible" in row["flags"].split() for row in of),
        "flagged": sum(bool(row["flags"]) for row in of),
        "on_policy_gap": float(np.mean([row["on_policy_gap"] for row in core])),
    }


def _holds(row: dict[str, Any]) -> bool:
    """Whether the interval, widened by the live return's own, holds the live return."""
    below, above = row["value"] - row["low"], row["high"] - row["value"]
    distance = row["live"] - row["value"]
    return bool(abs(distance) <= np.hypot(above if distance > 0 else below, row["live_half_width"]))


def _groups(rows: Rows) -> dict[Any, np.ndarray]:
    """Per (seed, dataset) the values and live returns (2, n), centred."""
    groups: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        groups.setdefault((row["seed"], row["dataset"]), []).append((row["value"], row["live"]))
    tables = {key: np.array(pairs).T for key, pairs in groups.items()}
    return {key: table - table.mean(axis=1, keepdims=True) for key, table in tables.items()}


def _pooled(groups: list[np.ndarray]) -> float:
    return float(np.corrcoef(np.concatenate(groups, axis=1))[0, 1])


def _interval_of_difference(mine: dict[Any, np.ndarray], its: dict[Any, np.ndarray]) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    keys = list(mine)
    differences = []
    for _ in range(RESAMPLES):
        drawn = [keys[i] for i in rng.integers(0, len(keys), len(keys))]
        differences.append(_pooled([mine[key] for key in drawn]) - _pooled([its[key] for key in drawn]))
    low, high = np.percentile(differences, [2.5, 97.5])
    return float(low), float(high)
