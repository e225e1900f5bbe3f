"""From beliefs to policies: features, rewards, transitions, behaviour models, learners."""

from __future__ import annotations

from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS

_HERE = "extrinsic.policy"

BEHAVIOURS.register(
    "logistic", f"{_HERE}.kernel_logistic:KernelLogistic", "kernel logistic regression on a sparse dictionary"
)
BEHAVIOURS.register(
    "svm",
    f"{_HERE}.calibrated_svm:CalibratedSVM",
    "a calibrated support vector machine (Lee 2014)",
)
BEHAVIOURS.register(
    "logged", f"{_HERE}.logged_propensities:LoggedPropensities", "the propensities in the log itself"
)

LEARNERS.register(
    "kernel_lspi", f"{_HERE}.kernel_lspi:KernelLSPI", "least-squares policy iteration with kernels (Lee 2014)"
)
LEARNERS.register(
    "ard_lspi",
    f"{_HERE}.ard_lspi:ArdLSPI",
    "the same, with columns that predict little made wider",
)
LEARNERS.register(
    "pessimistic_lspi",
    f"{_HERE}.pessimistic_lspi:PessimisticLSPI",
    "the same on a lower bound of Q, for small logs",
)
LEARNERS.register(
    "one_step", f"{_HERE}.one_step:OneStep", "one improvement of the logged policy, on its own Q"
)
LEARNERS.register("fitted_q", f"{_HERE}.fitted_q:FittedQ", "fitted Q iteration with trees (Ernst 2005)")
LEARNERS.register(
    "imitation", f"{_HERE}.imitation:Imitation", "does what the logged system would most likely do"
)

REWARDS.register(
    "concepts",
    f"{_HERE}.reward:Reward",
    "right, wrong and empty concepts, a price a turn (Lee 2014)",
)
REWARDS.register("logged", f"{_HERE}.logged_reward:LoggedReward", "the rewards that the log itself has")
REWARDS.register(
    "outcome",
    f"{_HERE}.outcome_reward:OutcomeReward",
    "an amount for an outcome of the dialog, such as success, and a price a turn",
)
