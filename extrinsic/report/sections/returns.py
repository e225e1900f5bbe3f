"""What every policy earns, tracker by tracker, beside the tracker's accuracy (Lee 2014, Fig. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from extrinsic.report.drawing.figures import INK, MARKERS, MUTED, SERIES, draw, panels, put_legend, short
from extrinsic.report.drawing.page_parts import Picture, Section, Text
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import (
    NO_RETURNS,
    Name,
    estimator_title,
    metric_title,
    policy_title,
    slug,
    variant_title,
)
from extrinsic.study.tables.schema import ReturnRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORDER = ("rl", "sl", "sl_sampled", "expert", "behaviour", "outcome")
ACCURACIES = (
    ("accuracy", "joint"),
    ("accuracy", "goal.joint"),
    ("jga", "state"),
    ("jga", "all"),
    ("accuracy", "all"),
    ("accuracy", "goal.all"),
)

CROWDED = 16
"""From more trackers on, their names stand upright and are smaller."""


class Point(NamedTuple):
    """A return with its interval."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Series:
    title: str
    points: dict[tuple[str, str], Point]
    """By dataset and tracker."""


def section(study: Study) -> Section | None:
    variants = [evidence.variant for evidence in study.evidence] if study.has_policies else [""]
    made = [_picture(study, variant) for variant in variants if _series(study, variant)]
    if not made:
        return None
    title = "What the policies earn" if study.has_policies else "Outcomes of the dialogs"
    note = Text(("No policies were learned in this study: its targets are outcomes.",))
    return Section("returns", title, tuple(made) if study.has_policies else (note, *made))


def chosen_estimator(rows: list[ReturnRow], target: str) -> str:
    """Live play where there is, else the estimator of the primary target, else the first."""
    names = list(dict.fromkeys(row.estimator for row in rows if row.policy not in ("behaviour", "outcome")))
    wanted = ("live", target.partition(".")[2])
    return next((name for name in wanted if name in names), names[0] if names else "")


def _series(study: Study, variant: str) -> list[Series]:
    rows = [
        row
        for row in study.tables.returns
        if (row.variant or "") == variant and row.value is not None and row.estimator not in NO_RETURNS
    ]
    estimator = chosen_estimator(rows, study.target)
    series: dict[tuple[str, str], dict[tuple[str, str], Point]] = {}
    for row in rows:
        is_logged = (row.policy, row.estimator) == ("behaviour", "observed")
        is_shown = row.policy == "outcome" or is_logged or row.estimator == estimator
        if is_shown and row.value is not None:
            points = series.setdefault((row.policy, row.estimator), {})
            points[row.dataset, row.tracker] = Point(row.value, row.low, row.high)
    order = sorted(series, key=lambda key: ORDER.index(key[0]) if key[0] in ORDER else len(ORDER))
    return [Series(_title(policy, name), series[policy, name]) for policy, name in order]


def _title(policy: str, estimator: str) -> str:
    return estimator if policy == "outcome" else f"{policy_title(policy)} ({estimator_title(estimator)})"


def accuracy_name(study: Study) -> Name | None:
    """The accuracy shown for a tracker: of the joint goal at the end of a dialog, if there is one."""
    names = sorted({Name.of(row) for row in study.tables.intrinsic})
    for base, component in ACCURACIES:
        for schedule in (3, 1):
            for name in names:
                if name.metric.partition("(")[0] == base and name[1:] == (schedule, component):
                    return name
    return None


def _picture(study: Study, variant: str) -> Picture:
    series, accuracy = _series(study, variant), accuracy_name(study)
    first = series[0].points
    trackers = sorted(study.trackers, key=lambda name: -_mean(first, name))
    unit = "return per dialog" if study.has_policies else "outcome"
    title = f"{'What policies earn' if study.has_policies else 'Outcomes'}, by tracker"
    title += f" ({variant_title(variant)})" if variant and len(study.evidence) > 1 else ""

    def paint(figure: Figure) -> None:
        crowded = len(trackers) > CROWDED
        width = min(8.4 if crowded else 7.4, max(4.0, 0.62 * len(trackers)))
        every = panels(figure, len(study.datasets), 1, width, 2.2, down=0.42, sharex=True)
        for number, (axes, dataset) in enumerate(zip(every, study.datasets, strict=True)):
            _panel(axes, series, dataset, trackers, unit)
            right = _accuracies(axes, study, accuracy, dataset, trackers) if accuracy else None
            if number == 0:
                handles, labels = axes.get_legend_handles_labels()
                more = right.get_legend_handles_labels() if right else ([], [])
                put_legend(axes, handles=handles + more[0], labels=labels + more[1], above=0.26, ncols=5)
            axes.set_title(short(dataset, 60))
        every[-1].set_xticks(
            range(len(trackers)),
            [short(name) for name in trackers],
            rotation=90 if crowded else 38,
            va="center" if crowded else "top",
            ha="right",
            rotation_mode="anchor",
            fontsize=6.5 if crowded else None,
        )
        every[-1].set_xlabel(f"tracker, by {series[0].title}")

    return draw(f"returns_{slug(variant)}".rstrip("_"), title, _caption(study, series, accuracy), paint)


def _caption(study: Study, series: list[Series], accuracy: Name | None) -> str:
    has_intervals = any(point.low is not None for shown in series for point in shown.points.values())
    points = f"Points with {study.level} intervals over dialogs." if has_intervals else "Means over dialogs."
    if accuracy is None:
        return points
    return (
        f"{points} Hollow diamonds, on the right axis: {accuracy.title()}. Check whether they fall "
        "from left to right as the other points do: where they do not, it would have misled."
    )


def _mean(points: dict[tuple[str, str], Point], tracker: str) -> float:
    values = [point.value for (_, name), point in points.items() if name == tracker]
    return sum(values) / len(values) if values else float("-inf")


def _panel(axes: Axes, series: list[Series], dataset: str, trackers: list[str], unit: str) -> None:
    for number, shown in enumerate(series):
        offset = (number - (len(series) - 1) / 2) * 0.18
        points = [
            (x + offset, shown.points[dataset, name])
            for x, name in enumerate(trackers)
            if (dataset, name) in shown.points
        ]
        colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        intervals = [
            (x, point.low, point.high)
            for x, point in points
            if point.low is not None and point.high is not None
        ]
        axes.vlines(
            [x for x, _, _ in intervals],
            [low for _, low, _ in intervals],
            [high for _, _, high in intervals],
            color=colour,
            linewidth=1.2,
        )
        axes.plot(
            [x for x, _ in points],
            [point.value for _, point in points],
            marker,
            color=colour,
            markersize=4.8,
            label=shown.title,
        )
    axes.set_ylabel(unit)
    axes.grid(axis="x", visible=False)
    axes.margins(x=0.03)


def _accuracies(axes: Axes, study: Study, name: Name, dataset: str, trackers: list[str]) -> Axes:
    right: Axes = axes.twinx()
    values = {
        row.tracker: row.value
        for row in study.tables.intrinsic
        if row.metric == name.metric
        and row.dataset == dataset
        and Name.of(row) == name
        and row.value is not None
    }
    scored = [(x, values[tracker]) for x, tracker in enumerate(trackers) if tracker in values]
    right.plot(
        [x for x, _ in scored],
        [value for _, value in scored],
        "D--",
        color=MUTED,
        markersize=4,
        markerfacecolor="none",
        linewidth=0.8,
        label=f"{name.title()} (right axis)",
    )
    right.set_ylabel(metric_title(name.metric), color=INK)
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    return right
