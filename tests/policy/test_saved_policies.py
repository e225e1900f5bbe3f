"""Policies in files: what is kept with them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic import records
from extrinsic.corpus.domain import load_domain
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.fitted_q import FittedQ
from extrinsic.policy.imitation import SupervisedPolicy
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.saved_policies import (
    Array,
    Items,
    KeptPolicy,
    Object,
    Origin,
    Part,
    load_policy,
)
from extrinsic.policy.transitions import Transitions
from tests.policy.decisions import behaviour_of, drawn_decisions, states_of


@pytest.fixture(scope="module")
def log() -> Transitions:
    return drawn_decisions(40)


@pytest.fixture(scope="module")
def kept(log: Transitions) -> KeptPolicy:
    return KeptPolicy.of(
        KernelLSPI(ridge=10.0).fit(log, behaviour_of(log)), log, KernelLSPI(ridge=10.0), "rl"
    )


@pytest.fixture
def file(kept: KeptPolicy, tmp_path: Path) -> Path:
    kept.save(tmp_path / "a.policy")
    return tmp_path / "a.policy"


def test_what_made_it(file: Path, log: Transitions) -> None:
    """And nothing of the single decisions is kept."""
    origin = load_policy(file).origin
    assert origin.policy == "rl"
    assert origin.learner is not None
    assert (origin.learner["kind"], origin.learner["ridge"]) == ("kernel_lspi", 10.0)
    assert origin.actions == ("act0", "act1", "act2")
    assert origin.columns == ("x0", "x1", "sign0", "sign1")
    assert (origin.n_dialogs, origin.n_decisions) == (40, 200)
    (_, content), arrays = opened(file)
    assert content.kind == "extrinsic.policy.kernel_lspi:KernelPolicy"
    assert all(len(array) < len(log) for array in arrays.values())
    assert arrays["basis.centers"].shape[1] == 2


def test_what_cannot_be_kept(log: Transitions) -> None:
    class Mine:
        def probabilities(self, states: Any, possible: Any = None) -> Any:
            return None

    with pytest.raises(UsageError, match="neither array, number, text nor dataclass"):
        KeptPolicy.of(Mine(), log).encode()
    with pytest.raises(UsageError, match="is not in the module of a registered"):
        KeptPolicy.of(SupervisedPolicy(Foreign()), log).encode()  # type: ignore[arg-type]


Content = tuple[tuple[Origin, Object], dict[str, np.ndarray]]


def opened(path: Path) -> Content:
    return records.decode_record(path.read_bytes(), "policy", tuple[Origin, Object], "")


def field(part: Any, name: str) -> Object:
    """A part of a policy by its path."""
    for key in name.split("."):
        part = part.fields[key]
    assert isinstance(part, Object)
    return part


def array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Content], None]:
    return lambda content: content[1].update({name: change(content[1][name])})


def part(path: str, name: str, value: Part) -> Callable[[Content], None]:
    return lambda content: field(content[0][1], path).fields.update({name: value})


def of_kind(kind: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        field(content[0][1], "solution").kind = kind

    return change


def renamed(content: Content) -> None:
    fields = field(content[0][1], "solution").fields
    fields["before"] = fields.pop("prior")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *[
            (of_kind(kind), "which is not here")
            for kind in (
                "os:system",
                "subprocess:Popen",
                "extrinsic.storage:Repeated",
                "extrinsic.policy.kernels:np",
                "extrinsic.policy.nowhere:X",
                "learner nobody:X",
            )
        ],
        (renamed, "another version of extrinsic.policy.lstd:Solution: lacking prior; in addition before"),
        (part("solution", "prior", "high"), "prior of extrinsic.policy.lstd:Solution is not of the kind"),
        (part("solution", "weights", 3.0), "weights of .* is not of the kind"),
        (part("solution", "weights", Array("nothing")), "does not fit together"),
        (part("basis", "offsets", Items([0, 1])), "offsets of .* is not of the kind"),
        (part("basis.kernel", "width", -1.0), "must be positive"),
        (array("solution.weights", lambda weights: weights[1:]), "one weight for each kernel"),
        (array("solution.weights", lambda weights: weights.astype(np.float32)), "not of the kind float64"),
        (array("basis.centers", lambda centers: centers[:, 0]), "centers of Basis has the wrong shape"),
        (array("basis.centers", lambda centers: centers[1:]), "do not follow one another"),
        (array("basis.centers", lambda centers: centers[:, :1]), "does not fit together"),
        (array("basis.offsets", lambda offsets: offsets[::-1].copy()), "do not follow one another"),
        (array("behaviour.model.learned", lambda learned: learned + 7), "actions that do not exist"),
        (array("behaviour.model.model.intercept", lambda numbers: numbers[:1]), "intercept of _Fitted"),
    ],
)
def test_a_file_that_somebody_made(file: Path, change: Callable[[Content], None], message: str) -> None:
    """Its check sum holds, and still nothing but a policy that fits together is made of it."""
    content = opened(file)
    change(content)
    file.write_bytes(records.encode_record("policy", *content))
    with pytest.raises(InputError, match=message) as raised:
        load_policy(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", lambda nodes: np.zeros_like(nodes)),
        ("right", lambda nodes: nodes + 10**6),
        ("roots", lambda nodes: nodes - 1),
        ("column", lambda columns: np.where(columns >= 0, 99, columns)),
        ("value", lambda values: values[1:]),
    ],
)
def test_a_forest_that_leads_nowhere(name: str, change: Any, log: Transitions, tmp_path: Path) -> None:
    KeptPolicy.of(FittedQ(trees=3).fit(log, behaviour_of(log)), log).save(tmp_path / "trees")
    content = opened(tmp_path / "trees")
    array(f"forest.{name}", change)(content)
    (tmp_path / "trees").write_bytes(records.encode_record("policy", *content))
    with pytest.raises(InputError, match=r"forest|Forest"):
        load_policy(tmp_path / "trees")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *[(lambda data, share=share: data[: int(share * len(data))], "check sum") for share in (0.1, 0.999)],
        (lambda data: data + b"more", "check sum"),
        (lambda data: data.replace(b"record 1", b"record 7"), "this is no policy"),
        (lambda data: b"PK\x03\x04" + data, "saved by an earlier version of extrinsic.*learn it again"),
        (lambda data: b"hello", "this is no policy"),
        (lambda data: b"", "empty"),
        (lambda data: records.encode_record("policy", {"origin": 1}, {}), "not what it should be"),
        (lambda data: records.encode_record("score", 1, {}), "check sum"),
    ],
)
def test_a_file_that_is_none(file: Path, change: Callable[[bytes], bytes], message: str) -> None:
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(InputError, match=message):
        load_policy(file)
    with pytest.raises(InputError, match="no such file"):
        load_policy(file.with_name("missing"))


def test_a_task_that_does_not_fit(kept: KeptPolicy) -> None:
    with pytest.raises(UsageError, match="lacking sign1; in addition x2"):
        kept.probabilities(states_of(np.zeros((2, 3)), np.zeros((2, 1))))
    with pytest.raises(UsageError) as raised:
        kept.live(load_domain("restaurants"))
    text = str(raised.value)
    assert "not made of a tracker's beliefs" in text
    assert "other actions than the task 'restaurants': lacking act0, act1, act2; in addition welcome" in text


@dataclass(frozen=True)
class Foreign:
    """Of a module that no other process would load."""
