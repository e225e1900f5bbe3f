"""Domains: the slots of a task, the groups they form, and what the system's acts mean.

A domain is data: `bus.toml` and `restaurants.toml` come with the package, a user's own is a path.
"""

from extrinsic.domain.loading import built_in_domains, load_domain
from extrinsic.domain.task import (
    CALLER,
    DIRECTORY,
    ENDED_BY,
    REWARD_CHOICES,
    SYSTEM,
    Condition,
    Domain,
    EndedBy,
    PredicateRule,
    Slot,
    UserActs,
)

__all__ = [
    "CALLER",
    "DIRECTORY",
    "ENDED_BY",
    "REWARD_CHOICES",
    "SYSTEM",
    "Condition",
    "Domain",
    "EndedBy",
    "PredicateRule",
    "Slot",
    "UserActs",
    "built_in_domains",
    "load_domain",
]
