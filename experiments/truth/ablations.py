"""The value in a fitted world when a part of the world is left out, or something in it is a clone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from experiments.selection import Selection
from experiments.truth.tables import PolicyEstimate
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.reward import make_reward
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.fitted.confusions import POOLS
from extrinsic.simulation.fitted.fitted_world import FittedWorld
from extrinsic.study.stages.inputs import RecentlyMade, SimulatedDialogs, corpus_of, output_of
from extrinsic.study.stages.learning import LearnTask
from extrinsic.study.stages.valuation import Valuation
from extrinsic.trackers.cloned import clone_tracker
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fitted_play import FittedPlay, LoggedPlay, play_logged
from extrinsic.value.levelling import WorldValues, level
from extrinsic.value.world_value import WorldParts, world_parts

WHOLE = "world_mixed"
VARIANTS = (
    WHOLE,
    "world_mixed without persistence",
    "world_mixed without argument rules",
    "world_mixed, cloned tracker",
    "world_mixed, cloned logged policy",
)


@dataclass(frozen=True, eq=False)
class AblationCell:
    """By variant, the parts of a tracker's value in one log."""

    seed: int
    dataset: str
    tracker: str
    parts: Mapping[str, WorldParts]


def without_persistence(world: FittedWorld) -> FittedWorld:
    """A wrong value is any other value of its slot, and comes back by chance only."""
    fitted = world.confusions
    longest = max(fitted.longest, POOLS[-1])
    return replace(world, confusions=replace(fitted, pool=POOLS[-1], longest=longest, usual=0.0, skew=1.0))


def without_argument_rules(world: FittedWorld) -> FittedWorld:
    """The system acts on the best value, whatever its score, and may do anything at any turn."""
    rules = world.rules
    sequels = rules.sequels
    anything = replace(
        sequels,
        follows=np.broadcast_to(sequels.ever, sequels.follows.shape),
        enough=np.zeros_like(sequels.enough),
        once=np.zeros_like(sequels.once),
    )
    return replace(
        world,
        rules=replace(
            rules,
            heard_from=np.zeros_like(rules.heard_from),
            offered_from=np.zeros_like(rules.offered_from),
            needed=np.zeros_like(rules.needed),
            sequels=anything,
        ),
    )


def ablation_cell(task: LearnTask) -> AblationCell:
    """Learn the policy of one tracker, and value it in every variant of the fitted world."""
    unit, tracker = task.unit, task.system
    spec = msgspec.structs.replace(task.spec, estimators=("world",))
    train, features = corpus_of(unit.train), spec.feature_map()
    reward = make_reward(REWARDS.get(spec.reward.name), train.domain, spec.reward.options)
    transitions = transitions_of(train, output_of(tracker, unit, "train"), features, reward)
    behaviour = fit_behaviour(spec.behaviour.make(BEHAVIOURS), transitions, spec.threshold)
    policy = spec.learner.make(LEARNERS).fit(transitions, behaviour)
    valuation = Valuation(unit, tracker, spec, features, reward, unit.parts[0])
    tests = valuation.transitions
    problem = EvaluationProblem(tests, policy.probabilities(tests.states, tests.possible))
    whole = valuation.fitted_play(policy)
    examples = [
        (train, output_of(tracker, unit, "train")),
        (corpus_of(unit.test), output_of(tracker, unit, "test")),
    ]
    # In the order of VARIANTS.
    plays = (
        whole,
        _played_in(whole, task, without_persistence(whole.world), "persistence"),
        _played_in(whole, task, without_argument_rules(whole.world), "argument rules"),
        replace(whole, tracker=clone_tracker(examples)),
        replace(whole, logged=_logged(task, whole, whole.world, "clone", is_clone=True)),
    )
    parts = {name: world_parts(problem, play) for name, play in zip(VARIANTS, plays, strict=True)}
    return AblationCell(spec.live_seed, unit.name, tracker.name, parts)


def ablation_log(*tasks: LearnTask) -> list[AblationCell]:
    """The cells of all trackers in one log."""
    return [ablation_cell(task) for task in tasks]


def _played_in(whole: FittedPlay, task: LearnTask, world: FittedWorld, name: str) -> FittedPlay:
    return replace(whole, world=world, logged=_logged(task, whole, world, name))


_LOGGED: RecentlyMade[LoggedPlay] = RecentlyMade(8)


def _logged(
    task: LearnTask, whole: FittedPlay, world: FittedWorld, name: str, is_clone: bool = False
) -> LoggedPlay:
    """The dialogs of the logged policy in a variant, which the trackers of a log share."""

    def make() -> LoggedPlay:
        test = task.unit.test
        assert isinstance(test, SimulatedDialogs)
        runs = logged_policy(test.simulation.world(test.dataset, test.split))
        policy, tracker = (None, None) if is_clone else runs
        return play_logged(world, whole.n_dialogs, whole.seed, policy, tracker)

    return _LOGGED.get(f"{task.unit.identity} {name}", make)


def ablation_rows(
    computed: Sequence[AblationCell], estimates: Selection[PolicyEstimate]
) -> Iterator[PolicyEstimate]:
    """The levelled values of every variant beside the live returns; these have no interval.

    estimates: of the same logs, for the live returns and the estimates of the trees.
    """
    for seed in dict.fromkeys(cell.seed for cell in computed):
        of_seed = {(cell.dataset, cell.tracker): cell for cell in computed if cell.seed == seed}
        datasets = list(dict.fromkeys(dataset for dataset, _ in of_seed))
        trackers = list(dict.fromkeys(tracker for _, tracker in of_seed))
        trees = [
            estimates.where(seed=seed, dataset=dataset, estimator="fqe_augmented") for dataset in datasets
        ]
        known = {(row.dataset, row.tracker): row for selection in trees for row in selection.rows}
        of_trees = np.array([[known[d, t].value for t in trackers] for d in datasets])
        for variant in VARIANTS:
            table = [[of_seed[d, t].parts[variant] for t in trackers] for d in datasets]
            mixed = _mixed(table, of_trees)
            for d, dataset in enumerate(datasets):
                for t, tracker in enumerate(trackers):
                    row, value = known[dataset, tracker], float(mixed[d, t])
                    yield msgspec.structs.replace(
                        row, estimator=variant, value=value, low=value, high=value, flags=()
                    )


def _mixed(table: list[list[WorldParts]], trees: np.ndarray) -> np.ndarray:
    def numbers(name: str) -> np.ndarray:
        return np.array([[getattr(parts, name) for parts in row] for row in table])

    def influences(name: str) -> tuple[np.ndarray, ...]:
        return tuple(np.stack([getattr(parts, name) for parts in row]) for row in table)

    played = influences("influence")
    values = WorldValues(
        in_world=numbers("in_world"),
        difference=numbers("difference"),
        trees=trees,
        played=played,
        correction=influences("of_difference"),
        of_trees=tuple(np.zeros_like(part) for part in played),
    )
    return level(values).mixed
