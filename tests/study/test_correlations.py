"""Choices and correlations of a run, computed again from its other tables: by loops, and by scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import parse_metric
from tests.study.studies import DATASETS, TARGETS, TRACKERS, Row, Study, number

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
