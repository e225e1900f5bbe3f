"""Tables for papers: what the page shows of each table, as LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extrinsic.report.results.naming import Name
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.table_columns import Rows
from extrinsic.report.results.variant_results import VariantResults

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

COLUMNS = {
    "intrinsic": ("dataset", "tracker", "component", "metric", "schedule", "value"),
    "returns": ("variant", "dataset", "tracker", "policy", "estimator", "value", "low", "high", "flags"),
    "correlations": (
        "variant",
        "trackers",
        "metric",
        "schedule",
        "component",
        "r",
        "low",
        "high",
        "p_adjusted",
        "cluster",
    ),
    "pairs": (
        "variant",
        "metric_a",
        "schedule_a",
        "component_a",
        "metric_b",
        "schedule_b",
        "component_b",
        "difference",
        "low",
        "high",
        "p",
    ),
    "composite": ("variant", "trackers", "method", "r", "low", "high", "r_in_sample", "above_best_single"),
    "influence": (
        "variant",
        "metric",
        "schedule",
        "component",
        "r",
        "lowest",
        "highest",
        "tracker",
        "r_without",
    ),
    "stability": ("variant", "trackers", "n_trackers", "agreement", "low", "high", "same_winner", "loss"),
    "sensitivity": (
        "parameter",
        "setting",
        "trackers",
        "metric",
        "schedule",
        "component",
        "r",
        "low",
        "high",
        "usual_winner_r",
        "usual_winner_rank",
        "agreement",
    ),
    "trackers": (
        "tracker",
        "core",
        "degenerate",
        "recalibrated",
        "near_duplicate_of",
        "nearest",
        "agreement",
    ),
    "diagnostics": (
        "variant",
        "dataset",
        "tracker",
        "policy",
        "estimator",
        "zero_kernel",
        "condition",
        "largest_q",
        "effective_size",
        "flags",
    ),
}


def latex_tables(study: Study) -> dict[str, str]:
    """By the name of each table, a file that can be \\input."""
    rows = dict(study.tables)
    rows["correlations"] = [
        row for one in study.evidence for group in one.groups for row in one.ranked[group]
    ]
    rows["pairs"] = [row for one in study.evidence for row in _of_the_best(one)]
    rows["influence"] = [row for one in study.evidence for row in one.of_group(one.influence, "all")]
    return {name: latex_table(name, heads, rows[name]) for name, heads in COLUMNS.items()}


def _of_the_best(evidence: VariantResults) -> Rows:
    best = evidence.best()
    if best is None:
        return []
    return [
        row
        for row in evidence.of_group(evidence.pairs, "all")
        if Name.of(best) in (Name.of(row, "a"), Name.of(row, "b"))
    ]


def latex_table(name: str, heads: Sequence[str], rows: Rows) -> str:
    """Columns that are empty throughout are left out."""
    shown = [head for head in heads if any(row[head] not in (None, "") for row in rows)] or list(heads[:1])
    form = "".join("r" if any(_is_number(row[head]) for row in rows) else "l" for head in shown)
    lines = [
        f"% {name}: {len(rows)} rows, those the report shows; {name}.csv has all.",
        r"% Needs \usepackage{booktabs}.",
        f"\\begin{{tabular}}{{{form}}}",
        r"\toprule",
        " & ".join(map(escape_latex, shown)) + r" \\",
        r"\midrule",
        *(" & ".join(cell(row[head]) for head in shown) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
        return f"${text}$"
    return f"${value}$" if isinstance(value, int) else escape_latex(str(value))


def escape_latex(text: str) -> str:
    return "".join(SIGNS.get(sign, sign) for sign in text)
