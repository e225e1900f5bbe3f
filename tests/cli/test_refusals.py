"""Requests that make no sense: exit code 2, what is wrong, what to try instead, no traceback, no output."""

from __future__ import annotations

import gzip
import json
import shlex
from pathlib import Path

import pytest

from tests.builders import Written, write_json
from tests.running import assert_refused, run
from tests.samples import small_dstc1

SCORE_BELIEFS = "score --format dstc1 --corpus {bus} {tracker} "
SCORE_STATES = "score --format state-sets {states} "
TRACK = "track --format dstc2 --corpus {restaurants} --output {new} "

COMMANDS: dict[str, list[tuple[str, str]]] = {
    SCORE_BELIEFS: [
        ("--metric acuracy", "did you mean 'accuracy'?"),
        ("--metric accuracy(1)", "takes no value"),
        ("--metric accuracy(weight=2)", "no parameter 'weight'"),
        ("--metric neglogp", "not defined for dstc1"),
        ("--metric update.acc", "not defined for dstc1"),
        ("--metric jga", "--fill argmax"),
        ("--metric fga(-1) --fill argmax", "at least 0"),
        ("--metric fga(0.5", "is not a metric"),
        ("--schedule 4", "no schedule 4 here (expected one of 1, 2, 3)"),
        ("--schedule first", "invalid int value"),
        ("--component rote", "did you mean 'route'?"),
        ("--component goal.joint", "no component 'goal.joint'"),
        ("--fill argmin", "did you mean 'argmax'?"),
        ("--fill threshold:2", "[0, 1]"),
        ("--fill threshold:-0.5", "[0, 1]"),
        ("--fill threshold:x", "must be a number"),
        ("--bootstrap 1", "at least 2 resamples"),
        ("--bootstrap -2", "at least 2 resamples"),
        ("--bootstrap 10 --seed -1", "seed"),
        ("--json --csv", "not allowed with"),
        ("--turn-correlation", "this format has beliefs"),
        ("--metric jga(fill=argmax) --schedule 2", "no schedule 2 here (expected one of 1, 3)"),
        ("--dataset train9", "train9"),
    ],
    SCORE_STATES: [
        ("--metric jga(fill=argmax)", "filled already"),
        ("--schedule 2", "expected one of 1, 3"),
        ("--component taxis", "did you mean 'taxi'?"),
        ("--component zzz", "available: all, hotel, taxi"),
        ("--turn-correlation --metric gca", "no score for a single turn"),
        ("--metric fga(turns=6)", "both turns and factor"),
        ("none.json", "none.json"),
    ],
    "score ": [
        ("--format dstc {tracker}", "did you mean 'dstc"),
        ("--format dstc1 {tracker}", "--corpus"),
        ("--format state-sets", "FILE"),
    ],
    "validate ": [
        ("--format dstc1 {tracker}", "--corpus"),
        ("--format state-sets", "name at least one file"),
        ("--format dstc3 x", "did you mean 'dstc"),
        ("--format dstc2 --corpus {bus} --dataset d", "config/d.flist or scripts/config/d.flist"),
    ],
    TRACK: [
        ("", "which trackers"),
        ("--tracker fokus", "no tracker 'fokus'; did you mean 'focus'?"),
        ("--tracker focus(discount=7)", "out of range"),
        ("--tracker focus --distinct 2", "--distinct is out of range"),
        ("--population 0", "at least one member"),
        ("--tracker logistic --folds 99", "number of folds"),
        ("--tracker logistic --folds 1", "number of folds"),
        ("--tracker focus --folds 2", "none of the trackers learns"),
        ("--tracker focus --train-dataset dstc2_dev", "none of the trackers learns"),
        ("--tracker logistic --folds 2 --train-dataset x", "--folds is for cross-fitting"),
        ("--tracker logistic --train-dataset dstc2_dev", "learned from it"),
        ("--tracker logistic --train-dataset nowhere", "nowhere"),
        ("--tracker focus --n-jobs 0", "the number of processes must be"),
        ("--tracker focus --dataset nowhere", "nowhere"),
    ],
    "track --output {new} --tracker focus ": [
        ("--format state-sets", "no dialogs to track"),
        ("--format dstc1", "--corpus"),
    ],
}


@pytest.mark.parametrize(
    ("command", "said"), [(c + options, said) for c, rows in COMMANDS.items() for options, said in rows]
)
def test_what_makes_no_sense(
    bus: Written, restaurants: Written, states: Path, tmp_path: Path, command: str, said: str
) -> None:
    new = tmp_path / "new.json"
    places = {"bus": bus.corpus, "tracker": bus.tracker, "restaurants": restaurants.corpus}
    words = [word.format(**places, states=states, new=new) for word in shlex.split(command)]
    outcome = run(*words)
    assert_refused(outcome, said)
    if words[0] == "score":
        assert outcome.output == ""
    assert not new.exists()


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
