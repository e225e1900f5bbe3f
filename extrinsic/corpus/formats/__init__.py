"""File formats: their protocols, and those that come with the package.

A belief format reads corpora and tracker files, and has conventions by which they are ranked and scored; a
state format reads files of gold and predicted states, or of predictions whose gold is given separately.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from extrinsic.corpus import conventions
from extrinsic.corpus.conventions import Conventions
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain, load_domain
from extrinsic.corpus.formats.notes import warnings_of_scores
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError, require_type
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash, read_bytes


def stem(path: str | Path) -> str:
    """The name of a tracker: its file's name without .json and .gz."""
    return Path(path).name.removesuffix(".gz").removesuffix(".json")


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause garbage collection: decoded JSON has many objects and no cycles, so collecting is wasted time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@runtime_checkable
class BeliefFormat(Protocol):
    """Corpora with labels, and tracker files with scored hypotheses.

    With `write_tracker(output, corpus, path)`, `extrinsic track` works on the format too;
    `write_corpus(corpus, path)` is for code that makes corpora.
    """

    @property
    def name(self) -> str:
        """Its name in the registry, and the `format` of every corpus that it reads."""

    @property
    def conventions(self) -> Conventions:
        """The conventions of every corpus that it reads."""

    @property
    def default_domain(self) -> str:
        """A built-in domain, or the path of a TOML file."""

    def read_corpus(
        self, path: str | Path, dataset: str | None = None, domain: Domain | str | None = None
    ) -> Corpus:
        """The dialogs of a dataset (None: the only one); resolve `domain` with `find_domain`."""

    def read_tracker(self, path: str | Path, corpus: Corpus, name: str | None = None) -> TrackerOutput:
        """A tracker's beliefs about the corpus, made by `build_output`; None: named by its file."""


@runtime_checkable
class WritesTrackers(Protocol):
    """A belief format that can write tracker files."""

    def write_tracker(self, output: TrackerOutput, corpus: Corpus, path: str | Path) -> None:
        """Write a file that `read_tracker` reads as the same beliefs."""


@runtime_checkable
class StateFormat(Protocol):
    """Files with predicted and gold state sets.

    One that leaves choices to the user (a gold of its own, how values are compared) has `takes`, the fields
    of StateReading that can be chosen, and `needs`, those that must be; its `read` has the reading as well.
    """

    @property
    def name(self) -> str:
        """Its name in the registry."""

    def read(self, path: str | Path, name: str | None = None, *reading: StateReading) -> StateSets:
        """The states of a file; None: named by the file."""


Format = BeliefFormat | StateFormat


def find_domain(domain: Domain | str | None, default: str) -> Domain:
    """Resolve a domain, its name or its path; None is the default."""
    return domain if isinstance(domain, Domain) else load_domain(domain or default)


@dataclass(frozen=True)
class ChallengeFormat:
    """A belief format whose module is imported when needed.

    trackers: the module for its tracker files, if another: a format may share those of another.
    """

    name: str
    module: str
    default_domain: str
    conventions: Conventions
    trackers: str | None = None

    @property
    def _corpora(self) -> Any:
        return import_module(self.module)

    @property
    def _trackers(self) -> Any:
        return import_module(self.trackers or self.module)

    def read_corpus(
        self, path: str | Path, dataset: str | None = None, domain: Domain | str | None = None
    ) -> Corpus:
        task = find_domain(domain, self.default_domain)
        with paused_collector():
            corpus: Corpus = self._corpora.read_corpus(path, dataset, task)
        warnings = warnings_of_scores(corpus, str(path))
        return replace(corpus, problems=(*corpus.problems, *warnings)) if warnings else corpus

    def read_tracker(self, path: str | Path, corpus: Corpus, name: str | None = None) -> TrackerOutput:
        data, trackers = read_bytes(path), self._trackers
        signature = content_hash(trackers.FORMAT, data)
        with paused_collector():
            output: TrackerOutput = trackers.tracker_of_text(
                data, str(path), corpus, name or stem(path), signature
            )
        return output

    def write_corpus(self, corpus: Corpus, path: str | Path) -> None:
        """Of DSTC1 and DSTC2: a directory in the challenge's layout."""
        corpora = self._corpora
        if not hasattr(corpora, "write_corpus"):
            raise UsageError(f"corpora cannot be written as {self.name!r}, only as dstc1 or dstc2")
        corpora.write_corpus(corpus, path)

    def write_tracker(self, output: TrackerOutput, corpus: Corpus, path: str | Path) -> None:
        from extrinsic.corpus.formats.sessions import write_tracker_file

        write_tracker_file(path, output, corpus, self._trackers.turn_writer)


AS_WRITTEN = StateReading()
"""No choice made: files with their own gold, values that are equal as text."""


def check_reading(form: StateFormat, reading: StateReading) -> None:
    """Refuse choices that the format does not have, and ask for those that it needs."""
    takes: tuple[str, ...] = getattr(form, "takes", ())
    own = [name for name in reading.chosen if name not in ("normalise", "dontcare")]
    # A gold of several is chosen where we join it; a format that reads its own gold has one.
    joined = () if "gold" in takes else ("gold", "gold_name")
    refused = [name for name in own if name not in (*takes, *joined)]
    if refused:
        choices = ", ".join(f"--{name.replace('_', '-')}" for name in refused)
        raise UsageError(
            f"files of format {form.name!r} take no {' and no '.join(refused)}: leave out {choices}"
        )
    needs: tuple[str, ...] = getattr(form, "needs", ())
    for name in needs:
        if name not in reading.chosen:
            raise UsageError(
                f"files of format {form.name!r} need a {name}: say it with --{name}, in a study with "
                f"`{name}` in [states]"
            )


def read_state_file(
    form: StateFormat, path: str | Path, name: str | None = None, reading: StateReading = AS_WRITTEN
) -> StateSets:
    """Read a file of a state format, which must know the choices that were made."""
    from extrinsic.corpus.formats.gold_states import join_gold, read_gold
    from extrinsic.corpus.state_checks import check_tracker, warnings_of_writing
    from extrinsic.corpus.state_sets import normalise_states

    check_reading(form, reading)
    takes: tuple[str, ...] = getattr(form, "takes", ())
    states = form.read(path, name, reading) if takes else form.read(path, name)
    said = None
    if reading.gold is not None and "gold" not in takes:
        gold = read_gold(reading.gold, reading.gold_name)
        states, said = join_gold(states, gold, str(path)), gold.said
    states = normalise_states(states, reading)
    suspicions = tuple(check_tracker(states, said))
    notes = [suspicion.note(str(path)) for suspicion in suspicions] + warnings_of_writing(states, str(path))
    return replace(states, suspicions=suspicions, problems=(*states.problems, *notes))


@dataclass(frozen=True)
class StateSetFormat:
    """A state format whose `module`, imported when needed, has the function that reads a file.

    gather: the function that makes dialogs of a file's JSON (state_files.Gather); it suffices where there is
    no quicker way to read one.   takes, needs: the choices of StateReading; with any, `function` has the
    reading as its third argument.
    """

    name: str
    module: str
    function: str | None = None
    gather: str | None = None
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def gathering(self) -> Any:
        """The function that `gather` names, None where there is none."""
        return self.gather and getattr(import_module(self.module), self.gather)

    def read(
        self, path: str | Path, name: str | None = None, reading: StateReading = AS_WRITTEN
    ) -> StateSets:
        from extrinsic.corpus.formats.state_files import read_native

        with paused_collector():
            if self.function is None:
                return read_native(path, name or stem(path), self.name, self.gathering())
            function = getattr(import_module(self.module), self.function)
            states: StateSets = function(path, name or stem(path), *((reading,) if self.takes else ()))
        return states


_HERE = "extrinsic.corpus.formats"
_OUTPUTS, _SGD = f"{_HERE}.model_outputs", f"{_HERE}.sgd"
_SGD_CHOICES = None, ("gold", "fuzzy"), ("gold",)
DSTC1 = ChallengeFormat("dstc1", f"{_HERE}.dstc1", "bus", conventions.DSTC1)
DSTC2 = ChallengeFormat("dstc2", f"{_HERE}.dstc2", "restaurants", conventions.DSTC2)
JSONL = ChallengeFormat("jsonl", f"{_HERE}.jsonl", "restaurants", conventions.JSONL, f"{_HERE}.dstc2")
STATE_SETS = StateSetFormat("state-sets", f"{_HERE}.state_files", "read_state_sets", "gather_state_sets")
TRADE = StateSetFormat("trade", _OUTPUTS, gather="gather_trade")
TRIPPY = StateSetFormat("trippy", _OUTPUTS, gather="gather_trippy")
SIMPLETOD = StateSetFormat("simpletod", _OUTPUTS, gather="gather_simpletod")
MULTIWOZ_EVAL = StateSetFormat("multiwoz-eval", _OUTPUTS, gather="gather_multiwoz_eval", needs=("gold",))
SGD = StateSetFormat("sgd", _SGD, "read_dialogs", *_SGD_CHOICES)
SGD_FRAMES = StateSetFormat("sgd-frames", _SGD, "read_frames", *_SGD_CHOICES)

_SUMMARIES: dict[ChallengeFormat | StateSetFormat, str] = {
    DSTC1: "DSTC1: dstc.log.json, dstc.labels.json, <dataset>.sessions, tracker file",
    DSTC2: "DSTC2/3: log.json, label.json, <dataset>.flist (directory or .tar.gz), tracker file",
    JSONL: "own logs: <dataset>.jsonl, a turn a line, with N-best lists and labels",
    STATE_SETS: 'state sets: {dialog: {turn: {"gt": {...}, "pr": {...}}}}, plain or .gz',
    TRADE: "TRADE's predictions: {dialog: {turn: {turn_belief, pred_bs_ptr}}}",
    TRIPPY: "TripPy's predictions: a list of turns with slot_prediction_<slot>",
    SIMPLETOD: "SimpleTOD's output: generated_turn_belief against target_turn_belief",
    MULTIWOZ_EVAL: "MultiWOZ_Evaluation's file: {dialog: [{state, response}]}, with --gold FILE",
    SGD: "SGD/DSTC8 predictions (dialogues_*.json) with --gold DIR: a state a user turn, all services",
    SGD_FRAMES: "the same by frames, as its own scorer counts: every service is a dialog",
}
for _form, _summary in _SUMMARIES.items():
    FORMATS.register(_form.name, _form, _summary)


def _require_path(path: object) -> None:
    require_type("path", path, "the path of a file or directory", str, Path)


def read_corpus(
    path: str | Path, dataset: str | None = None, *, format: str, domain: Domain | str | None = None
) -> Corpus:
    """Read a corpus of a belief format, e.g. `read_corpus("dstc2.tar.gz", "dstc2_dev", format="dstc2")`."""
    _require_path(path)
    form = FORMATS.get(format)
    if not isinstance(form, BeliefFormat):
        raise UsageError(f"files of format {format!r} contain their own gold states: use read_states")
    return form.read_corpus(path, dataset, domain)


def read_tracker(path: str | Path, corpus: Corpus, name: str | None = None) -> TrackerOutput:
    """Read a tracker file of the corpus's own format."""
    _require_path(path)
    require_type("corpus", corpus, "a Corpus (read_corpus)", Corpus)
    form = FORMATS.get(corpus.format)
    if not isinstance(form, BeliefFormat):
        raise UsageError(f"the format {corpus.format!r} has no tracker files of its own")
    return form.read_tracker(path, corpus, name)


def read_states(
    path: str | Path,
    *,
    format: str = "state-sets",
    name: str | None = None,
    gold: str | Path | None = None,
    fuzzy: int | None = None,
    normalise: str | None = None,
    dontcare: str | None = None,
    gold_name: str | None = None,
) -> StateSets:
    """Read a file of predicted and gold state sets; the choices are those of StateReading."""
    _require_path(path)
    form = FORMATS.get(format)
    if not isinstance(form, StateFormat):
        raise UsageError(f"files of format {format!r} need a corpus: use read_corpus and read_tracker")
    chosen = None if gold is None else str(gold)
    return read_state_file(form, path, name, StateReading(chosen, fuzzy, normalise, dontcare, gold_name))


def tracker_writer(format: str) -> WritesTrackers:
    """The format of this name, which must be able to write tracker files."""
    form = FORMATS.get(format)
    if not isinstance(form, BeliefFormat):
        raise UsageError(
            f"files of format {format!r} contain states and no dialogs to track; see `extrinsic ls formats`"
        )
    if not isinstance(form, WritesTrackers):
        raise UsageError(f"the format {format!r} cannot write tracker files: it has no write_tracker")
    return form
