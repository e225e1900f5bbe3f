"""Trackers by rules: what this turn informs, and what is kept of earlier turns."""

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.requests import Rule
from extrinsic.corpus.tracking import Heard
from extrinsic.trackers.protocol import BuiltInTracker, best_only, capped, share_out, total


class Baseline(BuiltInTracker):
    """One value per slot: the one informed with the highest score in any turn; a later equal replaces it."""

    rule: Rule = "baseline"

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before = memory[0]
        new = best_only(np.minimum(heard.informed, 1.0))
        score = new.max(axis=-1, keepdims=True)
        replaces = (score > 0.0) & (score >= before.max(axis=-1, keepdims=True))
        return np.asarray(np.where(replaces, new, before)[None])


class Focus(BuiltInTracker):
    """b_t(v) = u_t(v) + (1 - sum u_t) b_{t-1}(v), with u_t(v) what was informed at this turn.

    The challenge's own program iterates over the slots just heard and then over those already in the belief,
    so that a slot which is both gets the update twice; its published outputs confirm this. `twice` does the
    same, `twice=False` is the formula.
    """

    def __init__(self, twice: bool = True) -> None:
        self.twice = twice

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = heard.informed, memory[0]
        rest = np.maximum(0.0, 1.0 - informed.sum(axis=-1, keepdims=True))
        after = informed + rest * before
        if self.twice:
            both = (before > 0).any(axis=-1, keepdims=True) & (informed > 0).any(axis=-1, keepdims=True)
            after = np.where(both, informed + rest * after, after)
        return np.asarray(after[None])


class Recalibrated(BuiltInTracker):
    """q(v) ~ b(v)^gamma, None included; gamma above 1 is overconfident, below 1 underconfident."""

    def __init__(self, tracker: BuiltInTracker, name: str, gamma: float) -> None:
        self.tracker, self.gamma = tracker, gamma
        self.recalibrated_from = name
        self.planes = tracker.planes

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        before = self.tracker.belief(memory, heard)
        of_none = np.maximum(0.0, 1.0 - total(before))
        after = before**self.gamma
        return capped(after / (total(after) + of_none**self.gamma))


class TopHypothesis(BuiltInTracker):
    """b_t(v) = t_t(v) + (1 - sum t_t) b_{t-1}(v); t_t(v): the best hypothesis's score if it informs v."""

    def update(self, memory: Floats, heard: Heard) -> Floats:
        top = capped(heard.top)
        return np.asarray(top + (1.0 - total(top)) * memory)


class RankOnly(BuiltInTracker):
    """b_t(v) = p_t(v) + (1 - sum p_t) b_{t-1}(v), with p_t(v) = r_t(v) / (`none` + sum r_t).

    r_t(v): 1 if the best hypothesis informs v, 1/2 if the second is the first that does, ...
    """

    def __init__(self, none: float = 0.5) -> None:
        self.none = none

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = heard.rank / (self.none + total(heard.rank))
        return np.asarray(informed + (1.0 - total(informed)) * memory)


class Accumulate(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, with s_t(v) = kept s_{t-1}(v) + u_t(v) at turns that mention the slot.

    h_t = 1 - (1 - sum u_t) (1 - h_{t-1}): probability that the slot was ever mentioned; the rest is None's.
    Memory: s, and h (the same for all candidates of a slot).
    """

    planes = 2

    def __init__(self, kept: float = 1.0) -> None:
        self.kept = kept

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


class Window(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, where s_t sums u_i over the last `size` turns i that mention the slot.

    h_t = 1 - prod_i (1 - sum u_i) over the same turns: probability that the slot was mentioned at all.
    Memory: u of those turns, latest first.
    """

    def __init__(self, size: int = 3) -> None:
        self.planes = size

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        moved = np.concatenate([informed[None], memory[:-1]])
        return np.where(total(informed) > 0.0, moved, memory)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return share_out(memory.sum(axis=0), 1.0 - (1.0 - total(memory)).prod(axis=0))


class Vote(BuiltInTracker):
    """b_t(v) = n_t(v) / (`none` + sum n_t); n_t(v): turns whose best hypothesis informs v.

    `none` is less than one, so that a single vote beats None.
    """

    def __init__(self, none: float = 0.5) -> None:
        self.none = none

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return memory + (heard.top > 0.0)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] / (self.none + total(memory[0])))


class ConfirmAware(BuiltInTracker):
    """w_t(v) = 1 - (1 - max(w_{t-1}(v), min(`unconfirmed`, i_t(v)))) (1 - a_t(v)), times 1 - d_t(v).

    i_t(v): score that informs v directly.   a_t(v): that affirms it.   d_t(v): that denies or negates it.
    The belief is w_t, divided by its sum where that is above 1.
    """

    def __init__(self, unconfirmed: float = 0.7) -> None:
        self.unconfirmed = unconfirmed

    def update(self, memory: Floats, heard: Heard) -> Floats:
        affirmed = np.clip(heard.affirmed, 0.0, 1.0)
        best = np.maximum(memory, np.clip(heard.informed - affirmed, 0.0, self.unconfirmed))
        confirmed = 1.0 - (1.0 - best) * (1.0 - affirmed)
        return np.asarray(confirmed * (1.0 - np.clip(heard.denied, 0.0, 1.0)))

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return capped(memory[0])


class ConfidentOnly(BuiltInTracker):
    """One value per slot: the last that was informed with more than `accepts`, with that score.

    Denying it with more than that removes it.
    """

    def __init__(self, accepts: float = 0.5) -> None:
        self.accepts = accepts

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


BASELINE = Baseline()
FOCUS = Focus()
FOCUS_ONCE = Focus(twice=False)
FOCUS_OVERCONFIDENT = Recalibrated(FOCUS, "focus", gamma=2.0)
FOCUS_UNDERCONFIDENT = Recalibrated(FOCUS, "focus", gamma=0.5)
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
