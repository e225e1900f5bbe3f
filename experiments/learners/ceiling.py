"""Every learner at the sizes of the datasets, with more dialogs, and beside a search by live play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import msgspec
import numpy as np

from experiments.learners.live_returns import BEHAVIOUR, Cell
from experiments.learners.tables import LiveReturn
from extrinsic.arrays import Bools, Floats
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.features import States, find_features
from extrinsic.policy.kernel_lspi import KernelPolicy
from extrinsic.policy.learner import LearnedPolicy, LivePolicy, policy_of
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import LEARNERS, TRACKERS
from extrinsic.simulation import BusSimulation
from extrinsic.trackers.track import track
from extrinsic.typed_files import Count, Positive, Whole

FEATURES = find_features("compact")
SEARCH = 1_000_000
"""Added to the seed of a world: the callers on which a policy is improved."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See config.toml."""

    seeds: tuple[Whole, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    learners: tuple[str, ...]
    curve: tuple[str, ...]
    times: tuple[Count, ...]
    callers: Count
    search_callers: Count
    search_steps: tuple[Positive, ...]

    def cells(self) -> list[tuple[int, str, str]]:
        return list(product(self.seeds, self.datasets, self.trackers))


def learner_returns(config: Config, seed: int, dataset: str, tracker: str) -> list[LiveReturn]:
    """Every learner of one tracker in one world, those of the curve also on more dialogs (`one_step x8`), and
    the first of them improved live at the largest size; the first row is the expert."""
    cell = Cell.of(seed, dataset, tracker, config.callers)
    rows = [cell.row("behaviour", cell.expert, cell.reference)]
    transitions = transitions_of(cell.train, cell.believed, FEATURES)
    behaviour = fit_behaviour(BEHAVIOUR, transitions)
    for name in config.learners:
        rows.append(cell.played_row(name, FEATURES, _learned(name, transitions, behaviour)))
    for times in config.times:
        transitions = many_dialogs(cell, times)
        behaviour = fit_behaviour(BEHAVIOUR, transitions)
        policies = [_learned(name, transitions, behaviour) for name in config.curve]
        rows += [
            cell.played_row(f"{name} x{times}", FEATURES, policy)
            for name, policy in zip(config.curve, policies, strict=True)
        ]
    first = policies[0]
    assert isinstance(first, KernelPolicy)
    improved = improve_live(cell, first, config.search_callers, config.search_steps)
    return [*rows, cell.played_row("improved live", FEATURES, improved)]


def _learned(name: str, transitions: Transitions, behaviour: Behaviour) -> LearnedPolicy:
    policy: LearnedPolicy = LEARNERS.get(name)().fit(transitions, behaviour)
    return policy


def many_dialogs(cell: Cell, times: int) -> Transitions:
    """More training dialogs of the same world, as the tracker of live play sees them."""
    simulation = BusSimulation.read(seed=cell.seed)
    sizes = {**simulation.dialogs, cell.dataset: dict(simulation.dialogs[cell.dataset])}
    sizes[cell.dataset]["train"] *= times
    more = msgspec.structs.replace(simulation, dialogs=sizes).simulate(cell.dataset, "train").corpus
    believed = track(TRACKERS.get(cell.name), more, cell.name, [cell.train])
    return transitions_of(more, believed, FEATURES)


@dataclass(frozen=True, eq=False)
class OffsetPolicy:
    """Greedy on Q(s, a) + offsets (n_actions,)."""

    policy: KernelPolicy
    offsets: Floats

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        chances, admitted = self.policy.behaviour.choices(states, possible)
        state, action = np.nonzero(admitted)
        q = np.full(admitted.shape, -np.inf)
        q[state, action] = self.policy.q(states.take(state), action) + self.offsets[action]
        return policy_of(q, chances, admitted)


def improve_live(cell: Cell, policy: KernelPolicy, callers: int, steps: Sequence[float]) -> OffsetPolicy:
    """The offsets that earn most from callers other than those it is compared on, one action at a time."""

    def earned(offsets: Floats) -> float:
        live = LivePolicy(FEATURES, OffsetPolicy(policy, offsets))
        return float(cell.earned(cell.play(live, callers, SEARCH + cell.seed)).mean())

    n_actions = policy.behaviour.chances.shape[1]
    return OffsetPolicy(policy, climb(earned, n_actions, steps))


def climb(earned: Callable[[Floats], float], n_actions: int, steps: Sequence[float]) -> Floats:
    """(n_actions,) coordinate search: each number a step up or down, kept where that earns more."""
    best = np.zeros(n_actions)
    highest = earned(best)
    for step in steps:
        for action, sign in product(range(n_actions), (1.0, -1.0)):
            candidate = best + sign * step * (np.arange(n_actions) == action)
            value = earned(candidate)
            if value > highest:
                best, highest = candidate, value
    return best
