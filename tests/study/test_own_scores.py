"""Scores and outcomes of one's own: judges, repeated trials, sentinels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.running import assert_refused
from tests.study.studies import done, run_in
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


def test_a_judge_beside_our_metrics(config: Path) -> None:
    write_judges(config.parent, judged())
    study = done(config, config.parent / "run")
    assert study.values("intrinsic", metric="own(judge)") == pytest.approx(JUDGE)
    errors = study.values("intrinsic", metric="own(ece, better=lower)")
    assert errors == pytest.approx({name: 1 - value for name, value in JUDGE.items()})
    outcome = np.array([0.9, 0.5, 0.7, 0.1])
    expected = np.corrcoef(list(JUDGE.values()), outcome)[0, 1]
    for metric in ("own(judge)", "own(ece, better=lower)"):
        assert float(correlations(study, metric)["within", "pearson"]) == pytest.approx(expected)
    write_judges(config.parent, [(*row[:2], 0.5, 0.5) for row in judged()])
    done(config, study.folder)
    assert set(study.values("intrinsic", metric="own(judge)").values()) == {0.5}


def test_settings_of_scores(config: Path) -> None:
    write_judges(config.parent, judged())
    outcome = run_in(config, config.parent / "run", "--set", 'scores.lower_is_better=["eec"]')
    assert_refused(outcome, "scores.lower_is_better", "did you mean 'ece'?")
    outcome = run_in(config, config.parent / "run", "--set", 'scores.names=["a(b"]')
    assert_refused(outcome, "scores.names", "cannot name a metric")


def test_repeated_trials(tmp_path: Path) -> None:
    """Targets of single trials and of several in a row; what trials leave to chance is a diagnostic."""
    config = write_states(tmp_path)
    rows = [
        (name, f"d{i}", trial, value)
        for name, values in PER_DIALOG.items()
        for i, value in enumerate(values)
        for trial in range(3)
    ]
    write_outcomes(tmp_path, rows, "system,dialog,trial,success")
    settings = ("outcomes.dialog=dialog", "outcomes.trial=trial", "outcomes.pass_k=[2]")
    study = done(config, tmp_path / "run", *(part for setting in settings for part in ("--set", setting)))
    targets = {row["target"] for row in study.rows("correlations")}
    assert targets == {"outcome.success", "outcome.success.pass2"}
    diagnostics = {row["diagnostic"] for row in study.rows("diagnostics")}
    assert diagnostics == {"trials", "trial_noise", "trial_disagreement"}


def test_sentinels_run_along(tmp_path: Path) -> None:
    config = write_states(tmp_path)
    study = done(config, tmp_path / "run", "--set", "metrics.sentinels=true")
    assert set(study.values("intrinsic", metric="sentinel(length)").values()) == {2.0}
    assert set(study.values("intrinsic", metric="sentinel(slots)").values()) == {1.0}
    noise = study.values("intrinsic", metric="sentinel(noise)")
    assert len(set(noise.values())) == len(RIGHT)
    assert all(abs(value - 1) < 0.05 for value in noise.values())
    again = done(config, tmp_path / "run2", "--set", "metrics.sentinels=true")
    assert again.values("intrinsic", metric="sentinel(noise)") == noise
