"""Policies in files: what is kept with them, and what is refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.domain import load_domain
from extrinsic.errors import InputError, UsageError
from extrinsic.policy import policy_files
from extrinsic.policy.fitted_q import FittedQ
from extrinsic.policy.kept_policy import KeptPolicy, load_policy
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.states import States
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions
from tests.policy.decisions import drawn_decisions, states_of
from tests.policy.learning import behaviour_of


@pytest.fixture(scope="module")
def log() -> Transitions:
    return drawn_decisions(40)


@pytest.fixture(scope="module")
def elsewhere() -> States:
    return drawn_decisions(10, seed=5).states


@pytest.fixture(scope="module")
def kept(log: Transitions) -> KeptPolicy:
    return KeptPolicy.of(
        KernelLSPI(ridge=10.0).fit(log, behaviour_of(log)), log, KernelLSPI(ridge=10.0), "rl"
    )


@pytest.fixture
def file(kept: KeptPolicy, tmp_path: Path) -> Path:
    kept.save(tmp_path / "a.policy")
    return tmp_path / "a.policy"


@pytest.mark.parametrize("behaviour", ["logistic", "svm"])
@pytest.mark.parametrize("kind", ["lspi", "soft", "trees", "sl", "sl_sampled"])
def test_every_policy_of_a_study(
    kind: str, behaviour: str, log: Transitions, elsewhere: States, tmp_path: Path
) -> None:
    fitted = behaviour_of(log, behaviour)
    make: dict[str, Callable[[], Any]] = {
        "lspi": lambda: KernelLSPI().fit(log, fitted),
        "soft": lambda: KernelLSPI(temperature=5.0, largest=10, sparsification="growing").fit(log, fitted),
        "trees": lambda: FittedQ(trees=5).fit(log, fitted),
        "sl": lambda: SupervisedPolicy(fitted.model),
        "sl_sampled": lambda: SupervisedPolicy(fitted.model, sampled=True, threshold=0.05),
    }
    kept = KeptPolicy.of(make[kind](), log)
    kept.save(tmp_path / "policy")
    loaded = load_policy(tmp_path / "policy")
    assert loaded.probabilities(elsewhere).tobytes() == kept.probabilities(elsewhere).tobytes()


def test_what_made_it(file: Path) -> None:
    origin = load_policy(file).origin
    assert origin.policy == "rl"
    assert origin.learner is not None
    assert (origin.learner["kind"], origin.learner["ridge"]) == ("kernel_lspi", 10.0)
    assert origin.actions == ("act0", "act1", "act2")
    assert origin.columns == ("x0", "x1", "sign0", "sign1")
    assert (origin.n_dialogs, origin.n_decisions) == (40, 200)


def test_it_is_arrays_and_json(file: Path) -> None:
    """numpy opens it without pickle, and the text is JSON."""
    with np.load(file, allow_pickle=False) as members:
        text = json.loads(members["policy.json"])
        assert members["basis.centers"].shape[1] == 2
    assert text["policy"]["class"] == "extrinsic.policy.kernel_lspi:KernelPolicy"


def test_nothing_of_the_single_decisions_is_kept(file: Path, log: Transitions) -> None:
    with np.load(file, allow_pickle=False) as members:
        assert all(len(members[name]) < len(log) for name in members if name != "policy.json")


def test_logged_propensities_cannot_decide_elsewhere(log: Transitions) -> None:
    kept = KeptPolicy.of(KernelLSPI().fit(log, behaviour_of(log, "logged")), log)
    with pytest.raises(UsageError, match="the logged decisions only"):
        kept.encode()


def test_a_policy_of_some_other_module(log: Transitions) -> None:
    class Mine:
        def probabilities(self, states: Any, possible: Any = None) -> Any:
            return None

    with pytest.raises(UsageError, match="neither array, number, text nor dataclass"):
        KeptPolicy.of(Mine(), log).encode()
    with pytest.raises(UsageError, match="is not in the module of a registered"):
        KeptPolicy.of(SupervisedPolicy(Foreign()), log).encode()  # type: ignore[arg-type]


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The file with its members changed, as a whole zip."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def change_array(members: dict[str, bytes]) -> None:
    weights = np.lib.format.read_array(io.BytesIO(members["solution.weights.npy"]))
    stream = io.BytesIO()
    np.lib.format.write_array(stream, weights * 1.001)
    members["solution.weights.npy"] = stream.getvalue()


def change_text(old: str, new: str) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        text = members["policy.json"].decode()
        assert old in text
        members["policy.json"] = text.replace(old, new).encode()

    return change


def add_array(members: dict[str, bytes]) -> None:
    members["more.npy"] = members["solution.weights.npy"]


def pickled(members: dict[str, bytes]) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([{}], dtype=object), allow_pickle=True)
    members["solution.weights.npy"] = stream.getvalue()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_array, "changed after it was saved, or damaged: its check sum does not hold"),
        (change_text('"act1"', '"act9"'), "check sum"),
        (change_text('"temperature": 0.0', '"temperature": 9.0'), "check sum"),
        (add_array, "check sum"),
        (pickled, "damaged"),
        (change_text("extrinsic policy 1", "extrinsic policy 7"), "expected extrinsic policy 1"),
        (lambda members: members.pop("policy.json"), "this is no policy"),
        (lambda members: members.pop("solution.weights.npy"), "check sum"),
    ],
)
def test_a_file_that_was_tampered_with(file: Path, change: Any, message: str) -> None:
    rewritten(file, change)
    with pytest.raises(InputError, match=message) as raised:
        load_policy(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off(file: Path, part: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])
    with pytest.raises(InputError, match=r"cut off|empty"):
        load_policy(file)


def test_any_changed_byte_is_noticed(file: Path) -> None:
    """Wherever it lies: in an array, the text, or the zip's own records; a name's case may be harmless."""
    data = file.read_bytes()
    kept = load_policy(file).encode()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(data), 60).tolist():
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(0, 8))
        file.write_bytes(bytes(changed))
        try:
            same = load_policy(file).encode() == kept
        except InputError:
            continue
        assert same, place


def test_no_policy_at_all(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    for path in (tmp_path / "x", tmp_path / "missing"):
        with pytest.raises(InputError, match=r"no policy at all|no such file"):
            load_policy(path)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "extrinsic.storage:Repeated",
        "learner nobody:X",
        "extrinsic.policy.kernels:np",
        "subprocess:Popen",
    ],
)
def test_only_dataclasses_of_policies_are_made(
    name: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if somebody made the check sum hold again."""
    rewritten(file, change_text("extrinsic.policy.lstd:Solution", name))
    monkeypatch.setattr(policy_files, "_checksum", lambda head, arrays: "same")
    rewritten(file, lambda members: members.update({"policy.json": resigned(members["policy.json"])}))
    with pytest.raises(InputError, match="which is not here"):
        load_policy(file)


def test_a_part_that_another_version_had(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_files, "_checksum", lambda head, arrays: "same")
    rewritten(file, change_text('"prior":', '"before":'))
    rewritten(file, lambda members: members.update({"policy.json": resigned(members["policy.json"])}))
    with pytest.raises(InputError, match=r"another version of extrinsic\.policy\.lstd:Solution"):
        load_policy(file)


def resigned(text: bytes) -> bytes:
    return json.dumps({**json.loads(text), "checksum": "same"}).encode()


def test_states_of_other_features(kept: KeptPolicy) -> None:
    with pytest.raises(UsageError, match="lacking sign1; in addition x2"):
        kept.probabilities(states_of(np.zeros((2, 3)), np.zeros((2, 1))))
    turned = states_of(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(UsageError, match="the same in another order"):
        kept.probabilities(replace(turned, continuous_names=("x1", "x0")))


def test_a_task_of_other_actions(kept: KeptPolicy) -> None:
    """Everything that does not fit, at once."""
    with pytest.raises(UsageError) as raised:
        kept.live(load_domain("restaurants"))
    text = str(raised.value)
    assert "not made of a tracker's beliefs" in text
    assert "other actions than the task 'restaurants': lacking act0, act1, act2; in addition welcome" in text


@dataclass(frozen=True)
class Foreign:
    """Of a module that no other process would load."""
