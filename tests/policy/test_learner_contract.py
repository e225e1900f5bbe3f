"""What every learner has to keep: ours, and that of somebody else, known by its entry point only."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.behaviour import Behaviour, admit
from extrinsic.policy.features import States
from extrinsic.policy.saved_policies import KeptPolicy, load_policy
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import LEARNERS
from extrinsic.study.settings_file import read_study
from tests.conftest import PACKAGE
from tests.policy.decisions import TableModel, act, behaviour_of, draw_walks, drawn_decisions, states_of

PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
PLUGGED = tuple(PROJECT["entry-points"]["extrinsic.learners"])
NAMES = tuple(dict.fromkeys((*LEARNERS.names(), *PLUGGED)))

pytestmark = pytest.mark.usefixtures("plugged")


@pytest.fixture(params=NAMES)
def learner(request: pytest.FixtureRequest) -> Any:
    """As a study has it that sets no option."""
    return LEARNERS.get(request.param)()


def test_every_learner_is_tested_here() -> None:
    assert set(NAMES) == set(LEARNERS.names()) >= {"kernel_lspi", "fitted_q", "counted"}


# Three actions (stop, ask, haste) in five states. Whoever asks in states 0 to 2 gets on, and to stop in state
# 3 pays: three turns later than what can be had at once. Haste leads into state 4, and only asking out of it.
MEAN = np.array(
    [[6.0, -2.0, 3.0], [-9.0, -2.0, -9.0], [-9.0, -2.0, -9.0], [30.0, -2.0, 3.0], [-10.0, -2.0, 1.0]]
)
GOES = np.zeros((5, 3, 5))
GOES[0, 1, :2] = 0.2, 0.8
GOES[1, 1, 1:3] = 0.1, 0.9
GOES[2, 1, 2:4] = 0.1, 0.9
GOES[3, 1, 3:5] = 0.5, 0.5
GOES[4, 1, [1, 4]] = 0.5, 0.4
GOES[:, 2, 4] = 0.6
LOGGED = np.array(
    [[0.20, 0.30, 0.50], [0.15, 0.60, 0.25], [0.25, 0.50, 0.25], [0.30, 0.40, 0.30], [0.40, 0.25, 0.35]]
)
N_STATES, N_ACTIONS = MEAN.shape
THRESHOLDS = (0.0, 0.27)


def value_iteration(admitted: Bools) -> Floats:
    """(n_states, n_actions) Q = r + P max Q over what is admitted."""
    q = np.zeros_like(MEAN)
    for _ in range(500):
        q = MEAN + GOES @ np.where(admitted, q, -np.inf).max(axis=1)
    return np.asarray(np.where(admitted, q, -np.inf))


def enumerated(admitted: Bools) -> Floats:
    """(n_states,) the highest value that any policy has in each state: V = (I - P)^-1 r for all of them."""
    values = []
    for policy in product(*(np.flatnonzero(row) for row in admitted)):
        rows = np.arange(N_STATES), np.array(policy)
        values.append(np.linalg.solve(np.eye(N_STATES) - GOES[rows], MEAN[rows]))
    return np.asarray(np.max(values, axis=0))


def improved_once(admitted: Bools) -> Floats:
    """(n_states, n_actions) Q of the logged policy itself, V = (I - P)^-1 r."""
    reward, moves = (LOGGED * MEAN).sum(axis=1), np.einsum("sa,sat->st", LOGGED, GOES)
    v = np.linalg.solve(np.eye(N_STATES) - moves, reward)
    return np.asarray(np.where(admitted, MEAN + GOES @ v, -np.inf))


def likeliest(admitted: Bools) -> Floats:
    return np.asarray(np.where(admitted, LOGGED, -np.inf))


ORACLES = {"one_step": improved_once, "imitation": likeliest}
"""What a learner's policy is greedy on; of all others, the Q of the best policy."""


def table_states(state: Ints) -> States:
    return states_of(np.full((len(state), 1), 0.5), state[:, None])


def table_log(seed: int, n_dialogs: int = 400) -> Transitions:
    """Dialogs in the table, begun in any state."""
    rng = np.random.default_rng(seed)
    return draw_walks(GOES, MEAN, LOGGED, rng.integers(0, N_STATES, n_dialogs), rng, noise=0.5)


def table_behaviour(log: Transitions, threshold: float) -> Behaviour:
    return Behaviour(log.propensities, TableModel(LOGGED), threshold)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_oracles_agree(threshold: float) -> None:
    """And the best policy is neither the one that takes what it can get, nor the likeliest."""
    admitted = admit(LOGGED, threshold)
    q = value_iteration(admitted)
    assert q.max(axis=1) == pytest.approx(enumerated(admitted), abs=1e-9)
    gap = np.diff(np.sort(q, axis=1)[:, -2:], axis=1)
    assert gap.min() > 1.5
    best = q.argmax(axis=1)
    # And the filter changes what is best.
    assert best.tolist() == {0.0: [1, 1, 1, 0, 1], 0.27: [1, 1, 1, 0, 2]}[threshold]
    assert (best != np.where(admitted, MEAN, -np.inf).argmax(axis=1)).any()
    assert (best != np.where(admitted, LOGGED, -np.inf).argmax(axis=1)).any()


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_policy_of_a_table(learner: Any, threshold: float, seed: int) -> None:
    """Of all those that the filter admits, by enumeration; learned with the options that a study has."""
    log = table_log(seed)
    policy = learner.fit(log, table_behaviour(log, threshold))
    names = {type(LEARNERS.get(name)()): name for name in NAMES}
    oracle = ORACLES.get(names[type(learner)], value_iteration)
    best = oracle(admit(LOGGED, threshold)).argmax(axis=1)
    assert act(policy, table_states(np.arange(N_STATES))).tolist() == best.tolist()


@pytest.fixture(scope="module")
def log() -> Transitions:
    return drawn_decisions(60)


@pytest.fixture(scope="module")
def behaviour(log: Transitions) -> Behaviour:
    return behaviour_of(log, threshold=0.25)


@pytest.fixture(scope="module")
def elsewhere() -> States:
    """States that nobody has seen, some of them with signs that nobody has seen."""
    rng = np.random.default_rng(3)
    return states_of(rng.normal(0, 1, (80, 2)), rng.integers(0, 4, (80, 2)))


def test_the_same_bytes_twice(
    learner: Any, log: Transitions, behaviour: Behaviour, elsewhere: States
) -> None:
    """And learning changes nothing that it is given."""
    before = repr(learner), log.reward.copy(), behaviour.chances.copy(), behaviour.admitted.copy()
    first, again = (learner.fit(log, behaviour) for _ in range(2))
    for states in (log.states, elsewhere):
        assert first.probabilities(states).tobytes() == again.probabilities(states).tobytes()
    assert dict(first.diagnostics) == dict(again.diagnostics)
    assert repr(learner) == before[0]
    after = log.reward, behaviour.chances, behaviour.admitted
    assert all(np.array_equal(old, new) for old, new in zip(before[1:], after, strict=True))


def test_only_what_is_possible_and_likely_enough(
    learner: Any, log: Transitions, behaviour: Behaviour, elsewhere: States
) -> None:
    """Where nothing possible is likely enough, the likeliest of what is possible."""
    policy = learner.fit(log, behaviour)
    rng = np.random.default_rng(1)
    for states in (log.states, elsewhere):
        likely = behaviour.model.probabilities(states) > behaviour.threshold
        assert likely.any(axis=1).all() and not likely.all()
        chances = policy.probabilities(states)
        assert chances.shape == likely.shape
        assert (chances >= 0.0).all()
        assert chances.sum(axis=1) == pytest.approx(np.ones(len(states)), abs=1e-12)
        assert not chances[~likely].any()
        possible = rng.random(likely.shape) < 0.5
        possible[np.arange(len(states)), rng.integers(0, 3, len(states))] = True
        limited = policy.probabilities(states, possible)
        assert limited.sum(axis=1) == pytest.approx(np.ones(len(states)), abs=1e-12)
        assert not limited[~possible].any()
        some = (likely & possible).any(axis=1)
        assert some.any() and not some.all()
        assert not limited[some][~likely[some]].any()
        model = np.where(possible, behaviour.model.probabilities(states), -1.0)
        assert np.array_equal(limited[~some].argmax(axis=1), model[~some].argmax(axis=1))


def test_a_policy_is_of_each_state_alone(
    learner: Any, log: Transitions, behaviour: Behaviour, elsewhere: States
) -> None:
    policy = learner.fit(log, behaviour)
    order = np.random.default_rng(0).permutation(len(elsewhere))[:30]
    together = policy.probabilities(elsewhere)[order]
    assert np.array_equal(policy.probabilities(elsewhere.take(order)), together)


def test_a_policy_is_kept_as_it_is(
    learner: Any, log: Transitions, behaviour: Behaviour, elsewhere: States, tmp_path: Path
) -> None:
    """Saved and loaded it decides the same, bit for bit, and saved again it is the same bytes."""
    kept = KeptPolicy.of(learner.fit(log, behaviour), log, learner)
    kept.save(tmp_path / "policy")
    loaded = load_policy(tmp_path / "policy")
    possible = np.random.default_rng(1).random((len(elsewhere), 3)) < 0.5
    possible[:, 1] = True
    for states, limits in ((log.states, None), (elsewhere, None), (elsewhere, possible)):
        first, again = (policy.probabilities(states, limits) for policy in (kept, loaded))
        assert first.tobytes() == again.tobytes()
    assert dict(loaded.diagnostics) == dict(kept.diagnostics)
    assert loaded.origin == kept.origin
    assert loaded.encode() == kept.encode() == (tmp_path / "policy").read_bytes()


def test_diagnostics_are_numbers_by_name(learner: Any, log: Transitions, behaviour: Behaviour) -> None:
    diagnostics = learner.fit(log, behaviour).diagnostics
    assert isinstance(diagnostics, Mapping) and diagnostics
    for name, number in diagnostics.items():
        assert isinstance(name, str) and name.isidentifier()
        assert isinstance(number, int | float) and not np.isnan(number)
    if "lowest_q" in diagnostics:
        assert diagnostics["lowest_q"] <= diagnostics["highest_q"]


def test_states_of_other_features_are_refused(learner: Any, log: Transitions, behaviour: Behaviour) -> None:
    policy = learner.fit(log, behaviour)
    for states, message in (
        (states_of(np.zeros((2, 3)), np.zeros((2, 1))), "lacking sign1; in addition x2"),
        (states_of(np.zeros((2, 2)), np.zeros((2, 1))), "lacking sign1"),
        (replace(log.states, continuous_names=("x1", "x0")), "the same in another order"),
    ):
        with pytest.raises(UsageError, match=f"other features than those learned from.*{message}"):
            policy.probabilities(states)


def test_nothing_to_choose(learner: Any, log: Transitions, behaviour: Behaviour) -> None:
    same = replace(log, action=np.full(len(log), 2))
    with pytest.raises(UsageError, match="at least two different actions, found only 'act2'"):
        learner.fit(same, behaviour)
    none = log.take_dialogs(np.zeros(0, dtype=np.int64))
    with pytest.raises(UsageError, match="at least two different actions, found only 'nothing'"):
        learner.fit(none, Behaviour(np.zeros((0, 3)), behaviour.model))


@pytest.mark.parametrize("shape", [(299, 3), (300, 2)])
def test_a_behaviour_of_other_decisions(
    learner: Any, log: Transitions, behaviour: Behaviour, shape: tuple[int, int]
) -> None:
    with pytest.raises(UsageError, match=r"wrong shape \(expected \(300, 3\), found") as raised:
        learner.fit(log, replace(behaviour, of_log=np.full(shape, 1 / 3)))
    assert str(shape) in str(raised.value)


STUDY = """
name = "mistaken"
[simulation]
[trackers]
built_in = ["baseline", "focus"]
[policy]
{policy}
"""


def refused(folder: Path, policy: str) -> str:
    """What is said of a study with this table [policy]."""
    (folder / "study.toml").write_text(STUDY.format(policy=policy))
    with pytest.raises(InputError) as raised:
        read_study(folder / "study.toml")
    return str(raised.value)


@pytest.mark.parametrize("name", NAMES)
def test_options(name: str, tmp_path: Path) -> None:
    """Its own defaults are allowed, a mistyped one is found, and one that no learner has is refused."""
    learner = LEARNERS.get(name)()
    options = {key: value for key, value in vars(learner).items() if value is not None}
    lines = [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    text = "\n".join([f'learner = "{name}"', f"[policy.{name}]", *lines])
    (tmp_path / "study.toml").write_text(STUDY.format(policy=text))
    read_study(tmp_path / "study.toml")
    first = next(iter(options))
    for key, hint in ((f"{first}x", f"did you mean {first!r}?"), ("zzzzzz", "unknown")):
        message = refused(tmp_path, f'learner = "{name}"\n[policy.{name}]\n{key} = 1')
        assert f"policy.{name}.{key}" in message and hint in message
