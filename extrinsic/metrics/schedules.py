"""The schedules of DSTC1, DSTC2 and state sets, and DSTC2's label schemes.

Schedule 1 is every turn. Schedule 2 is the turns that mention a component (DSTC1) or all turns from its
first mention on (DSTC2). Schedule 3 is the last turn (and, in DSTC1, the turn before a restart).
By label scheme b a goal also holds before the caller first mentioned it.
"""

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints
from extrinsic.corpus.acts import NONE, Acts
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.labels import GoalLabels, LabelEvents
from extrinsic.corpus.mentions import UNRESOLVED, mentioned_slots

Schedules = dict[int, Bools]

# In DSTC1's third corpus the system asks for a neighborhood but only ever recognises a stop.
DATASETS_WITHOUT_NEIGHBORHOOD = ("train3", "test3")


def dstc1_schedules(corpus: Corpus) -> Schedules:
    """(n_turns, n_slots + 1) masks, the joint last."""
    assert isinstance(corpus.labels, LabelEvents)
    second = _said_or_heard(corpus)
    if corpus.dataset.startswith(DATASETS_WITHOUT_NEIGHBORHOOD):
        column_of = {slot: column for column, slot in enumerate(corpus.slots)}
        for side in ("from", "to"):
            neighborhood, stop = column_of.get(f"{side}.neighborhood"), column_of.get(f"{side}.desc")
            if neighborhood is not None and stop is not None:
                second[:, stop] |= second[:, neighborhood]
                second[:, neighborhood] = False
    at_end = corpus.segment_end == np.arange(corpus.n_turns) + 1
    third = corpus.labels.labelled(corpus.segment_end, len(corpus.slots)) & at_end[:, None]
    return {
        1: np.ones((corpus.n_turns, len(corpus.slots) + 1), dtype=bool),
        2: _with_any(second),
        3: _with_any(third),
    }


def _said_or_heard(corpus: Corpus) -> Bools:
    """(n_turns, n_slots) whether the system or any hypothesis, live or batch, names the slot.

    As in the challenge's scorer, a name that begins with the slot's counts as naming it.
    """
    system, nbest = corpus.system, corpus.nbest
    written = {int(name) for name in np.unique(np.concatenate([system.slot, nbest.acts.slot]))}
    texts = [corpus.vocabulary.text(name) for name in sorted(written)]
    names = [[text for text in texts if text.startswith(slot)] for slot in corpus.slots]
    spoken = mentioned_slots(names, system, corpus.vocabulary)
    hypothesis, slot = np.nonzero(mentioned_slots(names, nbest.acts, corpus.vocabulary))
    spoken[nbest.turn_of_hypothesis()[hypothesis], slot] = True
    return spoken


def _with_any(mask: Bools) -> Bools:
    """Append a column that is set where any of the others is."""
    return np.concatenate([mask, mask.any(axis=1, keepdims=True)], axis=1)


def dstc2_schedules(corpus: Corpus) -> Schedules:
    """(n_turns, n_columns) masks; columns: slots, requestable slots, method, joint, joint_independent."""
    n_columns = len(corpus.slots) + len(corpus.requestable) + 3
    goal = _since_mention(corpus, _spoken_slots(corpus))
    joint = goal.any(axis=1, keepdims=True)
    method = _since_mention(corpus, _method_heard(corpus)[:, None])
    second = np.concatenate([goal, _requested_since(corpus), method, joint, joint], axis=1)
    last = np.zeros((corpus.n_turns, n_columns), dtype=bool)
    last[corpus.offsets[1:] - 1] = True
    return {1: np.ones((corpus.n_turns, n_columns), dtype=bool), 2: second, 3: last}


def _since_mention(corpus: Corpus, mentioned: Bools) -> Bools:
    """From the first flagged turn of each dialog onwards."""
    return np.asarray(_last_turn(mentioned) >= corpus.offsets[corpus.dialog_of_turn][:, None])


def _live_hypotheses(corpus: Corpus) -> Bools:
    """(h,) DSTC2's scorer looks at the live recogniser only."""
    return ~corpus.nbest.batch


def _spoken_slots(corpus: Corpus) -> Bools:
    """(n_turns, n_slots) whether a user act or a system confirmation has a pair about the slot."""
    nbest, vocabulary = corpus.nbest, corpus.vocabulary
    system = corpus.system
    names = {int(name) for name in np.unique(system.name)}
    confirming = [name for name in names if "conf" in vocabulary.text(name)]
    act_of_pair = system.act_of_pair
    said = np.isin(system.name, confirming)[act_of_pair]
    said_turn, said_slot = system.owner_of_act[act_of_pair[said]], system.slot[said]

    live = _live_hypotheses(corpus)[nbest.acts.owner_of_act[nbest.acts.act_of_pair]]
    heard_turn, heard_slot = nbest.turn_of_pair()[live], nbest.acts.slot[live]
    this = vocabulary.find("this")
    heard_slot = np.where(heard_slot == this, slot_in_question(corpus)[heard_turn], heard_slot)
    return _turns_with(corpus, corpus.slots, said_turn, said_slot) | _turns_with(
        corpus, corpus.slots, heard_turn, heard_slot
    )


def _turns_with(corpus: Corpus, names: Sequence[str], turn: Ints, slot: Ids) -> Bools:
    """(n_turns, n_names) whether a turn is among those that stand beside a slot of this name."""
    flags = np.zeros((corpus.n_turns, len(names)), dtype=bool)
    for column, name in enumerate(names):
        flags[turn[slot == corpus.vocabulary.find(name)], column] = True
    return flags


def slot_in_question(corpus: Corpus) -> Ids:
    """(n_turns,) the referent of `this`: the slot just requested, confirmed or offered a choice of.

    UNRESOLVED where it did none of these.
    """
    system, vocabulary = corpus.system, corpus.vocabulary
    first_pair = system.pair_offsets[:-1]
    has_pair = np.diff(system.pair_offsets) > 0
    requests = (system.name == vocabulary.find("request")) & has_pair
    asks = np.isin(system.name, vocabulary.find_all(("expl-conf", "select"))) & has_pair
    question = np.full(corpus.n_turns, UNRESOLVED, dtype=np.int32)
    acts = np.flatnonzero(requests | asks)
    pair = first_pair[acts]
    # Of several acts the last decides; assignment by index keeps the last.
    question[system.owner_of_act[acts]] = np.where(requests[acts], system.value[pair], system.slot[pair])
    return question


def _method_heard(corpus: Corpus) -> Bools:
    """(n_turns,) whether a hypothesis indicates a method: it requests alternatives, ends, or informs."""
    acts: Acts = corpus.nbest.acts
    telling = np.isin(acts.name, corpus.vocabulary.find_all(("reqalts", "bye", "inform")))
    heard = np.zeros(corpus.n_turns, dtype=bool)
    live = _live_hypotheses(corpus)[acts.owner_of_act]
    heard[corpus.nbest.turn_of_act()[telling & live]] = True
    return heard


def _requested_since(corpus: Corpus) -> Bools:
    """(n_turns, n_requestable) requested in a hypothesis, and not informed or offered by the system since."""
    nbest, system, vocabulary = corpus.nbest, corpus.system, corpus.vocabulary
    act_of_pair = system.act_of_pair
    telling = np.isin(system.name, vocabulary.find_all(("inform", "offer")))[act_of_pair]
    told_turn = system.owner_of_act[act_of_pair[telling]]
    informed = _turns_with(corpus, corpus.requestable, told_turn, system.slot[telling])

    acts = nbest.acts
    act = acts.act_of_pair
    wanted = (acts.name == vocabulary.find("request"))[act] & (acts.slot == vocabulary.find("slot"))
    wanted &= _live_hypotheses(corpus)[acts.owner_of_act[act]]
    asked = _turns_with(corpus, corpus.requestable, nbest.turn_of_pair()[wanted], acts.value[wanted])
    last_asked = _last_turn(asked)
    start = corpus.offsets[corpus.dialog_of_turn][:, None]
    # Within a turn the system speaks first: a request in the same turn counts.
    return np.asarray((last_asked >= start) & (last_asked >= _last_turn(informed)))


def _last_turn(flags: Bools) -> Ints:
    turn = np.where(flags, np.arange(len(flags))[:, None], -1)
    return np.asarray(np.maximum.accumulate(turn, axis=0))


def state_schedules(offsets: Ints) -> Schedules:
    """(n_turns,) masks for state sets: every turn, and the last turn."""
    n_turns = int(offsets[-1])
    last = np.zeros(n_turns, dtype=bool)
    last[offsets[1:] - 1] = True
    return {1: np.ones(n_turns, dtype=bool), 3: last}


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
    about_name[heard.act_of_pair[heard.slot == vocabulary.find("name")]] = True
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
    act_of_pair = system.act_of_pair
    pairs = np.flatnonzero((system.name == corpus.vocabulary.find("canthelp"))[act_of_pair])
    turn = system.owner_of_act[act_of_pair[pairs]]
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
