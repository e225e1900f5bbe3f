"""The trackers of a study: built in, or files of other trackers' output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from extrinsic.errors import Problems
from extrinsic.plugins import hash_of_source
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash, read_plain
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.targets import tracker_names
from extrinsic.study.planning.populations import distinct_members
from extrinsic.study.stages.inputs import TrackerInput, Unit, corpus_of
from extrinsic.trackers.protocol import all_parts


def trackers_of(settings: StudySettings, units: Sequence[Unit]) -> list[TrackerInput]:
    """The trackers of a study; of a population whose members must differ, those that do on the first unit."""
    files, population = settings.trackers.files, settings.trackers.population
    members = None
    if population is not None and population.distinct is not None:
        members = distinct_members(
            population.size,
            population.seed,
            population.families,
            corpus_of(units[0].train),
            population.distinct,
        )
    return [
        _from_files(name, settings) if files and name in files.names else built_in(name, settings)
        for name in tracker_names(settings, members)
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
