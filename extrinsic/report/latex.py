"""Tables for papers: the rows that the page shows, as LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults, rows_of_group
from extrinsic.study.naming import Name
from extrinsic.study.tables.metric_rows import PairRow
from extrinsic.study.tables.value_rows import Row

SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}

EMPTY = (None, "", ())

COLUMNS = {
    name: tuple(columns.split())
    for name, columns in {
        "intrinsic": "dataset tracker component metric schedule value",
        "returns": "variant dataset tracker policy estimator value low high flags",
        "correlations": "variant trackers metric schedule component r low high p_adjusted",
        "counts": "variant trackers target given clear metrics expected most p",
        "decided": "variant trackers target metric low high pairs predicted right",
        "best_set": "variant trackers metric schedule component r low high rank_low rank_high",
        "partial": "variant trackers metric schedule component r r_given partial low high",
        "pairs": "variant metric_a schedule_a component_a metric_b schedule_b component_b difference "
        "low high p",
        "composite": "variant trackers method r low high r_in_sample above_best_single",
        "influence": "variant metric schedule component r lowest highest tracker r_without",
        "stability": "variant trackers n_trackers agreement low high same_winner loss",
        "sensitivity": "parameter setting trackers metric schedule component r low high usual_winner_r "
        "usual_winner_rank agreement",
        "trackers": "tracker core degenerate recalibrated near_duplicate_of nearest agreement",
        "diagnostics": "variant dataset tracker policy estimator diagnostic value",
        "fit": "dataset measure logged low high fitted misfit",
        "swap": "target trackers level generator metric schedule component r low high difference "
        "difference_low difference_high",
        "costs": "target trackers error slots share cost low high r r_low r_high",
    }.items()
}


def latex_tables(study: Study) -> dict[str, str]:
    """By the name of each table, the text of a file for \\input."""
    shown: dict[str, Sequence[Row]] = {
        "correlations": [
            row for results in study.evidence for group in results.groups for row in results.ranked[group]
        ],
        "partial": [row for row in study.tables.partial if row.target == study.target],
        "pairs": [row for results in study.evidence for row in _of_the_best(results)],
        "influence": [row for results in study.evidence for row in rows_of_group(results.influence, "all")],
    }
    return {
        name: latex_table(name, heads, shown.get(name, getattr(study.tables, name)))
        for name, heads in COLUMNS.items()
    }


def _of_the_best(results: VariantResults) -> list[PairRow]:
    best = results.best()
    if best is None:
        return []
    return [row for row in rows_of_group(results.pairs, "all") if Name.of(best) in Name.of_pair(row)]


def latex_table(name: str, heads: Sequence[str], rows: Sequence[Row]) -> str:
    """Columns that are empty throughout are left out."""
    columns = {head: [getattr(row, head) for row in rows] for head in heads}
    shown = [head for head in heads if any(value not in EMPTY for value in columns[head])] or [heads[0]]
    form = "".join("r" if any(_is_number(value) for value in columns[head]) else "l" for head in shown)
    lines = [
        f"% {name}: {len(rows)} rows, those the report shows; {name}.csv has all.",
        r"% Needs \usepackage{booktabs}.",
        f"\\begin{{tabular}}{{{form}}}",
        r"\toprule",
        " & ".join(map(escape_latex, shown)) + r" \\",
        r"\midrule",
        *(" & ".join(cell(getattr(row, head)) for head in shown) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
        return f"${text}$"
    if isinstance(value, tuple):
        return escape_latex(" ".join(value))
    return f"${value}$" if isinstance(value, int) else escape_latex(str(value))


def escape_latex(text: str) -> str:
    return "".join(SIGNS.get(sign, sign) for sign in text)
