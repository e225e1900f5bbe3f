"""Domains: the slots of a task, the groups they form, and what the system's acts mean.

A domain is data: `bus.toml` and `restaurants.toml` come with the package, a user's own is a path.
"""

from extrinsic.domain.loading import built_in_domains, load_domain
from extrinsic.domain.task import DIRECTORY, Condition, Domain, PredicateRule, Slot

__all__ = ["DIRECTORY", "Condition", "Domain", "PredicateRule", "Slot", "built_in_domains", "load_domain"]
