"""Files in memory, random ones too -> corpora and trackers, through the real readers; rows to compare."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2, STATE_SETS
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.definition import Filled, Metric, parse_metric
from extrinsic.metrics.measuring import Source
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles, write_dstc1, write_dstc2, write_state_sets
from tests.strategies import dstc1_files, dstc2_files, state_set_files

Key = tuple[str, str, int, str | None]


def read_dstc1(files: Dstc1Files) -> tuple[Corpus, TrackerOutput]:
    with tempfile.TemporaryDirectory() as folder:
        written = write_dstc1(Path(folder), files)
        corpus = DSTC1.read_corpus(written.corpus, files.dataset)
        return corpus, DSTC1.read_tracker(written.tracker, corpus)


def read_dstc2(files: Dstc2Files) -> tuple[Corpus, TrackerOutput]:
    with tempfile.TemporaryDirectory() as folder:
        written = write_dstc2(Path(folder), files)
        corpus = DSTC2.read_corpus(written.corpus, files.dataset)
        return corpus, DSTC2.read_tracker(written.tracker, corpus)


def read_states(files: StateSetFiles) -> StateSets:
    with tempfile.TemporaryDirectory() as folder:
        return STATE_SETS.read(write_state_sets(Path(folder), files))


def keyed(rows: Iterable[Any]) -> dict[Key, tuple[int, float | None]]:
    """Rows of ours or of an oracle by what they measure."""
    return {(row.component, row.metric, row.schedule, row.label_scheme): (row.n, row.value) for row in rows}


def assert_close(found: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float = 1e-12) -> None:
    """The same values by the same keys; None is one."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        other = found[key]
        assert (other is None) == (value is None), (key, other, value)
        assert value is None or abs(other - value) <= tolerance, (key, other, value)


def assert_same(ours: dict[Key, Any], theirs: dict[Key, Any], tolerance: float = 1e-12) -> None:
    """The same numbers of items, and the same values."""
    assert {key: n for key, (n, _) in ours.items()} == {key: n for key, (n, _) in theirs.items()}
    assert_close(*({key: value for key, (_, value) in of.items()} for of in (ours, theirs)), tolerance)


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
        return [*own, *MORE_OF_STATES, *DSTC2.conventions.metrics]
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
