"""Oracle for granular change accuracy and the traits of a dialog's mistakes (Aksu and Chen).

Same files as state_sets.py. P = C + W + O and G = C + W + M count predicted and gold changes.
"""

from typing import NamedTuple


class ChangeCounts(NamedTuple):
    """How many changes were correct, wrong, missed, overshot."""

    correct: int
    wrong: int
    missed: int
    overshot: int


def carry_forward(carried, state):
    """Next carried state: a slot once given stays, as "none" when its value is gone.

    An explicit "none" is a value given; an empty value is not given.
    """
    following = dict.fromkeys(carried, "none")
    for domain, slots in state.items():
        for slot, value in slots.items():
            if value not in ("", None):
                following[domain, slot] = value
    return following


def changes_between(before, now):
    """{(domain, slot): new value} of what is new or different."""
    return {key: value for key, value in now.items() if key not in before or before[key] != value}


def counts_per_turn(dialog, count_double_drops_once=False):
    """ChangeCounts of each turn.

    A slot that both sides change to "none" in one turn is correct (gold side) and missed (predicted side);
    with count_double_drops_once it is only correct.
    """
    counts = []
    gold, predicted = {}, {}
    for name in sorted(dialog, key=int):
        gold_before, predicted_before = gold, predicted
        gold = carry_forward(gold_before, dialog[name]["gt"])
        predicted = carry_forward(predicted_before, dialog[name]["pr"])
        correct = wrong = missed = overshot = 0
        already_correct, already_wrong = set(), set()
        for key, value in changes_between(gold_before, gold).items():
            if key not in predicted:
                if value == "none":
                    correct += 1
                else:
                    missed += 1
            elif predicted[key] == value:
                correct += 1
                already_correct.add(key)
            elif value == "none":
                overshot += 1
            else:
                wrong += 1
                already_wrong.add(key)
        for key, value in changes_between(predicted_before, predicted).items():
            if key not in gold:
                if value == "none":
                    correct += 1
                else:
                    overshot += 1
            elif gold[key] == value:
                if key not in already_correct:
                    correct += 1
                elif value == "none" and not count_double_drops_once:
                    missed += 1
            elif value == "none":
                missed += 1
            elif key not in already_wrong:
                wrong += 1
        counts.append(ChangeCounts(correct, wrong, missed, overshot))
    return counts


def add_counts(counts):
    """Sum each of the four."""
    total = ChangeCounts(0, 0, 0, 0)
    for one in counts:
        total = ChangeCounts(*(left + right for left, right in zip(total, one, strict=True)))
    return total


def gca_counts(corpus, count_double_drops_once=False):
    """The four counts summed over the corpus."""
    return add_counts(
        [counts for dialog in corpus.values() for counts in counts_per_turn(dialog, count_double_drops_once)]
    )


def gca_of_counts(counts, weights="value_label"):
    """Weighted harmonic mean of value precision, value recall, label precision, label recall.

    value_label: (P + G) / (a P/VP + a G/VR + (1-a) P/LP + (1-a) G/LR), a = 10/11 (2023 text, eq. 2).
    plain:       2 / (.9/VP + .9/VR + .1/LP + .1/LR) (2024 text, eq. 6 with its footnote 2).
    0 when one of the four is 0; None when there are no changes on either side.
    """
    correct, wrong, missed, overshot = counts
    n_predicted = correct + wrong + overshot
    n_gold = correct + wrong + missed
    if n_predicted + n_gold == 0:
        return None
    if correct == 0:
        return 0.0
    value_precision = correct / n_predicted
    value_recall = correct / n_gold
    label_precision = (correct + wrong) / n_predicted
    label_recall = (correct + wrong) / n_gold
    if weights == "plain":
        return 2 / (0.9 / value_precision + 0.9 / value_recall + 0.1 / label_precision + 0.1 / label_recall)
    if weights != "value_label":
        raise ValueError(f"unknown weights {weights!r}")
    share = 10 / 11
    return (n_predicted + n_gold) / (
        share * n_predicted / value_precision
        + share * n_gold / value_recall
        + (1 - share) * n_predicted / label_precision
        + (1 - share) * n_gold / label_recall
    )


def gca(corpus, weights="value_label", count_double_drops_once=False):
    """GCA of a corpus, its counts summed before the ratio."""
    return gca_of_counts(gca_counts(corpus, count_double_drops_once), weights)


# ---- traits of one dialog's mistakes (m_t = wrong + missed + overshot of turn t, n turns) ----------------


def mistakes_per_turn(dialog, count_double_drops_once=False):
    """m_t of each turn."""
    return [one.wrong + one.missed + one.overshot for one in counts_per_turn(dialog, count_double_drops_once)]


def mistake_turns(dialog):
    """The turn index of every mistake, one entry per mistake."""
    return [t for t, count in enumerate(mistakes_per_turn(dialog)) for _ in range(count)]


def tail_orientation(dialog):
    """2024 text, eq. 7 and 8: (E_t - (n - 1)/2) / n, E_t = mean turn index of the mistakes."""
    turns = mistake_turns(dialog)
    if not turns:
        return None
    n = len(dialog)
    return (sum(turns) / len(turns) - (n - 1) / 2) / n


def tail_orientation_summed(dialog):
    """2023 text, section 6.3: sum over mistakes of (t_i - (n - 1)/2), divided by n."""
    turns = mistake_turns(dialog)
    if not turns:
        return None
    n = len(dialog)
    total = 0.0
    for turn in turns:
        total = total + (turn - (n - 1) / 2)
    return total / n


def non_uniformity(dialog):
    """2024 text, eq. 9 and 10: sum over turns of |m_t - E_m|, divided by E_m = m / n."""
    counts = mistakes_per_turn(dialog)
    if sum(counts) == 0:
        return None
    expected = sum(counts) / len(counts)
    total = 0.0
    for count in counts:
        total = total + abs(count - expected)
    return total / expected


def non_uniformity_squared(dialog):
    """2023 text, section 6.3: sum over turns of (m_t - m / n)^2."""
    counts = mistakes_per_turn(dialog)
    if sum(counts) == 0:
        return None
    expected = sum(counts) / len(counts)
    total = 0.0
    for count in counts:
        total = total + (count - expected) ** 2
    return total
