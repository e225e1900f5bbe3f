"""The members of a population that differ from each other on the dialogs of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.dialogs import ranked_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import build_output
from extrinsic.correlation.duplicates import agreement_with
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.trackers.forms import families_of, members
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import hypotheses_of

DIALOGS = 60
"""How many dialogs beliefs are compared on; learned trackers learn from as many others."""

BLOCK = 64

MOST_DRAWS = 8
"""Times the size of a population, after which there is no hope of further distinct members."""


def distinct_members(
    size: int, seed: int, families: Sequence[str], corpus: Corpus, threshold: float
) -> list[str]:
    """The first members of a population of which no two agree by `threshold` on dialogs of a corpus."""
    space = sum(family.size for family in families_of(families))
    names: list[str] = []
    drawn = 0
    candidates = islice(members(seed, families), MOST_DRAWS * size)
    for drawn, compared in enumerate(distinct_trackers(candidates, corpus, threshold), start=1):  # noqa: B007
        if compared.original is None:
            names.append(compared.tracker)
        if len(names) == size:
            break
    if len(names) < size:
        raise UsageError(
            f"trackers.population: of a population's first {drawn:,} members (of {space:,}) only "
            f"{len(names):,} are distinct: the others agree with one of these by {threshold:g} or more on "
            f"{corpus.dataset!r}",
            expected=f"size = {len(names)}, more families, or a higher `distinct`",
            found=f"size = {size}",
        )
    return names


class Compared(NamedTuple):
    """A tracker, and the earlier one that it nearly equals; None: it is distinct."""

    tracker: str
    original: str | None


def distinct_trackers(names: Iterable[str], corpus: Corpus, threshold: float) -> Iterator[Compared]:
    """One tracker after the other; it counts as distinct if it agrees with no earlier distinct one.

    The beliefs compared are about at most DIALOGS dialogs, chosen by their ids.
    """
    order = ranked_sessions(corpus.sessions, 0)
    n_dialogs = min(DIALOGS, max(1, len(order) // 2))
    some, others = (corpus.take(sorted(part)) for part in (order[:n_dialogs], order[-n_dialogs:]))
    kept: list[str] = []
    n_items = some.n_turns * len(some.slots)
    tops, scores = np.zeros((BLOCK, n_items), dtype=np.int64), np.zeros((BLOCK, n_items))
    for name in names:
        top, score = _best_beliefs(name, some, others)
        alike = agreement_with(top, score, tops[: len(kept)], scores[: len(kept)])
        near = int(alike.argmax()) if len(kept) and alike.max() >= threshold else None
        if near is None:
            if len(kept) == len(tops):
                tops, scores = (np.concatenate([part, np.zeros_like(part)]) for part in (tops, scores))
            tops[len(kept)], scores[len(kept)] = top, score
            kept.append(name)
        yield Compared(name, None if near is None else kept[near])


def _best_beliefs(name: str, corpus: Corpus, train: Corpus) -> tuple[Ints, Floats]:
    tracker = TRACKERS.get(name)
    if isinstance(tracker, LearnedTracker):
        tracker = tracker.fit([train])
    hypotheses = hypotheses_of([(tracker, np.arange(corpus.n_dialogs))], corpus)
    beliefs = build_output(corpus, name, hypotheses, None)[0].beliefs
    return beliefs.value[beliefs.top].astype(np.int64), beliefs.score[beliefs.top]
