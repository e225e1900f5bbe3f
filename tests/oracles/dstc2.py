"""Oracle for the DSTC2 metrics, on the objects json.load gives for log, label, tracker and ontology."""

import itertools
import math
from typing import Any, NamedTuple

from .belief_stats import ROC_METRICS, Row, add_up, item_curve, mean, read_curve, squared_distance
from .dstc2_dialogs import goal_labels_held_backwards, mentions_by_turn, method_of_acts


class Item(NamedTuple):
    """One scored distribution: its top hypothesis, the truth, and what the metrics need of the rest."""

    top: Any
    top_score: float
    truth: Any
    p: float
    l2: float
    l2_binary: float
    reciprocal_rank: float
    squared_distance: float

    @property
    def is_right(self):
        return self.top == self.truth


# ---- distributions -------------------------------------------------------------------------------------


def rank_with_none(hypotheses):
    """[(hypothesis, score)] in the file's order -> ranked list with None in it."""
    total = add_up(score for _, score in hypotheses)
    if total > 1.0:
        scored = [(hypothesis, score / total) for hypothesis, score in hypotheses]
        scored.append((None, 0.0))
    else:
        scored = [*hypotheses, (None, 1.0 - total)]
    return sorted(scored, key=lambda pair: -pair[1])


def rank_requested(p):
    """A requested slot: True with p before False with 1 - p."""
    return sorted([(True, p), (False, 1.0 - p)], key=lambda pair: -pair[1])


def item_of_ranked(ranked, truth):
    """Score one ranked list; p is the last true hypothesis's score, the rank the first one's."""
    p = 0.0
    rank = None
    others = []
    for position, (hypothesis, score) in enumerate(ranked):
        if hypothesis == truth:
            p = score
            if rank is None:
                rank = position + 1
        else:
            others.append(score)
    l2 = (1 - p) ** 2 + add_up(score**2 for score in others)
    l2_binary = (1 - p) ** 2 + add_up(others) ** 2
    top, top_score = ranked[0]
    distance = squared_distance([(score, hypothesis == truth) for hypothesis, score in ranked])
    return Item(top, top_score, truth, p, l2, l2_binary, 0.0 if rank is None else 1.0 / rank, distance)


def item_of_product(ranked_by_slot, goal_labels):
    """The joint as a product of independent slots."""
    top = {}
    top_score = p = squares = 1.0
    rank_product = 1
    for slot, ranked in ranked_by_slot.items():
        slot_top, slot_top_score = ranked[0]
        if slot_top is not None:
            top[slot] = slot_top
        top_score = top_score * slot_top_score
        squares = squares * add_up(score**2 for _, score in ranked)
        values = [value for value, _ in ranked]
        truth = goal_labels.get(slot)
        if truth in values:
            rank = values.index(truth)
            p = p * ranked[rank][1]
            rank_product = rank_product * (rank + 1)
        else:
            p = 0.0
            rank_product = math.inf
    l2 = (1 - p) ** 2 + squares - p**2
    combined = []
    for hypotheses in itertools.product(*ranked_by_slot.values()):
        joint_score, is_right = 1.0, True
        for slot, (value, slot_score) in zip(ranked_by_slot, hypotheses, strict=True):
            joint_score = joint_score * slot_score
            is_right = is_right and value == goal_labels.get(slot)
        combined.append((joint_score, is_right))
    distance = squared_distance(combined)
    truth = goal_labels or None
    return Item(top or None, top_score, truth, p, l2, 2 * (1 - p) ** 2, 1.0 / rank_product, distance)


# ---- scoring -------------------------------------------------------------------------------------------


def components_of_turn(label_turn, goal_labels, method, tracker_turn, ontology, on_schedule):
    """{component: items of this turn}; on_schedule(kind, slot) says which to keep."""
    found = {"goal.all": [], "requested.all": [], "method": []}
    ranked_by_slot = {}
    for slot in ontology["informable"]:
        belief = tracker_turn.get("goal-labels", {}).get(slot, {})
        ranked_by_slot[slot] = rank_with_none(list(belief.items()))
        found["goal." + slot] = []
        if on_schedule("goal", slot):
            item = item_of_ranked(ranked_by_slot[slot], goal_labels.get(slot))
            found["goal." + slot].append(item)
            found["goal.all"].append(item)
    for slot in ontology["requestable"]:
        found["requested." + slot] = []
        if on_schedule("requested", slot):
            ranked = rank_requested(tracker_turn.get("requested-slots", {}).get(slot, 0.0))
            item = item_of_ranked(ranked, slot in label_turn["requested-slots"])
            found["requested." + slot].append(item)
            found["requested.all"].append(item)
    if on_schedule("method", None):
        ranked = rank_with_none(list(tracker_turn.get("method-label", {}).items()))
        found["method"].append(item_of_ranked(ranked, method))
    found["goal.joint"], found["goal.joint_independent"] = [], []
    if on_schedule("joint", None):
        independent = item_of_product(ranked_by_slot, goal_labels)
        joint = tracker_turn.get("goal-labels-joint")
        if joint is None:
            found["goal.joint"].append(independent)
        else:
            ranked = rank_with_none([(hypothesis["slots"], hypothesis["score"]) for hypothesis in joint])
            found["goal.joint"].append(item_of_ranked(ranked, goal_labels or None))
        found["goal.joint_independent"].append(independent)
    found["all"] = found["goal.all"] + found["requested.all"] + found["method"]
    return found


def update_scores(dialogs):
    """update.acc and update.prec over lists of items, one list per dialog."""
    correct = inserted = substituted = deleted = 0
    for items in dialogs:
        previous = None
        for item in items:
            changed = item.top != previous
            if previous == item.truth:
                inserted += changed
            elif not changed:
                deleted += 1
            elif item.is_right:
                correct += 1
            else:
                substituted += 1
            previous = item.top
    wanted = correct + substituted + deleted
    made = correct + substituted + inserted
    return {
        "update.acc": correct / wanted if wanted else None,
        "update.prec": correct / made if made else None,
    }


def metrics_of(dialogs):
    """{metric: value} of one component; dialogs is a list of lists of items."""
    items = [item for dialog in dialogs for item in dialog]
    values = {
        "accuracy": mean([1.0 if item.is_right else 0.0 for item in items]),
        "l2": mean([item.l2 for item in items]),
        "l2.lee": mean([math.sqrt(item.squared_distance) for item in items]),
        "brier": mean([item.squared_distance for item in items]),
        "l2.binary": mean([item.l2_binary for item in items]),
        "avgp": mean([item.p for item in items]),
        "neglogp": mean([-math.log(max(item.p, 1e-4)) for item in items]),
        "mrr": mean([item.reciprocal_rank for item in items]),
        **update_scores(dialogs),
        **dict.fromkeys(ROC_METRICS),
    }
    if len(items) > 2:
        scores = [(item.top_score, item.is_right) for item in items]
        n_right = len([item for item in items if item.is_right])
        values.update(read_curve(item_curve(scores), n_right, len(items) - n_right))
    return len(items), values


def score(logs, labels, tracker, ontology):
    """All rows: schedules 1, 2, 3; schemes a and b (requested.* only a)."""
    dialogs_of = {}
    for log, label, session in zip(logs, labels, tracker["sessions"], strict=True):
        turns = list(zip(log["turns"], label["turns"], session["turns"], strict=True))
        mentions = mentions_by_turn(log["turns"], ontology["informable"])
        backwards = goal_labels_held_backwards(log["turns"], label["turns"])
        for scheme in ("a", "b"):
            for schedule in (1, 2, 3):
                dialog = {}
                for turn, (_, label_turn, tracker_turn) in enumerate(turns):
                    is_last = turn == len(turns) - 1

                    def on_schedule(kind, slot, schedule=schedule, mention=mentions[turn], is_last=is_last):
                        if schedule != 2:
                            return schedule == 1 or is_last
                        goals, requested, method = mention
                        return {
                            "goal": slot in goals,
                            "joint": len(goals) > 0,
                            "requested": slot in requested,
                            "method": method,
                        }[kind]

                    goal_labels, method = label_turn["goal-labels"], label_turn["method-label"]
                    if scheme == "b":
                        goal_labels = backwards[turn]
                        method = method_of_acts(label_turn["semantics"]["json"])
                    found = components_of_turn(
                        label_turn, goal_labels, method, tracker_turn, ontology, on_schedule
                    )
                    for component, items in found.items():
                        dialog.setdefault(component, []).extend(items)
                for component, items in dialog.items():
                    dialogs_of.setdefault((component, schedule, scheme), []).append(items)
    rows = []
    for (component, schedule, scheme), dialogs in dialogs_of.items():
        if scheme == "b" and component.startswith("requested"):
            continue
        n, values = metrics_of(dialogs)
        rows += [Row(component, metric, schedule, scheme, n, value) for metric, value in values.items()]
    return rows
