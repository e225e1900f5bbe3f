"""Lambda chosen on people's ratings: by a plain loop, and where the answer is known."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import correlation

import numpy as np
import pytest

from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.corpus.ratings import Ratings, read_ratings
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import InputError, UsageError
from extrinsic.metrics.fga import CHOSEN, FIXED, HELD_OUT, LAMBDAS, FittedLambda, fit_fga
from tests.builders import StateSetFiles, write_state_sets
from tests.metrics.reading import read_states
from tests.oracles import state_sets as oracle
from tests.running import assert_refused, run


def random_states(n_dialogs: int, seed: int) -> StateSetFiles:
    """Six turns a dialog; a new slot goes wrong by chance, and stays as it is."""
    rng = np.random.default_rng(seed)
    states = {}
    for number in range(n_dialogs):
        turns, gold, predicted = {}, {}, {}
        for turn in range(6):
            if turn == 0 or rng.random() < 0.4:
                gold[f"s{turn}"] = "right"
                predicted[f"s{turn}"] = "right" if rng.random() < 0.7 else "wrong"
            turns[str(turn)] = {"gt": {"hotel": dict(gold)}, "pr": {"hotel": dict(predicted)}}
        states[f"d{number:02}"] = turns
    return StateSetFiles(states)


def plain_scores(files: StateSetFiles, decay: float) -> dict[str, float]:
    means = {}
    for name, dialog in files.states.items():
        turns = oracle.fga_per_turn(dialog, decay) if decay < math.inf else oracle.turn_match_per_turn(dialog)
        means[name] = sum(turns) / len(turns)
    return means


def ratings_file(path: Path, rows: list[tuple[object, ...]], head: str = "dialog,turn,rater,rating") -> Path:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def rated_by(files: StateSetFiles, decay: float, noise: float, seed: int, people: int = 3) -> list[tuple]:  # type: ignore[type-arg]
    rng = np.random.default_rng(seed)
    return [
        (name, "", f"p{person}", round(min(1, max(0, mean + noise * rng.normal())), 6))
        for name, mean in plain_scores(files, decay).items()
        for person in range(people)
    ]


def fitted(files: StateSetFiles, path: Path, **options: int) -> tuple[FittedLambda, Ratings, StateSets]:
    states = read_states(files)
    ratings = read_ratings(path, [states])
    return fit_fga([states], ratings, **options), ratings, states


def test_everything_by_a_plain_loop(tmp_path: Path) -> None:
    files = random_states(30, seed=11)
    rows = rated_by(files, 0.4, noise=0.25, seed=12)
    found, _, _ = fitted(files, ratings_file(tmp_path / "r.csv", rows), folds=5, resamples=50, seed=3)
    names = sorted(files.states)
    rating = {name: sum(row[3] for row in rows if row[0] == name) / 3 for name in names}
    scores = {decay: plain_scores(files, decay) for decay in LAMBDAS}

    def r(decay: float, among: list[str]) -> float:
        return correlation([scores[decay][name] for name in among], [rating[name] for name in among])

    def best(among: list[str]) -> float:
        return max(LAMBDAS, key=lambda decay: round(r(decay, among), 12))

    assert found.decay == best(names)
    fold = fold_of_sessions(names, 5, 3)
    held: dict[str, float] = {}
    for k in range(5):
        chosen = best([name for name, other in zip(names, fold, strict=True) if other != k])
        assert found.of_folds[k] == chosen
        held |= {name: scores[chosen][name] for name, other in zip(names, fold, strict=True) if other == k}
    by_choice = {row.choice: row for row in found.rows}
    expected = correlation([held[name] for name in names], [rating[name] for name in names])
    assert by_choice[CHOSEN].correlation == pytest.approx(r(found.decay, names))
    assert by_choice[HELD_OUT].correlation == pytest.approx(expected)
    assert [row.correlation for row in found.rows[2:]] == pytest.approx([r(decay, names) for decay in FIXED])
    for row in found.rows:
        assert row.low <= row.correlation <= row.high  # type: ignore[operator]
        if row.gain is not None:
            assert row.gain == pytest.approx(expected - row.correlation)  # type: ignore[operator]


def test_the_lambda_behind_the_ratings_is_found(tmp_path: Path) -> None:
    files = random_states(80, seed=21)
    for decay in (0.0, 0.3, 1.5, math.inf):
        path = ratings_file(tmp_path / "r.csv", rated_by(files, decay, noise=0.0, seed=0, people=1))
        found, _, _ = fitted(files, path, resamples=20)
        assert found.decay == decay
        assert set(found.of_folds) == {decay} and found.low == found.high == decay
        assert found.rows[1].correlation == pytest.approx(1.0)


def test_chosen_on_itself_looks_best(tmp_path: Path) -> None:
    """Never below any fixed lambda, nor below what it gets of dialogs that it was not chosen on."""
    files = random_states(40, seed=31)
    path = ratings_file(tmp_path / "r.csv", rated_by(files, 0.5, noise=0.5, seed=32))
    found, _, _ = fitted(files, path, resamples=20)
    chosen = found.rows[0].correlation
    assert all(chosen >= row.correlation for row in found.rows[1:])  # type: ignore[operator]


def test_ratings_of_turns(tmp_path: Path) -> None:
    files = random_states(30, seed=41)
    rows = [
        (name, turn, "anna", round(score, 6))
        for name, dialog in files.states.items()
        for turn, score in enumerate(oracle.fga_per_turn(dialog, 0.75))
        if turn != 3
    ]
    found, ratings, _ = fitted(files, ratings_file(tmp_path / "r.csv", rows), resamples=20)
    assert ratings.of_turns and found.of_turns
    assert (found.n_units, found.n_dialogs, found.decay) == (150, 30, 0.75)


def test_several_systems_share_folds_by_dialog(tmp_path: Path) -> None:
    first, second = random_states(20, seed=51), random_states(20, seed=52)
    rows = [
        (name, system, "anna", round(mean, 6))
        for system, files in (("one", first), ("two", second))
        for name, mean in plain_scores(files, 0.3).items()
    ]
    path = ratings_file(tmp_path / "r.csv", rows, "dialog,system,rater,rating")
    outcome = run(
        "score", "--format", "state-sets", "--fit-fga", path, "--json",
        *(write_state_sets(tmp_path / name, files).rename(tmp_path / f"{name}.json")
          for name, files in (("one", first), ("two", second))),
    )  # fmt: skip
    assert outcome.code == 0, outcome.text
    assert outcome.json()["rows"][0]["metric"] == "fga(0.3)"
    assert outcome.json()["rows"][0]["n"] == 40


def test_the_command(tmp_path: Path) -> None:
    files = random_states(30, seed=61)
    states = write_state_sets(tmp_path, files)
    path = ratings_file(tmp_path / "r.csv", rated_by(files, 0.5, noise=0.2, seed=62, people=11))
    options = ("score", "--format", "state-sets", states, "--fit-fga", path, "--bootstrap", "50")
    outcome = run(*options)
    assert outcome.code == 0, outcome.text
    assert "330 ratings by 11 people of 30 dialogs" in outcome.output
    assert "chosen on other folds" in outcome.output
    rows = run(*options, "--json").json()["rows"]
    assert [row["choice"] for row in rows] == [CHOSEN, HELD_OUT, *["fixed"] * len(FIXED)]
    assert run(*options, "--csv").output.splitlines()[0].startswith("metric,choice,correlation,low,high,gain")
    assert run(*options).output == outcome.output


ROWS = [("d00", "", "anna", 1), ("d01", "", "anna", 0), ("d02", "", "ben", 1)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, ("d7", "", "anna", 1)], ("line 5", "no dialog 'd7'")),
        ([*ROWS, ("d03", "", "anna", 2)], ("line 5", "d03", "from 0 to 1", "'2'")),
        ([*ROWS, ("d03", "", "anna", "nan")], ("line 5", "from 0 to 1")),
        ([*ROWS, ("d03", "", "anna", "")], ("line 5", "the rating is missing", "d03")),
        ([*ROWS, ("d03", "", "anna")], ("line 5", "fewer cells")),
        ([*ROWS, ("d03", "", "", 1)], ("line 5", "the rater is missing")),
        ([*ROWS, ("d00", "", "anna", 0)], ("line 5", "anna has rated this before", "d00")),
        ([*ROWS, ("d03", 6, "anna", 1)], ("line 5", "no such turn", "0 to 5", "'6'")),
        ([*ROWS, ("d03", "-1", "anna", 1)], ("no such turn",)),
        ([*ROWS, ("d03", 2, "anna", 1)], ("some ratings are of turns and others of whole dialogs",)),
        ([], ("there are no ratings",)),
    ],
)
def test_bad_ratings(tmp_path: Path, rows: list[tuple[object, ...]], said: tuple[str, ...]) -> None:
    path = ratings_file(tmp_path / "ratings.csv", rows)
    with pytest.raises(InputError) as refused:
        read_ratings(path, [read_states(random_states(4, seed=1))])
    assert all(text in str(refused.value) for text in ("ratings.csv", *said)), refused.value


def test_every_problem_is_reported(tmp_path: Path) -> None:
    path = ratings_file(tmp_path / "r.csv", [("d9", "", "anna", 1), ("d00", "", "anna", 7)])
    with pytest.raises(InputError) as refused:
        read_ratings(path, [read_states(random_states(4, seed=1))])
    assert len(refused.value.problems) == 2


def test_bad_requests(tmp_path: Path) -> None:
    files = random_states(12, seed=71)
    states = write_state_sets(tmp_path, files)
    path = ratings_file(tmp_path / "r.csv", rated_by(files, 0.5, 0.2, 72))
    start = ("score", "--format", "state-sets", states, "--fit-fga")
    assert_refused(run(*start, tmp_path / "gone.csv"), "no such file")
    assert_refused(run(*start, path, "--folds", "1"), "folds")
    assert_refused(run(*start, path, "--folds", "13"), "2 to 12")
    assert_refused(run(*start, path, "--metric", "jga"), "--fit-fga does not go with --metric")
    assert_refused(run(*start, path, "--rating-scale", "5"), "LOW:HIGH")
    assert_refused(run(*start, path, "--rating-scale", "5:1"), "LOW:HIGH")
    scaled = ratings_file(tmp_path / "five.csv", [(f"d{i:02}", "", "a", 1 + i % 5) for i in range(12)])
    assert_refused(run(*start, scaled), "from 0 to 1")
    assert run(*start, scaled, "--rating-scale", "1:5", "--bootstrap", "10", "--folds", "3").code == 0
    heads = ratings_file(tmp_path / "heads.csv", [], "dialog,turn,who,rating")
    assert_refused(run(*start, heads), "no column 'rater'")
    same = ratings_file(tmp_path / "same.csv", [(f"d{i:02}", "", "a", 1) for i in range(12)])
    assert_refused(run(*start, same), "all ratings are the same")
    second = write_state_sets(tmp_path / "b", files)
    two = run("score", "--format", "state-sets", states, second, "--fit-fga", path)
    assert_refused(two, "no column 'system'")


def test_scores_that_never_differ(tmp_path: Path) -> None:
    """Every turn right: whatever lambda, each dialog has 1."""
    turn = {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}}
    files = StateSetFiles({f"d{i}": {"0": turn} for i in range(6)})
    path = ratings_file(tmp_path / "r.csv", [(f"d{i}", "", "a", i % 2) for i in range(6)])
    with pytest.raises(UsageError, match="no lambda"):
        fitted(files, path, folds=2)
