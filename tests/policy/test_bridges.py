"""Minari datasets and d3rlpy: out, in, and their learner valued by ours. Skipped without the extras."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.errors import InputError, OutputError, UsageError
from extrinsic.policy.flat_states import FlatStates, require_extra
from extrinsic.policy.kept_policy import KeptPolicy
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.reward import Reward
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.track import track
from extrinsic.value.evaluation_problem import EvaluationProblem
from tests.policy.decisions import drawn_decisions, states_of
from tests.policy.learning import behaviour_of
from tests.policy.test_transition_files import same


@pytest.fixture
def minari() -> Iterator[Any]:
    with warnings.catch_warnings(action="ignore"):
        yield pytest.importorskip("minari")


@pytest.fixture
def d3rlpy() -> Iterator[Any]:
    with warnings.catch_warnings(action="ignore"):
        yield pytest.importorskip("d3rlpy")


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
    from extrinsic.policy.minari_datasets import read_minari, write_minari

    for number, log in enumerate((ds1, with_possible(drawn_decisions(7)))):
        path = tmp_path / f"log{number}"
        write_minari(log, path)
        again = read_minari(path)
        same(log, again)
        assert again.source == log.source
        assert again.propensities.tobytes() == log.propensities.tobytes()
        assert again.reward.tobytes() == log.reward.tobytes()


def test_minari_itself_opens_it(minari: Any, tmp_path: Path) -> None:
    from extrinsic.policy.minari_datasets import write_minari

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
    from extrinsic.policy.minari_datasets import read_minari, write_minari

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
    from extrinsic.policy.minari_datasets import read_minari

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


def test_in_and_out_of_d3rlpy(d3rlpy: Any) -> None:
    """In single precision; dialogs in the order of the ids that they get."""
    from extrinsic.policy.d3rlpy_datasets import mdp_dataset, transitions_of_mdp

    log = drawn_decisions(6)
    flat = FlatStates.of(log.states)
    again = transitions_of_mdp(mdp_dataset(log), log.actions, flat.names)
    assert again.actions == log.actions
    assert np.array_equal(again.states.continuous, flat(log.states).astype(np.float32))
    assert again.states.continuous_names == flat.names
    assert np.array_equal(again.reward, log.reward.astype(np.float32))
    for name in ("action", "next", "dialog"):
        assert np.array_equal(getattr(again, name), getattr(log, name))


def true_return(chances: Floats, log: Transitions) -> float:
    """Of five decisions in states that no action changes: 10 for the action of the second sign, else -5."""
    right = chances[np.arange(len(log)), log.states.discrete[:, 1]]
    return float(5 * (15.0 * right - 5.0).mean())


@pytest.mark.parametrize("kind", ["DiscreteCQLConfig", "DiscreteBCQConfig"])
def test_their_learner_beside_ours(
    kind: str, d3rlpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trained on our transitions and valued by our estimators: both beat the logged policy."""
    from extrinsic.policy.d3rlpy_datasets import D3rlpyPolicy, mdp_dataset

    monkeypatch.chdir(tmp_path)  # d3rlpy writes its logs here
    train, test = drawn_decisions(150), drawn_decisions(150, seed=8)
    behaviour = behaviour_of(train)
    d3rlpy.seed(0)
    pytest.importorskip("torch").set_num_threads(1)
    encoder = d3rlpy.models.encoders.VectorEncoderFactory([32, 32])
    config = getattr(d3rlpy.algos, kind)(
        batch_size=64, learning_rate=3e-3, gamma=1.0, target_update_interval=30, encoder_factory=encoder
    )
    algorithm = config.create(device="cpu:0")
    algorithm.fit(
        mdp_dataset(train),
        n_steps=400,
        n_steps_per_epoch=400,
        show_progress=False,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
    )
    theirs = D3rlpyPolicy.of(algorithm, train, behaviour)
    ours = KernelLSPI().fit(train, behaviour)
    logged = test.returns().mean()
    for name in ("lstd", "fqe", "wis"):
        values = [
            ESTIMATORS.get(name).estimate(EvaluationProblem(test, policy.probabilities(test.states)))
            for policy in (theirs, ours)
        ]
        assert [value.n for value in values] == [150, 150]
        assert min(value.mean for value in values) > logged, name
    for policy in (theirs, ours):
        assert true_return(policy.probabilities(test.states), test) > true_return(test.propensities, test)
    possible = np.ones((len(test), 3), dtype=bool)
    possible[np.arange(len(test)), theirs.probabilities(test.states).argmax(axis=1)] = False
    limited = D3rlpyPolicy.of(algorithm, train).probabilities(test.states, possible)
    assert not limited[~possible].any() and np.array_equal(limited.sum(axis=1), np.ones(len(test)))
    with pytest.raises(UsageError, match="algorithm is neither array"):
        KeptPolicy.of(theirs, train).encode()
