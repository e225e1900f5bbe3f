"""A finished run, long as the one door to it: tables, panel, verdict, stored results, kept policies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
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
from extrinsic.panel import Panel
from extrinsic.policy.saved_policies import KeptPolicy, load_policy
from extrinsic.storage import content_hash, read_plain, write_atomic
from extrinsic.study.plan import Plan
from extrinsic.study.policy_values import KEPT, PolicyValues
from extrinsic.study.run_directory import (
    CONFIG,
    MANIFEST,
    POLICIES,
    STAGES,
    Manifest,
    is_within,
    read_manifest,
)
from extrinsic.study.score_stage import TrackerScores
from extrinsic.study.store import Result, Store
from extrinsic.study.tables import GONE, READABLE
from extrinsic.tables import dataframe, html_table, read_rows, write_parquet
from extrinsic.typed_files import read_tree
from extrinsic.verdict.bounds import AS_GOOD, RECOMMENDED
from extrinsic.verdict.coefficients import Coefficient, Scope
from extrinsic.verdict.rows import ChoiceRow, CorrelationRow, Row, TrackerRow
from extrinsic.verdict.verdict import Choice, StudyVerdict, study_verdict

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Trackers = Literal["all", "core"]

UNFIT = (LookupError, ValueError, ArithmeticError, TypeError, StopIteration)
"""What rows raise that are missing, empty, or of another number: other exceptions are errors of ours."""

R = TypeVar("R", bound=Row)
Targeted = TypeVar("Targeted", CorrelationRow, ChoiceRow)


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

    @cached_property
    def panel(self) -> Panel:
        """Systems, datasets, metrics and targets, with what every item adds: all that a verdict rests on."""
        return Panel.from_run(self.folder)

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

    def scores(self, tracker: str) -> list[Result[TrackerScores]]:
        """The stored scores of a tracker, one result for each unit of dialogs."""
        return [Result.decode(self.store.read(key), key, TrackerScores) for key in self.plan.scored[tracker]]

    @overload
    def table(self, name: type[R]) -> list[R]: ...
    @overload
    def table(self, name: str) -> list[Any]: ...
    def table(self, name: str | type[Row]) -> list[Any]:
        """The rows of a table, by its name (`correlations`) or, typed, by its struct (`CorrelationRow`)."""
        name, kind = _named(name)
        return read_rows(self.folder / f"{name}.csv", kind)

    def correlations(
        self,
        *,
        coefficient: Coefficient,
        scope: Scope,
        trackers: Trackers,
        target: str | None = None,
        variant: str | None = None,
    ) -> list[CorrelationRow]:
        """The correlations of one kind, the highest first; those that are undefined last.

        Numbers of different coefficients, scopes or trackers are not comparable, so each has to be named.
        target: None: the primary one.   variant: None: the study's first.
        """
        kinds = {"coefficient": coefficient, "scope": scope, "trackers": trackers}
        rows = _of_kind(self.table(CorrelationRow), variant, target, **kinds)
        return sorted(rows, key=lambda row: float("inf") if row.r is None else -row.r)

    @cached_property
    def choices(self) -> list[ChoiceRow]:
        """What choosing by every metric loses, and how much at most."""
        return self.table(ChoiceRow)

    def best(
        self, *, trackers: Trackers = "core", target: str | None = None, variant: str | None = None
    ) -> list[ChoiceRow]:
        """The metric to choose by, and those shown to be as good; none where no metric can be judged."""
        rows = _of_kind(self.choices, variant, target, systems=trackers)
        kept = [row for row in rows if row.group in (RECOMMENDED, AS_GOOD)]
        return sorted(kept, key=lambda row: (row.group != RECOMMENDED, row.lost or 0.0))

    def recommended(self, target: str | None = None, variant: str | None = None) -> Choice | None:
        """The metric to choose by, over core trackers; None where no metric can be judged."""
        best = self.best(target=target, variant=variant)
        return Choice.of(best[0]) if best and best[0].group == RECOMMENDED else None

    def verdict(self) -> StudyVerdict:
        """What to choose by for each target, what that loses, and at most: a sentence for each."""
        return study_verdict(self.panel, self.table(TrackerRow), self.choices)

    def figure(self, name: str) -> Figure:
        """A figure of the report, e.g. `heat_map`, as matplotlib's Figure; names: of figures/*.svg."""
        # Drawing comes after the study in the order of layers, and is loaded when a figure is wanted.
        figure: Figure = import_module("extrinsic.report.page").single_figure(self, name)
        return figure

    def to_dataframe(self, name: str = "correlations") -> pandas.DataFrame:
        """A table as a pandas DataFrame, if pandas is installed."""
        return dataframe(list(map(asdict, self.table(name))), _named(name)[1].__struct_fields__)

    def to_parquet(self, name: str, path: str | Path) -> Path:
        """A table as a Parquet file, if pyarrow is installed."""
        return write_parquet(list(map(asdict, self.table(name))), _named(name)[1].__struct_fields__, path)

    def policy(
        self, tracker: str, dataset: str | None = None, policy: str = "rl", variant: str | None = None
    ) -> KeptPolicy:
        """A policy that the run kept; None: the only dataset, the study's first variant."""
        specs = {item.name: item.spec for item in self.plan.variants if item.spec.keep}
        folder = str(self.folder)
        if not specs:
            raise UsageError(
                "this run kept no policies: add `keep = true` to [policy] and run it again", path=folder
            )
        datasets = [unit.name for unit in self.plan.units]
        if dataset is None and len(datasets) > 1:
            raise UsageError("a policy is learned for each dataset: name one", found=", ".join(datasets))
        dataset, variant = dataset or datasets[0], variant or next(iter(specs))
        for kind, name, names in (
            ("dataset", dataset, datasets),
            ("tracker", tracker, self.plan.tracker_names),
            ("policy", policy, next(iter(specs.values())).policies),
            ("variant", variant, specs),
        ):
            if name not in names:
                raise UsageError(f"the run has no {kind} {name!r}; {did_you_mean(name, names)}", path=folder)
        path = _policy_file(dataset, tracker, policy, variant)
        if not is_within(path):
            raise InputError("a policy of the run lies elsewhere", path=folder, found=repr(path))
        return load_policy(self.folder / path)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        if not self.is_complete or self.is_grid:
            return html_table(f"{self.manifest.study} in {self.folder}: {self.manifest.status}", [])
        verdict = self.verdict()
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in verdict.sentences)
        rows = [
            {"": choice.title, "lost": choice.lost, "bound": choice.bound, "group": choice.group}
            for first in verdict.verdicts[:1]
            for choice in first.choices
        ]
        return sentences + html_table(f"{self.manifest.study} in {self.folder}", rows)


def _named(table: str | type[Row]) -> tuple[str, type[Row]]:
    """A table's name and struct, from either."""
    name = next((name for name, kind in READABLE.items() if table in (name, kind)), None)
    if name is None:
        moved = f"what it had is in {GONE[table]}" if isinstance(table, str) and table in GONE else ""
        raise UsageError(f"a run has no table {table!r}; {moved or did_you_mean(str(table), READABLE)}")
    return name, READABLE[name]


def _of_kind(
    rows: Sequence[Targeted], variant: str | None, target: str | None, **kinds: str
) -> list[Targeted]:
    """The rows that have these values; a value that no row has is refused.

    variant, target: None: the first, which is the primary one.
    """
    for column, value in {"variant": variant, "target": target, **kinds}.items():
        values = dict.fromkeys(getattr(row, column) for row in rows)
        wanted = next(iter(values), None) if value is None else value
        if rows and wanted not in values:
            names = list(map(str, values))
            raise UsageError(f"the run has no {column} {value!r}; {did_you_mean(str(value), names)}")
        rows = [row for row in rows if getattr(row, column) == wanted]
    return list(rows)


def _policy_file(dataset: str, tracker: str, policy: str, variant: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.=-]+", "_", variant)
    return f"{POLICIES}/{dataset}/{tracker}.{policy}.{plain}.policy"


def write_policies(folder: Path, plan: Plan, store: Store) -> dict[str, str]:
    """Write the policies of the variants that keep them; returns the hashes of the files."""
    hashes = {}
    stages = [
        (variant.name, tracker, unit.name, key)
        for variant in plan.variants
        if variant.spec.keep
        for tracker, keys in plan.learned[variant.name].items()
        for unit, key in zip(plan.units, keys, strict=True)
    ]
    for variant, tracker, dataset, key in stages:
        arrays = Result.decode(store.read(key), key, PolicyValues).arrays
        for array in sorted(name for name in arrays if name.startswith(KEPT)):
            path = _policy_file(dataset, tracker, array.removeprefix(KEPT), variant)
            data = arrays[array].tobytes()
            write_atomic(folder / path, data)
            hashes[path] = content_hash(data)
    return hashes
