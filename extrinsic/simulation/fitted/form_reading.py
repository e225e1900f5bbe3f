"""The forms of the turns of logs: the acts of a turn, and the role that each has."""

from __future__ import annotations

from collections import Counter

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.mentions import SlotNames
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.fitted.act_forms import (
    ASKS,
    CONFIRMS,
    IMPLIES,
    OFFERS,
    PLAIN,
    TELLS,
    ActForms,
    Form,
)
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.fitted.system_turns import EXPLICIT, IMPLICIT, plain_offers
from extrinsic.simulation.utterance import NOTHING


def read_forms(logs: Logs) -> ActForms:
    """The forms of the turns of logs."""
    domain, values = logs.corpora[-1].domain, logs.values
    words, requestable = values.vocabulary, logs.corpora[-1].requestable
    acts = Acts.joined([log.system for log in logs.corpora])
    roles = np.concatenate([roles_of_acts(log) for log in logs.corpora])
    turns = logs.turns.system
    counts: list[Counter[tuple[tuple[int, ...], tuple[int, ...], bool]]] = [
        Counter() for _ in domain.predicate_names
    ]
    plain: dict[tuple[object, ...], tuple[int, ...]] = {}
    for turn, predicate in enumerate(turns.predicate.tolist()):
        if predicate < 0:
            continue
        names: list[int] = []
        kinds: list[int] = []
        fixed: list[int] = []
        for act in range(acts.offsets[turn], acts.offsets[turn + 1]):
            role = int(roles[act])
            if role != PLAIN and role in kinds:
                continue
            names.append(int(acts.name[act]))
            kinds.append(role)
            if role == PLAIN:
                fixed.append(act)
        form = (tuple(names), tuple(kinds), bool(turns.refuses[turn]))
        counts[predicate][form] += 1
        plain.setdefault((predicate, *form), tuple(fixed))
    by_predicate = tuple(
        tuple(
            Form(*form[:2], plain[predicate, *form], form[2], number / counter.total())
            for form, number in sorted(counter.items(), key=lambda entry: -entry[1])
        )
        for predicate, counter in enumerate(counts)
    )
    ask_slot, ask_value = _question_pairs(logs)
    written = [f"{domain.offered_as}{words.text(int(slot))}" for slot in values.pair_slot]
    return ActForms(
        by_predicate=by_predicate,
        acts=acts,
        values=values,
        requestable=words.ids(requestable),
        ask_slot=ask_slot,
        ask_value=ask_value,
        tell_value=_fact_values(logs),
        offered_slot=words.ids(written),
        one_act=_all_in_one_act(logs),
        inform=words.find("inform"),
    )


def roles_of_acts(log: Corpus) -> Ints:
    """(n_acts,) the role of each act of the system."""
    domain, words, acts = log.domain, log.vocabulary, log.system
    names = SlotNames(domain, log.slots, words)
    plain = plain_offers(domain, log)
    act = acts.act_of_pair()
    about = np.zeros(len(acts.name), dtype=bool)
    about[act[names.column[plain.slot] >= 0]] = True
    presents = np.isin(log.predicate, [domain.predicate_names.index(name) for name in domain.offer])
    facts = np.zeros(len(acts.name), dtype=bool)
    facts[act[np.isin(acts.slot, words.find_all(log.requestable))]] = True
    asks = np.zeros(len(acts.name), dtype=bool)
    is_request = acts.name == words.find("request")
    has_question: Bools = np.asarray(log.evidence.requested.any(axis=1))
    asks[is_request & has_question[acts.owner_of_act()]] = True
    in_offer = presents[acts.owner_of_act()]
    # An offer's own act may name the place that was found: what it is for stands in the others.
    confirming = np.isin(acts.name, words.find_all([EXPLICIT, IMPLICIT]))
    grouped = np.zeros(len(acts.name), dtype=bool)
    concept_slots = [column for columns in domain.group_columns(log.slots) for column in columns]
    grouped[act[np.isin(names.column[plain.slot], concept_slots)]] = True
    conditions = [
        about & (acts.name == words.find(EXPLICIT)),
        about & (acts.name == words.find(IMPLICIT)),
        asks,
        in_offer & grouped & ~confirming & ~is_request,
        ~in_offer & facts & (acts.name == words.find("inform")),
    ]
    return np.select(conditions, [CONFIRMS, IMPLIES, ASKS, OFFERS, TELLS], PLAIN)


def _question_pairs(logs: Logs) -> tuple[Ids, Ids]:
    """(n_concepts,) the slot and the value of the pair with which each concept is asked for, as is usual."""
    counts: list[Counter[tuple[int, int]]] = [Counter() for _ in range(logs.values.n_concepts)]
    turn_before = 0
    for log in logs.corpora:
        acts, words = log.system, log.vocabulary
        act = acts.act_of_pair()
        turn_of_pair = acts.owner_of_act()[act] + turn_before
        for pair in np.flatnonzero(acts.name[act] == words.find("request")).tolist():
            turn = int(turn_of_pair[pair])
            concept = int(logs.turns.asked[turn])
            if concept != NOTHING:
                counts[concept][int(acts.slot[pair]), int(acts.value[pair])] += 1
        turn_before += log.n_turns
    usual = [counter.most_common(1)[0][0] if counter else (0, 0) for counter in counts]
    return np.array([slot for slot, _ in usual], np.int32), np.array([value for _, value in usual], np.int32)


def _fact_values(logs: Logs) -> Ids:
    """(n_requestable,) some value that the system told of each fact, NONE if it never does."""
    values = np.full(len(logs.corpora[-1].requestable), NONE, dtype=np.int32)
    for log in logs.corpora:
        acts = log.system
        informs = acts.name[acts.act_of_pair()] == log.vocabulary.find("inform")
        for column, slot in enumerate(log.requestable):
            told = np.flatnonzero(informs & (acts.slot == log.vocabulary.find(slot)))
            if len(told):
                values[column] = acts.value[told[0]]
    return values


def _all_in_one_act(logs: Logs) -> frozenset[int]:
    """The names of acts that name values of two concepts in some offer."""
    found: set[int] = set()
    for log in logs.corpora:
        plain = plain_offers(log.domain, log)
        column = SlotNames(log.domain, log.slots, log.vocabulary).column[plain.slot]
        act = plain.act_of_pair()
        kept = (roles_of_acts(log)[act] == OFFERS) & (column >= 0)
        pairs = np.unique(np.stack([act[kept], logs.values.concept_of_slot[column[kept]]]), axis=1)
        acts, counts = np.unique(pairs[0], return_counts=True)
        found |= set(plain.name[acts[counts > 1]].tolist())
    return frozenset(found)
