"""Families of trackers: what they are made from, their parameters, and the values a population draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.trackers.candidate_features import FEATURE_SETS
from extrinsic.trackers.combinations import Tuned, composed
from extrinsic.trackers.protocol import AnyTracker

Setting = float | str
"""The value of a parameter."""


def steps(low: float, high: float, step: float) -> tuple[float, ...]:
    """low, low + step, ..., high, as they are printed."""
    count = round((high - low) / step)
    return tuple(round(low + number * step, 6) for number in range(count + 1))


@dataclass(frozen=True)
class Number:
    """A number between low and high; open_low: above low.   drawn: the values of a population.

    default: None for one that has to be given.
    """

    name: str
    default: float | None
    low: float
    high: float
    drawn: tuple[float, ...]
    what: str
    whole: bool = False
    open_low: bool = False

    @property
    def expected(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        begin = f"above {self.low:g}" if self.open_low else f"from {self.low:g}"
        return f"{kind} {begin} to {self.high:g}"

    def read(self, family: str, text: str) -> float:
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = None
        inside = value is not None and self.low <= value <= self.high
        if value is None or not inside or (self.open_low and value == self.low):
            raise UsageError(f"{family}: {self.name} is out of range", expected=self.expected, found=text)
        return value


@dataclass(frozen=True)
class Choice:
    """One of several words; any: it is not known here which there are."""

    name: str
    default: str
    drawn: tuple[str, ...]
    what: str
    any: bool = False

    @property
    def expected(self) -> str:
        return "a name" if self.any else " | ".join(self.drawn)

    def read(self, family: str, text: str) -> str:
        if not self.any and text not in self.drawn:
            raise UsageError(f"{family} has no {self.name} {text!r}; {did_you_mean(text, self.drawn)}")
        return text


Parameter = Number | Choice


@dataclass(frozen=True)
class Family:
    """A family of trackers.

    target: `module:class` of extrinsic.trackers.   parameters: of the class.   n_parts: how many trackers it
    is made of; drawn_parts: those that a population draws.   tunable: a rule, which may also be Tuned.
    recalibrating: parameters that leave the order of a belief as it is.
    """

    name: str
    target: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    n_parts: int = 0
    drawn_parts: tuple[str, ...] = ()
    tunable: bool = False
    in_populations: bool = True
    recalibrating: tuple[str, ...] = ()

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        return (*self.parameters, *(TUNING if self.tunable else ()))

    def make(self, parts: Sequence[AnyTracker], settings: dict[str, Setting]) -> AnyTracker:
        module, _, attribute = self.target.partition(":")
        kind: Any = getattr(import_module(f"extrinsic.trackers.{module}"), attribute)
        if self.n_parts:
            return composed(partial(kind, **settings), *parts)
        tuning: dict[str, Any] = {
            part.name: settings[part.name] for part in TUNING if self.tunable and part.name in settings
        }
        tracker: AnyTracker = kind(**{key: value for key, value in settings.items() if key not in tuning})
        return Tuned(tracker, **tuning) if tuning else tracker  # type: ignore[arg-type]

    @property
    def drawn_parts_in_order(self) -> list[tuple[str, ...]]:
        """The parts of members, in order of name: a mixture of A and B is also one of B and A."""
        drawn = sorted(self.drawn_parts)
        if self.n_parts < 2:
            return [(name,) for name in drawn] if self.n_parts else [()]
        return [(one, other) for number, one in enumerate(drawn) for other in drawn[number + 1 :]]

    @property
    def size(self) -> int:
        """How many distinct members a population can draw."""
        return len(self.drawn_parts_in_order) * prod(
            len(parameter.drawn) for parameter in self.all_parameters
        )


def _number(name: str, default: float | None, drawn: tuple[float, ...], what: str) -> Number:
    """A number from 0 to 1."""
    return Number(name, default, 0.0, 1.0, drawn, what)


TUNING = (
    Number(
        "trust", 1.0, 0.0, 1.0, steps(0.7, 1.0, 0.02), "share of the scores that it believes", open_low=True
    ),
    _number("threshold", 0.0, steps(0.0, 0.4, 0.05), "scores below this are not heard"),
    Number(
        "discount", 1.0, 0.0, 1.0, steps(0.9, 1.0, 0.01), "share of its memory kept a turn", open_low=True
    ),
)

_LEARNED = (
    Number("share", 1.0, 0.0, 1.0, steps(0.05, 1.0, 0.05), "of the training dialogs", open_low=True),
    Choice("features", "all", tuple(FEATURE_SETS), "which features it sees"),
)
_SEED = Number("seed", 0, 0, 2**31 - 1, tuple(range(100)), "of its sample and its draws", whole=True)
_PENALTY = Number(
    "penalty", 1.0, 0.0, 1e6, (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), "of the squared weights", open_low=True
)


def _leaf(default: int) -> Number:
    drawn = (1, 2, 5, 10, 20, 50, 100)
    return Number("leaf", default, 1, 10_000, drawn, "the fewest examples in a leaf", whole=True)


_RULE_PARAMETERS: dict[str, Parameter] = {
    "yarbus": _number(
        "consent", 0.0, steps(0.0, 1.0, 0.1), "what silence after an implicit confirmation says"
    ),
    "accumulate": _number("kept", 1.0, steps(0.1, 1.0, 0.1), "share of the sum kept at a turn with the slot"),
    "window": Number("size", 3, 1, 20, (1, 2, 3, 4, 5, 6), "how many turns with the slot", whole=True),
    "vote": Number("none", 0.5, 0.0, 10.0, steps(0.1, 2.0, 0.1), "votes for None", open_low=True),
    "rank_only": Number("none", 0.5, 0.0, 10.0, steps(0.1, 2.0, 0.1), "the weight of None", open_low=True),
    "confirm_aware": _number(
        "unconfirmed", 0.7, steps(0.2, 1.0, 0.05), "the highest score of an unconfirmed value"
    ),
    "confident_only": _number("accepts", 0.5, steps(0.1, 0.9, 0.05), "a score above this is accepted"),
}

RULES = tuple(
    Family(name, target, summary, (_RULE_PARAMETERS[name],) if name in _RULE_PARAMETERS else (), tunable=True)
    for name, target, summary in (
        ("focus", "rules:Focus", "what is heard replaces the old belief"),
        ("hwu", "evidence_rules:HeriotWatt", "evidence for and against each value"),
        ("yarbus", "evidence_rules:Yarbus", "rules for each hypothesis"),
        ("dempster_shafer", "evidence_rules:DempsterShafer", "Dempster's rule"),
        ("accumulate", "rules:Accumulate", "scores summed over turns"),
        ("window", "rules:Window", "scores summed over the last few turns"),
        ("noisy_or", "evidence_rules:NoisyOr", "right unless misheard every time"),
        ("vote", "rules:Vote", "one vote for every best hypothesis"),
        ("rank_only", "rules:RankOnly", "focus on ranks"),
        ("top_hypothesis", "rules:TopHypothesis", "focus on the best hypothesis"),
        ("confirm_aware", "rules:ConfirmAware", "high scores only once confirmed"),
        ("confident_only", "rules:ConfidentOnly", "the last value heard with a high score"),
        ("last_mention", "rules:LastMention", "the value heard last"),
        ("baseline", "rules:Baseline", "the most confident value so far"),
    )
)

BAYES = Family(
    "bayes",
    "evidence_rules:Bayes",
    "Bayes' rule for a goal that may change",
    (
        _number("confusion", None, steps(0.0, 0.6, 0.02), "share of what is heard that is confused"),
        _number("change", 0.05, (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5), "of the goal, in a turn"),
    ),
)

LEARNED = tuple(
    Family(name, f"candidate_classifiers:{kind}", f"learned: {summary}", (*_LEARNED, own, _SEED))
    for name, kind, summary, own in (
        ("logistic", "Logistic", "logistic regression", _PENALTY),
        ("random_forest", "RandomForest", "a random forest", _leaf(5)),
        ("gradient_boosting", "GradientBoosting", "gradient-boosted trees", _leaf(1)),
    )
)

_PARTS = (*(family.name for family in RULES), "bayes_none", "bayes_low", "bayes_high", "hwu_original")

MADE_OF_OTHERS = (
    Family(
        "mixture",
        "combinations:Mixture",
        "two trackers' beliefs, averaged",
        (_number("weight", None, steps(0.1, 0.9, 0.05), "of the first"),),
        n_parts=2,
        drawn_parts=_PARTS,
    ),
    Family(
        "delayed",
        "combinations:Delayed",
        "a tracker whose beliefs arrive late",
        (Number("turns", None, 1, 20, (1, 2, 3), "how late", whole=True),),
        n_parts=1,
        drawn_parts=_PARTS,
    ),
)

SHARE = "share of the items where it can be placed; below 0: removed from that share of those that have it"
DOSED = Family(
    "dosed",
    "dosed:Dosed",
    "a tracker with errors added or removed on purpose",
    (
        *(
            Number(name, 0.0, -1.0, 1.0, (0.0,), f"{what}: {SHARE}")
            for name, what in (
                ("wrong", "a right best value changes places with a wrong one"),
                ("missed", "a right best value changes places with None"),
                ("overshot", "None, nothing being right, changes places with a wrong value"),
                ("stale", "the right best value changes places with the one that was right before"),
            )
        ),
        Number(
            "temperature", 1.0, 0.01, 100.0, (1.0,), "b^(1/temperature), None included; below 1: too sure"
        ),
        _number("second", 0.0, (0.0,), "share of items whose scores below the best are scrambled"),
        Number("none", 0.0, -1.0, 1.0, (0.0,), "share of the values' scores given to None; below 0: back"),
        Choice("slot", "all", ("all",), "where: in one slot", any=True),
        Choice("turns", "all", ("all", "early", "late"), "where: in the first five turns, or after"),
        _number("clustered", 0.0, (0.0,), "share of dialogs whose errors in a slot are at all turns or none"),
    ),
    n_parts=1,
    in_populations=False,
    recalibrating=("temperature", "slot", "turns"),
)

FAMILIES = {family.name: family for family in (*RULES, BAYES, *LEARNED, *MADE_OF_OTHERS, DOSED)}
