"""Whether to believe the values: what was flagged, and what learners and estimators say of themselves."""

from __future__ import annotations

from collections import Counter
from statistics import median

from extrinsic.report.drawing.page_parts import Block, Fold, Section, Table, Text, table
from extrinsic.report.results.naming import policy_in_words
from extrinsic.report.results.numbers import NOTHING, amount, counted
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.table_columns import Row, Rows
from extrinsic.value.diagnostics import WORDS

MOST_FLAGGED = 200


def section(study: Study) -> Section | None:
    rows = study.tables["diagnostics"]
    if not rows:
        return None
    return Section("diagnostics", "Whether to believe the values", (*_flags(rows), _summary(rows)))


def _flags(rows: Rows) -> list[Block]:
    flagged = [row for row in rows if row["flags"]]
    if not flagged:
        return [
            Text(
                (
                    "Nothing was flagged among "
                    f"{counted(len(rows), 'value and learner', 'values and learners')}.",
                )
            )
        ]
    counts = Counter((flag, row["estimator"]) for row in flagged for flag in row["flags"].split())
    totals = Counter(row["estimator"] for row in rows)
    lines = [
        (flag, WORDS.get(flag, ""), estimator, f"{number} of {totals[estimator]}")
        for (flag, estimator), number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    all_of_them = [
        (
            row["dataset"],
            row["tracker"],
            policy_in_words(row["policy"]),
            row["estimator"],
            row["variant"],
            row["flags"],
        )
        for row in flagged[:MOST_FLAGGED]
    ]
    heads = ("dataset", "tracker", "policy", "estimator", "variant", "flags")
    each = table("", heads, all_of_them, "diagnostics.csv")
    return [
        Text((f"{counted(len(flagged), 'value')} of {len(rows):,} carry a flag.",)),
        table(
            "A flag says that a value should not be taken at its word.",
            ("flag", "what it means", "estimator", "#values"),
            lines,
        ),
        Fold(f"The flagged values ({len(flagged)})", (each,), is_aside=True),
    ]


def _summary(rows: Rows) -> Table:
    """A line for each policy, estimator and variant: the middle and the worst of each diagnostic."""
    groups: dict[tuple[str, str, str], Rows] = {}
    for row in rows:
        groups.setdefault((row["variant"], row["policy"], row["estimator"]), []).append(row)
    lines = []
    for (variant, policy, estimator), mine in groups.items():
        zero = _known(mine, "zero_kernel")
        lines.append(
            (
                variant,
                policy_in_words(policy),
                estimator,
                str(len(mine)),
                f"{100 * median(zero):.1f} %, {100 * max(zero):.1f} %" if zero else NOTHING,
                _least_and_most(mine, "kernels"),
                _most(mine, "condition"),
                _most(mine, "largest_q"),
                _feasible(mine),
                _least(mine, "effective_size"),
                _gap(mine),
            )
        )
    caption = (
        "Zero kernel: the share of the policy's decisions of which no kernel speaks, so that the value is "
        "the prior's (median, largest). Gap: what the estimator says of the logged policy, less what was "
        "observed (largest either way). The largest |Q| should stay within what a dialog can earn."
    )
    heads = (
        "variant",
        "policy",
        "estimator",
        "#values",
        "#zero kernel",
        "#kernels",
        "#largest condition",
        "#largest |Q|",
        "#a dialog can earn",
        "#least effective size",
        "#gap",
    )
    return table(caption, heads, lines, "diagnostics.csv")


def _known(rows: Rows, key: str) -> list[float]:
    return [row[key] for row in rows if row[key] is not None]


def _most(rows: Rows, key: str) -> str:
    values = _known(rows, key)
    return amount(max(values)) if values else NOTHING


def _least(rows: Rows, key: str) -> str:
    values = _known(rows, key)
    return amount(min(values)) if values else NOTHING


def _least_and_most(rows: Rows, key: str) -> str:
    values = _known(rows, key)
    return f"{amount(min(values), 0)} to {amount(max(values), 0)}" if values else NOTHING


def _feasible(rows: Rows) -> str:
    low, high = _known(rows, "feasible_low"), _known(rows, "feasible_high")
    return f"{amount(min(low), 0)} to {amount(max(high), 0)}" if low and high else NOTHING


def _gap(rows: list[Row]) -> str:
    values = _known(rows, "on_policy_gap")
    return amount(max(values, key=abs), 1) if values else NOTHING
