"""Trackers by rules: what a turn says, and what is kept of earlier turns."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.requests import Rule
from extrinsic.printed_forms import option
from extrinsic.trackers.combinations import Recalibrated
from extrinsic.trackers.protocol import BuiltInTracker, best_only, capped, share_out, steps, total
from extrinsic.trackers.tracking import Heard


class Baseline(BuiltInTracker):
    """One value per slot: the one informed with the highest score in any turn; a later equal replaces it."""

    rule: Rule = "baseline"

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before = memory[0]
        new = best_only(np.minimum(heard.informed, 1.0))
        score = new.max(axis=-1, keepdims=True)
        replaces = (score > 0.0) & (score >= before.max(axis=-1, keepdims=True))
        return np.asarray(np.where(replaces, new, before)[None])


@dataclass(eq=False)
class Focus(BuiltInTracker):
    """b_t(v) = u_t(v) + (1 - sum u_t) b_{t-1}(v), with u_t(v) what was informed at this turn.

    The challenge's own program iterates over the slots just heard and then over those already in the belief,
    so that a slot which is both gets the update twice; its published outputs confirm this. `twice` does the
    same, `twice=False` is the formula.
    """

    twice: bool = True

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = heard.informed, memory[0]
        rest = np.maximum(0.0, 1.0 - informed.sum(axis=-1, keepdims=True))
        after = informed + rest * before
        if self.twice:
            both = (before > 0).any(axis=-1, keepdims=True) & (informed > 0).any(axis=-1, keepdims=True)
            after = np.where(both, informed + rest * after, after)
        return np.asarray(after[None])


class TopHypothesis(BuiltInTracker):
    """b_t(v) = t_t(v) + (1 - sum t_t) b_{t-1}(v); t_t(v): the best hypothesis's score if it informs v."""

    def update(self, memory: Floats, heard: Heard) -> Floats:
        top = capped(heard.top)
        return np.asarray(top + (1.0 - total(top)) * memory)


NONE_DRAWN = steps(0.1, 2.0, 0.1)


@dataclass(eq=False)
class RankOnly(BuiltInTracker):
    """b_t(v) = p_t(v) + (1 - sum p_t) b_{t-1}(v), with p_t(v) = r_t(v) / (`none` + sum r_t).

    r_t(v): 1 if the best hypothesis informs v, 1/2 if the second is the first that does, ...
    """

    none: Annotated[float, option("the weight of None", NONE_DRAWN, gt=0.0, le=10.0)] = 0.5

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = heard.rank / (self.none + total(heard.rank))
        return np.asarray(informed + (1.0 - total(informed)) * memory)


@dataclass(eq=False)
class Accumulate(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, with s_t(v) = kept s_{t-1}(v) + u_t(v) at turns that mention the slot.

    h_t = 1 - (1 - sum u_t) (1 - h_{t-1}): probability that the slot was ever mentioned; the rest is None's.
    Memory: s, and h (the same for all candidates of a slot).
    """

    planes = 2

    kept: Annotated[float, option("of the sum, kept at a turn with the slot", steps(0.1, 1.0, 0.1))] = 1.0

    def update(self, memory: Floats, heard: Heard) -> Floats:
        summed, ever = memory
        informed = capped(heard.informed)
        spoken = total(informed)
        after = np.where(spoken > 0.0, self.kept * summed + informed, summed)
        # A position that was just added begins with 0, and belongs to the same slot.
        ever = 1.0 - (1.0 - spoken) * (1.0 - ever.max(axis=-1, keepdims=True))
        return np.stack([after, np.broadcast_to(ever, after.shape)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return share_out(memory[0], memory[1])


@dataclass(eq=False)
class Window(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, where s_t sums u_i over the last `size` turns i that mention the slot.

    h_t = 1 - prod_i (1 - sum u_i) over the same turns: probability that the slot was mentioned at all.
    Memory: u of those turns, latest first.
    """

    size: Annotated[int, option("how many turns with the slot", range(1, 7), ge=1, le=20)] = 3

    def __post_init__(self) -> None:
        self.planes = self.size

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        moved = np.concatenate([informed[None], memory[:-1]])
        return np.where(total(informed) > 0.0, moved, memory)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return share_out(memory.sum(axis=0), 1.0 - (1.0 - total(memory)).prod(axis=0))


@dataclass(eq=False)
class Vote(BuiltInTracker):
    """b_t(v) = n_t(v) / (`none` + sum n_t); n_t(v): turns whose best hypothesis informs v.

    `none` is less than one, so that a single vote beats None.
    """

    none: Annotated[float, option("votes for None", NONE_DRAWN, gt=0.0, le=10.0)] = 0.5

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return memory + (heard.top > 0.0)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] / (self.none + total(memory[0])))


@dataclass(eq=False)
class ConfirmAware(BuiltInTracker):
    """w_t(v) = 1 - (1 - max(w_{t-1}(v), min(`unconfirmed`, i_t(v)))) (1 - a_t(v)), times 1 - d_t(v).

    i_t(v): score that informs v directly.   a_t(v): that affirms it.   d_t(v): that denies or negates it.
    The belief is w_t, divided by its sum where that is above 1.
    """

    unconfirmed: Annotated[float, option("most of an unconfirmed value", steps(0.2, 1.0, 0.05))] = 0.7

    def update(self, memory: Floats, heard: Heard) -> Floats:
        affirmed = np.clip(heard.affirmed, 0.0, 1.0)
        best = np.maximum(memory, np.clip(heard.informed - affirmed, 0.0, self.unconfirmed))
        confirmed = 1.0 - (1.0 - best) * (1.0 - affirmed)
        return np.asarray(confirmed * (1.0 - np.clip(heard.denied, 0.0, 1.0)))


@dataclass(eq=False)
class ConfidentOnly(BuiltInTracker):
    """One value per slot: the last that was informed with more than `accepts`, with that score.

    Denying it with more than that removes it.
    """

    accepts: Annotated[float, option("a score above this is accepted", steps(0.1, 0.9, 0.05))] = 0.5

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        accepted = np.where(informed > self.accepts, informed, 0.0)
        kept = np.where(heard.denied > self.accepts, 0.0, memory[0])
        return np.asarray(np.where((accepted > 0.0).any(axis=-1, keepdims=True), accepted, kept)[None])


class LastMention(BuiltInTracker):
    """One value per slot: the best of the last turn that informs any, with its score in that turn."""

    def update(self, memory: Floats, heard: Heard) -> Floats:
        new = best_only(capped(heard.informed))
        return np.asarray(np.where((new > 0.0).any(axis=-1, keepdims=True), new, memory))


class LastTurn(BuiltInTracker):
    """b_t(v) = u_t(v): what this turn informs."""

    degenerate = True

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return capped(heard.informed)[None]


@dataclass(eq=False)
class HeriotWatt(BuiltInTracker):
    """b_t(v) = (1 - (1 - b_{t-1}(v)) (1 - p_t(v))) (1 - n_t(v)), normalised when above 1 in sum.

    p_t(v): score that informs or affirms v.   n_t(v): that denies it, or negates its confirmation.
    With `contradicted`, informing another value counts against v as well, so that a change of goal is
    followed; without it only an explicit no does, as in the original mode.
    Wang and Lemon 2013, A Simple and Generic Belief Tracking Mechanism for the Dialog State Tracking
    Challenge.
    """

    contradicted: bool = True

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before, positive = memory[0], capped(heard.informed)
        against = 1.0 - np.minimum(heard.denied, 1.0)
        if self.contradicted:
            before = before * (1.0 - np.minimum(total(positive) - positive, 1.0))
        after = (1.0 - (1.0 - before) * (1.0 - positive)) * against
        return capped(after)[None]


@dataclass(eq=False)
class Yarbus(BuiltInTracker):
    """Each hypothesis maps the old belief to a new one; the new beliefs are averaged by the scores.

    One that informs (or affirms) v moves all belief to v; one that only rejects v moves v's belief to None;
    any other leaves the belief unchanged: b_t(v) = u_t(v) + (1 - sum u_t - r_t(v)) b_{t-1}(v).
    With `consent` c, a value confirmed implicitly and not contested gets a share c of that last part.
    Fix and Frezza-Buet 2015, YARBUS: Yet Another Rule Based belief Update System.
    """

    consent: Annotated[float, option("what silence after a confirmation says", steps(0.0, 1.0, 0.1))] = 0.0

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = capped(heard.informed), memory[0]
        if self.consent:
            confirmed = capped(heard.implicit.astype(np.float64))
            before = before + self.consent * (confirmed - total(confirmed) * before)
        kept = np.maximum(0.0, 1.0 - total(informed) - np.maximum(heard.rejected, 0.0))
        return np.asarray((informed + kept * before)[None])


CHANGE_DRAWN = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)

N_VALUES = 50.0
"""The assumed number of values of a slot; those not mentioned yet share None's belief."""


@dataclass(eq=False)
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

    confusion: Annotated[float, option("share of what is heard that is confused", steps(0.0, 0.6, 0.02))]
    change: Annotated[float, option("of the goal, in a turn", CHANGE_DRAWN)] = 0.05

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


BASELINE = Baseline()
FOCUS = Focus()
FOCUS_ONCE = Focus(twice=False)
FOCUS_OVERCONFIDENT = Recalibrated(FOCUS, temperature=0.5, name="focus")
FOCUS_UNDERCONFIDENT = Recalibrated(FOCUS, temperature=2.0, name="focus")
TOP_HYPOTHESIS = TopHypothesis()
RANK_ONLY = RankOnly()
ACCUMULATE = Accumulate()
DISCOUNT = Accumulate(kept=0.5)
WINDOW = Window()
VOTE = Vote()
CONFIRM_AWARE = ConfirmAware()
CONFIDENT_ONLY = ConfidentOnly()
LAST_MENTION = LastMention()
LAST_TURN = LastTurn()
HWU = HeriotWatt()
HWU_ORIGINAL = HeriotWatt(contradicted=False)
YARBUS = Yarbus()
YARBUS_IMPLICIT = Yarbus(consent=0.5)
BAYES_NONE = Bayes(confusion=0.0)
BAYES_LOW = Bayes(confusion=0.1)
BAYES_HIGH = Bayes(confusion=0.4)
DEMPSTER_SHAFER = DempsterShafer()
NOISY_OR = NoisyOr()
