"""Estimated returns of policies against those of live play."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import MUTED, draw, panels, plot_dataset, put_legend, short
from extrinsic.report.drawing.page_parts import Block, Head, Picture, Section, Text, described, table
from extrinsic.report.drawing.terms import estimator_term, policy_term, variant_term
from extrinsic.report.results.report_data import Study
from extrinsic.report.sections.how_sure import Values, centred
from extrinsic.study.naming import NO_RETURNS, estimator_title, policy_title, slug, variant_title
from extrinsic.study.number_texts import amount, correlation
from extrinsic.study.tables.schema import ReturnRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIVE = "live"


def section(study: Study) -> Section | None:
    if not study.has_policies:
        return None
    title = "Estimators against live play"
    blocks: list[Block] = []
    for evidence in study.evidence:
        values = estimates(study, evidence.variant)
        if any(name == LIVE for _, name in values):
            blocks += [made for made in (_picture(study, evidence.variant, values),) if made]
    if not blocks:
        played = any(row.estimator == LIVE for row in study.tables.returns)
        note = Text(("No policy was played live: how far estimates are from the truth cannot be seen here.",))
        return None if played else Section("estimators", title, (note,))
    return Section("estimators", title, (*blocks, _table(study)))


def estimates(study: Study, variant: str) -> dict[tuple[str, str], Values]:
    """By policy and estimator, the value of each (dataset, tracker)."""
    values: dict[tuple[str, str], Values] = {}
    for row in study.tables.returns:
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


def _picture(study: Study, variant: str, values: dict[tuple[str, str], Values]) -> Picture | None:
    shown = [key for key in values if key[1] != LIVE and (key[0], LIVE) in values]
    policy = "rl" if any(key[0] == "rl" for key in shown) else next((key[0] for key in shown), "")
    shown = [key for key in shown if key[0] == policy]
    if not shown:
        return None
    columns = min(3, len(shown))
    lines = math.ceil(len(shown) / columns)
    title = f"The {policy_title(policy)}'s return as estimated, against live play"
    title += f" ({variant_title(variant)})" if variant and len(study.evidence) > 1 else ""

    def paint(figure: Figure) -> None:
        width = (7.8 - 0.25 * (columns - 1)) / columns if columns > 1 else 4.5
        every = panels(figure, lines, columns, width, 2.5, across=0.25, down=0.75, sharex=True, sharey=True)
        for axes, key in zip(every, shown, strict=False):
            _panel(axes, study, values[key], values[policy, LIVE], key[1])
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
    return draw("_".join(filter(None, ("estimators", slug(variant)))), title, caption, paint)


def _panel(axes: Axes, study: Study, estimate: Values, live: Values, name: str) -> None:
    for number, dataset in enumerate(study.datasets):
        keys = [key for key in estimate if key[0] == dataset and key in live]
        plot_dataset(axes, number, dataset, [live[key] for key in keys], [estimate[key] for key in keys])
    middle = next(iter(live.values()))
    axes.axline((middle, middle), slope=1.0, color=MUTED, linewidth=0.9, linestyle="--")
    _, r, bias, _ = agreement(estimate, live)
    sign = "+" if bias > 0 else ""
    axes.set_title(f"{short(estimator_title(name))}: r = {correlation(r)}, bias {sign}{amount(bias, 0)}")
    axes.set_xlabel("live return")
    axes.margins(0.08)


def _table(study: Study) -> Block:
    rows = []
    for evidence in study.evidence:
        every = estimates(study, evidence.variant)
        for (policy, name), values in every.items():
            if name != LIVE and (policy, LIVE) in every:
                n, r, bias, error = agreement(values, every[policy, LIVE])
                rows.append(
                    (
                        variant_term(evidence.variant),
                        policy_term(policy),
                        estimator_term(name),
                        str(n),
                        correlation(r),
                        amount(bias, 1),
                        amount(error, 1),
                    )
                )
    heads: tuple[Head, ...] = (
        *described(ReturnRow, variant="variant", policy="policy", estimator="estimator"),
        "#points",
        "#r within datasets",
        "#bias",
        "#typical error",
    )
    return table(
        "Bias is the mean of estimate less live return; the typical error is the root mean squared error.",
        heads,
        rows,
        "returns.csv",
    )
