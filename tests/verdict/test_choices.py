"""What choices earn and lose, against loops over pairs and over all sets of k systems."""

from __future__ import annotations

from itertools import combinations
from math import nan, sqrt
from statistics import median

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.verdict.choices import BEST_OF, choices, pair_sums, possible_corrected


def mean(numbers: list[float]) -> float:
    """Of what is not missing."""
    numbers = [number for number in numbers if number == number]
    return sum(numbers) / len(numbers) if numbers else nan


def by_loops(score: Floats, values: Floats) -> dict[str, float]:
    """The same of one metric (D, S), by the definitions alone."""
    parts: dict[str, list[float]] = {name: [] for name in ("earned", "possible", "hard", *map(str, BEST_OF))}
    for x, y in zip(score, values, strict=True):
        systems = [i for i in range(len(x)) if x[i] == x[i] and y[i] == y[i]]
        pairs = list(combinations(systems, 2))
        earned = [float(np.sign(x[i] - x[j]) * (y[i] - y[j]) / 2) for i, j in pairs]
        apart = [abs(float(y[i] - y[j])) for i, j in pairs]
        parts["earned"].append(mean(earned))
        parts["possible"].append(mean([each / 2 for each in apart]))
        middle = median(apart) if apart else nan
        hard = [a / 2 - e for a, e in zip(apart, earned, strict=True) if a < middle]
        parts["hard"].append(mean(hard))
        for k in BEST_OF:
            lost = []
            for chosen in combinations(systems, k):
                first = max(x[i] for i in chosen)
                taken = mean([float(y[i]) for i in chosen if x[i] == first])
                lost.append(max(float(y[i]) for i in chosen) - taken)
            parts[str(k)].append(mean(lost))
    return {name: mean(numbers) for name, numbers in parts.items()}


@pytest.mark.parametrize("number", range(200))
def test_choices_are_those_of_loops(number: int) -> None:
    """Panels with ties, missing numbers, datasets with other systems, and metrics without any number."""
    rng = np.random.default_rng(number)
    n_metrics, n_datasets, n_systems = rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 13)
    scores = rng.normal(size=(n_metrics, n_datasets, n_systems))
    values = 50.0 + 10.0 * rng.normal(size=(n_datasets, n_systems))
    if rng.random() < 0.5:
        scores, values = np.round(2 * scores) / 2, np.round(values / 5) * 5
    scores[rng.random(scores.shape) < rng.choice([0.0, 0.2])] = nan
    values[rng.random(values.shape) < rng.choice([0.0, 0.2])] = nan
    made = choices(scores, values)
    for metric, score in enumerate(scores):
        loops = by_loops(score, values)
        ours = {"earned": made.earned, "possible": made.possible, "hard": made.lost_hard}
        ours |= {str(k): lost for k, lost in made.lost_of.items()}
        for name, numbers in ours.items():
            assert numbers[metric] == pytest.approx(loops[name], rel=1e-12, abs=1e-12, nan_ok=True), name
        lost = loops["possible"] - loops["earned"]
        assert made.lost[metric] == pytest.approx(lost, abs=1e-12, nan_ok=True)
        if loops["possible"] > 0:
            assert made.share[metric] == pytest.approx(loops["earned"] / loops["possible"], abs=1e-12)


def test_pairs_of_each_system() -> None:
    scores = np.array([[[1.0, 2.0, 2.0, nan]]])
    sums = pair_sums(scores, np.array([[0.0, 6.0, 2.0, 1.0]]))
    assert sums.earned.tolist() == [[[3.0 + 1.0, 3.0, 1.0, 0.0]]]
    assert sums.possible.tolist() == [[[4.0, 3.0 + 2.0, 1.0 + 2.0, 0.0]]]
    assert sums.partners.tolist() == [[[2, 2, 2, 0]]]


def test_blocks_of_metrics_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    scores, values = rng.normal(size=(7, 2, 9)), rng.normal(size=(2, 9))
    whole = choices(scores, values)
    monkeypatch.setattr("extrinsic.verdict.choices.BLOCK", 80)
    assert choices(scores, values).lost_hard.tobytes() == whole.lost_hard.tobytes()


def test_a_perfect_metric_loses_nothing_and_its_opposite_twice() -> None:
    values = np.random.default_rng(2).normal(size=(2, 20))
    made = choices(np.stack([values, np.exp(3 * values), -values]), values)
    assert made.lost[:2].tolist() == [0.0, 0.0]
    assert made.share == pytest.approx([1.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("scores", "values"),
    [(np.zeros((2, 1, 5)), np.zeros((1, 5))), (np.full((2, 1, 5), nan), np.ones((1, 5)))],
    ids=["all equal", "nothing there"],
)
def test_nothing_to_choose(scores: Floats, values: Floats) -> None:
    made = choices(scores, values)
    assert np.isnan(made.share).all()
    assert np.isnan(made.earned).all() == np.isnan(scores).all()


def test_other_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match="not of the same datasets and systems"):
        choices(np.zeros((2, 1, 5)), np.zeros((2, 5)))


def noisy(noise: float, n_items: int, n_systems: int = 4000) -> tuple[Floats, Floats]:
    """Values (1, S) of standard deviation 1 and their means over items, with the items' influence."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(1, n_systems))
    items = truth[0][:, None] + noise * rng.normal(size=(n_systems, n_items))
    values = items.mean(axis=1)
    return values[None], (items - values[:, None]) / n_items


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_what_is_possible_without_noise(noise: float) -> None:
    """Two normal targets are 2 / sqrt(pi) apart, on average; the plain value is too large by sqrt(1 + e)."""
    values, influence = noisy(noise, 10)
    plain = choices(values[None], values).possible[0]
    assert plain == pytest.approx(sqrt((1 + noise**2 / 10) / np.pi), rel=0.03)
    corrected = possible_corrected(values, [influence], "target", 0)
    assert corrected == pytest.approx(1 / sqrt(np.pi), rel=0.04)
    assert corrected == possible_corrected(values, [influence], "target", 0)
    assert corrected != possible_corrected(values, [influence], "another", 0)


def test_what_is_possible_is_unknown_without_items() -> None:
    values, influence = noisy(1.0, 10, 5)
    assert possible_corrected(values, [influence[:, :1]], "target", 0) is None
    assert possible_corrected(values[:, :1], [influence[:1]], "target", 0) is None
    assert possible_corrected(np.full((1, 5), nan), [influence], "target", 0) is None
