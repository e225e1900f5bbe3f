"""Scores and outcomes of one's own: judges, repeated trials, sentinels."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest

from extrinsic.study.planning.outcomes import noise_of_trials
from tests.running import assert_refused
from tests.study.studies import Study, done, run_in
from tests.study.test_states import PER_DIALOG, RIGHT, STATES, correlations, write_outcomes, write_states

JUDGE = {"one": 0.9, "two": 0.6, "three": 0.7, "four": 0.2}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_states(tmp_path, STATES + '[scores]\nfile = "judges.csv"\nnames = ["judge", "ece"]\n'
                        'lower_is_better = ["ece"]\n')  # fmt: skip


def write_judges(folder: Path, rows: list[tuple[object, ...]], head: str = "system,dialog,judge,ece") -> None:
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    (folder / "judges.csv").write_text("\n".join(lines) + "\n")


def judged() -> list[tuple[object, ...]]:
    return [
        (name, f"d{number}", value + (0.1 if number else -0.3), 1 - value)
        for name, value in JUDGE.items()
        for number in range(4)
    ]


def intrinsic(study: Study, metric: str) -> dict[str, float]:
    return {row["tracker"]: float(row["value"]) for row in study.rows("intrinsic") if row["metric"] == metric}


def test_a_judge_beside_our_metrics(config: Path) -> None:
    write_judges(config.parent, judged())
    study = done(config, config.parent / "run")
    assert intrinsic(study, "own(judge)") == pytest.approx(JUDGE)
    errors = intrinsic(study, "own(ece, better=lower)")
    assert errors == pytest.approx({name: 1 - value for name, value in JUDGE.items()})
    outcome = np.array([0.9, 0.5, 0.7, 0.1])
    expected = np.corrcoef(list(JUDGE.values()), outcome)[0, 1]
    for metric in ("own(judge)", "own(ece, better=lower)"):
        assert float(correlations(study, metric)["within", "pearson"]) == pytest.approx(expected)
    write_judges(config.parent, [(*row[:2], 0.5, 0.5) for row in judged()])
    done(config, study.folder)
    assert set(intrinsic(study, "own(judge)").values()) == {0.5}


def test_scores_of_turns(config: Path) -> None:
    rows = [(name, f"d{i}", turn, turn, 0) for name in RIGHT for i in range(4) for turn in range(2)]
    write_judges(config.parent, rows, "system,dialog,turn,judge,ece")
    study = done(config, config.parent / "run", "--set", "scores.turn=turn")
    assert set(intrinsic(study, "own(judge)").values()) == {0.5}
    write_judges(config.parent, rows[:-1], "system,dialog,turn,judge,ece")
    outcome = run_in(config, config.parent / "run2", "--set", "scores.turn=turn")
    assert_refused(outcome, "'four' has no scores", "session d3, turn 1")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (judged()[:-2], ("'four' has no scores", "d2", "d3")),
        ([*judged(), ("five", "d0", 1, 1)], ("line 18", "no system 'five'")),
        ([*judged(), ("four", "d9", 1, 1)], ("line 18", "no dialog 'd9'")),
        ([*judged(), ("four", "d0", 1, 1)], ("line 18", "second row")),
        ([("one", "d0", "", 1), *judged()[1:]], ("line 2", "judge is no number")),
        ([("one", "d0", "\uff11", 1), *judged()[1:]], ("line 2", "judge is no number")),
    ],
)
def test_holes_and_strangers(config: Path, rows: list[tuple[object, ...]], said: tuple[str, ...]) -> None:
    write_judges(config.parent, rows)
    assert_refused(run_in(config, config.parent / "run"), "judges.csv", *said)


def test_settings_of_scores(config: Path) -> None:
    write_judges(config.parent, judged())
    outcome = run_in(config, config.parent / "run", "--set", 'scores.lower_is_better=["eec"]')
    assert_refused(outcome, "scores.lower_is_better", "did you mean 'ece'?")
    outcome = run_in(config, config.parent / "run", "--set", 'scores.names=["a(b"]')
    assert_refused(outcome, "scores.names", "cannot name a metric")


def test_repeated_trials(tmp_path: Path) -> None:
    config = write_states(tmp_path)
    # Trial 0 as in PER_DIALOG, trial 1 the other way round in d0, trial 2 as trial 0.
    rows = [
        (name, f"d{i}", trial, 1 - value if trial == 1 and i == 0 else value)
        for name, values in PER_DIALOG.items()
        for i, value in enumerate(values)
        for trial in range(3)
    ]
    write_outcomes(tmp_path, rows, "system,dialog,trial,success")
    options = [
        option
        for setting in ("outcomes.dialog=dialog", "outcomes.trial=trial", "outcomes.pass_k=[2]")
        for option in ("--set", setting)
    ]
    study = done(config, tmp_path / "run", *options)
    values = {(row["tracker"], row["estimator"]): float(row["value"]) for row in study.rows("returns")}
    # one: d0 has 2 of 3, d1 and d2 all, d3 none.
    assert values["one", "success"] == pytest.approx((2 / 3 + 1 + 1) / 4)
    assert values["one", "success.pass2"] == pytest.approx((comb(2, 2) / comb(3, 2) + 1 + 1) / 4)
    targets = {row["target"] for row in study.rows("correlations")}
    assert targets == {"outcome.success", "outcome.success.pass2"}
    noise = {
        row["diagnostic"]: float(row["value"]) for row in study.rows("diagnostics") if row["tracker"] == "one"
    }
    # The variance within d0 is 1/3, elsewhere 0; twelve trials in all.
    assert noise["trial_noise"] == pytest.approx(np.sqrt(1 / 3 / 4 / 12))
    assert noise["trials"] == 3
    write_outcomes(tmp_path, rows[:-1], "system,dialog,trial,success")
    outcome = run_in(config, tmp_path / "other", *options)
    assert_refused(outcome, "another number of trials", "session d3", "expected 3 trials, found 2")
    outcome = run_in(config, tmp_path / "third", *options, "--set", "outcomes.pass_k=[4]")
    assert_refused(outcome, "pass_k", "at least 4")


def test_noise_of_trials() -> None:
    same = np.array([[1.0, 0.0, 1.0]] * 2)
    assert noise_of_trials(same) == {"trials": 2.0, "trial_noise": 0.0, "trial_disagreement": 0.0}
    chance = (np.random.default_rng(0).random((10, 2000)) < 0.5).astype(float)
    assert noise_of_trials(chance)["trial_disagreement"] == pytest.approx(1.0, abs=0.02)
    assert noise_of_trials(chance)["trial_noise"] == pytest.approx(0.5 / np.sqrt(20_000), rel=0.02)


def test_sentinels_run_along(tmp_path: Path) -> None:
    config = write_states(tmp_path)
    study = done(config, tmp_path / "run", "--set", "metrics.sentinels=true")
    assert set(intrinsic(study, "sentinel(length)").values()) == {2.0}
    assert set(intrinsic(study, "sentinel(slots)").values()) == {1.0}
    noise = intrinsic(study, "sentinel(noise)")
    assert len(set(noise.values())) == len(RIGHT)
    assert all(abs(value - 1) < 0.05 for value in noise.values())
    assert (
        intrinsic(done(config, tmp_path / "run2", "--set", "metrics.sentinels=true"), "sentinel(noise)")
        == noise
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("system,success\none,1,0\ntwo,1\nthree,1\nfour,1\n", ("line 2", "more cells")),
        ("system,success,success\none,1,0\n", ("2 columns are called 'success'",)),
        ("system,success\n,1\n" + "".join(f"{name},1\n" for name in RIGHT), ("line 2", "no system")),
        ("system,success\n\n\none,1_0\ntwo,1\nthree,1\nfour,1\n", ("line 4", "no number")),
        ("system,success\none,1e308\ntwo,-1e308\nthree,1\nfour,1\n", ("line 2", "line 3", "no number")),
        ("system,success\none," + "9" * 140_000 + "\n", ("line 2",)),
        (
            "system,success\n" + "".join(f"{name},1\n" for name in (*RIGHT, "fiver")),
            ("'fiver'", "not in the study"),
        ),
    ],
)
def test_outcomes_that_do_not_fit(tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
    config = write_states(tmp_path)
    (tmp_path / "outcomes.csv").write_text(text)
    assert_refused(run_in(config, tmp_path / "run"), "outcomes.csv", *said)


def test_dialogs_that_nobody_has(tmp_path: Path) -> None:
    config = write_states(tmp_path)
    rows = [(name, f"d{i}", 1) for name in RIGHT for i in range(5)]
    write_outcomes(tmp_path, rows, "system,dialog,success")
    outcome = run_in(config, tmp_path / "run", "--set", "outcomes.dialog=dialog")
    assert_refused(outcome, "1 dialog is not in the study: 'd4'")
