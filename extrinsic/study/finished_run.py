"""A run that was made: its tables, its settings and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrinsic.errors import InputError, UsageError, did_you_mean
from extrinsic.study.run_directory import STAGES, read_manifest
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.table_rows import HEADS
from extrinsic.study.tables.table_files import read_table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Run:
    """The directory of a run. `run.table("correlations")` are rows, `run.to_dataframe(...)` a DataFrame."""

    folder: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InputError(
                "this is not the directory of a run: it has no manifest.json", path=str(self.folder)
            )
        return manifest

    @property
    def signature(self) -> str:
        return str(self.manifest["signature"])

    @property
    def is_complete(self) -> bool:
        return self.manifest.get("status") == "complete"

    def stored(self, stage: str, tracker: str) -> list[tuple[str | None, Result]]:
        """What a stage stored of a tracker: (variant, result), one for each unit of dialogs."""
        store = Store(self.folder / STAGES)
        return [
            (row["variant"], Result.decode(store.read(stage, row["key"])))
            for row in self.manifest["stages"]
            if row["stage"] == stage and row["tracker"] == tracker
        ]

    def table(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table: intrinsic, returns, correlations, pairs, ..."""
        if name not in HEADS:
            raise UsageError(f"a run has no table {name!r}; {did_you_mean(name, HEADS)}")
        return read_table(self.folder / f"{name}.csv")

    def to_dataframe(self, name: str = "correlations") -> pandas.DataFrame:
        """A table as a pandas DataFrame, if pandas is installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("to_dataframe needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.table(name), columns=list(HEADS[name]))
