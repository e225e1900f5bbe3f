"""Policies that outlive their process, with what made them, as records.

A policy is a dataclass of arrays, numbers, texts, and such dataclasses. Its record has the class of each and
its fields, the arrays by name. Only classes of `extrinsic.policy`, and those beside a registered learner
or behaviour model, are made from a file; types, shapes and ranges are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic import __version__
from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.domain import Domain
from extrinsic.errors import ExtrinsicError, InputError, Problem, UsageError, require_type
from extrinsic.policy.features import Features, States, name_differences
from extrinsic.policy.learner import LivePolicy, StatePolicy
from extrinsic.policy.transitions import NOWHERE, Source, Transitions, hash_of_domain, plain_config
from extrinsic.records import decode_record, encode_record, is_record
from extrinsic.registry import BEHAVIOURS, LEARNERS, Registry
from extrinsic.storage import read_bytes, sign, write_atomic

RECORD = "policy"
OLD_FORM = b"PK"
"""The first saved policies were zips of arrays and JSON."""

OURS = "extrinsic.policy."
HOMES: dict[str, Registry[Any]] = {"learner": LEARNERS, "behaviour": BEHAVIOURS}


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What made a policy.

    version: of extrinsic.   policy: rl, sl or sl_sampled in a study.   learner: its kind and options.
    actions: what it chooses from.   continuous, discrete: the columns of its states.
    n_dialogs, n_decisions: how much it learned from.   source: from which dialogs, tracker and features.
    """

    version: str = __version__
    policy: str | None = None
    learner: dict[str, Any] | None = None
    actions: tuple[str, ...]
    continuous: tuple[str, ...]
    discrete: tuple[str, ...]
    n_dialogs: int
    n_decisions: int
    source: Source = NOWHERE

    @property
    def columns(self) -> tuple[str, ...]:
        return self.continuous + self.discrete


@dataclass(frozen=True, eq=False)
class KeptPolicy:
    """A policy of states with its origin; it decides as the policy does, and refuses other features."""

    policy: StatePolicy
    origin: Origin

    @staticmethod
    def of(
        policy: StatePolicy, learned_from: Transitions, learner: object = None, name: str | None = None
    ) -> KeptPolicy:
        """A policy that was just learned; learner: the config that learned it.   name: rl, sl, ..."""
        states = learned_from.states
        origin = Origin(
            policy=name,
            learner=plain_config(LEARNERS, learner),
            actions=learned_from.actions,
            continuous=states.continuous_names,
            discrete=states.discrete_names,
            n_dialogs=learned_from.n_dialogs,
            n_decisions=len(learned_from),
            source=learned_from.source,
        )
        return KeptPolicy(policy, origin)

    @property
    def diagnostics(self) -> Mapping[str, float]:
        diagnostics: Mapping[str, float] = getattr(self.policy, "diagnostics", {})
        return diagnostics

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        if states.names != self.origin.columns:
            raise UsageError(
                "the policy was learned from other features than these states have: "
                f"{name_differences(self.origin.columns, states.names)}"
            )
        return self.policy.probabilities(states, possible)

    def live(self, domain: Domain) -> LivePolicy:
        """The policy in live play; UsageError with everything that does not fit the task."""
        source, problems = self.origin.source, []
        if source.features is None:
            problems.append(
                Problem(
                    "the policy was learned from states that are not made of a tracker's beliefs, so it "
                    "cannot be played with one",
                    found=", ".join(self.origin.columns[:10]),
                )
            )
        if self.origin.actions != domain.predicate_names:
            different = name_differences(self.origin.actions, domain.predicate_names)
            problems.append(
                Problem(
                    f"the policy has other actions than the task {domain.name!r}: {different}",
                    expected=", ".join(self.origin.actions),
                    found=", ".join(domain.predicate_names),
                )
            )
        if problems or source.features is None:
            raise UsageError(problems)
        return LivePolicy(Features(source.features, source.conditions), self)

    def cautions(self, domain: Domain, tracker: str) -> list[str]:
        """What is allowed and should be known: another tracker, or a task that has changed."""
        source = self.origin.source
        cautions = []
        if source.tracker not in (None, tracker):
            cautions.append(f"learned on the tracker {source.tracker!r}, played on {tracker!r}")
        if source.domain_hash not in (None, hash_of_domain(domain)):
            cautions.append(f"the task {domain.name!r} differs from the one it was learned for")
        if self.origin.version != __version__:
            cautions.append(f"saved by extrinsic {self.origin.version}, this is {__version__}")
        return cautions

    @property
    def signature(self) -> str:
        origin, source = self.origin, self.origin.source
        return sign(
            policy=origin.policy,
            learner=None if origin.learner is None else origin.learner["kind"],
            features=None if source.features is None else "+".join(source.features),
            domain=source.domain,
            tracker=source.tracker,
            dataset=source.dataset,
            corpus=None if source.corpus is None else source.corpus[:12],
        )

    def encode(self) -> bytes:
        """The bytes of its file; equal policies give equal bytes."""
        arrays: dict[str, np.ndarray] = {}
        policy = _as_plain(self.policy, "", arrays)
        return encode_record(RECORD, (self.origin, policy), arrays)

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all."""
        write_atomic(path, self.encode())


def load_policy(path: str | Path) -> KeptPolicy:
    """A policy that was saved; InputError if the file is damaged, changed, or of another version."""
    require_type("path", path, "the path of a policy", str, Path)
    data, place = read_bytes(path), str(path)
    if data.startswith(OLD_FORM):
        raise InputError(
            "the policy was saved by an earlier version of extrinsic, in a form that is read no more: "
            "learn it again",
            path=place,
        )
    if not is_record(data):
        raise InputError("this is no policy", path=place, expected="a file that KeptPolicy.save wrote")
    (origin, content), arrays = decode_record(data, RECORD, tuple[Origin, Part], place)
    try:
        kept = KeptPolicy(_made(content, arrays), origin)
        _try_out(kept)
    except InputError as error:
        raise InputError(Problem(error.problems[0].message, path=place)) from None
    except (ExtrinsicError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"the policy does not fit together: {error}", path=place) from None
    return kept


def _try_out(kept: KeptPolicy) -> None:
    """Have it decide in one state: parts that do not fit fail here, not in the middle of a play."""
    origin = kept.origin
    state = States(
        np.zeros((1, len(origin.continuous))),
        np.zeros((1, len(origin.discrete)), dtype=np.int64),
        origin.continuous,
        origin.discrete,
    )
    chances = kept.probabilities(state)
    if chances.shape != (1, len(origin.actions)) or not np.isclose(chances.sum(), 1.0):
        raise ValueError(f"it gives {chances.shape} probabilities for {len(origin.actions)} actions")


class Array(msgspec.Struct, tag="array"):
    """An array, by its name in the record."""

    name: str


class Items(msgspec.Struct, tag="items"):
    items: list[Part]


class Object(msgspec.Struct, tag="object"):
    """A dataclass, or a mapping.

    kind: `module:class`, for one beside somebody's learner `learner <name>:class`; None for a mapping.
    """

    kind: str | None
    fields: dict[str, Part]


Part = None | bool | int | float | str | Array | Items | Object


def _as_plain(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Part:
    """A value as a tree; its arrays are put aside under their names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        arrays[name] = value
        return Array(name)
    if isinstance(value, tuple | list):
        return Items([_as_plain(item, f"{name}.{number}", arrays) for number, item in enumerate(value)])
    if isinstance(value, Mapping):
        entries = {str(key): _as_plain(item, f"{name}.{key}", arrays) for key, item in value.items()}
        return Object(None, entries)
    if not is_dataclass(value) or isinstance(value, type):
        raise UsageError(
            f"the policy cannot be kept: {name or 'it'} is neither array, number, text nor dataclass",
            found=type(value).__name__,
        )
    # What concerns the training data alone is left out.
    kept = value.for_keeping() if hasattr(value, "for_keeping") else value
    parts = {
        field.name: _as_plain(getattr(kept, field.name), f"{name}.{field.name}".lstrip("."), arrays)
        for field in fields(kept)
    }
    return Object(_class_name(type(value)), parts)


def _class_name(kind: type) -> str:
    if kind.__module__.startswith(OURS):
        return f"{kind.__module__}:{kind.__qualname__}"
    for home, registry in HOMES.items():
        for name, target in registry.imported():
            if target.__module__ == kind.__module__:
                return f"{home} {name}:{kind.__qualname__}"
    raise UsageError(
        f"the policy cannot be kept: the class {kind.__qualname__!r} is not in the module of a registered "
        "learner or behaviour model, so no other process would find it",
        found=kind.__module__,
    )


def _made(part: Part, arrays: Mapping[str, np.ndarray]) -> Any:
    """The inverse of `_as_plain`."""
    if isinstance(part, Array):
        return arrays[part.name]
    if isinstance(part, Items):
        return tuple(_made(item, arrays) for item in part.items)
    if not isinstance(part, Object):
        return part
    values = {name: _made(value, arrays) for name, value in part.fields.items()}
    if part.kind is None:
        return values
    target = _class_of(part.kind)
    names = [field.name for field in fields(target)]
    if names != list(values):
        different = name_differences(names, list(values))
        raise InputError(f"the policy was saved by another version of {part.kind}: {different}")
    for field in fields(target):
        value, expected = values[field.name], KINDS.get(getattr(field.type, "__name__", str(field.type)))
        kind = f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__
        if expected is not None and kind not in expected:
            raise InputError(f"{field.name} of {part.kind} is not of the kind {expected[0]}")
    return target(**values)


KINDS = {
    "Floats": ("float64 array",),
    "Ints": ("int64 array",),
    "Bools": ("bool array",),
    "float": ("float", "int"),
    "int": ("int",),
    "bool": ("bool",),
    "str": ("str",),
}
"""What a field must hold, by its annotation; others are judged by the class itself."""


def _class_of(name: str) -> Any:
    """The dataclass of a name, which must be ours or stand beside a registered learner."""
    where, _, kind = name.partition(":")
    home, _, registered = where.partition(" ")
    try:
        if home in HOMES:
            module = import_module(HOMES[home].get(registered).__module__)
        elif where.startswith(OURS):
            module = import_module(where)
        else:
            raise UsageError("classes of other packages are not made from files")
        target = vars(module).get(kind)
    except (ImportError, UsageError) as error:
        raise InputError(
            f"the policy needs {name}, which is not here: {error}; load its plugin first"
        ) from None
    if not (isinstance(target, type) and is_dataclass(target) and target.__module__ == module.__name__):
        raise InputError(f"the policy needs {name}, which is not here as a dataclass")
    return target
