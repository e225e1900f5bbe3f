"""The package as it is imported: `extrinsic.read_corpus`, `extrinsic.score`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import extrinsic
import extrinsic.tables
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation
from extrinsic.study.engine import Engine
from extrinsic.trackers.track import track
from extrinsic.value.value import mean_of_dialogs
from tests.builders import Written, write_dstc1, write_state_sets
from tests.running import run
from tests.samples import small_dstc1, small_state_sets


@pytest.fixture
def bus(tmp_path: Path) -> Written:
    return write_dstc1(tmp_path, small_dstc1())


@pytest.fixture
def states(tmp_path: Path) -> Path:
    return write_state_sets(tmp_path, small_state_sets())


def test_python(bus: Written) -> None:
    corpus = extrinsic.read_corpus(bus.corpus, bus.dataset, format="dstc1")
    tracker = extrinsic.read_tracker(bus.tracker, corpus)
    scores = extrinsic.score(corpus, tracker, metrics=["accuracy"], components=["route"], schedules=[1])
    assert isinstance(scores, extrinsic.Scores)
    assert [(row.metric, row.n, row.value) for row in scores.rows] == [("accuracy", 5, 4 / 5)]
    options = ["--metric", "accuracy", "--component", "route", "--schedule", 1, "--json"]
    printed = run("score", "--format", "dstc1", "--corpus", bus.corpus, bus.tracker, *options)
    assert scores.as_rows() == printed.json()["rows"]
    with pytest.raises(FrozenInstanceError):
        scores.rows[0].value = 1.0  # type: ignore[misc]
    with pytest.raises(UsageError, match="together with a tracker"):
        extrinsic.score(corpus)


def test_python_with_state_sets(states: Path) -> None:
    scores = extrinsic.score(extrinsic.read_states(states), metrics=["jga", "slot_f1"])
    assert [row.value for row in scores.rows] == [2 / 3, pytest.approx(1 / 3)]


def test_type_checkers_see_the_same_names() -> None:
    source = Path(extrinsic.__file__).read_text()
    typed = {name: module for module, name in re.findall(r"    from (\S+) import (\w+) as \2\n", source)}
    assert typed == extrinsic._API


WRONG: list[tuple[dict[str, object], str]] = [
    ({"schedules": "1"}, "schedules .* type .expected whole numbers, e.g. 1 or .1, 3., found text '1'"),
    ({"schedules": ["1"]}, "schedules has the wrong type"),
    ({"bootstrap": "many"}, "bootstrap .* type .expected a whole number, found text 'many'"),
    ({"bootstrap": -1}, "a bootstrap needs at least 2 resamples .found -1"),
    ({"bootstrap": True}, "bootstrap has the wrong type"),
    ({"metrics": 3}, "metrics has the wrong type"),
    ({"components": [1]}, "components has the wrong type"),
    ({"fill": 0.5}, "fill has the wrong type"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[str(arguments) for arguments, _ in WRONG])
def test_wrong_types_of_score(states: Path, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        extrinsic.score(extrinsic.read_states(states), **arguments)


def test_wrong_types_elsewhere(tmp_path: Path) -> None:
    """3 as a path would be a file descriptor."""
    calls: list[Callable[[Any], object]] = [
        lambda wrong: extrinsic.read_corpus(wrong, format="dstc1"),
        lambda wrong: extrinsic.read_tracker(wrong, None),  # type: ignore[arg-type]
        lambda wrong: extrinsic.read_tracker("x.json", wrong),
        extrinsic.read_states,
        extrinsic.load_policy,
        extrinsic.read_transitions,
        extrinsic.Run,
        extrinsic.read_study,
        lambda wrong: extrinsic.run_study(wrong, tmp_path),
        lambda wrong: extrinsic.run_study(extrinsic.read_study("quick"), wrong),
        extrinsic.score,
        lambda wrong: extrinsic.learn(wrong, "hwu"),
        lambda wrong: extrinsic.value(wrong, "ds4"),
        lambda wrong: extrinsic.play(wrong, "ds4"),
        lambda wrong: Engine(n_jobs=wrong),
    ]
    for call in calls:
        for wrong in (3.5, 3) if call is not calls[-1] else (3.5,):
            with pytest.raises(UsageError, match=f"found number {wrong}"):
                call(wrong)


def test_a_directory_that_is_no_run_is_refused_at_once(tmp_path: Path) -> None:
    for folder, found in ((tmp_path / "nowhere", "no such directory"), (tmp_path, r"no manifest\.json")):
        with pytest.raises(InputError, match=found) as refused:
            extrinsic.Run(folder)
        assert refused.value.problems[0].path == str(folder)
        assert "a directory with manifest.json" in str(refused.value)


def test_lstd_is_flagged_where_it_flatters_and_not_of_the_logged_policy() -> None:
    """It credits the policy with twice what it earns in live play; the logged policy with what it earned."""
    policy = extrinsic.learn("ds4", "hwu", "one_step")
    values = extrinsic.value(policy, "ds4", ["observed", "lstd", "fqe"])
    assert values["lstd"].mean > 2.0 * extrinsic.play(policy, "ds4", 300).returns.mean()
    assert values["lstd"].flags == ("gain_over_log",)
    assert values["fqe"].flags == values["observed"].flags == ()


def test_studies_of_the_package() -> None:
    settings = extrinsic.read_study("quick", "seed=5")
    assert (settings.name, settings.seed) == ("quick", 5)
    with pytest.raises(UsageError, match="did you mean 'quick'"):
        extrinsic.read_study("quik")


def test_short_forms(states: Path) -> None:
    sets = extrinsic.read_states(states)
    scores = extrinsic.score(sets, metrics=["jga", "slot_f1"])
    log = Transitions.from_arrays([[0.5], [1.0]], ["a", "b"], [1, 2], ["x", "x"], actions=("a", "b"))
    value = mean_of_dialogs("observed", np.array([1.0, 3.0]))
    for thing, said in (
        (sets, "<StateSets 'states': 2 dialogs, 3 turns, 3 slots of hotel, taxi>"),
        (scores, "<Scores of states: 2 rows>"),
        (log, "<Transitions: 2 decisions of 1 dialogs, 1 + 0 features, 2 actions>"),
        (value, "<Value observed: 2.00 [1.00, 3.00], 2 dialogs>"),
    ):
        assert repr(thing) == said
        html = thing._repr_html_()
        assert html.startswith("<p><b>") and "<" not in html.split("<b>")[1].split("</b>")[0]
    assert extrinsic.tables.html_table("<x>", [{"a": "<y>"}]).count("&lt;") == 2


def test_scores_for_other_programs(states: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = extrinsic.score(extrinsic.read_states(states), metrics=["jga"])
    if find_spec("pandas"):
        assert list(scores.to_dataframe().columns) == list(scores.as_rows()[0])
    written: dict[str, object] = {}
    parquet = SimpleNamespace(write_table=lambda table, path: written.update({path: table}))
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(table=dict, parquet=parquet))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    scores.to_parquet(tmp_path / "scores.parquet")
    (table,) = written.values()
    assert table["metric"] == ["jga"]  # type: ignore[index]
    for library in ("pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(UsageError, match="pip install pyarrow"):
        scores.to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(UsageError, match="pip install pandas"):
        scores.to_dataframe()


def test_one_policy_in_three_calls() -> None:
    """The example of the README, smaller: learned on ds4's training dialogs, valued on its test dialogs."""
    policy = extrinsic.learn("ds4", "hwu", "one_step")
    assert re.fullmatch(
        r"<SinglePolicy \w+: learned on hwu from [\d,]+ decisions of ds4_train>", repr(policy)
    )
    values = extrinsic.value(policy, "ds4", ["observed", "lstd", "live"], n_live=50, seed=7)
    played = extrinsic.play(policy, "ds4", n_dialogs=50, seed=7)
    assert list(values) == ["observed", "lstd", "live"]
    assert values["live"].mean == pytest.approx(played.returns.mean())
    assert (values["live"].diagnostics["success"], values["live"].n) == (played.completed.mean(), 50)
    assert values["lstd"].low < values["lstd"].mean < values["lstd"].high
    assert "on_policy_gap" in values["lstd"].diagnostics
    assert policy.diagnostics["kernels"] > 10


def test_the_package_of_estimators_is_still_one() -> None:
    """`extrinsic.value` is a function and a package."""
    from extrinsic.value import estimator
    from extrinsic.value.estimator import OBSERVED

    assert callable(extrinsic.value)
    assert estimator.OBSERVED is OBSERVED


def test_a_policy_is_not_valued_on_what_it_learned_from() -> None:
    policy = extrinsic.learn("ds4", "baseline", "imitation")
    with pytest.raises(UsageError, match="must not be valued on what it learned from"):
        extrinsic.value(policy, policy.train)
    with pytest.raises(UsageError, match="no simulator"):
        test = read_simulation().simulate("ds4", "test").corpus
        extrinsic.value(policy, test, "live")
    with pytest.raises(UsageError, match="there is no dataset 'ds9'"):
        extrinsic.play(policy, "ds9")
    with pytest.raises(UsageError, match="did you mean 'one_step'"):
        extrinsic.learn("ds4", "baseline", "one_stp")


def test_a_tracker_from_a_file() -> None:
    """Its output is given for both sides; live it cannot track."""
    simulation = read_simulation()
    train, test = (simulation.simulate("ds4", split).corpus for split in ("train", "test"))
    outputs = [track(TRACKERS.get("focus"), corpus, "mine") for corpus in (train, test)]
    policy = extrinsic.learn(train, outputs[0], "imitation")
    same = extrinsic.value(extrinsic.learn(train, "focus", "imitation"), test, "lstd")
    assert extrinsic.value(policy, test, "lstd", output=outputs[1])["lstd"].mean == same["lstd"].mean
    with pytest.raises(UsageError, match="came from a file"):
        extrinsic.value(policy, test)
    with pytest.raises(UsageError, match="cannot track live"):
        extrinsic.play(policy, "ds4")
