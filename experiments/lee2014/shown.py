"""Tables and numbers that the text shows, from the stored ones."""

from __future__ import annotations

from statistics import median
from typing import Any

from experiments.beyond import KINDS
from experiments.lee2014.judging import FINDINGS, GAINS, GROUPS
from experiments.lee2014.needed import MOST, SIZES, TARGETS
from experiments.lee2014.runs import ESTIMATORS, FILLS, LEE, STATES, filled
from experiments.tables import chosen, markdown, spelled, without_fill
from extrinsic.report.results.lee_findings import FAILS, HOLDS, OPEN
from extrinsic.report.results.numbers import correlation

Rows = list[dict[str, Any]]

SHORT = {HOLDS: "holds", FAILS: "does not", OPEN: "not resolved"}
SHOWN_SIZES = (8, 12, 16)
"""The first is about what Lee had."""

ROC_V1, ROC_V2 = "best ROC.V1", "best ROC.V2"


def policy_table(rows: Rows) -> str:
    """What Lee says of figure 2, by fill rule and by who values the policies."""
    heads = [f"{fill}, {target}" for fill in FILLS for target in ESTIMATORS]
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = table.setdefault(row["claim"], {"": row["claim"]})
        line[f"{row['fill']}, {row['target']}"] = f"{SHORT[row['verdict']]}: {_numbers(row)}"
    return markdown(list(table.values()), ["", *heads])


def _numbers(row: dict[str, Any]) -> str:
    if row["low"] is not None:
        seeds = f"seeds {row['lowest_seed']:+.0f} to {row['highest_seed']:+.0f}"
        bounds = f"[{row['low']:+.0f}, {row['high']:+.0f}]"
        return f"{row['value']:+.0f} {bounds}, {seeds}, {row['above']} of {row['of']}"
    if "baseline" in row["claim"]:
        return f"{row['above']} always above, {row['below']} always below, of {row['of']}"
    return f"tau {correlation(row['value'])}, {row['reversed']} of {row['of']} pairs reversed"


def metric_table(rows: Rows) -> str:
    """Every metric where it does best: r, schedule and component; ROC's three points together."""
    heads = [f"{fill}, {target}" for fill in FILLS for target in ESTIMATORS]
    families = {
        **{metric: (metric,) for metric in ("l2", "avgp", "mrr", "accuracy", "roc.v1_eer")},
        ROC_V1: tuple(m for m in LEE if m.startswith("roc.v1_ca")),
        ROC_V2: tuple(m for m in LEE if m.startswith("roc.v2_ca")),
        **{metric: tuple(filled(metric, fill) for fill in FILLS) for metric in STATES},
    }
    table = []
    for name, metrics in families.items():
        line: dict[str, Any] = {"": name}
        for fill in FILLS:
            for target in ESTIMATORS:
                of = [r for r in chosen(rows, fill=fill, target=target) if r["metric"] in metrics]
                line[f"{fill}, {target}"] = _best(of)
        table.append(line)
    return markdown(table, ["", *heads])


def _best(rows: Rows) -> str:
    known = [row for row in rows if row["r"] is not None]
    if not known:
        return ""
    best = max(known, key=lambda row: row["r"])
    place = "" if best["component"] == "state" else f" {best['component']} {best['schedule']}"
    return f"{correlation(best['r'])} ({correlation(best['core'])}){place}"


def finding_table(rows: Rows, seeds: int) -> str:
    """Findings about metrics: the verdict, how many seeds alone come to it, and the number behind it."""
    heads = [f"{target}, {group}" for target in ESTIMATORS for group in GROUPS]
    table = []
    for finding in (one for one in FINDINGS if one not in GAINS):
        for fill in FILLS:
            line: dict[str, Any] = {"finding": finding, "fill": fill}
            for row in chosen(rows, finding=finding, fill=fill, scope="within"):
                said = f"{SHORT[row['verdict']]} {row['seeds_same']}/{seeds}"
                line[f"{row['target']}, {row['trackers']}"] = f"{said}, {correlation(row['value'])}"
            table.append(line)
    return markdown(table, ["finding", "fill", *heads])


def count_table(rows: Rows) -> str:
    """In how many of the combinations each finding holds."""
    heads = [
        *(f"{word}, live" for word in SHORT.values()),
        *(f"{word}, estimated" for word in SHORT.values()),
    ]
    table = []
    for finding in FINDINGS:
        line: dict[str, Any] = {"finding": finding}
        of = chosen(rows, finding=finding, scope="within")
        for verdict, word in SHORT.items():
            live = [row["target"] == "live" for row in of if row["verdict"] == verdict]
            line |= {f"{word}, live": sum(live), f"{word}, estimated": len(live) - sum(live)}
        table.append(line)
    return markdown(table, ["finding", *heads])


def number_table(numbers: Rows, subsets: Rows, group: str) -> str:
    """How often subsets decide, and how many trackers are needed, of the findings about metrics."""
    told = [*(f"right, {size}" for size in SHOWN_SIZES), "needed"]
    heads = ["finding", "target", *(f"{fill}: {what}" for fill in FILLS for what in ("number", *told))]
    table = []
    for finding in (one for one in FINDINGS if one not in GAINS):
        for target in TARGETS:
            line: dict[str, Any] = {"finding": finding, "target": target}
            for fill in FILLS:
                where = {"finding": finding, "target": target, "fill": fill, "trackers": group}
                row = chosen(numbers, **where)[0]
                line[f"{fill}: number"] = f"{correlation(row['value'])} ± {correlation(row['error'])}"
                for size in SHOWN_SIZES:
                    right = chosen(subsets, size=size, **where)[0]["right"]
                    line[f"{fill}: right, {size}"] = f"{100 * right:.0f} %"
                line[f"{fill}: needed"] = needed(row)
            table.append(line)
    return markdown(table, heads)


def needed(row: dict[str, Any]) -> str:
    """`34 [12, none]`: the number of trackers, and those at the ends of the interval."""
    most = "none" if row["most"] is None else _trackers(row["most"])
    return f"{_trackers(row['needed'])} [{_trackers(row['fewest'])}, {most}]"


def _trackers(count: int) -> str:
    if count > MOST:
        return f"> {MOST}"
    return f"< {SIZES[0]}" if count < SIZES[0] else str(count)


def spread_table(rows: Rows) -> str:
    heads = (
        "fill",
        "target",
        "trackers",
        "by_seeds",
        "by_trackers",
        "seeds_share",
        "attenuation",
        "reliability",
    )
    return markdown(rows, heads)


def foretold_table(numbers: Rows) -> str:
    """How well subsets of few trackers foretell the error of all, and the share that larger ones decide."""
    table = []
    for target in TARGETS:
        for group in GROUPS:
            of = chosen(numbers, target=target, trackers=group)
            ratio = [row["foretold"] / row["error"] for row in of]
            away = [100.0 * abs(row["right_foretold"] - row["right"]) for row in of]
            table.append(
                {
                    "target": target,
                    "trackers": group,
                    "median": median(ratio),
                    "lowest": min(ratio),
                    "highest": max(ratio),
                    "right, off by": f"{sum(away) / len(away):.0f}",
                    "at worst": f"{max(away):.0f}",
                }
            )
    return markdown(table, ("target", "trackers", "median", "lowest", "highest", "right, off by", "at worst"))


SHOWN_FIRST = 8
ALSO = ("accuracy", "mrr", "avgp", "l2", "jga", "slot_f1", "gca")


def beyond_table(rows: Rows) -> str:
    """The metrics that go best with the gain, in order, and others of the joint goal over all turns."""
    by_name: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        name = f"{without_fill(row['metric'], row['fill'])} · {row['component']} · {row['schedule']}"
        by_name.setdefault(name, {})[f"{KINDS[row['kind']]}, {row['fill']}"] = row
    heads = [f"{words}, {fill}" for words in KINDS.values() for fill in FILLS]
    known = {name: cells for name, cells in by_name.items() if all(head in cells for head in heads)}
    gains = heads[len(FILLS) :]
    first = sorted(known, key=lambda name: -sum(known[name][head]["r"] for head in gains))[:SHOWN_FIRST]
    also = [f"{metric} · {part} · 1" for metric in ALSO for part in ("joint", "state")]
    shown = [*first, *(name for name in also if name in known and name not in first)]
    lines = [{"metric": name, **{head: spelled(known[name][head]) for head in heads}} for name in shown]
    return markdown(lines, ("metric", *heads))
