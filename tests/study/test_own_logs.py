"""Logs of one's own (N-best lists, labels, rewards, what was possible), and scores of one's own by judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.study.run import Run
from tests.builders import act
from tests.running import assert_refused, run, succeed
from tests.study.studies import done, run_in
from tests.study.test_states import PER_DIALOG, RIGHT, STATES, correlations, write_outcomes, write_states

FOODS = ("thai", "greek", "british")
CHANCES = {"request": 0.4, "confirm": 0.3, "present": 0.3}
STUDY = """name = "own"
[corpus]
format = "jsonl"
path = "logs"
train = "train"
test = "test"
[trackers]
built_in = ["baseline", "focus", "last_turn", "vote"]
[metrics]
names = ["accuracy", "l2"]
schedules = [1]
[policy]
policies = ["rl"]
keep = true
[reward]
kind = "logged"
[value]
estimators = ["lstd", "fqe"]
on_policy = false
[correlation]
permutations = 99
"""


def calls(prefix: str, n_dialogs: int, seed: int) -> list[dict[str, Any]]:
    """A caller wants a food; the system asks, confirms or offers at random, and the right offer earns 20."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n_dialogs):
        goal, offered = str(rng.choice(FOODS)), False
        for turn in range(7):
            heard = goal if rng.random() < 0.7 else str(rng.choice(FOODS))
            kind = str(rng.choice(list(CHANCES), p=list(CHANCES.values()))) if turn else "welcome"
            said = {
                "welcome": act("welcomemsg"),
                "request": act("request", ("slot", "food")),
                "confirm": act("expl-conf", ("food", heard)),
                "present": act("offer", ("name", heard)),
            }[kind]
            offered = kind == "present"
            score = float(np.round(rng.uniform(0.3, 0.9), 3))
            line = {
                "dialog": f"{prefix}{number:03}",
                "turn": turn,
                "system": [said],
                "nbest": [{"acts": [act("inform", ("food", heard))], "score": score}],
                "reward": -1.0 + 20.0 * (offered and heard == goal),
                "labels": {"goal": {"food": goal}},
            }
            if turn:
                line |= {"propensities": CHANCES, "possible": list(CHANCES)}
            lines.append(line)
            if offered:
                break
        lines[-1] |= {"end": True, "outcome": {"success": int(offered and heard == goal)}}
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("own")
    (root / "logs").mkdir()
    for name, n_dialogs, seed in (("train", 60, 1), ("test", 40, 2)):
        lines = "".join(json.dumps(line) + "\n" for line in calls(name, n_dialogs, seed))
        (root / "logs" / f"{name}.jsonl").write_text(lines)
    (root / "study.toml").write_text(STUDY)
    return root


def test_a_study(folder: Path) -> None:
    succeed("run", folder / "study.toml", "--output", folder / "run", "--n-jobs", "1", "--quiet")
    finished = Run(folder / "run")
    returns = finished.table("returns")
    observed = {row.value for row in returns if row.estimator == "observed"}
    logged = [json.loads(line) for line in (folder / "logs" / "test.jsonl").read_text().splitlines()]
    # The reward of the greeting comes before the first decision, and belongs to none.
    total = sum(line["reward"] for line in logged if line["turn"]) / 40
    assert list(observed) == [pytest.approx(total)]
    assert all(row.value is not None for row in returns)
    kept = finished.policy("focus", "test")
    assert kept.origin.source.reward == {"kind": "logged", "scale": 1.0}
    refused = run(
        *("play", folder / "run" / "policies" / "test" / "focus.rl.reward=logged.policy"),
        *("--tracker", "focus", "--world", "ds1"),
    )
    assert_refused(refused, "the policy has other actions than the task 'bus': lacking welcome, inform")


def test_commands(folder: Path) -> None:
    corpus = ("--format", "jsonl", "--corpus", folder / "logs", "--dataset", "test")
    succeed("track", *corpus, "--tracker", "focus", "--output", folder / "focus.json", "--quiet")
    succeed("validate", *corpus, folder / "focus.json")
    scored = succeed("score", *corpus, folder / "focus.json", "--json")
    components = {row["component"] for row in scored.json()["rows"]}
    assert {"goal.food", "goal.joint"} <= components and "method" not in components


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
