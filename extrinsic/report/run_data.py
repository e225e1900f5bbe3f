"""A run as the report reads it: its tables, its settings, and what they say of every variant."""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from extrinsic.errors import InputError, Problems
from extrinsic.panel import Panel
from extrinsic.storage import read_bytes
from extrinsic.study.run import Run
from extrinsic.study.tables import TABLES, InfluenceRow, IntrinsicRow, ReturnRow, StabilityRow
from extrinsic.tables import read_rows
from extrinsic.verdict.health import joint_only_trackers
from extrinsic.verdict.names import Name, is_of_single_slots, variant_title
from extrinsic.verdict.rows import BestSetRow, CompositeRow, CorrelationRow, PairRow, Row, TrackerRow
from extrinsic.verdict.verdict import StudyVerdict, study_verdict

R = TypeVar("R", bound=Row)
V = TypeVar("V", BestSetRow, CompositeRow, CorrelationRow, InfluenceRow, PairRow, StabilityRow)

GROUPS = ("all", "core")

Values = dict[tuple[str, str], float]
"""By dataset and tracker."""


@dataclass(frozen=True)
class Tables:
    """The tables of a run, each by the struct of its rows; a table that was not read has none."""

    rows: Mapping[type[Row], list[Any]]

    def __getitem__(self, kind: type[R]) -> list[R]:
        return self.rows.get(kind, [])


def read_tables(folder: Path, kinds: Mapping[str, type[Row]] = TABLES) -> Tables:
    """Tables with texts that are safe to show; InputError names what is missing or damaged in any of them."""
    problems, rows = Problems(), {}
    for name, kind in kinds.items():
        try:
            rows[kind] = read_rows(folder / f"{name}.csv", kind, clean)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    return Tables(rows)


def clean(text: str) -> str:
    """Text that is valid in XML and fits on one line: hidden characters are replaced."""
    if text.isprintable():
        return text
    # Control, format (such as the right-to-left override), surrogate, unassigned, line separators.
    hidden = ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")
    signs = ("\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in hidden else sign for sign in text)
    return "".join(signs)


@dataclass(frozen=True, eq=False)
class VariantResults:
    """What the tables say of one variant (a fill rule; empty where the study has none) and a target.

    title: what people call the variant; empty where it is the only one.
    """

    tables: Tables
    variant: str
    target: str
    title: str = ""
    coefficient: str = "pearson"

    def rows(self, kind: type[V], group: str | None = None) -> list[V]:
        """The rows of a table about it, within datasets; group: of trackers, `all` or `core`; None: both."""
        return [
            row
            for row in self.tables[kind]
            if (row.variant or "", row.target, row.scope) == (self.variant, self.target, "within")
            and group in (None, row.trackers)
        ]

    @cached_property
    def ranked(self) -> dict[str, list[CorrelationRow]]:
        """By group of trackers, the rows whose correlation is defined, the best first."""
        rows = [row for row in self.rows(CorrelationRow) if row.coefficient == self.coefficient]
        defined = sorted((row for row in rows if row.r is not None), key=lambda row: -(row.r or 0.0))
        return {group: [row for row in defined if row.trackers == group] for group in GROUPS}

    @property
    def influence(self) -> list[InfluenceRow]:
        """Of single trackers among these, on correlations by the study's coefficient."""
        return [row for row in self.rows(InfluenceRow, self.group) if row.coefficient == self.coefficient]

    def n_trackers(self, group: str = "all") -> int:
        return sum(group == "all" or row.core for row in self.tables[TrackerRow])

    @property
    def heading(self) -> str:
        """The title before a sentence; empty where the variant is the only one."""
        return f"{self.title}: ".capitalize() if self.title else ""

    @property
    def groups(self) -> tuple[str, ...]:
        """Both groups, or one where leaving trackers out changes nothing."""
        return GROUPS if self.n_trackers("core") < self.n_trackers("all") else GROUPS[:1]

    @property
    def group(self) -> str:
        """The trackers that results rest on: the core, if it has any correlation."""
        return "core" if self.ranked["core"] else "all"

    @cached_property
    def sets(self) -> dict[Name, BestSetRow]:
        """The rows of the best set over these trackers."""
        return {Name.of(row): row for row in self.rows(BestSetRow, self.group)}

    @cached_property
    def judged(self) -> dict[Name, BestSetRow]:
        """Those of `sets` that the verdict is about: without single slots, where a tracker has none."""
        if not joint_only_trackers(self.tables[TrackerRow]):
            return self.sets
        return {name: row for name, row in self.sets.items() if not is_of_single_slots(name)} or self.sets

    @property
    def n_generators(self) -> int | None:
        """Of a study that crosses trackers with generators: then its best set is over both."""
        return next((row.n_generators for row in self.rows(BestSetRow)), None)


def variant_results(
    tables: Tables, coefficient: str = "pearson", target: str | None = None
) -> list[VariantResults]:
    """The results of every variant that was correlated, in the order of the study.

    target: None: the primary one, which alone has pairs of metrics.
    """
    rows = tables[CorrelationRow]
    variants = dict.fromkeys(row.variant for row in rows)
    titles = [variant_title(variant) if len(variants) > 1 else "" for variant in variants]
    return [
        VariantResults(tables, variant or "", target or rows[0].target, title, coefficient)
        for variant, title in zip(variants, titles, strict=True)
    ]


@dataclass(frozen=True)
class Study:
    """A run with everything the report shows.

    confidence: of the intervals, 0 to 1.   stages: how many results of each kind the run has.
    left_out: which dialogs the domain excludes, a sentence for each list.
    folder: the link from the page to the run's directory ("" if the page is there).
    """

    name: str
    description: str
    tables: Tables
    evidence: list[VariantResults]
    verdict: StudyVerdict
    coefficient: str
    confidence: float
    config: str
    signature: str
    versions: dict[str, str]
    stages: Counter[str]
    changed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    folder: str = ""

    @property
    def target(self) -> str:
        """The primary target; empty where nothing was correlated."""
        return self.evidence[0].target if self.evidence else ""

    @property
    def shown(self) -> list[VariantResults]:
        """The variants that are shown at once: the first, and all where their verdicts differ."""
        primary = [verdict for verdict in self.verdict.verdicts if verdict.target == self.target]
        return self.evidence if len(primary) > 1 else self.evidence[:1]

    @property
    def level(self) -> str:
        """The confidence level of the intervals in percent."""
        return f"{100 * self.confidence:g} %"

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.dataset for row in self.tables[IntrinsicRow]))

    @property
    def trackers(self) -> tuple[str, ...]:
        return tuple(row.tracker for row in self.tables[TrackerRow])

    @property
    def has_policies(self) -> bool:
        return any(row.policy != "outcome" for row in self.tables[ReturnRow])

    def metric_values(self, name: Name) -> Values:
        return {
            (row.dataset, row.tracker): row.value
            for row in self.tables[IntrinsicRow]
            if row.metric == name.metric and row.value is not None and Name.of(row) == name
        }


def centred(values: Values) -> Values:
    """The values less the mean of their dataset, as for correlations within datasets."""
    means = {}
    for dataset in {dataset for dataset, _ in values}:
        of_dataset = [value for (name, _), value in values.items() if name == dataset]
        means[dataset] = sum(of_dataset) / len(of_dataset)
    return {key: value - means[key[0]] for key, value in values.items()}


class _Correlation(msgspec.Struct, frozen=True):
    coefficient: str = "pearson"
    level: float = 0.95


class _Settings(msgspec.Struct, frozen=True):
    """The keys of config.toml that the report needs."""

    description: str = ""
    correlation: _Correlation = _Correlation()


def _clean(panel: Panel) -> Panel:
    """With the names that the rows of the tables have."""
    named = msgspec.structs.replace
    return replace(
        panel,
        systems=tuple(named(system, name=clean(system.name)) for system in panel.systems),
        targets=tuple(
            named(target, name=clean(target.name), variant=target.variant and clean(target.variant))
            for target in panel.targets
        ),
        notes=tuple(named(note, flags=tuple(map(clean, note.flags))) for note in panel.notes),
        words={clean(flag): clean(words) for flag, words in panel.words.items()},
    )


def read_run(run: Run, folder: str = "", kinds: Mapping[str, type[Row]] = TABLES) -> Study:
    """Everything the report needs; raises InputError for a run that is not complete or is damaged."""
    run.require_complete()
    tables = read_tables(run.folder, kinds)
    path = run.folder / "config.toml"
    try:
        config = read_bytes(path).decode()
        settings = msgspec.convert(tomllib.loads(config), _Settings)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"the settings cannot be read: {error}", path=str(path)) from None
    manifest = run.manifest
    rows = tables[TrackerRow], tables[BestSetRow], tables[CompositeRow], tables[CorrelationRow]
    return Study(
        name=clean(manifest.study),
        description=clean(settings.description),
        tables=tables,
        evidence=variant_results(tables, settings.correlation.coefficient),
        verdict=study_verdict(_clean(run.panel), *rows),
        coefficient=settings.correlation.coefficient,
        confidence=settings.correlation.level,
        config=config,
        signature=clean(run.signature),
        versions={clean(name): clean(version) for name, version in manifest.versions.items()},
        stages=Counter(clean(stage.stage) for stage in manifest.stages),
        changed=run.changed,
        left_out=tuple(clean(str(part)) for part in manifest.plan.left_out),
        folder=folder,
    )
