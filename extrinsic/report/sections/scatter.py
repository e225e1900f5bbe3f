"""The best and the worst metrics against the primary target, tracker by tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import INK, draw, panels, plot_dataset, put_legend, short
from extrinsic.report.drawing.label_layout import place_labels
from extrinsic.report.drawing.page_parts import Block, Fold, Picture, Section
from extrinsic.report.results.naming import Name, is_higher_better, slug, symbol, target_on_axis
from extrinsic.report.results.numbers import with_interval
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults
from extrinsic.study.tables.schema import CorrelationRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = dict[tuple[str, str], float]


def section(study: Study) -> Section | None:
    blocks: list[Block] = []
    for evidence in study.evidence:
        if len(evidence.ranked["all"]) > 1:
            blocks.append(_picture(study, evidence, "all"))
        if evidence.has_core and len(evidence.ranked["core"]) > 1:
            title = f"{evidence.variant}: core trackers only" if evidence.variant else "Core trackers only"
            blocks.append(Fold(title, (_picture(study, evidence, "core"),)))
    return Section("scatter", "The best and the worst, point by point", tuple(blocks)) if blocks else None


def chosen(rows: list[CorrelationRow]) -> list[CorrelationRow]:
    """The two best and the two worst, of four different metrics as far as there are."""
    best = _different(rows, 2, set())
    worst = _different(rows[::-1], 2, {row.metric for row in best})
    return [*best, *(row for row in reversed(worst) if row not in best)]


def _different(rows: list[CorrelationRow], most: int, taken: set[str]) -> list[CorrelationRow]:
    kept: list[CorrelationRow] = []
    for row in rows:
        base = row.metric.partition("(")[0]
        if base not in {*taken, *(other.metric.partition("(")[0] for other in kept)}:
            kept.append(row)
        if len(kept) == most:
            break
    return kept or rows[:1]


def centred(values: Values) -> Values:
    """The values less the mean of their dataset, as for correlations within datasets."""
    means = {}
    for dataset in {dataset for dataset, _ in values}:
        of_dataset = [value for (name, _), value in values.items() if name == dataset]
        means[dataset] = sum(of_dataset) / len(of_dataset)
    return {key: value - means[key[0]] for key, value in values.items()}


def target_values(study: Study, evidence: VariantResults, group: str = "all") -> Values:
    """The primary target of the trackers of a group, on every dataset."""
    members = {row.tracker for row in evidence.trackers if group == "all" or row.core}
    policy, _, estimator = evidence.target.partition(".")
    return {
        (row.dataset, row.tracker): row.value
        for row in study.tables.returns
        if (row.policy, row.estimator) == (policy, estimator)
        and ((row.variant or "") == evidence.variant or policy == "outcome")
        and row.value is not None
        and row.tracker in members
    }


def metric_values(study: Study, name: Name) -> Values:
    return {
        (row.dataset, row.tracker): row.value
        for row in study.tables.intrinsic
        if row.metric == name.metric and row.value is not None and Name.of(row) == name
    }


def _picture(study: Study, evidence: VariantResults, group: str) -> Picture:
    rows = chosen(evidence.ranked[group])
    targets = target_values(study, evidence, group)
    several = len(study.datasets) > 1
    lines = (len(rows) + 1) // 2
    title = f"The best and the worst metrics, {group} trackers" + (
        f" ({evidence.variant})" if evidence.variant else ""
    )

    def paint(figure: Figure) -> None:
        every = panels(figure, lines, 2, 3.55, 2.7, across=0.75, down=0.85)
        for axes, row in zip(every, rows, strict=False):
            _panel(axes, study, evidence, row, targets, several)
        for axes in every[len(rows) :]:
            axes.set_visible(False)
        if several:
            put_legend(every[0], above=0.26)

    what = "less the mean of its dataset, as for correlations within datasets" if several else "as measured"
    caption = (
        f"Every point is a tracker on a dataset, {what}; for a metric where lower is better the axis is "
        "reversed, so that a good predictor always rises to the right. Look for a single point that "
        "determines the slope. Points are labelled where there is room."
    )
    return draw("_".join(filter(None, ("scatter", group, slug(evidence.variant)))), title, caption, paint)


def _panel(
    axes: Axes, study: Study, evidence: VariantResults, row: CorrelationRow, targets: Values, several: bool
) -> None:
    name = Name.of(row)
    values = {key: value for key, value in metric_values(study, name).items() if key in targets}
    wanted = {key: targets[key] for key in values}
    if several:
        values, wanted = centred(values), centred(wanted)
    for number, dataset in enumerate(study.datasets):
        keys = [key for key in values if key[0] == dataset]
        plot_dataset(axes, number, dataset, [values[key] for key in keys], [wanted[key] for key in keys])
    axes.margins(0.12)
    axes.locator_params(nbins=5)
    lower = not is_higher_better(name.metric)
    if lower:
        axes.invert_xaxis()
    axes.set_xlabel(name.label(46) + (" (lower is better)" if lower else ""))
    axes.set_ylabel(target_on_axis(evidence.target) + (", centred" if several else ""))
    axes.set_title(f"{symbol(evidence.coefficient)} = {with_interval(row.r, row.low, row.high)}", color=INK)
    place_labels(axes, [(values[key], wanted[key], short(key[1], 18)) for key in values])
