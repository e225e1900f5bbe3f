"""A run as the report sees it: its tables, its settings, and the evidence of every variant."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from extrinsic.errors import InputError
from extrinsic.report.results.table_columns import Tables, clean, read_tables
from extrinsic.report.results.variant_results import VariantResults, variant_results
from extrinsic.storage import content_hash, read_bytes
from extrinsic.study.finished_run import Run


@dataclass(frozen=True)
class Study:
    """folder: how the page, from where it lies, reaches the run's directory ("" if it lies there)."""

    name: str
    description: str
    tables: Tables
    evidence: list[VariantResults]
    settings: dict[str, Any]
    config: str
    manifest: dict[str, Any]
    changed: tuple[str, ...] = ()
    folder: str = ""

    @property
    def target(self) -> str:
        """The primary target; empty where nothing was correlated."""
        return self.evidence[0].target if self.evidence else ""

    @property
    def coefficient(self) -> str:
        return coefficient_of(self.settings)

    @property
    def level(self) -> str:
        """How sure the intervals are meant to be, in percent."""
        return f"{100 * float(self.settings.get('correlation', {}).get('level', 0.95)):g} %"

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row["dataset"] for row in self.tables["intrinsic"]))

    @property
    def trackers(self) -> tuple[str, ...]:
        return tuple(row["tracker"] for row in self.tables["trackers"])

    @property
    def has_policies(self) -> bool:
        return any(row["policy"] != "outcome" for row in self.tables["returns"])


def coefficient_of(settings: dict[str, Any]) -> str:
    """The coefficient that ranks metrics."""
    return str(settings.get("correlation", {}).get("coefficient", "pearson"))


def read_run(run: Run, folder: str = "") -> Study:
    """Everything the report needs; raises InputError for a run that is not complete or is damaged."""
    if not run.is_complete:
        raise InputError("this run is not complete: run it again to finish it", path=str(run.folder))
    tables = read_tables(run.folder)
    path = run.folder / "config.toml"
    try:
        config = read_bytes(path).decode()
        settings = tomllib.loads(config)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the settings cannot be read: {error}", path=str(path)) from None
    return Study(
        name=clean(str(run.manifest.get("study", run.folder.name))),
        description=clean(str(settings.get("description", ""))),
        tables=tables,
        evidence=variant_results(tables, coefficient_of(settings)),
        settings=settings,
        config=config,
        manifest=run.manifest,
        changed=_changed(run),
        folder=folder,
    )


def _changed(run: Run) -> tuple[str, ...]:
    """Tables that are no longer what the run wrote."""
    recorded = run.manifest.get("tables", {})
    return tuple(
        name for name, known in recorded.items() if content_hash(read_bytes(run.folder / name)) != known
    )
