"""Sentences of the text whose words depend on the figures."""

from __future__ import annotations

from experiments.dstc2.cells import CELLS, FILLS
from experiments.dstc2.control import RETURN
from experiments.dstc2.prototype import WAY
from experiments.dstc2.shown import DEGENERATE, GROUPS, MAIN, Row, Rows, chosen, headline, mean
from experiments.tables import markdown, spelled

PROTOTYPE = {"accuracy": (0.85, 0.95), "jga": (0.85, 0.95), "l2": (0.60, 0.80), "roc.v2_ca05": (-0.10, 0.10)}
"""What the design document's prototype had over 17 trackers; "about 0" taken as within .1."""
STEPS = {"features": "the state", "sl": "how SL acts", "estimator": "the estimator"}
PROTOTYPE_GAIN = 3.5
"""RL over SL, in points; in 11 of its 17 trackers."""


def first_metrics(rows: Rows) -> str:
    """Which headline metric comes first among which trackers."""
    lines = []
    for group in GROUPS:
        for fill in FILLS:
            found = headline(rows, fill, group)
            first, last = (pick(found, key=lambda name: found[name]["r"]) for pick in (max, min))
            clear = sum(row["low"] > 0 for row in found.values())
            lines.append(
                f"- {group} trackers ({found[first]['n']}), filled by {fill}: first {first}, "
                f"{spelled(found[first])}; last {last}, {spelled(found[last])}; {clear} of {len(found)} "
                "intervals lie above 0."
            )
    return "\n".join(lines)


def apart_from_accuracy(rows: Rows) -> str:
    """Which metrics are clearly below or above accuracy, by group."""
    lines = []
    for group in GROUPS:
        of = {fill: chosen(rows, **MAIN, fill=fill, trackers=group, than="accuracy@1") for fill in FILLS}
        lower, higher = [
            _listed({fill: [row["metric"] for row in of[fill] if is_apart(row, sign)] for fill in FILLS})
            for sign in (-1, 1)
        ]
        lines.append(f"- {group}: clearly below accuracy {lower}; clearly above it {higher}.")
    return "\n".join(lines)


def is_apart(row: Row, sign: int) -> bool:
    return bool(row["high"] < 0.0 if sign < 0 else row["low"] > 0.0)


def _listed(by_fill: dict[str, list[str]]) -> str:
    always = [name for name in by_fill[FILLS[0]] if all(name in names for names in by_fill.values())]
    sometimes = sorted({name for names in by_fill.values() for name in names} - set(always))
    text = ", ".join(always) if always else "none"
    return f"{text} (under one fill rule only: {', '.join(sometimes)})" if sometimes else text


def prototype_table(correlations: Rows, gains: Rows) -> str:
    """The prototype's figures beside ours."""
    lines = []
    for metric, (low, high) in PROTOTYPE.items():
        line: Row = {"figure": f"r of {metric}@1", "prototype": f"{low:.2f} to {high:.2f}"}
        for group in GROUPS:
            found = [headline(correlations, fill, group)[f"{metric}@1"]["r"] for fill in FILLS]
            line[group] = " / ".join(f"{r:.2f}" for r in found)
        lines.append(line)
    line = {"figure": "RL - SL, manager seen", "prototype": f"{PROTOTYPE_GAIN:+.1f} (11 of 17)"}
    some = [row for row in gains if row["tracker"] != DEGENERATE]
    line["all"] = " / ".join(
        f"{mean(of, 'rl_sl'):+.1f} ({sum(row['rl_sl'] > 0 for row in of)} of {len(of)})"
        for of in (chosen(some, **MAIN, fill=fill) for fill in FILLS)
    )
    lines.append(line)
    return markdown(lines, ("figure", "prototype", *GROUPS))


def told_of_choice(rows: Rows) -> str:
    """The first, and how many it is not told apart from."""
    first, others = rows[0], rows[1:]
    near = sum(row["behind"] <= 2.0 * row["standard_error"] for row in others)
    return (
        f"The first is {first['features']}, gamma {first['gamma']:g}, ridge {first['ridge']:g}, threshold "
        f"{first['threshold']:g}; {near} of the other {len(others)} are within two standard errors of it."
    )


def flags_of(rows: Rows) -> str:
    """Every flag of the candidates' values, with how many of all carry it."""
    counts: dict[str, int] = {}
    for row in rows:
        for told in (row["flags"] or "").split():
            flag, _, count = told.partition(":")
            counts[flag] = counts.get(flag, 0) + int(count)
    total = sum(row["cells"] for row in rows)
    told = ", ".join(f"{flag} {count} of {total}" for flag, count in counts.items())
    return told or f"none of {total}"


def told_of_schedules(rows: Rows) -> str:
    """Lee found schedule 2 lower than 1 and 3."""
    some = [row for row in chosen(rows, **MAIN) if row["metric"].endswith("@2")]
    lower = sum(row["difference"] < 0 for row in some)
    clear, above = (sum(is_apart(row, sign) for row in some) for sign in (-1, 1))
    return (
        f"Schedule 2 against 1 and 3 (accuracy and L2, three groups, two fill rules): lower in {lower} of "
        f"{len(some)} comparisons, clearly in {clear}, clearly higher in {above}."
    )


def told_of_cells(rows: Rows) -> str:
    """What the eight ways agree on."""
    apart = 0
    first: dict[str, int] = {}
    for cell in CELLS:
        for fill in FILLS:
            found = headline(rows, fill, "core", **cell.label)
            apart += found["accuracy@1"]["r"] > found["l2@1"]["r"]
            name = max(found, key=lambda name: found[name]["r"])
            first[name] = first.get(name, 0) + 1
    told = ", ".join(f"{name} ({count})" for name, count in sorted(first.items(), key=lambda item: -item[1]))
    ways = len(CELLS) * len(FILLS)
    return f"Accuracy is above L2 in {apart} of {ways} ways. First in how many of them: {told}."


def told_of_gains(gains: Rows, placebo: Rows) -> str:
    some = [row for row in gains if row["tracker"] != DEGENERATE]
    real = [row for row in placebo if row["tracker"] != DEGENERATE]
    lines = []
    for fill in FILLS:
        seen, hidden = (
            mean(chosen(some, manager=manager, absent="correct", fill=fill), "rl_behaviour")
            for manager in ("seen", "hidden")
        )
        of = chosen(real, fill=fill)
        lines.append(
            f"- Filled by {fill}: the learned policy gains {seen:+.1f} with the manager in the state, "
            f"{hidden:+.1f} without it. By LSTD alone {mean(of, 'gain'):+.1f}, and "
            f"{mean(of, 'placebo'):+.1f} when it learns from shuffled actions (the placebo)."
        )
    return "\n".join(lines)


def told_of_control(rows: Rows) -> str:
    metrics = [row for row in rows if row["metric"] != RETURN]
    clear = sum(row["low"] > 0 for row in metrics)
    flat = sum(row["between_trackers"] is None for row in rows)
    first = max(metrics, key=lambda row: row["between_calls"])
    own = next(row for row in rows if row["metric"] == RETURN)
    return (
        f"{clear} of {len(metrics)} metrics go with success between calls, the first {first['metric']} with "
        f"{spelled(first, 'between_calls')}; the logged return itself {spelled(own, 'between_calls')}. That "
        f"is how hard a call is, not what a tracker does: between trackers {flat} of {len(rows)} have no r "
        "at all. *pooled* mixes the conditions, whose callers and recognisers differ: what a study gets for "
        "free that does not centre."
    )


def told_of_prototype(rows: Rows) -> str:
    """Why RL gains more over SL here; rows of prototype.csv, our own way first."""
    own = rows[0]
    rows = chosen(rows, manager="seen")
    near = min(rows, key=lambda row: abs(row["rl_sl"] - PROTOTYPE_GAIN))
    steps = {}
    for key in STEPS:
        there = {name: near[name] for name in WAY} | {key: own[key]}
        steps[key] = next(row["rl_sl"] for row in chosen(rows, **there)) - near["rl_sl"]
    largest = max(steps, key=lambda key: steps[key])
    return (
        f"RL gains {own['rl_sl']:+.1f} over SL here ({own['above']} of {own['trackers']} trackers), "
        f"{PROTOTYPE_GAIN:+.1f} there. It depends on what is learned and asked; nearest to the prototype's "
        f"comes {near['rl_sl']:+.1f} ({near['above']} of {near['trackers']}): features {near['features']}, "
        f"SL by the {near['sl']} act, valued by {near['estimator']}. From there to ours the largest single "
        f"step is {STEPS[largest]} ({steps[largest]:+.1f})."
    )
