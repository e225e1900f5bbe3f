"""`extrinsic play`: a policy that was kept, played live in a world."""

from __future__ import annotations

import argparse
import sys

from extrinsic.cli.output import print_rows, print_table, say
from extrinsic.errors import UsageError
from extrinsic.plugins import load_plugins
from extrinsic.policy.rewards import Reward, RewardFunction, fill_of, returns
from extrinsic.policy.saved_policies import KeptPolicy, load_policy
from extrinsic.registry import REWARDS, TRACKERS
from extrinsic.simulation import Simulation, play
from extrinsic.simulation.datasets import find_dataset
from extrinsic.simulation.single_world import lockstep_form
from extrinsic.simulation.world import LockstepWorld
from extrinsic.trackers.protocol import BuiltInTracker, LearnedTracker
from extrinsic.value.value import mean_of_dialogs

TRAIN, TEST = "train", "test"
HEADS = {"quantity": "", "mean": "mean", "low": "low", "high": "high", "dialogs": "dialogs"}


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    if arguments.dialogs < 2:
        raise UsageError("an interval needs at least two dialogs", found=str(arguments.dialogs))
    kept = load_policy(arguments.policy)
    simulation, dataset = find_dataset(arguments.world, arguments.config)
    simulation.require(dataset, TEST)
    world = lockstep_form(simulation.world(dataset, TEST))
    policy, reward = kept.live(world.domain), _reward(kept, world)
    tracker = _tracker(arguments.tracker, simulation, dataset)
    for caution in kept.cautions(world.domain, arguments.tracker):
        say(f"note: {caution}")
    played = play(policy, tracker, arguments.dialogs, arguments.seed, world, fill=fill_of(reward))
    numbers = {
        "return": returns(played.corpus, reward(played.corpus, played.output)),
        "success": played.completed.astype(float),
        "turns": played.corpus.offsets[1:] - played.corpus.offsets[:-1],
    }
    rows = []
    for name, column in numbers.items():
        value = mean_of_dialogs(name, column.astype(float), resampled_over="callers")
        rows.append(
            {"quantity": name, "mean": value.mean, "low": value.low, "high": value.high, "dialogs": value.n}
        )
    signature = (
        f"{kept.signature}|world:{arguments.world}|played:{arguments.tracker}|seed:{arguments.seed}"
        f"|callers:{world.signature()[:12]}"
    )
    if arguments.json:
        print_rows(signature, rows, sys.stdout)
    else:
        print_table(rows, HEADS, sys.stdout)
        say(signature)
    return 0


def _tracker(name: str, simulation: Simulation, dataset: str) -> BuiltInTracker:
    """The tracker of a name; a learned one learns from the world's training dialogs."""
    tracker: BuiltInTracker | LearnedTracker = TRACKERS.get(name)
    if isinstance(tracker, LearnedTracker):
        simulation.require(dataset, TRAIN)
        say(f"{name}: trained on the training dialogs of {dataset}")
        return tracker.fit([simulation.simulate(dataset, TRAIN).corpus])
    return tracker


def _reward(kept: KeptPolicy, world: LockstepWorld) -> RewardFunction:
    """The reward that the policy was learned for; without one, the domain's."""
    known = kept.origin.source.reward
    if known is None:
        return Reward.of(world.domain)
    options = {name: value for name, value in known.items() if name != "kind"}
    reward: RewardFunction = REWARDS.get(known["kind"])(**options)
    return reward
