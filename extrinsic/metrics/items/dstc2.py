"""The items of a DSTC2 tracker: goals (per slot and joint), requested slots, method; and the right states."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each
from extrinsic.corpus.joint import joint_correctness
from extrinsic.corpus.labels import GoalLabels, TableTruth
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.metrics.items.item_tables import ItemTable
from extrinsic.metrics.items.label_schemes import goals, methods
from extrinsic.metrics.items.ranked import find_correct, sum_rows
from extrinsic.metrics.items.schedules import dstc2_schedules

SMALLEST_PROBABILITY = 1e-4

# Identities that are not values of the vocabulary; None is NONE.
ASKED, NOT_ASKED, NOTHING_ASSIGNED = -1, -2, -3

Fields = dict[str, np.ndarray]


def build_tables(corpus: Corpus, tracker: TrackerOutput) -> list[ItemTable]:
    """A table for each label scheme; they share what does not depend on the labels."""
    schedules = dstc2_schedules(corpus)
    orders: dict[str, Ints] = {}
    schemes = corpus.conventions.label_schemes
    return [_build_table(corpus, tracker, scheme, schedules, orders) for scheme in schemes]


def _build_table(
    corpus: Corpus,
    tracker: TrackerOutput,
    scheme: str | None,
    schedules: dict[int, Bools],
    orders: dict[str, Ints],
) -> ItemTable:
    labels = corpus.labels
    assert isinstance(labels, GoalLabels)
    goal = goals(corpus, labels, scheme)
    slots = _slot_fields(corpus, tracker, goal)
    independent = _independent_fields(slots)
    parts = [
        slots,
        _requested_fields(tracker, labels.requested),
        _method_fields(tracker, methods(corpus, labels, scheme)),
        _joint_fields(tracker, goal, independent),
        independent,
    ]
    table = {
        name: np.concatenate([part[name] for part in parts], axis=1) for name in slots if name != "squares"
    }
    table["neglogp"] = -np.log(np.maximum(SMALLEST_PROBABILITY, table["probability"]))
    return ItemTable(
        roc_points=corpus.conventions.roc_points,
        label_scheme=scheme,
        offsets=corpus.offsets,
        components=_components(corpus, scheme),
        schedules=schedules,
        fields=table,
        top_score=table["top_score"],
        correct=table["correct"].astype(bool),
        top=table["top"],
        truth=table["truth"],
        orders=orders,
    )


def gold_states(corpus: Corpus, predicted: Ids, scheme: str | None) -> Ids:
    """(n_turns, n_slots) what the states should be: the labelled goals, whatever was predicted."""
    assert isinstance(corpus.labels, GoalLabels)
    return goals(corpus, corpus.labels, scheme)


def _components(corpus: Corpus, scheme: str | None) -> dict[str, tuple[int, ...]]:
    n_slots, n_requestable = len(corpus.slots), len(corpus.requestable)
    requested = range(n_slots, n_slots + n_requestable)
    method = n_slots + n_requestable
    components: dict[str, tuple[int, ...]] = {
        f"goal.{slot}": (column,) for column, slot in enumerate(corpus.slots)
    }
    components["goal.all"] = tuple(range(n_slots))
    components["goal.joint"] = (method + 1,)
    components["goal.joint_independent"] = (method + 2,)
    if scheme == "a":
        components |= {
            f"requested.{slot}": (column,) for column, slot in zip(requested, corpus.requestable, strict=True)
        }
        components["requested.all"] = tuple(requested)
    components["method"] = (method,)
    components["all"] = tuple(range(method + 1))
    return components


def _distribution_fields(offsets: Ints, score: Floats, correct: Bools) -> Fields:
    """Fields (n,) of ranked distributions with one right value (which a joint list may contain twice)."""
    right = find_correct(offsets, score, correct)
    others = np.where(correct, 0.0, score)
    p = right.last_score
    return {
        "correct": right.top_correct.astype(np.float64),
        "top_score": right.top_score,
        "probability": p,
        "reciprocal_rank": right.reciprocal_rank,
        "l2": (1 - p) ** 2 + sum_rows(others**2, offsets),
        "l2_binary": (1 - p) ** 2 + sum_rows(others, offsets) ** 2,
    }


def _slot_fields(corpus: Corpus, tracker: TrackerOutput, goal: Ids) -> Fields:
    beliefs = tracker.beliefs
    truth = goal.ravel()
    correct = beliefs.value == truth[row_of_each(beliefs.offsets)]
    fields = _distribution_fields(beliefs.offsets, beliefs.score, correct)
    fields["top"], fields["truth"] = beliefs.value[beliefs.top], truth
    fields["squares"] = sum_rows(beliefs.score**2, beliefs.offsets)
    return {name: values.reshape(corpus.n_turns, -1) for name, values in fields.items()}


def _independent_fields(slots: Fields) -> Fields:
    """The joint as if the slots were independent: products over the slots."""
    p = slots["probability"].prod(axis=1)
    identity = identify_rows(np.stack([slots["top"], slots["truth"]]))
    fields = {
        "correct": (slots["top"] == slots["truth"]).all(axis=1).astype(np.float64),
        "top_score": slots["top_score"].prod(axis=1),
        "probability": p,
        "reciprocal_rank": slots["reciprocal_rank"].prod(axis=1),
        "l2": (1 - p) ** 2 + slots["squares"].prod(axis=1) - p**2,
        "l2_binary": 2 * (1 - p) ** 2,
        "top": identity[0],
        "truth": identity[1],
    }
    return {name: values[:, None] for name, values in fields.items()}


def _joint_fields(tracker: TrackerOutput, goal: Ids, independent: Fields) -> Fields:
    """The joint list where the tracker gave one, else the independent joint."""
    joint, has_joint = tracker.joint, tracker.given_joint.given
    if not has_joint.any():
        return independent
    correct = joint_correctness(TableTruth(goal), joint.offsets, joint.assignment, joint.none)
    fields = _distribution_fields(joint.offsets, joint.score, correct)
    chosen = {name: np.where(has_joint, fields[name], independent[name][:, 0]) for name in fields}
    # Identities of both kinds of joint are assigned together: "previous" may be of the other kind.
    top = np.where(has_joint[:, None], joint.assignment[joint.top], _independent_tops(tracker))
    identity = identify_rows(np.stack([top, goal]))
    nothing = has_joint & ~joint.none[joint.top] & (top == NONE).all(axis=1)
    chosen["top"], chosen["truth"] = np.where(nothing, NOTHING_ASSIGNED, identity[0]), identity[1]
    return {name: values[:, None] for name, values in chosen.items()}


def _independent_tops(tracker: TrackerOutput) -> Ids:
    return tracker.beliefs.value[tracker.beliefs.top].reshape(tracker.n_turns, -1)


def identify_rows(assignments: Ids) -> Ids:
    """(k, n_turns, n_slots) assignments -> (k, n_turns) ids: equal rows have equal ids, all-NONE is NONE."""
    identity = np.zeros(assignments.shape[:2], dtype=np.int64)
    for slot in range(assignments.shape[2]):
        values = assignments[:, :, slot].astype(np.int64)
        # Renumbered after every slot, so that the product never overflows; all-NONE stays the smallest.
        combined = identity * (int(values.max(initial=0)) + 1) + values
        _, index = np.unique(np.append(combined.ravel(), 0), return_inverse=True)
        identity = index[:-1].reshape(identity.shape)
    return identity.astype(np.int32)


def _requested_fields(tracker: TrackerOutput, requested: Bools) -> Fields:
    """A two-way distribution, asked p and not asked 1 - p in this order; None has the remainder."""
    total = tracker.requested + (1.0 - tracker.requested)
    scale = np.where(total > 1.0, total, 1.0)
    asked, not_asked = tracker.requested / scale, (1.0 - tracker.requested) / scale
    none = 1.0 - np.where(total > 1.0, 1.0, total)
    rank_asked = 1 + (not_asked > asked) + (none > asked)
    rank_not_asked = 1 + (asked >= not_asked) + (none > not_asked)
    p = np.where(requested, asked, not_asked)
    other = np.where(requested, not_asked, asked)
    top = np.where(asked >= not_asked, ASKED, NOT_ASKED).astype(np.int32)
    truth = np.where(requested, ASKED, NOT_ASKED).astype(np.int32)
    return {
        "correct": (top == truth).astype(np.float64),
        "top_score": np.maximum(asked, not_asked),
        "probability": p,
        "reciprocal_rank": 1.0 / np.where(requested, rank_asked, rank_not_asked),
        "l2": (1 - p) ** 2 + other**2 + none**2,
        "l2_binary": (1 - p) ** 2 + (other + none) ** 2,
        "top": top,
        "truth": truth,
    }


def _method_fields(tracker: TrackerOutput, method: Ids) -> Fields:
    beliefs = tracker.method
    fields = _distribution_fields(
        beliefs.offsets, beliefs.score, beliefs.value == method[row_of_each(beliefs.offsets)]
    )
    fields["top"], fields["truth"] = beliefs.value[beliefs.top], method
    return {name: values[:, None] for name, values in fields.items()}
