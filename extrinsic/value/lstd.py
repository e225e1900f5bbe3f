"""Values by least-squares temporal differences, and the augmented states that make them less optimistic.

A tracker's own state hides part of what determines a dialog's outcome, so a value learned in it credits the
policy with luck that it cannot observe. Proxies, run on the same log, reveal that part: augmented states
are a tracker's states with the beliefs of proxy trackers about the same dialogs. They need only the log
itself, so they work for real corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.policy.basis import StateActions, rows_after
from extrinsic.policy.features import Columns, States
from extrinsic.policy.lstd import KernelSettings, KernelsOfLog
from extrinsic.policy.observations import Observations
from extrinsic.policy.rewards import Reward, RewardFunction
from extrinsic.policy.transitions import Transitions, decision_observations, decision_turns
from extrinsic.value.estimator import EvaluationProblem, Shared, StateEstimator
from extrinsic.value.value import Value, value_of

DEFAULT = KernelSettings()
"""As the learner's own, undiscounted."""


_KERNELS: Shared[KernelSettings, KernelsOfLog] = Shared(
    lambda transitions, states, settings: settings.kernels_of(states, transitions.action)
)


@dataclass(frozen=True)
class Lstd(StateEstimator):
    """The mean of V over first states, Q(s, a) = E[r + gamma sum_a' pi(a' | s') Q(s', a')] by LSTD.

    Optimistic about a policy that LSTD itself chose: `gain_over_log`.
    """

    name: str = "lstd"
    settings: KernelSettings = DEFAULT

    def estimate(self, problem: EvaluationProblem) -> Value:
        transitions, states, policy = problem.transitions, self.states_of(problem), problem.target
        kernels, gamma = _KERNELS.get(transitions, states, self.settings), self.settings.gamma
        system, ends, n_dialogs = kernels.system, transitions.ends, transitions.n_dialogs
        returns = transitions.returns()
        here = StateActions.of(kernels.basis, states, policy > 0.0).mixed(policy)
        following = rows_after(here, transitions.next)
        prior = float(returns.mean())
        solution = system.solve(following, transitions.reward, ends, gamma, prior)
        q, v = solution.of(system.phi), solution.of(here)
        after = np.where(ends, 0.0, v[np.maximum(transitions.next, 0)])
        errors = transitions.reward + gamma * after - q
        # The value is the mean of phi(s0) w; with weights on dialogs, A w = b moves by phi_i errors_i each.
        start = np.asarray(here[problem.first].sum(axis=0)).ravel() / n_dialogs
        adjoint = system.solve_transposed(following, start, gamma)
        value = float(v[problem.first].mean())
        pull = system.phi @ adjoint
        influence = np.bincount(transitions.dialog, pull * errors, n_dialogs)
        # The prior is the mean return, and moves with the weights as well.
        slope = 1.0 + float((pull * (gamma * ~ends - 1.0)).sum())
        influence = influence + (v[problem.first] - value + slope * (returns - returns.mean())) / n_dialogs
        has_kernel = np.asarray(here.sum(axis=1)).ravel() > 0
        diagnostics = {
            "kernels": float(len(kernels.basis)),
            "condition": solution.condition,
            "lowest_q": float(min(q.min(), v.min())),
            "highest_q": float(max(q.max(), v.max())),
            "zero_kernel": float(1.0 - has_kernel.mean()),
        }
        return value_of(self.name, value, influence - influence.mean(), diagnostics)


LSTD, LSTD_AUGMENTED = Lstd(), Lstd("lstd_augmented", augmented=True)

PROXIES = ("hwu", "baseline")
"""The default proxies: a rule tracker that retracts denied values, and one that never forgets."""


WORTH_SCALE = 50.0
"""Points of reward that count as much as one unit of any other column of the state."""


def proxy_summary(observations: Observations) -> Columns:
    """Lowest unconfirmed top score, required groups missing, groups filled, mean required top score, groups
    confirmed; counts as shares."""
    loose = observations.group_filled & ~observations.group_confirmed
    columns = np.stack(
        [
            np.where(loose, observations.group_top, 1.0).min(axis=1),
            observations.required_missing,
            observations.group_filled.mean(axis=1),
            observations.required_mean,
            observations.group_confirmed.mean(axis=1),
        ],
        axis=1,
    )
    return columns, ("lowest", "missing", "filled", "required", "confirmed")


def augment(
    transitions: Transitions,
    corpus: Corpus,
    output: TrackerOutput,
    proxies: Sequence[TrackerOutput],
    reward: RewardFunction | None = None,
) -> States:
    """The states of transitions made from a corpus and a tracker's output, with further columns: the belief
    of each proxy, and the worth of the tracker's own belief by the labels at that moment.

    The policy sees neither. The worth is the reward of an offer made at that moment; without it, a tracker
    with uninformative scores looks as good before a wrong offer as before a right one.
    """
    states = transitions.states
    columns, names = [states.continuous], [*states.continuous_names]
    for number, proxy in enumerate(proxies):
        summary, of_summary = proxy_summary(decision_observations(corpus, proxy))
        columns.append(summary)
        names += [f"proxy{number}.{name}" for name in of_summary]
    reward = Reward.of(corpus.domain) if reward is None else reward
    if isinstance(reward, Reward):
        turns = decision_turns(corpus)
        # Before the first turn there is no belief, and its worth is 0.
        has_belief = corpus.turn_in_dialog[turns] > 0
        worth = np.where(has_belief, reward.worth(corpus, output)[np.maximum(turns - 1, 0)], 0.0)
        columns.append(worth[:, None] / WORTH_SCALE)
        names.append("worth")
    return States(np.concatenate(columns, axis=1), states.discrete, tuple(names), states.discrete_names)
