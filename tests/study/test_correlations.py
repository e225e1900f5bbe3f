"""Targets, choices and correlations of a run, computed again: by loops, by scipy, by playing once more."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import parse_metric
from extrinsic.policy.rewards import Reward, fill_of, returns
from extrinsic.registry import TRACKERS as REGISTERED
from extrinsic.simulation import Play, play, read_simulation
from extrinsic.study.policy_values import PolicyValue, StoredValue, gain_terms, gains, stored_values
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study
from extrinsic.study.variants import chosen_targets, possible_targets
from extrinsic.trackers.track import track
from extrinsic.value.value import interval
from tests.running import assert_refused
from tests.study.studies import (
    DATASETS,
    DISK,
    LIVE_DIALOGS,
    SEED,
    SMALL,
    STUDY,
    TARGETS,
    TRACKERS,
    Row,
    Study,
    done,
    number,
    run_in,
    write_study,
)

CORE = [name for name in TRACKERS if name not in ("last_turn", "focus_overconfident")]
GROUPS = list(product(("all", "core"), ("within", "pooled")))
SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}
Points = dict[tuple[str, str, str], Floats]


def names_of(trackers: str) -> list[str]:
    return list(TRACKERS) if trackers == "all" else CORE


@pytest.fixture(scope="module")
def metrics(tiny: Study) -> Points:
    """By metric, schedule and component (n_datasets, n_trackers), higher is better."""
    cells: dict[tuple[str, str, str], Floats] = {}
    for row in tiny.rows("intrinsic"):
        sign = 1.0 if parse_metric(row["metric"]).higher_is_better else -1.0
        name = (row["metric"], row["schedule"], row["component"])
        table = cells.setdefault(name, np.full((len(DATASETS), len(TRACKERS)), np.nan))
        table[DATASETS.index(row["dataset"]), TRACKERS.index(row["tracker"])] = sign * number(row["value"])
    return cells


@pytest.fixture(scope="module")
def targets(tiny: Study) -> dict[str, Floats]:
    cells: dict[str, Floats] = {}
    for row in tiny.rows("returns"):
        table = cells.setdefault(
            f"{row['policy']}.{row['estimator']}", np.full((len(DATASETS), len(TRACKERS)), np.nan)
        )
        table[DATASETS.index(row["dataset"]), TRACKERS.index(row["tracker"])] = number(row["value"])
    assert set(cells) == {*TARGETS, "behaviour.live", "behaviour.completed"}
    return cells


def points(values: Floats, trackers: str, scope: str, without: str | None = None) -> Floats:
    """The points as scipy takes them; rounded, since centred values that should be equal are not quite."""
    chosen = [TRACKERS.index(name) for name in names_of(trackers) if name != without]
    some = values[:, chosen]
    if scope == "within":
        some = some - some.mean(axis=1, keepdims=True)
    return np.round(some.ravel(), 10)


def key(row: Row) -> tuple[str, str, str]:
    return row["metric"], row["schedule"], row["component"]


@pytest.mark.parametrize("coefficient", SCIPY)
def test_coefficients_are_scipy_s(
    tiny: Study, metrics: Points, targets: dict[str, Floats], coefficient: str
) -> None:
    rows = tiny.rows("correlations", coefficient=coefficient)
    assert len(rows) == len(metrics) * len(TARGETS) * len(GROUPS)
    for row in rows:
        trackers, scope = row["trackers"], row["scope"]
        x = points(metrics[key(row)], trackers, scope)
        y = points(targets[row["target"]], trackers, scope)
        assert float(row["r"]) == pytest.approx(SCIPY[coefficient](x, y), abs=1e-8), row
        assert int(row["n"]) == len(x)
        assert (row["low"] == "") == (row["reason"] != "")
        # Four core trackers are too few for an interval.
        assert trackers == "all" or row["reason"].startswith("not decided: 4 trackers")


def test_intervals_and_p_values_are_in_range(tiny: Study) -> None:
    for row in tiny.rows("correlations"):
        lowest = 0.0 if row["coefficient"] == "pairwise" else -1.0
        if row["low"]:
            assert lowest <= number(row["low"]) <= number(row["high"]) <= 1.0
        assert lowest <= number(row["r"]) <= 1.0
        # 99 permutations of six trackers, all 24 of four.
        n = 100 if row["trackers"] == "all" else 24
        p = number(row["p"])
        assert 1 / n <= p <= 1.0
        assert p * n == pytest.approx(round(p * n))
        assert p <= number(row["q"]) <= number(row["p_adjusted"]) <= 1.0
        # The largest of all metrics is never surer than one alone; where their nulls are alike, as they are
        # not over pooled points, it is not less sure than Holm allows.
        assert p <= number(row["p_max_t"]) <= 1.0
        if row["scope"] == "within":
            assert number(row["p_max_t"]) <= number(row["p_adjusted"]) + 1e-9


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_intervals_are_of_the_jackknife(
    tiny: Study, metrics: Points, targets: dict[str, Floats], coefficient: str
) -> None:
    """At least as wide as tanh(atanh(r) -+ t se) with n - 1 degrees of freedom: tails may be heavy."""
    rows = tiny.rows("correlations", trackers="all", coefficient=coefficient, scope="within")
    n, compared = len(TRACKERS), 0
    for row in rows:
        x, y = metrics[key(row)], targets[row["target"]]
        without = np.array(
            [
                SCIPY[coefficient](points(x, "all", "within", name), points(y, "all", "within", name))
                for name in TRACKERS
            ]
        )
        if not row["low"] or (np.abs(without) > 1 - 1e-9).any():
            continue
        z = np.arctanh(without)
        half = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
        low, high = np.tanh(np.arctanh(number(row["r"])) + np.array([-half, half]))
        assert number(row["low"]) <= low + 1e-6 and number(row["high"]) >= high - 1e-6
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("trackers", ["all", "core"])
def test_choices_by_a_double_loop(
    tiny: Study, metrics: Points, targets: dict[str, Floats], trackers: str
) -> None:
    """As a reader would check them, from the other tables alone."""
    chosen = [TRACKERS.index(name) for name in names_of(trackers)]
    rows = tiny.rows("choices", systems=trackers)
    assert len(rows) == len(metrics) * len(TARGETS)
    for row in rows:
        earned, possible = [], []
        for d in range(len(DATASETS)):
            m, y = metrics[key(row)][d, chosen], targets[row["target"]][d, chosen]
            pairs = [(i, j) for i in range(len(chosen)) for j in range(i)]
            earned.append(np.mean([np.sign(m[i] - m[j]) * (y[i] - y[j]) / 2 for i, j in pairs]))
            possible.append(np.mean([abs(y[i] - y[j]) / 2 for i, j in pairs]))
        assert float(row["earned"]) == pytest.approx(np.mean(earned), abs=1e-9)
        assert float(row["possible"]) == pytest.approx(np.mean(possible))
        assert float(row["lost"]) == pytest.approx(np.mean(possible) - np.mean(earned), abs=1e-9)
        assert (int(row["datasets"]), int(row["n"])) == (len(DATASETS), len(chosen))
        assert (row["bound"] == "") == (row["reason"] != "")
        if row["bound"]:
            assert number(row["bound"]) >= number(row["lost"])


def test_sensitivity_and_choices_name_the_same_winner(tiny: Study) -> None:
    for row in tiny.rows("sensitivity"):
        rows = tiny.rows("choices", target="rl.live", systems=row["trackers"])
        least = min(float(other["lost"]) for other in rows)
        assert float(row["lost"]) == float(row["usual_winner_lost"]) == pytest.approx(least)
        assert (row["usual_winner_rank"], row["n_metrics"]) == ("1", str(len(rows)))
        assert float(row["agreement"]) == pytest.approx(1.0)


def test_composites_are_of_trackers_left_out(tiny: Study) -> None:
    rows = tiny.rows("composite", trackers="all", target="rl.live")
    methods = {row["method"]: row for row in rows}
    assert {"best_single", "behaviour"} <= set(methods)
    assert number(methods["best_single"]["above_best_single"]) == 0.0
    for row in rows:
        assert -1.0 <= number(row["r"]) <= 1.0
        assert number(row["above_best_single"]) == pytest.approx(
            number(row["r"]) - number(methods["best_single"]["r"])
        )
    # Two are left out at a time; of the four core trackers too few remain.
    assert tiny.rows("composite", trackers="core") == []


FIXED = STUDY.replace('policies = ["rl"]', 'policies = ["rl", "expert"]').replace(
    'fill = ["argmax"]', 'fill = ["threshold"]'
)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    root = tmp_path_factory.mktemp("fixed")
    return done(write_study(root, FIXED), root / "run")


def cell(study: Study, target: str, dataset: str, tracker: str) -> Row:
    policy, _, estimator = target.partition(".")
    (row,) = study.rows("returns", policy=policy, estimator=estimator, dataset=dataset, tracker=tracker)
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
    assert fixed.rows("returns", policy="expert", estimator="lstd") == []


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
    assert_refused(run_in(write_study(tmp_path, text), tmp_path / "run"), message, "policy.policies")
