"""What the calls of a corpus are like, in numbers: its recogniser, its system and its callers."""

import msgspec
import numpy as np
from scipy.stats import rankdata

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.history import wording_of
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.mentions import Mentions, SlotNames, mentions_of_acts, requested_slot

LONG_LIST = 10
SURE = 0.9
N_BINS = 10


class Measures(msgspec.Struct, frozen=True):
    """Measures of a corpus, real or simulated, whose labels are those of DSTC1 or DSTC2.

    turns_per_call.   ended_by_system: share of calls.   hang_ups: of calls that the caller ended before any
    offer.   empty_lists: of turns, the last of each call left out, which nobody answers.
    lists_of_one, long_lists: of the lists that are not empty, those with one distinct hypothesis and with
    ten or more.   longest: hypotheses as logged.
    concepts, values: mean numbers of groups and of (slot, value) pairs in a list that informs anything.
    wrong_again: of the wrong values in best hypotheses, those that stood in one before in the same call.
    The following are about lists of turns in which the caller informs something; where only what was
    understood is labelled (DSTC1), lists in which some hypothesis informs.
    rank_1: the best hypothesis informs, and only what is right.   in_list: some right value is informed.
    auc: probability that the best score is higher where rank 1 is right than where it is not.
    calibration: mean distance of best score and share of right ones, in ten bins of equal width.
    sure, mean_score: of the best scores, the share above .9, and their mean.
    """

    dataset: str
    calls: int
    turns_per_call: float
    ended_by_system: float
    hang_ups: float
    empty_lists: float
    lists_of_one: float
    long_lists: float
    longest: int
    concepts: float
    values: float
    rank_1: float
    in_list: float
    wrong_again: float
    auc: float
    calibration: float
    sure: float
    mean_score: float


class Profile(Measures, frozen=True):
    """With predicates: share of turns by what the system does in them."""

    predicates: dict[str, float]


def profile(corpus: Corpus) -> Profile:
    """The measures of all dialogs; NaN where a corpus has nothing to measure."""
    n_distinct, n_logged = _list_sizes(corpus)
    heard = n_distinct > 0
    answered = np.ones(corpus.n_turns, dtype=bool)
    answered[corpus.offsets[1:] - 1] = False
    names = corpus.domain.predicate_names
    offers = np.isin(corpus.predicate, [names.index(name) for name in corpus.domain.offer])
    offered = np.logical_or.reduceat(offers, corpus.offsets[:-1])
    return Profile(
        dataset=corpus.dataset,
        calls=corpus.n_dialogs,
        turns_per_call=corpus.n_turns / corpus.n_dialogs,
        ended_by_system=_mean(corpus.system_ended),
        hang_ups=_mean(~corpus.system_ended & ~offered),
        empty_lists=_mean(~heard[answered]),
        lists_of_one=_mean(n_distinct[heard] == 1),
        long_lists=_mean(n_distinct[heard] >= LONG_LIST),
        longest=int(n_logged.max(initial=0)),
        **_informing(corpus),
        predicates={name: _mean(corpus.predicate == column) for column, name in enumerate(names)},
    )


def _informing(corpus: Corpus) -> dict[str, float]:
    """The measures of lists that inform values."""
    nbest, n_turns, n_slots = corpus.nbest, corpus.n_turns, len(corpus.slots)
    names = SlotNames(corpus.domain, corpus.slots, corpus.vocabulary)
    turn_of, live = nbest.turn_of_hypothesis(), ~nbest.batch
    asked = requested_slot(corpus.system, corpus.vocabulary)
    acts = corpus.domain.user.inform
    said = mentions_of_acts(names, nbest.acts, acts, live[nbest.acts.owner_of_act], asked[turn_of])
    turn = turn_of[said.owner]
    right = corpus.truth.is_correct(turn, said.slot, said.value)
    best, score = _best_hypotheses(corpus)
    at_top = best[turn] == said.owner
    informing = _any(turn, n_turns)
    chosen = informing
    if isinstance(corpus.labels, GoalLabels):
        chosen = _any(mentions_of_acts(names, corpus.labels.heard, acts, None, asked).owner, n_turns)
    top_right = _any(turn[at_top & right], n_turns) & ~_any(turn[at_top & ~right], n_turns)
    group_of = np.zeros(n_slots, dtype=np.int64)
    for group, columns in enumerate(corpus.domain.group_columns(corpus.slots)):
        group_of[columns] = group
    groups = np.unique(turn * len(corpus.domain.groups) + group_of[said.slot]) // len(corpus.domain.groups)
    values = np.unique(np.stack([turn, said.slot, said.value]), axis=1)[0]
    return {
        "concepts": _mean(np.bincount(groups, minlength=n_turns)[informing]),
        "values": _mean(np.bincount(values, minlength=n_turns)[informing]),
        "rank_1": _mean(top_right[chosen]),
        "in_list": _mean(_any(turn[right], n_turns)[chosen]),
        "wrong_again": _mean(_seen_before(corpus, said.take(np.flatnonzero(at_top & ~right)), turn_of)),
        "auc": area_under_curve(score[chosen], top_right[chosen]),
        "calibration": calibration_error(score[chosen], top_right[chosen]),
        "sure": _mean(score[chosen] > SURE),
        "mean_score": _mean(score[chosen]),
    }


def _list_sizes(corpus: Corpus) -> tuple[Ints, Ints]:
    """(n_turns,) the number of distinct live hypotheses, and of all of them."""
    live = ~corpus.nbest.batch
    turn = corpus.nbest.turn_of_hypothesis()[live]
    wording = wording_of(corpus.nbest.acts)[live]
    distinct = np.unique(np.stack([turn.astype(np.uint64), wording]), axis=1)[0].astype(np.int64)
    count = np.bincount
    return count(distinct, minlength=corpus.n_turns), count(turn, minlength=corpus.n_turns)


def _best_hypotheses(corpus: Corpus) -> tuple[Ints, Floats]:
    """(n_turns,) the live hypothesis with the highest score, the first of equals, and its score; -1: none."""
    nbest = corpus.nbest
    order = np.lexsort((-nbest.score, nbest.batch, nbest.turn_of_hypothesis()))
    best = np.full(corpus.n_turns, -1, dtype=np.int64)
    filled = np.diff(nbest.offsets) > 0
    best[filled] = order[nbest.offsets[:-1][filled]]
    best[filled] = np.where(nbest.batch[best[filled]], -1, best[filled])
    score = np.where(best >= 0, nbest.score[best], 0.0) if len(nbest.score) else np.zeros(corpus.n_turns)
    return best, score


def _seen_before(corpus: Corpus, mentions: Mentions, turn_of: Ints) -> Bools:
    """(k,) whether the same value of the slot was among the mentions at an earlier turn of the call."""
    turn = turn_of[mentions.owner]
    call = corpus.dialog_of_turn[turn]
    order = np.lexsort((turn, mentions.value, mentions.slot, call))
    keys = np.stack([call, mentions.slot, mentions.value.astype(np.int64)])[:, order]
    again = np.zeros(len(order), dtype=bool)
    again[1:] = (keys[:, 1:] == keys[:, :-1]).all(axis=0) & (turn[order][1:] > turn[order][:-1])
    return again


def area_under_curve(score: Floats, right: Bools) -> float:
    """P(the score of a right one > that of a wrong one), ties counted half; NaN without both kinds."""
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if not n_right or not n_wrong:
        return float("nan")
    ranks = rankdata(score)
    return float((ranks[right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))


def calibration_error(score: Floats, right: Bools, n_bins: int = N_BINS) -> float:
    """sum over bins of n_b / n |mean score - share right|, bins of equal width over [0, 1]."""
    if not len(score):
        return float("nan")
    number = np.minimum((score * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(number, score, n_bins) - np.bincount(number, right, n_bins)
    return float(np.abs(gaps).sum() / len(score))


def _any(turns: Ints, n_turns: int) -> Bools:
    return np.bincount(turns, minlength=n_turns) > 0


def _mean(numbers: np.ndarray) -> float:
    return float(numbers.mean()) if len(numbers) else float("nan")
