"""What policies and rewards share is made once, and is the same as made again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.registry import TRACKERS
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fqe import Fqe, TreeSettings
from extrinsic.value.lstd_value import Lstd
from tests.value.test_fqe import random_case

HWU = TRACKERS.get("hwu")


@pytest.mark.parametrize("estimator", [Fqe(settings=TreeSettings(trees=5)), Lstd()])
def test_policies_on_the_same_decisions(estimator: Fqe | Lstd) -> None:
    """In whatever order they come, and whether or not another came before."""
    case = random_case(4, 12, 6, 3)
    targets = [np.eye(3)[np.random.default_rng(seed).integers(0, 3, len(case.target))] for seed in range(3)]

    def values(order: list[int], again: bool) -> dict[int, float]:
        transitions = replace(case.transitions) if again else case.transitions
        return {
            number: estimator.estimate(EvaluationProblem(transitions, targets[number])).mean
            for number in order
        }

    together = values([0, 1, 2], again=False)
    assert values([2, 0, 1], again=True) == together
    for number in range(3):
        assert values([number], again=True) == {number: together[number]}
    assert len(set(together.values())) == 3


def test_other_settings_and_states_are_not_confused() -> None:
    case = random_case(5, 12, 6, 3)
    small, large = (Fqe(settings=TreeSettings(trees=5, smallest_leaf=size)) for size in (2, 6))
    first = small.estimate(case).mean
    assert large.estimate(case).mean != first
    moved = replace(case.transitions.states, continuous=case.transitions.states.continuous[::-1].copy())
    other = replace(case, transitions=replace(case.transitions, states=moved))
    assert small.estimate(other).mean != first
    assert small.estimate(case).mean == first
