"""A study that keeps its policies: the files, what is in them, and that they play as they did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.features import find_features
from extrinsic.study.run import Run
from tests.running import assert_refused, run, succeed
from tests.study.studies import LIVE_DIALOGS, SEED, SMALL, Study, done, write_study

KEEPING = SMALL.replace('policies = ["rl"]', 'policies = ["rl", "sl_sampled"]\nkeep = true')


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    root = tmp_path_factory.mktemp("kept")
    return done(write_study(root, KEEPING), root / "run")


@pytest.fixture(scope="module")
def folder(study: Study) -> Path:
    return study.folder


def test_a_file_for_every_policy(folder: Path) -> None:
    names = sorted(path.name for path in (folder / "policies" / "a").iterdir())
    trackers, policies = ("baseline", "hwu", "vote"), ("rl", "sl_sampled")
    expected = [f"{tracker}.{policy}" for tracker in trackers for policy in policies]
    assert names == sorted(f"{name}.fill=argmax.policy" for name in expected)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {f"policies/a/{name}" for name in names} <= set(manifest["tables"])


def test_what_made_it(folder: Path) -> None:
    origin = Run(folder).policy("hwu").origin
    assert (origin.policy, origin.source.tracker, origin.source.domain) == ("rl", "hwu", "bus")
    assert origin.learner is not None and origin.learner["kind"] == "one_step"
    assert origin.source.reward is not None and origin.source.reward["fill"] == "argmax"
    assert origin.n_dialogs <= 30
    assert Run(folder).policy("hwu", "a", "sl_sampled", "fill=argmax").origin.learner is None


def test_it_plays_as_it_did_in_the_study(folder: Path) -> None:
    """The same callers, so the same return to the last digit, and the same interval."""
    for tracker in ("hwu", "vote"):
        for policy in ("rl", "sl_sampled"):
            outcome = succeed(
                "play",
                folder / "policies" / "a" / f"{tracker}.{policy}.fill=argmax.policy",
                *("--tracker", tracker, "--world", "a", "--config", folder.parent / "worlds.toml"),
                *("--dialogs", LIVE_DIALOGS, "--seed", SEED, "--json"),
            )
            rows = {row["quantity"]: row for row in outcome.json()["rows"]}
            (stored,) = (
                row
                for row in Run(folder).table("returns")
                if (row.tracker, row.policy, row.estimator) == (tracker, policy, "live")
            )
            for name, column in (("value", "mean"), ("low", "low"), ("high", "high")):
                assert rows["return"][column] == pytest.approx(getattr(stored, name), abs=1e-9)
            assert 0.0 <= rows["success"]["low"] <= rows["success"]["high"] <= 1.0
            assert rows["turns"]["mean"] > 1.0


def test_another_tracker_is_noted(folder: Path) -> None:
    path = folder / "policies" / "a" / "hwu.rl.fill=argmax.policy"
    outcome = succeed("play", path, "--tracker", "vote", "--world", "ds4", "--dialogs", "5")
    assert "learned on the tracker 'hwu', played on 'vote'" in outcome.errors
    assert outcome.output.splitlines()[1].split()[0] == "return"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tracker", "hwo", "--world", "ds1"), "did you mean 'hwu'"),
        (("--tracker", "hwu", "--world", "ds9"), "ds9"),
        (("--tracker", "hwu", "--world", "bsu:ds1"), "did you mean 'bus'"),
        (("--tracker", "hwu", "--world", "ds1", "--dialogs", "1"), "at least two dialogs"),
    ],
)
def test_what_play_refuses(options: tuple[str, ...], message: str, folder: Path) -> None:
    assert_refused(run("play", folder / "policies" / "a" / "hwu.rl.fill=argmax.policy", *options), message)


def test_a_policy_of_other_features(folder: Path, tmp_path: Path) -> None:
    """Its file says `grouped`; the policy itself was learned on `compact`."""
    kept = Run(folder).policy("hwu")
    source = msgspec.structs.replace(kept.origin.source, features=find_features("grouped").blocks)
    other = replace(kept, origin=msgspec.structs.replace(kept.origin, source=source))
    other.save(tmp_path / "other.policy")
    outcome = run("play", tmp_path / "other.policy", "--tracker", "hwu", "--world", "ds1")
    assert_refused(outcome, "learned from other features than these states have: lacking")
    assert "in addition top.from" in outcome.text


def test_what_a_run_does_not_have(folder: Path, small: Study) -> None:
    for arguments, message in (
        (("hwo",), "did you mean 'hwu'"),
        (("hwu", "b"), "no dataset 'b'"),
        (("hwu", "a", "sl"), "no policy 'sl'"),
        (("hwu", "a", "rl", "fill=x"), "no variant 'fill=x'"),
    ):
        with pytest.raises(UsageError, match=message):
            Run(folder).policy(*arguments)
    with pytest.raises(UsageError, match="kept no policies: add `keep = true`"):
        Run(small.folder).policy("hwu")


def test_the_same_values_as_without_keeping(folder: Path, small: Study) -> None:
    kept = [row for row in Run(folder).table("returns") if row.policy != "sl_sampled"]
    plain = Run(small.folder).table("returns")
    assert [(row.tracker, row.estimator, row.value) for row in kept] == [
        (row.tracker, row.estimator, row.value) for row in plain
    ]
