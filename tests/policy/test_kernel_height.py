"""The height of the kernel in the models of P(a | s): Lee's classifier has the kernel of his learner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.calibrated_svm import CalibratedSVM
from extrinsic.policy.kernel_logistic import KernelLogistic
from tests.policy.decisions import drawn_decisions

HEIGHT = 4.0


def test_a_higher_kernel_of_an_svm_is_a_larger_penalty() -> None:
    """In the dual, scaling K by p^2 scales the bound C of p^2 alpha: K p^2 with C is K with p^2 C."""
    log = drawn_decisions(60)
    plain = CalibratedSVM()
    high = replace(plain, height=HEIGHT).fit(log).probabilities(log.states)
    same = replace(plain, penalty=HEIGHT**2).fit(log).probabilities(log.states)
    other = plain.fit(log).probabilities(log.states)
    # As close as the machine's own tolerance.
    assert high == pytest.approx(same, abs=5e-3)
    assert np.abs(high - other).max() > 0.05


def test_a_higher_kernel_of_a_logistic_regression_is_a_larger_penalty() -> None:
    """phi p^2 with weights w / p^2 says the same, and its penalty |w|^2 / 2C weighs 1 / p^4 as much. The
    dictionary is the same where nu is scaled, too."""
    log = drawn_decisions(60)
    plain = KernelLogistic()
    high = replace(plain, height=2.0, nu=plain.nu * 2.0**2).fit(log).probabilities(log.states)
    same = replace(plain, penalty=plain.penalty * 2.0**4).fit(log).probabilities(log.states)
    other = plain.fit(log).probabilities(log.states)
    # As close as its optimiser comes.
    assert high == pytest.approx(same, abs=0.02)
    assert np.abs(high - other).max() > 0.1


@pytest.mark.parametrize("model", [CalibratedSVM(), KernelLogistic()], ids=lambda model: type(model).__name__)
def test_who_does_not_name_a_height_has_the_one_of_before(model: Any) -> None:
    log = drawn_decisions(40)
    assert model.height == 1.0
    named = replace(model, height=1.0).fit(log).probabilities(log.states)
    assert np.array_equal(named, model.fit(log).probabilities(log.states))


def test_no_state_would_become_a_kernel() -> None:
    with pytest.raises(UsageError, match=r"less than the squared height of the kernel, 0\.25, found 0\.25"):
        KernelLogistic(height=0.5)
