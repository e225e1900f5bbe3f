"""A finished run: its tables, its manifest and its stored results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from extrinsic.errors import ExtrinsicError, InputError, Problem, Problems, UsageError, did_you_mean, shown
from extrinsic.policy.kept_policy import KeptPolicy
from extrinsic.storage import content_hash, read_plain
from extrinsic.study.kept_policies import read_kept
from extrinsic.study.planning.plan import Plan
from extrinsic.study.run_directory import CONFIG, STAGES, Manifest, read_manifest
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.stages.stored_scores import TrackerScores
from extrinsic.study.stages.variant_values import TrackerValue, variant_values
from extrinsic.study.tables.schema import (
    POLICY_TABLES,
    TABLES,
    WORLDS_TABLE,
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    CostRow,
    CountRow,
    CurveRow,
    DecidedRow,
    DiagnosticRow,
    InfluenceRow,
    IntrinsicRow,
    PairRow,
    PartialRow,
    PolicyRow,
    ReturnRow,
    Row,
    SensitivityRow,
    StabilityRow,
    SwapRow,
    TimingRow,
    TrackerRow,
    WorldFitRow,
    WorldRow,
)
from extrinsic.study.tables.table_files import read_rows
from extrinsic.toml_files import read_tree

if TYPE_CHECKING:
    import pandas

READABLE: dict[str, type[Row]] = {**TABLES, **POLICY_TABLES, **WORLDS_TABLE, "timings": TimingRow}


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

    @cached_property
    def plugins(self) -> tuple[str, ...]:
        """The Python files that the study imported; a run that somebody sent may name any."""
        path = self.folder / CONFIG
        files = read_tree(path)[0].get("plugins", [])
        if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
            raise InputError("the plugins are not a list of files", path=str(path), found=shown(files))
        return tuple(files)

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

    def require_complete(self) -> None:
        """Refuse a run that was interrupted."""
        if not self.is_complete:
            raise InputError("this run is not complete: run it again to finish it", path=str(self.folder))

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Files that were changed after the run wrote them."""
        problems, changed = Problems(), []
        for name, recorded in self.manifest.tables.items():
            try:
                if content_hash(read_plain(self.folder / name)) != recorded:
                    changed.append(name)
            except InputError as error:
                problems.extend(error.problems)
        problems.raise_errors()
        return tuple(changed)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Problems name the run; what fails because its files were changed is no error of ours."""
        try:
            yield
        except ExtrinsicError as error:
            places = [problem.path or str(self.folder) for problem in error.problems]
            raise type(error)(map(_at, error.problems, places)) from error
        except Exception as error:
            if not self.changed:
                raise
            raise InputError(
                "the tables were changed after the run wrote them, and do not fit together; run it again",
                path=str(self.folder),
                found=f"{', '.join(self.changed)} ({type(error).__name__}: {error})",
            ) from error

    @property
    def is_grid(self) -> bool:
        """Whether it compares policies (`extrinsic policies`); a study compares metrics."""
        return any(variant.policy for variant in self.plan.variants)

    def scores(self, tracker: str) -> list[Result[TrackerScores]]:
        """The stored scores of a tracker, one result for each unit of dialogs."""
        return [Result.decode(self.store.read(key), key, TrackerScores) for key in self.plan.scored[tracker]]

    def values(self, variant: str | None) -> dict[str, list[TrackerValue]]:
        """The stored targets of every tracker: values of the policies of a variant, and outcomes."""
        return variant_values(self.store, self.plan.valued(variant))

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
    def table(self, name: Literal["partial"]) -> list[PartialRow]: ...
    @overload
    def table(self, name: Literal["counts"]) -> list[CountRow]: ...
    @overload
    def table(self, name: Literal["best_set"]) -> list[BestSetRow]: ...
    @overload
    def table(self, name: Literal["decided"]) -> list[DecidedRow]: ...
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
    def table(self, name: Literal["fit"]) -> list[WorldFitRow]: ...
    @overload
    def table(self, name: Literal["swap"]) -> list[SwapRow]: ...
    @overload
    def table(self, name: Literal["costs"]) -> list[CostRow]: ...
    @overload
    def table(self, name: Literal["policies"]) -> list[PolicyRow]: ...
    @overload
    def table(self, name: Literal["learning_curve"]) -> list[CurveRow]: ...
    @overload
    def table(self, name: Literal["worlds"]) -> list[WorldRow]: ...
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


def _at(problem: Problem, path: str) -> Problem:
    return replace(problem, path=path)


def _kind(name: str) -> type[Row]:
    if name not in READABLE:
        raise UsageError(f"a run has no table {name!r}; {did_you_mean(name, READABLE)}")
    return READABLE[name]
