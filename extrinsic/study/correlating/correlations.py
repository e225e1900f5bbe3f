"""Rows of correlations.csv and influence.csv."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.best_set import FEWEST_TRACKERS as FEWEST_FOR_INTERVALS
from extrinsic.correlation.best_set import BestSet, best_set
from extrinsic.correlation.coefficients import SCOPES, Coefficient, Scope, is_flat
from extrinsic.correlation.deciding import MOST
from extrinsic.correlation.disattenuation import LEAST, Disattenuation
from extrinsic.correlation.influence import carriers, influence, leverage
from extrinsic.correlation.intervals import interval, jackknife_interval
from extrinsic.correlation.multiple_testing import benjamini_hochberg, holm
from extrinsic.correlation.resampling import WAYS, Resampled, draw_trackers
from extrinsic.correlation.soft_pairwise import soft_pairwise_accuracy
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.correlating.panel import MetricName, Panel
from extrinsic.study.stages.store import plain
from extrinsic.study.tables.metric_rows import BestSetRow, CorrelationRow, InfluenceRow

ALL_WAYS: tuple[Coefficient, ...] = ("pearson", "spearman")
"""For these, intervals are also given over dialogs alone and over trackers alone."""

FEWEST_TRACKERS = 3
SOFT = "soft_pairwise"


def correlation_rows(
    panel: Panel, settings: CorrelationTable, seed: int
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
    for scope in SCOPES:
        for coefficient in settings.coefficients:
            computed = _Coefficients(panel, settings, scope, coefficient, seed)
            rows += computed.rows()
            moved += computed.influence_rows()
    if "pairwise" in settings.coefficients:
        drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, seed)
        rows += _soft_rows(panel, settings, drawn)
    return rows, moved


@dataclass(frozen=True, eq=False)
class DefaultInterval:
    """r, low, high, r_true (n_metrics, n_targets), NaN where withheld; reasons: why, by metric and target.

    reliability (n_metrics,), target_reliability (n_targets,): NaN but for Pearson's r.
    """

    r: Floats
    low: Floats
    high: Floats
    r_true: Floats
    reliability: Floats
    target_reliability: Floats
    reasons: Mapping[tuple[int, int], str]

    def reason(self, metric: int, target: int) -> str | None:
        return self.reasons.get((metric, target))


def default_interval(
    panel: Panel, coefficient: Coefficient, scope: Scope, level: float, n_targets: int | None = None
) -> DefaultInterval:
    """The interval of one metric named in advance, for each of them; n_targets: of the first ones only."""
    r = panel.correlations(coefficient, scope)[:, :n_targets]
    left_out = panel.left_out(coefficient, scope)[..., :n_targets]
    n_metrics, n_targets = r.shape
    is_accuracy = coefficient == "pairwise"
    low, high = jackknife_interval(r, left_out, level, not is_accuracy, heavy_tails=True)
    if is_accuracy:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    r_true = np.full(r.shape, np.nan)
    reliability, target_reliability = np.full(n_metrics, np.nan), np.full(n_targets, np.nan)
    reasons: dict[tuple[int, int], str] = {}
    if coefficient == "pearson":
        whole = panel.noise(scope)
        noise = Disattenuation(whole.metric, whole.target[:n_targets], whole.shared[:, :n_targets])
        reliability, target_reliability = noise.metric, noise.target
        for m, k in np.argwhere(~np.isnan(r)).tolist():
            least, what = min((reliability[m], "the metric"), (target_reliability[k], "the target"))
            if least <= LEAST:
                reasons[m, k] = f"more noise than signal: the reliability of {what} is {max(least, 0.0):.2f}"
        r_true = noise.true(r)
        # A metric that is undefined on some resamples has no reliability: its interval is of r as it is.
        unknown = np.isnan(reliability)[:, None] | np.isnan(target_reliability)[None, :]
        low, high = (np.where(unknown, end, noise.true(end)) for end in (low, high))
    if len(left_out) < FEWEST_FOR_INTERVALS:
        needed = f"at least {FEWEST_FOR_INTERVALS} are needed for an interval"
        text = f"not decided: {len(left_out)} trackers, {needed}"
        reasons = dict.fromkeys(((m, k) for m, k in np.argwhere(~np.isnan(r)).tolist()), text)
    for m, k in reasons:
        low[m, k] = high[m, k] = np.nan
    return DefaultInterval(r, low, high, r_true, reliability, target_reliability, reasons)


def best_set_rows(panel: Panel, settings: CorrelationTable, seed: int) -> list[BestSetRow]:
    """The best set and the ranks by every target, within datasets, by the study's coefficient."""
    coefficient = settings.coefficient
    if len(panel.trackers) < FEWEST_TRACKERS:
        return []
    r, left_out = panel.correlations(coefficient, "within"), panel.left_out(coefficient, "within")
    # An accuracy of pairs is a correlation of their signs, from 0 to 1 in place of -1 to 1.
    scale, shift = (2.0, -1.0) if coefficient == "pairwise" else (1.0, 0.0)
    default = default_interval(panel, coefficient, "within", settings.level)
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
            row = best_set_row(made, m, panel, target, r[m, k], coefficient, default.reason(m, k))
            if coefficient == "pairwise" and row.low is not None and row.high is not None:
                row = replace(row, low=(row.low - shift) / scale, high=(row.high - shift) / scale)
            rows.append(row)
    return rows


def best_set_row(
    made: BestSet,
    m: int,
    panel: Panel,
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


class _Coefficients:
    """One coefficient in one scope: of every metric with every target."""

    def __init__(
        self, panel: Panel, settings: CorrelationTable, scope: Scope, coefficient: Coefficient, seed: int
    ) -> None:
        self.panel, self.scope, self.coefficient = panel, scope, coefficient
        sample = panel.sample
        self.r, self.left_out = panel.correlations(coefficient, scope), panel.left_out(coefficient, scope)
        test = panel.permuted(coefficient, scope, settings.permutations, seed)
        self.p, self.p_max_t = test.p, test.p_max_t
        self.shares = leverage(sample.metrics, sample.targets, scope)
        self.default = default_interval(panel, coefficient, scope, settings.level)
        self.jackknife = jackknife_interval(self.r, self.left_out, settings.level, coefficient != "pairwise")
        self.intervals: dict[Resampled, tuple[Floats, Floats]] = {}
        for way in WAYS if coefficient in ALL_WAYS else ("both",):
            resampled = panel.resampled(coefficient, scope, way, seed)
            units = None if way == "dialogs" else self.left_out
            self.intervals[way] = interval(self.r, resampled, units, settings.interval, settings.level)

    def rows(self) -> list[CorrelationRow]:
        """Of every target and metric."""
        panel, rows = self.panel, []
        flat_metric = is_flat(panel.sample.metrics, self.scope)
        flat_target = is_flat(panel.sample.targets, self.scope)
        carrier = carriers(self.shares)
        for k, target in enumerate(panel.targets):
            adjusted, rate = holm(self.p[:, k]), benjamini_hochberg(self.p[:, k])
            for m, name in enumerate(panel.metrics):
                reason = _reason(panel, m, k, bool(flat_metric[m]), bool(flat_target[k]))
                if reason is not None:
                    rows.append(_undefined_row(panel, target, name, self.scope, self.coefficient, reason))
                    continue
                metric, schedule, component, label_scheme = name
                default = self.default
                resampled_low, resampled_high = self._bounds("both", m, k)
                dialogs_low, dialogs_high = self._bounds("dialogs", m, k)
                trackers_low, trackers_high = self._bounds("trackers", m, k)
                rows.append(
                    CorrelationRow(
                        target=target,
                        metric=metric,
                        schedule=schedule,
                        component=component,
                        scope=self.scope,
                        coefficient=self.coefficient,
                        r=plain(self.r[m, k]),
                        low=plain(default.low[m, k]),
                        high=plain(default.high[m, k]),
                        p=plain(self.p[m, k]),
                        p_adjusted=plain(adjusted[m]),
                        n=panel.n_points,
                        trackers=panel.group,
                        q=plain(rate[m]),
                        p_max_t=plain(self.p_max_t[m, k]),
                        r_true=plain(default.r_true[m, k]),
                        reliability=plain(default.reliability[m]),
                        target_reliability=plain(default.target_reliability[k]),
                        resampled_low=resampled_low,
                        resampled_high=resampled_high,
                        dialogs_low=dialogs_low,
                        dialogs_high=dialogs_high,
                        trackers_low=trackers_low,
                        trackers_high=trackers_high,
                        jackknife_low=plain(self.jackknife[0][m, k]),
                        jackknife_high=plain(self.jackknife[1][m, k]),
                        label_scheme=label_scheme,
                        variant=panel.variant,
                        reason=default.reason(m, k),
                        carried_by=_carried_by(panel, carrier[m, k]),
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
                        share=plain(self.shares[m, k, moved.tracker[m, k]]),
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
    carrier = carriers(leverage(panel.sample.metrics, panel.sample.targets, "within"))
    rows = []
    for k, target in enumerate(panel.targets):
        for m, name in enumerate(panel.metrics):
            reason = _reason(panel, m, k, bool(flat[0][m]), bool(flat[1][k]))
            row = _undefined_row(panel, target, name, "within", SOFT, reason)
            if reason is None:
                row = replace(row, r=plain(observed[m, k]), carried_by=_carried_by(panel, carrier[m, k]))
            if reason is None and len(panel.trackers) >= FEWEST_FOR_INTERVALS:
                row = replace(row, low=plain(low[m, k]), high=plain(high[m, k]))
            rows.append(row)
    return rows


def _carried_by(panel: Panel, tracker: int) -> str | None:
    return panel.trackers[tracker] if tracker >= 0 else None


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
