"""The fast implementation agrees with the plain one, on random and on real calls: every metric and schedule.

Of DSTC1's train3 the system's own belief is scored on all 687 calls, the built-in trackers on the first 25;
with EXTRINSIC_ALL_CALLS=1 all of them on all calls (five minutes or so).
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from extrinsic.corpus.conventions import DSTC2
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles
from tests.metrics.reading import assert_close, assert_same, keyed, read_dstc1, read_dstc2, read_states
from tests.oracles import dstc1, dstc2, state_changes, state_sets
from tests.oracles.real_data import read_dstc1_train3, read_json
from tests.real_data import BUS_CALLS, FOLDER, needs_bus_calls, read_bus_calls
from tests.running import run
from tests.strategies import dstc1_files, dstc2_files, state_set_files

N_EXAMPLES = 60


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(dstc1_files(max_dialogs=4))
def test_dstc1(files: Dstc1Files) -> None:
    ours = score(*read_dstc1(files))
    theirs = dstc1.score(list(files.logs.values()), list(files.labels.values()), files.tracker, files.dataset)
    assert_same(keyed(ours.rows), keyed(theirs))


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(dstc2_files(max_dialogs=4))
def test_dstc2(files: Dstc2Files) -> None:
    ours = score(*read_dstc2(files), metrics=[*DSTC2.metrics, "brier"])
    theirs = dstc2.score(
        list(files.logs.values()), list(files.labels.values()), files.tracker, files.ontology
    )
    assert_same(keyed(ours.rows), keyed(theirs))


@settings(max_examples=2 * N_EXAMPLES, deadline=None)
@given(state_set_files(max_dialogs=4))
def test_state_sets(files: StateSetFiles) -> None:
    states = read_states(files)
    corpus = files.states
    for component in ("all", *states.domains):
        part = corpus if component == "all" else state_sets.restrict_to_domain(corpus, component)
        n_slots = 30 if component == "all" else {"hotel": 10, "taxi": 4, "train": 6}[component]
        expected = {
            "jga": state_sets.jga(part),
            "slot_accuracy": state_sets.slot_accuracy(part, n_slots),
            "relative_slot_accuracy": state_sets.relative_slot_accuracy(part),
            "average_goal_accuracy": state_sets.average_goal_accuracy(part),
            "improved_average_goal_accuracy": state_sets.improved_average_goal_accuracy(part),
            "improved_average_goal_accuracy(published)": (
                state_sets.improved_average_goal_accuracy_published(part)
            ),
            "slot_f1": state_sets.slot_f1(part),
            "turn_match": state_sets.turn_match(part),
            "fga(0)": state_sets.fga(part, 0.0),
            "fga(0.5)": state_sets.fga(part, 0.5),
            "fga(0.5, variant=literal)": state_sets.fga(part, 0.5, literal=True),
            "gca": state_changes.gca(part),
            "gca(weights=plain)": state_changes.gca(part, weights="plain"),
            "gca(drops=once)": state_changes.gca(part, count_double_drops_once=True),
            "tail_orientation": mean_of(part, state_changes.tail_orientation),
            "tail_orientation(2023)": mean_of(part, state_changes.tail_orientation_summed),
            "non_uniformity": mean_of(part, state_changes.non_uniformity),
            "non_uniformity(2023)": mean_of(part, state_changes.non_uniformity_squared),
            "first_error": mean_of(part, state_sets.first_joint_error),
        }
        counts = state_changes.gca_counts(part)
        expected |= {f"changes({kind})": float(getattr(counts, kind)) for kind in counts._fields}
        rows = score(states, metrics=list(expected), components=[component], schedules=[1]).rows
        assert_close({row.metric: row.value for row in rows}, expected)


def mean_of(corpus, trait) -> float | None:  # type: ignore[no-untyped-def]
    found = [value for value in map(trait, corpus.values()) if value is not None]
    return sum(found) / len(found) if found else None


DATASET = "train3"
N_CALLS, FEW = 687, 25
ON_ALL_CALLS = TRACKERS.names() if os.environ.get("EXTRINSIC_ALL_CALLS") else []


@cache
def corpus_of(n_calls: int) -> Corpus:
    whole = read_bus_calls(DATASET)
    return whole if n_calls == N_CALLS else whole.take(list(range(n_calls)))


def assert_equals_oracle(corpus: Corpus, output: TrackerOutput, written: Any) -> None:
    logs, labels = (of_calls[: corpus.n_dialogs] for of_calls in read_dstc1_train3())
    theirs = keyed(dstc1.score(logs, labels, written, DATASET))
    # Eleven components, three schedules, sixteen metrics.
    assert len(theirs) == 11 * 3 * 16
    assert_same(keyed(score(corpus, output).rows), theirs, tolerance=1e-9)


@needs_bus_calls
def test_the_systems_own_belief() -> None:
    path = FOLDER / "dstc1" / "att.train3.json.gz"
    corpus = corpus_of(N_CALLS)
    assert_equals_oracle(corpus, DSTC1.read_tracker(path, corpus), read_json(path))


def joint_figures(corpus: Corpus, output: TrackerOutput) -> tuple[float | None, ...]:
    """Accuracy at every turn and at the end, and L2 at every turn."""
    rows = score(corpus, output).rows
    joint = {(row.metric, row.schedule): row.value for row in rows if row.component == "joint"}
    return joint["accuracy", 1], joint["accuracy", 3], joint["l2", 1]


@needs_bus_calls
def test_figures_of_another_program() -> None:
    corpus = corpus_of(N_CALLS)
    att = DSTC1.read_tracker(FOLDER / "dstc1" / "att.train3.json.gz", corpus)
    assert joint_figures(corpus, att) == pytest.approx((0.649, 0.640, 0.558), abs=0.0006)
    baseline = track(TRACKERS.get("baseline"), corpus, "baseline")
    assert joint_figures(corpus, baseline) == pytest.approx((0.614, 0.632, 0.717), abs=0.0006)


@needs_bus_calls
def test_a_file_without_joint(tmp_path: Path) -> None:
    """Every joint belief is None, and whoever validates or scores the file reads it."""
    dataset = "train3_plain_b"
    corpus, whole = read_bus_calls(dataset), FOLDER / "dstc1" / f"att.{dataset}.json.gz"
    assert joint_figures(corpus, DSTC1.read_tracker(whole, corpus))[0] == pytest.approx(0.762, abs=0.0006)
    bare = tmp_path / "bare.json"
    written = read_json(whole)
    for session in written["sessions"]:
        for turn in session["turns"]:
            turn.pop("joint", None)
    bare.write_text(json.dumps(written))
    none_is_right = corpus.truth.none.reshape(corpus.n_turns, -1).all(axis=1).mean()
    assert joint_figures(corpus, DSTC1.read_tracker(bare, corpus))[0] == pytest.approx(none_is_right)
    for command in ("validate", "score"):
        arguments = (command, "--format", "dstc1", "--corpus", BUS_CALLS, "--dataset", dataset)
        for path, has_none in ((whole, False), (bare, True)):
            outcome = run(*arguments, path)
            assert outcome.code == 0, outcome.text
            assert ("the file has no joint hypotheses" in outcome.text) == has_none
            assert str(path) in outcome.text or not has_none


@needs_bus_calls
@pytest.mark.parametrize("name", TRACKERS.names())
def test_built_in_trackers(name: str, tmp_path: Path) -> None:
    corpus = corpus_of(N_CALLS if name in ON_ALL_CALLS else FEW)
    path = tmp_path / f"{name}.json"
    DSTC1.write_tracker(track(TRACKERS.get(name), corpus, name), corpus, path)
    written = json.loads(path.read_bytes())
    assert_equals_oracle(corpus, DSTC1.read_tracker(path, corpus), written)
