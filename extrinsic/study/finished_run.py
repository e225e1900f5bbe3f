"""A finished run: its tables, its manifest and its stored results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from extrinsic.errors import InputError, UsageError, did_you_mean
from extrinsic.policy.kept_policy import KeptPolicy
from extrinsic.study.kept_policies import read_kept
from extrinsic.study.planning.plan import Plan
from extrinsic.study.run_directory import STAGES, Manifest, read_manifest
from extrinsic.study.stages.learning import PolicyValues
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.stages.stored_scores import TrackerScores
from extrinsic.study.tables.schema import (
    POLICY_TABLES,
    TABLES,
    CompositeRow,
    CorrelationRow,
    CurveRow,
    DiagnosticRow,
    InfluenceRow,
    IntrinsicRow,
    PairRow,
    PolicyRow,
    ReturnRow,
    Row,
    SensitivityRow,
    StabilityRow,
    TimingRow,
    TrackerRow,
)
from extrinsic.study.tables.table_files import read_rows

if TYPE_CHECKING:
    import pandas

READABLE: dict[str, type[Row]] = {**TABLES, **POLICY_TABLES, "timings": TimingRow}


@dataclass(frozen=True)
class Run:
    """The directory of a run. `run.table("correlations")` are rows, `run.to_dataframe(...)` a DataFrame."""

    folder: Path

    def __post_init__(self) -> None:
        # A frozen dataclass; a path given as text is a path all the same.
        object.__setattr__(self, "folder", Path(self.folder))

    @cached_property
    def manifest(self) -> Manifest:
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InputError(
                "this is not the directory of a run: it has no manifest.json", path=str(self.folder)
            )
        return manifest

    @property
    def plan(self) -> Plan:
        return self.manifest.plan

    @cached_property
    def store(self) -> Store:
        return Store(self.folder / STAGES)

    @property
    def signature(self) -> str:
        return str(self.manifest.signature)

    @property
    def is_complete(self) -> bool:
        return self.manifest.status == "complete"

    @property
    def is_grid(self) -> bool:
        """Whether it compares policies (`extrinsic policies`); a study compares metrics."""
        return any(variant.policy for variant in self.plan.variants)

    def scores(self, tracker: str) -> list[Result[TrackerScores]]:
        """The stored scores of a tracker, one result for each unit of dialogs."""
        return [Result.decode(self.store.read(key), key, TrackerScores) for key in self.plan.scored[tracker]]

    def values(self, tracker: str, variant: str | None) -> list[Result[PolicyValues]]:
        """The stored targets of a tracker: values of the policies of a variant, and outcomes."""
        keys = self.plan.valued(variant)[tracker]
        return [Result.decode(self.store.read(key), key, PolicyValues) for key in keys]

    def policy(
        self, tracker: str, dataset: str | None = None, policy: str = "rl", variant: str | None = None
    ) -> KeptPolicy:
        """A policy that the run kept; None: the only dataset, the study's first variant."""
        return read_kept(self.folder, self.plan, tracker, dataset, policy, variant)

    @overload
    def table(self, name: Literal["intrinsic"]) -> list[IntrinsicRow]: ...
    @overload
    def table(self, name: Literal["returns"]) -> list[ReturnRow]: ...
    @overload
    def table(self, name: Literal["correlations"]) -> list[CorrelationRow]: ...
    @overload
    def table(self, name: Literal["pairs"]) -> list[PairRow]: ...
    @overload
    def table(self, name: Literal["composite"]) -> list[CompositeRow]: ...
    @overload
    def table(self, name: Literal["influence"]) -> list[InfluenceRow]: ...
    @overload
    def table(self, name: Literal["stability"]) -> list[StabilityRow]: ...
    @overload
    def table(self, name: Literal["sensitivity"]) -> list[SensitivityRow]: ...
    @overload
    def table(self, name: Literal["trackers"]) -> list[TrackerRow]: ...
    @overload
    def table(self, name: Literal["diagnostics"]) -> list[DiagnosticRow]: ...
    @overload
    def table(self, name: Literal["policies"]) -> list[PolicyRow]: ...
    @overload
    def table(self, name: Literal["learning_curve"]) -> list[CurveRow]: ...
    @overload
    def table(self, name: Literal["timings"]) -> list[TimingRow]: ...
    @overload
    def table(self, name: str) -> list[Any]: ...
    def table(self, name: str) -> list[Any]:
        """The rows of a table: intrinsic, returns, correlations, pairs, ..., timings."""
        return read_rows(self.folder / f"{name}.csv", _kind(name))

    def to_dataframe(self, name: str = "correlations") -> pandas.DataFrame:
        """A table as a pandas DataFrame, if pandas is installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("to_dataframe needs pandas: pip install pandas") from None
        columns = _kind(name).__struct_fields__
        lines = [[getattr(row, column) for column in columns] for row in self.table(name)]
        return pandas.DataFrame(lines, columns=list(columns))


def _kind(name: str) -> type[Row]:
    if name not in READABLE:
        raise UsageError(f"a run has no table {name!r}; {did_you_mean(name, READABLE)}")
    return READABLE[name]
