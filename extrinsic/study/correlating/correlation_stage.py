"""One variant of a study: everything that its metrics and targets say about each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

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
from extrinsic.study.tables.schema import CompositeRow, CorrelationRow, InfluenceRow, PairRow, StabilityRow


@dataclass(frozen=True, eq=False)
class CorrelationTask:
    """What is related, beside what the earlier stages stored.

    dialogs: of each dataset, the identity of its dialogs.   core: the core trackers.
    targets: the primary one first.   brief: only how metrics rank by the primary target.
    outcomes: by (dataset, tracker), targets that come from a file and not from a policy.
    variant: how the policies were learned; None where there are none.
    """

    dialogs: dict[str, str]
    trackers: tuple[str, ...]
    core: tuple[str, ...]
    targets: tuple[str, ...]
    settings: CorrelationTable
    seed: int
    brief: bool = False
    outcomes: Mapping[tuple[str, str], Mapping[str, TargetValue]] | None = None
    variant: str | None = None


class RankedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric's correlation with the primary target, by the study's coefficient, within datasets."""

    metric: str
    schedule: int
    component: str
    r: float | None
    low: float | None
    high: float | None
    trackers: str


class CorrelationTables(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant adds to the study's tables; a brief one has a ranking only."""

    correlations: list[CorrelationRow] = []
    influence: list[InfluenceRow] = []
    pairs: list[PairRow] = []
    composite: list[CompositeRow] = []
    stability: list[StabilityRow] = []
    ranking: list[RankedMetric] = []


def relate(
    relation: CorrelationTask, measured: Mapping[str, Sequence[bytes]], learned: Mapping[str, Sequence[bytes]]
) -> Result:
    """Rows for the study's tables; measured and learned: what was stored, by tracker."""
    panel = panel_of(relation, measured, learned)
    core = np.array([i for i, name in enumerate(panel.trackers) if name in relation.core], dtype=np.int64)
    parts = [_tables(some, relation) for some in (panel, panel.take_trackers(core, "core"))]
    names = CorrelationTables.__struct_fields__
    tables = CorrelationTables(
        **{name: [row for part in parts for row in getattr(part, name)] for name in names}
    )
    return Result(msgspec.to_builtins(tables))


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
        for key, targets in _targets(learned.get(tracker, ()), tracker, relation.dialogs).items():
            values.setdefault(key, {}).update(targets)
    for key, outcomes in (relation.outcomes or {}).items():
        values.setdefault(key, {}).update(outcomes)
    panel = build_panel(
        relation.dialogs,
        relation.trackers,
        relation.targets,
        cells,
        values,
        relation.settings.resamples,
        relation.seed,
        with_contributions=not relation.brief,
    )
    return replace(panel, variant=relation.variant)


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
            targets = values.setdefault((row["dataset"], tracker), {})
            targets[f"{row['policy']}.{row['estimator']}"] = value
    return values


def _tables(panel: Panel, relation: CorrelationTask) -> CorrelationTables:
    """The rows about one group of trackers."""
    ranking = _ranking(panel, relation)
    if relation.brief:
        return CorrelationTables(ranking=ranking)
    settings, seed = relation.settings, relation.seed
    pairs: list[PairRow] = []
    composite: list[CompositeRow] = []
    stability: list[StabilityRow] = []
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
                pairs = pair_rows(panel, kept, by_trackers, by_both, scope, settings, seed)
                composite = composite_rows(panel, kept, settings, seed)
                stability = stability_rows(panel, kept, settings, seed)
    correlations, influence = correlation_rows(panel, settings, seed, clusters)
    return CorrelationTables(
        correlations=correlations,
        influence=influence,
        pairs=pairs,
        composite=composite,
        stability=stability,
        ranking=ranking,
    )


def _ranking(panel: Panel, relation: CorrelationTask) -> list[RankedMetric]:
    """The correlation of every metric with the primary target, by the study's coefficient."""
    if len(panel.trackers) < FEWEST_TRACKERS:
        return []
    settings, sample = relation.settings, panel.sample
    r = correlate(sample.metrics, sample.targets[:1], settings.coefficient, "within")
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, relation.seed)
    resampled = resampled_correlations(sample.take_targets(1), settings.coefficient, "within", "both", drawn)
    low, high = interval(r, resampled, None, "percentile", settings.level)
    return [
        RankedMetric(
            metric=metric,
            schedule=schedule,
            component=component,
            r=plain(r[m, 0]),
            low=plain(low[m, 0]),
            high=plain(high[m, 0]),
            trackers=panel.group,
        )
        for m, (metric, schedule, component, _) in enumerate(panel.metrics)
    ]
