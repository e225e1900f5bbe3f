"""Rows of correlations.csv and influence.csv."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.clusters import rank_clusters
from extrinsic.correlation.coefficients import SCOPES, Coefficient, Scope, correlate, is_flat
from extrinsic.correlation.influence import influence, without_each
from extrinsic.correlation.intervals import interval, jackknife_interval
from extrinsic.correlation.multiple_testing import benjamini_hochberg, holm
from extrinsic.correlation.permutation import draw_permutations, permutation_p
from extrinsic.correlation.resampling import WAYS, Resampled, draw_trackers, resampled_correlations
from extrinsic.correlation.soft_pairwise import soft_pairwise_accuracy
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.correlating.panel import MetricName, Panel
from extrinsic.study.stages.store import plain
from extrinsic.study.tables.schema import CorrelationRow, InfluenceRow

ALL_WAYS: tuple[Coefficient, ...] = ("pearson", "spearman")
"""For these, intervals are also given over dialogs alone and over trackers alone."""

FEWEST_TRACKERS = 3
SOFT = "soft_pairwise"


def correlation_rows(
    panel: Panel, settings: CorrelationTable, seed: int, clusters: dict[Scope, Ints]
) -> tuple[list[CorrelationRow], list[InfluenceRow]]:
    """Rows of correlations and of influence, of every coefficient and scope."""
    rows: list[CorrelationRow] = []
    moved: list[InfluenceRow] = []
    if len(panel.trackers) < FEWEST_TRACKERS:
        reason = f"fewer than {FEWEST_TRACKERS} trackers"
        for scope in SCOPES:
            for coefficient in settings.coefficients:
                rows += [
                    _undefined_row(panel, target, name, scope, coefficient, reason)
                    for target in panel.targets
                    for name in panel.metrics
                ]
        return rows, moved
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, seed)
    permuted = draw_permutations(panel.identity, len(panel.trackers), settings.permutations, seed)
    for scope in SCOPES:
        for coefficient in settings.coefficients:
            computed = _Coefficients(panel, settings, scope, coefficient, drawn, permuted)
            rows += computed.rows(clusters.get(scope) if coefficient == "pearson" else None)
            moved += computed.influence_rows()
    rows += _soft_rows(panel, settings, drawn)
    return rows, moved


class _Coefficients:
    """One coefficient in one scope: of every metric with every target."""

    def __init__(
        self,
        panel: Panel,
        settings: CorrelationTable,
        scope: Scope,
        coefficient: Coefficient,
        drawn: Ints,
        permuted: Ints,
    ) -> None:
        self.panel, self.scope, self.coefficient = panel, scope, coefficient
        sample = panel.sample
        self.r = correlate(sample.metrics, sample.targets, coefficient, scope)
        self.left_out = without_each(sample.metrics, sample.targets, coefficient, scope)
        self.p = permutation_p(sample.metrics, sample.targets, coefficient, scope, permuted)
        self.jackknife = jackknife_interval(self.r, self.left_out, settings.level, coefficient != "pairwise")
        self.intervals: dict[Resampled, tuple[Floats, Floats]] = {}
        for way in WAYS if coefficient in ALL_WAYS else ("both",):
            resampled = resampled_correlations(sample, coefficient, scope, way, drawn)
            units = None if way == "dialogs" else self.left_out
            self.intervals[way] = interval(self.r, resampled, units, settings.interval, settings.level)

    def rows(self, clusters: Ints | None) -> list[CorrelationRow]:
        """Of every target and metric; clusters (n_metrics,): of the primary target, 0 for none."""
        panel, rows = self.panel, []
        flat_metric = is_flat(panel.sample.metrics, self.scope)
        flat_target = is_flat(panel.sample.targets, self.scope)
        for k, target in enumerate(panel.targets):
            adjusted, rate = holm(self.p[:, k]), benjamini_hochberg(self.p[:, k])
            for m, name in enumerate(panel.metrics):
                reason = _reason(panel, m, k, bool(flat_metric[m]), bool(flat_target[k]))
                if reason is not None:
                    rows.append(_undefined_row(panel, target, name, self.scope, self.coefficient, reason))
                    continue
                metric, schedule, component, label_scheme = name
                low, high = self._bounds("both", m, k)
                dialogs_low, dialogs_high = self._bounds("dialogs", m, k)
                trackers_low, trackers_high = self._bounds("trackers", m, k)
                cluster = int(clusters[m]) if clusters is not None and k == 0 else 0
                rows.append(
                    CorrelationRow(
                        target=target,
                        metric=metric,
                        schedule=schedule,
                        component=component,
                        scope=self.scope,
                        coefficient=self.coefficient,
                        r=plain(self.r[m, k]),
                        low=low,
                        high=high,
                        p=plain(self.p[m, k]),
                        p_adjusted=plain(adjusted[m]),
                        n=panel.n_points,
                        trackers=panel.group,
                        q=plain(rate[m]),
                        dialogs_low=dialogs_low,
                        dialogs_high=dialogs_high,
                        trackers_low=trackers_low,
                        trackers_high=trackers_high,
                        jackknife_low=plain(self.jackknife[0][m, k]),
                        jackknife_high=plain(self.jackknife[1][m, k]),
                        cluster=cluster or None,
                        label_scheme=label_scheme,
                        variant=panel.variant,
                    )
                )
        return rows

    def _bounds(self, way: Resampled, m: int, k: int) -> tuple[float | None, float | None]:
        if way not in self.intervals:
            return None, None
        low, high = self.intervals[way]
        return plain(low[m, k]), plain(high[m, k])

    def influence_rows(self) -> list[InfluenceRow]:
        panel, rows = self.panel, []
        moved = influence(self.r, self.left_out)
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
                        scope=self.scope,
                        coefficient=self.coefficient,
                        r=plain(self.r[m, k]),
                        lowest=plain(moved.lowest[m, k]),
                        highest=plain(moved.highest[m, k]),
                        tracker=panel.trackers[moved.tracker[m, k]],
                        r_without=plain(moved.without[m, k]),
                        trackers=panel.group,
                        variant=panel.variant,
                    )
                )
        return rows


def _soft_rows(panel: Panel, settings: CorrelationTable, drawn: Ints) -> list[CorrelationRow]:
    """Soft pairwise accuracy, which has an interval over dialogs and trackers and no p-value."""
    observed, resampled = soft_pairwise_accuracy(panel.sample, drawn)
    low, high = interval(observed, resampled, None, "percentile", settings.level)
    flat = [is_flat(values, "within") for values in (panel.sample.metrics, panel.sample.targets)]
    rows = []
    for k, target in enumerate(panel.targets):
        for m, name in enumerate(panel.metrics):
            reason = _reason(panel, m, k, bool(flat[0][m]), bool(flat[1][k]))
            row = _undefined_row(panel, target, name, "within", SOFT, reason)
            if reason is None:
                row = replace(row, r=plain(observed[m, k]), low=plain(low[m, k]), high=plain(high[m, k]))
            rows.append(row)
    return rows


def _undefined_row(
    panel: Panel, target: str, name: MetricName, scope: Scope, coefficient: str, reason: str | None
) -> CorrelationRow:
    """A row without any number."""
    metric, schedule, component, label_scheme = name
    return CorrelationRow(
        target=target,
        metric=metric,
        schedule=schedule,
        component=component,
        scope=scope,
        coefficient=coefficient,
        n=panel.n_points,
        trackers=panel.group,
        label_scheme=label_scheme,
        variant=panel.variant,
        reason=reason,
    )


def _reason(panel: Panel, m: int, k: int, flat_metric: bool, flat_target: bool) -> str | None:
    """Why there is no correlation; None where there is one."""
    undefined = _undefined(panel, m, k)
    if undefined:
        return undefined
    if flat_metric:
        return "the metric is the same for all trackers"
    return "the target is the same for all trackers" if flat_target else None


def _undefined(panel: Panel, m: int, k: int) -> str | None:
    for what, values in (("metric", panel.sample.metrics[m]), ("target", panel.sample.targets[k])):
        where = np.argwhere(np.isnan(values))
        if len(where):
            d, t = where[0]
            more = f" and {len(where) - 1} more" if len(where) > 1 else ""
            return f"the {what} is undefined for {panel.trackers[t]} on {panel.datasets[d]}{more}"
    return None


def cluster_metrics(panel: Panel, p: Floats, kept: Ints, scope: Scope) -> Ints:
    """(n_metrics,) the cluster of each metric by the p-values of differences of the kept ones."""
    clusters = np.zeros(len(panel.metrics), dtype=np.int64)
    r = correlate(panel.sample.metrics[kept], panel.sample.targets[:1], "pearson", scope)[:, 0]
    clusters[kept] = rank_clusters(r, p)
    return clusters
