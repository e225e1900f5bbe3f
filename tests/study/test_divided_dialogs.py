"""Studies of one list of dialogs: who is left out, and the rest divided by chance, once or several times."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.corpus.formats import DSTC1
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.study.dialog_inputs import corpus_of
from extrinsic.study.plan import Plan, plan_study
from extrinsic.study.runner import run_study
from extrinsic.study.settings_file import read_study
from extrinsic.study.tracker_inputs import TrackerInput, output_of
from extrinsic.trackers.track import track
from tests.contents import beliefs_content
from tests.real_data import BUS_CALLS, needs_bus_calls
from tests.running import assert_refused, succeed
from tests.study.studies import DISK, run_in

WORLD = """seed = 3
[world.caller]
patience = 20.0
starts_over = 0.1
[datasets.a.splits.all]
dialogs = 60
"""

DIVIDED = DISK.replace('train = "a_train"\ntest = "a_test"\n', 'dialogs = "a_all"\n').replace(
    DISK[DISK.index("[trackers.files]") : DISK.index("[metrics]")], ""
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty calls on disk, some of them with a restart."""
    root = tmp_path_factory.mktemp("divided")
    (root / "worlds.toml").write_text(WORLD)
    succeed("simulate", "--config", root / "worlds.toml", "--output", root / "calls")
    return root


def written(folder: Path, *lines: str) -> Path:
    """The study with more lines in [corpus]."""
    path = folder / "study.toml"
    path.write_text(DIVIDED.replace('dialogs = "a_all"', "\n".join(['dialogs = "a_all"', *lines])))
    return path


def plan_of(folder: Path, *lines: str) -> Plan:
    return plan_study(read_study(written(folder, *lines))).plan


def sessions(plan: Plan) -> list[tuple[set[str], set[str]]]:
    """Of each unit, those to learn from and those to value on."""
    return [(set(corpus_of(unit.train).sessions), set(corpus_of(unit.test).sessions)) for unit in plan.units]


class Stop(Exception):
    """Ends a run at its first message."""


def test_a_run_says_how_many_are_left_out(calls: Path, tmp_path: Path) -> None:
    corpus = DSTC1.read_corpus(calls / "calls", "a_all")
    n_left_out = int(corpus.excluded.sum())
    assert 0 < n_left_out < 40

    def notify(text: str) -> None:
        raise Stop(text)

    with pytest.raises(Stop, match=f"^{n_left_out} of 60 dialogs of a_all were left out: .*restart flag"):
        run_study(written(calls), tmp_path / "run", notify=notify)


def test_a_tracker_file_is_about_the_whole_list(calls: Path, tmp_path: Path) -> None:
    """What it says of a part is what the tracker says of that part."""
    corpus, tracker = DSTC1.read_corpus(calls / "calls", "a_all"), TRACKERS.get("hwu")
    path = tmp_path / "all.json"
    DSTC1.write_tracker(track(tracker, corpus, "hwu"), corpus, path)
    (unit,) = plan_of(calls).units
    files = TrackerInput(
        "file", files={"train": str(path), "test": str(path)}, hashes={"train": "", "test": ""}
    )
    for side in ("train", "test"):
        read, made = (output_of(of, unit, side) for of in (files, TrackerInput("hwu")))
        assert beliefs_content(read.beliefs, read.vocabulary) == beliefs_content(
            made.beliefs, made.vocabulary
        )


def test_halves(calls: Path) -> None:
    corpus = DSTC1.read_corpus(calls / "calls", "a_all")
    kept = {
        session for session, excluded in zip(corpus.sessions, corpus.excluded, strict=True) if not excluded
    }
    for train, test in sessions(plan_of(calls, "splits = 3")):
        assert not train & test and train | test == kept
        assert abs(len(train) - len(test)) <= 1


def test_the_seed_decides(calls: Path) -> None:
    """The second division of a seed is the first of the next one."""
    one, two = sessions(plan_of(calls, "splits = 2", "split_seed = 4"))
    assert one != two
    assert sessions(plan_of(calls, "split_seed = 4")) == [one]
    assert sessions(plan_of(calls, "split_seed = 5")) == [two]


def test_both_ways(calls: Path) -> None:
    """Every division and direction is a dataset."""
    plan = plan_of(calls, "split = 0.25", "splits = 2", "both_ways = true")
    assert list(plan.datasets) == ["split1", "split1_swapped", "split2", "split2_swapped"]
    (train, test), swapped, *_ = sessions(plan)
    assert swapped == (test, train)
    assert len(train) == round(0.25 * (len(train) + len(test)))


def test_nobody_need_be_left_out(calls: Path) -> None:
    plan = plan_of(calls, "exclude = false")
    assert plan.left_out == ()
    ((train, test),) = sessions(plan)
    assert len(train | test) == 60


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        (['train = "a_all"', 'test = "a_all"'], "key corpus"),
        (["split = 1.0"], "split"),
        (["splits = 0"], "splits"),
        (['datasets_by = "directory"'], "datasets_by"),
        (["split = 0.001"], "cannot be divided"),
    ],
)
def test_what_makes_no_sense(calls: Path, tmp_path: Path, lines: list[str], key: str) -> None:
    assert_refused(run_in(written(calls, *lines), tmp_path / "run"), key)


@needs_bus_calls
def test_real_calls(tmp_path: Path) -> None:
    """Of 687 calls 240 have a restart or a canthelp; none of them reaches the transitions."""
    config = tmp_path / "study.toml"
    config.write_text(
        DIVIDED.replace('path = "calls"', f'path = "{BUS_CALLS}"').replace('"a_all"', '"train3"\nsplits = 2')
    )
    plan = plan_study(read_study(config)).plan
    (left_out,) = plan.left_out
    assert left_out.startswith("240 of 687 dialogs of train3 were left out: ")
    assert [(len(train), len(test)) for train, test in sessions(plan)] == [(224, 223)] * 2
    unit = plan.units[0]
    plain = set(DSTC1.read_corpus(BUS_CALLS, "train3_plain").sessions)
    for side in (unit.train, unit.test):
        corpus = corpus_of(side)
        log = transitions_of(corpus, track(TRACKERS.get("last_turn"), corpus, "last_turn"))
        assert set(log.sessions) <= plain
        names = {corpus.domain.predicate_names[action] for action in set(log.action.tolist())}
        assert not names & {"restart", "canthelp"}
