"""A finished run: its tables, its manifest and its stored results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, overload

from msgspec.structs import asdict

from extrinsic.errors import (
    ExtrinsicError,
    InputError,
    Problems,
    UsageError,
    did_you_mean,
    require_type,
    shown,
)
from extrinsic.notebook import dataframe, html_table, write_parquet
from extrinsic.policy.kept_policy import KeptPolicy
from extrinsic.storage import content_hash, read_plain
from extrinsic.study.kept_policies import read_kept
from extrinsic.study.naming import Counted, Name
from extrinsic.study.planning.plan import Plan
from extrinsic.study.run_directory import CONFIG, MANIFEST, STAGES, Manifest, read_manifest
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.stages.stored_scores import TrackerScores
from extrinsic.study.stages.variant_values import TrackerValue, variant_values
from extrinsic.study.tables import metric_rows, value_rows
from extrinsic.study.tables.schema import POLICY_TABLES, TABLES, WORLDS_TABLE
from extrinsic.study.tables.table_files import read_rows
from extrinsic.study.verdict import run_verdict
from extrinsic.study.verdict_types import StudyVerdict
from extrinsic.toml_files import read_tree

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Coefficient = Literal["pearson", "spearman", "kendall", "pairwise", "soft_pairwise"]
Scope = Literal["within", "pooled"]
Trackers = Literal["all", "core"]

UNFIT = (LookupError, ValueError, ArithmeticError, TypeError, StopIteration)
"""What rows raise that are missing, empty, or of another number: other exceptions are errors of ours."""

READABLE: dict[str, type[value_rows.Row]] = {
    **TABLES,
    **POLICY_TABLES,
    **WORLDS_TABLE,
    "timings": value_rows.TimingRow,
}


@dataclass(frozen=True)
class Run:
    """The directory of a run. `run.table("correlations")` are rows, `run.to_dataframe(...)` a DataFrame."""

    folder: Path

    def __post_init__(self) -> None:
        require_type("folder", self.folder, "the directory of a run", str, Path)
        # A frozen dataclass; a path given as text is a path all the same.
        object.__setattr__(self, "folder", Path(self.folder))
        # Path's own raise for a name that is too long.
        if not os.path.isfile(self.folder / MANIFEST):  # noqa: PTH113
            self._refuse()

    def _refuse(self) -> NoReturn:
        exists = os.path.isdir(self.folder)  # noqa: PTH112
        raise InputError(
            "this is not the directory of a run",
            path=str(self.folder),
            expected=f"a directory with {MANIFEST}, which `extrinsic run` and `run_study` write",
            found=f"no {MANIFEST} in it" if exists else "no such directory",
        )

    @cached_property
    def manifest(self) -> Manifest:
        return read_manifest(self.folder) or self._refuse()

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
            problems = [replace(each, path=each.path or str(self.folder)) for each in error.problems]
            raise type(error)(problems) from error
        except UNFIT as error:
            if not self.changed:
                raise
            message = (
                "the tables were changed after the run wrote them, and do not fit together; run it again"
            )
            what = f"{', '.join(self.changed)} ({type(error).__name__}: {error})"
            raise InputError(message, path=str(self.folder), found=what) from error

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
    def table(self, name: Literal["intrinsic"]) -> list[value_rows.IntrinsicRow]: ...
    @overload
    def table(self, name: Literal["returns"]) -> list[value_rows.ReturnRow]: ...
    @overload
    def table(self, name: Literal["correlations"]) -> list[metric_rows.CorrelationRow]: ...
    @overload
    def table(self, name: Literal["partial"]) -> list[metric_rows.PartialRow]: ...
    @overload
    def table(self, name: Literal["counts"]) -> list[metric_rows.CountRow]: ...
    @overload
    def table(self, name: Literal["best_set"]) -> list[metric_rows.BestSetRow]: ...
    @overload
    def table(self, name: Literal["decided"]) -> list[metric_rows.DecidedRow]: ...
    @overload
    def table(self, name: Literal["pairs"]) -> list[metric_rows.PairRow]: ...
    @overload
    def table(self, name: Literal["composite"]) -> list[metric_rows.CompositeRow]: ...
    @overload
    def table(self, name: Literal["influence"]) -> list[metric_rows.InfluenceRow]: ...
    @overload
    def table(self, name: Literal["stability"]) -> list[metric_rows.StabilityRow]: ...
    @overload
    def table(self, name: Literal["sensitivity"]) -> list[metric_rows.SensitivityRow]: ...
    @overload
    def table(self, name: Literal["trackers"]) -> list[value_rows.TrackerRow]: ...
    @overload
    def table(self, name: Literal["diagnostics"]) -> list[value_rows.DiagnosticRow]: ...
    @overload
    def table(self, name: Literal["fit"]) -> list[value_rows.WorldFitRow]: ...
    @overload
    def table(self, name: Literal["swap"]) -> list[metric_rows.SwapRow]: ...
    @overload
    def table(self, name: Literal["costs"]) -> list[metric_rows.CostRow]: ...
    @overload
    def table(self, name: Literal["policies"]) -> list[value_rows.PolicyRow]: ...
    @overload
    def table(self, name: Literal["learning_curve"]) -> list[value_rows.CurveRow]: ...
    @overload
    def table(self, name: Literal["worlds"]) -> list[value_rows.WorldRow]: ...
    @overload
    def table(self, name: Literal["timings"]) -> list[value_rows.TimingRow]: ...
    @overload
    def table(self, name: str) -> list[Any]: ...
    def table(self, name: str) -> list[Any]:
        """The rows of a table: intrinsic, returns, correlations, pairs, ..., timings."""
        return read_rows(self.folder / f"{name}.csv", _kind(name))

    def correlations(
        self,
        *,
        coefficient: Coefficient,
        scope: Scope,
        trackers: Trackers,
        target: str | None = None,
        variant: str | None = None,
    ) -> list[metric_rows.CorrelationRow]:
        """The correlations of one kind, the highest first; those that are undefined last.

        Numbers of different coefficients, scopes or trackers are not comparable, so each has to be named.
        target: None: the primary one.   variant: None: the study's first.
        """
        rows = _chosen(self.table("correlations"), target, variant)
        kinds = {"coefficient": coefficient, "scope": scope, "trackers": trackers}
        for name, value in kinds.items():
            rows = _having(rows, name, value)
        return sorted(rows, key=_highest_first)

    def best(
        self, *, trackers: Trackers = "core", target: str | None = None, variant: str | None = None
    ) -> list[metric_rows.BestSetRow]:
        """The metrics that may be the best, the highest correlation first; none where nothing is decided."""
        rows = _having(_chosen(self.table("best_set"), target, variant), "trackers", trackers)
        return sorted((row for row in rows if row.in_set), key=_highest_first)

    def verdict(self) -> StudyVerdict:
        """Which metric to use, what may do as well, what is not decided: a sentence for every target."""
        return run_verdict(self)

    def figure(self, name: str) -> Figure:
        """A figure of the report, e.g. `heat_map`, as matplotlib's Figure; names: of figures/*.svg."""
        # Drawing comes after the study in the order of layers, and is loaded when a figure is wanted.
        figure: Figure = import_module("extrinsic.report.report_files").single_figure(self, name)
        return figure

    def to_dataframe(self, name: str = "correlations") -> pandas.DataFrame:
        """A table as a pandas DataFrame, if pandas is installed."""
        return dataframe(list(map(asdict, self.table(name))), _kind(name).__struct_fields__)

    def to_parquet(self, name: str, path: str | Path) -> Path:
        """A table as a Parquet file, if pyarrow is installed."""
        return write_parquet(list(map(asdict, self.table(name))), _kind(name).__struct_fields__, path)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        if not self.is_complete or self.is_grid:
            return html_table(f"{self.manifest.study} in {self.folder}: {self.manifest.status}", [])
        best = self.best()
        columns = ("metric", "schedule", "component", "r", "low", "high")
        rows = [{"": Name.of(row).title(), **{name: getattr(row, name) for name in columns}} for row in best]
        what = f"{Counted.of(best)} may be the best" if best else "the best metric is not decided"
        return html_table(f"{self.manifest.study} in {self.folder}: {what}", rows)


R = TypeVar("R", metric_rows.CorrelationRow, metric_rows.BestSetRow)


def _chosen(rows: Sequence[R], target: str | None, variant: str | None) -> list[R]:
    """The rows of a target and a variant; None: the first, which is the primary one."""
    if not rows:
        return []
    of_variant = _having(rows, "variant", rows[0].variant if variant is None else variant)
    return _having(of_variant, "target", of_variant[0].target if target is None else target)


def _having(rows: Sequence[R], column: str, value: str | None) -> list[R]:
    """The rows with this value; a value that no row has is refused."""
    chosen = [row for row in rows if getattr(row, column) == value]
    if rows and not chosen:
        names = dict.fromkeys(str(getattr(row, column)) for row in rows)
        raise UsageError(f"the run has no {column} {value!r}; {did_you_mean(str(value), names)}")
    return chosen


def _highest_first(row: metric_rows.CorrelationRow | metric_rows.BestSetRow) -> float:
    return float("inf") if row.r is None else -row.r


def _kind(name: str) -> type[value_rows.Row]:
    if name not in READABLE:
        raise UsageError(f"a run has no table {name!r}; {did_you_mean(name, READABLE)}")
    return READABLE[name]
