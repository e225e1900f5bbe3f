"""The tables of the embedded world: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec

from experiments.embedded_world.profile import Measures


class SimulatedDataset(msgspec.Struct, frozen=True):
    """What simulated calls look like; shares are of dialogs, rank_1 and in_list of the values callers said.

    lee_turns_per_dialog: of the real corpus, Lee 2014, Table 1. hang_ups: by callers who had not got what
    they wanted; completed: those who had. expert_return: what the expert who answers earns.
    """

    dataset: str
    dialogs: int
    turns: int
    turns_per_dialog: float
    lee_turns_per_dialog: float | None
    rank_1: float
    in_list: float
    list_size: float
    hang_ups: float
    completed: float
    expert_return: float


class CorpusProfile(Measures, frozen=True):
    """Measures of real and simulated calls; what they are is in experiments/embedded_world/profile.py.

    request to help: shares of turns, empty where the corpus has no such predicate.
    """

    is_real: bool
    request: float | None
    confirm: float | None
    implicit_confirm: float | None
    next_bus: float | None
    offer: float | None
    help: float | None


class TrackerAtEnd(msgspec.Struct, frozen=True):
    """A built-in tracker's scores at the end of the test dialogs (schedule 3), over all slots and joint."""

    dataset: str
    tracker: str
    kind: str
    degenerate: bool
    recalibrated_from: str | None
    accuracy: float
    l2: float
    avgp: float
    joint_accuracy: float
    joint_l2: float
