"""The trackers of a study: built in, drawn so that they differ, or files of other trackers' output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.dialogs import ranked_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import build_output
from extrinsic.correlation.duplicates import agreement_with
from extrinsic.errors import Problems, UsageError
from extrinsic.plugins import hash_of_source
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash, read_plain
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.targets import tracker_names
from extrinsic.study.stages.inputs import TrackerInput, Unit, corpus_of
from extrinsic.trackers.forms import families_of, members
from extrinsic.trackers.protocol import LearnedTracker, all_parts
from extrinsic.trackers.track import hypotheses_of

DIALOGS = 60
"""How many dialogs beliefs are compared on; learned trackers learn from as many others."""

BLOCK = 64

MOST_DRAWS = 8
"""Times the size of a population, after which there is no hope of further distinct members."""


def trackers_of(settings: StudySettings, units: Sequence[Unit]) -> list[TrackerInput]:
    """The trackers of a study; of a population whose members must differ, those that do on the first unit."""
    files, population = settings.trackers.files, settings.trackers.population
    drawn = None
    if population is not None and population.distinct is not None:
        design, dialogs = (population.size, population.seed, population.families), corpus_of(units[0].train)
        drawn = distinct_members(*design, dialogs, population.distinct)
    return [
        _from_files(name, settings) if files and name in files.names else built_in(name, settings)
        for name in tracker_names(settings, drawn)
    ]


def built_in(name: str, settings: StudySettings) -> TrackerInput:
    tracker = TRACKERS.get(name)
    return TrackerInput(
        name,
        degenerate=tracker.degenerate or name in settings.trackers.degenerate,
        recalibrated=tracker.recalibrated_from is not None or name in settings.trackers.recalibrated,
        code=hash_of_source(*all_parts(tracker)),
    )


def _from_files(name: str, settings: StudySettings) -> TrackerInput:
    files = settings.trackers.files
    assert files is not None
    return TrackerInput(
        name,
        degenerate=name in settings.trackers.degenerate,
        recalibrated=name in settings.trackers.recalibrated,
        files={"train": files.train or files.test, "test": files.test},
    )


def resolve_files(tracker: TrackerInput, unit: Unit) -> TrackerInput:
    """The tracker with the files of a unit, and their hashes."""
    if tracker.files is None:
        return tracker
    lists = {"train": unit.train.dataset, "test": unit.test.dataset}
    files = {
        side: _filled(pattern, tracker.name, unit.name, lists[side])
        for side, pattern in tracker.files.items()
    }
    return msgspec.structs.replace(
        tracker, files=files, hashes={side: hash_of(path) for side, path in files.items()}
    )


def hash_of(path: str) -> str:
    """The hash of a file's bytes; its reader checks the contents."""
    return content_hash(read_plain(path))


def require_files(settings: StudySettings) -> None:
    """Report every tracker file that is missing."""
    files, corpus = settings.trackers.files, settings.corpus
    if files is None or corpus is None:
        return
    lists = {name: (table.train, table.test) for name, table in corpus.datasets.items()}
    if not lists:
        train, test = corpus.train or corpus.dialogs or "", corpus.test or corpus.dialogs or ""
        lists = {test: (train, test)}
    patterns = (files.train or files.test, files.test)
    paths = {
        _filled(pattern, name, unit, part): name
        for unit, parts in lists.items()
        for name in files.names
        for pattern, part in zip(patterns, parts, strict=True)
    }
    problems = Problems()
    for path, name in paths.items():
        if not Path(path).is_file():
            problems.add(f"there is no file of tracker {name!r}", path=path)
    problems.raise_errors()


def _filled(pattern: str, tracker: str, dataset: str, sessions: str) -> str:
    filled = pattern.replace("{tracker}", tracker).replace("{dataset}", dataset)
    return filled.replace("{list}", sessions)


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
