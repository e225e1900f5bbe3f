"""What studies of metrics have in common: the verdict in points, of the panel of a run or of stored tables.

Every such study stores the same five tables, and its page shows them in the same form.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.figures import begin, plt, save
from experiments.main import Experiment, Made, Tables, make_run, require
from experiments.selection import Selection
from experiments.texts import number
from extrinsic.panel import FILE, MetricKey, Panel, Roles, System, Target
from extrinsic.study.settings_file import read_study
from extrinsic.verdict.bounds import AS_GOOD, RECOMMENDED, WORSE
from extrinsic.verdict.choice_table import DECLARED_FAMILY, Declaration, choice_rows
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.findings import panel_findings
from extrinsic.verdict.names import (
    BEHAVIOUR,
    Name,
    in_unit,
    is_higher_better,
    is_share,
    metric_title,
    target_title,
    unit_title,
)
from extrinsic.verdict.rows import ChoiceRow
from extrinsic.verdict.verdict import study_verdict

NEAR_DUPLICATE = 0.98
"""That of the configs: trackers that agree so much count as one."""

DECLARATION = Declaration(seed=1)
"""As the configs have it: the ten usual metrics, and the seed of their resamples."""

FEW = 10
COLOURS = {RECOMMENDED: "#009E73", AS_GOOD: "#56B4E9", WORSE: "#D55E00"}
GREY = "#777777"


class Judged(ChoiceRow, frozen=True, kw_only=True):
    """A row of choices.csv of a run, over core trackers; case: which of the study's panels it is of.

    Of the exploratory metrics those FEW that lose least.
    """

    case: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one target of a panel, over core systems.

    metric, bound: to choose by, and what that loses at most among other systems; empty where nothing can be
    promised.   lost, possible: what a choice between two by it loses here, and what a coin loses.
    log_share: of what a perfect choice earns, what choosing by the logged return earns.   needed: so many
    systems would bring the bound to half of the coin's loss.   unit: points, or share.
    """

    case: str
    target: str
    variant: str | None
    unit: str
    systems: int
    families: int
    datasets: int
    declared: int
    metric: str | None
    lost: float | None
    possible: float | None
    possible_corrected: float | None
    log_share: float | None
    bound: float | None
    needed: int | None
    as_good: str | None
    worse: str | None
    sentence: str


class FoundRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of Lee's findings, by one target, over core systems."""

    case: str
    target: str
    variant: str | None
    claim: str
    verdict: str
    numbers: str


class GainRow(msgspec.Struct, frozen=True, kw_only=True):
    """By how much one policy exceeds another: the mean over datasets and core systems, and its interval.

    low, high: Student's, over systems.   lowest, highest: of single systems.   above: how many are above 0;
    clearly: whose own interval over dialogs is, where both are valued on the same dialogs.
    """

    case: str
    variant: str | None
    more: str
    less: str
    mean: float
    low: float
    high: float
    lowest: float
    highest: float
    above: int
    clearly: int | None
    systems: int


class FlagRow(msgspec.Struct, frozen=True, kw_only=True):
    """How many values of a target carry a flag, of all systems and datasets."""

    case: str
    target: str
    variant: str | None
    flag: str
    count: int
    total: int


TABLES: dict[str, type[msgspec.Struct]] = {
    "choices": Judged,
    "answers": Answer,
    "findings": FoundRow,
    "gains": GainRow,
    "flags": FlagRow,
}


@dataclass(frozen=True)
class Case:
    """A run of the tool; config: a name or file, with changes; name: its folder among the runs."""

    name: str
    config: str | Path
    changes: tuple[str, ...] = ()


def nothing_stored(folder: Path) -> Mapping[str, Panel]:
    return {}


def nothing_first(arguments: argparse.Namespace) -> Made:
    return ()


def nothing_more(panels: Mapping[str, Panel], arguments: argparse.Namespace) -> Made:
    return ()


@dataclass(frozen=True)
class MetricStudy:
    """Which metric to choose by, by every target of its panels.

    cases: of the runs; stored(folder): panels of tables in the folder.   gains: pairs of targets.   data: of
    the corpora, what it needs.   own: further tables; first(arguments) makes those that panels are made of,
    more(panels, arguments) the others.   drawn: cases with targets in the figure; none: all.
    """

    folder: Path
    description: str | None
    targets: tuple[str, ...]
    cases: Mapping[str, Case] = field(default_factory=dict)
    stored: Callable[[Path], Mapping[str, Panel]] = nothing_stored
    gains: tuple[tuple[str, str], ...] = ()
    data: str = ""
    own: Mapping[str, type[msgspec.Struct]] = field(default_factory=dict)
    first: Callable[[argparse.Namespace], Made] = nothing_first
    more: Callable[[Mapping[str, Panel], argparse.Namespace], Made] = nothing_more
    values: Callable[[Tables], Mapping[str, object]] = lambda tables: {}
    decimals: Mapping[str, int] = field(default_factory=dict)
    drawn: tuple[tuple[str, str], ...] = ()

    @property
    def experiment(self) -> Experiment:
        def options(parser: argparse.ArgumentParser) -> None:
            parser.add_argument("--existing", action="store_true", help="run nothing: only what is in DIR")

        return Experiment(
            self.folder,
            self.description,
            {**self.own, **TABLES},
            self._compute,
            lambda tables: {**PAGE, **self.values(tables)},
            self._draw,
            self.decimals,
            options,
        )

    def _draw(self, tables: Tables, output: Path) -> None:
        answers = [
            row for row in tables["answers"].rows if not self.drawn or (row.case, row.target) in self.drawn
        ]
        draw_choices(tables["choices"], answers, output / f"{self.folder.name}.svg")

    def _compute(self, output: Path, arguments: argparse.Namespace) -> Made:
        if self.data and not arguments.existing:
            require(self.data)
        yield from self.first(arguments)
        panels = self.panels(output, arguments.runs, arguments.existing)
        before = self.experiment.read(output)
        for name, rows in (*self.more(panels, arguments), *self.judge(panels).items()):
            yield name, self._with_kept(before[name].rows, rows, panels)

    def _with_kept(
        self, before: Sequence[Any], rows: Sequence[Any], panels: Mapping[str, Panel]
    ) -> list[Any]:
        """What has a case that is not there now keeps the rows that it had."""
        kept = [row for row in before if hasattr(row, "case") and row.case not in panels]
        order = list(dict.fromkeys([*(case for case in panels if case not in self.cases), *self.cases]))
        return sorted([*kept, *rows], key=lambda row: order.index(row.case) if hasattr(row, "case") else 0)

    def panels(self, output: Path, runs: Path, existing: bool) -> dict[str, Panel]:
        panels = dict(self.stored(output))
        for case, each in self.cases.items():
            folder = runs / each.name
            if (folder / FILE).exists():
                panels[case] = Panel.from_run(folder)
            elif not existing:
                panels[case] = make_run(read_study(each.config, each.changes), folder).panel
        return panels

    def judge(self, panels: Mapping[str, Panel]) -> dict[str, list[Any]]:
        rows: dict[str, list[Any]] = {name: [] for name in TABLES}
        for case, panel in panels.items():
            trackers = core_rows(panel, NEAR_DUPLICATE)
            core = [row.tracker for row in trackers if row.core]
            rows["gains"] += gain_rows(case, panel, core, self.gains)
            rows["flags"] += flag_rows(case, panel, self.targets)
            for k in sorted(
                places_of(panel, self.targets), key=lambda k: self.targets.index(panel.targets[k].name)
            ):
                target, variant = panel.targets[k].name, panel.targets[k].variant
                logged = [j for j in places_of(panel, (BEHAVIOUR,)) if panel.targets[j].variant == variant]
                some = panel.take(targets=[k, *logged])
                made = [
                    row
                    for row in choice_rows(some, core, DECLARATION)
                    if (row.systems, row.target) == (CORE, target)
                ]
                kept = [Judged(**msgspec.structs.asdict(row), case=case) for row in made]
                rows["choices"] += few_exploratory(kept)
                rows["answers"].append(answer_of(case, some, trackers, made))
                rows["findings"] += [
                    FoundRow(
                        case=case,
                        target=target,
                        variant=variant,
                        claim=finding.claim,
                        verdict=finding.verdict,
                        numbers=finding.numbers,
                    )
                    for finding in panel_findings(some, core, 0, DECLARATION.seed)
                ]
        return rows


def few_exploratory(rows: Sequence[Judged]) -> list[Judged]:
    others = [row for row in rows if row.family != DECLARED_FAMILY and row.lost is not None]
    least = sorted(others, key=lambda row: row.lost or 0.0)[:FEW]
    return [row for row in rows if row.family == DECLARED_FAMILY] + least


def places_of(panel: Panel, names: Sequence[str]) -> list[int]:
    """Of some targets, not under settings that were only tried for comparison."""
    return [k for k, each in enumerate(panel.targets) if each.name in names and each.is_correlated]


def answer_of(case: str, panel: Panel, trackers: Sequence[Any], rows: Sequence[ChoiceRow]) -> Answer:
    (verdict,) = study_verdict(panel, trackers, rows).verdicts
    chosen = verdict.recommended
    return Answer(
        case=case,
        target=verdict.target,
        variant=verdict.variant,
        unit=verdict.unit,
        systems=verdict.n_systems,
        families=verdict.n_families,
        datasets=verdict.n_datasets,
        declared=verdict.n_declared,
        metric=chosen.title if chosen else None,
        lost=chosen.lost if chosen else None,
        possible=verdict.possible,
        possible_corrected=verdict.possible_corrected,
        log_share=verdict.log_share,
        bound=chosen.bound if chosen else None,
        needed=verdict.needed,
        as_good="; ".join(choice.title for choice in verdict.as_good) or None,
        worse="; ".join(choice.title for choice in verdict.worse) or None,
        sentence=verdict.sentence,
    )


def gain_rows(
    case: str, panel: Panel, core: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Iterator[GainRow]:
    from scipy.stats import ttest_1samp

    chosen = [panel.system(name) for name in core]
    places = {(target.name, target.variant): k for k, target in enumerate(panel.targets)}
    variants = dict.fromkeys(target.variant for target in panel.targets if target.is_correlated)
    for variant in variants:
        for more, less in pairs:
            if (more, variant) not in places or (less, variant) not in places:
                continue
            first, second = places[more, variant], places[less, variant]
            gain = (panel.values[first] - panel.values[second])[:, chosen].mean(axis=0)
            low, high = ttest_1samp(gain, 0.0).confidence_interval(0.95)
            errors = _errors(panel, first, second, chosen)
            yield GainRow(
                case=case,
                variant=variant,
                more=more,
                less=less,
                mean=float(gain.mean()),
                low=float(low),
                high=float(high),
                lowest=float(gain.min()),
                highest=float(gain.max()),
                above=int((gain > 0.0).sum()),
                clearly=None if errors is None else int((gain > 1.96 * errors).sum()),
                systems=len(gain),
            )


def _errors(panel: Panel, first: int, second: int, chosen: Sequence[int]) -> Any:
    """(n_systems,) standard errors over dialogs of the difference of two targets; None if unknown."""
    if {panel.targets[first].items, panel.targets[second].items} != {"dialogs"}:
        return None
    rows = [sum(each.items == "dialogs" for each in panel.targets[:k]) for k in (first, second)]
    apart = [part[rows[0]][chosen] - part[rows[1]][chosen] for part in panel.influence]
    return np.sqrt(sum((each**2).sum(axis=1) for each in apart)) / len(apart)


def flag_rows(case: str, panel: Panel, targets: Sequence[str]) -> Iterator[FlagRow]:
    for k in places_of(panel, targets):
        counts = Counter(flag for note in panel.notes if note.target == k for flag in note.flags)
        for flag, count in sorted(counts.items()):
            yield FlagRow(
                case=case,
                target=panel.targets[k].name,
                variant=panel.targets[k].variant,
                flag=flag,
                count=count,
                total=len(panel.systems) * len(panel.datasets),
            )


def panel_of(
    rows: Sequence[Mapping[str, object]],
    metrics: Mapping[str, Name],
    targets: Mapping[str, tuple[str, str]],
    left_out: Sequence[str] = (),
    sampled: bool = False,
) -> Panel:
    """A panel of whole systems from rows with dataset, system, family and a column for each number.

    metrics: what a column is; targets: the name and variant of a column.   left_out: systems that are not of
    the core.   sampled: whether datasets are drawn from a population.
    """
    roles = Roles(metrics=tuple(metrics), outcomes=tuple(targets), dataset="dataset", family="family")
    panel = Panel.from_tables(rows, roles)
    return replace(
        panel,
        systems=tuple(
            System(each.name, each.family or None, ("degenerate",) if each.name in left_out else ())
            for each in panel.systems
        ),
        datasets=tuple(msgspec.structs.replace(each, sampled=sampled) for each in panel.datasets),
        metrics=tuple(
            MetricKey(*name, None, is_higher_better(name.metric), name.title()) for name in metrics.values()
        ),
        targets=tuple(
            Target(
                name,
                variant or None,
                name,
                "none",
                "share" if is_share(name) else "points",
                primary=rank == 0,
                rank=rank,
            )
            for rank, (name, variant) in enumerate(targets.values())
        ),
    )


# What pages show of it


def case_title(row: Answer) -> str:
    return ", ".join([row.case, *([row.variant.removeprefix("fill=")] if row.variant else [])])


def choices_table(rows: Selection[Judged], answers: Selection[Answer]) -> str:
    """Declared metrics, the smallest loss first: what a choice by each loses, and at most."""
    units = {(row.case, row.target, row.variant): row.unit for row in answers.rows}
    lines = ["| metric | loses | of a coin's | at most | group |", "|---|---|---|---|---|"]
    declared = [row for row in rows.rows if row.family == DECLARED_FAMILY and row.lost is not None]
    for row in sorted(declared, key=lambda row: row.lost or 0.0):
        unit = units[row.case, row.target, row.variant]
        part = number((row.lost or 0.0) / (row.possible or 1.0))
        shown = (Name.of(row).title(), in_unit(row.lost, unit), part)
        lines.append(f"| {' | '.join(shown)} | {in_unit(row.bound, unit)} | {row.group or row.reason} |")
    return "\n".join(lines)


def share_table(rows: Selection[Judged], columns: Mapping[str, Mapping[str, str]]) -> str:
    """Declared metrics by case: the share of what a perfect choice earns; columns: title, and which rows."""
    by_column = {
        title: {Name.of(row).title(): row.share for row in rows.where(family=DECLARED_FAMILY, **which).rows}
        for title, which in columns.items()
    }
    names = list(dict.fromkeys(name for column in by_column.values() for name in column))
    lines = [f"| share of a perfect choice | {' | '.join(by_column)} |", "|---|" + "---|" * len(by_column)]
    for name in names:
        cells = (number(column.get(name)) for column in by_column.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def answers_table(answers: Sequence[Answer]) -> str:
    """A line for each verdict."""
    lines = [
        "| | target | trackers x datasets | choose by | loses | a coin loses | at most | as good |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in answers:
        chosen = (row.metric or "-") if row.bound is not None else f"({row.metric or '-'})"
        cells = (
            case_title(row),
            row.target,
            f"{row.systems} x {row.datasets}",
            chosen,
            in_unit(row.lost, row.unit),
            in_unit(row.possible, row.unit),
            in_unit(row.bound, row.unit) if row.bound is not None else "nothing promised",
            row.as_good or "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def row_of(rows: Selection[Judged], metric: str, **which: object) -> Judged:
    """The declared row of a metric, by the beginning of its name."""
    found = [row for row in rows.where(family=DECLARED_FAMILY, **which).rows if _is(row.metric, metric)]
    return min(found, key=lambda row: row.schedule)


def _is(printed: str, metric: str) -> bool:
    return printed == metric or printed.startswith((f"{metric}(", f"{metric.removesuffix(')')}, "))


PAGE: Mapping[str, object] = {
    "choices_table": choices_table,
    "share_table": share_table,
    "answers_table": answers_table,
    "row_of": row_of,
    "in_unit": in_unit,
}


def draw_choices(rows: Selection[Judged], answers: Sequence[Answer], path: Path) -> None:
    """A panel for each verdict: declared metrics, what a choice by each loses and may lose, and the coin."""
    if not answers:
        return
    begin(8.0)
    across = 4 if len(answers) > 3 else len(answers)
    down = -(-len(answers) // across)
    figure, panels = plt.subplots(down, across, figsize=(2.7 * across + 1.0, 2.5 * down), squeeze=False)
    for panel, answer in zip(panels.ravel(), answers, strict=False):
        which = {"case": answer.case, "target": answer.target, "variant": answer.variant}
        _draw_verdict(panel, rows.where(**which), answer)
    for panel in panels.ravel()[len(answers) :]:
        panel.set_visible(False)
    save(figure, path)


def _draw_verdict(panel: Any, rows: Selection[Judged], answer: Answer) -> None:
    scale = 100.0 if answer.unit == "share" else 1.0
    declared = [row for row in rows.rows if row.family == DECLARED_FAMILY and row.lost is not None]
    declared.sort(key=lambda row: -(row.lost or 0.0))
    coin = scale * (answer.possible or 0.0)
    for height, row in enumerate(declared):
        # Where nothing is promised, nothing stands out.
        colour = COLOURS.get(row.group or "", GREY) if row.bound is not None else GREY
        lost = scale * (row.lost or 0.0)
        if row.bound is not None:
            panel.hlines(height, lost, min(scale * row.bound, 1.3 * coin), color=colour, linewidth=1.4)
        panel.plot(lost, height, "o", color=colour, markersize=4)
    panel.axvline(coin, color="#000000", linewidth=0.8, linestyle=":")
    panel.set_xlim(0.0, 1.3 * coin or 1.0)
    panel.set_yticks(range(len(declared)), [metric_title(row.metric) for row in declared])
    # Which estimator it is stands in the text.
    title = target_title(answer.target).partition(" by ")[0]
    panel.set_title(f"{case_title(answer)}\n{title}", fontsize=8)
    panel.set_xlabel(f"lost {unit_title(answer.unit)} (dotted: a coin)")
