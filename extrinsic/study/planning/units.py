"""The dialogs of a study: training dialogs, test dialogs, and the datasets of the latter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np

from extrinsic.corpus.dialogs import ranked_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.errors import ExtrinsicError, InputError, Problems
from extrinsic.simulation import find_simulation
from extrinsic.study.configuration.settings import CorpusTable, SimulationTable, StudySettings
from extrinsic.study.configuration.targets import datasets_of
from extrinsic.study.stages.inputs import Part, SimulatedDialogs, StoredDialogs, Unit, file_hash, read_stored


class LeftOut(msgspec.Struct, frozen=True):
    """How many dialogs of a list a study leaves out, and by which of the domain's rules."""

    dialogs: str
    n: int
    total: int
    rules: str

    def __str__(self) -> str:
        return f"{self.n:,} of {self.total:,} dialogs of {self.dialogs} were left out: {self.rules}"


def units_of(settings: StudySettings) -> tuple[list[Unit], dict[str, str], list[LeftOut]]:
    """The units of a study, the hashes of the files that they are read from, and what was left out."""
    inputs: dict[str, str] = {}
    if settings.simulation is not None:
        if settings.simulation.config:
            inputs[settings.simulation.config] = file_hash(settings.simulation.config)
        return _simulated_units(settings.simulation), inputs, []
    assert settings.corpus is not None
    corpus = settings.corpus
    reader = _Reader(corpus)
    if corpus.dialogs is not None:
        units = list(_divided_units(corpus, corpus.dialogs, reader))
        return units, reader.inputs, reader.left_out
    pairs = {name: (table.train, table.test) for name, table in corpus.datasets.items()}
    if corpus.train is not None and corpus.test is not None:
        pairs = {corpus.test: (corpus.train, corpus.test)}
    problems = Problems()
    units = []
    for name, lists in pairs.items():
        try:
            units.append(_stored_unit(corpus, name, lists, reader))
        except ExtrinsicError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    return units, reader.inputs, reader.left_out


def _simulated_units(table: SimulationTable) -> list[Unit]:
    simulation = find_simulation(table.world, table.config, table.seed)
    units = []
    problems = Problems(table.config)
    for dataset in datasets_of(table):
        sides = []
        for split in (table.train, table.test):
            try:
                simulation.require(dataset, split)
            except ExtrinsicError as error:
                key = "key simulation.datasets: "
                problems.extend(replace(problem, message=key + problem.message) for problem in error.problems)
                break
            signature = simulation.identity(dataset, split)
            sides.append(SimulatedDialogs(table.world, table.config, table.seed, dataset, split, signature))
        else:
            train, test = sides
            units.append(Unit(dataset, train, test, (Part(dataset),)))
    problems.raise_errors()
    return units


class _Reader:
    """Reads lists of sessions, each once; leaves out what the domain excludes, and keeps count."""

    def __init__(self, table: CorpusTable) -> None:
        self.table = table
        self.inputs: dict[str, str] = {}
        self.left_out: list[LeftOut] = []
        self._read: dict[str, tuple[Corpus, list[int] | None]] = {}

    def read(self, dialogs: str) -> tuple[Corpus, list[int] | None]:
        """All dialogs of a list, and which of them are kept (None: all)."""
        if dialogs not in self._read:
            table = self.table
            corpus = read_stored(table.format, table.path, dialogs, table.domain)
            self.inputs[f"{table.path} {dialogs}"] = corpus.signature
            kept = np.flatnonzero(~corpus.excluded).tolist() if table.exclude else None
            if kept is not None and len(kept) == corpus.n_dialogs:
                kept = None
            if kept is not None:
                self.left_out.append(self._require_some(corpus, kept))
            self._read[dialogs] = corpus, kept
        return self._read[dialogs]

    def _require_some(self, corpus: Corpus, kept: list[int]) -> LeftOut:
        restarts = ["the log's restart flag"] if corpus.domain.exclude_restarts else []
        rules = ", ".join([*corpus.domain.excluded, *restarts])
        if not kept:
            what = f"every dialog of {corpus.dataset!r} has something that the domain excludes"
            advice = "exclude = false in [corpus] keeps them"
            raise InputError(f"{what}; {advice}", path=self.table.path, found=rules)
        return LeftOut(corpus.dataset, corpus.n_dialogs - len(kept), corpus.n_dialogs, rules)

    def recipe(self, dialogs: str, chosen: list[int] | None) -> StoredDialogs:
        table, (corpus, _) = self.table, self.read(dialogs)
        indices = None if chosen is None else tuple(chosen)
        return StoredDialogs(table.format, table.path, dialogs, table.domain, corpus.signature, indices)


def _divided_units(table: CorpusTable, dialogs: str, reader: _Reader) -> Iterator[Unit]:
    """The kept dialogs of one list in two parts, by the seed and their ids; perhaps several times."""
    corpus, kept = reader.read(dialogs)
    everyone = list(range(corpus.n_dialogs)) if kept is None else kept
    n_train = round(table.split * len(everyone))
    if not 0 < n_train < len(everyone):
        message = f"{len(everyone)} dialogs of {dialogs!r} cannot be divided so"
        raise InputError(message, path=table.path, found=str(table.split))
    sessions = [corpus.sessions[dialog] for dialog in everyone]
    for number in range(table.splits):
        order = [everyone[place] for place in ranked_sessions(sessions, table.split_seed + number)]
        parts = sorted(order[:n_train]), sorted(order[n_train:])
        ways = [("", parts)] + ([("_swapped", parts[::-1])] if table.both_ways else [])
        for suffix, (train, test) in ways:
            name = f"split{number + 1}{suffix}"
            yield Unit(name, reader.recipe(dialogs, train), reader.recipe(dialogs, test), (Part(name),))


def _stored_unit(corpus: CorpusTable, name: str, lists: tuple[str, str], reader: _Reader) -> Unit:
    problems, read = Problems(corpus.path), []
    for dialogs in lists:
        try:
            read.append(reader.read(dialogs))
        except ExtrinsicError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    (train, kept_train), (test, kept_test) = read
    shared = set(train.sessions) & set(test.sessions)
    if shared:
        message = f"{len(shared):,} sessions of {lists[1]} are also in {lists[0]}"
        why = "a policy must not be valued on what it learned from"
        raise InputError(f"{message}: {why}", path=corpus.path, session=min(shared))
    parts = _parts(corpus, name, test if kept_test is None else test.take(kept_test))
    recipes = reader.recipe(lists[0], kept_train), reader.recipe(lists[1], kept_test)
    return Unit(name, *recipes, parts)


def _parts(table: CorpusTable, name: str, test: Corpus) -> tuple[Part, ...]:
    if table.datasets_by is None:
        return (Part(name),)
    groups = test.dialogs_by(table.datasets_by)
    return tuple(Part(value, tuple(dialogs.tolist())) for value, dialogs in groups.items())
