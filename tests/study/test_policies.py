"""`extrinsic policies`: the grid, its differences recomputed by hand, resuming, bad input."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import extrinsic
from extrinsic.corpus.corpus import Corpus
from extrinsic.errors import UsageError
from extrinsic.policy.kernel_lspi import OneStep
from extrinsic.policy.transitions import transitions_of
from extrinsic.simulation import BusSimulation
from extrinsic.value.value import interval
from tests.running import Outcome, assert_refused, run, succeed
from tests.study.studies import WORLDS, Row, Study, computed, number, table_of

GRID = """name = "grid"
seed = 5

[simulation]
config = "worlds.toml"

[trackers]
built_in = ["baseline", "hwu"]

[policy]
learner = ["one_step", "imitation"]

[reward]
fill = ["argmax"]

[value]
estimators = ["live", "lstd"]
live_dialogs = 20
on_policy = false

[grid]
curve = [0.5]

[grid.vary]
"policy.one_step.ridge" = [10.0, 100.0]
"""

ROWS = ("one_step, ridge=10", "one_step, ridge=100", "imitation")


def write(folder: Path, text: str = GRID) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "worlds.toml").write_text(WORLDS)
    (folder / "grid.toml").write_text(text)
    return folder / "grid.toml"


def policies(config: Path, folder: Path, *options: object) -> Outcome:
    return run("policies", config, "--output", folder, "--n-jobs", "1", "--quiet", *options)


def made(config: Path, folder: Path, *options: object) -> Outcome:
    outcome = policies(config, folder, *options)
    assert outcome.code == 0, outcome.text
    return outcome


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("grid")
    made(write(root), root / "run")
    return root / "run"


def rows_of(folder: Path, dataset: str, tracker: str, estimator: str) -> dict[str, Row]:
    rows = Study(folder, folder).rows("policies", dataset=dataset, tracker=tracker, estimator=estimator)
    return {row["policy"]: row for row in rows}


def test_every_combination_is_a_row(grid: Path) -> None:
    """An option of one learner multiplies the rows of that learner only."""
    rows = table_of(grid, "policies")
    assert {row["policy"] for row in rows} == {*ROWS, "logged"}
    cells = {(row["dataset"], row["tracker"]) for row in rows}
    assert cells == {("all", "all"), *((d, t) for d in "ab" for t in ("baseline", "hwu"))}
    # The logged policy by what it earned in the log, and by playing it.
    assert len(rows) == 5 * (2 + 3 * 2)


def sessions_with_decisions(policy: extrinsic.SinglePolicy, test: Corpus) -> set[str]:
    return set(transitions_of(test, policy.beliefs_about(test), policy.features).sessions)


def test_values_are_those_of_single_policies(grid: Path) -> None:
    """Learned, valued and played again by the three calls of the Python interface."""
    simulation = BusSimulation.read(str(grid.parent / "worlds.toml"))
    train, test = (simulation.simulate("a", split).corpus for split in ("train", "test"))
    policy = extrinsic.learn(train, "hwu", OneStep(ridge=10.0))
    value = extrinsic.value(policy, test, ["lstd", "observed"])
    row = rows_of(grid, "a", "hwu", "lstd")["one_step, ridge=10"]
    mine = (value["lstd"].mean, value["lstd"].low, value["lstd"].high)
    assert [number(row[name]) for name in ("value", "low", "high")] == pytest.approx(mine)
    # On the same test dialogs: the influences are subtracted, dialog by dialog.
    difference = value["lstd"].mean - value["observed"].mean
    # The study resamples dialogs in the order of the corpus, transitions are in that of their ids.
    decided = [session for session in test.sessions if session in sessions_with_decisions(policy, test)]
    place = np.argsort(np.argsort(decided, kind="stable"))
    change = np.zeros(test.n_dialogs)
    change[[test.sessions.index(session) for session in decided]] = (
        value["lstd"].influence - value["observed"].influence
    )[place]
    expected = (difference, *interval(difference, [change]))
    found = [number(row[f"difference{part}"]) for part in ("", "_low", "_high")]
    assert found == pytest.approx(expected)
    played = extrinsic.play(policy, simulation.world("a", "test"), 20, 5)
    live = rows_of(grid, "a", "hwu", "live")["one_step, ridge=10"]
    assert number(live["value"]) == pytest.approx(played.returns.mean())


def test_the_mean_over_cells(grid: Path) -> None:
    for estimator in ("live", "lstd"):
        overall = rows_of(grid, "all", "all", estimator)
        for name in ROWS:
            cells = [rows_of(grid, d, t, estimator)[name] for d in "ab" for t in ("baseline", "hwu")]
            for column in ("value", "difference"):
                mean = np.mean([number(row[column]) for row in cells])
                assert number(overall[name][column]) == pytest.approx(mean)


def test_another_baseline_is_paired_and_computes_nothing_again(grid: Path, tmp_path: Path) -> None:
    shutil.copytree(grid, tmp_path / "run")
    config = grid.parent / "grid.toml"
    made(config, tmp_path / "run", "--set", "grid.baseline=imitation", "--no-report")
    assert computed(tmp_path / "run") == set()
    live = rows_of(tmp_path / "run", "b", "hwu", "live")
    assert live["imitation"]["baseline"] == live["imitation"]["difference"] == ""
    row = live["one_step, ridge=100"]
    assert row["baseline"] == "imitation"
    expected = number(row["value"]) - number(live["imitation"]["value"])
    assert number(row["difference"]) == pytest.approx(expected)
    # Against the same callers: narrower than the two intervals together.
    widths = [number(r["high"]) - number(r["low"]) for r in (row, live["imitation"])]
    assert number(row["difference_high"]) - number(row["difference_low"]) < sum(widths)


def test_the_learning_curve(grid: Path) -> None:
    rows = [row for row in table_of(grid, "learning_curve") if row["dataset"] == "a"]
    assert {row["estimator"] for row in rows} == {"live"}
    shares = {(row["policy"], row["tracker"]): [] for row in rows}
    for row in rows:
        shares[row["policy"], row["tracker"]].append((number(row["share"]), int(row["dialogs"])))
    assert {name for name, _ in shares} == set(ROWS)
    for (name, tracker), points in shares.items():
        assert [share for share, _ in points] == [0.5, 1.0]
        assert points[0][1] == round(points[1][1] / 2)
        last = [row for row in rows if (row["policy"], row["tracker"]) == (name, tracker)][-1]
        assert last["value"] == rows_of(grid, "a", tracker, "live")[name]["value"]


def test_equal_bytes_whatever_the_processes(grid: Path, tmp_path: Path) -> None:
    made(write(tmp_path), tmp_path / "run", "--n-jobs", "2")
    for name in ("policies", "learning_curve", "returns", "diagnostics"):
        assert (tmp_path / "run" / f"{name}.csv").read_bytes() == (grid / f"{name}.csv").read_bytes()


def test_a_second_run_reuses_everything(grid: Path) -> None:
    before = {path.name: path.read_bytes() for path in grid.glob("*.csv") if path.name != "timings.csv"}
    made(grid.parent / "grid.toml", grid)
    assert computed(grid) == set()
    assert before == {name: (grid / name).read_bytes() for name in before}


def test_the_page(grid: Path) -> None:
    page = (grid / "report.html").read_text()
    for text in ("Which policy earns most?", "By live, ", "Learning curve", "imitation", "policies.csv"):
        assert text in page
    assert {path.name for path in (grid / "figures").iterdir()} == {"differences.svg", "learning_curve.svg"}
    succeed("report", grid, "--quiet")


def test_the_shown_table_and_json(grid: Path) -> None:
    config = grid.parent / "grid.toml"
    shown = policies(config, grid, "--no-report")
    assert "the mean of 4 datasets and trackers; differences to logged" in shown.output
    rows = policies(config, grid, "--no-report", "--json").json()["rows"]
    assert len(rows) == len(table_of(grid, "policies"))
    assert [row["policy"] for row in rows[:3]] == ["logged", "logged", "one_step, ridge=10"]


def test_from_python(grid: Path, tmp_path: Path) -> None:
    """With the stages of the whole grid, which has this tracker, too."""
    shutil.copytree(grid, tmp_path / "run")
    changes = ['trackers.built_in=["hwu"]', "grid.curve=[]"]
    settings = extrinsic.read_policies(grid.parent / "grid.toml", changes)
    finished = extrinsic.run_policies(settings, tmp_path / "run")
    rows = finished.table("policies")
    live = [row for row in rows if (row.dataset, row.estimator) == ("a", "live")]
    assert [row.policy for row in live] == ["logged", *ROWS]
    assert finished.table("learning_curve") == []
    with pytest.raises(UsageError, match="read_policies"):
        extrinsic.run_policies(extrinsic.read_study("configs/quick.toml"), tmp_path / "other")


def test_its_record_makes_the_same_grid_again(grid: Path) -> None:
    config = grid.parent / "grid.toml"
    assert extrinsic.read_policies(grid / "config.toml") == extrinsic.read_policies(config)


def test_a_grid_has_no_trackers_to_compare(grid: Path) -> None:
    assert_refused(run("compare", grid, "baseline", "hwu"), "its differences are in policies.csv")


CURVE, RIDGE = "curve = [0.5]", '"policy.one_step.ridge" = [10.0, 100.0]'


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (CURVE, 'baseline = "loged"', ["key grid.baseline", "did you mean 'logged'?"]),
        (CURVE, 'baseline = "fitted_q"', ["key grid.baseline", "a learner of the grid"]),
        (CURVE, 'baseline = "one_step"', ["is not one row of the grid", "name all that varies"]),
        (CURVE, 'baseline = {"policy.threshold" = 0.2}', ["'policy.threshold' does not vary"]),
        (CURVE, 'baseline = {"policy.one_step.ridge" = 11.0}', ["has other values", "10 or 100", "11"]),
        (CURVE, 'baseline = {"reward.fill" = "argmax"}', ["different rewards"]),
        (CURVE, "curve = [0.0]", ["grid.curve", "> 0.0"]),
        (CURVE, "curve = [1.0]", ["grid.curve", "< 1.0"]),
        (CURVE, 'estimator = "liv"', ["key grid.estimator", "did you mean 'live'?"]),
        (CURVE, "curv = [0.5]", ["key grid.curv", "did you mean 'curve'?"]),
        (RIDGE, '"policy.featurs" = ["compact"]', ["policy.featurs"]),
        (RIDGE, '"policy.features" = ["compact", "compcat"]', ["did you mean 'compact'?"]),
        (RIDGE, '"value.live_dialogs" = [10]', ["cannot be varied"]),
        (RIDGE, '"policy.one_step.ridge" = []', ["at least one value"]),
        (RIDGE, '"policy.one_step.ridge" = [-1.0]', [">= 0.0"]),
        ("[grid]", '[metrics]\nnames = ["accuracy"]\n[grid]', ["key metrics: not used"]),
        ("[grid]", "[correlation]\npermutations = 200\n[grid]", ["key correlation: not used"]),
        ("[reward]", 'policies = ["rl"]\n[reward]', ["key policy.policies: not used", "imitation"]),
    ],
    ids=str,
)
def test_bad_input(tmp_path: Path, old: str, new: str, messages: list[str]) -> None:
    outcome = policies(write(tmp_path, GRID.replace(old, new)), tmp_path / "run")
    assert_refused(outcome, *messages)
    assert not (tmp_path / "run").exists()


def test_a_study_has_no_grid(tmp_path: Path) -> None:
    outcome = run("run", write(tmp_path), "--output", tmp_path / "run", "--quiet")
    assert_refused(outcome, "key grid: goes with `extrinsic policies`")


def test_every_problem_at_once(tmp_path: Path) -> None:
    text = GRID.replace(CURVE, 'estimator = "liv"').replace("[10.0, 100.0]", "[-1.0, -2.0]")
    outcome = policies(write(tmp_path, text), tmp_path / "run")
    assert outcome.errors.count("policy.one_step.ridge") >= 2
    assert "grid.estimator" in outcome.errors


def test_the_directory_of_another_study_is_refused(grid: Path, tmp_path: Path) -> None:
    other = write(tmp_path, GRID.replace('name = "grid"', 'name = "other"'))
    assert "another study" in policies(other, grid).errors
