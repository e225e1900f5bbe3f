"""The answers, each in words that its figures choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from experiments.beyond import told_of_beyond
from experiments.dstc2.answer import apart, told
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import CELLS
from experiments.dstc2.shown import DEGENERATE, MAIN, headline, mean
from experiments.dstc2.told import REFERENCE
from experiments.overview.places import FILL, Row, Tables, places
from experiments.tables import chosen, side, spelled, without_fill

LIVE = "live"
N_WAYS = len(CELLS) * len(FILLS)
MOST = 200
"""More trackers than anybody will ever have (experiments/lee2014)."""

NEEDED = (
    "L2 or AvgP first",
    "schedule 2 below 1 and 3",
    "ROC.V2 hardly correlates",
    "better trackers give better policies",
    "RL above behaviour",
)


def answers(tables: Tables) -> list[str]:
    asked = {
        "Does a better tracker give a better policy?": _better_trackers,
        "Which metric is first?": _first_metric,
        "Does the quality of scores count most (L2, AvgP), as Lee found?": _score_quality,
        "Is schedule 2 worse, as Lee found?": _schedules,
        "Does ROC.V2 say nothing, as Lee found?": _roc,
        "Does a metric of states predict success on MultiWOZ?": _success,
        "Does a metric tell more than what the logged policy earned?": _beyond,
        "Does learning beat the logged policy and imitation?": _gains,
        "How many trackers does it take to settle these, for or against Lee?": _trackers_needed,
    }
    return [f"**{question}** {answer(tables)}" for question, answer in asked.items()]


def tally(verdicts: Iterable[str]) -> str:
    counts = Counter(verdicts)
    total = sum(counts.values())
    return ", ".join(f"{verdict} in {count} of {total}" for verdict, count in counts.most_common())


def span(numbers: Iterable[float]) -> str:
    some = list(numbers)
    return f"{min(some):.2f} to {max(some):.2f}"


def findings(tables: Tables, finding: str) -> list[Row]:
    """Of the simulated world: within datasets, against live play, both fill rules, all and core trackers."""
    return chosen(tables["lee2014/findings"], finding=finding, target=LIVE, scope="within")


def played_live(tables: Tables, finding: str) -> str:
    return f"Played live (both fill rules, all and core trackers): {_verdicts(findings(tables, finding))}"


def _verdicts(rows: list[Row]) -> str:
    return tally(row["verdict"] for row in rows)


def _better_trackers(tables: Tables) -> str:
    finding = "better trackers give better policies"
    core = [headline(tables["dstc2/correlations"], fill, "core")[REFERENCE] for fill in FILLS]
    return (
        f"{played_live(tables, finding)}; r of accuracy (all slots, at the end) "
        f"{span(row['value'] for row in findings(tables, finding))}. On DSTC2, core trackers, r of joint "
        f"accuracy: {' and '.join(map(spelled, core))}."
    )


def firsts(tables: Tables) -> dict[str, tuple[str, str]]:
    """Where policies were learned, by place: the first metric, and its schedule and r in words."""
    found = {}
    for fill in FILLS:
        rows = chosen(tables["lee2014/correlations"], fill=fill, target=LIVE)
        rows = [row for row in rows if row["r"] is not None]
        whole, core = max(rows, key=lambda row: row["r"]), max(rows, key=lambda row: row["core"])
        for group, row, r in (("all", whole, spelled(whole)), ("core", core, f"{core['core']:.2f}")):
            found[f"simulated, {group}, {fill}"] = (
                without_fill(row["metric"], fill),
                f"@{row['schedule']} {r}",
            )
    for fill in FILLS:
        for group in ("all", "core"):
            of = headline(tables["dstc2/correlations"], fill, group).values()
            row = max(of, key=lambda row: row["r"])
            found[f"DSTC2, {group}, {fill}"] = row["metric"], f"@{row['schedule']} {spelled(row)}"
    return found


def most_often(tables: Tables) -> tuple[str, int, list[Row]]:
    """The metric that is first most often, how often, and its lead over accuracy on DSTC2's core trackers."""
    metric, count = Counter(name for name, _ in firsts(tables).values()).most_common(1)[0]
    lead = [] if metric == "accuracy" else apart(tables["dstc2/differences"], f"{metric}@1", "core")
    return metric, count, lead


def in_short(tables: Tables) -> str:
    metric, count, lead = most_often(tables)
    rows = chosen(tables["dstc2/differences"], than=REFERENCE)
    core = chosen(rows, trackers="core")
    below = Counter(row["metric"].removesuffix("@1") for row in core if side(row) == "below 0")
    good = chosen(rows, **MAIN, trackers="good")
    clear = sum(side(row) != "not resolved" for row in good)
    given = chosen(tables["dstc2/beyond"], kind="given")
    beyond = sum(side(row) == "above 0" for row in given)
    listed = ", ".join(f"{name} {ways}" for name, ways in below.most_common())
    total = len(firsts(tables))
    return (
        f"In short: {metric} is first in {count} of {total} places where policies were learned, so "
        f"{'one metric is' if count == total else 'no metric is'} first everywhere; its lead over joint "
        f"accuracy on real calls is {tally(map(side, lead))} fill rules. Clearly below accuracy there, in "
        f"how many of {N_WAYS} ways to learn and reward: {listed or 'none'}. Among good trackers {clear} of "
        f"{len(good)} differences from accuracy are clear. Given what the logged policy earned, {beyond} of "
        f"{len(given)} correlations on real calls are clearly above 0. Played live, what is gained goes "
        f"best with {named(best_of_gain(tables))}."
    )


def _first_metric(tables: Tables) -> str:
    places_told = [f"{place}: {name}{r}" for place, (name, r) in firsts(tables).items()]
    metric, count, lead = most_often(tables)
    good = chosen(tables["dstc2/differences"], **MAIN, than=REFERENCE, trackers="good")
    return (
        f"{'; '.join(places_told)}. {metric} is first in {count} of {len(places_told)}. Its lead over "
        f"accuracy on DSTC2, core trackers: {told(lead) or 'none'}. Among good trackers, other metrics "
        f"less accuracy: {tally(map(side, good))}."
    )


def _score_quality(tables: Tables) -> str:
    core, good = (apart(tables["dstc2/differences"], "l2@1", group) for group in ("core", "good"))
    return (
        f"{played_live(tables, 'L2 or AvgP first')}. On DSTC2, L2 less accuracy: core trackers "
        f"{told(core)}; good ones {told(good)}."
    )


def _schedules(tables: Tables) -> str:
    rows = [row for row in chosen(tables["dstc2/differences"], **MAIN) if row["metric"].endswith("@2")]
    return (
        f"{played_live(tables, 'schedule 2 below 1 and 3')}. On DSTC2, schedule 2 less 1 or 3 (accuracy, "
        f"L2; all, core, good trackers; both rules): {tally(map(side, rows))}; the largest difference is "
        f"{max(abs(row['difference']) for row in rows):.2f}."
    )


def _roc(tables: Tables) -> str:
    finding = "ROC.V2 hardly correlates"
    found = [
        headline(tables["dstc2/correlations"], fill, trackers)["roc.v2_ca05@1"]
        for trackers in ("all", "core")
        for fill in FILLS
    ]
    return (
        f"{played_live(tables, finding)}; mean r {span(row['value'] for row in findings(tables, finding))}. "
        f"On DSTC2 (CA05): r {span(row['r'] for row in found)}, {tally(map(side, found))}."
    )


def _success(tables: Tables) -> str:
    found = places(tables)
    within = {name: row for name, row in found["within a system"].items() if row is not None}
    between = [row for row in found["between systems"].values() if row is not None]
    first = max(within, key=lambda name: within[name]["r"])
    clear = sum(row["low"] > 0 for row in within.values())
    return (
        f"Between systems: {tally(map(side, between))} metrics. Within a system {clear} of {len(within)} do: "
        f"{first} {spelled(within[first])}, jga {spelled(within['jga'])}."
    )


def best_of_gain(tables: Tables) -> Row:
    """Played live: the metric that goes best with what is gained."""
    return max(chosen(tables["lee2014/beyond"], kind="gain"), key=lambda row: row["r"])


def named(row: Row) -> str:
    return f"{row['metric']}@{row['schedule']} ({row['component']}, {row['fill']}), r {spelled(row)}"


def _beyond(tables: Tables) -> str:
    live, real = (told_of_beyond(tables[f"{study}/beyond"]) for study in ("lee2014", "dstc2"))
    return (
        f"Core trackers. Played live: {live}; the highest with the gain is {named(best_of_gain(tables))}. On "
        f"DSTC2, estimated: {real}."
    )


def _gains(tables: Tables) -> str:
    live = {name: findings(tables, f"RL above {name}") for name in ("behaviour", "SL", "sampled SL")}
    parts = [
        f"over {name} {_verdicts(rows)} ({min(row['value'] for row in rows):+.0f} to "
        f"{max(row['value'] for row in rows):+.0f} points)"
        for name, rows in live.items()
    ]
    rows = [row for row in tables["dstc2/gains"] if row["tracker"] != DEGENERATE]
    seen, hidden = (
        chosen(rows, manager=manager, absent="correct", fill=FILL) for manager in ("seen", "hidden")
    )
    return (
        f"Played live: {', '.join(parts)}. On DSTC2, estimated: {mean(seen, 'rl_behaviour'):+.0f} over the "
        f"logged policy, {mean(seen, 'rl_sl'):+.0f} over sampled imitation; with the dialog manager hidden "
        f"from the state {mean(hidden, 'rl_behaviour'):+.0f} and {mean(hidden, 'rl_sl'):+.0f}."
    )


def _trackers_needed(tables: Tables) -> str:
    rows = chosen(tables["lee2014/numbers"], target=LIVE, trackers="core")
    parts = [
        f"{finding}: {' / '.join(_needed(row['needed']) for row in chosen(rows, finding=finding))}"
        for finding in NEEDED
    ]
    return f"With probability .8, live (argmax / threshold): {'; '.join(parts)}. Lee had about ten."


def _needed(number: int) -> str:
    return str(number) if number <= MOST else f"> {MOST}"
