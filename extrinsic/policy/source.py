"""What transitions were made from: a policy that is kept says what it was learned on."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

import msgspec

from extrinsic.domain import Domain
from extrinsic.policy.features import Features
from extrinsic.registry import Registry
from extrinsic.storage import content_hash


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where decisions come from; None where that is not known.

    features, conditions: the map from beliefs to states; None for states that are not made of beliefs.
    domain, domain_hash: the task.   tracker: whose beliefs.   dataset, corpus: the dialogs, and their hash.
    reward: its kind and its options, as in [reward]; None for one that is not registered.
    """

    features: tuple[str, ...] | None = None
    conditions: bool = True
    domain: str | None = None
    domain_hash: str | None = None
    tracker: str | None = None
    dataset: str | None = None
    corpus: str | None = None
    reward: dict[str, Any] | None = None

    def feature_map(self) -> Features | None:
        return None if self.features is None else Features(self.features, self.conditions)


NOWHERE = Source()
"""The source of decisions that somebody made up."""


def hash_of_domain(domain: Domain) -> str:
    return content_hash(msgspec.json.encode(domain))


def plain_config(registry: Registry[Any], config: object) -> dict[str, Any] | None:
    """A config of a registered kind as its kind and options; None for any other."""
    if not is_dataclass(config) or isinstance(config, type):
        return None
    for name, kind in registry.imported():
        if kind is type(config):
            return {"kind": name, **asdict(config)}
    return None
