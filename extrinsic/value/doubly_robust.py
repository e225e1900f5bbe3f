"""Doubly robust values: a Q function, with its errors corrected by importance sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.value.estimator import Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.importance import cumulative_ratios, weight_diagnostics
from extrinsic.value.q_function import DEFAULT, KernelSettings, fit_q_of_others
from extrinsic.value.result import ResampledOver, Value, value_of

FOLDS = 2


@dataclass(frozen=True)
class DoublyRobust:
    """dr: mean of V(s_0) + sum_t rho_t (r_t + V(s_{t+1}) - Q(s_t, a_t)); wdr: with rho_t / sum of rho_t.

    (Jiang & Li 2016; Thomas & Brunskill 2016.) Q of a dialog is learned from the others.
    """

    name: str
    weighted: bool
    settings: KernelSettings = DEFAULT
    needs: tuple[Need, ...] = ("propensities",)
    resampled_over: ResampledOver = "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        fold = fold_of_sessions(problem.transitions.sessions, FOLDS)
        q, v = fit_q_of_others(problem, fold, self.settings)
        weight = cumulative_ratios(problem)
        diagnostics = weight_diagnostics(weight[:, -1])
        reward, of_q, of_v = (
            problem.transitions.by_turn(column) for column in (problem.transitions.reward, q, v)
        )
        n_dialogs = len(weight)
        before = np.concatenate([np.ones((n_dialogs, 1)), weight[:, :-1]], axis=1)
        if not self.weighted:
            of_dialog = (weight * (reward - of_q) + before * of_v).sum(axis=1)
            mean = float(of_dialog.mean())
            return value_of(self.name, mean, (of_dialog - mean) / n_dialogs, diagnostics)
        gain, influence = _normalised(weight, reward - of_q)
        base, influence_of_base = _normalised(before, of_v)
        return value_of(self.name, gain + base, influence + influence_of_base, diagnostics)


def _normalised(weight: Floats, amount: Floats) -> tuple[float, Floats]:
    """sum_t (sum w_t x_t / sum w_t), and its derivative by the weight of a dialog."""
    total = weight.sum(axis=0)
    share = weight / np.where(total > 0.0, total, 1.0)
    step = (share * amount).sum(axis=0)
    return float(step.sum()), (share * (amount - step)).sum(axis=1)
