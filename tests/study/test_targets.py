"""Targets that are not the return again: gains with the same callers, callers served, the fixed policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.policy.rewards import Reward, fill_of, returns
from extrinsic.registry import TRACKERS as REGISTERED
from extrinsic.simulation import Play, play, read_simulation
from extrinsic.study.policy_values import PolicyValue, StoredValue, gain_terms, gains, stored_values
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study
from extrinsic.study.variants import chosen_targets, possible_targets
from extrinsic.trackers.track import track
from extrinsic.value.value import interval
from tests.study.studies import (
    DATASETS,
    DISK,
    LIVE_DIALOGS,
    SEED,
    SMALL,
    STUDY,
    TRACKERS,
    Row,
    Study,
    done,
    number,
    run_in,
    write_study,
)

FIXED = STUDY.replace('policies = ["rl"]', 'policies = ["rl", "expert"]').replace(
    'fill = ["argmax"]', 'fill = ["threshold"]'
)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    root = tmp_path_factory.mktemp("fixed")
    return done(write_study(root, FIXED), root / "run")


def cell(study: Study, target: str, dataset: str, tracker: str) -> Row:
    (row,) = (
        row
        for row in study.rows("returns")
        if (f"{row['policy']}.{row['estimator']}", row["dataset"], row["tracker"])
        == (target, dataset, tracker)
    )
    return row


def numbers(row: Row) -> list[float]:
    return [number(row[name]) for name in ("value", "low", "high")]


def world_of(study: Study, dataset: str) -> Any:
    return read_simulation(study.config.parent / "worlds.toml").world(dataset, "test")


def expert_calls(study: Study, dataset: str) -> Play:
    in_world = world_of(study, dataset)
    return play(in_world.policy(), in_world.tracker(), LIVE_DIALOGS, SEED, in_world)


def earned_by(played: Play, tracker: str, reward: Reward) -> Floats:
    """What the expert's calls earn by the beliefs of another tracker."""
    output = track(REGISTERED.get(tracker), played.corpus, tracker)
    return returns(played.corpus, reward(played.corpus, output))


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("tracker", ["hwu", "rank_only"])
def test_the_logged_policy_meets_the_callers_of_live_play(fixed: Study, dataset: str, tracker: str) -> None:
    played = expert_calls(fixed, dataset)
    earned = earned_by(played, tracker, Reward.of(played.corpus.domain, fill="threshold"))
    change = (earned - earned.mean()) / LIVE_DIALOGS
    expected = (earned.mean(), *interval(float(earned.mean()), [change]))
    assert numbers(cell(fixed, "behaviour.live", dataset, tracker)) == pytest.approx(expected)
    completed = cell(fixed, "behaviour.completed", dataset, tracker)
    assert number(completed["value"]) == pytest.approx(played.completed.mean())
    assert (completed["feasible_low"], completed["feasible_high"]) == ("0.0", "1.0")


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("tracker", ["hwu", "rank_only"])
def test_the_fixed_policy_acts_on_each_tracker(fixed: Study, dataset: str, tracker: str) -> None:
    in_world = world_of(fixed, dataset)
    reward = Reward.of(in_world.domain, fill="threshold")
    fill = fill_of(reward)
    played = play(in_world.policy(), REGISTERED.get(tracker), LIVE_DIALOGS, SEED, in_world, fill=fill)
    earned = returns(played.corpus, reward(played.corpus, played.output))
    assert number(cell(fixed, "expert.live", dataset, tracker)["value"]) == pytest.approx(earned.mean())
    completed = cell(fixed, "expert.completed", dataset, tracker)
    assert number(completed["value"]) == pytest.approx(played.completed.mean())
    assert not [
        row for row in fixed.rows("returns") if (row["policy"], row["estimator"]) == ("expert", "lstd")
    ]


@pytest.mark.parametrize("tracker", TRACKERS)
def test_gains_are_paired_by_caller(fixed: Study, tracker: str) -> None:
    made = Run(fixed.folder)
    for dataset in DATASETS:
        gain, live, logged = (
            cell(fixed, target, dataset, tracker) for target in ("rl.gain", "rl.live", "behaviour.live")
        )
        assert number(gain["value"]) == pytest.approx(number(live["value"]) - number(logged["value"]))
        assert int(gain["n"]) == LIVE_DIALOGS
        assert gain["feasible_low"] == ""
        by_target = {
            entry.value.target: entry.influence
            for entry in stored_values(made.store, made.plan.learned["fill=threshold"])
            if (entry.tracker, entry.value.dataset) == (tracker, dataset)
        }
        change = by_target["rl.live"] - by_target["behaviour.live"]
        assert numbers(gain)[1:] == pytest.approx(interval(number(gain["value"]), [change]))


def value_of(estimator: str, policy: str, mean: float, influence: list[float], **parts: float) -> StoredValue:
    value = PolicyValue(
        dataset="a", policy=policy, estimator=estimator, mean=mean, n=len(influence), diagnostics=parts
    )
    return StoredValue("t", value, np.array(influence), {}, 10)


def test_a_gain_by_hand() -> None:
    """Without live play: the preferred estimator less the log's return, over the same dialogs."""
    parts = {"lstd_augmented": 7.0, "fqe_augmented": 3.0}
    learned = value_of("mean_augmented", "rl", 5.0, [1.0, -1.0, 0.0], **parts)
    other = value_of("lstd", "rl", 9.0, [0.0, 0.0, 0.0])
    logged = value_of("observed", "behaviour", 2.0, [0.5, -0.5, 0.0])
    (gain,) = gains([logged, other, learned])
    assert gain.value.target == "rl.gain" and gain.value.mean == 3.0
    assert gain.influence.tolist() == [0.5, -0.5, 0.0]
    low, high = interval(3.0, [gain.influence])
    # Half of the distance between the parts of the estimator is a bias that dialogs do not show.
    assert gain.value.low == pytest.approx(3.0 - np.hypot(3.0 - low, 2.0))
    assert gain.value.high == pytest.approx(3.0 + np.hypot(high - 3.0, 2.0))


def test_no_gain_without_both_of_its_terms() -> None:
    assert gain_terms(["rl.live", "behaviour.observed"]) is None
    assert gain_terms(["sl.lstd", "behaviour.observed"]) is None
    assert gain_terms(["rl.live", "rl.lstd", "behaviour.observed"]) == ("rl.lstd", "behaviour.observed")
    assert gain_terms(["rl.lstd", "rl.live", "behaviour.live"]) == ("rl.live", "behaviour.live")
    assert list(gains([value_of("live", "rl", 1.0, [0.0, 0.0])])) == []


def test_targets_of_a_study(tmp_path: Path) -> None:
    settings = read_study(write_study(tmp_path, FIXED))
    live = ["rl.live", "rl.completed", "expert.live", "expert.completed"]
    assert sorted(chosen_targets(settings)) == sorted([*live, "rl.lstd", "behaviour.observed", "rl.gain"])
    assert {"behaviour.live", "behaviour.completed"} <= set(possible_targets(settings))


@pytest.mark.parametrize("target", ["rl.gain", "rl.completed", "behaviour.live"])
def test_a_sensitivity_analysis_computes_what_its_target_needs(target: str, tmp_path: Path) -> None:
    more = f'\n[sensitivity]\ntarget = "{target}"\nvary = {{"policy.threshold" = [0.3]}}\n'
    study = done(write_study(tmp_path, SMALL + more), tmp_path / "run")
    assert {row["target"] for row in study.rows("sensitivity")} >= {target}


REFUSED = (
    (DISK, "`expert` is the policy of a simulated world, and these dialogs are on disk"),
    (FIXED.replace('["live", "lstd"]', '["lstd"]'), "`expert` is valued by live play alone"),
)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_fixed_policy_that_cannot_be_played_is_refused(text: str, message: str, tmp_path: Path) -> None:
    text = text.replace('policies = ["rl"]', 'policies = ["rl", "expert"]')
    outcome = run_in(write_study(tmp_path, text), tmp_path / "run")
    assert outcome.code == 2 and message in outcome.text
    assert "policy.policies" in outcome.text and "Traceback" not in outcome.text
