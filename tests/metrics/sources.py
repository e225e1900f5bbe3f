"""Random files of every format as sources of items, for properties that hold for every metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from extrinsic.corpus.conventions import DSTC2
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.definition import Filled, Metric, parse_metric
from extrinsic.metrics.measuring import Source
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles
from tests.metrics.reading import Key, read_dstc1, read_dstc2, read_states
from tests.strategies import dstc1_files, dstc2_files, state_set_files

Files = Dstc1Files | Dstc2Files | StateSetFiles

MORE_OF_STATES = (
    "fga(0.5, variant=literal)",
    "gca(weights=plain)",
    "gca(drops=once)",
    "changes(correct)",
    "changes(overshot)",
    "turn_errors(own)",
    "turn_errors(carried)",
    "first_error(relative)",
)

AS_STATES = ("jga", "fga(0.5)", "gca", "slot_f1", "turn_errors(own)")


def files_of_any_format(max_dialogs: int = 4) -> st.SearchStrategy[Files]:
    return st.one_of(
        dstc1_files(max_dialogs=max_dialogs),
        dstc2_files(max_dialogs=max_dialogs),
        state_set_files(max_dialogs=max_dialogs),
    )


def read(files: Files) -> Source:
    if isinstance(files, StateSetFiles):
        return Source(None, read_states(files))
    return Source(*(read_dstc1(files) if isinstance(files, Dstc1Files) else read_dstc2(files)))


def take(source: Source, dialogs: Any) -> Source:
    """The same trackers on some of the dialogs."""
    corpus = None if source.corpus is None else source.corpus.take(dialogs)
    return Source(corpus, source.tracker.take(dialogs))


def metrics_of(source: Source) -> list[str]:
    """Every metric of the format, and those from across the bridge."""
    own = list(source.conventions.metrics)
    if isinstance(source.tracker, StateSets):
        return [*own, *MORE_OF_STATES, *DSTC2.metrics]
    rules = (Fill("argmax"), Fill("threshold", 0.25))
    return own + [str(Filled(parse_metric(name), rule)) for name in AS_STATES for rule in rules]  # type: ignore[arg-type]


def items_of(source: Source) -> Iterator[tuple[Key, Metric, Any]]:
    """Every metric with the items of every component, schedule and label scheme."""
    for name in metrics_of(source):
        metric = parse_metric(name)
        for table in source.tables(metric):
            for schedule in table.schedules:
                for component in table.components:
                    key = (component, name, schedule, table.label_scheme)
                    yield key, metric, table.select(component, schedule)


def values_of(source: Source) -> dict[Key, float | None]:
    return {key: metric.value(metric.statistics(items).sum(0)) for key, metric, items in items_of(source)}
