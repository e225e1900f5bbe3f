"""The dialogs of a study: descriptions from which any process can load them, and how they are divided.

The identity of an input depends on contents, not on paths: a corpus that was moved is the same corpus.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.corpus import Corpus, ranked_sessions
from extrinsic.corpus.domain import load_domain
from extrinsic.corpus.formats import BeliefFormat
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import ExtrinsicError, InputError, Problems, UsageError
from extrinsic.plugins import hash_of_source
from extrinsic.registry import FORMATS, WORLDS
from extrinsic.simulation import Simulation, find_simulation
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.world_files import draw_worlds
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.study.settings import CorpusTable, SimulationTable, StudySettings

T = TypeVar("T")
C = TypeVar("C", Corpus, TrackerOutput)

MOST_IN_VAIN = 20
"""Of fewer simulated dialogs, all may fail by chance."""


class SimulatedDialogs(msgspec.Struct, frozen=True, tag="simulated"):
    """Dialogs of a simulated world; `signature` is a hash of their settings when the study was planned."""

    world: str
    config: str | None
    seed: int | None
    dataset: str
    split: str
    signature: str

    @property
    def simulation(self) -> Simulation:
        """The settings of the file as it is now, which have to be those that the study was planned with."""
        simulation = find_simulation(self.world, self.config, self.seed)
        if simulation.identity(self.dataset, self.split) != self.signature:
            raise InputError("the world has changed since the study began; run it again", path=self.config)
        return simulation

    @property
    def identity(self) -> str:
        # The code of a world from outside this package; ours is part of the code version.
        code = hash_of_source(WORLDS.get(self.world))
        return content_hash(self.signature, code) if code else self.signature

    def load(self) -> tuple[Corpus, Corpus]:
        corpus = self.simulation.simulate(self.dataset, self.split).corpus
        in_vain = not any(corpus.outcomes.get("success", (1.0,)))
        if in_vain and corpus.n_dialogs >= MOST_IN_VAIN:
            raise InputError(
                f"simulation.datasets: no caller of {self.dataset!r} ({self.split}) reaches the goal, so "
                "nothing can be learned or compared there",
                path=self.config,
                expected="less noise, or more patience",
                found=f"{corpus.n_dialogs:,} calls, all in vain",
            )
        return corpus, corpus


class StoredDialogs(msgspec.Struct, frozen=True, tag="stored"):
    """Dialogs on disk; `signature` is a hash of what they were when the study was planned.

    chosen: which dialogs of the list (None: all), where a study leaves some out or divides them.
    """

    format: str
    path: str
    dataset: str
    domain: str | None
    signature: str
    chosen: tuple[int, ...] | None = None

    @property
    def identity(self) -> str:
        form: BeliefFormat = FORMATS.get(self.format)
        domain = load_domain(self.domain or form.default_domain)
        # The conventions of a format from outside this package; ours are part of the code version.
        code = hash_of_source(form, form.conventions)
        parts = [code] if code else []
        if self.chosen is not None:
            parts.append(repr(self.chosen))
        return content_hash("stored", self.format, self.signature, repr(domain), *parts)

    def load(self) -> tuple[Corpus, Corpus]:
        if self.chosen is not None:
            whole = corpus_of(msgspec.structs.replace(self, chosen=None))
            return whole.take(list(self.chosen)), whole
        corpus = read_list(self.format, self.path, self.dataset, self.domain)
        if corpus.signature != self.signature:
            raise InputError("the dialogs have changed since the study began; run it again", path=self.path)
        return corpus, corpus


def read_list(format: str, path: str, dataset: str, domain: str | None) -> Corpus:
    form: BeliefFormat = FORMATS.get(format)
    return form.read_corpus(path, dataset, domain)


DialogsInput = SimulatedDialogs | StoredDialogs


class Part(msgspec.Struct, frozen=True):
    """A dataset of a study: some of a corpus's dialogs (None: all)."""

    name: str
    dialogs: tuple[int, ...] | None = None

    def of(self, whole: C) -> C:
        """Its part of a corpus, or of what a tracker says of the corpus."""
        return whole if self.dialogs is None else whole.take(list(self.dialogs))

    def chosen(self, n_dialogs: int) -> Ints:
        return np.arange(n_dialogs) if self.dialogs is None else np.array(self.dialogs, dtype=np.int64)


class Unit(msgspec.Struct, frozen=True):
    """Dialogs to learn from, dialogs to value policies on, and the datasets of the latter."""

    name: str
    train: DialogsInput
    test: DialogsInput
    parts: tuple[Part, ...]

    @property
    def identity(self) -> str:
        parts = [encode_json((part.name, part.dialogs)) for part in self.parts]
        return content_hash(self.train.identity, self.test.identity, *parts)


class RecentlyMade(Generic[T]):
    """The last few objects made in this process: stages of one tracker run one after the other.

    Like lru_cache, but with an explicit key, since arguments need not be hashable.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.made: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, make: Callable[[], T]) -> T:
        if key not in self.made:
            self.made[key] = make()
            while len(self.made) > self.most:
                self.made.popitem(last=False)
        self.made.move_to_end(key)
        return self.made[key]


_CORPORA: RecentlyMade[tuple[Corpus, Corpus]] = RecentlyMade(8)
"""Dialogs, and all dialogs of the list that they are a part of, with the same vocabulary."""


def corpus_of(dialogs: DialogsInput) -> Corpus:
    return _CORPORA.get(dialogs.identity, dialogs.load)[0]


def list_of(dialogs: DialogsInput) -> Corpus:
    """All dialogs of the list: what tracker files are about."""
    return _CORPORA.get(dialogs.identity, dialogs.load)[1]


def file_hash(path: str) -> str:
    return content_hash(read_bytes(path))


class PlannedDialogs(NamedTuple):
    """The units of a study, the hashes of the files that they are read from, what was left out or is odd."""

    units: Sequence[Unit]
    inputs: dict[str, str]
    left_out: Sequence[str] = ()
    warnings: Sequence[str] = ()


def planned_dialogs(settings: StudySettings) -> PlannedDialogs:
    """Read the dialogs of a study, or the settings of its worlds."""
    if settings.simulation is not None:
        config = settings.simulation.config
        return PlannedDialogs(
            _simulated_units(settings.simulation), {config: file_hash(config)} if config else {}
        )
    assert settings.corpus is not None
    lists = _Lists(settings.corpus)
    return PlannedDialogs(list(lists.units()), lists.inputs, lists.left_out, lists.warnings)


def datasets_of(table: SimulationTable) -> list[str]:
    """The datasets that a study names, and the worlds that it draws; all of the file if it does neither."""
    simulation = find_simulation(table.world, table.config, table.seed)
    every = list(dict.fromkeys(dataset for dataset, _ in simulation.corpora()))
    worlds = table.worlds
    if worlds is None:
        return list(table.datasets) or every
    properties = getattr(simulation, "properties", {})
    if not properties:
        raise UsageError(f"worlds of the kind {table.world!r} cannot be drawn: they have no properties")
    drawn = draw_worlds(worlds.base or every[:1], worlds.draws, properties, worlds.ranges, worlds.seed)
    return list(dict.fromkeys([*table.datasets, *drawn]))


def has_expert(settings: StudySettings) -> bool:
    """Whether the policy that made the dialogs can be played, which only a simulated world may have."""
    table = settings.simulation
    if table is None:
        return False
    try:
        simulation = find_simulation(table.world, table.config, table.seed)
        return logged_policy(simulation.world(datasets_of(table)[0], table.test))[0] is not None
    except ExtrinsicError:
        return True  # The world itself is wrong, which is reported where it is read.


def _simulated_units(table: SimulationTable) -> list[Unit]:
    simulation = find_simulation(table.world, table.config, table.seed)
    units = []
    problems = Problems(table.config)
    for dataset in datasets_of(table):
        try:
            for split in (table.train, table.test):
                simulation.require(dataset, split)
        except ExtrinsicError as error:
            key = "key simulation.datasets: "
            problems.extend(replace(problem, message=key + problem.message) for problem in error.problems)
            continue
        train, test = (
            SimulatedDialogs(
                table.world, table.config, table.seed, dataset, split, simulation.identity(dataset, split)
            )
            for split in (table.train, table.test)
        )
        units.append(Unit(dataset, train, test, (Part(dataset),)))
    problems.raise_errors()
    return units


class _Lists:
    """The lists of sessions of a corpus on disk, each read once, without what the domain excludes."""

    def __init__(self, table: CorpusTable) -> None:
        self.table = table
        self.inputs: dict[str, str] = {}
        self.left_out: list[str] = []
        self.warnings: list[str] = []
        self._lists: dict[str, tuple[Corpus, list[int] | None]] = {}

    def units(self) -> Iterator[Unit]:
        table = self.table
        if table.dialogs is not None:
            yield from self._divided(table.dialogs)
            return
        pairs = {name: (lists.train, lists.test) for name, lists in table.datasets.items()}
        if table.train is not None and table.test is not None:
            pairs = {table.test: (table.train, table.test)}
        problems = Problems(table.path)
        for dialogs in dict.fromkeys(chain.from_iterable(pairs.values())):
            with problems.collecting():
                self._read(dialogs)
        problems.raise_errors()
        for name, (train, test) in pairs.items():
            with problems.collecting():
                yield self._unit(name, train, test)
        problems.raise_errors()

    def _unit(self, name: str, train: str, test: str) -> Unit:
        learned, (valued, kept) = self._read(train)[0], self._read(test)
        shared = set(learned.sessions) & set(valued.sessions)
        if shared:
            message = f"{len(shared):,} sessions of {test} are also in {train}"
            why = "a policy must not be valued on what it learned from"
            raise InputError(f"{message}: {why}", path=self.table.path, session=min(shared))
        parts: tuple[Part, ...] = (Part(name),)
        if self.table.datasets_by is not None:
            groups = (valued if kept is None else valued.take(kept)).dialogs_by(self.table.datasets_by)
            parts = tuple(Part(value, tuple(dialogs.tolist())) for value, dialogs in groups.items())
        return Unit(name, self._recipe(train), self._recipe(test), parts)

    def _divided(self, dialogs: str) -> Iterator[Unit]:
        """The kept dialogs of one list in two parts, by the seed and their ids; perhaps several times."""
        table, (corpus, kept) = self.table, self._read(dialogs)
        everyone = list(range(corpus.n_dialogs)) if kept is None else kept
        n_train = round(table.split * len(everyone))
        if not 0 < n_train < len(everyone):
            message = f"{len(everyone)} dialogs of {dialogs!r} cannot be divided so"
            raise InputError(message, path=table.path, found=str(table.split))
        sessions = [corpus.sessions[dialog] for dialog in everyone]
        for number in range(table.splits):
            order = [everyone[place] for place in ranked_sessions(sessions, table.split_seed + number)]
            train, test = (
                msgspec.structs.replace(self._recipe(dialogs), chosen=tuple(sorted(part)))
                for part in (order[:n_train], order[n_train:])
            )
            name = f"split{number + 1}"
            yield Unit(name, train, test, (Part(name),))
            if table.both_ways:
                name = f"{name}_swapped"
                yield Unit(name, test, train, (Part(name),))

    def _read(self, dialogs: str) -> tuple[Corpus, list[int] | None]:
        """All dialogs of a list, and which of them are kept (None: all)."""
        if dialogs not in self._lists:
            table = self.table
            corpus = read_list(table.format, table.path, dialogs, table.domain)
            self.inputs[f"{table.path} {dialogs}"] = corpus.signature
            self.warnings += dict.fromkeys(map(str, corpus.problems))
            kept = None
            if table.exclude and corpus.excluded.any():
                kept = np.flatnonzero(~corpus.excluded).tolist()
                self.left_out.append(self._left_out(corpus, len(kept)))
            self._lists[dialogs] = corpus, kept
        return self._lists[dialogs]

    def _left_out(self, corpus: Corpus, n_kept: int) -> str:
        """How many dialogs of a list a study leaves out, and by which of the domain's rules."""
        restarts = ["the log's restart flag"] if corpus.domain.exclude_restarts else []
        rules = ", ".join([*corpus.domain.excluded, *restarts])
        if not n_kept:
            what = f"every dialog of {corpus.dataset!r} has something that the domain excludes"
            advice = "exclude = false in [corpus] keeps them"
            raise InputError(f"{what}; {advice}", path=self.table.path, found=rules)
        share = f"{corpus.n_dialogs - n_kept:,} of {corpus.n_dialogs:,} dialogs of {corpus.dataset}"
        return f"{share} were left out: {rules}"

    def _recipe(self, dialogs: str) -> StoredDialogs:
        table, (corpus, kept) = self.table, self._read(dialogs)
        chosen = None if kept is None else tuple(kept)
        return StoredDialogs(table.format, table.path, dialogs, table.domain, corpus.signature, chosen)
