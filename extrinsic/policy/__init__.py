"""From beliefs to policies: features, rewards, transitions, behaviour models, learners."""

from __future__ import annotations

from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS

for _registry, _name, _target, _summary in (
    (
        BEHAVIOURS,
        "logistic",
        "kernel_logistic:KernelLogistic",
        "kernel logistic regression on a sparse dictionary",
    ),
    (BEHAVIOURS, "svm", "calibrated_svm:CalibratedSVM", "a calibrated support vector machine (Lee 2014)"),
    (
        LEARNERS,
        "kernel_lspi",
        "kernel_lspi:KernelLSPI",
        "least-squares policy iteration with kernels (Lee 2014)",
    ),
    (LEARNERS, "one_step", "kernel_lspi:OneStep", "one improvement of the logged policy, on its own Q"),
    (LEARNERS, "fitted_q", "fitted_q:FittedQ", "fitted Q iteration with trees (Ernst 2005)"),
    (LEARNERS, "imitation", "imitation:Imitation", "does what the logged system would most likely do"),
    (REWARDS, "concepts", "rewards:Reward", "right, wrong and empty concepts, a price a turn (Lee 2014)"),
    (REWARDS, "logged", "rewards:LoggedReward", "the rewards that the log itself has"),
    (
        REWARDS,
        "outcome",
        "rewards:OutcomeReward",
        "an amount for an outcome of the dialog, such as success, and a price a turn",
    ),
):
    _registry.register(_name, f"extrinsic.policy.{_target}", _summary)
