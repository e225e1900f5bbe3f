"""Requested slots and search method (DSTC2), by the rules of the challenge's two own trackers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, offsets_from_lengths, turns_in_step
from extrinsic.corpus.acts import Acts, NBest, Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.hypotheses import Hypotheses

Rule = Literal["focus", "baseline"]
"""Which of the second challenge's two own trackers is followed for joint, method and requests."""

METHODS = ("none", "byconstraints", "byname", "byalternatives", "finished")
NO_METHOD, BY_CONSTRAINTS, BY_NAME, BY_ALTERNATIVES, FINISHED = range(len(METHODS))


@dataclass(frozen=True, eq=False)
class RequestEvidence(Columns):
    """What n turns say of requests and of the method.

    requested (n, n_requestable): summed score of the live hypotheses that request it, each counted once.
    informed (n, n_requestable): the system just informed about it.
    method (n, n_methods): summed score of the hypotheses that indicate it.
    first (n,): the method of the first live hypothesis.   restart (n,): the system began anew.
    """

    requested: Floats
    informed: Bools
    method: Floats
    first: Ints
    restart: Bools


@dataclass(frozen=True, eq=False)
class RequestBelief(Columns):
    """After each of n turns: requested (n, n_requestable), the probability that the caller asked for it and
    was not informed yet; method (n, n_methods), a distribution over METHODS."""

    requested: Floats
    method: Floats


class RequestTracking:
    """The requests and the method of n dialogs, turn by turn.

    Requests: r_t(s) = requested_t(s) + [not informed_t(s)] r_{t-1}(s), at most 1; for a repeated request
    focus adds and baseline replaces. The challenge's focus iterates over the slots just requested and then
    over those ever requested, so that a slot which is both gets the update twice.

    Method, with u_t(m) the summed score of the hypotheses that indicate m:
    focus:    b_t(m) = u_t(m) + (1 - sum u_t) b_{t-1}(m); "none" keeps what the first turn left it, and all
              is divided by its sum where that is above 1.
    baseline: b_t = u_t, where a hypothesis without a method counts for that of the last turn's best.
    """

    def __init__(self, rule: Rule, n_dialogs: int, n_requestable: int) -> None:
        self.rule = rule
        self._requested: Floats = np.zeros((n_dialogs, n_requestable))
        self._ever: Bools = np.zeros((n_dialogs, n_requestable), dtype=bool)
        self._method: Floats = np.zeros((n_dialogs, len(METHODS)))
        self._last: Ints = np.full(n_dialogs, NO_METHOD)
        self._began: Bools = np.zeros(n_dialogs, dtype=bool)

    def step(self, dialogs: Ints, evidence: RequestEvidence) -> RequestBelief:
        """One more turn of each of the chosen dialogs."""
        begins = evidence.restart | ~self._began[dialogs]
        anew = dialogs[begins]
        self._requested[anew], self._ever[anew] = 0.0, False
        self._method[anew], self._last[anew] = 0.0, NO_METHOD
        self._began[dialogs] = True
        return RequestBelief(self._requests(dialogs, evidence), self._methods(dialogs, evidence, begins))

    def _requests(self, dialogs: Ints, evidence: RequestEvidence) -> Floats:
        before, now, kept = self._requested[dialogs], evidence.requested, ~evidence.informed
        if self.rule == "focus":
            after = np.minimum(1.0, now + kept * before)
            again = np.minimum(1.0, now + kept * after)
            after = np.where((now > 0.0) & self._ever[dialogs], again, after)
        else:
            after = np.where(now > 0.0, np.minimum(1.0, now), kept * before)
        self._requested[dialogs] = after
        self._ever[dialogs] |= now > 0.0
        return after

    def _methods(self, dialogs: Ints, evidence: RequestEvidence, begins: Bools) -> Floats:
        before, after = self._method[dialogs], evidence.method.copy()
        if self.rule == "focus":
            after[:, NO_METHOD] = 0.0
            after += np.maximum(0.0, 1.0 - after.sum(axis=1, keepdims=True)) * before
            rest = np.maximum(0.0, 1.0 - after[:, NO_METHOD + 1 :].sum(axis=1))
            after[:, NO_METHOD] = np.where(begins, rest, before[:, NO_METHOD])
        else:
            unsaid, last = after[:, NO_METHOD].copy(), self._last[dialogs]
            after[:, NO_METHOD] = 0.0
            after[np.arange(len(dialogs)), last] += unsaid
            self._last[dialogs] = np.where(evidence.first == NO_METHOD, last, evidence.first)
        after /= np.maximum(1.0, after.sum(axis=1, keepdims=True))
        self._method[dialogs] = after
        return after


def track_requests(corpus: Corpus, rule: Rule) -> RequestBelief:
    """The requests and the method after every turn of a corpus."""
    evidence = gather_requests(
        corpus.domain, corpus.requestable, corpus.vocabulary, corpus.system, corpus.nbest, corpus.restart
    )
    tracking = RequestTracking(rule, corpus.n_dialogs, len(corpus.requestable))
    requested, method = np.zeros_like(evidence.requested), np.zeros_like(evidence.method)
    for dialogs, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        belief = tracking.step(dialogs, evidence.take(turns))
        requested[turns], method[turns] = belief.requested, belief.method
    return RequestBelief(requested, method)


def method_hypotheses(corpus: Corpus, method: Floats) -> Hypotheses:
    """The scores above 0, without methods that are not in the task's ontology."""
    methods = corpus.ontology.get("method", METHODS)
    identities: Ids = corpus.vocabulary.ids(METHODS)
    turn, column = np.nonzero((method > 0.0) & np.isin(METHODS, methods))
    lengths = np.bincount(turn, minlength=corpus.n_turns)
    return Hypotheses(offsets_from_lengths(lengths), identities[column], method[turn, column])


def gather_requests(
    domain: Domain,
    requestable: Sequence[str],
    vocabulary: Vocabulary,
    system: Acts,
    nbest: NBest,
    restart: Bools,
) -> RequestEvidence:
    """What these turns say of requests and of the method (live hypotheses only)."""
    n_turns, turn_of, live = len(restart), nbest.turn_of_hypothesis(), ~nbest.batch
    column = _columns(requestable, vocabulary)
    hypothesis, slot = np.nonzero(requests_of(domain, requestable, vocabulary, nbest.acts) & live[:, None])
    requested = np.zeros((n_turns, len(requestable)))
    np.add.at(requested, (turn_of[hypothesis], slot), nbest.score[hypothesis])

    told = system.name[system.act_of_pair] == vocabulary.find("inform")
    pairs = np.flatnonzero(told & (column[system.slot] >= 0))
    informed = np.zeros((n_turns, len(requestable)), dtype=bool)
    informed[system.owner_of_act[system.act_of_pair[pairs]], column[system.slot[pairs]]] = True

    indicated = methods_of(domain, vocabulary, nbest.acts)
    method = np.zeros((n_turns, len(METHODS)))
    np.add.at(method, (turn_of, indicated), nbest.score * live)
    first = np.full(n_turns, NO_METHOD, dtype=np.int64)
    backwards = np.flatnonzero(live)[::-1]
    first[turn_of[backwards]] = indicated[backwards]
    return RequestEvidence(requested, informed, method, first, restart)


def requests_of(domain: Domain, requestable: Sequence[str], vocabulary: Vocabulary, acts: Acts) -> Bools:
    """(n_owners, n_requestable) whether a caller's acts request it."""
    column = _columns(requestable, vocabulary)[acts.value]
    of_request = np.isin(acts.name[acts.act_of_pair], vocabulary.find_all(domain.user.request))
    pairs = np.flatnonzero(of_request & (column >= 0))
    asks = np.zeros((len(acts.offsets) - 1, len(requestable)), dtype=bool)
    asks[acts.owner_of_act[acts.act_of_pair[pairs]], column[pairs]] = True
    return asks


def _columns(requestable: Sequence[str], vocabulary: Vocabulary) -> Ints:
    """(len(vocabulary),) which requestable slot a word names, -1 for none."""
    column = np.full(len(vocabulary), -1, dtype=np.int64)
    for number, slot in enumerate(requestable):
        if vocabulary.find(slot) >= 0:
            column[vocabulary.find(slot)] = number
    return column


def methods_of(domain: Domain, vocabulary: Vocabulary, acts: Acts) -> Ints:
    """(n_owners,) the method that a caller's acts indicate: a bye or a request for alternatives overrides a
    value. Of a bye and a request for alternatives the last one decides, and of values the name."""
    owner, user = acts.owner_of_act, domain.user
    method = np.full(len(acts.offsets) - 1, NO_METHOD, dtype=np.int64)
    of_inform = np.isin(acts.name[acts.act_of_pair], vocabulary.find_all(user.inform))
    owner_of_pair = owner[acts.act_of_pair]
    method[owner_of_pair[of_inform]] = BY_CONSTRAINTS
    method[owner_of_pair[of_inform & (acts.slot == vocabulary.find("name"))]] = BY_NAME
    is_bye = np.isin(acts.name, vocabulary.find_all(user.finish))
    decisive = np.flatnonzero(is_bye | np.isin(acts.name, vocabulary.find_all(user.alternatives)))
    # Assignment by index keeps the last.
    method[owner[decisive]] = np.where(is_bye[decisive], FINISHED, BY_ALTERNATIVES)
    return method
