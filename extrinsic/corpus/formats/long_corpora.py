"""Corpora too long to be in memory: dialogs, and tracker files about them, read and written in parts.

A part is a corpus of some dialogs in the order of the file. What is computed dialog by dialog is the same as
if everything were read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType

from extrinsic.corpus.formats.notes import ScoresOutside, note_joint_only
from extrinsic.corpus.formats.tracker_files import AddPart, TrackerFileParts, tracker_file
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.domain import Domain
from extrinsic.errors import Problem, Problems
from extrinsic.storage import content_hash, content_hash_of_file, is_longer, read_bytes

LONG = 20_000_000
"""Bytes of a log from which on it is read in parts."""

DIALOGS = 2_000
"""Dialogs of a part; trackers see as many at once."""


@dataclass(eq=False)
class LongCorpus:
    """A log that is read in parts; trackers: the module of its format for tracker files.

    problems: warnings about the parts read so far.   signature: that of the whole.
    """

    trackers: ModuleType
    path: str
    _sign: Callable[[], str]
    _parts: Iterator[Corpus]

    @staticmethod
    def find(
        corpora: ModuleType, trackers: ModuleType, path: str | Path, dataset: str | None, domain: Domain
    ) -> LongCorpus | None:
        """The corpus, if it is long and its format can be read in parts."""
        read_parts = getattr(corpora, "read_parts", None)
        found = None if read_parts is None else read_parts(path, dataset, domain, DIALOGS, LONG)
        return None if found is None else LongCorpus(trackers, str(path), *found)

    def __post_init__(self) -> None:
        self._outside = ScoresOutside(self.path)

    @cached_property
    def signature(self) -> str:
        return self._sign()

    @property
    def problems(self) -> list[Problem]:
        return self._outside.problems()

    def parts(self) -> Iterator[Corpus]:
        for part in self._parts:
            self._outside.add(part)
            yield part

    def tracker(self, path: str | Path, name: str) -> LongTracker:
        return LongTracker(self.trackers, path, name)

    def tracker_file(self, path: str | Path) -> AbstractContextManager[AddPart]:
        """Write a tracker file part by part, completely or not at all."""
        return tracker_file(path, self.trackers.turn_writer)


class LongTracker:
    """A tracker file about a long corpus, read along with it.

    n_repairs: how many the scoring rules made so far.
    """

    def __init__(self, module: ModuleType, path: str | Path, name: str) -> None:
        self.path, self.name = str(path), name
        self._module = module
        self._file = TrackerFileParts(path)
        form: str = module.FORMAT
        long = is_longer(path, 0)
        self.signature = content_hash_of_file(path, form) if long else content_hash(form, read_bytes(path))
        self.n_repairs = 0
        self._warnings: dict[tuple[str, str | None], Problem] = {}
        self._n_joint_only = self._n_by_slot = 0

    def take(self, corpus: Corpus) -> TrackerOutput:
        """The output about the next part of the corpus."""
        text = self._file.take(corpus.n_dialogs)
        output: TrackerOutput = self._module.tracker_of_text(
            text, self.path, corpus, self.name, self.signature
        )
        alone, by_slot = output.turns_by_kind
        self._n_joint_only += alone
        self._n_by_slot += by_slot
        self.n_repairs += sum(problem.severity == "repair" for problem in output.problems)
        for problem in output.problems:
            if problem.severity == "warning":
                self._warnings.setdefault((problem.message, problem.slot), problem)
        return replace(output, problems=())

    @property
    def joint_only(self) -> bool:
        return self._n_joint_only > self._n_by_slot

    def about_file(self) -> list[Problem]:
        """What `score` says of the file."""
        problems = Problems(self.path)
        note_joint_only(problems, self.joint_only)
        return [*self._warnings.values(), *problems]

    def require_end(self, dataset: str) -> None:
        """Refuse a file that goes on after the last part."""
        self._file.require_end(dataset)
