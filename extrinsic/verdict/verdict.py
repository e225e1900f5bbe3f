"""The verdict of a study: which metric to use for each target, what may do as well, how sure that is.

The best set and its words, which are long, go with the choices that will replace them.

It rests on the best set over the core trackers, on trackers left out, and
on the flags of the values of its own target. 'May do as well' means one thing everywhere: in the best set,
not shown to be worse than another. Where trackers are crossed with generators, the set and the trackers left
out are those of `swap_stage`.

A metric is recommended under three conditions: the set rules out some other; a metric chosen without the
trackers it is tested on predicts them (that interval lies above 0); and the metric itself is shown to
predict: its interval for all metrics at once lies above 0. The first of the set for which this holds is the
one to use. Else nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median_low

import msgspec

from extrinsic.panel import Panel
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.health import HealthNote, carried_notes, health_notes, joint_only_trackers
from extrinsic.verdict.intervals import FEWEST_TO_EXTRAPOLATE
from extrinsic.verdict.names import (
    Counted,
    Name,
    counted,
    is_of_single_slots,
    listing,
    metric_title,
    symbol,
    target_title,
    variant_title,
    verdict_targets,
    with_interval,
)
from extrinsic.verdict.rows import BestSetRow, CompositeRow, CorrelationRow, TrackerRow


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
        told = [
            f"{verdict.sentence} How sure: {certainty(verdict)}." if verdict.metric else verdict.sentence
            for verdict in self.verdicts
        ]
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


def study_verdict(
    panel: Panel,
    trackers: Sequence[TrackerRow],
    best_set: Sequence[BestSetRow],
    composite: Sequence[CompositeRow],
    correlations: Sequence[CorrelationRow] = (),
) -> StudyVerdict:
    """From the panel of a run and the rows that were made of it."""
    verdicts: list[Verdict] = []
    core = [panel.system(row.tracker) for row in trackers if row.core]
    targets = [panel.targets[k].name for variant in panel.variants for k in panel.targets_of(variant)]
    joint_only = bool(joint_only_trackers(trackers))
    for target in verdict_targets(list(dict.fromkeys(targets))):
        rows = [
            row
            for row in best_set
            if row.target == target
            and row.trackers == CORE
            and not (joint_only and is_of_single_slots(Name.of(row)))
        ]
        variants = list(dict.fromkeys(row.variant for row in rows)) or [None]
        carried = {
            (row.variant, Name.of(row)): row.carried_by
            for row in correlations
            if row.carried_by
            and (row.target, row.trackers, row.scope, row.coefficient)
            == (target, CORE, "within", rows[0].coefficient if rows else "")
        }
        made = [_of_variant(target, variant, rows, composite, panel, core, carried) for variant in variants]
        verdicts += _merged(made)
    judged = list(dict.fromkeys(verdict.target for verdict in verdicts))
    return StudyVerdict(
        verdicts=tuple(verdicts),
        agreement=agreement(verdicts),
        health=(*health_notes(panel, trackers, judged), *carried_notes(correlations, judged)),
    )


def _of_variant(
    target: str,
    variant: str | None,
    rows: Sequence[BestSetRow],
    composite: Sequence[CompositeRow],
    panel: Panel,
    core: Sequence[int],
    carried: Mapping[tuple[str | None, Name], str | None],
) -> Verdict:
    of_variant = [row for row in rows if row.variant == variant]
    defined = [row for row in of_variant if row.r is not None]
    count = Counted.of(of_variant)
    inside = sorted((row for row in defined if row.in_set), key=lambda row: row.rank or 0)
    candidates = [Candidate.of(row, carried.get((variant, Name.of(row)))) for row in inside]
    n = len(core)
    left_out = [
        LeftOut(variant, row.r, row.low, row.high)
        for row in composite
        if (row.target, row.variant, row.trackers, row.method) == (target, variant, CORE, "best_single")
        and row.r is not None
    ]
    shown = _recommended(candidates, left_out)
    coefficient = of_variant[0].coefficient if of_variant else "pearson"
    reason = ""
    if not candidates:
        why = "too few for any correlation" if not defined else "at least 5 are needed"
        reason = f"{counted(n, 'tracker')}, {why}" if n < 5 else "no metric has a correlation"
    elif len(candidates) == len(defined) and len(defined) > 1:
        first = _first(candidates[0], coefficient, n)
        reason = f"any of the {count} may be the best; {first}"
        shown = None
    elif shown is None:
        reason = f"{_first(candidates[0], coefficient, n)}, but "
        reason += _why_none(target, candidates[0], inside[0].reason, left_out, coefficient)
    others = tuple(candidate for candidate in candidates if candidate is not shown)
    verdict = Verdict(
        target=target,
        target_title=target_title(target),
        variants=(variant,) if variant else (),
        coefficient=coefficient,
        n_trackers=n,
        n_generators=of_variant[0].n_generators if of_variant else None,
        n_metrics=count.metrics,
        n_schedules=count.schedules,
        metric=shown,
        others=others,
        more_trackers=_more_trackers(others, n),
        left_out=tuple(left_out),
        flags=tuple(_flags(target, variant, panel, core)),
        reason=reason,
    )
    return msgspec.structs.replace(verdict, sentence=sentence(verdict))


def _recommended(candidates: Sequence[Candidate], left_out: Sequence[LeftOut]) -> Candidate | None:
    """The first that is itself shown to predict: its interval is not withheld and lies above 0.

    None where trackers left out do not show it.
    """
    if any(part.includes_zero for part in left_out):
        return None
    shown = (candidate for candidate in candidates if candidate.low is not None and candidate.low > 0.0)
    return next(shown, None)


def _first(candidate: Candidate, coefficient: str, n: int) -> str:
    """`AvgP, last turn comes first over 12 trackers, r = .90 [.70, .99] for all metrics at once`."""
    r = f"{symbol(coefficient)} = {with_interval(candidate.r, candidate.low, candidate.high)}"
    at_once = " for all metrics at once" if candidate.low is not None else ""
    return f"{candidate.title} comes first over {counted(n, 'tracker')}, {r}{at_once}"


def _why_none(
    target: str, first: Candidate, reason: str | None, left_out: Sequence[LeftOut], coefficient: str
) -> str:
    for part in left_out:
        if part.includes_zero:
            r = f"{symbol(coefficient)} = {with_interval(part.r, part.low, part.high)}"
            return f"a metric chosen without the trackers it is tested on has {r}, which includes 0"
    text = f"no metric that may be the best is shown to predict {target_title(target)}"
    return f"{text} ({reason})" if reason and first.low is None else text


def _more_trackers(others: Sequence[Candidate], n: int) -> int | None:
    """How many more would rule out half of those that may do as well; of few trackers it cannot be told."""
    if n < FEWEST_TO_EXTRAPOLATE:
        return None
    needed = sorted(other.trackers_needed or float("inf") for other in others)
    if not needed or median_low(needed) == float("inf"):
        return None
    return int(median_low(needed)) - n


def _flags(target: str, variant: str | None, panel: Panel, core: Sequence[int]) -> Iterator[Flagged]:
    places = [k for k, each in enumerate(panel.targets) if (each.name, each.variant) == (target, variant)]
    counts = Counter(
        flag for note in panel.notes if note.target in places and note.system in core for flag in note.flags
    )
    total = len(core) * len(panel.datasets)
    for flag, n in counts.most_common():
        yield Flagged(flag, panel.words.get(flag, ""), n, total)


def _merged(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """One verdict where a metric that may be the best of each variant is shown to predict under all."""
    first = verdicts[0]
    if len(verdicts) == 1:
        return [first]
    if not any(verdict.decided for verdict in verdicts) and len({v.reason for v in verdicts}) == 1:
        variants = tuple(name for verdict in verdicts for name in verdict.variants)
        return [msgspec.structs.replace(first, variants=variants)]
    by_name = [{candidate.name: candidate for candidate in verdict.candidates} for verdict in verdicts]
    common = [name for name in by_name[0] if all(name in others for others in by_name[1:])]
    candidates = sorted(
        (_together([others[name] for others in by_name]) for name in common),
        key=lambda candidate: -candidate.r,
    )
    shown = _recommended(candidates, [part for verdict in verdicts for part in verdict.left_out])
    if shown is None:
        return list(verdicts)
    others = tuple(candidate for candidate in candidates if candidate is not shown)
    flags: dict[str, Flagged] = {}
    for flag in (flag for verdict in verdicts for flag in verdict.flags):
        before = flags.get(flag.flag, Flagged(flag.flag, flag.meaning, 0, 0))
        n, total = before.n + flag.n, before.total + flag.total
        flags[flag.flag] = Flagged(flag.flag, flag.meaning, n, total)
    merged = msgspec.structs.replace(
        first,
        variants=tuple(name for verdict in verdicts for name in verdict.variants),
        metric=shown,
        others=others,
        more_trackers=_more_trackers(others, first.n_trackers),
        left_out=tuple(part for verdict in verdicts for part in verdict.left_out),
        flags=tuple(flags.values()),
    )
    return [msgspec.structs.replace(merged, sentence=sentence(merged))]


def _together(parts: Sequence[Candidate]) -> Candidate:
    """A metric under several variants: the mean of r, and what all of its intervals cover."""
    lows = [part.low for part in parts if part.low is not None]
    highs = [part.high for part in parts if part.high is not None]
    whole = len(lows) == len(highs) == len(parts)
    needed = [part.trackers_needed for part in parts if part.trackers_needed is not None]
    return msgspec.structs.replace(
        parts[0],
        r=fmean(part.r for part in parts),
        low=min(lows) if whole else None,
        high=max(highs) if whole else None,
        trackers_needed=min(needed, default=None),
        carried_by=next((part.carried_by for part in parts if part.carried_by), None),
    )
