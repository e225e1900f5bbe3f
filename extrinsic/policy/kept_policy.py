"""Policies that outlive their process: with what made them, saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from extrinsic import __version__
from extrinsic.arrays import Bools, Floats
from extrinsic.domain import Domain
from extrinsic.errors import InputError, Problem, UsageError, require_type
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.policy_files import policy_bytes, read_policy
from extrinsic.policy.source import NOWHERE, Source, hash_of_domain, plain_config
from extrinsic.policy.states import States, name_differences
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import LEARNERS
from extrinsic.signature import sign
from extrinsic.storage import write_atomic


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
        found: Mapping[str, float] = getattr(self.policy, "diagnostics", {})
        return found

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        columns = states.continuous_names + states.discrete_names
        if columns != self.origin.columns:
            raise UsageError(
                "the policy was learned from other features than these states have: "
                f"{name_differences(self.origin.columns, columns)}"
            )
        return self.policy.probabilities(states, possible)

    def live(self, domain: Domain) -> LivePolicy:
        """The policy in live play; UsageError with everything that does not fit the task."""
        source = self.origin.source
        features = source.feature_map()
        problems = []
        if features is None:
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
        if problems or features is None:
            raise UsageError(problems)
        return LivePolicy(features, self)

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
        return policy_bytes(self.policy, msgspec.to_builtins(self.origin))

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all."""
        write_atomic(path, self.encode())


def load_policy(path: str | Path) -> KeptPolicy:
    """A policy that was saved; InputError if the file is damaged, changed, or of another version."""
    require_type("path", path, "the path of a policy", str, Path)
    policy, origin = read_policy(path)
    try:
        return KeptPolicy(policy, msgspec.convert(origin, Origin))
    except msgspec.ValidationError as error:
        raise InputError(f"the policy's origin is of another version: {error}", path=str(path)) from None
