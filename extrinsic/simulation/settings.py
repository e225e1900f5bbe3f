"""Tables of settings that worlds have in common."""

from __future__ import annotations

from typing import Annotated

import msgspec

from extrinsic.simulation.drawn_worlds import Property

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Amount = Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]
Endless = Annotated[float, msgspec.Meta(gt=0.0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of settings, each with its default."""


class RecogniserSettings(Settings, frozen=True):
    """How speech is misunderstood. A caller's error level is a draw from a Beta distribution."""

    noise: Amount = 1.0
    """Multiplies every caller's error level; 0 hears what was said, with score 1."""
    error: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] = 0.40
    """Mean error level: how often the best hypothesis has a said value wrong."""
    concentration: Positive = 5.0
    """Of the Beta distribution: the larger, the more alike callers are."""
    in_list: Share = 0.60
    """How often a value missing from the best hypothesis is further down, in a list long enough."""
    longest: Annotated[int, msgspec.Meta(ge=1, le=10)] = 7
    lengthens: Amount = 2.0
    """How much longer lists get with the error level."""
    single: Share = 0.0
    """A list whose best hypothesis is right ends with it; a quarter as often where it is wrong."""
    long_lists: Share = 0.0
    """An informing list with a wrong value continues beyond `longest`; a tenth as often where the value is
    right. Its length has a heavy tail: P(more than x times `longest`) = x^-1.5."""
    longest_list: Annotated[int, msgspec.Meta(ge=1, le=64)] = 64
    """The maximum length of those."""
    rejects: Share = 0.0
    """Probability that nothing is understood of an utterance: twice this, times the error level."""
    persistence: Share = 0.6
    """Probability that a misheard value is confused with the same value as before."""
    keeps: Share = 0.5
    """A value right in the best hypothesis is right in a further one, too."""
    deletion: Share = 0.10
    insertion: Share = 0.10
    cross_slot: Share = 0.12
    yes_no: Share = 0.25
    """These four, times the error level: a value is lost, added, put in another slot; yes taken for no."""
    discrimination: Share = 0.5
    """How well the scores separate right from wrong: 0 not at all, 1 as well as possible."""
    boldness: Positive = 1.0
    """Above 1 the best hypothesis gets a larger share of the score, right or wrong."""


RECOGNISER_PROPERTIES = (
    Property(
        "noise",
        "how often the best hypothesis has a said value wrong",
        0.01,
        0.9,
        (0.15, 0.5),
        lambda value: {"recogniser": {"error": value}},
    ),
    Property(
        "calibration",
        "how well the scores separate right from wrong: 0 not at all, 1 as well as possible",
        0.0,
        1.0,
        (0.0, 1.0),
        lambda value: {"recogniser": {"discrimination": value}},
    ),
    Property(
        "boldness",
        "above 1 the best hypothesis gets a larger share of the score",
        0.1,
        20.0,
        (0.7, 4.0),
        lambda value: {"recogniser": {"boldness": value}},
    ),
)
"""Properties that worlds with a recogniser can be drawn by."""
