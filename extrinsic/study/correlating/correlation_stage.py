"""The correlation stage: the tables that one variant adds, for all trackers and for the core ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.storage import content_hash, encode_json
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.correlating.composites import composite_rows, stability_rows
from extrinsic.study.correlating.core_trackers import measurements_of
from extrinsic.study.correlating.correlations import (
    FEWEST_TRACKERS,
    best_set_rows,
    correlation_rows,
    default_interval,
)
from extrinsic.study.correlating.metric_pairs import kept_metrics, pair_rows, swap_metrics
from extrinsic.study.correlating.panel import Panel, TargetValue, build_panel
from extrinsic.study.correlating.partials import partial_rows
from extrinsic.study.correlating.predictions import count_rows, decided_rows
from extrinsic.study.stages.policy_spec import PolicyValue
from extrinsic.study.stages.store import Result, Results, StageKey, plain
from extrinsic.study.stages.stored_scores import Measurements
from extrinsic.study.stages.task import encoded
from extrinsic.study.stages.variant_values import variant_values
from extrinsic.study.stages.versions import code_version
from extrinsic.study.tables.metric_rows import (
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    CountRow,
    DecidedRow,
    InfluenceRow,
    PairRow,
    PartialRow,
    StabilityRow,
)


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
    partial: list[PartialRow] = []
    influence: list[InfluenceRow] = []
    counts: list[CountRow] = []
    best_set: list[BestSetRow] = []
    decided: list[DecidedRow] = []
    pairs: list[PairRow] = []
    composite: list[CompositeRow] = []
    stability: list[StabilityRow] = []
    ranking: list[RankedMetric] = []


@dataclass(frozen=True)
class CorrelationTask:
    """Correlate the metrics and targets of one variant, over all trackers and over the core ones.

    datasets: of each dataset, the identity of its dialogs.   targets: the primary one first.
    scored, valued: by tracker, the results that hold its scores and its targets.
    variant: how the policies were learned; None where nothing is learned.
    brief: only how metrics rank by the primary target.
    """

    datasets: Mapping[str, str]
    trackers: tuple[str, ...]
    core: tuple[str, ...]
    targets: tuple[str, ...]
    settings: CorrelationTable
    seed: int
    scored: Mapping[str, tuple[StageKey, ...]]
    valued: Mapping[str, tuple[StageKey, ...]]
    variant: str | None = None
    brief: bool = False
    plugins: str = ""

    tracker: None = None

    @property
    def label(self) -> str:
        return self.variant or "outcomes"

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        by_tracker = (*self.scored.values(), *self.valued.values())
        return tuple(key for keys in by_tracker for key in keys)

    @cached_property
    def key(self) -> StageKey:
        settings = (self.trackers, self.core, self.targets, self.seed, self.variant, self.brief)
        hashes = [key.hash for key in self.inputs]
        parts = (self.plugins, encoded(self.settings), encode_json((self.datasets, settings, hashes)))
        return StageKey("correlate", content_hash("correlate", code_version(__name__), *parts))

    def run(self, results: Results) -> Result[CorrelationTables]:
        panel = self.panel(results)
        core = np.array([i for i, name in enumerate(panel.trackers) if name in self.core], dtype=np.int64)
        parts = [tables_of(group, self) for group in (panel, panel.take_trackers(core, "core"))]
        names = CorrelationTables.__struct_fields__
        return Result(
            CorrelationTables(
                **{name: [row for part in parts for row in getattr(part, name)] for name in names}
            )
        )

    def panel(self, results: Results) -> Panel:
        """Metrics and targets as arrays, with their resamples."""
        cells: dict[tuple[str, str], Measurements] = {}
        targets: dict[tuple[str, str], dict[str, TargetValue]] = {}
        for tracker in self.trackers:
            for dataset, cell in measurements_of(results, self.scored[tracker], list(self.datasets)).items():
                cells[dataset, tracker] = cell
                targets[dataset, tracker] = {}
        for tracker, values in variant_values(results, self.valued).items():
            for entry in values:
                dialogs = dialogs_of(entry.value, self.datasets[entry.value.dataset])
                target = TargetValue(entry.value.mean, entry.influence, dialogs)
                targets[entry.value.dataset, tracker][entry.value.target] = target
        panel = build_panel(
            self.datasets,
            self.trackers,
            self.targets,
            cells,
            targets,
            self.settings.resamples,
            self.seed,
            with_contributions=not self.brief,
        )
        return replace(panel, variant=self.variant)


def dialogs_of(value: PolicyValue, logged: str) -> str:
    """The identity of the dialogs that a value is resampled over; logged: of its dataset's dialogs."""
    return f"live {value.dataset}" if value.resampled_over == "callers" else logged


def tables_of(panel: Panel, task: CorrelationTask) -> CorrelationTables:
    """The rows about one group of trackers."""
    ranking = _ranking(panel, task)
    if task.brief:
        return CorrelationTables(ranking=ranking)
    settings, seed = task.settings, task.seed
    pairs: list[PairRow] = []
    composite: list[CompositeRow] = []
    stability: list[StabilityRow] = []
    counts: list[CountRow] = []
    decided: list[DecidedRow] = []
    kept = kept_metrics(panel, "within")
    if len(panel.trackers) >= FEWEST_TRACKERS and len(kept):
        by_trackers = swap_metrics(panel, kept, "within", "trackers", settings, seed)
        by_both = swap_metrics(panel, kept, "within", "both", settings, seed)
        pairs = pair_rows(panel, kept, by_trackers, by_both, "within", settings, seed)
        composite = composite_rows(panel, kept, settings)
        stability = stability_rows(panel, kept, settings, seed)
        counts = list(count_rows(panel, settings, seed))
        decided = list(decided_rows(panel, kept))
    correlations, influence = correlation_rows(panel, settings, seed)
    return CorrelationTables(
        correlations=correlations,
        partial=partial_rows(panel, settings, seed),
        influence=influence,
        counts=counts,
        decided=decided,
        best_set=best_set_rows(panel, settings, seed),
        pairs=pairs,
        composite=composite,
        stability=stability,
        ranking=ranking,
    )


def _ranking(panel: Panel, task: CorrelationTask) -> list[RankedMetric]:
    """The correlation of every metric with the primary target, by the study's coefficient."""
    if len(panel.trackers) < FEWEST_TRACKERS:
        return []
    default = default_interval(panel, task.settings.coefficient, "within", task.settings.level, n_targets=1)
    return [
        RankedMetric(
            metric=metric,
            schedule=schedule,
            component=component,
            r=plain(default.r[m, 0]),
            low=plain(default.low[m, 0]),
            high=plain(default.high[m, 0]),
            trackers=panel.group,
        )
        for m, (metric, schedule, component, _) in enumerate(panel.metrics)
    ]
