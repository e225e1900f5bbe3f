"""The items of a DSTC2 tracker: goals (per slot and joint), requested slots, method; and the right states."""

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Beliefs, joint_correctness
from extrinsic.corpus.labels import GoalLabels, TableTruth
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.belief_items import (
    HypothesisColumns,
    ItemHypotheses,
    ItemTable,
    concatenate_items,
    find_correct,
    products_of_slots,
    sum_rows,
)
from extrinsic.metrics.schedules import dstc2_schedules, goals, methods

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
    method = methods(corpus, labels, scheme)
    slots = _belief_fields(tracker.beliefs, goal.ravel(), corpus.n_turns)
    independent = _independent_fields(slots)
    parts = [
        slots,
        _requested_fields(tracker, labels.requested),
        _belief_fields(tracker.method, method, corpus.n_turns),
        _joint_fields(tracker, goal, independent),
        independent,
    ]
    table = {name: np.concatenate([part[name] for part in parts], axis=1) for name in independent}
    table["neglogp"] = -np.log(np.maximum(SMALLEST_PROBABILITY, table["probability"]))
    table["l2_lee"] = np.sqrt(table["brier"])
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
        hypotheses=_hypotheses(corpus, tracker, goal, labels.requested, method),
        orders=orders,
    )


def _hypotheses(
    corpus: Corpus, tracker: TrackerOutput, goal: Ids, requested: Bools, method: Ids
) -> tuple[HypothesisColumns, ...]:
    """All hypotheses, in the order of the columns: slots, requested slots, method, both kinds of joint."""
    n_slots, n_requestable = len(corpus.slots), len(corpus.requestable)
    after = n_slots + n_requestable

    def of_beliefs(beliefs: Beliefs, truth: Ids) -> ItemHypotheses:
        correct = beliefs.value == truth[row_of_each(beliefs.offsets)]
        return ItemHypotheses(beliefs.offsets, beliefs.score, correct, beliefs.value == NONE)

    slots = HypothesisColumns(tuple(range(n_slots)), lambda: of_beliefs(tracker.beliefs, goal.ravel()))
    products = HypothesisColumns(
        (after + 2,), lambda: products_of_slots(slots.hypotheses, n_slots, np.arange(corpus.n_turns))
    )

    def of_joint() -> ItemHypotheses:
        joint, given = tracker.joint, tracker.given_joint.given
        if not given.any():
            return products.hypotheses
        correct = joint_correctness(TableTruth(goal), joint.offsets, joint.assignment, joint.none)
        written = ItemHypotheses(joint.offsets, joint.score, correct, joint.none)
        if given.all():
            return written
        made = products_of_slots(slots.hypotheses, n_slots, np.flatnonzero(~given))
        both = concatenate_items([written.take(np.flatnonzero(given)), made])
        return both.take(np.where(given, np.cumsum(given) - 1, given.sum() + np.cumsum(~given) - 1))

    return (
        slots,
        HypothesisColumns(
            tuple(range(n_slots, after)), lambda: _requested_hypotheses(tracker.requested, requested)
        ),
        HypothesisColumns((after,), lambda: of_beliefs(tracker.method, method)),
        HypothesisColumns((after + 1,), of_joint),
        products,
    )


def _requested_hypotheses(probability: Floats, requested: Bools) -> ItemHypotheses:
    asked, not_asked, none = _requested_scores(probability)
    score = np.stack([asked, not_asked, none], axis=-1).reshape(-1, 3)
    order = np.argsort(-score, axis=1, kind="stable")
    truth = requested.ravel()
    correct = np.stack([truth, ~truth, np.zeros_like(truth)], axis=1)
    return ItemHypotheses(
        np.arange(0, score.size + 1, 3),
        np.take_along_axis(score, order, axis=1).ravel(),
        np.take_along_axis(correct, order, axis=1).ravel(),
        (order == 2).ravel(),
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
    # A log of one's own may have labels of goals alone.
    labels = corpus.labels
    has_method = isinstance(labels, GoalLabels) and bool((labels.method != NONE).any())
    if scheme == "a" and n_requestable:
        components |= {
            f"requested.{slot}": (column,) for column, slot in zip(requested, corpus.requestable, strict=True)
        }
        components["requested.all"] = tuple(requested)
    if has_method:
        components["method"] = (method,)
    components["all"] = tuple(range(method + has_method))
    return components


def _distribution_fields(offsets: Ints, score: Floats, correct: Bools) -> Fields:
    """Fields (n,) of ranked distributions with one right value (which a joint list may contain twice)."""
    right = find_correct(offsets, score, correct)
    others = np.where(correct, 0.0, score)
    squares = sum_rows(others**2, offsets)
    p = right.last_score
    return {
        "correct": right.top_correct.astype(np.float64),
        "top_score": right.top_score,
        "probability": p,
        "reciprocal_rank": right.reciprocal_rank,
        "l2": (1 - p) ** 2 + squares,
        "brier": (1 - right.right_total) ** 2 + squares,
        "wrong_squares": squares,
        "l2_binary": (1 - p) ** 2 + sum_rows(others, offsets) ** 2,
    }


def _belief_fields(beliefs: Beliefs, truth: Ids, n_turns: int) -> Fields:
    """Fields (n_turns, n) of n beliefs a turn."""
    correct = beliefs.value == truth[row_of_each(beliefs.offsets)]
    fields = _distribution_fields(beliefs.offsets, beliefs.score, correct)
    fields["top"], fields["truth"] = beliefs.value[beliefs.top], truth
    fields["squares"] = sum_rows(beliefs.score**2, beliefs.offsets)
    return {name: values.reshape(n_turns, -1) for name, values in fields.items()}


def _independent_fields(slots: Fields) -> Fields:
    """The joint as if the slots were independent: products over the slots."""
    p = slots["probability"].prod(axis=1)
    # The same number as l2, without its difference of squares: its root must not show the rounding.
    wrong, right = np.zeros(len(p)), np.ones(len(p))
    for p_slot, wrong_slot in zip(slots["probability"].T, slots["wrong_squares"].T, strict=True):
        wrong = wrong * (p_slot**2 + wrong_slot) + right * wrong_slot
        right = right * p_slot**2
    identity = identify_rows(np.stack([slots["top"], slots["truth"]]))
    fields = {
        "correct": (slots["top"] == slots["truth"]).all(axis=1).astype(np.float64),
        "top_score": slots["top_score"].prod(axis=1),
        "probability": p,
        "reciprocal_rank": slots["reciprocal_rank"].prod(axis=1),
        "l2": (1 - p) ** 2 + slots["squares"].prod(axis=1) - p**2,
        "brier": (1 - p) ** 2 + wrong,
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
    chosen = {
        name: np.where(has_joint, fields[name], values[:, 0])
        for name, values in independent.items()
        if name in fields
    }
    # Identities of both kinds of joint are assigned together: "previous" may be of the other kind.
    independent_top = tracker.beliefs.value[tracker.beliefs.top].reshape(tracker.n_turns, -1)
    top = np.where(has_joint[:, None], joint.assignment[joint.top], independent_top)
    identity = identify_rows(np.stack([top, goal]))
    nothing = has_joint & ~joint.none[joint.top] & (top == NONE).all(axis=1)
    chosen["top"], chosen["truth"] = np.where(nothing, NOTHING_ASSIGNED, identity[0]), identity[1]
    return {name: values[:, None] for name, values in chosen.items()}


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
    asked, not_asked, none = _requested_scores(tracker.requested)
    rank_asked = 1 + (not_asked > asked) + (none > asked)
    rank_not_asked = 1 + (asked >= not_asked) + (none > not_asked)
    p = np.where(requested, asked, not_asked)
    other = np.where(requested, not_asked, asked)
    l2 = (1 - p) ** 2 + other**2 + none**2
    top = np.where(asked >= not_asked, ASKED, NOT_ASKED).astype(np.int32)
    truth = np.where(requested, ASKED, NOT_ASKED).astype(np.int32)
    return {
        "correct": (top == truth).astype(np.float64),
        "top_score": np.maximum(asked, not_asked),
        "probability": p,
        "reciprocal_rank": 1.0 / np.where(requested, rank_asked, rank_not_asked),
        "l2": l2,
        "brier": l2,
        "l2_binary": (1 - p) ** 2 + (other + none) ** 2,
        "top": top,
        "truth": truth,
    }


def _requested_scores(probability: Floats) -> tuple[Floats, Floats, Floats]:
    """The scores of asked, not asked and None, whose rest is rounding alone."""
    total = probability + (1.0 - probability)
    scale = np.where(total > 1.0, total, 1.0)
    none = 1.0 - np.where(total > 1.0, 1.0, total)
    return probability / scale, (1.0 - probability) / scale, none
