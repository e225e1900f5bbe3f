"""Settings of the parts of the bus world: goals, callers, system and expert."""

from __future__ import annotations

from typing import Literal

from extrinsic.simulation.settings import Amount, Count, Endless, Positive, Settings, Share


class GoalSettings(Settings, frozen=True):
    """What callers want. A place is a stop, a neighborhood or a monument; the others may be absent."""

    stop: Share = 0.60
    neighborhood: Share = 0.25
    route: Share = 0.35
    date: Share = 0.30
    time: Share = 0.90
    usual: Share = 0.15
    """Share of the times (dates) that are "now" (today or tomorrow)."""


class CallerSettings(Settings, frozen=True):
    """How callers behave. Annoyances are counted in turns of patience."""

    patience: Endless = 14.0
    """Turns until the average caller hangs up; `inf` for callers who never do."""
    patience_shape: Positive = 4.0
    """The larger, the more alike callers are in patience."""
    answers: Share = 0.95
    """Probability of answering at all."""
    opens_with: Share = 0.50
    """At an open question: each further thing wanted is said too."""
    over_informs: Share = 0.20
    """At any other question: the same."""
    corrects_denied: Share = 0.60
    """Having said no to a confirmation, says the right value too."""
    notices_implicit: Share = 0.75
    """Objects to a wrong implicit confirmation."""
    changes_goal: Share = 0.01
    """Per turn: wants something else than before."""
    another_bus: Share = 0.30
    """After a right offer, asks for the next bus."""
    leaves_content: Share = 0.20
    """Hangs up as soon as the right bus was named."""
    annoyed_by_wrong_confirmation: Amount = 0.5
    annoyed_by_wrong_implicit: Amount = 1.0
    annoyed_by_wrong_offer: Amount = 2.0
    annoyed_by_repetition: Amount = 1.0
    starts_over: Share = 0.0
    """Per turn, once half of the patience is used: asks to start over. Lee leaves such calls out."""
    undoes: Share = 0.0
    """Objects to an implicit confirmation or an offer by "go back" alone, not by a no and the right value."""
    browses: Share = 0.0
    """After an offer of the right bus, asks at once for the next or previous one, or to hear it again."""
    browses_back: Share = 0.10
    browses_again: Share = 0.20
    """Of those requests: for the previous bus, and to hear the same again."""
    says_bye: Share = 0.0
    """A caller who leaves because the right bus was named says so, and hangs up a turn later."""


class SystemSettings(Settings, frozen=True):
    """The abilities and needs of the system, for every policy."""

    opening: Literal["open", "directed"] = "open"
    """The greeting asks how it may help; or, directed, for the first of `required`."""
    required: tuple[str, ...] = ("from", "to", "time")
    """The groups that it requests, in this order, and in which an offer has to be right."""
    unless_next_bus: tuple[str, ...] = ()
    """Further ones, requested if the caller does not want the next few buses."""
    next_bus: Literal["after", "before"] = "after"
    """When it asks for the next bus: after an offer, for a further one; or before the first one, instead of
    asking for `unless_next_bus`."""
    hangs_up: bool = True
    """Whether it can say goodbye. If not, calls last until the caller has had enough."""
    help: bool = False
    """After an offer it only understands what callers say to browse: where it hears nothing of that, it says
    so ("you can say repeat, next, previous"), and offers no more until it does."""
    ignores: Share = 0.0
    """A value scored below this counts as missing: it is requested, and neither confirmed nor offered."""
    accepts: Share = 0.3
    """A request to browse counts if its score is at least this."""


class ExpertSettings(Settings, frozen=True):
    """How the system that made the corpus decides, on its own tracker's scores."""

    main: Share = 0.85
    exploration: Share = 0.08
    """Share of random decisions among the possible ones; what main leaves besides is the second choice."""
    trusts: Share = 0.70
    """A value scored below this is confirmed explicitly before anything else."""
    offers: Share = 0.80
    """A required value scored below this is confirmed before an offer."""
    knows: Share = 0.90
    """A value scored below this is confirmed implicitly, while asking for the next; 0: never."""
    asks_again: Count = 2
    """How often it asks for the same thing before it goes on without."""
    gives_up: Count = 22
    """The turn at which it says goodbye in any case."""
