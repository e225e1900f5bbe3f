"""Importance sampling: logged dialogs weighted by their probability under the policy.

Unbiased, but useless on long dialogs: after a few decisions nearly all weight is on a few of them. The
effective sample size measures how many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.value.estimator import Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import ResampledOver, Value, value_of


@dataclass(frozen=True)
class ImportanceSampling:
    """With rho_t the product of the ratios up to decision t, over n dialogs of at most T decisions:

    is:    mean of rho_T G.                   wis:   sum of rho_T G / sum of rho_T.
    pdis:  mean of sum_t rho_t r_t.           pdwis: sum_t (sum of rho_t r_t / sum of rho_t).
    A dialog that has ended keeps its last rho.
    """

    name: str
    per_decision: bool
    weighted: bool
    needs: tuple[Need, ...] = ("propensities",)
    resampled_over: ResampledOver = "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        weight, reward = cumulative_ratios(problem), problem.transitions.by_turn(problem.transitions.reward)
        if not self.per_decision:
            weight, reward = weight[:, -1:], reward.sum(axis=1, keepdims=True)
        diagnostics = weight_diagnostics(weight[:, -1])
        if not self.weighted:
            of_dialog = (weight * reward).sum(axis=1)
            mean = float(of_dialog.mean())
            return value_of(self.name, mean, (of_dialog - mean) / len(of_dialog), diagnostics)
        total = weight.sum(axis=0)
        share = weight / np.where(total > 0.0, total, 1.0)
        step = (share * reward).sum(axis=0)
        influence = (share * (reward - step)).sum(axis=1)
        return value_of(self.name, float(step.sum()), influence, diagnostics)


def cumulative_ratios(problem: EvaluationProblem) -> Floats:
    """(n_dialogs, longest) rho_t; a dialog that has ended keeps its last."""
    return np.asarray(np.cumprod(problem.transitions.by_turn(problem.ratios, fill=1.0), axis=1))


def weight_diagnostics(weight: Floats) -> dict[str, float]:
    """The effective sample size (sum w)^2 / sum w^2, and the share of dialogs that count at all."""
    squares = float((weight**2).sum())
    size = float(weight.sum()) ** 2 / squares if squares > 0.0 else 0.0
    return {"effective_size": size, "nonzero_share": float((weight > 0.0).mean())}
