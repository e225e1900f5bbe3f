"""Correlations, pairs and influence of a run, computed again by scipy from its other tables."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.dependent import williams, zou_interval
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


def key(row: Row, side: str = "") -> tuple[str, str, str]:
    return row[f"metric{side}"], row[f"schedule{side}"], row[f"component{side}"]


def select(rows: list[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


@pytest.mark.parametrize("coefficient", SCIPY)
def test_coefficients_are_scipy_s(
    tiny: Study, metrics: Points, targets: dict[str, Floats], coefficient: str
) -> None:
    rows = select(tiny.rows("correlations"), coefficient=coefficient)
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


@pytest.mark.parametrize("trackers", ["all", "core"])
def test_pairwise_accuracy_counts_pairs(
    tiny: Study, metrics: Points, targets: dict[str, Floats], trackers: str
) -> None:
    size = len(names_of(trackers))
    for row in select(tiny.rows("correlations"), coefficient="pairwise", trackers=trackers):
        x = points(metrics[key(row)], trackers, "pooled")
        y = points(targets[row["target"]], trackers, "pooled")
        right = total = 0.0
        for i in range(len(x)):
            for j in range(i):
                if (row["scope"] == "within" and i // size != j // size) or y[i] == y[j]:
                    continue
                total += 1.0
                right += 0.5 if x[i] == x[j] else (x[i] > x[j]) == (y[i] > y[j])
        assert float(row["r"]) == pytest.approx(right / total)


def test_intervals_and_p_values_are_in_range(tiny: Study) -> None:
    for row in tiny.rows("correlations"):
        lowest = 0.0 if row["coefficient"] in ("pairwise", "soft_pairwise") else -1.0
        if row["low"]:
            assert lowest <= number(row["low"]) <= number(row["high"]) <= 1.0
        assert lowest <= number(row["r"]) <= 1.0
        if row["coefficient"] == "soft_pairwise":
            assert row["p"] == row["p_adjusted"] == row["q"] == ""
            continue
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


@pytest.mark.parametrize(("trackers", "scope"), GROUPS)
def test_p_values_are_adjusted_over_the_metrics(tiny: Study, trackers: str, scope: str) -> None:
    for coefficient, target in product(("pearson", "spearman", "kendall"), TARGETS):
        rows = select(
            tiny.rows("correlations"), trackers=trackers, scope=scope, coefficient=coefficient, target=target
        )
        p = np.array([number(row["p"]) for row in rows])
        order = np.argsort(p, kind="stable")
        holm = np.empty(len(p))
        highest = 0.0
        for rank, place in enumerate(order):
            highest = max(highest, (len(p) - rank) * p[place])
            holm[place] = min(1.0, highest)
        assert [number(row["p_adjusted"]) for row in rows] == pytest.approx(holm)
        q = stats.false_discovery_control(p, method="bh")
        assert [number(row["q"]) for row in rows] == pytest.approx(q)


def test_exact_p_values_count_all_permutations(
    tiny: Study, metrics: Points, targets: dict[str, Floats]
) -> None:
    """Four core trackers have 24 orders, the same on both datasets."""
    (row,) = select(
        tiny.rows("correlations"),
        target="rl.live",
        metric="accuracy",
        schedule="1",
        component="all",
        scope="within",
        coefficient="pearson",
        trackers="core",
    )
    chosen = [TRACKERS.index(name) for name in CORE]
    x = points(metrics[key(row)], "core", "within")
    found = []
    for order in permutations(chosen):
        moved = targets["rl.live"][:, list(order)]
        found.append(abs(np.corrcoef(x, (moved - moved.mean(axis=1, keepdims=True)).ravel())[0, 1]))
    # The first order is the observed one; r of the table is of metrics with more digits.
    assert found[0] == pytest.approx(abs(float(row["r"])), abs=1e-8)
    assert number(row["p"]) == pytest.approx(np.mean(np.array(found) >= found[0] - 1e-9))


@pytest.mark.parametrize("trackers", ["all", "core"])
def test_pairs_are_differences_of_correlations(
    tiny: Study, metrics: Points, targets: dict[str, Floats], trackers: str
) -> None:
    rows = select(tiny.rows("pairs"), trackers=trackers)
    assert len(rows) == len(metrics) * (len(metrics) - 1) // 2
    size = len(DATASETS) * len(names_of(trackers))
    # Of the points, one a dataset but the first is used up by centring.
    independent = size - (len(DATASETS) - 1)
    goal = points(targets["rl.live"], trackers, "within")
    for row in rows:
        assert (row["target"], row["scope"]) == ("rl.live", "within")
        x, y = (points(metrics[key(row, side)], trackers, "within") for side in ("_a", "_b"))
        r_a, r_b, r_ab = (np.corrcoef(*pair)[0, 1] for pair in ((x, goal), (y, goal), (x, y)))
        assert [float(row[name]) for name in ("r_a", "r_b", "r_ab")] == pytest.approx(
            [r_a, r_b, r_ab], abs=1e-8
        )
        assert float(row["r_a"]) >= float(row["r_b"])
        assert float(row["difference"]) == float(row["r_a"]) - float(row["r_b"])
        assert (int(row["n"]), int(row["n_independent"])) == (size, independent)
        told = [float(row[name]) for name in ("r_a", "r_b", "r_ab")]
        test = williams(*told, independent)
        assert number(row["williams_t"]) == pytest.approx(test.t, nan_ok=True)
        assert number(row["williams_p"]) == pytest.approx(test.p, nan_ok=True)
        low, high = zou_interval(*told, independent)
        assert [number(row["zou_low"]), number(row["zou_high"])] == pytest.approx([low, high], nan_ok=True)
        assert number(row["low"]) <= number(row["high"])
        assert 1 / 100 <= number(row["p"]) <= 1.0
        assert 1 / 100 <= number(row["p_both"]) <= 1.0


@pytest.mark.parametrize(("trackers", "scope"), GROUPS)
@pytest.mark.parametrize("coefficient", SCIPY)
def test_influence_leaves_out_a_tracker(
    tiny: Study, metrics: Points, targets: dict[str, Floats], trackers: str, scope: str, coefficient: str
) -> None:
    rows = select(tiny.rows("influence"), trackers=trackers, scope=scope, coefficient=coefficient)
    assert len(rows) == len(metrics) * len(TARGETS)
    for row in rows:
        without = {
            name: SCIPY[coefficient](
                points(metrics[key(row)], trackers, scope, name),
                points(targets[row["target"]], trackers, scope, name),
            )
            for name in names_of(trackers)
        }
        assert float(row["lowest"]) == pytest.approx(min(without.values()), abs=1e-8)
        assert float(row["highest"]) == pytest.approx(max(without.values()), abs=1e-8)
        assert float(row["r_without"]) == pytest.approx(without[row["tracker"]], abs=1e-8)
        assert 0.0 <= number(row["share"]) <= 1.0
        moved = {name: abs(r - float(row["r"])) for name, r in without.items()}
        assert moved[row["tracker"]] == pytest.approx(max(moved.values()), abs=1e-8)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_intervals_are_of_the_jackknife(
    tiny: Study, metrics: Points, targets: dict[str, Floats], coefficient: str
) -> None:
    """At least as wide as tanh(atanh(r) -+ t se) with n - 1 degrees of freedom: tails may be heavy."""
    rows = select(tiny.rows("correlations"), trackers="all", coefficient=coefficient, scope="within")
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


def test_the_best_set_is_of_every_target(tiny: Study, metrics: Points) -> None:
    rows = tiny.rows("best_set")
    for target in TARGETS:
        chosen = select(rows, target=target, trackers="all")
        assert len(chosen) == len(metrics)
        assert any(row["in_set"] == "true" for row in chosen if row["rank"] == "1")
        for row in chosen:
            assert (row["rank_low"] == "1") == (row["in_set"] == "true") == (number(row["p"]) > 0.05)
            assert int(row["rank_low"]) <= int(row["rank"]) <= int(row["rank_high"]) <= len(metrics)
            if row["low"]:
                assert number(row["low"]) <= number(row["r"]) <= number(row["high"])
            assert (row["low"] == "") == (row["reason"] != "")
    core = select(rows, trackers="core")
    assert {row["reason"] for row in core} == {"not decided: 4 trackers, at least 5 are needed"}
    assert {row["in_set"] for row in core} == {"false"}


def test_sensitivity_and_ranking_name_the_same_winner(tiny: Study) -> None:
    for row in tiny.rows("sensitivity"):
        ranked = select(
            tiny.rows("correlations"),
            target="rl.live",
            coefficient="pearson",
            scope="within",
            trackers=row["trackers"],
        )
        best = max(float(other["r"]) for other in ranked)
        assert float(row["r"]) == float(row["usual_winner_r"]) == pytest.approx(best)
        assert (row["usual_winner_rank"], row["n_metrics"]) == ("1", str(len(ranked)))
        assert float(row["agreement"]) == pytest.approx(1.0)


def test_composites_are_of_trackers_left_out(tiny: Study) -> None:
    rows = select(tiny.rows("composite"), trackers="all", target="rl.live")
    methods = {row["method"]: row for row in rows}
    assert {"best_single", "behaviour"} <= set(methods)
    assert number(methods["best_single"]["above_best_single"]) == 0.0
    for row in rows:
        assert -1.0 <= number(row["r"]) <= 1.0
        assert number(row["above_best_single"]) == pytest.approx(
            number(row["r"]) - number(methods["best_single"]["r"])
        )
    # Two are left out at a time; of the four core trackers too few remain.
    assert select(tiny.rows("composite"), trackers="core") == []
