"""One variant of a study: everything that its metrics and targets say about each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import SCOPES, correlate
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.resampling import draw_trackers, resampled_correlations
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.correlating.composites import composite_rows, stability_rows
from extrinsic.study.correlating.core_trackers import unpack
from extrinsic.study.correlating.correlations import FEWEST_TRACKERS, cluster_metrics, correlation_rows
from extrinsic.study.correlating.metric_pairs import kept_metrics, pair_rows, swap_metrics
from extrinsic.study.correlating.panel import Panel, TargetValue, build_panel
from extrinsic.study.stages.store import Result, plain
from extrinsic.study.stages.stored_scores import Measurements


@dataclass(frozen=True, eq=False)
class CorrelationTask:
    """What is related, beside what the earlier stages stored.

    dialogs: of each dataset, the identity of its dialogs.   core: the core trackers.
    targets: the primary one first.   brief: only how metrics rank by the primary target.
    outcomes: by (dataset, tracker), targets that come from a file and not from a policy.
    """

    dialogs: dict[str, str]
    trackers: tuple[str, ...]
    core: tuple[str, ...]
    targets: tuple[str, ...]
    settings: CorrelationTable
    seed: int
    brief: bool = False
    outcomes: Mapping[tuple[str, str], Mapping[str, TargetValue]] | None = None


def relate(
    relation: CorrelationTask, measured: Mapping[str, Sequence[bytes]], learned: Mapping[str, Sequence[bytes]]
) -> Result:
    """Rows for the study's tables; measured and learned: what was stored, by tracker."""
    panel = panel_of(relation, measured, learned)
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("correlations", "influence", "pairs", "composite", "stability", "ranking")
    }
    core = np.array([i for i, name in enumerate(panel.trackers) if name in relation.core], dtype=np.int64)
    for trackers, some in (("all", panel), ("core", panel.take_trackers(core))):
        found = _ranking(some, relation) if relation.brief else _everything(some, relation)
        for name, rows in found.items():
            tables[name] += [{**row, "trackers": trackers} for row in rows]
    return Result(tables)


def panel_of(
    relation: CorrelationTask, measured: Mapping[str, Sequence[bytes]], learned: Mapping[str, Sequence[bytes]]
) -> Panel:
    """Metrics and targets as arrays, with their resamples."""
    datasets = list(relation.dialogs)
    cells: dict[tuple[str, str], Measurements] = {}
    values: dict[tuple[str, str], dict[str, TargetValue]] = {}
    for tracker in relation.trackers:
        for dataset, cell in unpack(measured[tracker], datasets).items():
            cells[dataset, tracker] = cell
        for key, of in _targets(learned.get(tracker, ()), tracker, relation.dialogs).items():
            values.setdefault(key, {}).update(of)
    for key, outcomes in (relation.outcomes or {}).items():
        values.setdefault(key, {}).update(outcomes)
    settings = relation.settings
    return build_panel(
        relation.dialogs,
        relation.trackers,
        relation.targets,
        cells,
        values,
        settings.resamples,
        relation.seed,
        with_contributions=not relation.brief,
    )


def _targets(
    stored: Sequence[bytes], tracker: str, dialogs: Mapping[str, str]
) -> dict[tuple[str, str], dict[str, TargetValue]]:
    """What a tracker's policies are worth, by dataset."""
    values: dict[tuple[str, str], dict[str, TargetValue]] = {}
    for data in stored:
        result = Result.decode(data)
        for number, row in enumerate(result.values["rows"]):
            live = row["estimator"] == "live"
            whose = f"live {row['dataset']}" if live else dialogs[row["dataset"]]
            value = TargetValue(row["value"], result.arrays[f"influence{number}"], whose)
            of = values.setdefault((row["dataset"], tracker), {})
            of[f"{row['policy']}.{row['estimator']}"] = value
    return values


def _everything(panel: Panel, relation: CorrelationTask) -> dict[str, list[dict[str, Any]]]:
    settings, seed = relation.settings, relation.seed
    tables: dict[str, list[dict[str, Any]]] = {"pairs": [], "composite": [], "stability": []}
    clusters = {}
    if len(panel.trackers) >= FEWEST_TRACKERS:
        for scope in SCOPES:
            kept = kept_metrics(panel, scope)
            if not len(kept):
                continue
            by_trackers = swap_metrics(panel, kept, scope, "trackers", settings, seed)
            clusters[scope] = cluster_metrics(panel, by_trackers, kept, scope)
            if scope == "within":
                by_both = swap_metrics(panel, kept, scope, "both", settings, seed)
                tables["pairs"] = pair_rows(panel, kept, by_trackers, by_both, scope, settings, seed)
                tables["composite"] = composite_rows(panel, kept, settings, seed)
                tables["stability"] = stability_rows(panel, kept, settings, seed)
    tables["correlations"], tables["influence"] = correlation_rows(panel, settings, seed, clusters)
    return tables | _ranking(panel, relation)


def _ranking(panel: Panel, relation: CorrelationTask) -> dict[str, list[dict[str, Any]]]:
    """The correlation of every metric with the primary target, by the study's coefficient."""
    if len(panel.trackers) < FEWEST_TRACKERS:
        return {"ranking": []}
    settings, sample = relation.settings, panel.sample
    r = correlate(sample.metrics, sample.targets[:1], settings.coefficient, "within")
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, relation.seed)
    resampled = resampled_correlations(sample.take_targets(1), settings.coefficient, "within", "both", drawn)
    low, high = interval(r, resampled, None, "percentile", settings.level)
    return {
        "ranking": [_ranked(name, r[m, 0], low[m, 0], high[m, 0]) for m, name in enumerate(panel.metrics)]
    }


def _ranked(name: Any, r: Floats, low: Floats, high: Floats) -> dict[str, Any]:
    metric, schedule, component, _ = name
    numbers = {"r": r, "low": low, "high": high}
    return {
        "metric": metric,
        "schedule": schedule,
        "component": component,
        **{key: plain(value) for key, value in numbers.items()},
    }
