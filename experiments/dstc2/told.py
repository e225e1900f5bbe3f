"""Sentences of the text whose words depend on the figures."""

from __future__ import annotations

from collections import Counter

from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import CELLS
from experiments.dstc2.relations import REFERENCE as ACCURACY
from experiments.dstc2.shown import GROUPS, MAIN, Rows, headline
from experiments.tables import chosen, side, spelled

REFERENCE = f"{ACCURACY}@1"


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
    """Which metrics are clearly below or above accuracy, in how many of the ways, by group."""
    lines = []
    for group in GROUPS:
        of = chosen(rows, trackers=group, than=REFERENCE)
        told = []
        for where in ("below 0", "above 0"):
            counts = Counter(row["metric"] for row in of if side(row) == where)
            listed = ", ".join(f"{metric} ({count})" for metric, count in counts.most_common())
            told.append(f"{where.removesuffix(' 0')} accuracy: {listed or 'none'}")
        lines.append(f"- {group}: clearly {'; clearly '.join(told)}.")
    return "\n".join(lines)


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
    counts: Counter[str] = Counter()
    for row in rows:
        for told in (row["flags"] or "").split():
            flag, _, count = told.partition(":")
            counts[flag] += int(count)
    total = sum(row["cells"] for row in rows)
    told = ", ".join(f"{flag} {count} of {total}" for flag, count in counts.items())
    return told or f"none of {total}"


def told_of_schedules(rows: Rows) -> str:
    """Lee found schedule 2 lower than 1 and 3."""
    some = [row for row in chosen(rows, **MAIN) if row["metric"].endswith("@2")]
    lower = sum(row["difference"] < 0 for row in some)
    clear, above = (sum(side(row) == where for row in some) for where in ("below 0", "above 0"))
    return (
        f"Schedule 2 against 1 and 3 (accuracy and L2, three groups, two fill rules): lower in {lower} of "
        f"{len(some)} comparisons, clearly in {clear}, clearly higher in {above}."
    )


def told_of_cells(rows: Rows) -> str:
    """What the eight ways agree on."""
    apart = 0
    first: Counter[str] = Counter()
    for cell in CELLS:
        for fill in FILLS:
            found = headline(rows, fill, "core", **cell.label)
            apart += found["accuracy@1"]["r"] > found["l2@1"]["r"]
            first[max(found, key=lambda name: found[name]["r"])] += 1
    told = ", ".join(f"{name} ({count})" for name, count in first.most_common())
    ways = len(CELLS) * len(FILLS)
    return f"Accuracy is above L2 in {apart} of {ways} ways. First in how many of them: {told}."
