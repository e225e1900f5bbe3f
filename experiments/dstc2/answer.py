"""What the study says, in a few sentences whose words depend on the figures."""

from __future__ import annotations

from experiments.dstc2.cells import FILLS
from experiments.dstc2.shown import DEGENERATE, MAIN, Row, Rows, chosen, headline, mean
from experiments.dstc2.told import is_apart, told_of_cells
from experiments.tables import spelled

REFERENCE = "accuracy@1"


def answer(correlations: Rows, differences: Rows, gains: Rows, placebo: Rows) -> str:
    lines = [
        _metrics(correlations),
        _first(correlations, differences),
        _score_quality(differences),
        _good(differences),
        told_of_cells(correlations),
        _gained(gains, placebo),
    ]
    return "\n".join(f"- {line}" for line in lines)


def both(correlations: Rows, metric: str, trackers: str) -> str:
    """r under both fill rules."""
    return " and ".join(spelled(headline(correlations, fill, trackers)[metric]) for fill in FILLS)


def apart(differences: Rows, metric: str, trackers: str) -> list[Row]:
    """A metric less accuracy, under both fill rules."""
    where = {**MAIN, "metric": metric, "than": REFERENCE, "trackers": trackers}
    return [chosen(differences, **where, fill=fill)[0] for fill in FILLS]


def resolved(row: Row) -> str:
    return "below" if is_apart(row, -1) else "above" if is_apart(row, 1) else "not resolved"


def _metrics(rows: Rows) -> str:
    return (
        f"Over the core trackers, joint accuracy (and JGA with it) has r {both(rows, REFERENCE, 'core')} "
        "with the "
        f"return (filled by argmax and by threshold), L2 {both(rows, 'l2@1', 'core')}, ROC.V2 "
        f"{both(rows, 'roc.v2_ca05@1', 'core')}."
    )


def _first(correlations: Rows, differences: Rows) -> str:
    told = []
    for number, fill in enumerate(FILLS):
        found = headline(correlations, fill, "core")
        name = max(found, key=lambda name: found[name]["r"])
        lead = apart(differences, name, "core")[number] if name.endswith("@1") and name != REFERENCE else None
        ahead = "" if lead is None else f", {spelled(lead, 'difference')} from accuracy ({resolved(lead)})"
        told.append(f"{name} {spelled(found[name])} (filled by {fill}{ahead})")
    return f"First is {' and '.join(told)}."


def _score_quality(rows: Rows) -> str:
    told = []
    for metric in ("l2@1", "avgp@1"):
        of = [f"{spelled(row, 'difference')} ({resolved(row)})" for row in apart(rows, metric, "core")]
        told.append(f"{metric} {' and '.join(of)}")
    return f"Lee's first, the quality of scores, less accuracy: {'; '.join(told)}."


def _good(rows: Rows) -> str:
    of = chosen(rows, **MAIN, trackers="good", than=REFERENCE)
    clear = sum(resolved(row) != "not resolved" for row in of)
    return f"Among the {of[0]['n']} good trackers, {clear} of {len(of)} differences from accuracy are clear."


def _gained(gains: Rows, placebo: Rows) -> str:
    some = [row for row in chosen(gains, **MAIN) if row["tracker"] != DEGENERATE]
    clear = sum(row["rl_behaviour_low"] > 0 for row in some)
    shuffled = [row for row in placebo if row["tracker"] != DEGENERATE]
    return (
        f"Learned policies gain {mean(some, 'rl_behaviour'):+.1f} points over the logged one (clearly in "
        f"{clear} of "
        f"{len(some)}: trackers and fill rules), {mean(some, 'rl_sl'):+.1f} over imitation; the placebo "
        f"{mean(shuffled, 'placebo'):+.1f}."
    )
