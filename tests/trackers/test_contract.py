"""What holds for every tracker there is, on any corpus."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import add_in_order, turns_in_step
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.registry import TRACKERS
from extrinsic.trackers.protocol import flags_of
from extrinsic.trackers.track import track
from extrinsic.trackers.tracking import Tracking
from tests.builders import Dstc1Files, Dstc2Files, act, heard
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.strategies import dstc1_files, dstc2_files
from tests.trackers.calls import (
    EVERY,
    NAMES,
    SANE,
    noisy_calls,
    perfect_calls,
    ready,
    restaurant_calls,
    tops_of,
)

FILES = st.one_of(dstc1_files(max_dialogs=4), dstc2_files(max_dialogs=4))

every_tracker = pytest.mark.parametrize("name", EVERY)


def read(files: Dstc1Files | Dstc2Files) -> Corpus:
    return (read_dstc1(files) if isinstance(files, Dstc1Files) else read_dstc2(files))[0]


def beliefs_of_dialog(output: TrackerOutput, dialog: int) -> bytes:
    """Every number that is written about a dialog, to the last bit."""
    part = output.take([dialog])
    columns = (
        part.given.offsets,
        part.given.value,
        part.given.score,
        part.given_joint.offsets,
        part.given_joint.assignment,
        part.given_joint.score,
        part.given_method.score,
        part.requested,
    )
    return b"".join(np.ascontiguousarray(column).tobytes() for column in columns)


def require_sane(output: TrackerOutput) -> None:
    for part in (output.given, output.given_method, output.given_joint):
        assert np.isfinite(part.score).all()
        assert (part.score >= 0.0).all()
        assert (add_in_order(part.score, part.offsets) <= 1.0 + 1e-9).all()
    assert ((output.requested >= 0.0) & (output.requested <= 1.0)).all()


@settings(max_examples=15)
@given(FILES, st.data())
def test_scores_are_sane_and_dialogs_alone(files: Dstc1Files | Dstc2Files, data: st.DataObject) -> None:
    """Nothing depends on which other dialogs are tracked at the same time, nor on their order."""
    corpus = read(files)
    order = data.draw(st.permutations(range(corpus.n_dialogs)))
    for name in EVERY:
        tracker = ready(name)
        output = track(tracker, corpus, name)
        require_sane(output)
        shuffled = track(tracker, corpus.take(order), name)
        for position, dialog in enumerate(order):
            assert beliefs_of_dialog(shuffled, position) == beliefs_of_dialog(output, dialog), name
        alone = track(tracker, corpus.take([0]), name)
        assert beliefs_of_dialog(alone, 0) == beliefs_of_dialog(output, 0), name


@every_tracker
def test_a_dialog_alone_among_many(name: str) -> None:
    """With enough dialogs that arrays are worked on in other portions."""
    corpus, tracker = noisy_calls(60, seed=1), ready(name)
    output = track(tracker, corpus, name)
    for dialog in (0, 31, 59):
        alone = track(tracker, corpus.take([dialog]), name)
        assert beliefs_of_dialog(alone, 0) == beliefs_of_dialog(output, dialog)


@pytest.mark.parametrize("name", SANE)
def test_a_perfect_recogniser_is_believed(name: str) -> None:
    """What was said since the system last began anew is on top of every slot, and nothing else is; the joint
    is right."""
    corpus = perfect_calls(12, seed=3)
    output = track(ready(name), corpus, name)
    assert output.joint.correct[output.joint.top].all()
    tops = tops_of(output, corpus)
    expected: dict[str, object] = {}
    begins = set(corpus.offsets.tolist()) | set(np.flatnonzero(corpus.restart).tolist())
    for turn in range(corpus.n_turns):
        if turn in begins:
            expected = {}
        for column, slot in enumerate(corpus.slots):
            rows = range(*corpus.evidence.offsets[turn * len(corpus.slots) + column :][:2])
            for row in rows:
                expected[slot] = corpus.vocabulary.value(int(corpus.evidence.value[row]))
        assert tops[turn] == expected, turn


@every_tracker
def test_a_restart_forgets(name: str) -> None:
    """The second half of a call, after a restart, is believed as a call of its own would be."""
    corpus, tracker = noisy_calls(6, n_turns=6, seed=2), ready(name)
    restart = corpus.restart.copy()
    restart[corpus.offsets[:-1] + 3] = True
    whole = track(tracker, replace(corpus, restart=restart), name)
    halves = replace(
        corpus,
        offsets=np.arange(0, corpus.n_turns + 1, 3),
        sessions=tuple(f"half-{i}" for i in range(12)),
        directories=tuple(f"calls/half-{i}" for i in range(12)),
        conditions={},
        outcomes={},
    )
    expected = track(tracker, halves, name)
    assert np.array_equal(whole.given.score, expected.given.score)
    assert np.array_equal(whole.given.value, expected.given.value)


@every_tracker
def test_an_update_leaves_its_arguments_alone(name: str) -> None:
    """Live play and a stored corpus share what they pass in."""
    corpus, tracker = noisy_calls(5), ready(name)

    class Guard:
        planes = tracker.planes

        def update(self, memory, heard):  # type: ignore[no-untyped-def]
            memory.flags.writeable = False
            after = tracker.update(memory, heard)
            assert after.shape == memory.shape
            return after

        def belief(self, memory, heard):  # type: ignore[no-untyped-def]
            before = memory.copy()
            belief = tracker.belief(memory, heard)
            assert np.array_equal(memory, before)
            assert (belief[~heard.is_candidate] == 0.0).all()
            return belief

    tracking = Tracking(Guard(), corpus.n_dialogs, len(corpus.slots))
    for active, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        tracking.step(active, corpus.evidence.take(turns))


@every_tracker
def test_trackers_pickle(name: str) -> None:
    corpus = noisy_calls(4, seed=5)
    copy = pickle.loads(pickle.dumps(ready(name)))
    assert np.array_equal(track(copy, corpus, name).given.score, track(ready(name), corpus, name).given.score)


def test_flags() -> None:
    flags = {name: flags_of(TRACKERS.get(name)) for name in NAMES}
    assert {name for name in NAMES if flags[name]["degenerate"]} == {"last_turn"}
    recalibrated = {
        name: flags[name]["recalibrated_from"] for name in NAMES if flags[name]["recalibrated_from"]
    }
    assert recalibrated == {"focus_overconfident": "focus", "focus_underconfident": "focus"}
    assert {found["kind"] for found in flags.values()} == {"rule", "bayes", "learned"}
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", ["focus_overconfident", "focus_underconfident"])
def test_a_recalibration_keeps_the_order(name: str) -> None:
    """Slot by slot and of the joint's best, None included; only the scores differ."""
    corpus = noisy_calls(40, seed=6)
    focus, other = (track(ready(tracker), corpus, tracker) for tracker in ("focus", name))
    assert np.array_equal(focus.beliefs.value, other.beliefs.value)
    assert np.array_equal(focus.joint.assignment[focus.joint.top], other.joint.assignment[other.joint.top])
    best = [output.beliefs.score[output.beliefs.top] for output in (focus, other)]
    surer = best[1] - best[0] if name == "focus_overconfident" else best[0] - best[1]
    assert (surer >= -1e-12).all()
    assert surer.max() > 0.05


def test_trackers_differ() -> None:
    """No two say the same of a call with confirmations, denials and changes of mind."""
    thai, greek = act("inform", ("food", "thai")), act("inform", ("food", "greek"))
    corpus = restaurant_calls(
        [
            ([act("welcomemsg")], [heard(0.5, thai), heard(0.3, greek)]),
            ([act("expl-conf", ("food", "thai"))], [heard(0.6, act("negate")), heard(0.3, act("affirm"))]),
            ([act("request", ("slot", "food"))], [heard(0.4, greek), heard(0.35, thai)]),
            ([act("impl-conf", ("food", "greek"))], [heard(0.6, act("null")), heard(0.2, thai)]),
            ([act("repeat")], [heard(0.7, greek), heard(0.1, thai)]),
        ]
    )
    found = {name: track(ready(name), corpus, name).given.score.round(6).tobytes() for name in NAMES}
    assert len(set(found.values())) == len(NAMES)
