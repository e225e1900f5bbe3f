"""Inputs of the stages: small descriptions from which any process can load dialogs and beliefs.

The identity of an input depends on contents, not on paths: a corpus that was moved is the same corpus.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.formats import AS_WRITTEN, BeliefFormat, StateFormat, read_state_file
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem
from extrinsic.plugins import hash_of_source
from extrinsic.registry import FORMATS, TRACKERS, WORLDS
from extrinsic.simulation import Simulation, find_simulation
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker
from extrinsic.trackers.track import track

T = TypeVar("T")
Side = Literal["train", "test"]


class Input(msgspec.Struct, frozen=True):
    """A description from which any process can make the same thing."""


MOST_IN_VAIN = 20


class SimulatedDialogs(Input, frozen=True, tag="simulated"):
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

    def make(self) -> Corpus:
        corpus = self.simulation.simulate(self.dataset, self.split).corpus
        in_vain = not any(corpus.outcomes.get("success", (1.0,)))
        # Of fewer, all may fail by chance.
        if in_vain and corpus.n_dialogs >= MOST_IN_VAIN:
            raise InputError(
                f"simulation.datasets: no caller of {self.dataset!r} ({self.split}) reaches the goal, so "
                "nothing can be learned or compared there",
                path=self.config,
                expected="less noise, or more patience",
                found=f"{corpus.n_dialogs:,} calls, all in vain",
            )
        return corpus


class StoredDialogs(Input, frozen=True, tag="stored"):
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
    def whole(self) -> StoredDialogs:
        """All dialogs of the list: what tracker files are about."""
        return msgspec.structs.replace(self, chosen=None)

    @property
    def identity(self) -> str:
        from extrinsic.domain import load_domain

        form: BeliefFormat = FORMATS.get(self.format)
        domain = load_domain(self.domain or form.default_domain)
        # The conventions of a format from outside this package; ours are part of the code version.
        code = hash_of_source(form, form.conventions)
        parts = [code] if code else []
        if self.chosen is not None:
            parts.append(repr(self.chosen))
        return content_hash("stored", self.format, self.signature, repr(domain), *parts)

    def make(self) -> Corpus:
        if self.chosen is not None:
            whole = corpus_of(self.whole)
            corpus = whole.take(list(self.chosen))
            _WHOLE_LIST[corpus] = whole
            return corpus
        corpus = read_stored(self.format, self.path, self.dataset, self.domain)
        if corpus.signature != self.signature:
            raise InputError("the dialogs have changed since the study began; run it again", path=self.path)
        return corpus


def read_stored(format: str, path: str, dataset: str, domain: str | None) -> Corpus:
    form: BeliefFormat = FORMATS.get(format)
    return form.read_corpus(path, dataset, domain)


DialogsInput = SimulatedDialogs | StoredDialogs


class Part(Input, frozen=True):
    """A dataset of a study: some of a corpus's dialogs (None: all)."""

    name: str
    dialogs: tuple[int, ...] | None = None

    def of(self, corpus: Corpus) -> Corpus:
        return corpus if self.dialogs is None else corpus.take(list(self.dialogs))

    def chosen(self, n_dialogs: int) -> Ints:
        return np.arange(n_dialogs) if self.dialogs is None else np.array(self.dialogs, dtype=np.int64)


class Unit(Input, frozen=True):
    """Dialogs to learn from, dialogs to value policies on, and the datasets of the latter."""

    name: str
    train: DialogsInput
    test: DialogsInput
    parts: tuple[Part, ...]

    @property
    def identity(self) -> str:
        parts = [encode_json((part.name, part.dialogs)) for part in self.parts]
        return content_hash(self.train.identity, self.test.identity, *parts)


class TrackerInput(Input, frozen=True):
    """A built-in tracker, or files of another one's output; `hashes`: of the files."""

    name: str
    degenerate: bool = False
    recalibrated: bool = False
    files: dict[str, str] | None = None
    hashes: dict[str, str] | None = None
    code: str = ""
    """A hash of the source of a tracker from outside this package."""
    flags: tuple[str, ...] = ()
    """The rules by which a file of states may be no tracker's."""

    @property
    def identity(self) -> str:
        return content_hash(self.name, self.code, encode_json(self.hashes))


STATES_DATASET = "states"
"""The one dataset of a study of files with predicted states."""


class StatesInput(Input, frozen=True):
    """A file of predicted and gold states; `signature` is its hash when the study was planned."""

    name: str
    format: str
    path: str
    signature: str
    reading: StateReading = AS_WRITTEN

    def read(self, dialogs: Sequence[str]) -> StateSets:
        """The states of the given dialogs, in their order."""
        form: StateFormat = FORMATS.get(self.format)
        states = read_state_file(form, self.path, self.name, self.reading)
        if states.signature != self.signature:
            raise InputError("the states have changed since the study began; run it again", path=self.path)
        position = {dialog: number for number, dialog in enumerate(states.dialogs)}
        return states.take([position[dialog] for dialog in dialogs])


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


_CORPORA: RecentlyMade[Corpus] = RecentlyMade(8)
_WHOLE_LIST: WeakKeyDictionary[Corpus, Corpus] = WeakKeyDictionary()
"""Of corpora that are a part of a list: all dialogs of the list, with the same vocabulary."""

_OUTPUTS: RecentlyMade[TrackerOutput] = RecentlyMade(8)
_TRAINED: RecentlyMade[BuiltInTracker] = RecentlyMade(4)


def corpus_of(dialogs: DialogsInput) -> Corpus:
    return _CORPORA.get(dialogs.identity, dialogs.make)


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
    corpus = corpus_of(dialogs)
    form: BeliefFormat = FORMATS.get(corpus.format)
    output = form.read_tracker(path, _WHOLE_LIST.get(corpus, corpus), name)
    _WARNINGS.update(dict.fromkeys(warnings_of_file(path, output.problems)))
    if corpus not in _WHOLE_LIST:
        return output
    assert isinstance(dialogs, StoredDialogs) and dialogs.chosen is not None
    return output.take(list(dialogs.chosen))


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


def trained_tracker(tracker: TrackerInput, unit: Unit) -> BuiltInTracker:
    """The tracker itself; a learned one trained on the training dialogs."""
    built_in: AnyTracker = TRACKERS.get(tracker.name)
    if not isinstance(built_in, LearnedTracker):
        return built_in
    key = f"{tracker.identity} {unit.train.identity}"
    return _TRAINED.get(key, lambda: built_in.fit([corpus_of(unit.train)]))


class RunningTracker(NamedTuple):
    """A tracker that can be run.

    is_clone: it exists as files only, and this one was regressed from them.   fits: it agrees with them.
    """

    tracker: BuiltInTracker
    is_clone: bool = False
    fits: bool = True


_CLONES: RecentlyMade[RunningTracker] = RecentlyMade(4)


def running_tracker(tracker: TrackerInput, unit: Unit) -> RunningTracker:
    """The tracker itself, or a clone of one that exists as files only."""
    if tracker.files is None:
        return RunningTracker(trained_tracker(tracker, unit))

    def make() -> RunningTracker:
        from extrinsic.trackers.cloned import clone_agreement, clone_tracker

        sides: tuple[Side, Side] = ("train", "test")
        dialogs = (unit.train, unit.test)
        examples = [
            (corpus_of(of_side), output_of(tracker, unit, side))
            for side, of_side in zip(sides, dialogs, strict=True)
        ]
        clone = clone_tracker(examples)
        return RunningTracker(clone, is_clone=True, fits=clone_agreement(clone, *examples[-1]).fits)

    return _CLONES.get(f"{tracker.identity} {unit.identity}", make)


def file_hash(path: str) -> str:
    return content_hash(read_bytes(path))
