"""`extrinsic score` refuses what makes no sense: exit code 2, what to try instead, no traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.builders import Written, write_dstc1, write_json, write_state_sets
from tests.running import assert_refused, run
from tests.samples import small_dstc1, small_state_sets


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write_dstc1(tmp_path_factory.mktemp("bus"), small_dstc1())


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_state_sets(tmp_path_factory.mktemp("states"), small_state_sets())


def named(value: list[str] | str) -> str:
    """The options are the test's name."""
    return " ".join(value) if isinstance(value, list) else ""


BELIEFS = [
    (["--metric", "acuracy"], "did you mean 'accuracy'?"),
    (["--metric", "accuracy(1)"], "takes no value"),
    (["--metric", "accuracy(weight=2)"], "no parameter 'weight'"),
    (["--metric", "neglogp"], "not defined for dstc1"),
    (["--metric", "update.acc"], "not defined for dstc1"),
    (["--metric", "jga"], "--fill argmax"),
    (["--metric", "fga(-1)", "--fill", "argmax"], "at least 0"),
    (["--metric", "fga(0.5"], "is not a metric"),
    (["--schedule", "4"], "no schedule 4 here (expected one of 1, 2, 3)"),
    (["--schedule", "first"], "invalid int value"),
    (["--component", "rote"], "did you mean 'route'?"),
    (["--component", "goal.joint"], "no component 'goal.joint'"),
    (["--fill", "argmin"], "did you mean 'argmax'?"),
    (["--fill", "threshold:2"], "[0, 1]"),
    (["--fill", "threshold:-0.5"], "[0, 1]"),
    (["--fill", "threshold:x"], "must be a number"),
    (["--bootstrap", "1"], "at least 2 resamples"),
    (["--bootstrap", "-2"], "at least 2 resamples"),
    (["--bootstrap", "10", "--seed", "-1"], "seed"),
    (["--json", "--csv"], "not allowed with"),
    (["--turn-correlation"], "this format has beliefs"),
    (["--metric", "jga(fill=argmax)", "--schedule", "2"], "no schedule 2 here (expected one of 1, 3)"),
]


@pytest.mark.parametrize(("options", "said"), BELIEFS, ids=named)
def test_requests_about_beliefs(bus: Written, options: list[str], said: str) -> None:
    outcome = run("score", "--format", "dstc1", "--corpus", bus.corpus, bus.tracker, *options)
    assert_refused(outcome, said)
    assert outcome.output == ""


STATES = [
    (["--metric", "jga(fill=argmax)"], "filled already"),
    (["--schedule", "2"], "expected one of 1, 3"),
    (["--component", "taxis"], "did you mean 'taxi'?"),
    (["--component", "zzz"], "available: all, hotel, taxi"),
    (["--turn-correlation", "--metric", "gca"], "no score for a single turn"),
    (["--metric", "fga(turns=6)"], "both turns and factor"),
]


@pytest.mark.parametrize(("options", "said"), STATES, ids=named)
def test_requests_about_states(states: Path, options: list[str], said: str) -> None:
    assert_refused(run("score", "--format", "state-sets", states, *options), said)


def test_formats(bus: Written, states: Path) -> None:
    assert_refused(run("score", "--format", "dstc", bus.tracker), "did you mean 'dstc")
    assert_refused(run("score", "--format", "dstc1", bus.tracker), "--corpus")
    assert_refused(run("score", "--format", "state-sets"), "FILE")
    assert_refused(
        run("score", "--format", "dstc1", "--corpus", bus.corpus, "--dataset", "train9", bus.tracker),
        "train9",
    )
    assert_refused(run("score", "--format", "state-sets", states.parent / "none.json"), "none.json")


def test_every_problem_of_every_file_is_reported(bus: Written, tmp_path: Path) -> None:
    spoilt = small_dstc1().tracker
    spoilt["sessions"][0]["turns"][0]["route"]["hyps"][0]["score"] = "much"
    short = small_dstc1().tracker
    del short["sessions"][1]["turns"][0]
    files = [
        write_json(tmp_path / "spoilt.json", spoilt),
        bus.tracker,
        write_json(tmp_path / "short.json", short),
        tmp_path / "missing.json",
    ]
    outcome = run("score", "--format", "dstc1", "--corpus", bus.corpus, *files)
    assert_refused(outcome, "spoilt.json", "much", "short.json", "session two", "missing.json")
    # Not a word about the good one, and no scores.
    assert "tracker.json" not in outcome.text
    assert outcome.output == ""


def test_names_that_cannot_be_told_apart(tmp_path: Path) -> None:
    """A file and its compressed form: no folder makes their names unique."""
    content = json.dumps({"d": {"0": {"gt": {}, "pr": {}}}}).encode()
    (tmp_path / "x.json").write_bytes(content)
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(content))
    outcome = run("score", "--format", "state-sets", tmp_path / "x.json", tmp_path / "x.json.gz")
    assert_refused(outcome, "one name but for .json and .gz", "x.json.gz")
