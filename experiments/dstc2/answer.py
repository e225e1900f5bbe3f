"""What the study says, in a few sentences whose words depend on the figures."""

from __future__ import annotations

from experiments.beyond import told_of_beyond
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import CELLS
from experiments.dstc2.shown import DEGENERATE, MAIN, Row, Rows, headline, mean
from experiments.dstc2.told import REFERENCE, told_of_cells
from experiments.tables import chosen, side, spelled


def answer(correlations: Rows, differences: Rows, beyond: Rows, gains: Rows) -> str:
    lines = [
        _metrics(correlations),
        _first(correlations, differences),
        _score_quality(differences),
        told_of_cells(correlations),
        _good(differences),
        f"Core trackers, {told_of_beyond(beyond)}.",
        _gained(gains),
    ]
    return "\n".join(f"- {line}" for line in lines)


def both(correlations: Rows, metric: str, trackers: str) -> str:
    """r under both fill rules."""
    return " and ".join(spelled(headline(correlations, fill, trackers)[metric]) for fill in FILLS)


def apart(differences: Rows, metric: str, trackers: str) -> list[Row]:
    """A metric less accuracy under both fill rules; nothing for accuracy itself."""
    return chosen(differences, **MAIN, metric=metric, than=REFERENCE, trackers=trackers)


def told(rows: Rows) -> str:
    return " and ".join(f"{spelled(row, 'difference')} ({side(row)}, {row['fill']})" for row in rows)


def _metrics(rows: Rows) -> str:
    return (
        f"Over the core trackers, joint accuracy (and JGA with it) has r {both(rows, REFERENCE, 'core')} "
        "with the "
        f"return (filled by argmax and by threshold), L2 {both(rows, 'l2@1', 'core')}, ROC.V2 "
        f"{both(rows, 'roc.v2_ca05@1', 'core')}."
    )


def _first(correlations: Rows, differences: Rows) -> str:
    names = []
    for fill in FILLS:
        found = headline(correlations, fill, "core")
        names.append(max(found, key=lambda name: found[name]["r"]))
    leads = [
        f"{name} less accuracy: {told(apart(differences, name, 'core')) or 'not compared'}"
        for name in dict.fromkeys(names)
        if name != REFERENCE
    ]
    firsts = " and ".join(f"{name} (filled by {fill})" for name, fill in zip(names, FILLS, strict=True))
    return f"First is {firsts}. {'; '.join(leads)}{'.' if leads else ''}"


def _score_quality(rows: Rows) -> str:
    ways = len(CELLS) * len(FILLS)
    parts = []
    for metric in ("l2@1", "avgp@1"):
        every = chosen(rows, metric=metric, than=REFERENCE, trackers="core")
        below = sum(side(row) == "below 0" for row in every)
        parts.append(f"{metric} {told(apart(rows, metric, 'core'))}; clearly below in {below} of {ways} ways")
    return f"L2 and AvgP, first in Lee's study, less accuracy: {'. '.join(parts)}."


def _good(rows: Rows) -> str:
    of = chosen(rows, **MAIN, trackers="good", than=REFERENCE)
    clear = sum(side(row) != "not resolved" for row in of)
    return f"Among the {of[0]['n']} good trackers, {clear} of {len(of)} differences from accuracy are clear."


def _gained(gains: Rows) -> str:
    some = [row for row in chosen(gains, **MAIN) if row["tracker"] != DEGENERATE]
    clear = sum(row["rl_behaviour_low"] > 0 for row in some)
    return (
        f"Learned policies are estimated {mean(some, 'rl_behaviour'):+.1f} points above the logged one "
        "(clearly in "
        f"{clear} of {len(some)}: trackers and fill rules) and {mean(some, 'rl_sl'):+.1f} above imitation."
    )
