"""Learning curves: what policies earn live by the number of dialogs that they were learned from."""

from __future__ import annotations

from itertools import product

import msgspec

from experiments.learners.ceiling import FEATURES, improve_live, many_dialogs
from experiments.learners.live_returns import BEHAVIOUR, Cell
from experiments.learners.tables import LiveReturn
from extrinsic.bounds import Count, Positive, Whole
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.kernel_lspi import KernelPolicy
from extrinsic.registry import LEARNERS

IMPROVED = 2
"""Of the learners, how many are improved live at the largest size, to show how far they are from it."""


class CurveConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See curve.toml."""

    seeds: tuple[Whole, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    learners: tuple[str, ...]
    times: tuple[Count, ...]
    callers: Count
    search_callers: Count
    search_steps: tuple[Positive, ...]

    def cells(self) -> list[tuple[int, str, str]]:
        return list(product(self.seeds, self.datasets, self.trackers))


def curve_returns(config: CurveConfig, seed: int, dataset: str, tracker: str) -> list[LiveReturn]:
    """Every learner at every size, named `learner x8`; the first row is the expert."""
    cell = Cell.of(seed, dataset, tracker, config.callers)
    rows = [cell.row("behaviour", cell.expert, cell.reference)]
    for times in config.times:
        transitions = many_dialogs(cell, times)
        behaviour = fit_behaviour(BEHAVIOUR, transitions)
        for number, name in enumerate(config.learners):
            policy = LEARNERS.get(name)().fit(transitions, behaviour)
            rows.append(cell.played_row(f"{name} x{times}", FEATURES, policy))
            if times == max(config.times) and number < IMPROVED:
                assert isinstance(policy, KernelPolicy)
                improved = improve_live(cell, policy, config.search_callers, config.search_steps)
                rows.append(cell.played_row(f"{name} x{times}, improved live", FEATURES, improved))
    return rows
