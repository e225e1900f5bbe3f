"""The trackers of a study: built in, drawn so that they differ, or files of other trackers' output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus, ranked_sessions
from extrinsic.corpus.formats import BeliefFormat
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.errors import Problem, Problems, UsageError
from extrinsic.plugins import hash_of_source
from extrinsic.registry import FORMATS, TRACKERS
from extrinsic.storage import content_hash, encode_json, read_plain
from extrinsic.study.dialog_inputs import (
    DialogsInput,
    RecentlyMade,
    StoredDialogs,
    Unit,
    corpus_of,
    list_of,
)
from extrinsic.study.settings import StudySettings
from extrinsic.trackers.populations import canonical_name, families_of, members, population
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker, all_parts
from extrinsic.trackers.track import hypotheses_of, track
from extrinsic.verdict.core_systems import agreement_with

Side = Literal["train", "test"]
SIDES: tuple[Side, ...] = ("train", "test")

DIALOGS = 60
"""How many dialogs beliefs are compared on; learned trackers learn from as many others."""

MOST_DRAWS = 8
"""Times the size of a population, after which there is no hope of further distinct members."""


class TrackerInput(msgspec.Struct, frozen=True):
    """A built-in tracker, or files of another one's output by side; `hashes`: of the files."""

    name: str
    degenerate: bool = False
    recalibrated: bool = False
    files: dict[Side, str] | None = None
    hashes: dict[Side, str] | None = None
    code: str = ""
    """A hash of the source of a tracker from outside this package."""
    flags: tuple[str, ...] = ()
    """The rules by which a file of states may be no tracker's."""

    @property
    def identity(self) -> str:
        return content_hash(self.name, self.code, encode_json(self.hashes))


_OUTPUTS: RecentlyMade[TrackerOutput] = RecentlyMade(8)
_TRAINED: RecentlyMade[BuiltInTracker] = RecentlyMade(4)


def output_of(tracker: TrackerInput, unit: Unit, side: Side) -> TrackerOutput:
    """The output of a tracker on a unit's training or test dialogs.

    A learned one is cross-fitted on the training dialogs, and trained on all of them for the test ones.
    """
    dialogs = unit.train if side == "train" else unit.test
    corpus = corpus_of(dialogs)

    def make() -> TrackerOutput:
        if tracker.files is not None:
            return _read_output(tracker.files[side], tracker.name, dialogs)
        runs = trained_tracker(tracker, unit) if side == "test" else TRACKERS.get(tracker.name)
        return track(runs, corpus, tracker.name)

    # The vocabulary is shared with the corpus in this process, so the corpus is part of the key.
    output = _OUTPUTS.get(f"{tracker.identity} {unit.identity} {side}", make)
    if output.vocabulary is not corpus.vocabulary:
        output = make()
    return output


def _read_output(path: str, name: str, dialogs: DialogsInput) -> TrackerOutput:
    """What a tracker file says of some dialogs; the file is about the whole list they come from."""
    whole = list_of(dialogs)
    form: BeliefFormat = FORMATS.get(whole.format)
    output = form.read_tracker(path, whole, name)
    _WARNINGS.update(dict.fromkeys(warnings_of_file(path, output.problems)))
    chosen = dialogs.chosen if isinstance(dialogs, StoredDialogs) else None
    return output if chosen is None else output.take(list(chosen))


def trained_tracker(tracker: TrackerInput, unit: Unit) -> BuiltInTracker:
    """The tracker itself; a learned one trained on the training dialogs."""
    built_in: AnyTracker = TRACKERS.get(tracker.name)
    if not isinstance(built_in, LearnedTracker):
        return built_in
    key = f"{tracker.identity} {unit.train.identity}"
    return _TRAINED.get(key, lambda: built_in.fit([corpus_of(unit.train)]))


_WARNINGS: dict[str, None] = {}
"""What was suspicious in the tracker files that this process has read since `taken_warnings`."""


def taken_warnings() -> tuple[str, ...]:
    warnings = tuple(_WARNINGS)
    _WARNINGS.clear()
    return warnings


def warnings_of_file(path: str, problems: Iterable[Problem]) -> list[str]:
    """The warnings of a file's reader, and how much the scoring rules repaired."""
    lines = []
    repairs = 0
    for problem in problems:
        repairs += problem.severity == "repair"
        if problem.severity == "warning":
            lines.append(str(problem if problem.path else replace(problem, path=path)))
    if repairs:
        lines.append(f"{path}: repairs by the scoring rules: {repairs:,}; `extrinsic validate` lists them")
    return lines


def trackers_of(settings: StudySettings, units: Sequence[Unit]) -> list[TrackerInput]:
    """The trackers of a study; of a population whose members must differ, those that do on the first unit."""
    population = settings.trackers.population
    drawn = None
    if population is not None and population.distinct is not None:
        design, dialogs = (population.size, population.seed, population.families), corpus_of(units[0].train)
        drawn = distinct_members(*design, dialogs, population.distinct)
    return [tracker_input(name, settings) for name in tracker_names(settings, drawn)]


def tracker_names(settings: StudySettings, members: Sequence[str] | None = None) -> list[str]:
    """The trackers of a study, each once, in the order of its settings.

    members: of the population; None: its first ones, whether alike or not.
    """
    table = settings.trackers
    built_in: Iterable[str] = map(canonical_name, table.built_in)
    if "all" in table.built_in:
        built_in = TRACKERS.names()
    drawn = table.population
    if members is None:
        members = population(drawn.size, drawn.seed, drawn.families) if drawn else []
    return list(dict.fromkeys([*built_in, *members, *(table.files.names if table.files else ())]))


def tracker_input(name: str, settings: StudySettings) -> TrackerInput:
    """The description of a tracker; that of files has the patterns of their paths."""
    table = settings.trackers
    degenerate, recalibrated = name in table.degenerate, name in table.recalibrated
    if table.files is not None and name in table.files.names:
        files: dict[Side, str] = {"train": table.files.train or table.files.test, "test": table.files.test}
        return TrackerInput(name, degenerate, recalibrated, files)
    tracker = TRACKERS.get(name)
    return TrackerInput(
        name,
        degenerate=degenerate or tracker.degenerate,
        recalibrated=recalibrated or tracker.recalibrated_from is not None,
        code=hash_of_source(*all_parts(tracker)),
    )


def resolve_files(tracker: TrackerInput, unit: Unit) -> TrackerInput:
    """The tracker with the files of a unit, and the hashes of their bytes."""
    if tracker.files is None:
        return tracker
    lists = {"train": unit.train.dataset, "test": unit.test.dataset}
    files = {side: _filled(tracker.files[side], tracker.name, unit.name, lists[side]) for side in SIDES}
    hashes = {side: content_hash(read_plain(path)) for side, path in files.items()}
    return msgspec.structs.replace(tracker, files=files, hashes=hashes)


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
    names: list[str] = []
    drawn = 0
    candidates = islice(members(seed, families), MOST_DRAWS * size)
    for name, original in distinct_trackers(candidates, corpus, threshold):
        drawn += 1
        if original is None:
            names.append(name)
        if len(names) == size:
            return names
    space = sum(family.size for family in families_of(families))
    raise UsageError(
        f"key trackers.population: of a population's first {drawn:,} members (of {space:,}) only "
        f"{len(names):,} are distinct: the others agree with one of these by {threshold:g} or more on "
        f"{corpus.dataset!r}",
        expected=f"size = {len(names)}, more families, or a higher `distinct`",
        found=f"size = {size}",
    )


def distinct_trackers(
    names: Iterable[str], corpus: Corpus, threshold: float
) -> Iterator[tuple[str, str | None]]:
    """One tracker after the other, with the earlier distinct one that it nearly equals; None: it is distinct.

    The beliefs compared are about at most DIALOGS dialogs, chosen by their ids.
    """
    order = ranked_sessions(corpus.sessions, 0)
    n_dialogs = min(DIALOGS, max(1, len(order) // 2))
    some, others = (corpus.take(sorted(part)) for part in (order[:n_dialogs], order[-n_dialogs:]))
    kept: dict[str, tuple[Ints, Floats]] = {}
    for name in names:
        top, score = _best_beliefs(name, some, others)
        near = None
        if kept:
            alike = agreement_with(top, score, *map(np.stack, zip(*kept.values(), strict=True)))
            near = list(kept)[int(alike.argmax())] if alike.max() >= threshold else None
        if near is None:
            kept[name] = top, score
        yield name, near


def _best_beliefs(name: str, corpus: Corpus, train: Corpus) -> tuple[Ints, Floats]:
    tracker = TRACKERS.get(name)
    if isinstance(tracker, LearnedTracker):
        tracker = tracker.fit([train])
    hypotheses = hypotheses_of([(tracker, np.arange(corpus.n_dialogs))], corpus)
    beliefs = build_output(corpus, name, hypotheses, None)[0].beliefs
    return beliefs.value[beliefs.top].astype(np.int64), beliefs.score[beliefs.top]
