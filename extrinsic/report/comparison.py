"""The page that compares two trackers: what differs, and the dialogs that explain it, turn by turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from extrinsic.report.figures import (
    draw,
    look,
    panels,
    put_intervals,
    put_legend,
    put_notes,
    put_points,
    put_rows,
    short,
)
from extrinsic.report.page import render_page, require_libraries, require_page
from extrinsic.report.page_parts import (
    Block,
    Fold,
    Section,
    Term,
    Text,
    described,
    name_term,
    table,
    target_term,
    variant_term,
)
from extrinsic.report.run_data import clean
from extrinsic.storage import write_atomic
from extrinsic.study.comparing import Disagreement
from extrinsic.study.run import Run
from extrinsic.verdict.compare import (
    MEAN,
    ComparisonRow,
    ComparisonVerdict,
    PairCost,
    costs_sentence,
    digits_of,
    telling_rows,
)
from extrinsic.verdict.names import Name, amount, in_unit, is_share, probability, target_title, unit_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_comparison(
    run: Run,
    first: str,
    second: str,
    rows: Sequence[ComparisonRow],
    dialogs: Sequence[Disagreement],
    verdicts: Sequence[ComparisonVerdict] = (),
    costs: Sequence[PairCost] = (),
    output: str | Path | None = None,
) -> Path:
    """Write the page beside the run's report; returns where it is."""
    require_libraries()
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"compare-{first}-{second}")
    path = run.folder / f"{name}.html" if output is None else Path(output)
    require_page(path)
    page = render_page(
        "compare.html",
        SimpleNamespace(name=clean(run.manifest.study), folder=""),
        [
            *_costs_section(costs, first, second, len(verdicts) > 1),
            *_sections(rows, first, second, verdicts[0].target if verdicts else ""),
        ],
        first=first,
        second=second,
        verdicts=verdicts,
        dialogs=dialogs,
        facts="Differences are the first less the second, with 95 % intervals over resampled dialogs; p by "
        "exchanging the two dialog by dialog.",
        signature=clean(run.signature),
    )
    write_atomic(path, page.encode())
    return path


def _costs_section(costs: Sequence[PairCost], first: str, second: str, names_variant: bool) -> list[Section]:
    """What choosing between the two by each declared metric would have cost."""
    shown = [cost for cost in costs if cost.cost is not None]
    if not shown:
        return []
    unit = "share" if is_share(shown[0].target) else "points"
    scale = 100.0 if unit == "share" else 1.0

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.6, 0.24 * len(shown) + 0.1)
        put_rows(axes, [Name.of(cost).title() for cost in shown])
        put_notes(axes, [f"{cost.picks or 'neither'}: {in_unit(cost.cost, unit)}" for cost in shown])
        for number, pick in enumerate((first, second, None)):
            points = [(scale * (cost.cost or 0.0), y) for y, cost in enumerate(shown) if cost.picks == pick]
            label = f"picks {pick}" if pick else "does not tell them apart"
            colour, marker = look(number if pick else 6)
            if points:
                put_intervals(axes, [(y, 0.0, x) for x, y in points], color=colour, linewidth=2.0)
                put_points(axes, points, marker, color=colour, markersize=5.5, label=short(label, 40))
        axes.set_xlim(left=0.0 - 0.02 * max(axes.get_xlim()[1], 1e-9))
        axes.set_xlabel(f"{unit_title(unit)} that this choice costs, by {target_title(shown[0].target)}")
        put_legend(axes, above=0.08)

    picture = draw("costs", "What choosing between them by each metric would have cost", "", paint)
    sentence = Text((costs_sentence(shown, names_variant),))
    return [Section("costs", "What choosing by a metric costs here", (sentence, picture))]


def _sections(rows: Sequence[ComparisonRow], first: str, second: str, target: str) -> list[Section]:
    """Returns and metrics: the telling ones, folded all of them, and those of every dataset."""
    sections = []
    for kind, title in (("return", "Values of policies built on them"), ("metric", "Metrics")):
        of_kind = [row for row in rows if row.kind == kind]
        values = described(
            ComparisonRow, a=f"#{first}", b=f"#{second}", difference="#difference", p="#p", better="better"
        )
        what = described(ComparisonRow, name="value", variant="variant") if kind == "return" else ["metric"]
        heads = [*what, *values]
        tables: list[tuple[str, list[ComparisonRow]]] = []
        for dataset in dict.fromkeys(row.dataset for row in of_kind):
            where = "the mean over all datasets" if dataset == MEAN else f"dataset {dataset}"
            of_dataset = [row for row in of_kind if row.dataset == dataset]
            telling = telling_rows(of_dataset, target)
            if not tables and len(telling) < len(of_dataset):
                tables.append((where, telling))
            tables.append((where, of_dataset))
        blocks: list[Block] = []
        for where, shown in tables:
            some = "Where the last column is empty, it is not decided."
            undecided = some if any(row.better for row in shown) else "None of these differences is decided."
            caption = f"{where[0].upper()}{where[1:]}. {undecided}"
            made = table(caption, heads, [_line(row, first, second) for row in shown])
            blocks.append(Fold(f"All {len(shown)}, {where}", (made,), is_aside=True) if blocks else made)
        if blocks:
            sections.append(Section(kind, title, tuple(blocks)))
    return sections


def _line(row: ComparisonRow, first: str, second: str) -> list[str]:
    texts: list[str]
    if row.kind == "metric":
        name = Name(row.name, row.schedule or 0, row.component or "")
        term = name_term(name)
        texts = [Term(name.directed(), term.key, term.help)]
    else:
        texts = [target_term(row.name), variant_term(row.variant)]
    a, b, difference, low, high = (
        amount(value, digits_of(row)) for value in (row.a, row.b, row.difference, row.low, row.high)
    )
    ends = f" [{low}, {high}]" if row.low is not None and row.high is not None else ""
    better = {"a": first, "b": second}.get(row.better or "", "")
    return [*texts, a, b, f"{difference}{ends}", probability(row.p), better]
