"""What every policy earns, beside the tracker's accuracy (Lee 2014, Fig. 2); estimates against live play."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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
from extrinsic.report.page_parts import (
    Block,
    Head,
    Picture,
    Section,
    Text,
    described,
    estimator_term,
    policy_term,
    table,
    variant_term,
)
from extrinsic.report.run_data import Study, Values, centred
from extrinsic.study.tables import IntrinsicRow, ReturnRow
from extrinsic.verdict.names import (
    NO_RETURNS,
    Name,
    amount,
    correlation,
    estimator_title,
    in_brackets,
    metric_title,
    policy_title,
    variant_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIVE = "live"
POLICIES = ("rl", "sl", "sl_sampled", "expert", "behaviour", "outcome")
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


Series = tuple[str, dict[tuple[str, str], ReturnRow]]
"""A title, and the rows by dataset and tracker; all of them have a value."""


def returns_section(study: Study) -> Section | None:
    """What every policy earns, tracker by tracker."""
    variants = [evidence.variant for evidence in study.evidence] if study.has_policies else [""]
    made = [
        _returns_picture(study, variant, series)
        for variant in variants
        if (series := _series(study, variant))
    ]
    if not made:
        return None
    title = "What the policies earn" if study.has_policies else "Outcomes of the dialogs"
    note = Text(("No policies were learned in this study: its targets are outcomes.",))
    return Section("returns", title, tuple(made) if study.has_policies else (note, *made))


def _series(study: Study, variant: str) -> list[Series]:
    """Of every policy its values by one estimator: live play, or that of the target, or the first."""
    rows = [
        row
        for row in study.tables[ReturnRow]
        if (row.variant or "") == variant and row.value is not None and row.estimator not in NO_RETURNS
    ]
    names = list(dict.fromkeys(row.estimator for row in rows if row.policy not in ("behaviour", "outcome")))
    wanted = [LIVE, study.target.partition(".")[2], *names]
    estimator = next((name for name in wanted if name in names), "")
    series: dict[tuple[str, str], dict[tuple[str, str], ReturnRow]] = {}
    for row in rows:
        is_logged = (row.policy, row.estimator) == ("behaviour", "observed")
        if row.policy == "outcome" or is_logged or row.estimator == estimator:
            series.setdefault((row.policy, row.estimator), {})[row.dataset, row.tracker] = row
    order = sorted(series, key=lambda key: POLICIES.index(key[0]) if key[0] in POLICIES else len(POLICIES))
    titles = [
        name if policy == "outcome" else f"{policy_title(policy)} ({estimator_title(name)})"
        for policy, name in order
    ]
    return [(title, series[key]) for title, key in zip(titles, order, strict=True)]


def accuracy_name(study: Study) -> Name | None:
    """The accuracy shown for a tracker: of the joint goal at the end of a dialog, if there is one."""
    names = sorted({Name.of(row) for row in study.tables[IntrinsicRow]})
    for base, component in ACCURACIES:
        for schedule in (3, 1):
            for name in names:
                if name.metric.partition("(")[0] == base and name[1:] == (schedule, component):
                    return name
    return None


def _returns_picture(study: Study, variant: str, series: list[Series]) -> Picture:
    accuracy = accuracy_name(study)
    first_title, first = series[0]
    trackers = sorted(study.trackers, key=lambda name: -_mean(first, name))
    unit = "return per dialog" if study.has_policies else "outcome"
    title = f"{'What policies earn' if study.has_policies else 'Outcomes'}, by tracker"
    title += _variant_in_brackets(study, variant)

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
        upright: Any = {"rotation": 90, "va": "center", "fontsize": 6.5}
        ticks: Any = upright if crowded else {"rotation": 38, "va": "top"}
        names = [short(name) for name in trackers]
        every[-1].set_xticks(range(len(names)), names, ha="right", rotation_mode="anchor", **ticks)
        every[-1].set_xlabel(f"tracker, by {first_title}")

    return draw("returns", title, _caption(study, series, accuracy), paint, variant)


def _variant_in_brackets(study: Study, variant: str) -> str:
    return in_brackets(variant_title(variant)) if len(study.evidence) > 1 else ""


def _caption(study: Study, series: list[Series], accuracy: Name | None) -> str:
    has_intervals = any(row.low is not None for _, rows in series for row in rows.values())
    points = f"Points with {study.level} intervals over dialogs." if has_intervals else "Means over dialogs."
    if accuracy is None:
        return points
    return (
        f"{points} Hollow diamonds, on the right axis: {accuracy.title()}. Check whether they fall "
        "from left to right as the other points do: where they do not, it would have misled."
    )


def _mean(rows: dict[tuple[str, str], ReturnRow], tracker: str) -> float:
    values = [row.value or 0.0 for row in rows.values() if row.tracker == tracker]
    return sum(values) / len(values) if values else float("-inf")


def _panel(axes: Axes, series: list[Series], dataset: str, trackers: list[str], unit: str) -> None:
    for number, (title, rows) in enumerate(series):
        offset = (number - (len(series) - 1) / 2) * 0.18
        shown = [(x + offset, rows.get((dataset, name))) for x, name in enumerate(trackers)]
        points = [(x, row) for x, row in shown if row is not None]
        colour, marker = look(number)
        intervals = [(x, row.low, row.high) for x, row in points]
        put_intervals(axes, intervals, upright=True, color=colour, linewidth=1.2)
        values = [(x, row.value or 0.0) for x, row in points]
        put_points(axes, values, marker, color=colour, markersize=4.8, label=title)
    axes.set_ylabel(unit)
    axes.grid(axis="x", visible=False)
    axes.margins(x=0.03)


def _accuracies(axes: Axes, study: Study, name: Name, dataset: str, trackers: list[str]) -> Axes:
    right: Axes = axes.twinx()
    values = study.metric_values(name)
    scores = {tracker: value for (place, tracker), value in values.items() if place == dataset}
    scored = [(x, scores[tracker]) for x, tracker in enumerate(trackers) if tracker in scores]
    label = f"{name.title()} (right axis)"
    look = {"color": MUTED, "markersize": 4, "markerfacecolor": "none", "linewidth": 0.8}
    put_points(right, scored, "D--", label=label, **look)
    right.set_ylabel(metric_title(name.metric), color=INK)
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    return right


def estimators_section(study: Study) -> Section | None:
    """Estimated returns of policies against those of live play."""
    if not study.has_policies:
        return None
    title = "Estimators against live play"
    pictures = [_estimates_picture(study, evidence.variant) for evidence in study.evidence]
    blocks: list[Block] = [picture for picture in pictures if picture]
    if not blocks:
        played = any(row.estimator == LIVE for row in study.tables[ReturnRow])
        note = Text(("No policy was played live: how far estimates are from the truth cannot be seen here.",))
        return None if played else Section("estimators", title, (note,))
    return Section("estimators", title, (*blocks, _estimates_table(study)))


def estimates(study: Study, variant: str) -> dict[tuple[str, str], Values]:
    """By policy and estimator, the value of each (dataset, tracker)."""
    values: dict[tuple[str, str], Values] = {}
    for row in study.tables[ReturnRow]:
        is_estimated = row.policy not in ("behaviour", "outcome") and row.estimator not in NO_RETURNS
        if (row.variant or "") == variant and is_estimated and row.value is not None:
            key = row.policy, row.estimator
            values.setdefault(key, {})[row.dataset, row.tracker] = row.value
    return values


def agreement(estimate: Values, live: Values) -> tuple[int, float | None, float, float]:
    """The number of points, r within datasets, bias, and root mean squared error."""
    keys = [key for key in estimate if key in live]
    errors = [estimate[key] - live[key] for key in keys]
    n = len(errors)
    if not n:
        return 0, None, math.nan, math.nan
    bias, error = sum(errors) / n, math.sqrt(sum(error * error for error in errors) / n)
    x, y = centred({key: live[key] for key in keys}), centred({key: estimate[key] for key in keys})
    across = math.sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
    r = sum(x[key] * y[key] for key in keys) / across if across > 0 else None
    return n, r, bias, error


def _estimates_picture(study: Study, variant: str) -> Picture | None:
    values = estimates(study, variant)
    shown = [key for key in values if key[1] != LIVE and (key[0], LIVE) in values]
    policy = "rl" if any(key[0] == "rl" for key in shown) else next((key[0] for key in shown), "")
    shown = [key for key in shown if key[0] == policy]
    if not shown:
        return None
    columns = min(3, len(shown))
    lines = math.ceil(len(shown) / columns)
    title = f"The {policy_title(policy)}'s return as estimated, against live play"
    title += _variant_in_brackets(study, variant)

    def paint(figure: Figure) -> None:
        width = (7.8 - 0.25 * (columns - 1)) / columns if columns > 1 else 4.5
        every = panels(figure, lines, columns, width, 2.5, across=0.25, down=0.75, sharex=True, sharey=True)
        for axes, key in zip(every, shown, strict=False):
            _estimates_panel(axes, study, values[key], values[policy, LIVE], key[1])
        for axes in every[len(shown) :]:
            axes.set_visible(False)
        for axes in every[::columns]:
            axes.set_ylabel("estimated return")
        if len(study.datasets) > 1:
            put_legend(every[0], above=0.26)

    caption = (
        "A point above the dashed line is a policy that earns less than the estimator says. A cloud that "
        "lies above the line but along it still ranks policies well; one that is flat does not."
    )
    return draw("estimators", title, caption, paint, variant)


def _estimates_panel(axes: Axes, study: Study, estimate: Values, live: Values, name: str) -> None:
    for number, dataset in enumerate(study.datasets):
        points = [(live[key], estimate[key]) for key in estimate if key[0] == dataset and key in live]
        put_dataset(axes, number, dataset, points)
    middle = next(iter(live.values()))
    axes.axline((middle, middle), slope=1.0, color=MUTED, linewidth=0.9, linestyle="--")
    _, r, bias, _ = agreement(estimate, live)
    sign = "+" if bias > 0 else ""
    axes.set_title(f"{short(estimator_title(name))}: r = {correlation(r)}, bias {sign}{amount(bias, 0)}")
    axes.set_xlabel("live return")
    axes.margins(0.08)


def _estimates_table(study: Study) -> Block:
    rows = []
    for evidence in study.evidence:
        every = estimates(study, evidence.variant)
        for (policy, name), values in every.items():
            if name != LIVE and (policy, LIVE) in every:
                n, r, bias, error = agreement(values, every[policy, LIVE])
                what = variant_term(evidence.variant), policy_term(policy), estimator_term(name)
                rows.append((*what, str(n), correlation(r), amount(bias, 1), amount(error, 1)))
    heads: list[Head] = [*described(ReturnRow, "variant", "policy", "estimator")]
    heads += ["#points", "#r within datasets", "#bias", "#typical error"]
    caption = (
        "Bias is the mean of estimate less live return; the typical error is the root mean squared error."
    )
    return table(caption, heads, rows, "returns.csv")
