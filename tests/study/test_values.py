"""What trackers score and policies are worth in a run, by hand; and the run's panel, which has the same."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

import extrinsic
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.panel import FILE, Panel
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
from extrinsic.study.run import Run
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


@pytest.fixture(scope="module")
def tiny_run(tiny: Study) -> Run:
    return Run(tiny.folder)


def test_scores_and_counts_are_those_of_the_table(tiny_run: Run) -> None:
    panel, rows = tiny_run.panel, tiny_run.table("intrinsic")
    keys = {(m.metric, m.schedule, m.component, m.label_scheme): i for i, m in enumerate(panel.metrics)}
    datasets = [dataset.name for dataset in panel.datasets]
    for row in rows:
        place = (
            keys[row.metric, row.schedule, row.component, row.label_scheme],
            datasets.index(row.dataset),
            panel.system(row.tracker),
        )
        assert panel.counts[place] == row.n
        assert panel.scores[place] == row.value or (row.value is None and np.isnan(panel.scores[place]))
    assert len(rows) == panel.scores.size


def test_values_and_flags_are_those_of_the_table(tiny_run: Run) -> None:
    panel, rows = tiny_run.panel, tiny_run.table("returns")
    places = {(target.name, target.variant): k for k, target in enumerate(panel.targets)}
    flags = {(note.target, note.dataset, note.system): note.flags for note in panel.notes}
    datasets = [dataset.name for dataset in panel.datasets]
    for row in rows:
        k = places[f"{row.policy}.{row.estimator}", row.variant]
        place = k, datasets.index(row.dataset), panel.system(row.tracker)
        assert (panel.values[place], flags.get(place, ())) == (row.value, row.flags)
    assert len(rows) == panel.values.size
    assert {flag for of_value in flags.values() for flag in of_value} <= set(panel.words)


def test_parts_sum_to_scores_and_influence_to_nothing(tiny_run: Run) -> None:
    panel = tiny_run.panel
    sums = [metric.is_sum for metric in panel.metrics]
    for d, dataset in enumerate(panel.datasets):
        assert len(set(dataset.items)) == len(dataset.items) == panel.parts[d].shape[2]
        summed = panel.parts[d][sums].sum(axis=2, dtype=np.float64)
        assert summed == pytest.approx(panel.scores[sums, d], abs=1e-5, nan_ok=True)
        assert np.isnan(panel.parts[d][np.logical_not(sums)]).all()
        for influence in (panel.influence[d], panel.caller_influence[d]):
            assert influence.size and np.abs(influence.sum(axis=2)).max() < 1e-8
        # Metrics that are no sums have draws around their scores.
        drawn = panel.draws[d]
        assert drawn.shape[0] == len(sums) - sum(sums)


def test_the_manifest_records_the_panel(tiny_run: Run) -> None:
    assert FILE in tiny_run.manifest.tables and tiny_run.changed == ()
    assert Panel.from_run(tiny_run.folder).signature == tiny_run.signature
