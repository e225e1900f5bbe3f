"""Settings of the restaurant world: what diners want, how they behave, and how the expert decides."""

from __future__ import annotations

from extrinsic.simulation.settings import Amount, Count, Endless, Positive, Settings, Share


class SearchSettings(Settings, frozen=True):
    """What callers look for: the food, area and price range of some restaurant, as far as they care."""

    food: Share = 0.85
    area: Share = 0.70
    pricerange: Share = 0.60
    by_name: Share = 0.05
    """Looks for a restaurant that is known by its name."""
    impossible: Share = 0.10
    """Wants another food than that restaurant serves; there may be no such place."""
    phone: Share = 0.60
    addr: Share = 0.45
    postcode: Share = 0.20
    signature: Share = 0.05
    """What else a caller wants to know of the place."""


class DinerSettings(Settings, frozen=True):
    """How callers behave. Annoyances are counted in turns of patience."""

    patience: Endless = 12.0
    """Turns until the average caller hangs up; `inf` for callers who never do."""
    patience_shape: Positive = 4.0
    """The larger, the more alike callers are in patience."""
    answers: Share = 0.97
    """Probability of answering at all."""
    opens_with: Share = 0.40
    """At the greeting: each further thing wanted is said, too."""
    over_informs: Share = 0.08
    """At any other question: the same."""
    corrects_denied: Share = 0.60
    """Having said no to a confirmation, says the right value, too."""
    alternatives: Share = 0.15
    """Asks for another place after the first right one."""
    annoyed_by_wrong_confirmation: Amount = 0.5
    annoyed_by_wrong_offer: Amount = 1.5
    annoyed_by_repetition: Amount = 1.0


class HostSettings(Settings, frozen=True):
    """What the system that made the corpus trusts, and how the expert on it decides."""

    ignores: Share = 0.20
    """A value scored below this counts as missing, for every policy."""
    main: Share = 0.85
    exploration: Share = 0.08
    """Share of random decisions among the possible ones; what main leaves besides is the second choice."""
    trusts: Share = 0.60
    """A value scored below this is confirmed before anything else."""
    asks_again: Count = 2
    """How often it asks for the same thing before it goes on without."""
