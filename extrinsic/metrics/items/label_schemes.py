"""DSTC2's label scheme b: a goal also holds before the caller first mentioned it."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ids
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE


def goals(corpus: Corpus, labels: GoalLabels, scheme: str | None) -> Ids:
    """(n_turns, n_slots) the right values under a label scheme."""
    return _goals_backwards(corpus, labels) if scheme == "b" else labels.goal


def methods(corpus: Corpus, labels: GoalLabels, scheme: str | None) -> Ids:
    """(n_turns,) the right method under a label scheme; b derives it from the turn's annotated acts alone."""
    if scheme != "b":
        return labels.method
    heard, vocabulary = labels.heard, corpus.vocabulary
    inform = heard.name == vocabulary.find("inform")
    about_name = np.zeros(len(heard.name), dtype=bool)
    about_name[heard.act_of_pair()[heard.slot == vocabulary.find("name")]] = True
    rules = [
        ("byalternatives", heard.name == vocabulary.find("reqalts")),
        ("finished", heard.name == vocabulary.find("bye")),
        ("byname", inform & about_name),
        ("byconstraints", inform),
    ]
    return np.select(
        [heard.owners_where(acts) for _, acts in rules],
        [np.int32(vocabulary.find(method)) for method, _ in rules],
        default=np.int32(vocabulary.find("none")),
    )


def _goals_backwards(corpus: Corpus, labels: GoalLabels) -> Ids:
    """Each turn's own label if it counts, else the next later one of the dialog that does, else none."""
    counts = (labels.goal != NONE) & ~_ruled_out(corpus, labels.goal)
    n_turns = corpus.n_turns
    turn = np.where(counts, np.arange(n_turns)[:, None], n_turns)
    following = np.minimum.accumulate(turn[::-1], axis=0)[::-1]
    last = corpus.offsets[1:][corpus.dialog_of_turn][:, None]
    padded = np.concatenate([labels.goal, np.full((1, labels.goal.shape[1]), NONE, dtype=np.int32)])
    source = np.where(following < last, following, n_turns)
    return np.asarray(np.take_along_axis(padded, source, axis=0))


def _ruled_out(corpus: Corpus, goal: Ids) -> Bools:
    """(n_turns, n_slots) whether the system said `canthelp` about the label's value by this turn."""
    system: Acts = corpus.system
    act_of_pair = system.act_of_pair()
    pairs = np.flatnonzero((system.name == corpus.vocabulary.find("canthelp"))[act_of_pair])
    turn = system.owner_of_act()[act_of_pair[pairs]]
    ruled_out = np.zeros(goal.shape, dtype=bool)
    n_values = len(corpus.vocabulary)
    for column, slot in enumerate(corpus.slots):
        of_slot = system.slot[pairs] == corpus.vocabulary.find(slot)
        key = corpus.dialog_of_turn[turn[of_slot]] * n_values + system.value[pairs[of_slot]]
        if len(key) == 0:
            continue
        # Turns ascend, so the first of equal keys is the earliest.
        keys, first = np.unique(key, return_index=True)
        label = corpus.dialog_of_turn * n_values + goal[:, column]
        position = np.minimum(np.searchsorted(keys, label), len(keys) - 1)
        ruled_out[:, column] = (keys[position] == label) & (
            turn[of_slot][first[position]] <= np.arange(len(label))
        )
    return ruled_out
