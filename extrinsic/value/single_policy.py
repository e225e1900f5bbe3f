"""One policy in three calls: learn it, value it, play it.

policy = extrinsic.learn("ds1", "hwu")
extrinsic.value(policy, "ds1")["mean_augmented"].mean
extrinsic.play(policy, "ds1").returns.mean()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError, require_count, require_type
from extrinsic.policy.behaviour import Behaviour, BehaviourModel, fit_behaviour
from extrinsic.policy.features import Features, States, find_features
from extrinsic.policy.learner import LearnedPolicy, Learner, LivePolicy
from extrinsic.policy.rewards import Reward, RewardFunction, fill_of, returns
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, ESTIMATORS, LEARNERS, TRACKERS
from extrinsic.simulation.datasets import find_dataset
from extrinsic.simulation.play import Play
from extrinsic.simulation.play import play as play_live
from extrinsic.simulation.single_world import World
from extrinsic.simulation.world import LockstepWorld
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker
from extrinsic.trackers.track import track
from extrinsic.value.diagnostics import checked, with_on_policy_gap
from extrinsic.value.estimator import EvaluationProblem, LivePlay
from extrinsic.value.lstd import PROXIES, augment
from extrinsic.value.value import Value

ESTIMATED = ("observed", "mean_augmented", "lstd")


@dataclass(frozen=True, eq=False)
class SinglePolicy:
    """A learned policy with what it takes to value and play it.

    policy: as its learner returned it.   behaviour: the fitted model of the logged system.
    train, transitions: what it was learned from.   tracker: None where its beliefs came from a file.
    """

    policy: LearnedPolicy
    behaviour: Behaviour
    train: Corpus
    transitions: Transitions
    tracker: AnyTracker | None
    tracker_name: str
    features: Features
    reward: RewardFunction

    def __repr__(self) -> str:
        learned = f"{len(self.transitions):,} decisions of {self.train.dataset}"
        return f"<SinglePolicy {type(self.policy).__name__}: learned on {self.tracker_name} from {learned}>"

    @property
    def diagnostics(self) -> Mapping[str, float]:
        return self.policy.diagnostics

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions) what it does in given states."""
        return self.policy.probabilities(states, possible)

    @property
    def live(self) -> LivePolicy:
        """The policy as `extrinsic.simulation.play` takes it."""
        return LivePolicy(self.features, self.policy)

    def playing_tracker(self) -> BuiltInTracker:
        """The tracker in live play; a learned one is trained on the training dialogs."""
        if self.tracker is None:
            raise UsageError(
                f"the beliefs of {self.tracker_name!r} came from a file, so it cannot track live dialogs",
                expected="a policy learned on a tracker of `extrinsic ls trackers`",
            )
        return self.tracker.fit([self.train]) if isinstance(self.tracker, LearnedTracker) else self.tracker

    def beliefs_about(self, test: Corpus) -> TrackerOutput:
        if self.tracker is None:
            raise UsageError(
                f"the beliefs of {self.tracker_name!r} came from a file",
                expected="its beliefs about these dialogs, as output=read_tracker(...)",
            )
        return track(self.tracker, test, self.tracker_name, [self.train])


@dataclass(frozen=True, eq=False)
class Played(Play):
    """Dialogs as played, with returns (n_dialogs,): what each of them earned."""

    returns: Floats

    def __repr__(self) -> str:
        mean = f"{self.returns.mean():.1f}"
        return (
            f"<Played: {self.corpus.n_dialogs:,} dialogs, {self.corpus.n_turns:,} turns, mean return {mean}>"
        )


def learn(
    dialogs: Corpus | str,
    tracker: str | AnyTracker | TrackerOutput,
    learner: Learner | str = "one_step",
    *,
    features: Features | str | Sequence[str] = "compact",
    reward: RewardFunction | None = None,
    behaviour: BehaviourModel | str = "logistic",
    threshold: float = 0.1,
) -> SinglePolicy:
    """Learn a policy from dialogs as a tracker sees them.

    dialogs: a corpus, or a dataset of the embedded world, e.g. `ds1`: its training dialogs.
    tracker: a name of `extrinsic ls trackers`, a tracker, or its output on these dialogs (`read_tracker`).
    learner, behaviour: names, or their configs with options set: `OneStep(ridge=30)`.
    reward: None: the domain's.   threshold: of the filter.
    """
    require_type("threshold", threshold, "a number", int, float)
    for kind, given in (("learner", learner), ("behaviour", behaviour)):
        if not hasattr(given, "fit"):
            require_type(kind, given, f"a name of `extrinsic ls {kind}s`, or its config", str)
    train = _corpus(dialogs, "train")
    runs: AnyTracker | None = None
    if isinstance(tracker, TrackerOutput):
        output, name = tracker, tracker.name
    else:
        runs = TRACKERS.get(tracker) if isinstance(tracker, str) else tracker
        name = tracker if isinstance(tracker, str) else type(tracker).__name__
        output = track(runs, train, name)
    chosen = find_features(features)
    paid = Reward.of(train.domain) if reward is None else reward
    transitions = transitions_of(train, output, chosen, paid)
    model = BEHAVIOURS.get(behaviour)() if isinstance(behaviour, str) else behaviour
    fitted = fit_behaviour(model, transitions, threshold)
    config: Learner = LEARNERS.get(learner)() if isinstance(learner, str) else learner
    policy = config.fit(transitions, fitted)
    return SinglePolicy(policy, fitted, train, transitions, runs, name, chosen, paid)


def value(
    policy: SinglePolicy,
    dialogs: Corpus | str,
    estimators: str | Sequence[str] = ESTIMATED,
    *,
    output: TrackerOutput | None = None,
    proxies: Sequence[str] = PROXIES,
    n_live: int = 1000,
    seed: int = 0,
) -> dict[str, Value]:
    """Values of a policy by name of the estimator, each with its interval, diagnostics and flags.

    dialogs: a corpus, or a dataset of the embedded world: its test dialogs, and `live` is an estimator too.
    output: the tracker's beliefs about them, where they come from a file.   proxies: augment the state.
    n_live, seed: how many callers live play has, and which.
    """
    require_type("policy", policy, "a policy of extrinsic.learn", SinglePolicy)
    require_count("n_live", n_live, 1)
    require_count("seed", seed)
    test = _corpus(dialogs, "test")
    shared = set(test.sessions) & set(policy.train.sessions)
    if shared:
        raise UsageError(
            "a policy must not be valued on what it learned from",
            session=min(shared),
            found=f"{len(shared):,} dialogs of both",
        )
    chosen = [ESTIMATORS.get(name) for name in ([estimators] if isinstance(estimators, str) else estimators)]
    needs = {need for estimator in chosen for need in estimator.needs}
    believed = policy.beliefs_about(test) if output is None else output
    held_out = transitions_of(test, believed, policy.features, policy.reward)
    augmented = stage = None
    if "augmented_states" in needs:
        summaries = [track(TRACKERS.get(name), test, name, [policy.train]) for name in proxies]
        augmented = augment(held_out, test, believed, summaries, policy.reward)
    if "world" in needs and isinstance(dialogs, str):
        tracker = policy.playing_tracker()
        stage = LivePlay(policy.live, tracker, _world(dialogs), n_live, seed, policy.reward)
    target = policy.probabilities(held_out.states, held_out.possible)
    problem = EvaluationProblem(held_out, target, augmented, stage)
    values = {}
    for estimator in chosen:
        estimate = estimator.estimate(problem)
        if estimate.resampled_over == "dialogs" and estimator.name != "observed":
            estimate = with_on_policy_gap(estimate, estimator, problem)
        values[estimator.name] = checked(estimate, problem)
    return values


def play(
    policy: SinglePolicy, world: World | LockstepWorld | str, n_dialogs: int = 1000, seed: int = 0
) -> Played:
    """Play a policy live; the same seed gives the same callers to every policy.

    world: a dataset, e.g. `ds1` or `restaurants:quiet`: where its test dialogs come from; or any World.
    """
    require_type("policy", policy, "a policy of extrinsic.learn", SinglePolicy)
    require_count("n_dialogs", n_dialogs, 1)
    require_count("seed", seed)
    place = _world(world) if isinstance(world, str) else world
    fill = fill_of(policy.reward)
    played = play_live(policy.live, policy.playing_tracker(), n_dialogs, seed, place, fill=fill)
    return Played(**vars(played), returns=returns(played.corpus, policy.reward(played.corpus, played.output)))


def _corpus(dialogs: Corpus | str, split: str) -> Corpus:
    require_type("dialogs", dialogs, "a Corpus, or the name of a dataset", Corpus, str)
    if isinstance(dialogs, Corpus):
        return dialogs
    simulation, dataset = find_dataset(dialogs)
    return simulation.simulate(dataset, split).corpus


def _world(name: str) -> World | LockstepWorld:
    simulation, dataset = find_dataset(name)
    return simulation.world(dataset, "test")
