"""The resolved plan of a study; it is stored in the manifest, so that later commands need not plan again."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from extrinsic.study.planning.units import LeftOut
from extrinsic.study.planning.variants import Variant
from extrinsic.study.stages.inputs import StatesInput, TrackerInput, Unit
from extrinsic.study.stages.store import StageKey
from extrinsic.study.stages.task import Task

Keys = dict[str, tuple[StageKey, ...]]
"""By tracker, the results of a stage: one for each unit of dialogs."""


class Plan(msgspec.Struct, kw_only=True):
    """The inputs of a study, and the names of the results that are made of them.

    units: dialogs to learn from and to value on.
    states, dialogs: instead of units, files of predicted states and the dialogs that all of them have.
    datasets: of each dataset, the identity of its dialogs.   variants: ways to learn and reward.
    targets: what metrics are correlated with where nothing is learned; the primary one first.
    scored: metrics, by tracker.   learned: policies' values, by variant and tracker.
    outcomes: values from a file, by tracker.   inputs: hashes of the files read.
    left_out: dialogs that the domain excludes.
    generators, slots: of outcomes that an evaluator computes: whose responses, and the slots of all systems.
    """

    trackers: tuple[TrackerInput, ...] = ()
    units: tuple[Unit, ...] = ()
    states: tuple[StatesInput, ...] = ()
    datasets: dict[str, str] = {}
    variants: tuple[Variant, ...] = ()
    targets: tuple[str, ...] = ()
    scored: Keys = {}
    learned: dict[str, Keys] = {}
    outcomes: Keys = {}
    dialogs: tuple[str, ...] = ()
    inputs: dict[str, str] = {}
    left_out: tuple[LeftOut, ...] = ()
    generators: tuple[str, ...] = ()
    slots: tuple[tuple[str, str], ...] = ()

    @property
    def tracker_names(self) -> tuple[str, ...]:
        return tuple(tracker.name for tracker in self.trackers)

    def valued(self, variant: str | None) -> Keys:
        """The results that hold a tracker's targets: of its policies, and from a file."""
        learned = self.learned[variant] if variant is not None else {}
        return {name: (*learned.get(name, ()), *self.outcomes.get(name, ())) for name in self.tracker_names}


@dataclass
class Schedule:
    """A plan with the stages to compute.

    bundles: stages that share a tracker and its dialogs, to be computed in one process.
    ready: results that planning computed itself, to be stored as they are.
    warnings: what was suspicious in the files that planning read.
    """

    plan: Plan
    bundles: list[list[Task]] = field(default_factory=list)
    ready: dict[StageKey, bytes] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
