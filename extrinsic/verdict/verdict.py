"""The verdict of a study: which metric to choose by for each target, and what that costs at most.

It is read off the rows of choices.csv, over the core systems; nothing decides a second time. The metric to
choose by is the one with the smallest bound on its loss among those declared beforehand, or a preferred one
that is as good: whatever metric is the best, choosing by this one costs at most its bound more. Where nothing
can be promised for other systems, the verdict says why, and still names the metric and what it loses here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from extrinsic.panel import Panel
from extrinsic.tables import plain
from extrinsic.verdict.bounds import AS_GOOD, RECOMMENDED, WORSE
from extrinsic.verdict.choice_table import DECLARED_FAMILY
from extrinsic.verdict.choices import choices
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.health import HealthNote, health_notes
from extrinsic.verdict.names import (
    BEHAVIOUR,
    Name,
    counted,
    in_unit,
    listing,
    metric_title,
    share,
    target_title,
    unit_title,
    variant_title,
    verdict_targets,
)
from extrinsic.verdict.rows import ChoiceRow, TrackerRow

NAMED = 4
"""How many metrics that are as good are named in a sentence."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A metric to choose by, for one target; lost, share, bound, group as in `ChoiceRow`."""

    metric: str
    schedule: int
    component: str
    label_scheme: str | None = None
    title: str
    family: str
    lost: float | None
    share: float | None
    bound: float | None
    group: str | None

    @classmethod
    def of(cls, row: ChoiceRow) -> Choice:
        shared = {name: getattr(row, name) for name in cls.__struct_fields__ if hasattr(row, name)}
        return cls(**shared, title=Name.of(row).title())

    @property
    def name(self) -> Name:
        return Name(self.metric, self.schedule, self.component)


class Flagged(msgspec.Struct, frozen=True):
    """How many of the values of a target carry a flag, and what it means."""

    flag: str
    meaning: str
    n: int
    total: int


class TargetVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one target, under one way of learning and rewarding.

    possible: what a perfect choice between two systems earns, and so what a coin loses; possible_corrected:
    without the noise of the values.   log_share: the share of it that choosing by the logged return earns.
    recommended: the metric to choose by; None where no metric can be judged, and `reason` says why.
    choices: the declared metrics, the smallest bound first.   needed: with so many systems the bound would be
    half of what a coin loses; None where it is, or where that cannot be told.
    reason: why nothing is promised for other systems; empty where something is.
    """

    target: str
    target_title: str
    variant: str | None
    unit: str
    n_systems: int
    n_families: int
    n_datasets: int
    n_declared: int
    possible: float | None = None
    possible_corrected: float | None = None
    log_share: float | None = None
    recommended: Choice | None = None
    choices: tuple[Choice, ...] = ()
    needed: int | None = None
    reason: str = ""
    flags: tuple[Flagged, ...] = ()

    @property
    def variant_title(self) -> str:
        return variant_title(self.variant)

    @property
    def promises(self) -> bool:
        """Whether less than a coin's loss is promised for other systems."""
        return self.recommended is not None and self.recommended.bound is not None

    @property
    def prefers(self) -> bool:
        """Whether another metric has a smaller bound: the recommended one is preferred, and as good."""
        least = min((choice.bound for choice in self.choices if choice.bound is not None), default=None)
        bound = self.recommended.bound if self.recommended else None
        return least is not None and bound is not None and least < bound

    @property
    def as_good(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if choice.group == AS_GOOD)

    @property
    def worse(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if choice.group == WORSE)

    @property
    def why_not(self) -> str:
        """Why nothing is promised, and with how many trackers something would be."""
        about = counted(self.needed, "tracker") if self.needed else ""
        more = f"; about {about} would bring the bound to half of what a coin loses" if about else ""
        return f"{self.reason}{more}"

    @property
    def sentence(self) -> str:
        """`Choose by L2, joint goal, every turn: in this study ... loses 1.0 of the 18.7 points ...`"""
        chosen = self.recommended
        if chosen is None:
            return f"No metric to choose by: {self.reason}."
        loses = f"loses {in_unit(chosen.lost, self.unit)} of the {in_unit(self.possible, self.unit)} "
        loses += f"{unit_title(self.unit)} that a coin loses"
        if not self.promises:
            here = f"In this study {chosen.title} {loses}."
            return f"Nothing can be promised for other trackers ({self.why_not}). {here}"
        named = counted(self.n_declared, "metric") if chosen.family == DECLARED_FAMILY else "all metrics"
        start = f"Choose by {chosen.title}"
        if self.prefers:
            start = f"{chosen.title[:1].upper()}{chosen.title[1:]} will do"
        text = (
            f"{start}: in this study a "
            f"choice between two trackers {loses}; for other trackers of this kind at most "
            f"{in_unit(chosen.bound, self.unit)} (95 %, {named})."
        )
        if self.as_good:
            text += f" As good: {listing(_short(self.as_good), NAMED)}."
        return text


def _short(choices: Sequence[Choice]) -> list[str]:
    """`JGA`, or with component and schedule where a metric is named twice."""
    titles = [metric_title(choice.metric) for choice in choices]
    return [
        title if titles.count(title) == 1 else choice.title
        for title, choice in zip(titles, choices, strict=True)
    ]


class Compromise(msgspec.Struct, frozen=True, kw_only=True):
    """One metric for all targets: the one whose worst bound over them is the smallest.

    most: that bound, in points where all targets are in points, else as a share of what a coin loses.
    """

    metric: str
    schedule: int
    component: str
    title: str
    most: float
    unit: str
    n_verdicts: int

    @property
    def sentence(self) -> str:
        every = f"One metric for all {self.n_verdicts}: {self.title}, "
        if self.unit == "coin":
            return f"{every}at most {share(self.most)} of what a coin loses, for each of them."
        most = f"{in_unit(self.most, self.unit)} {unit_title(self.unit)}"
        return f"{every}at most {most} more than the best for each."


class StudyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts of a study, the primary target first; one metric for all; and what its data lacks."""

    verdicts: tuple[TargetVerdict, ...]
    compromise: Compromise | None
    health: tuple[HealthNote, ...]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """A line for each target (and variant), and one for all."""
        lines = []
        for verdict in self.verdicts:
            targets = [each.target for each in self.verdicts]
            under = f", {verdict.variant_title}" if targets.count(verdict.target) > 1 else ""
            start = f"For {verdict.target_title} ({verdict.target}){under}: " if len(targets) > 1 else ""
            lines.append(start + verdict.sentence)
        return [*lines, *([self.compromise.sentence] if self.compromise else [])]

    def of_target(self, target: str | None = None, variant: str | None = None) -> TargetVerdict | None:
        """None: the primary target, its first variant."""
        for verdict in self.verdicts:
            if target in (None, verdict.target) and variant in (None, verdict.variant):
                return verdict
        return None


def study_verdict(panel: Panel, trackers: Sequence[TrackerRow], rows: Sequence[ChoiceRow]) -> StudyVerdict:
    """From the panel of a run and the rows made of it."""
    core = [panel.system(row.tracker) for row in trackers if row.core]
    by_case: dict[tuple[str, str | None], list[ChoiceRow]] = {}
    for row in rows:
        if row.systems == CORE:
            by_case.setdefault((row.target, row.variant), []).append(row)
    targets = [panel.targets[k].name for variant in panel.variants for k in panel.targets_of(variant)]
    cases = [
        case for name in verdict_targets(list(dict.fromkeys(targets))) for case in by_case if case[0] == name
    ]
    verdicts = tuple(_of_case(*case, by_case[case], panel, core) for case in cases)
    judged = list(dict.fromkeys(verdict.target for verdict in verdicts))
    return StudyVerdict(
        verdicts=verdicts,
        compromise=compromise(verdicts),
        health=tuple(health_notes(panel, trackers, judged)),
    )


def _of_case(
    target: str, variant: str | None, rows: Sequence[ChoiceRow], panel: Panel, core: Sequence[int]
) -> TargetVerdict:
    declared = [Choice.of(row) for row in rows if row.family == DECLARED_FAMILY]
    ordered = sorted(declared, key=_rank)
    chosen = next((row for row in rows if row.group == RECOMMENDED), None)
    reason = (chosen.reason or "") if chosen else next(filter(None, (row.reason for row in rows)), "")
    judged = chosen or next((row for row in rows if row.possible is not None), None)
    k = next(k for k, each in enumerate(panel.targets) if (each.name, each.variant) == (target, variant))
    families = [panel.systems[i].family or panel.names[i] for i in core]
    return TargetVerdict(
        target=target,
        target_title=target_title(target),
        variant=variant,
        unit=panel.targets[k].unit,
        n_systems=len(core),
        n_families=len(set(families)),
        n_datasets=len(panel.datasets),
        n_declared=len(declared),
        possible=judged.possible if judged else None,
        possible_corrected=judged.possible_corrected if judged else None,
        log_share=_log_share(panel, k, core),
        recommended=Choice.of(chosen) if chosen else None,
        choices=tuple(ordered),
        needed=chosen.needed if chosen else None,
        reason=reason or ("" if chosen else "no metric tells the trackers apart"),
        flags=tuple(_flags(panel, k, core)),
    )


def _rank(choice: Choice) -> tuple[bool, float, float]:
    """The recommended one first, then by bound, then by loss."""
    ends = [float("inf") if end is None else end for end in (choice.bound, choice.lost)]
    return choice.group != RECOMMENDED, ends[0], ends[1]


def _log_share(panel: Panel, k: int, core: Sequence[int]) -> float | None:
    """What choosing by the return of the logged dialogs earns, of what a perfect choice does."""
    target = panel.targets[k]
    place = next(
        (
            i
            for i, each in enumerate(panel.targets)
            if (each.name, each.variant) == (BEHAVIOUR, target.variant)
        ),
        None,
    )
    if place is None or target.name == BEHAVIOUR or not core:
        return None
    logged, values = (panel.values[i][:, list(core)] for i in (place, k))
    return plain(choices(logged[None], values).share[0]) if np.isfinite(logged).any() else None


def _flags(panel: Panel, k: int, core: Sequence[int]) -> Iterator[Flagged]:
    counts = Counter(
        flag for note in panel.notes if note.target == k and note.system in core for flag in note.flags
    )
    for flag, n in counts.most_common():
        yield Flagged(flag, panel.words.get(flag, ""), n, len(core) * len(panel.datasets))


def compromise(verdicts: Sequence[TargetVerdict]) -> Compromise | None:
    """The declared metric whose largest bound over all verdicts is the smallest; None without such a one."""
    if len(verdicts) < 2:
        return None
    units = {verdict.unit for verdict in verdicts}
    unit = units.pop() if len(units) == 1 else "coin"
    scales = [1.0 if unit != "coin" else verdict.possible or 0.0 for verdict in verdicts]
    cases = [
        {
            choice.name: choice.bound / scale
            for choice in verdict.choices
            if choice.bound is not None and scale > 0.0
        }
        for verdict, scale in zip(verdicts, scales, strict=True)
    ]
    worst = {
        name: max(case[name] for case in cases) for name in cases[0] if all(name in case for case in cases)
    }
    if not worst:
        return None
    # What is recommended for every target needs no compromise, a preferred metric for one.
    firsts = {verdict.recommended.name for verdict in verdicts if verdict.recommended}
    name = min(firsts & set(worst) if len(firsts) == 1 else worst, key=lambda name: worst[name])
    return Compromise(
        metric=name.metric,
        schedule=name.schedule,
        component=name.component,
        title=name.title(),
        most=worst[name],
        unit=unit,
        n_verdicts=len(verdicts),
    )
