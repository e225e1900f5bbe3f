"""Settings as a file: written and read again they are the same, whatever they are."""

from __future__ import annotations

import pickle
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.conventions import DSTC1
from extrinsic.errors import ExtrinsicError, InputError
from extrinsic.policy.fitted_q import FittedQ
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.registry import ESTIMATORS, LEARNERS, METRICS
from extrinsic.study.score_stage import chosen_metrics
from extrinsic.study.settings import Component, StudySettings
from extrinsic.study.settings_file import read_policies, read_study
from extrinsic.study.settings_tree import decode, replaced_settings, settings_text
from extrinsic.study.variants import chosen_targets, variants_of
from extrinsic.typed_files import Count, TomlProblems
from tests.real_data import FOLDER, needs_data
from tests.study.studies import SMALL, write_study

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.toml"))
assert CONFIGS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
shares = st.floats(0.0, 1.0)


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
                "fitted_q": st.fixed_dictionaries({}, optional={"trees": st.integers(1, 99)}),
                "kernel_lspi": st.fixed_dictionaries({}, optional={"ridge": st.floats(1e-300, 1e9)}),
                "threshold": shares,
            },
        ),
        "reward": st.fixed_dictionaries(
            {},
            optional={
                "fill": st.lists(texts, min_size=1, max_size=3),
                "turn": st.floats(-1e9, 1e9),
                "when": st.sampled_from(["terminal", "last_offer"]),
            },
        ),
        "sensitivity": st.fixed_dictionaries(
            {}, optional={"vary": st.dictionaries(texts, few(st.booleans()), max_size=2)}
        ),
    },
)


@settings(max_examples=40)
@given(trees)
def test_settings_written_are_the_settings_read(tree: dict[str, object]) -> None:
    problems = TomlProblems()
    study = decode(tree, problems)
    text = settings_text(study)
    again = decode(tomllib.loads(text), problems)
    assert list(problems) == []
    assert again == study
    assert settings_text(again) == text
    assert pickle.loads(pickle.dumps(again)) == study
    assert replaced_settings(text, again) == []


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
    assert study.description.endswith(".")
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


def test_the_primary_target_comes_first(tmp_path: Path) -> None:
    plain, lstd, no_live = (
        chosen_targets(study_of(tmp_path, changes=changes))
        for changes in ((), ["correlation.primary=rl.lstd"], ['value.estimators=["lstd", "mean_augmented"]'])
    )
    assert (plain[0], lstd[0], no_live[0]) == ("rl.live", "rl.lstd", "rl.mean_augmented")
    assert sorted(lstd) == sorted(plain)


TABLES = """name = "tables"
[simulation]
[trackers]
built_in = ["baseline", "hwu"]
[reward]
fill = ["argmax"]
[value]
estimators = ["lstd", "mean_augmented", "live"]
"""


def study_of(folder: Path, more: str = "", changes: Sequence[str] = ()) -> StudySettings:
    path = folder / "study.toml"
    path.write_text(TABLES + more)
    return read_study(path, changes)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[value.lstd]\nwidht = 3.0", "line 10, key value.lstd.widht: unknown; did you mean 'width'?"),
        ("[value.lstd]\ntrees = 3", "lstd has no such option; fqe, fqe_augmented have"),
        ("[value.live]\nnu = 3.0", "key value.live.nu: unknown; live has no such option; "),
        ("[value.live]\nzzz = 3.0", "key value.live.zzz: unknown"),
        ("[value.mean_augmented]\ntrees = 3", "mean_augmented has no such option; fqe, fqe_augmented have"),
        ("[value.lsdt]\nwidth = 3.0", "line 9, key value.lsdt: no estimator; did you mean 'lstd'?"),
        ("trees = 3", "unknown; an option of fqe, fqe_augmented: write it into [value.<name>]"),
        ("[value.lstd]\nwidth = 0.0", "key value.lstd.width: out of range (expected a number > 0.0"),
        ("[value.lstd]\nwidth = 'wide'", "key value.lstd.width: wrong kind (expected a number, found"),
        ("[value.lstd]\nnu = 16.0", "key value.lstd: with this threshold nu no point would become a kernel"),
        ("[value.lstd]\nsparsification = 'removl'", "there is no 'removl'; did you mean 'removal'?"),
        ("[sensitivity.vary]\n'value.lstd.widht' = [3.0]", "did you mean 'width'?"),
        ("[sensitivity.vary]\n'seed' = [3]", "seed cannot be varied (expected a key of [policy], [reward]"),
        ("[policy]\nridge = 1.0", "an option of kernel_lspi, one_step: write it into [policy.one_step]"),
        ("[policy]\nlearner = 'one_stp'", "key policy.learner: there is no learner 'one_stp'"),
        ("[policy]\nlearner = ['imitation', 'imitation']", "key policy.learner: named twice"),
        ("[policy]\nbehaviour = 'svn'", "key policy.behaviour: there is no behaviour model 'svn'; did you"),
        ("[policy.svm]\nwidth = 1.0", "key policy.svm: not used: the study does not name it"),
        ("[policy.one_step]\ntrees = 1", "one_step has no such option; fitted_q has"),
        ("[policy.one_stp]\nridge = 1.0", "no learner or behaviour model; did you mean 'one_step'?"),
        ("[policy.features]\nridge = 1.0", "key policy.features"),
        (
            "[policy.fitted_q]\ntrees = 0",
            "key policy.fitted_q.trees: out of range (expected a whole number",
        ),
        ("[policy.kernel_lspi]\nprior = 'median'", "key policy.kernel_lspi.prior"),
        ("[policy.one_step]\nevaluation = 'monte'", "key policy.one_step.evaluation"),
        ("[policy.imitation]\nsampled = 1", "expected true or false"),
    ],
)
def test_a_mistake_in_a_table_of_options(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        study_of(tmp_path, more)


CHANGES = [
    ("reward.absent=emty", "there is no reward.absent 'emty'; did you mean 'empty'?"),
    ("reward.rigt=3", "--set: key reward.rigt: unknown; available: absent"),
    ("reward.amount=3", "key reward.amount: unknown; concepts has no such option; outcome has"),
    ("reward.kind=outcme", "there is no reward 'outcme'; did you mean 'outcome'?"),
    ("reward.kind.x=3", "--set: key reward.kind"),
    ("policy=3", "--set: key policy: wrong kind (expected a table"),
    ("name.x=3", "--set: key name.x: 'name' is not a table"),
    ("outcomes.names=['x']", "name a `file` of outcomes, or an `evaluator`, and not both"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_mistake_in_a_change(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        study_of(tmp_path, changes=[change])


def test_mistakes_of_options_and_names_at_once(tmp_path: Path) -> None:
    more = (
        "[value.lstd]\nwidth = 0.0\n[policy]\nlearner = 'lspi'\nfeatures = 'compacted'\n[reward.x]\ny = 1\n"
    )
    with pytest.raises(InputError) as raised:
        study_of(tmp_path, more, ["reward.when=first"])
    places = ("value.lstd.width", "'lspi'", "'compacted'", "reward.x")
    assert [place for place in places if place not in str(raised.value)] == []


DEFAULT = asdict(ESTIMATORS.get("lstd").settings)


def test_options_reach_the_estimator_by_name(tmp_path: Path) -> None:
    study = study_of(tmp_path, "[value.lstd]\nwidth = 3.0\nnu = 3.0\n[value.lstd_augmented]\nridge = 7")
    assert study.value.options["lstd"] == {**DEFAULT, "width": 3.0, "nu": 3.0}
    assert set(study.value.options) == {"lstd", "lstd_augmented", "fqe_augmented"}
    spec = variants_of(study, [])[0].spec
    lstd, mean = spec.estimator("lstd"), spec.estimator("mean_augmented")
    assert (lstd.settings.width, lstd.settings.nu, lstd.settings.ridge) == (3.0, 3.0, 100.0)  # type: ignore[attr-defined]
    assert mean.parts[0].settings.ridge == 7.0  # type: ignore[attr-defined]
    assert spec.estimator("live").name == "live"


def test_options_can_be_varied_and_set(tmp_path: Path) -> None:
    more = "[sensitivity.vary]\n'value.lstd.width' = [2.5, 3.0]"
    changed = study_of(tmp_path, more, ["value.lstd.nu=2.0", "sensitivity.target=rl.lstd"])
    variants = variants_of(changed, [])
    assert [variant.spec.estimator_options["lstd"] for variant in variants] == [
        {**DEFAULT, "nu": 2.0, "width": width} for width in (2.0, 2.5, 3.0)
    ]


def test_a_table_of_options_is_the_config_of_its_learner(tmp_path: Path) -> None:
    several = "[policy]\nlearner = ['kernel_lspi', 'fitted_q']\n[policy.kernel_lspi]\nridge = 7\n"
    policy = study_of(tmp_path, several).policy
    assert policy.learner.name == "kernel_lspi"
    assert [learner.make(LEARNERS) for learner in policy.learners] == [KernelLSPI(ridge=7.0), FittedQ()]
    assert policy.behaviour.name == "logistic" and policy.behaviour.options["penalty"] == 3.0
    plain = study_of(tmp_path).policy
    assert plain.learner.name == "one_step"
    assert plain == study_of(tmp_path, "[policy.one_step]\nridge = 100.0\n").policy


class Counting(msgspec.Struct, frozen=True):
    """A learner of somebody's own, with an option that has no default."""

    cells: Count
    depth: int | None = None
    layers: tuple[int, ...] = (2, 2)

    def fit(self, transitions: object, behaviour: object) -> None: ...


def test_the_options_of_a_learner_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A struct instead of a dataclass, and a name that is no identifier."""
    monkeypatch.setattr(LEARNERS, "_entries", {entry.name: entry for entry in LEARNERS.entries()})
    LEARNERS.register("my-learner", Counting, "counts")
    own = '[policy]\nlearner = "my-learner"\n'
    study = study_of(tmp_path, own + "[policy.my-learner]\ncells = 3\n")
    assert study.policy.learner.make(LEARNERS) == Counting(3)
    record = msgspec.json.encode(study.policy.learner)  # as a run keeps it
    assert msgspec.json.decode(record, type=Component) == study.policy.learner
    (tmp_path / "again.toml").write_text(settings_text(study))
    assert read_study(tmp_path / "again.toml") == study == pickle.loads(pickle.dumps(study))
    for options, said in (
        ("", "key policy.my-learner.cells: missing"),
        ("[policy.my-learner]\ncells = 0\n", "key policy.my-learner.cells: out of range"),
        ("[policy.my-learner]\ncels = 1\n", "did you mean 'cells'?"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            study_of(tmp_path, own + options)


def test_keys_of_earlier_versions_have_no_effect(tmp_path: Path) -> None:
    old = '[correlation]\ncoefficient = "pearson"\nresamples = 100\nsubsets = 5\n'
    assert study_of(tmp_path, old) == study_of(tmp_path)


def test_the_literal_study_has_one_kernel() -> None:
    """Lee: the same kernel in the learner, in the classifier and where policies are evaluated."""
    (path,) = (path for path in CONFIGS if path.stem == "lee2014_literal")
    settings = read_study(path)
    learner, svm = settings.policy.learner.options, settings.policy.behaviour.options
    assert settings.value.options["lstd"] == {key: learner[key] for key in DEFAULT}
    assert {key: svm[key] for key in ("height", "width")} == {"height": 4.0, "width": 3.0}
    assert (learner["height"], learner["width"], learner["nu"]) == (4.0, 3.0, 3.0)
    assert dict(settings.reward.options) == {"when": "terminal", "absent": "empty", "concepts": "slots"}


OWN_METRIC = """
from extrinsic.metrics.state_metrics import JointGoalAccuracy
from extrinsic.registry import ESTIMATORS, LEARNERS, METRICS

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
