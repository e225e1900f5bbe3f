"""A run as the report reads it: its panel, its verdict, its tables, with texts that are safe to show."""

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
from extrinsic.study.tables import ERRORS_TABLE, TABLES
from extrinsic.tables import read_rows
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.names import is_outcome, variant_title
from extrinsic.verdict.rows import ChoiceRow, Row, TrackerRow
from extrinsic.verdict.verdict import StudyVerdict, study_verdict

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Tables:
    """The tables of a run, each by the struct of its rows; a table that was not read has none."""

    rows: Mapping[type[Row], list[Any]]

    def __getitem__(self, kind: type[R]) -> list[R]:
        return self.rows.get(kind, [])


def read_tables(folder: Path, kinds: Mapping[str, type[Row]]) -> Tables:
    """InputError names what is missing or damaged in any of them."""
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
class Study:
    """A run with everything the report shows.

    stages: how many results of each kind the run has.
    left_out: which dialogs the domain excludes, a sentence for each list.
    folder: the link from the page to the run's directory ("" if the page is there).
    """

    name: str
    description: str
    tables: Tables
    panel: Panel
    verdict: StudyVerdict
    seed: int
    config: str
    signature: str
    versions: dict[str, str]
    stages: Counter[str]
    changed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    folder: str = ""

    @property
    def target(self) -> str:
        """The primary target; empty where nothing was judged."""
        return self.verdict.verdicts[0].target if self.verdict.verdicts else ""

    @property
    def core(self) -> list[str]:
        return [row.tracker for row in self.tables[TrackerRow] if row.core]

    @cached_property
    def view(self) -> Panel:
        """The panel with sampled datasets (generators) as one, as it is drawn."""
        return self.panel.averaged()

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dataset.name for dataset in self.view.datasets)

    @cached_property
    def variants(self) -> tuple[str | None, ...]:
        """Those that were judged; what was only tried for comparison is none of them."""
        return tuple(dict.fromkeys(row.variant for row in self.tables[ChoiceRow])) or (None,)

    def variant_title(self, variant: str | None) -> str:
        """What people call it; empty where it is the only one."""
        return variant_title(variant) if len(self.variants) > 1 else ""

    @property
    def has_policies(self) -> bool:
        return any(not is_outcome(target.name) for target in self.panel.targets)

    def choices(self, target: str, variant: str | None, systems: str = CORE) -> list[ChoiceRow]:
        """What choosing by each metric loses, the best first; without those that cannot be judged."""
        rows = self.tables[ChoiceRow]
        shown = [
            row
            for row in rows
            if (row.target, row.variant, row.systems) == (target, variant, systems) and row.lost is not None
        ]
        return sorted(shown, key=lambda row: row.lost or 0.0)


def _clean(panel: Panel) -> Panel:
    """With the names that the rows of the tables have."""

    def cleaned(entry: Any, *fields: str) -> Any:
        texts = {field: getattr(entry, field) for field in fields}
        return msgspec.structs.replace(
            entry, **{field: text and clean(text) for field, text in texts.items()}
        )

    return replace(
        panel,
        systems=tuple(cleaned(system, "name", "family") for system in panel.systems),
        datasets=tuple(cleaned(dataset, "name") for dataset in panel.datasets),
        metrics=tuple(cleaned(metric, "metric", "component", "title") for metric in panel.metrics),
        targets=tuple(cleaned(target, "name", "variant", "title") for target in panel.targets),
        notes=tuple(
            msgspec.structs.replace(note, flags=tuple(map(clean, note.flags))) for note in panel.notes
        ),
        words={clean(flag): clean(words) for flag, words in panel.words.items()},
    )


def tables_of(run: Run) -> dict[str, type[Row]]:
    """Those that a study of metrics has."""
    return TABLES | (ERRORS_TABLE if any(dataset.sampled for dataset in run.panel.datasets) else {})


def read_run(run: Run, folder: str = "", kinds: Mapping[str, type[Row]] | None = None) -> Study:
    """Everything the report needs; raises InputError for a run that is not complete or is damaged.

    kinds: the tables to read; None: those of a study of metrics.
    """
    run.require_complete()
    if kinds is None:
        # What trackers score and their policies earn is in the panel.
        kinds = {name: kind for name, kind in tables_of(run).items() if name not in ("intrinsic", "returns")}
    tables = read_tables(run.folder, kinds)
    path = run.folder / "config.toml"
    try:
        config = read_bytes(path).decode()
        description = str(tomllib.loads(config).get("description", ""))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the settings cannot be read: {error}", path=str(path)) from None
    manifest, panel = run.manifest, _clean(run.panel)
    return Study(
        name=clean(manifest.study),
        description=clean(description),
        tables=tables,
        panel=panel,
        verdict=study_verdict(panel, tables[TrackerRow], tables[ChoiceRow]),
        seed=manifest.seeds.get("study", 0),
        config=config,
        signature=clean(run.signature),
        versions={clean(name): clean(version) for name, version in manifest.versions.items()},
        stages=Counter(clean(stage.stage) for stage in manifest.stages),
        changed=run.changed,
        left_out=tuple(map(clean, manifest.plan.left_out)),
        folder=folder,
    )
