"""`python -m experiments.lee_wording`: what Lee's words change in the embedded world.

Sparsification that removes points against all the rest, beside Engel's, which lets them join; and the SVM
behind the filter with the kernel's own height, 4, beside height 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from experiments.lee_wording.tables import Filtered, Sparsified
from experiments.main import Experiment, Made
from extrinsic.arrays import Floats
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.calibrated_svm import CalibratedSVM
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLSPI, KernelPolicy
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.rewards import Reward, fill_of, returns
from extrinsic.policy.sparsification import Sparsification
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation import play, read_simulation, simulate
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import track

R = TypeVar("R", bound=msgspec.Struct)

FOLDER = Path(__file__).parent
DATASET = "ds1"
SEEDS = (201, 202)
"""Never used while building."""

TRACKED = ("hwu", "baseline", "logistic")
N_LIVE = 2_000
HEIGHTS = (1.0, 4.0)
METHODS: tuple[Sparsification, ...] = ("growing", "removal")


@dataclass(frozen=True)
class Preset:
    """The states of a policy, and kernels that fit them."""

    learner: KernelLSPI
    logistic: KernelLogistic
    svm_widths: tuple[float, ...]


LEE = KernelLSPI(width=3.0, nu=3.0)

PRESETS = {
    "compact": Preset(KernelLSPI(), KernelLogistic(), (0.7, 1.0)),
    "lee2014": Preset(LEE, KernelLogistic(width=3.0), (3.0,)),
    "lee2014_literal": Preset(LEE, KernelLogistic(width=3.0), (3.0,)),
}


class World:
    """The training calls of a seed as a tracker sees them, and callers to play with."""

    def __init__(self, seed: int, tracker: str, features: str) -> None:
        simulation = msgspec.structs.replace(read_simulation(), seed=seed)
        train = simulate(simulation, DATASET, "train").corpus
        kind = TRACKERS.get(tracker)
        self.seed, self.features = seed, find_features(features)
        self.tracker = kind.fit([train]) if isinstance(kind, LearnedTracker) else kind
        self.callers = simulation.world(DATASET, "test")
        self.reward = Reward.of(train.domain)
        believed = track(kind, train, tracker)
        self.transitions: Transitions = transitions_of(train, believed, self.features, self.reward)

    def earned(self, policy: KernelPolicy) -> Floats:
        """(n_live,) the return of each call; every policy meets the same callers."""
        live, fill = LivePolicy(self.features, policy), fill_of(self.reward)
        played = play(live, self.tracker, N_LIVE, self.seed, self.callers, fill=fill)
        return returns(played.corpus, self.reward(played.corpus, played.output))


def sparsified(seed: int, tracker: str, features: str) -> list[Sparsified]:
    world, preset = World(seed, tracker, features), PRESETS[features]
    behaviour = fit_behaviour(preset.logistic, world.transitions)
    reference: Floats | None = None
    rows = []
    for method in METHODS:
        learner, log = replace(preset.learner, sparsification=method), world.transitions
        policy = learner.fit(log, behaviour)
        residual = learner.kernels_of(log.states, log.action).dictionary.residual
        earned = world.earned(policy)
        reference = earned if reference is None else reference
        row = Sparsified(
            seed=seed,
            tracker=tracker,
            features=features,
            sparsification=method,
            points=len(world.transitions),
            kernels=len(policy.basis),
            residual=float(residual.max()),
            beyond=float((residual > preset.learner.nu).mean()),
            earned=float(earned.mean()),
            **_paired(earned - reference),
        )
        rows.append(row)
    return rows


def filtered(seed: int, tracker: str, features: str) -> list[Filtered]:
    world, preset = World(seed, tracker, features), PRESETS[features]
    rows = []
    for width in preset.svm_widths:
        first: tuple[Behaviour, Floats] | None = None
        for height in HEIGHTS:
            behaviour = fit_behaviour(CalibratedSVM(height=height, width=width), world.transitions)
            earned = world.earned(preset.learner.fit(world.transitions, behaviour))
            first = (behaviour, earned) if first is None else first
            taken = behaviour.chances[np.arange(len(world.transitions)), world.transitions.action]
            row = Filtered(
                seed=seed,
                tracker=tracker,
                features=features,
                width=width,
                height=height,
                log_loss=float(-np.log(np.maximum(taken, 1e-12)).mean()),
                admitted=float(behaviour.admitted.sum(axis=1).mean()),
                differs=float((behaviour.admitted != first[0].admitted).any(axis=1).mean()),
                earned=float(earned.mean()),
                **_paired(earned - first[1]),
            )
            rows.append(row)
    return rows


def _paired(difference: Floats) -> dict[str, float]:
    return {
        "difference": float(difference.mean()),
        "half_width": float(1.96 * difference.std(ddof=1) / np.sqrt(len(difference))),
    }


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    cells = [(seed, tracker, features) for features in PRESETS for seed in SEEDS for tracker in TRACKED]
    # A machine on the full kernel takes minutes: one seed has to do.
    fewer = [cell for cell in cells if cell[0] == SEEDS[0]]
    yield "sparsification", _computed(sparsified, cells, arguments.n_jobs)
    yield "svm_height", _computed(filtered, fewer, arguments.n_jobs)


def _computed(
    rows_of: Callable[[int, str, str], Sequence[R]], cells: Sequence[tuple[int, str, str]], n_jobs: int
) -> list[R]:
    steps = run_in_parallel(rows_of, cells, n_jobs)
    parts = show_progress(steps, len(cells), rows_of.__name__, lambda rows: str(rows[0]))
    return [row for part in parts for row in part]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n-jobs", type=int, default=-1, metavar="N", help="processes (-1: one a processor)")


EXPERIMENT = Experiment(
    FOLDER,
    __doc__,
    {"sparsification": Sparsified, "svm_height": Filtered},
    compute,
    lambda tables: {
        "sparsified": tables["sparsification"],
        "filtered": tables["svm_height"],
        "n_live": N_LIVE,
    },
    options=add_options,
)

if __name__ == "__main__":
    EXPERIMENT.main()
