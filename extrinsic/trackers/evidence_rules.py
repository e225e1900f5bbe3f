"""Trackers by rules of evidence: what each turn says for and against a value changes the old belief."""

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.tracking import Heard
from extrinsic.trackers.protocol import BuiltInTracker, capped, total


class HeriotWatt(BuiltInTracker):
    """b_t(v) = (1 - (1 - b_{t-1}(v)) (1 - p_t(v))) (1 - n_t(v)), normalised when above 1 in sum.

    p_t(v): score that informs or affirms v.   n_t(v): that denies it, or negates its confirmation.
    With `contradicted`, informing another value counts against v as well, so that a change of goal is
    followed; without it only an explicit no does, as in the original mode.
    Wang and Lemon 2013, A Simple and Generic Belief Tracking Mechanism for the Dialog State Tracking
    Challenge.
    """

    def __init__(self, contradicted: bool = True) -> None:
        self.contradicted = contradicted

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before, positive = memory[0], capped(heard.informed)
        against = 1.0 - np.minimum(heard.denied, 1.0)
        if self.contradicted:
            before = before * (1.0 - np.minimum(total(positive) - positive, 1.0))
        after = (1.0 - (1.0 - before) * (1.0 - positive)) * against
        return capped(after)[None]


class Yarbus(BuiltInTracker):
    """Each hypothesis maps the old belief to a new one; the new beliefs are averaged by the scores.

    One that informs (or affirms) v moves all belief to v; one that only rejects v moves v's belief to None;
    any other leaves the belief unchanged: b_t(v) = u_t(v) + (1 - sum u_t - r_t(v)) b_{t-1}(v).
    With `consent` c, a value confirmed implicitly and not contested gets a share c of that last part.
    Fix and Frezza-Buet 2015, YARBUS: Yet Another Rule Based belief Update System.
    """

    def __init__(self, consent: float = 0.0) -> None:
        self.consent = consent

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = capped(heard.informed), memory[0]
        if self.consent:
            confirmed = capped(heard.implicit.astype(np.float64))
            before = before + self.consent * (confirmed - total(confirmed) * before)
        kept = np.maximum(0.0, 1.0 - total(informed) - np.maximum(heard.rejected, 0.0))
        return np.asarray((informed + kept * before)[None])


N_VALUES = 50.0
"""The assumed number of values of a slot; those not mentioned yet share None's belief."""


class Bayes(BuiltInTracker):
    """b_t(v) ~ L_t(v) b'(v), with b' = (1 - c) b_{t-1} + c / N_VALUES.

    c: `change`, the probability that the goal changes between two turns that mention the slot.
    L_t(v) = ((1 - k) u_t(v) + (k sum u_t + 1 - sum u_t) / N_VALUES) (1 - (1 - k) d_t(v)): what was said is v
    with probability 1 - `confusion`, else anything; what was not heard may have been anything, too. For
    None u_t = 0. A value mentioned for the first time has an equal share of None's belief. Where all
    likelihoods are 0 (a contradiction without confusion) the turn is believed.
    Memory: the belief, and whether the value was mentioned before.
    """

    kind = "bayes"
    planes = 2

    def __init__(self, confusion: float, change: float = 0.05) -> None:
        self.confusion, self.change = confusion, change

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before, seen = memory
        informed, sure = capped(heard.informed), 1.0 - self.confusion
        is_candidate = heard.is_candidate.astype(np.float64)
        unseen = np.maximum(0.0, 1.0 - total(before)) / np.maximum(1.0, N_VALUES - total(seen))
        spoken = np.where(seen > 0.0, before, unseen) * is_candidate
        prior = (1.0 - self.change) * spoken + self.change / N_VALUES * is_candidate
        of_none = np.maximum(0.0, 1.0 - total(prior))
        anything = np.maximum(0.0, 1.0 - sure * total(informed)) / N_VALUES
        possible = prior * (sure * informed + anything) * (1.0 - sure * np.minimum(heard.denied, 1.0))
        whole = total(possible) + of_none * anything
        after = np.where(whole > 0.0, possible / np.where(whole > 0.0, whole, 1.0), informed)
        touched = (informed > 0.0).any(axis=-1, keepdims=True) | (heard.denied > 0.0).any(-1, keepdims=True)
        return np.stack([np.where(touched, after, spoken), is_candidate])


class DempsterShafer(BuiltInTracker):
    """b_t(v) ~ b_{t-1}(v) u_t(v) + b_{t-1}(v) n_u + n_b u_t(v), and None ~ n_b n_u, together 1.

    n_b, n_u: what b_{t-1} and u_t leave to None. A denied value first loses its belief to None. Where old
    and new belief contradict each other completely, the new one is kept.
    """

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        before = memory[0] * (1.0 - np.clip(heard.denied, 0.0, 1.0))
        open_now, open_before = (np.maximum(0.0, 1.0 - total(part)) for part in (informed, before))
        agreed = before * informed + before * open_now + open_before * informed
        whole = total(agreed) + open_before * open_now
        possible = whole > 0.0
        return np.asarray(np.where(possible, agreed / np.where(possible, whole, 1.0), informed)[None])


class NoisyOr(BuiltInTracker):
    """b_t(v) = 1 - prod_i (1 - u_i(v)), divided by the sum over values where that is above 1.

    Memory: the score before the division, so that it is never divided twice.
    """

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(1.0 - (1.0 - memory) * (1.0 - capped(heard.informed)))


HWU = HeriotWatt()
HWU_ORIGINAL = HeriotWatt(contradicted=False)
YARBUS = Yarbus()
YARBUS_IMPLICIT = Yarbus(consent=0.5)
BAYES_NONE = Bayes(confusion=0.0)
BAYES_LOW = Bayes(confusion=0.1)
BAYES_HIGH = Bayes(confusion=0.4)
DEMPSTER_SHAFER = DempsterShafer()
NOISY_OR = NoisyOr()
