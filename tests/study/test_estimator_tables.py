"""[value.<estimator>] in a study: checked like the tables of learners, and followed by what is stored."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from extrinsic.errors import InputError
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.configuration.settings_toml import settings_text
from extrinsic.study.planning.variants import variants_of
from extrinsic.study.stages.policy_spec import PolicySpec
from extrinsic.value.q_function import KernelSettings

STUDY = """
name = "tables"
[simulation]
[trackers]
built_in = ["baseline", "hwu"]
[reward]
fill = ["argmax"]
[value]
estimators = ["lstd", "mean_augmented", "live"]
{value}
"""

DEFAULT = asdict(KernelSettings())
LITERAL = Path(__file__).resolve().parents[2] / "configs" / "lee2014_literal.toml"


def written(folder: Path, value: str) -> Path:
    path = folder / "study.toml"
    path.write_text(STUDY.format(value=value))
    return path


def first_spec(path: Path) -> PolicySpec:
    return variants_of(read_study(path), [])[0].spec


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[value.lstd]\nwidht = 3.0", "line 11, key value.lstd.widht: unknown; did you mean 'width'?"),
        (
            "[value.lstd]\ntrees = 3",
            "line 11, key value.lstd.trees: unknown; lstd has no such option; fqe, fqe_augmented have",
        ),
        ("[value.live]\nnu = 3.0", "key value.live.nu: unknown; live has no such option; "),
        ("[value.live]\nzzz = 3.0", "key value.live.zzz: unknown"),
        ("[value.mean_augmented]\ntrees = 3", "mean_augmented has no such option; fqe, fqe_augmented have"),
        ("[value.lsdt]\nwidth = 3.0", "line 10, key value.lsdt: no estimator; did you mean 'lstd'?"),
        (
            "trees = 3",
            "key value.trees: unknown; an option of fqe, fqe_augmented: write it into [value.<name>]",
        ),
        ("[value.lstd]\nwidth = 0.0", "key value.lstd.width: out of range (expected a number > 0.0"),
        ("[value.lstd]\nwidth = 'wide'", "key value.lstd.width: wrong kind (expected a number, found"),
        ("[value.lstd]\ngamma = 1.5", "key value.lstd.gamma"),
        ("[value.lstd]\nnu = 16.0", "key value.lstd: with this threshold nu no point would become a kernel"),
        ("[value.lstd]\nsparsification = 'removl'", "there is no 'removl'; did you mean 'removal'?"),
        ("[reward]\nabsent = 'emty'", "there is no reward.absent 'emty'; did you mean 'empty'?"),
        ("[reward]\nconcepts = 'slot'", "there is no reward.concepts 'slot'; did you mean 'slots'?"),
        ("[sensitivity.vary]\n'value.lstd.widht' = [3.0]", "did you mean 'width'?"),
    ],
)
def test_mistakes(tmp_path: Path, value: str, said: str) -> None:
    path = written(tmp_path, value)
    if value.startswith("[reward]"):
        path.write_text(path.read_text().replace("[reward]\nfill", "[reward]\n" + value[9:] + "\nfill", 1))
        path.write_text(path.read_text().removesuffix(value + "\n"))
    with pytest.raises(InputError) as raised:
        read_study(path)
    assert said in str(raised.value)


def test_options_reach_the_estimator(tmp_path: Path) -> None:
    spec = first_spec(
        written(tmp_path, "[value.lstd]\nwidth = 3.0\nnu = 3.0\n[value.lstd_augmented]\nridge = 7")
    )
    lstd, mean = spec.estimator("lstd"), spec.estimator("mean_augmented")
    assert (lstd.settings.width, lstd.settings.nu, lstd.settings.ridge) == (3.0, 3.0, 100.0)  # type: ignore[attr-defined]
    assert mean.parts[0].settings.ridge == 7.0  # type: ignore[attr-defined]
    assert spec.estimator("live").name == "live"


def test_written_and_read_again(tmp_path: Path) -> None:
    settings = read_study(written(tmp_path, "[value.lstd]\nwidth = 3.0"))
    again = tmp_path / "again.toml"
    again.write_text(settings_text(settings))
    assert read_study(again) == settings
    assert settings.value.tables["lstd"] == {**DEFAULT, "width": 3.0}
    assert settings.value.tables["lstd_augmented"] == DEFAULT
    assert set(settings.value.tables) == {"lstd", "lstd_augmented", "fqe_augmented"}


def test_options_can_be_varied_and_set(tmp_path: Path) -> None:
    path = written(tmp_path, "[sensitivity.vary]\n'value.lstd.width' = [2.5, 3.0]")
    changed = read_study(path, ["value.lstd.nu=2.0", "sensitivity.target=rl.lstd"])
    variants = variants_of(changed, [])
    assert [variant.spec.estimator_options["lstd"] for variant in variants] == [
        {**DEFAULT, "nu": 2.0, "width": width} for width in (2.0, 2.5, 3.0)
    ]


def test_the_literal_study_has_one_kernel() -> None:
    """Lee: the same kernel in the learner, in the classifier and where policies are evaluated."""
    settings = read_study(LITERAL)
    learner, svm = settings.policy.tables["kernel_lspi"], settings.policy.tables["svm"]
    lstd = settings.value.tables["lstd"]
    assert lstd == {key: learner[key] for key in DEFAULT}
    assert {key: svm[key] for key in ("height", "width")} == {"height": 4.0, "width": 3.0}
    assert (learner["height"], learner["width"], learner["nu"]) == (4.0, 3.0, 3.0)
    assert dict(settings.reward.options) == {"when": "terminal", "absent": "empty", "concepts": "slots"}
