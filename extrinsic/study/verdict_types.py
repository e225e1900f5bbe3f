"""What a verdict is: the metric to use for a target, what may do as well, how sure that is; its words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from extrinsic.correlation.best_set import FEWEST_TO_EXTRAPOLATE
from extrinsic.study.health import HealthNote
from extrinsic.study.naming import Name, metric_title, symbol, variant_title
from extrinsic.study.number_texts import counted, listing, with_interval
from extrinsic.study.tables.metric_rows import BestSetRow


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that may be the best one.

    r, low, high: with the target, over core trackers; the interval holds for all metrics at once. Of several
    variants the mean r and the widest interval.
    trackers_needed: with so many trackers in all it would be ruled out; None where no number would do, or
    where the trackers are too few to tell.
    carried_by: the tracker that alone has half of the variance or more, if one has (under some variant).
    """

    metric: str
    schedule: int
    component: str
    title: str
    r: float
    low: float | None
    high: float | None
    trackers_needed: int | None
    carried_by: str | None = None

    @classmethod
    def of(cls, row: BestSetRow, carried_by: str | None) -> Candidate:
        shared = {name: getattr(row, name) for name in cls.__struct_fields__ if hasattr(row, name)}
        return cls(**shared, title=Name.of(row).title(), carried_by=carried_by)

    @property
    def name(self) -> Name:
        return Name(self.metric, self.schedule, self.component)

    @property
    def is_shown(self) -> bool:
        """Whether it is shown to predict anything: its interval is not withheld and lies above 0."""
        return self.low is not None and self.low > 0.0


class LeftOut(msgspec.Struct, frozen=True):
    """r, with its interval, of a metric that was chosen without the trackers it is tested on."""

    variant: str | None
    r: float
    low: float | None
    high: float | None

    @property
    def includes_zero(self) -> bool:
        return self.low is not None and self.low <= 0.0


class Flagged(msgspec.Struct, frozen=True):
    """How many of the values of a target carry a flag, and what it means."""

    flag: str
    meaning: str
    n: int
    total: int


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one target.

    variants: the ways of learning and rewarding that it is about; several only where they agree.
    metric: the one to use; None where nothing is decided, and `reason` says why.
    others: those that may do as well (are not shown to be worse), the highest correlation first.
    more_trackers: about so many more would rule out half of the others; None where no number would do, or
    where the trackers are too few to tell (FEWEST_TO_EXTRAPOLATE).
    n_generators: that trackers are crossed with; None where they are not.
    left_out: on trackers that the choice did not see, for each variant.
    """

    target: str
    target_title: str
    variants: tuple[str, ...]
    coefficient: str
    n_trackers: int
    n_generators: int | None = None
    n_metrics: int
    n_schedules: int
    metric: Candidate | None = None
    others: tuple[Candidate, ...] = ()
    more_trackers: int | None = None
    left_out: tuple[LeftOut, ...] = ()
    flags: tuple[Flagged, ...] = ()
    reason: str = ""
    sentence: str = ""

    @property
    def decided(self) -> bool:
        return self.metric is not None

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        return (self.metric, *self.others) if self.metric else ()

    @property
    def may_do_as_well(self) -> list[str]:
        """The metrics that may do as well on some schedule and component, without that one itself."""
        own = metric_title(self.metric.metric) if self.metric else ""
        titles = dict.fromkeys(metric_title(other.metric) for other in self.others)
        return [title for title in titles if title != own]

    @property
    def variant_title(self) -> str:
        return "; ".join(filter(None, map(variant_title, self.variants)))


class StudyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts of a study, the primary target first; whether they agree; and what its data lacks."""

    verdicts: tuple[Verdict, ...]
    agreement: str
    health: tuple[HealthNote, ...]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """What a person is told: a line for each target (and variant, where they differ), and how sure."""
        told = [f"{verdict.sentence}{_how_sure(verdict)}" for verdict in self.verdicts]
        if len(self.verdicts) > 1 and len(set(told)) == 1:
            return [told[0], *filter(None, (self.agreement,))]
        lines = []
        for verdict, text in zip(self.verdicts, told, strict=True):
            alone = len([other for other in self.verdicts if other.target == verdict.target]) == 1
            under = "" if alone else f", {verdict.variant_title}"
            lines.append(f"For {verdict.target_title} ({verdict.target}){under}: {text}")
        return [*lines, *filter(None, (self.agreement,))]


NAMED = 4
"""How many of the metrics that may do as well are named in a sentence."""


def sentence(verdict: Verdict) -> str:
    """`Use X. These N may do as well: ... . Not decided: ...`"""
    if verdict.metric is None:
        parts = [f"Not decided: {verdict.reason}."]
        if verdict.more_trackers is not None:
            parts.append(f"Ruling out half of what may be the best {_effort(verdict)}.")
        return " ".join(parts)
    parts = [f"Use {verdict.metric.title}."]
    others = verdict.may_do_as_well
    if others:
        parts.append(f"{may_do_as_well(len(others))}: {listing(others, NAMED)}.")
    else:
        parts.append(f"None of the {verdict.n_metrics - 1} other metrics does as well.")
    if verdict.others:
        parts.append(f"Not decided: which of them is the best; ruling out half of them {_effort(verdict)}.")
    return " ".join(parts)


def may_do_as_well(number: int) -> str:
    return "This one may do as well" if number == 1 else f"These {number} may do as well"


def _effort(verdict: Verdict) -> str:
    if verdict.more_trackers is not None:
        return f"would take about {counted(verdict.more_trackers, 'more tracker')}"
    n = verdict.n_trackers
    if n < FEWEST_TO_EXTRAPOLATE:
        return f"would take more trackers, and {counted(n, 'tracker')} cannot tell how many"
    return "is not a matter of more trackers like these"


def sample(verdict: Verdict, kind: str = "tracker") -> str:
    """`11 trackers`, or `19 trackers x 12 generators`."""
    trackers = counted(verdict.n_trackers, kind)
    return (
        trackers
        if verdict.n_generators is None
        else f"{trackers} x {counted(verdict.n_generators, 'generator')}"
    )


def certainty(verdict: Verdict) -> str:
    """`r = .93 [.61, .98] over 11 trackers, for all metrics at once; .75 [.20, .93] for a metric chosen
    without the trackers it is tested on`."""
    if verdict.metric is None:
        return ""
    chosen, several = verdict.metric, len(verdict.left_out) > 1
    over = "on average over" if several else "over"
    text = f"{symbol(verdict.coefficient)} = {with_interval(chosen.r, chosen.low, chosen.high)} {over} "
    text += sample(verdict) + (", for all metrics at once" if chosen.low is not None else "")
    tested = [
        with_interval(part.r, part.low, part.high) + (f" ({variant_title(part.variant)})" if several else "")
        for part in verdict.left_out
    ]
    if tested:
        text += f"; {listing(tested)} for a metric chosen without the trackers it is tested on"
    first = max(verdict.candidates, key=lambda candidate: candidate.r)
    if first.r > chosen.r:
        r = with_interval(first.r, first.low, first.high)
        unclear = "has no interval" if first.low is None else "includes 0"
        text += f"; {first.title} comes first with {r}, which {unclear}"
    if chosen.carried_by:
        text += f"; {chosen.carried_by} alone has half of the variance or more"
    return text


def _how_sure(verdict: Verdict) -> str:
    return f" How sure: {certainty(verdict)}." if verdict.metric else ""


def agreement(verdicts: Sequence[Verdict]) -> str:
    """Whether one metric may do as well as the best by every target."""
    targets = list(dict.fromkeys(verdict.target for verdict in verdicts))
    decided = [verdict for verdict in verdicts if verdict.decided]
    if len(targets) < 2 or not decided:
        return ""
    if len(decided) < len(verdicts):
        first = decided[0].metric
        assert first is not None
        sets = [{one.name for one in (*v.candidates, *v.others)} for v in verdicts]
        n_sets = sum(first.name in names for names in sets)
        return (
            f"Whether the targets agree is not decided; {first.title} may do as well as the best by "
            f"{n_sets} of the {len(verdicts)} verdicts, decided or not."
        )
    common = set.intersection(*({candidate.name for candidate in v.candidates} for v in decided))
    shared = [candidate.title for candidate in decided[0].candidates if candidate.name in common]
    if shared:
        return f"The targets agree: {shared[0]} may do as well as the best by each of them."
    by_verdict = [{metric_title(candidate.metric) for candidate in v.candidates} for v in decided]
    titles = dict.fromkeys(metric_title(candidate.metric) for candidate in decided[0].candidates)
    somewhere = [title for title in titles if all(title in named for named in by_verdict)]
    if somewhere:
        verb = "is" if len(somewhere) == 1 else "are"
        return (
            "The targets disagree: no metric on one schedule and component is among the best by all of them; "
            f"{listing(somewhere, NAMED)} {verb}, on one or another."
        )
    return "The targets disagree: no metric is among the best by all of them."
