"""What every policy earns, beside the tracker's accuracy (Lee 2014, Fig. 2); estimates against live play."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Panel
from extrinsic.report.figures import (
    INK,
    MUTED,
    draw,
    look,
    panels,
    put_dataset,
    put_intervals,
    put_legend,
    put_points,
    short,
)
from extrinsic.report.page_parts import Block, Picture, Section, Text
from extrinsic.report.run_data import Study
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.names import (
    BEHAVIOUR,
    NO_RETURNS,
    POLICIES,
    Name,
    amount,
    correlation,
    estimator_title,
    in_brackets,
    metric_title,
    policy_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIVE = "live"
ACCURACIES = (
    ("accuracy", "joint"),
    ("accuracy", "goal.joint"),
    ("jga", "state"),
    ("jga", "all"),
    ("accuracy", "all"),
    ("accuracy", "goal.all"),
)

CROWDED, UNNAMED = 16, 80
"""From more trackers on, their names stand upright and are smaller, then they are left out."""


class Series(NamedTuple):
    """A policy valued by an estimator: values, low, high (D, S)."""

    title: str
    policy: str
    estimator: str
    values: Floats
    low: Floats
    high: Floats


def series_of(panel: Panel, variant: str | None) -> list[Series]:
    """Of every policy and estimator of returns (or outcome), policies in the order of POLICIES."""
    made = []
    for k, target in enumerate(panel.targets):
        policy, _, estimator = target.name.partition(".")
        if target.variant != variant or estimator in NO_RETURNS or not np.isfinite(panel.values[k]).any():
            continue
        title = estimator if policy == "outcome" else f"{policy_title(policy)} ({estimator_title(estimator)})"
        made.append(Series(title, policy, estimator, panel.values[k], panel.low[k], panel.high[k]))
    order = {policy: place for place, policy in enumerate(POLICIES)}
    return sorted(made, key=lambda series: order.get(series.policy, len(order)))


def returns_section(study: Study) -> Section | None:
    """What every policy earns, tracker by tracker."""
    made = [
        _returns_picture(study, variant, shown)
        for variant in study.variants
        if (shown := _shown(study, series_of(study.view, variant)))
    ]
    if not made:
        return None
    title = "What the policies earn" if study.has_policies else "Outcomes of the dialogs"
    note = Text(("No policies were learned in this study: its targets are outcomes.",))
    return Section("returns", title, tuple(made) if study.has_policies else (note, *made))


def _shown(study: Study, every: list[Series]) -> list[Series]:
    """Of every policy its values by one estimator: live play, or that of the target, or the first."""
    names = [series.estimator for series in every if series.policy not in ("behaviour", "outcome")]
    wanted = [LIVE, study.target.partition(".")[2], *names]
    estimator = next((name for name in wanted if name in names), "")
    return [
        series
        for series in every
        if series.policy == "outcome"
        or f"{series.policy}.{series.estimator}" == BEHAVIOUR
        or series.estimator == estimator
    ]


def accuracy_name(study: Study) -> Name | None:
    """The accuracy shown for a tracker: of the joint goal at the end of a dialog, if there is one."""
    names = sorted({Name.of(key) for key in study.view.metrics})
    wanted = [(*accuracy, schedule) for accuracy in ACCURACIES for schedule in (3, 1)]
    found = {(name.metric.partition("(")[0], name.component, name.schedule): name for name in names[::-1]}
    return next((found[key] for key in wanted if key in found), None)


def _returns_picture(study: Study, variant: str | None, shown: list[Series]) -> Picture:
    accuracy = accuracy_name(study)
    first, names = shown[0], study.view.names
    filled = np.isfinite(first.values)
    totals = np.where(filled, first.values, 0.0).sum(axis=0)
    means = totals / np.maximum(filled.sum(axis=0), 1)
    order = sorted(range(len(names)), key=lambda s: -means[s] if filled[:, s].any() else math.inf)
    unit = "return per dialog" if study.has_policies else "outcome"
    title = f"{'What policies earn' if study.has_policies else 'Outcomes'}, by tracker"
    title += in_brackets(study.variant_title(variant))

    def paint(figure: Figure) -> None:
        crowded = len(order) > CROWDED
        width = min(8.4 if crowded else 7.4, max(4.0, 0.62 * len(order)))
        every = panels(figure, len(study.datasets), 1, width, 2.2, down=0.42, sharex=True)
        for d, (axes, dataset) in enumerate(zip(every, study.datasets, strict=True)):
            _panel(axes, shown, d, order, unit)
            right = _accuracies(axes, study, accuracy, d, order) if accuracy else None
            if d == 0:
                handles, labels = axes.get_legend_handles_labels()
                more = right.get_legend_handles_labels() if right else ([], [])
                put_legend(axes, handles=handles + more[0], labels=labels + more[1], above=0.26, ncols=5)
            axes.set_title(short(dataset, 60))
        if len(order) <= UNNAMED:
            upright: Any = {"rotation": 90, "va": "center", "fontsize": 6.5}
            ticks: Any = upright if crowded else {"rotation": 38, "va": "top"}
            labels = [short(names[s]) for s in order]
            every[-1].set_xticks(range(len(order)), labels, ha="right", rotation_mode="anchor", **ticks)
        every[-1].set_xlabel(f"tracker, by {first.title}")

    return draw("returns", title, _caption(shown, accuracy), paint, variant)


def _caption(shown: Sequence[Series], accuracy: Name | None) -> str:
    has_intervals = any(np.isfinite(series.low).any() for series in shown)
    points = "Points with 95 % intervals over dialogs." if has_intervals else "Means over dialogs."
    if accuracy is None:
        return points
    return (
        f"{points} Hollow diamonds, on the right axis: {accuracy.title()}. Check whether they fall "
        "from left to right as the other points do: where they do not, it would have misled."
    )


def _panel(axes: Axes, shown: Sequence[Series], d: int, order: Sequence[int], unit: str) -> None:
    for number, series in enumerate(shown):
        offset = (number - (len(shown) - 1) / 2) * 0.18
        low, high, values = (part[d].tolist() for part in (series.low, series.high, series.values))
        colour, marker = look(number)
        ends = [(x + offset, low[s], high[s]) for x, s in enumerate(order) if math.isfinite(low[s])]
        put_intervals(axes, ends, upright=True, color=colour, linewidth=1.2)
        points = [(x + offset, values[s]) for x, s in enumerate(order) if math.isfinite(values[s])]
        put_points(axes, points, marker, color=colour, markersize=4.8, label=series.title)
    axes.set_ylabel(unit)
    axes.grid(axis="x", visible=False)
    axes.margins(x=0.03)


def _accuracies(axes: Axes, study: Study, name: Name, d: int, order: Sequence[int]) -> Axes:
    right: Axes = axes.twinx()
    values = study.view.scores[[Name.of(key) for key in study.view.metrics].index(name), d].tolist()
    scored = [(x, values[s]) for x, s in enumerate(order) if math.isfinite(values[s])]
    form: Any = {"color": MUTED, "markersize": 4, "markerfacecolor": "none", "linewidth": 0.8}
    put_points(right, scored, "D--", label=f"{name.title()} (right axis)", **form)
    right.set_ylabel(metric_title(name.metric), color=INK)
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    return right


def estimators_section(study: Study) -> Section | None:
    """Estimated returns of policies against those of live play."""
    if not study.has_policies:
        return None
    title = "Estimators against live play"
    pictures = [_estimates_picture(study, variant) for variant in study.variants]
    blocks: list[Block] = [picture for picture in pictures if picture]
    if not blocks:
        played = any(target.name.endswith(f".{LIVE}") for target in study.panel.targets)
        note = Text(("No policy was played live: how far estimates are from the truth cannot be seen here.",))
        return None if played else Section("estimators", title, (note,))
    return Section("estimators", title, tuple(blocks))


def estimates(study: Study, variant: str | None) -> list[tuple[Series, Series]]:
    """Every estimate of a policy's return, and that of live play."""
    every = [
        series for series in series_of(study.view, variant) if series.policy not in ("behaviour", "outcome")
    ]
    live = {series.policy: series for series in every if series.estimator == LIVE}
    return [
        (series, live[series.policy])
        for series in every
        if series.estimator != LIVE and series.policy in live
    ]


def agreement(estimate: Floats, live: Floats) -> tuple[float | None, float, float]:
    """r within datasets, bias, and root mean squared error of an estimate (D, S)."""
    both = np.isfinite(estimate) & np.isfinite(live)
    if not both.any():
        return None, math.nan, math.nan
    errors = (estimate - live)[both]
    r = float(correlate(estimate[None], live[None], "pearson", "within")[0, 0]) if both.all() else math.nan
    return r if math.isfinite(r) else None, float(errors.mean()), float(np.sqrt((errors**2).mean()))


def _estimates_picture(study: Study, variant: str | None) -> Picture | None:
    shown = estimates(study, variant)
    if not shown:
        return None
    columns = min(3, len(shown))
    lines = math.ceil(len(shown) / columns)
    title = "Returns as estimated, against live play"
    title += in_brackets(study.variant_title(variant))

    def paint(figure: Figure) -> None:
        width = (7.8 - 0.25 * (columns - 1)) / columns if columns > 1 else 4.5
        axes_of = panels(figure, lines, columns, width, 2.5, across=0.25, down=0.85, sharex=True, sharey=True)
        for axes, (series, live) in zip(axes_of, shown, strict=False):
            _estimates_panel(axes, study, series, live)
        for axes in axes_of[len(shown) :]:
            axes.set_visible(False)
        for axes in axes_of[::columns]:
            axes.set_ylabel("estimated return")
        if len(study.datasets) > 1:
            put_legend(axes_of[0], above=0.26)

    caption = (
        "A point above the dashed line is a policy that earns less than the estimator says. A cloud that "
        "lies above the line but along it still ranks policies well; one that is flat does not. r is within "
        "datasets, bias the mean of estimate less live return, ± the root mean squared error."
    )
    return draw("estimators", title, caption, paint, variant)


def _estimates_panel(axes: Axes, study: Study, series: Series, live: Series) -> None:
    for d, dataset in enumerate(study.datasets):
        both = zip(live.values[d].tolist(), series.values[d].tolist(), strict=True)
        put_dataset(axes, d, dataset, [(x, y) for x, y in both if math.isfinite(x) and math.isfinite(y)])
    middle = float(np.nanmean(live.values))
    axes.axline((middle, middle), slope=1.0, color=MUTED, linewidth=0.9, linestyle="--")
    r, bias, error = agreement(series.values, live.values)
    sign = "+" if bias > 0 else ""
    numbers = f"r = {correlation(r)}, bias {sign}{amount(bias, 0)}, ± {amount(error, 0)}"
    axes.set_title(f"{short(series.title, 44)}\n{numbers}", fontsize=8)
    axes.set_xlabel("live return")
    axes.margins(0.08)
