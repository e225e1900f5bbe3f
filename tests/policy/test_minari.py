"""Minari datasets: out and in. Skipped without the extra."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import InputError, OutputError, UsageError
from extrinsic.policy.minari import FlatStates, read_minari, require_extra, write_minari
from extrinsic.policy.rewards import Reward
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.track import track
from tests.policy.decisions import assert_same_transitions, drawn_decisions, states_of


@pytest.fixture
def minari() -> Iterator[Any]:
    with warnings.catch_warnings(action="ignore"):
        yield pytest.importorskip("minari")


@pytest.fixture(scope="module")
def ds1() -> Transitions:
    """The whole training log of DS1, as a tracker sees it."""
    corpus = simulate(read_simulation(), "ds1", "train").corpus
    output = track(TRACKERS.get("hwu"), corpus, "hwu")
    return transitions_of(corpus, output, "compact", Reward.of(corpus.domain))


def with_possible(log: Transitions) -> Transitions:
    possible = np.ones(log.propensities.shape, dtype=bool)
    possible[np.arange(len(log)), (log.action + 1) % len(log.actions)] = False
    return replace(log, possible=possible)


def test_states_as_rows_of_numbers() -> None:
    flat = FlatStates.of(states_of([[0.5], [1.0]], [[3, 8], [1, 8]]))
    assert flat.names == ("x0", "sign0=1", "sign0=3", "sign1=8")
    rows = flat(states_of([[0.25], [0.75]], [[3, 8], [2, 9]]))
    assert rows.tolist() == [[0.25, 0.0, 1.0, 1.0], [0.75, 0.0, 0.0, 0.0]]
    with pytest.raises(UsageError, match="other features"):
        flat(states_of([[0.25, 1.0]], [[3, 8]]))


def test_without_the_extra() -> None:
    with pytest.raises(UsageError, match=r"this needs nobody: pip install 'extrinsic\[nobody\]'"):
        require_extra("nobody.at_home")


def test_ds1_through_minari_bit_for_bit(minari: Any, ds1: Transitions, tmp_path: Path) -> None:
    for number, log in enumerate((ds1, with_possible(drawn_decisions(7)))):
        path = tmp_path / f"log{number}"
        write_minari(log, path)
        again = read_minari(path)
        assert_same_transitions(log, again)
        assert again.source == log.source
        assert again.propensities.tobytes() == log.propensities.tobytes()
        assert again.reward.tobytes() == log.reward.tobytes()


def test_minari_itself_opens_it(minari: Any, tmp_path: Path) -> None:
    log = drawn_decisions(7)
    write_minari(log, tmp_path / "log")
    dataset = minari.MinariDataset(tmp_path / "log")
    assert (dataset.total_episodes, dataset.total_steps) == (7, 35)
    episode = dataset[3]
    rows = np.flatnonzero(log.dialog == 3)
    assert np.array_equal(episode.actions, log.action[rows])
    assert np.array_equal(episode.rewards, log.reward[rows])
    assert episode.terminations.tolist() == [False] * 4 + [True]
    assert episode.observations.shape == (6, 6)
    assert np.array_equal(episode.observations[:-1], FlatStates.of(log.states)(log.states)[rows])
    with pytest.raises(OutputError, match="already"):
        write_minari(log, tmp_path / "log")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_minari_dataset_of_somebody_else(minari: Any, tmp_path: Path) -> None:
    """Without our names; one whose last episode was truncated."""
    log = drawn_decisions(3)
    write_minari(log, tmp_path / "log")
    record = tmp_path / "log" / "metadata.json"
    metadata = json.loads(record.read_text())
    del metadata["extrinsic"]
    record.write_text(json.dumps(metadata))
    read = read_minari(tmp_path / "log", actions=("a", "b", "c"))
    assert (read.actions, read.states.continuous.shape, read.states.discrete.shape) == (
        ("a", "b", "c"),
        (15, 6),
        (15, 0),
    )
    assert np.array_equal(read.reward, log.reward)
    spaces = pytest.importorskip("gymnasium").spaces
    storage = minari.dataset.minari_storage.MinariStorage.new(
        tmp_path / "other",
        observation_space=spaces.Box(-1, 1, (2,), np.float64),
        action_space=spaces.Discrete(2),
    )
    buffer = minari.data_collector.EpisodeBuffer
    storage.update_metadata({"dataset_id": "other-v0", "minari_version": minari.__version__})
    ends = np.array([False, True])
    for number in range(2):
        columns = (np.zeros((3, 2)), np.array([0, 1]), np.ones(2), ends & (number == 0), ends & (number == 1))
        storage.update_episodes([buffer(number, None, None, *columns)])
    with pytest.raises(InputError, match="session 00000001, turn 1: the dialog does not end"):
        read_minari(tmp_path / "other")


def test_spaces_that_are_no_decisions(minari: Any, tmp_path: Path) -> None:
    spaces = pytest.importorskip("gymnasium").spaces
    minari.dataset.minari_storage.MinariStorage.new(
        tmp_path / "arm", observation_space=spaces.Discrete(4), action_space=spaces.Box(-1, 1, (2,))
    ).update_metadata({"dataset_id": "arm-v0", "minari_version": minari.__version__})
    with pytest.raises(InputError) as raised:
        read_minari(tmp_path / "arm")
    assert [problem.message for problem in raised.value.problems] == [
        "observations are not rows of numbers",
        "actions are not discrete",
    ]
    with pytest.raises(InputError, match="no such folder"):
        read_minari(tmp_path / "nowhere")
