"""The runs of the study: the dialog manager seen or hidden in the state, absent concepts correct or zero."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from experiments.dstc2.candidate_settings import ESTIMATOR
from experiments.dstc2.choose import CONFIG
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import read_study

TARGET = f"rl.{ESTIMATOR}"
LOGGED = "behaviour.observed"
OTHER_TARGETS = ("rl.lstd_augmented", "rl.fqe_augmented", "rl.lstd", LOGGED)
GOAL_METRICS = ("accuracy", "l2", "avgp", "mrr", "roc.v1_eer", "roc.v1_ca05", "roc.v2_ca05")
STATE_METRICS = (
    *("jga", "slot_accuracy", "average_goal_accuracy", "improved_average_goal_accuracy", "slot_f1"),
    *("relative_slot_accuracy", "turn_match", "fga(0.5)", "gca"),
)
"""The headline metrics: of joint goals, and of states."""

OLDER = (
    'value.estimators=["mean_augmented", "lstd_augmented", "fqe_augmented", "lstd"]',
    f'correlation.primary="{TARGET}"',
)
"""Every run of the eight ways."""

BRIEF = (
    f"metrics.names={[*GOAL_METRICS, *STATE_METRICS]}",
    'metrics.components=["goal.joint"]',
    f'value.estimators=["{ESTIMATOR}"]',
    "value.on_policy=false",
    "value.placebo=false",
    "correlation.permutations=999",
)
"""What the runs beside the main one do with."""


@dataclass(frozen=True)
class Scenario:
    """One run; each holds both fill rules.

    manager: `seen` or `hidden` in the state.   absent: the reward's choice, `correct` or `zero`.
    """

    manager: str
    absent: str

    @property
    def is_main(self) -> bool:
        return (self.manager, self.absent) == ("seen", "correct")

    @property
    def folder(self) -> str:
        return "dstc2" if self.is_main else f"dstc2-manager_{self.manager}-absent_{self.absent}"

    def settings(self, *changes: str) -> StudySettings:
        """Of its run; changes: on top, as `read_study` takes them."""
        own = [
            f"policy.conditions={'true' if self.manager == 'seen' else 'false'}",
            f"reward.absent={self.absent}",
            "sensitivity.vary={}",
            *OLDER,
            *(() if self.is_main else BRIEF),
        ]
        return read_study(CONFIG, [*own, *changes])


SCENARIOS = tuple(
    Scenario(manager, absent) for manager, absent in product(("seen", "hidden"), ("correct", "zero"))
)
