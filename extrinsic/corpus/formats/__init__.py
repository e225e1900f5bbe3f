"""File formats: what a format can do, and those that come with the package.

A belief format reads corpora and tracker files; a state format reads files that hold gold and prediction.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.domain import Domain, load_domain
from extrinsic.errors import UsageError
from extrinsic.registry import FORMATS


def stem(path: str | Path) -> str:
    """The name of a tracker: its file's name without .json and .gz."""
    return Path(path).name.removesuffix(".gz").removesuffix(".json")


@contextmanager
def paused_collector() -> Iterator[None]:
    """Decoded JSON is a great many objects and no cycle: the collector would only walk them in vain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class BeliefFormat:
    """Corpora with labels, and tracker files with scored hypotheses; `package` holds the parts."""

    name: str
    package: str
    default_domain: str

    def _part(self, module: str, function: str) -> Callable[..., Any]:
        part: Callable[..., Any] = getattr(import_module(f"{self.package}_{module}"), function)
        return part

    def read_corpus(
        self, path: str | Path, dataset: str | None = None, domain: Domain | str | None = None
    ) -> Corpus:
        if not isinstance(domain, Domain):
            domain = load_domain(domain or self.default_domain)
        with paused_collector():
            corpus: Corpus = self._part("corpus", "read_corpus")(path, dataset, domain)
        return corpus

    def read_tracker(self, path: str | Path, corpus: Corpus, name: str | None = None) -> TrackerOutput:
        with paused_collector():
            output: TrackerOutput = self._part("tracker", "read_tracker")(path, corpus, name or stem(path))
        return output

    def write_corpus(self, corpus: Corpus, path: str | Path) -> None:
        self._part("writing", "write_corpus")(corpus, path)

    def write_tracker(self, output: TrackerOutput, corpus: Corpus, path: str | Path) -> None:
        self._part("writing", "write_tracker")(output, corpus, path)


@dataclass(frozen=True)
class StateFormat:
    """Files that hold predicted and gold state sets; `module` has `read`, and `write` where it can."""

    name: str
    module: str

    def read(self, path: str | Path, name: str | None = None) -> StateSets:
        with paused_collector():
            states: StateSets = import_module(self.module).read(path, name or stem(path))
        return states

    def write(self, states: StateSets, path: str | Path) -> None:
        import_module(self.module).write(states, path)


Format = BeliefFormat | StateFormat

_HERE = "extrinsic.corpus.formats"
DSTC1 = BeliefFormat("dstc1", f"{_HERE}.dstc1", "bus")
DSTC2 = BeliefFormat("dstc2", f"{_HERE}.dstc2", "restaurants")
STATE_SETS = StateFormat("state-sets", f"{_HERE}.state_sets.plain")
TRADE = StateFormat("trade", f"{_HERE}.state_sets.trade")
TRIPPY = StateFormat("trippy", f"{_HERE}.state_sets.trippy")
SIMPLETOD = StateFormat("simpletod", f"{_HERE}.state_sets.simpletod")

FORMATS.register("dstc1", DSTC1, "DSTC1: dstc.log.json, dstc.labels.json, <dataset>.sessions, tracker file")
FORMATS.register(
    "dstc2", DSTC2, "DSTC2/3: log.json, label.json, <dataset>.flist (directory or .tar.gz), tracker file"
)
FORMATS.register(
    "state-sets", STATE_SETS, 'state sets: {dialog: {turn: {"gt": {...}, "pr": {...}}}}, plain or .gz'
)
FORMATS.register("trade", TRADE, "TRADE's predictions: {dialog: {turn: {turn_belief, pred_bs_ptr}}}")
FORMATS.register("trippy", TRIPPY, "TripPy's predictions: a list of turns with slot_prediction_<slot>")
FORMATS.register(
    "simpletod", SIMPLETOD, "SimpleTOD's output: generated_turn_belief against target_turn_belief"
)


def read_corpus(
    path: str | Path, dataset: str | None = None, *, format: str, domain: Domain | str | None = None
) -> Corpus:
    """Read a corpus of a belief format, e.g. `read_corpus("dstc2.tar.gz", "dstc2_dev", format="dstc2")`."""
    form = FORMATS.get(format)
    if not isinstance(form, BeliefFormat):
        raise UsageError(f"files of format {format!r} hold their own gold states: use read_states")
    return form.read_corpus(path, dataset, domain)


def read_tracker(path: str | Path, corpus: Corpus, name: str | None = None) -> TrackerOutput:
    """Read a tracker file of the corpus's own format."""
    form = FORMATS.get(corpus.format)
    if not isinstance(form, BeliefFormat):
        raise UsageError(f"the format {corpus.format!r} has no tracker files of its own")
    return form.read_tracker(path, corpus, name)


def read_states(path: str | Path, *, format: str = "state-sets", name: str | None = None) -> StateSets:
    """Read a file of predicted and gold state sets."""
    form = FORMATS.get(format)
    if not isinstance(form, StateFormat):
        raise UsageError(f"files of format {format!r} need a corpus: use read_corpus and read_tracker")
    return form.read(path, name)
