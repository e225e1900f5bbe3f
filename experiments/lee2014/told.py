"""What the text says in words: chosen by the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.lee2014.judging import GAINS, GROUPS
from experiments.lee2014.judging import SCORES as SCORES_FIRST
from experiments.lee2014.needed import LEARNED_FROM, TARGETS
from experiments.lee2014.relating import SCORES
from experiments.lee2014.runs import ESTIMATORS, FILLS, LEE
from experiments.lee2014.shown import SHORT, SHOWN_SIZES
from experiments.tables import chosen
from extrinsic.correlation.power import CORRELATION, share_resolved
from extrinsic.report.results.lee_findings import FAILS, HOLDS
from extrinsic.report.results.naming import Name
from extrinsic.report.results.numbers import correlation, listing

Rows = list[dict[str, Any]]

NEAR, MOST_OF = 1.25, 0.9
"""An error foretold to this factor is foretold well; and the extrapolation is good where most are."""

NOTICED = 0.05
"""Shares that differ by more are told apart in words."""

SAME = 0.01
"""Metrics whose correlations differ by less are one."""


def told_of_policies(policies: Rows, means: dict[tuple[str, str], Rows]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for fill in FILLS:
        for target in TARGETS:
            row = chosen(policies, fill=fill, target=target, claim="RL above behaviour")[0]
            told[f"gain_{target}_{fill}"] = row["value"]
        live, lstd = (sorted(means[fill, target], key=lambda row: -row["rl"]) for target in TARGETS)
        order = [row["tracker"] for row in live]
        below = [row["tracker"] for row in live if row["rl"] < row["behaviour"]]
        told[f"below_{fill}"] = listing(below) if below else "no tracker"
        told |= {
            f"best_live_{fill}": order[0],
            f"best_lstd_{fill}": lstd[0]["tracker"],
            f"place_{fill}": order.index(lstd[0]["tracker"]) + 1,
        }
    return told


def told_of_scope(findings: Rows) -> dict[str, int]:
    """How many verdicts change where points are pooled as they are, as Lee did."""
    keys = ("finding", "fill", "target", "trackers")
    pooled = {tuple(row[key] for key in keys): row["verdict"] for row in chosen(findings, scope="pooled")}
    of = [row for row in chosen(findings, scope="within") if row["finding"] not in GAINS]
    changed = [row for row in of if pooled[tuple(row[key] for key in keys)] != row["verdict"]]
    against = [
        row for row in changed if {row["verdict"], pooled[tuple(row[key] for key in keys)]} == {HOLDS, FAILS}
    ]
    return {"pooled_changed": len(changed), "pooled_of": len(of), "pooled_against": len(against)}


def told_of_fill(findings: Rows) -> str:
    """Whether L2 and AvgP do better where a concept has to be believed by more than one half to be filled."""
    by_fill = [
        [row["value"] for row in chosen(findings, finding=SCORES_FIRST, fill=fill, scope="within")]
        for fill in FILLS
    ]
    better = sum(threshold > argmax for argmax, threshold in zip(*by_fill, strict=True))
    word = "does" if 2 * better > len(by_fill[0]) else "does not"
    return (
        f"Threshold {word} favour score quality: L2 or AvgP stand better against the best other metric than "
        f"with argmax in {better} of {len(by_fill[0])} combinations of target and trackers."
    )


def told_of_tool(tool: Rows) -> str:
    """What the tool's own reports say, claim by claim."""
    lines = []
    for claim in dict.fromkeys(row["claim"] for row in tool):
        said = [row["verdict"] for row in chosen(tool, claim=claim)]
        words = [f"{SHORT[verdict]} in {said.count(verdict)}" for verdict in SHORT if verdict in said]
        lines.append(f"- {claim}: {listing(words)} of {len(said)}.")
    return "\n".join(lines)


def told_of_foretelling(numbers: Rows) -> dict[str, Any]:
    """Whether subsets of few trackers know the error of all."""
    told: dict[str, Any] = {"learned_from": LEARNED_FROM}
    for group in GROUPS:
        of = chosen(numbers, trackers=group)
        told |= {f"size_{group}": of[0]["size"], f"right_at_{group}": of[0]["right_at"]}
    ratio = np.array([row["foretold"] / row["error"] for row in numbers])
    near = int(((ratio > 1.0 / NEAR) & (ratio < NEAR)).sum())
    word = "they are" if near > MOST_OF * len(ratio) else "orders of magnitude"
    told["ratio_verdict"] = (
        f"{near} of {len(ratio)} errors are foretold to a factor of {NEAR}. The number of trackers goes with "
        f"the square of the error: take those above as {word}."
    )
    return told


def _name(row: dict[str, Any]) -> Name:
    return Name(row["metric"], row["schedule"], row["component"])


def told_of_metrics(rows: Rows) -> dict[str, str]:
    """Who comes first among Lee's metrics, and where L2 and AvgP come."""
    lines = []
    for fill in FILLS:
        for target in ESTIMATORS:
            of = [
                r for r in chosen(rows, fill=fill, target=target) if r["metric"] in LEE and r["r"] is not None
            ]
            place, best = next((i, row) for i, row in enumerate(of, start=1) if row["metric"] in SCORES)
            lines.append(
                f"- {fill}, {target}: first of {len(of)} {_name(of[0]).in_words()} "
                f"({_with_interval(of[0])}); L2 or AvgP first at place {place}, {_name(best).in_words()} "
                f"({_with_interval(best)})."
            )
    return {"told_metrics": "\n".join([*lines, *_told_of_twins(rows), *_told_of_errors(rows)])}


def _told_of_twins(rows: Rows) -> list[str]:
    """The challenge's L2 is AvgP in other units wherever just one hypothesis is right."""
    keys = ("fill", "target", "schedule", "component")
    l2, avgp = (
        {tuple(row[key] for key in keys): row["r"] for row in chosen(rows, metric=metric)}
        for metric in SCORES
    )
    apart = max(abs(r - avgp[place]) for place, r in l2.items())
    told = (
        f"- L2 and AvgP are one metric here: as the challenge scores them, r differs by {apart:.3f} at most."
    )
    return [told] if apart < SAME else []


def _told_of_errors(rows: Rows) -> list[str]:
    """The equal error rate of the joint goal, where only a degenerate tracker makes it go the wrong way."""
    odd = chosen(rows, metric="roc.v1_eer", component="joint", target="live")
    everyone, core = ([row[key] for row in odd] for key in ("r", "core"))
    if max(everyone) > 0.0 or min(core) < 0.0:
        return []
    return [
        "- The equal error rate of the joint goal correlates the wrong way live "
        f"({correlation(min(everyone))} to {correlation(max(everyone))}), of core trackers the right way "
        f"({correlation(min(core))} to {correlation(max(core))}): a tracker that is hardly ever right has "
        "few errors to balance."
    ]


def _with_interval(row: dict[str, Any]) -> str:
    return f"{correlation(row['r'])} [{correlation(row['low'])}, {correlation(row['high'])}]"


def told_of_needed(numbers: Rows, subsets: Rows) -> dict[str, str]:
    """What findings about policies take, and whether small subsets decide more than they may."""
    gains = [row["needed"] for row in chosen(numbers, trackers="core") if row["finding"] in GAINS]
    fewest, core = min(row["size"] for row in subsets), chosen(subsets, trackers="core")
    right = [row["right"] for row in chosen(core, size=fewest) if row["finding"] in GAINS]
    lines = [
        f"- RL above behaviour and above SL (core, live and LSTD) take at most {max(gains)} trackers; of "
        f"subsets of {fewest}, {100 * min(right):.0f} to {100 * max(right):.0f} % say so."
    ]
    first = SHOWN_SIZES[0]
    for target in TARGETS:
        decided, allowed = _decided(chosen(numbers, trackers="core", target=target), chosen(core, size=first))
        short = decided > allowed + NOTICED
        word = "intervals of so few trackers are too short" if short else "about what they may"
        lines.append(
            f"- By {target}, subsets of {first} decide {100 * decided:.0f} % of findings about metrics on "
            f"the side of all trackers; by the error of all they should decide {100 * allowed:.0f} %: {word}."
        )
    return {"told_needed": "\n".join(lines)}


def _decided(numbers: Rows, subsets: Rows) -> tuple[float, float]:
    """How much small subsets decide, and how much they would with the error that all trackers show."""
    found, allowed = [], []
    for row in (one for one in numbers if one["finding"] not in GAINS):
        part = chosen(subsets, **{key: row[key] for key in ("finding", "fill", "target")})[0]
        error = row["error"] * np.sqrt((row["size"] - CORRELATION) / (part["size"] - CORRELATION))
        found.append(part["right"])
        allowed.append(share_resolved(row["value"], float(error), part["size"] / row["size"]))
    return float(np.mean(found)), float(np.mean(allowed))


def told_of_spread(rows: Rows) -> dict[str, str]:
    """What limits a study like this."""
    share = np.array([row["seeds_share"] for row in rows])
    few = int((share < 0.5).sum())
    limit = (
        "trackers limit, not dialogs"
        if few == len(rows)
        else "dialogs limit, not trackers"
        if few == 0
        else "mostly trackers limit"
        if 2 * few > len(rows)
        else "mostly dialogs limit"
    )
    lines = [
        f"- Seeds make {100 * share.min():.0f} to {100 * share.max():.0f} % of the variance of r; in {few} "
        f"of {len(rows)} rows trackers make more than seeds: {limit}."
    ]
    for target in ESTIMATORS:
        of = [row["reliability"] for row in chosen(rows, target=target, trackers="core")]
        lines.append(
            f"- Between two seeds, the returns of core trackers by {target} correlate "
            f"{listing([correlation(value) for value in of])} ({listing(list(FILLS))})."
        )
    return {"told_spread": "\n".join(lines)}
