"""The items of a tracker that metrics are computed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from extrinsic.corpus.conventions import Conventions, ScoreConventions
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError
from extrinsic.metrics.belief_metrics import Update
from extrinsic.metrics.definition import Filled, HypothesisMean, ItemMean, Metric
from extrinsic.metrics.items.item_tables import ItemTable
from extrinsic.metrics.items.state_tables import (
    StateTable,
    beliefs_of_states,
    table_of_states,
    tables_of_filled_beliefs,
)
from extrinsic.storage import content_hash


class Source:
    """A tracker's items of every kind, built when a metric first needs them."""

    def __init__(self, corpus: Corpus | None, tracker: TrackerOutput | StateSets) -> None:
        if corpus is not None:
            if not isinstance(tracker, TrackerOutput):
                raise UsageError(
                    "a corpus is scored with a tracker's output; state sets are scored by themselves"
                )
            tracker.require_about(corpus)
        if tracker.n_dialogs == 0:
            raise UsageError("nothing to score: there are no dialogs")
        self.corpus, self.tracker = corpus, tracker
        self._filled: dict[Fill, list[StateTable]] = {}

    @property
    def conventions(self) -> ScoreConventions:
        """The conventions of the corpus, or of the state sets."""
        if isinstance(self.tracker, StateSets):
            return self.tracker.conventions
        assert self.corpus is not None
        return self.corpus.conventions

    @property
    def n_dialogs(self) -> int:
        return self.tracker.n_dialogs

    @property
    def identity(self) -> str:
        """The identity of the dialogs, independent of the tracker."""
        if self.corpus is not None:
            return self.corpus.signature
        assert isinstance(self.tracker, StateSets)
        return content_hash(*self.tracker.dialogs)

    def chunks(self, n_turns: int) -> Iterator[Source]:
        """A tracker's output in parts of whole dialogs, each of about so many turns."""
        assert self.corpus is not None and isinstance(self.tracker, TrackerOutput)
        chunk = self.corpus.offsets[:-1] // n_turns
        for dialogs in np.split(np.arange(len(chunk)), np.flatnonzero(np.diff(chunk)) + 1):
            yield Source(self.corpus.take(dialogs), self.tracker.take(dialogs))

    @cached_property
    def belief_tables(self) -> list[ItemTable]:
        if isinstance(self.tracker, StateSets):
            return [beliefs_of_states(self.tracker)]
        assert self.corpus is not None
        conventions = self.corpus.conventions
        tables = list(conventions.build_items(self.corpus, self.tracker))
        _require_conventions(tables, conventions)
        return tables

    @cached_property
    def state_tables(self) -> list[StateTable]:
        assert isinstance(self.tracker, StateSets)
        return [table_of_states(self.tracker)]

    def tables(self, metric: Metric) -> Sequence[ItemTable | StateTable]:
        """The tables that a metric is computed on."""
        if isinstance(metric, Filled):
            if isinstance(self.tracker, StateSets):
                raise UsageError(f"{metric}: state sets are filled already and take no fill rule")
            assert self.corpus is not None
            if metric.fill not in self._filled:
                self._filled[metric.fill] = list(
                    tables_of_filled_beliefs(self.corpus, self.tracker, metric.fill)
                )
            return self._filled[metric.fill]
        if metric.kind == "state":
            if not isinstance(self.tracker, StateSets):
                raise UsageError(
                    f"{metric} needs states, and this tracker has beliefs: say how they are filled, "
                    f"e.g. {Filled(metric, Fill('argmax'))} (on the command line also --fill argmax)"
                )
            return self.state_tables
        self._require(metric)
        return self.belief_tables

    def _require(self, metric: Metric) -> None:
        table = self.belief_tables[0]
        lacking = isinstance(metric, ItemMean) and metric.field not in table.fields
        lacking |= isinstance(metric, HypothesisMean) and not table.hypotheses
        if lacking or (isinstance(metric, Update) and table.top is None):
            raise UsageError(f"the metric {metric} is not defined for {self.conventions.name}")


def _require_conventions(tables: Sequence[ItemTable], conventions: Conventions) -> None:
    """Raise UsageError for items that do not match their conventions, as a plugin's may."""
    schemes = tuple(table.label_scheme for table in tables)
    if schemes != conventions.label_schemes:
        raise UsageError(
            f"the items of {conventions.name!r} have other label schemes than its conventions",
            expected=repr(conventions.label_schemes),
            found=repr(schemes),
        )
    for table in tables:
        lacking = [
            f"the schedule {number}" for number in conventions.schedules if number not in table.schedules
        ]
        lacking += [
            f"the component {name!r}" for name in conventions.components if name not in table.components
        ]
        if lacking:
            raise UsageError(
                f"the items of {conventions.name!r} lack {', '.join(lacking)} of its conventions"
            )
