"""`extrinsic play`: a policy that was kept, played live in a world."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from extrinsic.cli.arguments import add_plugin_argument, import_plugins
from extrinsic.cli.output import print_rows, print_table, say
from extrinsic.errors import UsageError

if TYPE_CHECKING:
    from extrinsic.policy.kept_policy import KeptPolicy
    from extrinsic.policy.reward import RewardFunction
    from extrinsic.simulation import Simulation
    from extrinsic.simulation.world import LockstepWorld
    from extrinsic.trackers.protocol import BuiltInTracker

NAME = "play"
HELP = "play a kept policy live in a simulated world"
DESCRIPTION = (
    "Play a policy that a study kept ([policy] keep = true), or that was saved from Python, on a tracker in "
    "a simulated world: its return, the share of callers who reached their goal, and the turns they needed, "
    "with 95 % intervals over callers. The same seed gives the same callers to every policy."
)

TRAIN, TEST = "train", "test"
HEADS = {"quantity": "", "mean": "mean", "low": "low", "high": "high", "dialogs": "dialogs"}


def configure(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option("policy", metavar="POLICY", help="the file of a policy")
    option("--tracker", required=True, metavar="T", help="whose beliefs it acts on")
    option(
        "--world", required=True, metavar="W", help="a dataset of the bus world (ds1), KIND:DATASET, or KIND"
    )
    option("--config", metavar="C", help="the world's configuration; default: the embedded one")
    option("--dialogs", type=int, default=1000, metavar="N", help="how many callers (1000)")
    option("--seed", type=int, default=0, metavar="S", help="which callers (0)")
    option("--json", action="store_true", help="the table as JSON on stdout")
    add_plugin_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.policy.kept_policy import load_policy
    from extrinsic.policy.reward import fill_of, returns
    from extrinsic.simulation import play
    from extrinsic.simulation.datasets import find_dataset
    from extrinsic.simulation.single_world import lockstep_form
    from extrinsic.value.result import mean_of_dialogs

    import_plugins(arguments)
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
    from extrinsic.registry import TRACKERS
    from extrinsic.trackers.protocol import LearnedTracker

    tracker: Any = TRACKERS.get(name)
    if isinstance(tracker, LearnedTracker):
        simulation.require(dataset, TRAIN)
        say(f"{name}: trained on the training dialogs of {dataset}")
        tracker = tracker.fit([simulation.simulate(dataset, TRAIN).corpus])
    found: BuiltInTracker = tracker
    return found


def _reward(kept: KeptPolicy, world: LockstepWorld) -> RewardFunction:
    """The reward that the policy was learned for; without one, the domain's."""
    from extrinsic.policy.reward import Reward
    from extrinsic.registry import REWARDS

    known = kept.origin.source.reward
    if known is None:
        return Reward.of(world.domain)
    options = {name: value for name, value in known.items() if name != "kind"}
    reward: RewardFunction = REWARDS.get(known["kind"])(**options)
    return reward
