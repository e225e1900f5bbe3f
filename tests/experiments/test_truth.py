"""The text about estimators follows from the committed tables, and cells can be computed again.

Where the first test fails after a change of the text: `python -m experiments.truth --text`; after a change of
what is computed, run the experiment again: `python -m experiments.truth`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from experiments.selection import Selection
from experiments.texts import UnsupportedClaim
from experiments.truth.__main__ import FOLDER, TABLES, write_texts
from experiments.truth.estimator_variants import VARIANTS, WithoutColumns
from experiments.truth.policy_values import (
    SEEDS,
    estimate_cells,
    estimate_rows,
    variant_cells,
    variant_rows,
)
from experiments.truth.summary import summarise
from experiments.truth.tables import EstimatorSummary, PolicyEstimate, VariantSummary
from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import ESTIMATORS
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.stages.learning import LearnTask
from extrinsic.study.tables.table_files import read_rows, table_bytes, write_rows
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import Value, value_of

STUDY = read_study(FOLDER / "config.toml")
ESTIMATES = read_rows(FOLDER / "estimates.csv", PolicyEstimate)


def test_the_text_is_rendered_from_the_tables(tmp_path: Path) -> None:
    """Every claim holds of the committed tables."""
    write_texts(FOLDER, tmp_path)
    assert (FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "truth.svg").read_text()


def test_a_claim_that_the_tables_contradict(tmp_path: Path) -> None:
    for table in TABLES:
        (tmp_path / f"{table}.csv").write_bytes((FOLDER / f"{table}.csv").read_bytes())
    rows = read_rows(FOLDER / "summary.csv", EstimatorSummary)
    changed = [msgspec.structs.replace(row, bias=-65.0) if row.estimator == "lstd" else row for row in rows]
    write_rows(tmp_path / "summary.csv", changed, EstimatorSummary, decimals=3)
    with pytest.raises(UnsupportedClaim, match=r"-65\.0 points too optimistic"):
        write_texts(tmp_path, tmp_path)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_written_as_they_were_read(table: str) -> None:
    rows = read_rows(FOLDER / f"{table}.csv", TABLES[table])
    assert table_bytes(rows, TABLES[table], decimals=3) == (FOLDER / f"{table}.csv").read_bytes()


def test_the_summary_is_that_of_the_estimates() -> None:
    assert table_bytes(summarise(ESTIMATES), EstimatorSummary, decimals=3) == (
        (FOLDER / "summary.csv").read_bytes()
    )


def test_a_summary_by_hand() -> None:
    """Bias, error and correlation of one estimator, from the definition."""
    core = Selection(ESTIMATES).where(estimator="mean_augmented", degenerate=False)
    (row,) = Selection(summarise(ESTIMATES)).where(estimator="mean_augmented").rows
    errors = np.array(core.column("value")) - core.column("live")
    assert (row.bias, row.rmse) == pytest.approx((errors.mean(), np.sqrt(np.mean(errors**2))))
    pairs = []
    for seed, dataset in core.distinct("seed", "dataset"):
        world = core.where(seed=seed, dataset=dataset)
        pairs.append([np.array(world.column(name)) - world.mean(name) for name in ("value", "live")])
    assert row.r_core == pytest.approx(np.corrcoef(np.concatenate(pairs, axis=1))[0, 1])
    inside = [row.low <= row.live <= row.high for row in core.rows]
    assert row.coverage == pytest.approx(np.mean(inside))


def test_every_cell_has_its_rows() -> None:
    assert STUDY.simulation is not None
    worlds = [(seed, dataset) for seed in SEEDS for dataset in STUDY.simulation.datasets]
    cells = [(*world, tracker) for world in worlds for tracker in STUDY.trackers.built_in]
    assert Selection(ESTIMATES).distinct("seed", "dataset", "tracker") == cells
    tasks = [task for task, _ in estimate_cells(STUDY)]
    assert [(task.spec.live_seed, task.unit.name, task.tracker) for task in tasks] == cells
    names = Selection(read_rows(FOLDER / "variants.csv", VariantSummary)).distinct("estimator")
    assert set(names) == {*VARIANTS, "observed", "lstd_augmented", "fqe_augmented"}


def small(**value: object) -> StudySettings:
    """One tracker in one dataset, and few callers."""
    return msgspec.structs.replace(
        STUDY,
        simulation=msgspec.structs.replace(STUDY.simulation, datasets=("ds4",)),
        trackers=msgspec.structs.replace(STUDY.trackers, built_in=("focus",)),
        value=msgspec.structs.replace(STUDY.value, live_dialogs=20, **value),
    )


def with_estimators(task: LearnTask, *names: str) -> LearnTask:
    return replace(task, spec=msgspec.structs.replace(task.spec, estimators=names))


def test_a_cell_with_few_callers() -> None:
    """The estimates are those of the table; only the live return is another one."""
    cheap = ("observed", "lstd", "lstd_augmented", "live")
    task, others = estimate_cells(small(estimators=cheap))[0]
    rows = estimate_rows(task, with_estimators(others, "lstd_augmented"))
    assert [row.estimator for row in rows] == [*cheap[:-1], "lstd_augmented (other proxies)"]
    for row in rows:
        where = {name: getattr(row, name) for name in ("seed", "dataset", "tracker", "estimator")}
        (stored,) = Selection(ESTIMATES).where(**where).rows
        for name in ("value", "low", "high", "on_policy_gap"):
            assert getattr(row, name) == pytest.approx(getattr(stored, name), abs=1e-3)
        assert (row.degenerate, row.flags) == (stored.degenerate, stored.flags)


def test_variants_are_registered_only_while_they_are_used() -> None:
    ((task,),) = variant_cells(small())
    names = ("observed", "lstd, ridge 300", "live")
    rows = variant_rows(with_estimators(task, *names))
    assert [row.estimator for row in rows] == list(names[:-1])
    assert not set(VARIANTS) & set(ESTIMATORS.names())


class Columns:
    """An estimator that reports how many columns the augmented states have."""

    name, needs, resampled_over = "columns", ("augmented_states",), "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        assert problem.augmented is not None
        return value_of("columns", float(problem.augmented.continuous.shape[1]), np.zeros(2), {})


def test_columns_are_left_out() -> None:
    names = ("own", "proxy0.lowest", "proxy1.lowest", "worth")
    states = States(np.zeros((2, 4)), np.zeros((2, 0), dtype=np.int64), names, ())
    index = np.arange(2)
    transitions = Transitions(
        states, 0 * index, np.zeros(2), index - index - 1, index, index, np.ones((2, 1)), ("act",), ("a", "b")
    )
    problem = EvaluationProblem(transitions, np.ones((2, 1)), states)
    for prefix, left in (("proxy", 2.0), ("worth", 3.0)):
        variant = WithoutColumns(Columns(), prefix)  # type: ignore[arg-type]
        assert variant.estimate(problem).mean == left
