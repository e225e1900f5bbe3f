"""The runs of the study: the dialog manager seen or hidden in the state, absent concepts zero or correct."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from experiments.dstc2.candidates import ESTIMATOR
from experiments.dstc2.choose import CHOSEN, CONFIG, FOLDER
from extrinsic.errors import InputError, Problems
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study

TARGET = f"rl.{ESTIMATOR}"
DSTC = ("accuracy", "l2", "avgp", "mrr", "roc.v1_eer", "roc.v1_ca05", "roc.v2_ca05")
STATES = (
    "jga",
    "slot_accuracy",
    "average_goal_accuracy",
    "improved_average_goal_accuracy",
    "slot_f1",
    "relative_slot_accuracy",
    "turn_match",
    "fga(0.5)",
    "gca",
)
"""The headline metrics: of joint goals, and of states."""

BRIEF = (
    f"metrics.names={[*DSTC, *STATES]}",
    'metrics.components=["goal.joint"]',
    f'value.estimators=["{ESTIMATOR}"]',
    "value.on_policy=false",
    "value.placebo=false",
    "correlation.permutations=999",
)
"""What the runs beside the main one do with."""


@dataclass(frozen=True)
class Cell:
    """One run; each holds both fill rules."""

    manager: bool
    absent: str

    @property
    def is_main(self) -> bool:
        return self.manager and self.absent == "correct"

    @property
    def label(self) -> dict[str, Any]:
        return {"manager": "seen" if self.manager else "hidden", "absent": self.absent}

    @property
    def folder(self) -> str:
        return "dstc2" if self.is_main else f"dstc2-manager_{self.label['manager']}-absent_{self.absent}"


CELLS = tuple(Cell(manager, absent) for manager in (True, False) for absent in ("correct", "zero"))


def settings_of(cell: Cell) -> StudySettings:
    changes = [
        f"policy.conditions={str(cell.manager).lower()}",
        f"reward.absent={cell.absent}",
        "sensitivity.conditions=[]",
        "sensitivity.absent=[]",
        *(() if cell.is_main else BRIEF),
    ]
    return read_study(CONFIG, changes)


def read_choices() -> dict[str, Any]:
    """What was chosen on the training calls; refuses to go on where the study does not keep to it."""
    path = FOLDER / "choices.toml"
    if not path.exists():
        raise InputError("nothing is chosen yet: run python -m experiments.dstc2.choose", path=str(path))
    choices = tomllib.loads(path.read_text())
    policy = read_study(CONFIG).policy
    problems = Problems(str(CONFIG.name))
    for key in CHOSEN:
        if getattr(policy, key) != choices[key]:
            problems.add(
                f"policy.{key} is not what was chosen on the training calls",
                expected=str(choices[key]),
                found=str(getattr(policy, key)),
            )
    problems.raise_errors()
    return choices
