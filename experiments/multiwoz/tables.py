"""The tables of the study of MultiWOZ systems: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
import numpy as np

from extrinsic.arrays import Floats

R = TypeVar("R", bound=msgspec.Struct)


def metric_rows(
    kind: type[R], metrics: tuple[str, ...], columns: Mapping[str, Floats], **keys: str | int
) -> list[R]:
    """A row for every metric; columns: by field, (n_metrics,), NaN is undefined; keys: of all rows."""
    rows = [{name: defined(values[i]) for name, values in columns.items()} for i in range(len(metrics))]
    pairs = zip(metrics, rows, strict=True)
    return [msgspec.convert({**keys, "metric": metric, **row}, kind) for metric, row in pairs]


def defined(value: float | Floats) -> float | None:
    return None if np.isnan(value) else float(value)


def bounds(interval: tuple[Floats, Floats], prefix: str = "") -> dict[str, Floats]:
    """The columns of an interval."""
    return {f"{prefix}low": interval[0], f"{prefix}high": interval[1]}


MORE_METRICS = {
    "improved_average_goal_accuracy_published": "improved_average_goal_accuracy(published)",
    "fga_025": "fga(0.25)",
    "fga_05": "fga(0.5)",
    "fga_075": "fga(0.75)",
    "fga_1": "fga(1)",
}


class MetricColumns(msgspec.Struct, frozen=True, kw_only=True, rename=MORE_METRICS):
    """A number for every metric. Keyword-only fields stand behind those of a struct that inherits them."""

    jga: float
    slot_accuracy: float
    relative_slot_accuracy: float
    average_goal_accuracy: float
    improved_average_goal_accuracy: float
    improved_average_goal_accuracy_published: float
    slot_f1: float
    turn_match: float
    fga_025: float
    fga_05: float
    fga_075: float
    fga_1: float
    gca: float


class ScoreColumns(MetricColumns, frozen=True, kw_only=True):
    success: float
    inform: float
    published_success: float
    published_inform: float


class System(ScoreColumns, frozen=True):
    """A system on all of its dialogs, in percent; published: in the benchmark's table."""

    system: str
    n_dialogs: int

    def differs(self, rounding: float) -> bool:
        """Whether the benchmark has other outcomes."""
        gaps = self.success - self.published_success, self.inform - self.published_inform
        return max(map(abs, gaps)) > rounding


class SystemCorrelation(MetricColumns, frozen=True):
    """Pearson's r of every metric with an outcome, over the dialogs of one system."""

    outcome: str
    system: str


class BetweenSystems(msgspec.Struct, frozen=True, kw_only=True):
    """Systems as points: r of a metric with an outcome.

    dialogs: those that all systems have (shared), each system's own, or shared by all without labes.
    low, high: by resampled systems and dialogs; p: by permuted systems, p_adjusted: Holm's over metrics.
    spearman: the same of Spearman's coefficient. minus_jga: r less that of JGA.
    """

    dialogs: str
    outcome: str
    metric: str
    systems: int
    n_dialogs: int | None = None
    r: float
    low: float | None = None
    high: float | None = None
    jackknife_low: float
    jackknife_high: float
    p: float
    p_adjusted: float
    spearman_r: float
    spearman_low: float | None = None
    spearman_high: float | None = None
    spearman_jackknife_low: float
    spearman_jackknife_high: float
    spearman_p: float
    spearman_p_adjusted: float
    minus_jga: float | None = None
    minus_jga_low: float | None = None
    minus_jga_high: float | None = None
    minus_jga_p: float | None = None
    minus_jga_p_adjusted: float | None = None


class WithoutSystem(msgspec.Struct, frozen=True, rename={"galaxy_e2e": "galaxy-e2e"}):
    """Systems as points: Pearson's r without each system in turn."""

    outcome: str
    metric: str
    augpt: float
    bort: float
    damd: float
    dots: float
    galaxy_e2e: float
    labes: float
    mars: float
    mintl: float
    pptod: float
    rstod: float
    soloist: float
    ubar: float
    uniconv: float

    def ranked(self) -> list[tuple[float, str]]:
        """r and the system that is left out, the lowest first."""
        columns = msgspec.to_builtins(self)
        return sorted((r, column) for column, r in columns.items() if column not in ("outcome", "metric"))


class Step(msgspec.Struct, frozen=True):
    """JGA's r with both outcomes after one more change from the benchmark's figures to the tool's run."""

    step: str
    success: float
    inform: float


class DialogCorrelation(msgspec.Struct, frozen=True):
    """Dialogs of systems as points: r of a metric with an outcome, by what is centred (split).

    low, high: by resampled systems and dialogs; dialogs_low, dialogs_high: by dialogs alone; jackknife: by
    leaving out systems and dialogs. first: share of resamples in which the metric has the highest r.
    minus_jga, minus_first: r less that of JGA and of the metric with the highest r, on the same resamples.
    minus_jga_p_adjusted: twice the share of resamples on the other side of 0 (jackknife: by Student's t),
    Holm's over metrics. p: by permuted dialogs, p_adjusted: Holm's.
    """

    outcome: str
    split: str
    metric: str
    r: float
    low: float
    high: float
    dialogs_low: float
    dialogs_high: float
    first: float
    minus_jga: float
    minus_jga_low: float
    minus_jga_high: float
    minus_jga_dialogs_low: float
    minus_jga_dialogs_high: float
    minus_first: float
    minus_first_low: float
    minus_first_high: float
    minus_first_dialogs_low: float
    minus_first_dialogs_high: float
    jackknife_low: float
    jackknife_high: float
    minus_jga_jackknife_low: float
    minus_jga_jackknife_high: float
    minus_jga_p_adjusted: float | None = None
    minus_jga_dialogs_p_adjusted: float | None = None
    minus_jga_jackknife_p_adjusted: float | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def above_jga(self) -> bool:
        """Whether both intervals of the difference, taken by itself, lie above 0."""
        return self.minus_jga_low > 0.0 and self.minus_jga_jackknife_low > 0.0

    @property
    def clearly_above_jga(self) -> bool:
        """Also among all comparisons with JGA."""
        p_values = self.minus_jga_p_adjusted, self.minus_jga_jackknife_p_adjusted
        return self.above_jga and all(p is not None and p <= 0.05 for p in p_values)


class Control(msgspec.Struct, frozen=True):
    """r within a system, with a dialog's difficulty held fixed, and with the others' outcome as well."""

    outcome: str
    metric: str
    r: float
    difficulty: float
    difficulty_low: float
    difficulty_high: float
    difficulty_minus_jga: float
    difficulty_minus_jga_low: float
    difficulty_minus_jga_high: float
    others: float
    others_low: float
    others_high: float
    others_minus_jga: float
    others_minus_jga_low: float
    others_minus_jga_high: float


class LastTurn(msgspec.Struct, frozen=True):
    """r of a metric over all turns and on the last alone, and the last less all, in two splits."""

    outcome: str
    metric: str
    within_all: float
    within_last: float
    within_difference: float
    within_low: float
    within_high: float
    both_all: float
    both_last: float
    both_difference: float
    both_low: float
    both_high: float


class Predictor(msgspec.Struct, frozen=True):
    """r of something else that may predict an outcome; of several things together, the multiple r."""

    outcome: str
    predictor: str
    within: float
    within_low: float
    within_high: float
    both: float | None = None
    both_low: float | None = None
    both_high: float | None = None


class Ceiling(msgspec.Struct, frozen=True):
    """area: under the ROC curve, within systems; ceiling: the highest r that values of 0 and 1 allow."""

    outcome: str
    metric: str
    area: float
    low: float
    high: float
    ceiling: float


class Counts(msgspec.Struct, frozen=True):
    """How much there is, and how often it was drawn; without_value: points where a metric is undefined."""

    systems: int
    dialogs: int
    points: int
    shared: int
    shared_by_others: int
    without_value: int
    seed: int
    resamples: int
    permutations: int


TABLES: dict[str, type[msgspec.Struct]] = {
    "systems": System,
    "between": BetweenSystems,
    "left_out": WithoutSystem,
    "steps": Step,
    "splits": DialogCorrelation,
    "by_system": SystemCorrelation,
    "controls": Control,
    "final": LastTurn,
    "others": Predictor,
    "ceilings": Ceiling,
    "counts": Counts,
}
