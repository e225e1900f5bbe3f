"""A run as the report sees it: its tables, its settings, and the results of every variant."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import msgspec

from extrinsic.errors import InputError
from extrinsic.report.results.report_tables import Tables, clean, read_tables
from extrinsic.report.results.variant_results import VariantResults, variant_results
from extrinsic.storage import read_bytes
from extrinsic.study.finished_run import Run
from extrinsic.study.verdict import study_verdict
from extrinsic.study.verdict_types import StudyVerdict


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
        return tuple(dict.fromkeys(row.dataset for row in self.tables.intrinsic))

    @property
    def trackers(self) -> tuple[str, ...]:
        return tuple(row.tracker for row in self.tables.trackers)

    @property
    def has_policies(self) -> bool:
        return any(row.policy != "outcome" for row in self.tables.returns)


class _Correlation(msgspec.Struct, frozen=True):
    coefficient: str = "pearson"
    level: float = 0.95


class _Settings(msgspec.Struct, frozen=True):
    """The keys of config.toml that the report needs."""

    description: str = ""
    correlation: _Correlation = _Correlation()


def read_run(run: Run, folder: str = "") -> Study:
    """Everything the report needs; raises InputError for a run that is not complete or is damaged."""
    run.require_complete()
    return study_of(run, read_tables(run.folder), folder)


def study_of(run: Run, tables: Tables, folder: str) -> Study:
    """A run with tables that were read."""
    path = run.folder / "config.toml"
    try:
        config = read_bytes(path).decode()
        settings = msgspec.convert(tomllib.loads(config), _Settings)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"the settings cannot be read: {error}", path=str(path)) from None
    manifest = run.manifest
    rows = tables.best_set, tables.composite, tables.returns, tables.trackers
    return Study(
        name=clean(manifest.study),
        description=clean(settings.description),
        tables=tables,
        evidence=variant_results(tables, settings.correlation.coefficient),
        verdict=study_verdict(*rows, [row.target for row in tables.correlations], tables.correlations),
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
