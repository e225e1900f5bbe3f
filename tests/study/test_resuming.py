"""What is there is taken; what is missing, damaged or older than its code is computed, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from extrinsic.errors import InputError
from extrinsic.study import store
from extrinsic.study.dialog_inputs import SimulatedDialogs, planned_dialogs
from extrinsic.study.settings_file import read_study
from extrinsic.study.valuation import live_world
from tests.study.studies import (
    SMALL,
    Study,
    computed,
    contents,
    copied,
    done,
    require_same,
    run_in,
    statuses,
    tables,
    write_study,
)

KINDS = ("score", "learn")


def stage_files(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / "stages").glob(f"{kind}-*"))


def changed(small: Study, folder: Path, *changes: str) -> Study:
    """The same directory with other settings on top."""
    study = copied(small, folder)
    options = [part for change in changes for part in ("--set", change)]
    return done(study.config, study.folder, *options)


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "stages").glob("[!.]*")}


def test_a_second_run_computes_nothing(small: Study, tmp_path: Path) -> None:
    """And writes the tables that were removed again."""
    study = copied(small, tmp_path / "run")
    before = stamps(study.folder)
    for path in study.folder.glob("[d-z]*.csv"):
        path.unlink()
    done(study.config, study.folder)
    assert set(statuses(study.folder).values()) == {"reused"}
    require_same(small.folder, study.folder)
    assert stamps(study.folder) == before


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda data: None,
    "truncated": lambda data: data[: len(data) // 2],
    "a flipped bit": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "a flipped bit in the check sum": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "empty": lambda data: b"",
    "only the head": lambda data: data.partition(b"\n")[0],
    "something else": lambda data: b"not a stage\n",
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_stages_are_all_that_is_computed(small: Study, tmp_path: Path, damage: str) -> None:
    study = copied(small, tmp_path / "run")
    for kind in KINDS:
        path = stage_files(study.folder, kind)[-1]
        data = DAMAGES[damage](path.read_bytes())
        path.unlink()
        if data is not None:
            path.write_bytes(data)
    done(study.config, study.folder)
    again = [name.split()[0] for name, status in statuses(study.folder).items() if status == "computed"]
    assert sorted(again) == sorted(KINDS)
    require_same(small.folder, study.folder)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ('correlation.primary="rl.lstd"', set()),
        ('trackers.degenerate=["hwu"]', set()),
        ("value.live_dialogs=22", {"learn"}),
        ('reward.fill=["threshold"]', {"learn"}),
        ('metrics.names=["accuracy", "mrr"]', {"score"}),
        ("simulation.seed=8", {"score", "learn"}),
    ],
)
def test_a_change_computes_what_depends_on_it(
    small: Study, tmp_path: Path, change: str, again: set[str]
) -> None:
    study = changed(small, tmp_path / "run", change)
    assert computed(study.folder) == again
    # What depends on it is computed all over, and what does not depend on it not at all.
    for kind in ("score", "learn"):
        assert len(set(statuses(study.folder, kind).values())) == 1


def test_another_seed_computes_what_is_drawn(small: Study, tmp_path: Path) -> None:
    """Live callers and permutations are drawn anew; the calls are the world's, with its seed."""
    study = changed(small, tmp_path / "run", "seed=6")
    assert computed(study.folder) == {"learn"}
    old, new = tables(small.folder), tables(study.folder)
    assert new["intrinsic.csv"] == old["intrinsic.csv"]
    assert new["returns.csv"] != old["returns.csv"]


def test_a_further_tracker_is_all_that_is_added(small: Study, tmp_path: Path) -> None:
    names = [row["tracker"] for row in small.rows("trackers")]
    study = changed(small, tmp_path / "run", f"trackers.built_in={[*names, 'focus']}".replace("'", '"'))
    stages = statuses(study.folder, "score", "learn")
    assert sorted(name for name, status in stages.items() if status == "computed") == [
        "learn a focus fill=argmax",
        "score a focus",
    ]


def test_changing_back_computes_nothing(small: Study, tmp_path: Path) -> None:
    study = changed(small, tmp_path / "run", 'correlation.coefficients=["pearson"]')
    assert tables(study.folder)["correlations.csv"] != tables(small.folder)["correlations.csv"]
    done(study.config, study.folder)
    assert set(statuses(study.folder).values()) == {"reused"}
    assert tables(study.folder) == tables(small.folder)


VARY = 'sensitivity.vary={"policy.one_step.gamma" = [0.9], "policy.one_step.ridge" = [100.0]}'


def test_sensitivity_learns_only_what_is_tried(small: Study, tmp_path: Path) -> None:
    study = changed(small, tmp_path / "run", VARY)
    learned = statuses(study.folder, "learn")
    assert {name for name, status in learned.items() if status == "computed"} == {
        name for name in learned if "gamma=0.9" in name
    }
    # A ridge of 100 is the study's own: nothing to be tried.
    assert not any("ridge" in name for name in learned)
    rows = [row for row in study.rows("sensitivity") if row["trackers"] == "all"]
    assert [(row["parameter"], row["setting"]) for row in rows] == [
        ("(the study's own)", ""),
        ("policy.one_step.gamma", "0.9"),
    ]
    old, new = tables(small.folder), tables(study.folder)
    for table in ("correlations.csv", "intrinsic.csv"):
        assert new[table] == old[table]


def test_an_interrupted_first_moment_can_be_resumed(small: Study, tmp_path: Path) -> None:
    """Killed after the settings were written and before the manifest was; or in the middle of either."""
    for number, left in enumerate(
        ["config.toml", ".config.toml.123-ab12cd34.part", ".manifest.json.1-2.part"]
    ):
        folder = tmp_path / f"run{number}"
        (folder / "stages").mkdir(parents=True)
        (folder / left).write_bytes(b"name")
        outcome = run_in(small.config, folder)
        assert outcome.code == 0, outcome.text


def test_what_a_killed_run_left_half_written_is_cleared_away(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    name = stage_files(study.folder, "learn")[0].name
    (study.folder / "stages" / f".{name}.999999-0badcafe.part").write_bytes(b"half")
    (study.folder / ".choices.csv.999999-0badcafe.part").write_bytes(b"half")
    done(study.config, study.folder)
    assert list(contents(study.folder)) == list(contents(small.folder))


def test_a_study_of_the_same_settings_elsewhere_shares_nothing(small: Study, tmp_path: Path) -> None:
    """Other worlds behind the same path: contents count, not names."""
    config = write_study(tmp_path / "study", SMALL)
    worlds = tmp_path / "study" / "worlds.toml"
    worlds.write_text(worlds.read_text().replace("patience = 8.0", "patience = 8.5"))
    study = copied(small, tmp_path / "run")
    done(config, study.folder)
    assert set(statuses(study.folder).values()) == {"computed"}


def test_equal_worlds_of_another_study_that_change_later(small: Study, tmp_path: Path) -> None:
    """A process keeps what a study made of its worlds; the next one with equal ones plays in its own."""
    other = write_study(tmp_path / "other", SMALL)
    done(other, tmp_path / "first")
    worlds = tmp_path / "other" / "worlds.toml"
    worlds.write_text(worlds.read_text().replace("patience = 8.0", "patience = 1.5"))
    done(small.config, tmp_path / "second")
    require_same(small.folder, tmp_path / "second")


def test_worlds_that_change_during_a_run(small: Study, tmp_path: Path) -> None:
    (unit,) = planned_dialogs(read_study(small.config)).units
    assert isinstance(unit.test, SimulatedDialogs)
    changed = write_study(tmp_path / "other", SMALL).with_name("worlds.toml")
    changed.write_text(changed.read_text().replace("patience = 8.0", "patience = 8.5"))
    with pytest.raises(InputError, match=r"worlds\.toml: the world has changed since the study began"):
        live_world(
            msgspec.structs.replace(unit, test=msgspec.structs.replace(unit.test, config=str(changed)))
        )


def test_a_result_depends_on_the_rooms_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)

    def version_after(file: str) -> str:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(file)
        store.code_version.cache_clear()
        return store.code_version()

    first, scores, task = map(version_after, ("errors.py", "metrics/fga.py", "corpus/bus.toml"))
    assert len({first, scores, task}) == 3
    assert task == version_after("verdict/intervals.py") == version_after("report/page.py")
    store.code_version.cache_clear()
