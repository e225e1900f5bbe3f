"""Oracle for the state-set metrics, on {dialog: {turn: {"gt": {domain: {slot: value}}, "pr": ...}}}.

Scores are fractions in [0, 1]; None means that there is no value. `dialog` below is one dialog's
{turn: {"gt", "pr"}}, `corpus` the whole file. Turns are taken in the order of their numbers.
"""

import math

# The oracle of state sets is two files only for length: these are part of its face.
from .state_changes import gca as gca
from .state_changes import gca_counts as gca_counts
from .state_changes import non_uniformity as non_uniformity
from .state_changes import non_uniformity_squared as non_uniformity_squared
from .state_changes import tail_orientation as tail_orientation
from .state_changes import tail_orientation_summed as tail_orientation_summed

ABSENT = ("none", "", None)


def turns_of(dialog):
    """[(gold, predicted)] in turn order, each {(domain, slot): value} without absent values."""
    return [
        (active_slots(dialog[name]["gt"]), active_slots(dialog[name]["pr"]))
        for name in sorted(dialog, key=int)
    ]


def active_slots(state):
    """{domain: {slot: value}} -> {(domain, slot): value}; "none" and empty values are absent."""
    active = {}
    for domain, slots in state.items():
        for slot, value in slots.items():
            if value not in ABSENT:
                active[domain, slot] = value
    return active


def restrict_to_domain(corpus, domain):
    """The same file with one domain only; every dialog and turn stays."""
    restricted = {}
    for dialog_name, dialog in corpus.items():
        restricted[dialog_name] = {}
        for turn_name, turn in dialog.items():
            restricted[dialog_name][turn_name] = {
                side: {domain: turn[side][domain]} if domain in turn[side] else {} for side in ("gt", "pr")
            }
    return restricted


def mean_of_values(values):
    """Mean of the values that are not None; None when there are none."""
    total, count = 0.0, 0
    for value in values:
        if value is not None:
            total = total + value
            count = count + 1
    return total / count if count else None


def corpus_mean(per_turn, corpus, *arguments):
    """Mean of a per-turn score over all turns of all dialogs that have one."""
    return mean_of_values([value for dialog in corpus.values() for value in per_turn(dialog, *arguments)])


# ---- scores of one turn by its two sets -----------------------------------------------------------------


def count_shared(gold, predicted):
    """|G & P| over triples."""
    return len([key for key in gold if predicted.get(key) == gold[key]])


def jga_per_turn(dialog):
    """1 where G = P."""
    return [1.0 if gold == predicted else 0.0 for gold, predicted in turns_of(dialog)]


def slot_accuracy_per_turn(dialog, n_slots=30):
    """(T - missed - wrong) / T, T = n_slots; a slot with a wrong value counts once."""
    scores = []
    for gold, predicted in turns_of(dialog):
        union = set(gold) | set(predicted)
        n_errors = len(union) - count_shared(gold, predicted)
        scores.append((n_slots - n_errors) / n_slots)
    return scores


def relative_slot_accuracy_per_turn(dialog):
    """(T* - missed - wrong) / T*, T* = slots in G or P; 0 when T* = 0."""
    scores = []
    for gold, predicted in turns_of(dialog):
        union = set(gold) | set(predicted)
        scores.append(count_shared(gold, predicted) / len(union) if union else 0.0)
    return scores


def average_goal_accuracy_per_turn(dialog):
    """|G & P| / |G|, None where G is empty."""
    return [
        count_shared(gold, predicted) / len(gold) if gold else None for gold, predicted in turns_of(dialog)
    ]


def improved_average_goal_accuracy_per_turn(dialog):
    """|G & P| / |G | P| over triples (a wrong value makes two), None where both are empty."""
    scores = []
    for gold, predicted in turns_of(dialog):
        union = set(gold.items()) | set(predicted.items())
        scores.append(count_shared(gold, predicted) / len(union) if union else None)
    return scores


def jga(corpus):
    return corpus_mean(jga_per_turn, corpus)


def slot_accuracy(corpus, n_slots=30):
    return corpus_mean(slot_accuracy_per_turn, corpus, n_slots)


def relative_slot_accuracy(corpus):
    return corpus_mean(relative_slot_accuracy_per_turn, corpus)


def average_goal_accuracy(corpus):
    return corpus_mean(average_goal_accuracy_per_turn, corpus)


def improved_average_goal_accuracy(corpus):
    return corpus_mean(improved_average_goal_accuracy_per_turn, corpus)


def improved_average_goal_accuracy_published(corpus):
    """The sum over turns with a nonempty union, divided by the number of turns with a nonempty G."""
    total, count = 0.0, 0
    for dialog in corpus.values():
        for value in improved_average_goal_accuracy_per_turn(dialog):
            total = total + (value or 0.0)
        count += len([gold for gold, _ in turns_of(dialog) if gold])
    return total / count if count else None


def slot_f1(corpus):
    """Micro F1 over the triples of all turns: 2 TP / (2 TP + FP + FN); None without triples."""
    shared = n_gold = n_predicted = 0
    for dialog in corpus.values():
        for gold, predicted in turns_of(dialog):
            shared += count_shared(gold, predicted)
            n_gold += len(gold)
            n_predicted += len(predicted)
    return 2 * shared / (n_gold + n_predicted) if n_gold + n_predicted else None


# ---- scores of a turn by what it changed ----------------------------------------------------------------


def is_locally_right(before, now):
    """G_t minus G_{t-1} inside P_t, and P_t minus P_{t-1} inside G_t."""
    gold_before, predicted_before = (set(state.items()) for state in before)
    gold, predicted = (set(state.items()) for state in now)
    return gold - gold_before <= predicted and predicted - predicted_before <= gold


def turn_kinds(dialog, literal=False):
    """Per turn 'exact', 'type 1' (its own error) or 'type 2' (an earlier turn's error).

    The turn after an exact match is type 1 whenever it is not exact itself; literal=True leaves that rule
    out, as Algorithm 1 of Dey et al. does.
    """
    kinds = []
    turns = turns_of(dialog)
    for t, (gold, predicted) in enumerate(turns):
        if gold == predicted:
            kinds.append("exact")
        elif t == 0 or (kinds[t - 1] == "exact" and not literal):
            kinds.append("type 1")
        else:
            kinds.append("type 2" if is_locally_right(turns[t - 1], turns[t]) else "type 1")
    return kinds


def turn_match_per_turn(dialog, literal=False):
    """FGA's local test without decay."""
    return [0.0 if kind == "type 1" else 1.0 for kind in turn_kinds(dialog, literal)]


def turn_match(corpus, literal=False):
    return corpus_mean(turn_match_per_turn, corpus, literal)


def fga_per_turn(dialog, decay, literal=False):
    """exact 1; type 1 0; type 2 1 - exp(-decay (t - t_err)), t_err = the last type-1 turn.

    Only the literal reading can meet a type 2 before any type 1: t_err is then -1.
    """
    scores = []
    error_turn = -1
    for t, kind in enumerate(turn_kinds(dialog, literal)):
        if kind == "exact":
            scores.append(1.0)
        elif kind == "type 1":
            error_turn = t
            scores.append(0.0)
        else:
            scores.append(1.0 - math.exp(-decay * (t - error_turn)))
    return scores


def fga(corpus, decay, literal=False):
    return corpus_mean(fga_per_turn, corpus, decay, literal)


def first_joint_error(dialog):
    """Index of the first turn with G != P; None when there is none."""
    for t, value in enumerate(jga_per_turn(dialog)):
        if value == 0.0:
            return t
    return None
