"""Statistics of simulated dialogs, next to the published ones of real dialogs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.simulation.play import Play
from extrinsic.simulation.world import HANG_UP

TURNS_OF_LEE = {
    "ds1_train": (274, 2594),
    "ds1_test": (312, 2168),
    "ds2_train": (321, 3394),
    "ds2_test": (339, 2579),
    "ds3_train": (277, 2221),
    "ds3_test": (286, 1988),
    "ds4_train": (141, 1060),
    "ds4_test": (165, 979),
}
"""Dialogs and turns of the datasets of Lee 2014, Table 1."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of one corpus; shares are of dialogs, but rank_1 and in_list of the values callers said."""

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


def describe(played: Play) -> Statistics:
    """The statistics of dialogs as played. A hang-up counts if the caller had not reached the goal."""
    corpus = played.corpus
    published = TURNS_OF_LEE.get(corpus.dataset)
    return Statistics(
        dataset=corpus.dataset,
        dialogs=corpus.n_dialogs,
        turns=corpus.n_turns,
        turns_per_dialog=corpus.n_turns / corpus.n_dialogs,
        lee_turns_per_dialog=published[1] / published[0] if published else None,
        rank_1=_share(played.said_rank == 0),
        in_list=_share(played.said_rank >= 0),
        list_size=float(played.list_size.mean()) if len(played.list_size) else 0.0,
        hang_ups=_share((played.ending == HANG_UP) & ~played.completed),
        completed=_share(played.completed),
    )


def _share(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else 0.0
