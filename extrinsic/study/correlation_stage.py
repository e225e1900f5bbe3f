"""The stage of the tables that choices will replace: of one variant, for all trackers and for the core ones.

Some of them need resampled dialogs. What is made of the `Panel` alone is no stage: it takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.correlation.best_set import BestSet, best_set
from extrinsic.correlation.deciding import MOST
from extrinsic.correlation.disattenuation import LEAST, disattenuation
from extrinsic.correlation.influence import influence
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.correlation.soft_pairwise import soft_pairwise_accuracy
from extrinsic.correlation.stability import stability
from extrinsic.panel import MetricKey, Target
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.metric_pairs import pair_rows, swap_metrics
from extrinsic.study.partials import partial_rows
from extrinsic.study.policy_spec import PolicyValue
from extrinsic.study.predictions import count_rows, decided_rows
from extrinsic.study.resampled_points import ResampledPoints, TargetValue, build_panel
from extrinsic.study.score_stage import Measurements, TrackerScores
from extrinsic.study.settings import CorrelationTable
from extrinsic.study.store import Result, Results, StageKey, code_version, encoded
from extrinsic.study.tables import CountRow, DecidedRow, InfluenceRow, PartialRow, StabilityRow
from extrinsic.study.variant_values import variant_values
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import SCOPES, Coefficient
from extrinsic.verdict.correlations import (
    FEWEST_TRACKERS,
    Points,
    defined_metrics,
    undefined_reasons,
    undefined_row,
)
from extrinsic.verdict.intervals import FEWEST_SYSTEMS, carriers, interval, leverage
from extrinsic.verdict.rows import BestSetRow, CorrelationRow, PairRow

SOFT = "soft_pairwise"


class CorrelationTables(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant adds to the study's tables; soft: rows of correlations."""

    soft: list[CorrelationRow] = []
    partial: list[PartialRow] = []
    influence: list[InfluenceRow] = []
    counts: list[CountRow] = []
    best_set: list[BestSetRow] = []
    decided: list[DecidedRow] = []
    pairs: list[PairRow] = []
    stability: list[StabilityRow] = []


@dataclass(frozen=True)
class CorrelationTask:
    """Correlate the metrics and targets of one variant, over all trackers and over the core ones.

    datasets: of each dataset, the identity of its dialogs.   targets: the primary one first.
    scored, valued: by tracker, the results that hold its scores and its targets.
    variant: how the policies were learned; None where nothing is learned.
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
    plugins: str = ""

    @property
    def label(self) -> str:
        return self.variant or "outcomes"

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        by_tracker = (*self.scored.values(), *self.valued.values())
        return tuple(key for keys in by_tracker for key in keys)

    @cached_property
    def key(self) -> StageKey:
        settings = (self.trackers, self.core, self.targets, self.seed, self.variant)
        hashes = [key.hash for key in self.inputs]
        parts = (self.plugins, encoded(self.settings), encode_json((self.datasets, settings, hashes)))
        return StageKey(
            "correlate", content_hash("correlate", code_version("verdict", "correlation"), *parts)
        )

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

    def panel(self, results: Results) -> ResampledPoints:
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
        )
        return replace(panel, variant=self.variant)


def dialogs_of(value: PolicyValue, logged: str) -> str:
    """The identity of the dialogs that a value is resampled over; logged: of its dataset's dialogs."""
    return f"live {value.dataset}" if value.resampled_over == "callers" else logged


def measurements_of(
    results: Results, keys: Sequence[StageKey], datasets: Sequence[str]
) -> dict[str, Measurements]:
    """The measurements of one tracker, by dataset."""
    cells = {}
    for key in keys:
        result = Result.decode(results.read(key), key, TrackerScores)
        for dataset in datasets:
            if dataset in result.values.datasets:
                cells[dataset] = Measurements.of(result, dataset)
    return cells


def tables_of(panel: ResampledPoints, task: CorrelationTask) -> CorrelationTables:
    """The rows about one group of trackers."""
    settings, seed, sample = task.settings, task.seed, panel.sample
    kept = defined_metrics(sample.metrics, sample.targets[0])
    if len(panel.trackers) < FEWEST_TRACKERS:
        return CorrelationTables()
    if not len(kept):
        return CorrelationTables(
            soft=soft_rows(panel, settings, seed),
            partial=partial_rows(panel, settings, seed),
            influence=influence_rows(panel, settings),
            best_set=best_set_rows(panel, settings, seed),
        )
    by_trackers = swap_metrics(panel, kept, "within", "trackers", settings, seed)
    by_both = swap_metrics(panel, kept, "within", "both", settings, seed)
    return CorrelationTables(
        soft=soft_rows(panel, settings, seed),
        partial=partial_rows(panel, settings, seed),
        influence=influence_rows(panel, settings),
        best_set=best_set_rows(panel, settings, seed),
        counts=list(count_rows(panel, settings, seed)),
        decided=list(decided_rows(panel, kept)),
        pairs=pair_rows(panel, kept, by_trackers, by_both, "within", settings, seed),
        stability=stability_rows(panel, kept, settings, seed),
    )


def best_set_rows(panel: ResampledPoints, settings: CorrelationTable, seed: int) -> list[BestSetRow]:
    """The best set and the ranks by every target, within datasets, by the study's coefficient."""
    coefficient = settings.coefficient
    r, left_out = panel.correlations(coefficient, "within"), panel.left_out(coefficient, "within")
    # An accuracy of pairs is a correlation of their signs, from 0 to 1 in place of -1 to 1.
    scale, shift = (2.0, -1.0) if coefficient == "pairwise" else (1.0, 0.0)
    withheld = _withheld(panel, coefficient)
    rows = []
    for k, target in enumerate(panel.targets):
        made = best_set(
            scale * r[:, k] + shift,
            scale * left_out[:, :, k] + shift,
            settings.resamples,
            panel.identity,
            seed,
            settings.level,
        )
        for m in range(len(panel.metrics)):
            row = best_set_row(made, m, panel, target, r[m, k], coefficient, withheld.get((m, k)))
            if coefficient == "pairwise" and row.low is not None and row.high is not None:
                low, high = ((end - shift) / scale for end in (row.low, row.high))
                row = msgspec.structs.replace(row, low=low, high=high)
            rows.append(row)
    return rows


def best_set_row(
    made: BestSet,
    m: int,
    panel: ResampledPoints,
    target: str,
    r: float,
    coefficient: Coefficient = "pearson",
    reason: str | None = None,
    n_generators: int | None = None,
) -> BestSetRow:
    """Of the metric m; reason: why its interval is withheld."""
    metric, schedule, component, label_scheme = panel.metrics[m]
    return BestSetRow(
        target=target,
        metric=metric,
        schedule=schedule,
        component=component,
        scope="within",
        coefficient=coefficient,
        r=plain(r),
        low=None if reason else plain(made.low[m]),
        high=None if reason else plain(made.high[m]),
        in_set=bool(made.in_set[m]),
        p=plain(made.p[m]),
        rank=int(made.rank[m]) or None,
        rank_low=int(made.rank_low[m]) or None,
        rank_high=int(made.rank_high[m]) or None,
        trackers_needed=_whole(made.needed[m]),
        trackers=panel.group,
        variant=panel.variant,
        label_scheme=label_scheme,
        reason=made.undecided or reason,
        n_generators=n_generators,
    )


def _whole(number: float) -> int | None:
    """None beyond MOST: so many are as good as none."""
    return int(number) if number <= MOST else None


def _withheld(panel: ResampledPoints, coefficient: Coefficient) -> dict[tuple[int, int], str]:
    """Why there is no interval, by metric and target."""
    n, r = len(panel.trackers), panel.correlations(coefficient, "within")
    defined = [(m, k) for m, k in np.argwhere(~np.isnan(r)).tolist()]
    if n < FEWEST_SYSTEMS:
        text = f"not decided: {n} trackers, at least {FEWEST_SYSTEMS} are needed for an interval"
        return dict.fromkeys(defined, text)
    reasons = {}
    if coefficient == "pearson":
        noise = disattenuation(panel.sample, "within")
        for m, k in defined:
            least, what = min((noise.metric[m], "the metric"), (noise.target[k], "the target"))
            if least <= LEAST:
                reasons[m, k] = f"more noise than signal: the reliability of {what} is {max(least, 0.0):.2f}"
    return reasons


def influence_rows(panel: ResampledPoints, settings: CorrelationTable) -> list[InfluenceRow]:
    rows = []
    for scope in SCOPES:
        shares = leverage(panel.sample.metrics, panel.sample.targets, scope)
        for coefficient in settings.coefficients:
            r = panel.correlations(coefficient, scope)
            moved = influence(r, panel.left_out(coefficient, scope))
            for k, target in enumerate(panel.targets):
                for m, (metric, schedule, component, _) in enumerate(panel.metrics):
                    if moved.tracker[m, k] < 0:
                        continue
                    rows.append(
                        InfluenceRow(
                            target=target,
                            metric=metric,
                            schedule=schedule,
                            component=component,
                            scope=scope,
                            coefficient=coefficient,
                            r=plain(r[m, k]),
                            lowest=plain(moved.lowest[m, k]),
                            highest=plain(moved.highest[m, k]),
                            tracker=panel.trackers[moved.tracker[m, k]],
                            share=plain(shares[m, k, moved.tracker[m, k]]),
                            r_without=plain(moved.without[m, k]),
                            trackers=panel.group,
                            variant=panel.variant,
                        )
                    )
    return rows


def soft_rows(panel: ResampledPoints, settings: CorrelationTable, seed: int) -> list[CorrelationRow]:
    """Soft pairwise accuracy, which has an interval over dialogs and trackers and no p-value."""
    if "pairwise" not in settings.coefficients:
        return []
    sample = panel.sample
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, seed)
    observed, resampled = soft_pairwise_accuracy(sample, drawn)
    low, high = interval(observed, resampled, settings.level)
    keys = (
        tuple(MetricKey(*name) for name in panel.metrics),
        tuple(Target(name, panel.variant) for name in panel.targets),
    )
    points = Points(sample.metrics, sample.targets, *keys, panel.datasets, panel.trackers, panel.group)
    reasons = undefined_reasons(points, "within")
    carrier = carriers(leverage(sample.metrics, sample.targets, "within"))
    has_interval = len(panel.trackers) >= FEWEST_SYSTEMS
    rows = []
    for k in range(len(panel.targets)):
        for m in range(len(panel.metrics)):
            row = undefined_row(points, m, k, "within", SOFT, reasons[m][k])
            if row.reason is None:
                row = msgspec.structs.replace(
                    row,
                    r=plain(observed[m, k]),
                    low=plain(low[m, k]) if has_interval else None,
                    high=plain(high[m, k]) if has_interval else None,
                    carried_by=panel.trackers[carrier[m, k]] if carrier[m, k] >= 0 else None,
                )
            rows.append(row)
    return rows


def stability_rows(
    panel: ResampledPoints, kept: Ints, settings: CorrelationTable, seed: int
) -> list[StabilityRow]:
    """How the order of the metrics settles as trackers are added."""
    settled = stability(
        panel.sample.metrics[kept],
        panel.sample.targets[0],
        settings.coefficient,
        "within",
        settings.subsets,
        panel.identity,
        seed,
    )
    return [
        StabilityRow(
            target=panel.targets[0],
            scope="within",
            coefficient=settings.coefficient,
            trackers=panel.group,
            variant=panel.variant,
            **asdict(subsets),
        )
        for subsets in settled
    ]
