"""The study of real DSTC2 calls, as it stands in the repository, is the one that the code makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers

import extrinsic
from experiments.dstc2 import choose, prototype
from experiments.dstc2.candidate_settings import CANDIDATES, Candidate, CandidateGain, summarise
from experiments.dstc2.choose import (
    CONFIG,
    FOLDER,
    NEAR_BEST,
    joint_accuracy,
    make_choices,
    read_choices,
    training_calls,
    training_output,
)
from experiments.dstc2.control import within_condition
from experiments.dstc2.gains import Worth, together, worth_by_target
from experiments.dstc2.scenarios import SCENARIOS
from experiments.dstc2.tables import (
    CandidateRow,
    Difference,
    Gain,
    JudgedTracker,
    PrototypeWay,
)
from experiments.estimate_rows import estimate_fields, row_verdict
from experiments.partial_correlations import beyond_logged, with_logged
from experiments.selection import Selection
from extrinsic.arrays import Floats
from extrinsic.errors import InputError
from extrinsic.study.learn_stage import LearnTask
from extrinsic.study.plan import plan_study
from extrinsic.study.policy_values import values_of
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows
from tests.real_data import needs_data


def test_the_choice_is_the_first_of_the_candidates() -> None:
    rows = read_rows(FOLDER / "candidates.csv", CandidateRow)
    trackers = read_rows(FOLDER / "trackers.csv", JudgedTracker)
    assert len(rows) == len(CANDIDATES)
    assert rows[0].gain == max(row.gain for row in rows)
    assert (FOLDER / "choices.toml").read_text() == make_choices(rows, trackers).text()
    best = max(row.accuracy for row in trackers)
    assert [row.good for row in trackers] == [row.accuracy > best - NEAR_BEST for row in trackers]


@pytest.mark.parametrize(
    ("key", "value"), [("ridge", "77.0"), ("threshold", "0.3"), ("features", '"grouped"')]
)
def test_the_study_keeps_to_what_was_chosen(
    key: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choices = read_choices()
    assert Candidate(choices.features, choices.gamma, choices.ridge, choices.threshold) == prototype.OURS
    text = CONFIG.read_text()
    line = next(line for line in text.splitlines() if line.startswith(f"{key} ="))
    other = tmp_path / "dstc2.toml"
    other.write_text(text.replace(line, f"{key} = {value}"))
    monkeypatch.setattr("experiments.dstc2.choose.CONFIG", other)
    with pytest.raises(InputError, match="chosen on the training calls") as error:
        read_choices()
    assert error.value.problems[0].found == value.strip('"')


@needs_data
def test_nothing_is_chosen_from_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the choice reads, of one tracker and fold and of the trackers that are judged."""
    read_corpus, read_tracker = extrinsic.read_corpus, extrinsic.read_tracker
    datasets, files = set(), set()

    def corpus_of(path: Any, dataset: str, **others: Any) -> Any:
        datasets.add(dataset)
        return read_corpus(path, dataset, **others)

    def output_of(path: Any, *others: Any) -> Any:
        files.add(Path(path).name)
        return read_tracker(path, *others)

    monkeypatch.setattr("extrinsic.read_corpus", corpus_of)
    monkeypatch.setattr("extrinsic.read_tracker", output_of)
    monkeypatch.setattr("experiments.dstc2.choose.candidate_gains", lambda tracker, calls, fold: [fold])
    assert choose.fold_gains("hwu_original", 0) == [0]
    few = ['trackers.built_in=["last_turn"]', 'trackers.files.names=["baseline", "yarbus_16"]']
    assert len(choose.judge_trackers(read_study(CONFIG, [*few, 'value.proxies=["baseline"]']))) == 3
    assert datasets == {"dstc2_train"}
    assert files == {f"{name}.train.json.gz" for name in ("baseline", "hwu", "hwu_original", "yarbus_16")}


@needs_data
def test_a_tracker_on_train_again() -> None:
    """What makes it good, or not."""
    settings = read_study(CONFIG)
    corpus = training_calls(settings)
    accuracy = {row.tracker: row.accuracy for row in read_rows(FOLDER / "trackers.csv", JudgedTracker)}
    for name in ("focus", "last_turn"):
        again = joint_accuracy(corpus, training_output(name, corpus, settings))
        assert again == pytest.approx(accuracy[name], abs=6e-4)


def test_candidates_by_hand() -> None:
    """Gains are means over trackers of means over folds; behind: paired by tracker."""
    first, second = CANDIDATES[:2]
    means = {first: (4.0, 8.0), second: (3.0, 3.0)}
    gains = [
        CandidateGain(tracker, candidate, gain + fold - 0.5, ("a", "b") if fold else ("a",))
        for candidate in CANDIDATES
        for tracker, gain in zip("ab", means.get(candidate, (0.0, 0.0)), strict=True)
        for fold in (0, 1)
    ]
    best, next_best = summarise(gains)[:2]
    assert (best.gain, best.behind, best.flags, best.cells) == (6.0, 0.0, "a:4 b:2", 4)
    assert (next_best.gain, next_best.behind) == (3.0, 3.0)
    assert next_best.standard_error == pytest.approx(np.std([1.0, 5.0], ddof=1) / np.sqrt(2))


def test_ways_of_the_prototype_by_hand() -> None:
    ways = [
        PrototypeWay("seen", "compact", 1.0, 10.0, 0.1, "sampled", "lstd", x, x > 0, 1, 2 * x)
        for x in (3, -1)
    ]
    (mean,) = prototype.summarise(ways)
    assert (mean.rl_sl, mean.above, mean.trackers, mean.rl_logged) == (1.0, 1, 2, 2.0)


def test_correlation_between_calls_by_hand() -> None:
    rng = np.random.default_rng(0)
    values, success = rng.normal(size=(3, 40)), rng.integers(0, 2, 40).astype(float)
    condition, weights = rng.integers(0, 3, 40), rng.integers(0, 3, (5, 40)).astype(float)
    correlations = within_condition(values, success, condition, weights)
    for draw, counts in enumerate(weights):
        taken = np.repeat(np.arange(40), counts.astype(int))
        x, y = values[:, taken].copy(), success[taken].copy()
        for group in range(3):
            members = condition[taken] == group
            x[:, members] -= x[:, members].mean(axis=1, keepdims=True)
            y[members] -= y[members].mean()
        expected = np.mean([np.corrcoef(row, y)[0, 1] for row in x])
        assert correlations[draw] == pytest.approx(expected)


def test_a_difference_by_hand() -> None:
    """Two conditions together: every call counts as much; the interval is that of a mean of differences."""
    a, b = np.random.default_rng(1).normal(size=(2, 30))

    def worth(values: Floats) -> Worth:
        parts = (values[:10], values[10:])
        return together([Worth(float(part.mean()), (part - part.mean()) / len(part)) for part in parts])

    difference, low, high = worth(a).minus(worth(b))
    assert difference == pytest.approx((a - b).mean())
    each = (a - b) - np.repeat([(a - b)[:10].mean(), (a - b)[10:].mean()], [10, 20])
    assert high - difference == pytest.approx(1.96 * np.sqrt((each**2).sum()) / 30)
    assert difference - low == pytest.approx(high - difference)


def test_what_a_metric_adds_to_the_logged_return() -> None:
    """The partial correlation is that of the residuals of two regressions; a flat metric is left out."""
    rng = np.random.default_rng(2)
    metrics, logged = rng.normal(size=(2, 1, 12)), rng.normal(size=(1, 12))
    metrics[1] = 1.0
    learned = logged + 0.5 * metrics[0] + rng.normal(size=(1, 12))
    sample = Sample.of_trackers(*with_logged(metrics, learned, logged), n_resamples=50)
    drawn = draw_trackers("a test", 12, 50, 0)
    correlations = correlation_estimate(sample, "pearson", "within", "trackers", drawn)
    (first, given, partial), (_, gain, with_gain) = beyond_logged(correlations)
    x, y, z = metrics[0, 0], learned[0], logged[0]
    residuals = [values - np.polyval(np.polyfit(z, values, 1), z) for values in (x, y)]
    assert (first, given, gain) == (0, "given", "gain")
    assert float(partial.value) == pytest.approx(np.corrcoef(*residuals)[0, 1])
    assert float(with_gain.value) == pytest.approx(np.corrcoef(x, y - z)[0, 1])
    row = Difference("seen", "correct", "argmax", "all", 12, "a@1", "b@1", *estimate_fields(partial).values())
    assert row_verdict(row) == partial.verdict()


@needs_data
def test_a_tracker_again() -> None:
    """Learned and valued again, without the rest of the study: one tracker in one of the brief runs."""
    scenario = SCENARIOS[-1]
    few = ('trackers.built_in=["last_turn"]', 'trackers.files.names=["focus", "hwu", "baseline"]')
    bundles = plan_study(scenario.settings(*few)).bundles
    learning = (task for bundle in bundles for task in bundle if isinstance(task, LearnTask))
    task = next(task for task in learning if (task.system.name, task.variant) == ("focus", "fill=argmax"))
    worth = worth_by_target(values_of("focus", [task.run()]))
    gains = Selection(read_rows(FOLDER / "gains.csv", Gain))
    (expected,) = gains.where(
        manager=scenario.manager, absent=scenario.absent, fill="argmax", tracker="focus"
    ).rows
    assert worth["rl.mean_augmented"].mean == pytest.approx(expected.rl, abs=6e-4)
    assert worth["behaviour.observed"].mean == pytest.approx(expected.behaviour, abs=6e-4)
