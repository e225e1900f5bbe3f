"""Oracle for the DSTC1 metrics, on the objects json.load gives for logs, labels and tracker file.

A hypothesis is a frozenset of (slot, text of value) pairs; None is the hypothesis "not observed".
"""

import math
from typing import NamedTuple

from .belief_stats import (
    ROC_METRICS,
    Row,
    add_up,
    mean,
    rank_of_first_correct,
    read_curve,
    reciprocal_rank,
    squared_distance,
    threshold_curve,
)

SLOT_GROUPS = {
    "route": ("route",),
    "from.desc": ("from.desc",),
    "from.neighborhood": ("from.neighborhood",),
    "from.monument": ("from.monument",),
    "to.desc": ("to.desc",),
    "to.neighborhood": ("to.neighborhood",),
    "to.monument": ("to.monument",),
    "date": ("date.day", "date.absmonth", "date.absday", "date.relweek"),
    "time": ("time.hour", "time.minute", "time.ampm", "time.arriveleave", "time.rel"),
}


class Item(NamedTuple):
    """One scored distribution: the ranked list and how many hypotheses besides None it holds."""

    ranked: list
    n_hypotheses: int


def pair_set(slots):
    """{slot: value} -> frozenset of (slot, text)."""
    return frozenset((slot, str(value)) for slot, value in slots.items())


def rank_with_none(hypotheses):
    """[(pair set, raw score)] in the file's order -> ranked list; None goes before what it ties with."""
    ordered = sorted(hypotheses, key=lambda pair: -pair[1])
    clipped = [(pairs, score if score > 0 else 0.0) for pairs, score in ordered]
    rest = 1.0
    for _, score in clipped:
        rest = rest - score
    if rest < 0:
        rest = 0.0
        total = add_up(score for _, score in clipped)
        clipped = [(pairs, score / total) for pairs, score in clipped]
    return sorted([(None, rest), *clipped], key=lambda pair: -pair[1])


class Truth:
    """The labels seen so far in a dialog (since the last restart)."""

    def __init__(self):
        self.label_of = {group: {} for group in SLOT_GROUPS}

    def add(self, label_turn):
        """A pair set labelled true once stays true."""
        for entry in label_turn["slu-labels"]:
            pairs = pair_set(entry["slots"])
            for group, names in SLOT_GROUPS.items():
                if pairs and all(name in names for name, _ in pairs):
                    seen = self.label_of[group]
                    seen[pairs] = seen.get(pairs, False) or entry["label"]

    def has_label(self, group):
        return len(self.label_of[group]) > 0

    def is_right(self, group, pairs):
        """Is this the right hypothesis of one slot group? None is until a right value was observed."""
        if pairs is None:
            return True not in self.label_of[group].values()
        return self.label_of[group].get(pairs, False)

    def is_right_jointly(self, pairs):
        """Every group must be right; a group left out says None; slots of no group are ignored."""
        if pairs is not None and len(pairs) == 0:
            return False
        for group in SLOT_GROUPS:
            own = frozenset(pair for pair in pairs or () if pair[0].startswith(group))
            if not self.is_right(group, own if own else None):
                return False
        return True


def mentioned_slots(log_turn):
    """Every slot name in the system's acts and in the live and batch SLU hypotheses of the turn."""
    acts = list(log_turn["output"].get("dialog-acts", []))
    for source in ("live", "batch"):
        for hypothesis in log_turn["input"].get(source, {}).get("slu-hyps", []):
            acts += hypothesis["slu-hyp"]
    return [pair[0] for act in acts for pair in act["slots"]]


def groups_on_schedule_two(log_turn, dataset):
    """The slot groups the turn mentions, by prefix of the slot's name."""
    names = mentioned_slots(log_turn)
    groups = {group for group in SLOT_GROUPS if any(name.startswith(group) for name in names)}
    if dataset.startswith(("train3", "test3")):
        for end in ("from", "to"):
            if end + ".neighborhood" in groups:
                groups.remove(end + ".neighborhood")
                groups.add(end + ".desc")
    return groups


def item_of(tracker_turn, component, truth):
    """Rank and judge one component ('joint' or a slot group) of a tracker's turn."""
    entries = tracker_turn.get(component, {}).get("hyps", [])
    hypotheses = [(pair_set(entry["slots"]), entry["score"]) for entry in entries]
    ranked = []
    for pairs, score in rank_with_none(hypotheses):
        right = truth.is_right_jointly(pairs) if component == "joint" else truth.is_right(component, pairs)
        ranked.append((score, right))
    return Item(ranked, len(hypotheses))


def metrics_of(items, n_thresholds):
    """{metric: value} of a list of items."""
    tops = [item.ranked[0] for item in items]
    best_correct, distances = [], []
    for item in items:
        rank = rank_of_first_correct(item.ranked)
        best_correct.append(0.0 if rank is None else item.ranked[rank - 1][0])
        correct_mass = add_up(score for score, is_correct in item.ranked if is_correct)
        distances.append(math.sqrt((1 - correct_mass) ** 2 + (1 - correct_mass) ** 2))
    values = {
        "accuracy": mean([1.0 if is_correct else 0.0 for _, is_correct in tops]),
        "l2": mean(distances),
        "l2.lee": mean([math.sqrt(squared_distance(item.ranked)) for item in items]),
        "brier": mean([squared_distance(item.ranked) for item in items]),
        "avgp": mean(best_correct),
        "mrr": mean([reciprocal_rank(item.ranked) for item in items]),
        "nonempty": mean([1.0 if item.n_hypotheses > 0 else 0.0 for item in items]),
        "hypothesis_count": mean([item.n_hypotheses for item in items]),
        **dict.fromkeys(ROC_METRICS),
    }
    if len(items) >= 2:
        n_right = len([score for score, is_correct in tops if is_correct])
        curve = threshold_curve(tops, n_thresholds)
        values.update(read_curve(curve, n_right, len(items) - n_right))
    return values


def score(logs, labels, tracker, dataset, slots=None, n_thresholds=10000):
    """All rows: schedules 1, 2, 3 of the slot groups, 'all' (pooled) and 'joint'.

    `slots` names the slot groups to report and to pool in 'all' (default: all nine); the joint's truth and
    schedule always take all nine.
    """
    groups = list(SLOT_GROUPS) if slots is None else list(slots)
    items = {(name, schedule): [] for name in [*groups, "all", "joint"] for schedule in (1, 2, 3)}
    for log, label, session in zip(logs, labels, tracker["sessions"], strict=True):
        truth = Truth()
        log_turns = log["turns"]
        for turn, log_turn in enumerate(log_turns):
            if log_turn.get("restart"):
                truth = Truth()
            truth.add(label["turns"][turn])
            mentioned = groups_on_schedule_two(log_turn, dataset)
            labelled = {group for group in SLOT_GROUPS if truth.has_label(group)}
            is_end = turn == len(log_turns) - 1 or bool(log_turns[turn + 1].get("restart"))
            on_schedule = {1: set(SLOT_GROUPS), 2: mentioned, 3: labelled if is_end else set()}
            for schedule, on in on_schedule.items():
                for group in groups:
                    if group in on:
                        item = item_of(session["turns"][turn], group, truth)
                        items[group, schedule].append(item)
                        items["all", schedule].append(item)
                if on:
                    items["joint", schedule].append(item_of(session["turns"][turn], "joint", truth))
    rows = []
    for (component, schedule), found in items.items():
        for metric, value in metrics_of(found, n_thresholds).items():
            rows.append(Row(component, metric, schedule, None, len(found), value))
    return rows
