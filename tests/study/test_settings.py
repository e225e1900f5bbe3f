"""Settings as a file: written and read again they are the same, whatever they are."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.conventions import DSTC1
from extrinsic.errors import ExtrinsicError
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.registry import METRICS
from extrinsic.study.configuration.choices import gather_options
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_policies, read_study
from extrinsic.study.configuration.settings_toml import settings_text
from extrinsic.study.configuration.targets import chosen_targets
from extrinsic.study.stages.stored_scores import chosen_metrics
from tests.real_data import FOLDER, needs_data
from tests.study.studies import SMALL, write_study

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.toml"))
assert CONFIGS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
shares = st.floats(0.0, 1.0)
KERNEL_LSPI = {key: value for key, value in asdict(KernelLSPI()).items() if value is not None}
FILL = ("argmax", "threshold", "threshold:0.25")


def few(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    return st.lists(values, max_size=3)


trees = st.fixed_dictionaries(
    {"name": names},
    optional={
        "seed": st.integers(0, 2**53),
        "description": texts,
        "simulation": st.fixed_dictionaries({}, optional={"config": texts, "datasets": few(texts)}),
        "corpus": st.fixed_dictionaries(
            {"format": texts, "path": texts},
            optional={
                "datasets": st.dictionaries(
                    texts, st.fixed_dictionaries({"train": texts, "test": texts}), max_size=2
                )
            },
        ),
        "states": st.fixed_dictionaries({"files": few(texts)}),
        "outcomes": st.fixed_dictionaries({"file": texts, "names": few(texts)}, optional={"dialog": texts}),
        "trackers": st.fixed_dictionaries({}, optional={"built_in": few(texts), "near_duplicate": shares}),
        "metrics": st.fixed_dictionaries({}, optional={"names": few(texts), "schedules": few(st.integers())}),
        "policy": st.fixed_dictionaries(
            {},
            optional={
                "features": st.one_of(texts, few(texts)),
                "conditions": st.booleans(),
                "tables": st.dictionaries(
                    names, st.dictionaries(names, st.floats(1e-300, 1e9), max_size=2), max_size=2
                ),
                "threshold": shares,
            },
        ),
        "reward": st.fixed_dictionaries(
            {},
            optional={
                "fill": few(texts),
                "options": st.dictionaries(names, st.floats(-1e9, 1e9), max_size=2),
            },
        ),
        "sensitivity": st.fixed_dictionaries(
            {}, optional={"vary": st.dictionaries(texts, few(st.booleans()), max_size=2)}
        ),
    },
)


def without_empty(study: StudySettings) -> StudySettings:
    """A table without a key is not written."""
    tables = {name: table for name, table in study.policy.tables.items() if table}
    return msgspec.structs.replace(study, policy=msgspec.structs.replace(study.policy, tables=tables))


@settings(max_examples=40)
@given(trees)
def test_settings_written_are_the_settings_read(tree: dict[str, object]) -> None:
    study = msgspec.convert(tree, StudySettings)
    text = settings_text(study)
    again = msgspec.convert(gather_options(tomllib.loads(text)), StudySettings)
    assert again == without_empty(study)
    assert settings_text(again) == text


@settings(max_examples=15)
@given(st.sets(st.sampled_from(FILL), min_size=1), st.floats(1e-6, 1e6), st.integers(0, 2**63 - 1), texts)
def test_a_file_written_is_read_as_it_was(fill: set[str], ridge: float, seed: int, description: str) -> None:
    """By way of the disk, with all checks."""
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder) / "one.toml", Path(folder) / "two.toml"
        path.write_text(
            'name = "x"\n[simulation]\n[trackers]\nbuilt_in = ["hwu"]\n[policy]\nlearner = "kernel_lspi"\n'
        )
        plain = read_study(path)
        changed = msgspec.structs.replace(
            plain,
            seed=seed,
            description=description,
            reward=msgspec.structs.replace(plain.reward, fill=tuple(sorted(fill))),
            policy=msgspec.structs.replace(
                plain.policy, tables={**plain.policy.tables, "kernel_lspi": {**KERNEL_LSPI, "ridge": ridge}}
            ),
        )
        again.write_text(settings_text(changed), encoding="utf-8", newline="")
        assert read_study(again) == changed


def read_any(path: Path) -> StudySettings:
    return (read_policies if "[grid]" in path.read_text() else read_study)(path)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_studies_that_come_along_are_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With data somewhere else than usual; a pattern of files that are not there is the only complaint."""
    monkeypatch.setenv("EXTRINSIC_DATA", "/nowhere/data")
    try:
        study = read_any(path)
    except ExtrinsicError as error:
        assert path.stem.startswith("multiwoz")
        assert "/nowhere/data/multiwoz" in str(error)
        return
    assert study.name == path.stem
    assert study.description
    assert settings_text(study).startswith(f'name = "{path.stem}"')
    if study.corpus:
        assert study.corpus.path.startswith("/nowhere/data/")


@needs_data
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_studies_that_come_along_find_the_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRINSIC_DATA", str(FOLDER))
    study = read_any(path)
    files = list(study.states.files) if study.states else []
    files += [study.corpus.path] if study.corpus else []
    assert all(Path(file).exists() for file in files)


def test_data_lie_beside_the_repository_if_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXTRINSIC_DATA", raising=False)
    (path,) = (path for path in CONFIGS if path.stem == "dstc2")
    corpus = read_study(path).corpus
    assert corpus is not None
    root = Path(__file__).resolve().parents[2]
    assert Path(corpus.path) == root.parent / "shared" / "data" / "dstc2" / "dstc2_traindev.tar.gz"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_line_of_a_study_that_comes_along_is_one_of_its_settings(path: Path) -> None:
    """The study is told by its file: a name, a sentence, and where to read on."""
    tree = tomllib.loads(path.read_text())
    assert tree["name"] == path.stem
    assert tree["description"].endswith(".")
    assert path.read_text().startswith("# ")


def test_the_primary_target_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"\n[simulation]\n[trackers]\nbuilt_in = ["hwu"]\n')
    assert chosen_targets(read_study(path))[0] == "rl.live"
    lstd = read_study(path, ["correlation.primary=rl.lstd"])
    assert chosen_targets(lstd)[0] == "rl.lstd"
    assert sorted(chosen_targets(lstd)) == sorted(chosen_targets(read_study(path)))
    no_live = read_study(path, ['value.estimators=["lstd", "mean_augmented"]'])
    assert chosen_targets(no_live)[0] == "rl.mean_augmented"


TRACKER_FILES = """name = "mine"
[corpus]
format = "dstc2"
path = "corpus"
train = "train"
test = "test"
[trackers]
built_in = [{built_in}]
[trackers.files]
names = [{names}]
train = "{{tracker}}.train.json"
test = "{{tracker}}.test.json"
"""


@pytest.mark.parametrize(
    ("built_in", "names", "said"),
    [
        ("", '"a", "b", "a"', "key trackers.files.names: named twice (found 'a')"),
        ('"hwu"', '"hwu", "b"', "both built in and a file (found 'hwu')"),
        ('"all"', '"hwu", "b"', "both built in and a file (found 'hwu')"),
    ],
)
def test_a_tracker_named_twice(tmp_path: Path, built_in: str, names: str, said: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TRACKER_FILES.format(built_in=built_in, names=names))
    with pytest.raises(ExtrinsicError) as refused:
        read_study(path)
    assert said in str(refused.value)


OWN_METRIC = """
from extrinsic.metrics.state_metrics import JointGoalAccuracy
from extrinsic.registry import METRICS

class Mine(JointGoalAccuracy):
    name = "mine_of_a_plugin"

METRICS.register("mine_of_a_plugin", Mine, "a metric of my own")
"""


def test_metrics_of_plugins_are_measured_without_being_listed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_METRIC)
    path = write_study(tmp_path, SMALL.replace("seed = 5", 'seed = 5\nplugins = ["mine.py"]'))
    try:
        study = read_study(path)
        assert study.metrics.registered == ("mine_of_a_plugin",)
        metrics = [str(metric) for metric in chosen_metrics(DSTC1, study.metrics)]
        assert metrics[-1] == "mine_of_a_plugin(fill=argmax)"
        listed = read_study(path, ["metrics.names=['accuracy', 'mine_of_a_plugin(fill=argmax)']"])
        assert listed.metrics.registered == ()
    finally:
        METRICS.unregister("mine_of_a_plugin")
