"""Requested slots and search method (DSTC2), by the rules of the challenge's two own trackers."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import turns_in_step
from extrinsic.trackers.protocol import Rule

METHODS = ("none", "byconstraints", "byname", "byalternatives", "finished")
NO_METHOD, BY_CONSTRAINTS, BY_NAME, BY_ALTERNATIVES, FINISHED = range(len(METHODS))


def track_requests(corpus: Corpus, rule: Rule) -> Floats:
    """(n_turns, n_requestable) probability that the caller requested it and was not informed yet.

    r_t(s) = requested_t(s) + [not informed_t(s)] r_{t-1}(s), at most 1; for a repeated request focus adds and
    baseline replaces. The challenge's focus iterates over the slots just requested and then over those ever
    requested, so that a slot which is both gets the update twice.
    """
    requests, informed = _requests(corpus), _informed(corpus)
    requested = np.zeros_like(requests)
    before = np.zeros((corpus.n_dialogs, requests.shape[1]))
    ever = np.zeros(before.shape, dtype=bool)
    for dialogs, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        restarted = dialogs[corpus.restart[turns]]
        before[restarted], ever[restarted] = 0.0, False
        now, kept = requests[turns], ~informed[turns]
        if rule == "focus":
            after = np.minimum(1.0, now + kept * before[dialogs])
            again = np.minimum(1.0, now + kept * after)
            after = np.where((now > 0.0) & ever[dialogs], again, after)
        else:
            after = np.where(now > 0.0, np.minimum(1.0, now), kept * before[dialogs])
        requested[turns] = before[dialogs] = after
        ever[dialogs] |= now > 0.0
    return requested


def track_method(corpus: Corpus, rule: Rule) -> Hypotheses:
    """The search method, a distribution over METHODS at every turn.

    u_t(m): summed score of the hypotheses that indicate method m.
    focus:    b_t(m) = u_t(m) + (1 - sum u_t) b_{t-1}(m); "none" keeps what the first turn left it, and all
              is divided by its sum where that is above 1.
    baseline: b_t = u_t, where a hypothesis without a method counts for that of the last turn's best.
    """
    live = ~corpus.nbest.batch
    turn_of, score = corpus.nbest.turn_of_hypothesis(), corpus.nbest.score * live
    method = _method_of_hypotheses(corpus)
    heard = np.zeros((corpus.n_turns, len(METHODS)))
    np.add.at(heard, (turn_of, method), score)
    first = _method_of_first(corpus, method, live)
    belief = np.zeros_like(heard)
    before = np.zeros((corpus.n_dialogs, len(METHODS)))
    last = np.full(corpus.n_dialogs, NO_METHOD)
    for number, (dialogs, turns) in enumerate(turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs))):
        begins = corpus.restart[turns] | (number == 0)
        before[dialogs[begins]], last[dialogs[begins]] = 0.0, NO_METHOD
        after = heard[turns]
        if rule == "focus":
            after[:, NO_METHOD] = 0.0
            after += np.maximum(0.0, 1.0 - after.sum(axis=1, keepdims=True)) * before[dialogs]
            rest = np.maximum(0.0, 1.0 - after[:, NO_METHOD + 1 :].sum(axis=1))
            after[:, NO_METHOD] = np.where(begins, rest, before[dialogs, NO_METHOD])
        else:
            rows = np.arange(len(turns))
            unsaid = after[:, NO_METHOD].copy()
            after[:, NO_METHOD] = 0.0
            after[rows, last[dialogs]] += unsaid
            last[dialogs] = np.where(first[turns] == NO_METHOD, last[dialogs], first[turns])
        after /= np.maximum(1.0, after.sum(axis=1, keepdims=True))
        belief[turns] = before[dialogs] = after
    return _as_hypotheses(corpus, belief)


def _requests(corpus: Corpus) -> Floats:
    """(n_turns, n_requestable) summed score of the live hypotheses that request it, each counted once."""
    acts, nbest = corpus.nbest.acts, corpus.nbest
    column = _columns(corpus)[acts.value]
    names = corpus.vocabulary.find_all(corpus.domain.user.request)
    of_request = np.isin(acts.name[acts.act_of_pair()], names)
    pairs = np.flatnonzero(of_request & (column >= 0))
    asks = np.zeros((len(nbest.score), len(corpus.requestable)), dtype=bool)
    asks[acts.owner_of_act()[acts.act_of_pair()[pairs]], column[pairs]] = True
    hypothesis, slot = np.nonzero(asks & ~nbest.batch[:, None])
    requests = np.zeros((corpus.n_turns, len(corpus.requestable)))
    np.add.at(requests, (nbest.turn_of_hypothesis()[hypothesis], slot), nbest.score[hypothesis])
    return requests


def _informed(corpus: Corpus) -> Bools:
    """(n_turns, n_requestable) whether the system just informed about it."""
    system = corpus.system
    column = _columns(corpus)[system.slot]
    of_inform = system.name[system.act_of_pair()] == corpus.vocabulary.find("inform")
    pairs = np.flatnonzero(of_inform & (column >= 0))
    informed = np.zeros((corpus.n_turns, len(corpus.requestable)), dtype=bool)
    informed[system.owner_of_act()[system.act_of_pair()[pairs]], column[pairs]] = True
    return informed


def _columns(corpus: Corpus) -> Ints:
    """(len(vocabulary),) which requestable slot a word names, -1 for none."""
    column = np.full(len(corpus.vocabulary), -1, dtype=np.int64)
    for number, slot in enumerate(corpus.requestable):
        if corpus.vocabulary.find(slot) >= 0:
            column[corpus.vocabulary.find(slot)] = number
    return column


def _method_of_hypotheses(corpus: Corpus) -> Ints:
    """(h,) the method that a hypothesis indicates: a bye or a request for alternatives overrides a value.

    Of a bye and a request for alternatives the last one decides, and of values the name.
    """
    acts, find = corpus.nbest.acts, corpus.vocabulary.find
    owner = acts.owner_of_act()
    method = np.full(len(corpus.nbest.score), NO_METHOD, dtype=np.int64)
    of_inform = acts.name[acts.act_of_pair()] == find("inform")
    owner_of_pair = owner[acts.act_of_pair()]
    method[owner_of_pair[of_inform]] = BY_CONSTRAINTS
    method[owner_of_pair[of_inform & (acts.slot == find("name"))]] = BY_NAME
    decisive = np.flatnonzero(np.isin(acts.name, corpus.vocabulary.find_all(["reqalts", "bye"])))
    # Assignment by index keeps the last.
    method[owner[decisive]] = np.where(acts.name[decisive] == find("bye"), FINISHED, BY_ALTERNATIVES)
    return method


def _method_of_first(corpus: Corpus, method: Ints, live: Bools) -> Ints:
    """(n_turns,) the method of the first live hypothesis of each turn."""
    first = np.full(corpus.n_turns, NO_METHOD, dtype=np.int64)
    hypotheses = np.flatnonzero(live)[::-1]
    first[corpus.nbest.turn_of_hypothesis()[hypotheses]] = method[hypotheses]
    return first


def _as_hypotheses(corpus: Corpus, belief: Floats) -> Hypotheses:
    """The scores above 0, without methods that are not in the task's ontology."""
    methods = corpus.ontology.get("method", METHODS)
    identities: Ids = corpus.vocabulary.ids(METHODS)
    turn, method = np.nonzero((belief > 0.0) & np.isin(METHODS, methods))
    lengths = np.bincount(turn, minlength=corpus.n_turns)
    return Hypotheses(offsets_from_lengths(lengths), identities[method], belief[turn, method])
