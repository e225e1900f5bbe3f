"""The dialogs of a study: training dialogs, test dialogs, and the datasets of the latter."""

from __future__ import annotations

from extrinsic.corpus.model import Corpus
from extrinsic.errors import ExtrinsicError, InputError, Problems
from extrinsic.registry import WORLDS
from extrinsic.simulation import Simulation
from extrinsic.study.configuration.settings import CorpusTable, SimulationTable, StudySettings
from extrinsic.study.stages.inputs import (
    DialogsInput,
    Part,
    SimulatedDialogs,
    StoredDialogs,
    Unit,
    file_hash,
    read_stored,
)


def units_of(settings: StudySettings) -> tuple[list[Unit], dict[str, str]]:
    """The units of a study, and the hashes of the files that they are read from."""
    inputs: dict[str, str] = {}
    if settings.simulation is not None:
        if settings.simulation.config:
            inputs[settings.simulation.config] = file_hash(settings.simulation.config)
        return _simulated_units(settings.simulation), inputs
    assert settings.corpus is not None
    corpus = settings.corpus
    pairs = {name: (table.train, table.test) for name, table in corpus.datasets.items()}
    if corpus.train is not None and corpus.test is not None:
        pairs = {corpus.test: (corpus.train, corpus.test)}
    problems = Problems()
    units = []
    for name, lists in pairs.items():
        try:
            units.append(_stored_unit(corpus, name, lists, inputs))
        except ExtrinsicError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    return units, inputs


def _simulated_units(table: SimulationTable) -> list[Unit]:
    simulation: Simulation = WORLDS.get(table.world).read(table.config, table.seed)
    units = []
    problems = Problems(table.config)
    datasets = dict.fromkeys(dataset for dataset, _ in simulation.corpora())
    for dataset in table.datasets or tuple(datasets):
        sides = []
        for split in (table.train, table.test):
            try:
                simulation.require(dataset, split)
            except ExtrinsicError as error:
                problems.extend(error.problems)
                break
            signature = simulation.identity(dataset, split)
            sides.append(SimulatedDialogs(table.world, table.config, table.seed, dataset, split, signature))
        else:
            train, test = sides
            units.append(Unit(dataset, train, test, (Part(dataset),)))
    if problems.errors:
        raise InputError(problems)
    return units


def _stored_unit(corpus: CorpusTable, name: str, lists: tuple[str, str], inputs: dict[str, str]) -> Unit:
    train, test = _read_both(corpus, lists)
    shared = set(train.sessions) & set(test.sessions)
    if shared:
        problems = Problems(corpus.path)
        problems.add(
            f"{len(shared):,} sessions of {lists[1]} are also in {lists[0]}: a policy must not be "
            "valued on what it learned from",
            session=min(shared),
        )
        problems.raise_errors()
    parts = _parts(corpus, name, test)
    for dialogs in (train, test):
        inputs[f"{corpus.path} {dialogs.dataset}"] = dialogs.signature
    return Unit(name, _dialogs_input(corpus, train, lists[0]), _dialogs_input(corpus, test, lists[1]), parts)


def _read_both(table: CorpusTable, lists: tuple[str, str]) -> tuple[Corpus, Corpus]:
    """The corpora of the two lists of sessions; reports the problems of both."""
    problems = Problems(table.path)
    corpora = []
    for part in lists:
        try:
            corpora.append(read_stored(table.format, table.path, part, table.domain))
        except ExtrinsicError as error:
            problems.extend(error.problems)
    if problems.errors:
        raise InputError(problems)
    return corpora[0], corpora[1]


def _dialogs_input(table: CorpusTable, corpus: Corpus, part: str) -> DialogsInput:
    return StoredDialogs(table.format, table.path, part, table.domain, corpus.signature)


def _parts(table: CorpusTable, name: str, test: Corpus) -> tuple[Part, ...]:
    if table.datasets_by is None:
        return (Part(name),)
    groups = test.dialogs_by(table.datasets_by)
    return tuple(Part(value, tuple(dialogs.tolist())) for value, dialogs in groups.items())
