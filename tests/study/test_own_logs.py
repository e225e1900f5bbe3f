"""A study on logs of one's own: JSON lines with N-best lists, labels, rewards and what was possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.study.run import Run
from tests.builders import act
from tests.running import assert_refused, run, succeed

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
