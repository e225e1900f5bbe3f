"""A table with known chances, logs drawn from it, and what policies are worth in it and in a log.

And estimators by name.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.lstd import KernelSettings
from extrinsic.policy.transitions import END, Transitions
from extrinsic.registry import ESTIMATORS
from extrinsic.value.estimator import Estimator, EvaluationProblem
from extrinsic.value.trees import TreeSettings
from tests.policy.decisions import draw, draw_walks

PLAIN = ("observed", "lstd", "fqe")
AUGMENTED = ("lstd_augmented", "fqe_augmented", "mean_augmented")


def find(name: str) -> Estimator:
    estimator: Estimator = ESTIMATORS.get(name)
    return estimator


N_STATES, N_ACTIONS = 4, 2
START = np.array([0.6, 0.4, 0.0, 0.0])
GOES = np.array(
    [
        [[0.0, 0.2, 0.5, 0.0], [0.0, 0.0, 0.3, 0.6]],
        [[0.0, 0.0, 0.8, 0.1], [0.0, 0.0, 0.1, 0.6]],
        [[0.0, 0.0, 0.0, 0.7], [0.0, 0.0, 0.0, 0.2]],
        [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
    ]
)
"""(state, action, state) at most four decisions; with what is left the dialog ends."""

MEAN = np.array([[-2.0, -1.0], [-1.0, -3.0], [4.0, -5.0], [10.0, 2.0]])
BEHAVIOUR = np.array([[0.5, 0.5], [0.7, 0.3], [0.4, 0.6], [0.25, 0.75]])
POLICY = np.array([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0], [0.6, 0.4]])

EXACT_KERNELS = KernelSettings(ridge=1e-9)
EXACT_TREES = TreeSettings(trees=3, smallest_leaf=1)
"""The leaves are the states and actions: nothing else tells decisions apart."""


def exact_q(policy: Floats) -> Floats:
    """(n_states, n_actions) Q = r + P V, from the last state to the first."""
    q = np.zeros((N_STATES, N_ACTIONS))
    for state in reversed(range(N_STATES)):
        q[state] = MEAN[state] + GOES[state] @ (policy * q).sum(axis=1)
    return q


def exact_value(policy: Floats) -> float:
    return float(START @ (policy * exact_q(policy)).sum(axis=1))


def draw_log(n_dialogs: int, rng: np.random.Generator) -> Transitions:
    state = draw(np.tile(START, (n_dialogs, 1)), rng)
    return draw_walks(GOES, MEAN, BEHAVIOUR, state, rng)


def state_of(log: Transitions) -> Ints:
    return np.asarray(log.states.discrete[:, 0])


def case_of(log: Transitions, policy: Floats = POLICY) -> EvaluationProblem:
    return EvaluationProblem(log, policy[state_of(log)])


def counted_value(log: Transitions, policy: Floats) -> float:
    """What a policy is worth in the table that the log counts: (I - P pi)^-1 r, from the logged starts."""
    state, action = state_of(log), log.action
    counts = np.zeros((N_STATES, N_ACTIONS))
    np.add.at(counts, (state, action), 1.0)
    mean = np.zeros_like(counts)
    np.add.at(mean, (state, action), log.reward)
    goes = np.zeros((N_STATES, N_ACTIONS, N_STATES))
    on = log.next != END
    np.add.at(goes, (state[on], action[on], state[log.next[on]]), 1.0)
    assert counts.all(), "every action has to be tried in every state"
    q_to_q = (goes / counts[..., None])[..., None] * policy
    n_pairs = N_STATES * N_ACTIONS
    q = np.linalg.solve(np.eye(n_pairs) - q_to_q.reshape(n_pairs, n_pairs), (mean / counts).ravel())
    v = (policy * q.reshape(N_STATES, N_ACTIONS)).sum(axis=1)
    return float(v[state[log.first]].mean())


def repeated(log: Transitions, times: Ints) -> tuple[Transitions, Ints]:
    """Every dialog so many times, under new names; and (n,) which decisions they are."""
    dialogs = np.repeat(np.arange(log.n_dialogs), times)
    rows_of = np.split(np.arange(len(log)), np.flatnonzero(log.first)[1:])
    rows = np.concatenate([rows_of[dialog] for dialog in dialogs])
    dialog = np.repeat(np.arange(len(dialogs)), [len(rows_of[dialog]) for dialog in dialogs])
    follows = np.append(dialog[1:] == dialog[:-1], False)
    again = replace(
        log,
        states=log.states.take(rows),
        action=log.action[rows],
        reward=log.reward[rows],
        next=np.where(follows, np.arange(len(rows)) + 1, END),
        dialog=dialog,
        turn=log.turn[rows],
        propensities=log.propensities[rows],
        sessions=tuple(f"{log.sessions[of]}-{number:05}" for number, of in enumerate(dialogs)),
    )
    return again, rows


def repeated_case(case: EvaluationProblem, times: Ints) -> EvaluationProblem:
    log, rows = repeated(case.transitions, times)
    return EvaluationProblem(
        log, case.target[rows], None if case.augmented is None else case.augmented.take(rows)
    )
