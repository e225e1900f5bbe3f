"""What trackers score and what policies are worth in a run, against the same computed by hand."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

import extrinsic
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import OneStep
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.rewards import Reward, fill_of, returns
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.simulation import play, read_simulation, simulate
from extrinsic.study import learn_stage, valuation
from extrinsic.study.learn_stage import LearnTask, with_other_trackers
from extrinsic.study.plan import plan_study
from extrinsic.study.settings_file import read_study
from extrinsic.trackers.track import track
from extrinsic.value.estimator import EvaluationProblem
from tests.study.studies import DATASETS, LIVE_DIALOGS, METRICS, SCHEDULES, SEED, Row, Study
from tests.study.studies import TRACKERS as NAMES


@pytest.fixture(scope="module")
def logged(tiny: Study) -> dict[str, Corpus]:
    simulation = read_simulation(tiny.config.parent / "worlds.toml")
    return {dataset: simulate(simulation, dataset, "test").corpus for dataset in DATASETS}


def output(corpus: Corpus, name: str) -> TrackerOutput:
    return track(TRACKERS.get(name), corpus, name)


@pytest.mark.parametrize("dataset", DATASETS)
def test_metrics_are_those_of_score(tiny: Study, logged: dict[str, Corpus], dataset: str) -> None:
    corpus = logged[dataset]
    rows = tiny.rows("intrinsic", dataset=dataset)
    found = {(row["tracker"], row["component"], row["metric"], row["schedule"]): row for row in rows}
    wanted = [
        row
        for name in NAMES
        for row in extrinsic.score(
            corpus, output(corpus, name), metrics=METRICS, schedules=SCHEDULES, components=("joint", "all")
        ).rows
    ]
    assert len(found) == len(wanted) == len(rows)
    for score in wanted:
        row = found[score.tracker, score.component, score.metric, str(score.schedule)]
        assert (float(row["value"]), int(row["n"])) == (score.value, score.n)
        assert row["label_scheme"] == ""


def value_rows(study: Study, policy: str, estimator: str) -> dict[tuple[str, str], Row]:
    rows = study.rows("returns", policy=policy, estimator=estimator)
    return {(row["dataset"], row["tracker"]): row for row in rows}


def test_the_behaviour_return_is_the_mean_of_the_logged_calls(tiny: Study, logged: dict[str, Corpus]) -> None:
    found = value_rows(tiny, "behaviour", "observed")
    assert len(found) == len(DATASETS) * len(NAMES)
    for (dataset, name), row in found.items():
        corpus = logged[dataset]
        reward = Reward.of(corpus.domain, fill="argmax")
        earned = returns(corpus, reward(corpus, output(corpus, name)))
        assert float(row["value"]) == pytest.approx(earned.mean(), abs=1e-9)
        assert int(row["n"]) == corpus.n_dialogs
        assert float(row["low"]) < float(row["value"]) < float(row["high"])
        assert float(row["feasible_low"]) <= earned.min() <= earned.max() <= float(row["feasible_high"])


@pytest.mark.parametrize("name", ["hwu", "last_turn"])
def test_learned_policies_are_worth_what_they_are_by_themselves(tiny: Study, name: str) -> None:
    """Learn, play and estimate once more without a study around it."""
    dataset = "b"
    simulation = read_simulation(tiny.config.parent / "worlds.toml")
    train, test = (simulate(simulation, dataset, split).corpus for split in ("train", "test"))
    features, reward = find_features("compact"), Reward.of(train.domain, fill="argmax")
    transitions = transitions_of(train, output(train, name), features, reward)
    behaviour = fit_behaviour(KernelLogistic(width=0.7), transitions, threshold=0.1)
    learner = OneStep(height=4.0, width=2.0, nu=1.0, ridge=100.0, gamma=1.0).fit(transitions, behaviour)
    played = play(
        LivePolicy(features, learner),
        TRACKERS.get(name),
        LIVE_DIALOGS,
        SEED,
        simulation.world(dataset, "test"),
        fill=fill_of(reward),
    )
    earned = returns(played.corpus, reward(played.corpus, played.output))
    live = value_rows(tiny, "rl", "live")[dataset, name]
    assert float(live["value"]) == pytest.approx(earned.mean(), abs=1e-9)
    assert int(live["n"]) == LIVE_DIALOGS
    completed = value_rows(tiny, "rl", "completed")[dataset, name]
    assert float(completed["value"]) == pytest.approx(played.completed.mean(), abs=1e-12)
    decisions = transitions_of(test, output(test, name), features, reward)
    value = ESTIMATORS.get("lstd").estimate(
        EvaluationProblem(decisions, learner.probabilities(decisions.states, decisions.possible))
    )
    lstd = value_rows(tiny, "rl", "lstd")[dataset, name]
    assert [float(lstd[key]) for key in ("value", "low", "high")] == pytest.approx(
        [value.mean, value.low, value.high], rel=1e-9
    )
    rows = tiny.rows("diagnostics", dataset=dataset, tracker=name, estimator="learner")
    reported = {row["diagnostic"]: float(row["value"]) for row in rows}
    assert reported == pytest.approx({key: float(number) for key, number in learner.diagnostics.items()})


def test_a_stage_is_the_same_without_those_that_it_is_played_with(tiny: Study) -> None:
    """Two fill rules and three trackers: their policies meet the callers at the same time, whichever stage
    comes first."""
    settings = read_study(tiny.config)
    value = msgspec.structs.replace(settings.value, estimators=("live",))
    policy = msgspec.structs.replace(settings.policy, policies=("rl", "expert"))
    both = msgspec.structs.replace(settings.reward, fill=("argmax", "threshold"))
    few = msgspec.structs.replace(settings.trackers, built_in=("hwu", "vote", "baseline"))
    changed = msgspec.structs.replace(settings, value=value, policy=policy, reward=both, trackers=few)
    bundles = plan_study(changed).bundles
    n_tasks = sum(map(len, bundles))
    assert [len(bundle) for bundle in with_other_trackers(bundles, len(bundles))] == [3] * len(bundles)
    merged = with_other_trackers(bundles * 4, 1)
    assert sum(map(len, merged)) == 4 * n_tasks
    learned = [task for task in merged[0] if isinstance(task, LearnTask)]
    assert [len(task.beside) for task in learned] == [len(learned) - 1] * len(learned)
    assert len({task.system.name for task in learned}) == 3
    for task in learned[:3]:
        forget()
        together = task.run()
        forget()
        alone = replace(task, beside=()).run()
        assert together.encode(task.key) == alone.encode(task.key)


def forget() -> None:
    for cache in (learn_stage._LEARNED, valuation._VALUATIONS):
        cache.made.clear()
