"""What holds for every metric of every format, on random files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.metrics.belief_items import Items
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.measuring import Source
from extrinsic.metrics.roc import Roc
from extrinsic.metrics.scoring import score
from extrinsic.storage import encode_json
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles, only_sessions
from tests.metrics.reading import (
    Files,
    assert_close,
    files_of_any_format,
    items_of,
    metrics_of,
    read,
    read_states,
    take,
    values_of,
)
from tests.strategies import dstc2_files, state_set_files

N_EXAMPLES = 20

FILES = files_of_any_format()


def permuted(files: Files, order: list[int]) -> Files:
    if isinstance(files, StateSetFiles):
        names = list(files.states)
        return StateSetFiles({names[position]: files.states[names[position]] for position in order})
    return only_sessions(files, order)


def n_dialogs(files: Files) -> int:
    return len(files.states if isinstance(files, StateSetFiles) else files.logs)


def depends_on_order(items: Any) -> bool:
    """DSTC2's curve has a point at the first item of each run of equal scores: whichever that is."""
    return (
        isinstance(items, Items)
        and items.table.roc_points == "distinct_scores"
        and len(np.unique(items.roc.score)) < len(items.roc.score)
    )


@settings(max_examples=N_EXAMPLES)
@given(FILES, st.data())
def test_the_order_of_dialogs_does_not_matter(files: Files, data: st.DataObject) -> None:
    """The files are read anew in another order, so that ids of values differ too."""
    order = data.draw(st.permutations(range(n_dialogs(files))))
    source = read(files)
    left_out = {
        key for key, _, items in items_of(source) if key[1].startswith("roc.") and depends_on_order(items)
    }
    found, expected = values_of(read(permuted(files, order))), values_of(source)
    assert_close(*({key: of[key] for key in of if key not in left_out} for of in (found, expected)))


def renamed(value: Any) -> Any:
    """Another text for every value; what stands for no value stays."""
    return value if value in ("none", "") else f"~{value}"


def with_values_renamed(files: Files) -> Files:
    return replace(files, **{name: rename(of, name) for name, of in vars(files).items()})


STRUCTURE = {"act", "turn-index", "session-id", "dataset", "score", "restart", "label", "wall-time", "method"}
"""Keys whose values are no values of slots."""

BY_VALUE = {"food", "area", "pricerange", "name"}
"""Goals of DSTC2 trackers: {slot: {value: score}}."""


def rename(written: Any, key: str = "") -> Any:
    """A log, label or tracker file with every value of a slot renamed."""
    if key in STRUCTURE or key in ("method-label", "requested-slots", "requestable", "system-specific"):
        return written
    if isinstance(written, dict):
        if key in BY_VALUE:
            return {renamed(value): score for value, score in written.items()}
        return {name: rename(part, name) for name, part in written.items()}
    if isinstance(written, list):
        # A pair of an act; the value of the pseudo-slot `slot` is the name of a slot.
        if len(written) == 2 and key == "slots" and isinstance(written[0], str):
            return written if written[0] == "slot" else [written[0], renamed(written[1])]
        return [rename(part, key) for part in written]
    return renamed(written) if isinstance(written, str | int) and not isinstance(written, bool) else written


@settings(max_examples=N_EXAMPLES)
@given(FILES)
def test_the_names_of_values_do_not_matter(files: Files) -> None:
    other = with_values_renamed(files)
    assert_close(values_of(read(other)), values_of(read(files)))


def test_renaming_reaches_every_kind_of_value() -> None:
    """The property above would hold of files that were not renamed at all."""
    pair = {"act": "inform", "slots": [["food", "thai"], ["slot", "area"]]}
    assert rename({"slu-hyp": [pair]}) == {
        "slu-hyp": [{"act": "inform", "slots": [["food", "~thai"], ["slot", "area"]]}]
    }
    assert rename({"goal-labels": {"food": {"thai": 0.5}}}) == {"goal-labels": {"food": {"~thai": 0.5}}}
    assert rename({"goal-labels": {"food": "thai"}}) == {"goal-labels": {"food": "~thai"}}
    assert rename({"slots": {"time.hour": 7}, "label": True}) == {"slots": {"time.hour": "~7"}, "label": True}


@settings(max_examples=N_EXAMPLES)
@given(FILES, st.data())
def test_statistics_of_two_halves_add_up(files: Files, data: st.DataObject) -> None:
    """Sums over dialogs; ROC curves are no sums, and are held against repeated dialogs below."""
    source = read(files)
    cut = data.draw(st.integers(0, source.n_dialogs))
    if cut in (0, source.n_dialogs):
        cut = 1 if source.n_dialogs > 1 else 0
    halves = [range(cut), range(cut, source.n_dialogs)]
    parts = [items_of(take(source, list(half))) for half in halves if len(half)]
    found = {}
    for of_parts in zip(*parts, strict=True):
        key, metric, _ = of_parts[0]
        if isinstance(metric, Roc):
            continue
        totals = [metric.statistics(items).sum(0) for _, _, items in of_parts]
        found[key] = metric.value(totals[0] if len(totals) == 1 else totals[0] + totals[1])
    expected = values_of(source)
    assert_close(found, {key: expected[key] for key in found})


@settings(max_examples=N_EXAMPLES)
@given(FILES, st.data())
def test_weights_stand_for_repeated_dialogs(files: Files, data: st.DataObject) -> None:
    source = read(files)
    n = source.n_dialogs
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)))
    repeated = take(source, np.repeat(np.arange(n), weights))
    found = {key: metric.value(weights @ metric.statistics(items)) for key, metric, items in items_of(source)}
    assert_close(found, values_of(repeated))


@settings(max_examples=N_EXAMPLES)
@given(FILES)
def test_statistics_have_a_row_for_each_dialog(files: Files) -> None:
    source = read(files)
    for key, metric, items in items_of(source):
        statistics = metric.statistics(items)
        shape = statistics.shape
        assert shape[0] == source.n_dialogs and len(shape) == 2, (key, shape)
        if metric.count(items, statistics.sum(0)) == 0 and metric.name not in ("changes", "turn_errors"):
            assert metric.value(metric.statistics(items).sum(0)) is None, key


HIGHEST = {
    "l2": 2.0,
    "l2_lee": np.sqrt(2),
    "brier": 2.0,
    "l2_binary": 2.0,
    "neglogp": -np.log(1e-4),
    "hypothesis_count": np.inf,
    "top": np.inf,
    "truth": np.inf,
}
LOWEST = {"top": -np.inf, "truth": -np.inf}


def fields_of(source: Source) -> list[tuple[str, np.ndarray]]:
    fields = [(name, values) for table in source.belief_tables for name, values in table.fields.items()]
    for _, metric, items in items_of(source):
        if isinstance(metric, TurnMean):
            scores = metric.turn_scores(items)
            fields.append((metric.name, scores[~np.isnan(scores)]))
    return fields


@settings(max_examples=N_EXAMPLES)
# DSTC2's scorer leaves negative scores as they are, so only files without any stay in the ranges.
@given(
    st.one_of(
        dstc2_files(repairs=False),
        state_set_files(),
        files_of_any_format().filter(lambda files: not isinstance(files, Dstc2Files)),
    )
)
def test_items_are_worth_what_they_can_be_worth(files: Files) -> None:
    for name, values in fields_of(read(files)):
        low, high = LOWEST.get(name, 0.0), HIGHEST.get(name, 1.0)
        if isinstance(files, Dstc1Files) and name == "l2":
            high = np.sqrt(2)
        assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all(), (name, values)


@given(state_set_files(), st.floats(0, 50), st.floats(0, 50))
def test_flexible_goal_accuracy_lies_between(files: StateSetFiles, one: float, other: float) -> None:
    less, more = sorted((one, other))
    states = read_states(files)
    for component in ("all", *states.domains):
        metrics = ["jga", "fga(0)", f"fga({less!r})", f"fga({more!r})", "turn_match"]
        rows = score(states, metrics=metrics, components=[component], schedules=[1]).rows
        values = [row.value for row in rows]
        assert values[0] == values[1]
        assert values == sorted(values)  # type: ignore[type-var]


@settings(max_examples=15)
@given(FILES)
def test_scoring_twice_gives_the_same_bytes(files: Files) -> None:
    def scored() -> bytes:
        source = read(files)
        of = (source.tracker,) if source.corpus is None else (source.corpus, source.tracker)
        scores = score(*of, metrics=metrics_of(source), bootstrap=5)  # type: ignore[arg-type]
        return encode_json({"signature": scores.signature, "rows": scores.as_rows()})

    first = scored()
    assert first == scored()
    # Never NaN or Infinity, which are no JSON.
    json.loads(first, parse_constant=lambda name: (_ for _ in ()).throw(AssertionError(name)))
