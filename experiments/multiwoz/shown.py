"""Tables that the text shows, from the stored ones."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from experiments.multiwoz.between import OWN, SHARED, WITHOUT
from experiments.tables import chosen, markdown, one

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]


HEADS = {
    "pooled": "pooled",
    "between": "between",
    "within": "within",
    "dialog": "same dialog",
    "both": "both centred",
}


def ranked(tables: Tables, outcome: str, split: str) -> Rows:
    """The best first."""
    return sorted(chosen(tables["splits"], outcome=outcome, split=split), key=lambda row: -row["r"])


def told(row: dict[str, Any], key: str = "r", low: str = "low", high: str = "high") -> str:
    """A figure with its interval."""
    return f"{row[key]:.2f} [{row[low]:.2f}, {row[high]:.2f}]"


def told_of(row: dict[str, Any], key: str) -> str:
    return told(row, key, f"{key}_low", f"{key}_high")


def main_table(tables: Tables) -> str:
    """r with success in every split; metrics in the figure's order."""
    lines = []
    for row in ranked(tables, "success", "within"):
        line: dict[str, Any] = {"metric": row["metric"]}
        for split, head in HEADS.items():
            line[head] = told(one(tables["splits"], outcome="success", split=split, metric=row["metric"]))
        lines.append(line)
    return markdown(lines, list(lines[0]))


def jga_table(tables: Tables) -> str:
    """Against JGA, and how far r can go."""
    lines = []
    for row in ranked(tables, "success", "within"):
        name = row["metric"]
        line: dict[str, Any] = {"metric": name}
        for split in ("within", "both"):
            of = one(tables["splits"], outcome="success", split=split, metric=name)
            line[f"{HEADS[split]}, minus jga"] = "" if name == "jga" else told_of(of, "minus_jga")
            line[f"{HEADS[split]}, p"] = of["minus_jga_p_adjusted"]
            line[f"{HEADS[split]}, jackknife"] = of["minus_jga_jackknife_p_adjusted"]
        ceiling = one(tables["ceilings"], outcome="success", metric=name)
        lines.append(line | {"area": told(ceiling, "area"), "ceiling": ceiling["ceiling"]})
    return markdown(lines, list(lines[0]))


def inform_table(tables: Tables) -> str:
    lines = []
    for row in ranked(tables, "inform", "within"):
        name = row["metric"]
        line: dict[str, Any] = {"metric": name}
        for split in ("between", "within", "both"):
            line[HEADS[split]] = told(one(tables["splits"], outcome="inform", split=split, metric=name))
        line["within, minus jga"] = "" if name == "jga" else told_of(row, "minus_jga")
        line["area"] = told(one(tables["ceilings"], outcome="inform", metric=name), "area")
        lines.append(line)
    return markdown(lines, list(lines[0]))


def between_table(tables: Tables, outcome: str) -> str:
    lines = []
    rows = chosen(tables["between"], dialogs=SHARED, outcome=outcome)
    for row in sorted(rows, key=lambda row: -row["r"]):
        beside = {
            dialogs: one(tables["between"], dialogs=dialogs, outcome=outcome, metric=row["metric"])["r"]
            for dialogs in (OWN, WITHOUT)
        }
        left_out = one(tables["left_out"], outcome=outcome, metric=row["metric"])
        lines.append(
            {
                "metric": row["metric"],
                "Pearson": told(row),
                "jackknife": f"[{row['jackknife_low']:.2f}, {row['jackknife_high']:.2f}]",
                "p": row["p"],
                "p (Holm)": row["p_adjusted"],
                "Spearman": told(row, "spearman_r", "spearman_low", "spearman_high"),
                "own dialogs": beside[OWN],
                "without labes": beside[WITHOUT],
                "lowest without one": _extreme(left_out, min),
                "highest without one": _extreme(left_out, max),
            }
        )
    return markdown(lines, list(lines[0]))


def _extreme(row: dict[str, Any], which: Any) -> str:
    systems = [key for key in row if key not in ("outcome", "metric")]
    system = which(systems, key=lambda name: row[name])
    return f"{row[system]:.2f} ({system})"


def controls_table(tables: Tables, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        row = one(tables["controls"], outcome="success", metric=name)
        lines.append(
            {
                "metric": name,
                "within": row["r"],
                "difficulty held": told_of(row, "difficulty"),
                "minus jga": "" if name == "jga" else told_of(row, "difficulty_minus_jga"),
                "others' success held too": told_of(row, "others"),
            }
        )
    return markdown(lines, list(lines[0]))


def wrapped(text: str, width: int = 110) -> str:
    """Paragraphs and lists broken anew, as figures put into them made lines longer; tables as they are."""
    parts = []
    for part in text.strip().split("\n\n"):
        if part.startswith(("|", "#", "!")):
            parts.append(part)
            continue
        items = re.split(r"\n(?=- )", part)
        filled = (_filled(" ".join(item.split()), width, item.startswith("- ")) for item in items)
        parts.append("\n".join(filled))
    return "\n\n".join(parts) + "\n"


def _filled(line: str, width: int, is_item: bool) -> str:
    indent = "  " if is_item else ""
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def others_table(tables: Tables) -> str:
    lines = []
    for row in chosen(tables["others"], outcome="success"):
        both = "" if row.get("both") is None else told_of(row, "both")
        lines.append({"predictor": row["predictor"], "within": told_of(row, "within"), "both centred": both})
    return markdown(lines, list(lines[0]))


def final_table(tables: Tables) -> str:
    lines = [
        {
            "metric": row["metric"],
            "all turns": row["within_all"],
            "last turn": row["within_last"],
            "difference": told(row, "within_difference", "within_low", "within_high"),
            "both centred, difference": told(row, "both_difference", "both_low", "both_high"),
        }
        for row in sorted(chosen(tables["final"], outcome="success"), key=lambda row: -row["within_last"])
    ]
    return markdown(lines, list(lines[0]))
