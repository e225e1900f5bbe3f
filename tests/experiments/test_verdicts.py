"""Studies of metrics: verdicts of stored tables and of a small run, and what they keep, by other means."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy import stats

from experiments import main, verdicts
from experiments.lee2014 import __main__ as lee2014
from experiments.lee2014.tables import METRICS, RETURNS, MetricValues, ReturnValues
from experiments.multiwoz import state_files
from experiments.overview import __main__ as overview
from experiments.population import __main__ as population
from experiments.selection import Selection
from experiments.verdicts import Answer, Case, GainRow, Judged, MetricStudy
from experiments.worlds.__main__ import WorldShare
from experiments.worlds.cells import METRICS as METRICS_OF_CELLS
from experiments.worlds.cells import Cell
from extrinsic.corpus.state_sets import StateReading
from extrinsic.panel import Panel
from extrinsic.tables import read_rows
from extrinsic.verdict.names import Name
from tests.real_data import FOLDER as DATA
from tests.real_data import needs_data
from tests.study.studies import Study

CHOICES = Selection(read_rows(lee2014.FOLDER / "choices.csv", Judged))


def test_what_a_choice_loses_by_a_double_loop() -> None:
    """Of lee2014, from its wide tables: every pair of core trackers of each of the twelve corpora."""
    scores = [msgspec.structs.astuple(row) for row in read_rows(lee2014.FOLDER / "metrics.csv", MetricValues)]
    earned = {
        cells[:3]: cells[4:]
        for cells in map(msgspec.structs.astuple, read_rows(lee2014.FOLDER / "returns.csv", ReturnValues))
    }
    core = {cells[2] for cells in scores} - {cells[2] for cells in scores if not cells[3]}
    for metric, sign, fill in (("accuracy", 1, "argmax"), ("l2", -1, "threshold")):
        m, k = METRICS.index(Name(metric, 1, "joint")), RETURNS.index((fill, "rl.live"))
        lost = []
        for corpus in dict.fromkeys(cells[:2] for cells in scores):
            points = [
                (sign * cells[4 + m], earned[cells[:3]][k])
                for cells in scores
                if cells[:2] == corpus and cells[2] in core
            ]
            pairs = [
                (abs(y - z) - np.sign(a - b) * (y - z)) / 2 for (a, y), (b, z) in combinations(points, 2)
            ]
            lost.append(np.mean(pairs))
        (row,) = CHOICES.where(
            case="three seeds",
            target="rl.live",
            variant=f"fill={fill}",
            metric=metric,
            schedule=1,
            component="joint",
        ).rows
        assert (row.n, row.datasets) == (len(core), 12)
        # Ties in thousandths are the same ones in both.
        assert row.lost == pytest.approx(np.mean(lost), abs=6e-4)


def test_the_issues_figures_come_out() -> None:
    """Share of a perfect choice: AvgP, L2, accuracy; and what JGA and slot F1 lose in twelve worlds."""
    expected = {
        ("rl.live", "threshold"): (0.946, 0.947, 0.677),
        ("expert.live", "threshold"): (0.963, 0.961, 0.826),
        ("expert.live", "argmax"): (0.931, 0.928, 0.900),
        ("rl.live", "argmax"): (0.827, 0.827, 0.828),
    }
    for (target, fill), shares in expected.items():
        rows = CHOICES.where(case="three seeds", target=target, variant=f"fill={fill}", component="joint")
        made = [rows.where(metric=name, schedule=1).rows[0].share for name in ("avgp", "l2", "accuracy")]
        assert made == pytest.approx(shares, abs=2e-3)
    worlds = Selection(read_rows(overview.study_of("worlds").folder / "choices.csv", Judged))
    for target, lost in (("rl.live", (2.5, 4.8, 12.6)), ("expert.live", (2.9, 1.8, 17.6))):
        rows = worlds.where(case="first version", target=target)
        jga, slot_f1 = (rows.where(metric=f"{name}(fill=argmax)").rows[0] for name in ("jga", "slot_f1"))
        assert (jga.lost, slot_f1.lost, jga.possible) == pytest.approx(lost, abs=0.05)


def test_gains_are_means_with_students_interval() -> None:
    (panel,) = lee2014.stored_panel(lee2014.FOLDER).values()
    names = {(target.name, target.variant): k for k, target in enumerate(panel.targets)}
    left_out = [i for i, system in enumerate(panel.systems) if system.flags]
    difference = (
        panel.values[names["rl.live", "fill=argmax"]] - panel.values[names["behaviour.live", "fill=argmax"]]
    )
    by_tracker = np.delete(difference.mean(axis=0), left_out)
    low, high = stats.t.interval(0.95, len(by_tracker) - 1, by_tracker.mean(), stats.sem(by_tracker))
    stored = read_rows(lee2014.FOLDER / "gains.csv", GainRow)
    row = next(row for row in stored if row.case == "three seeds" and row.less == "behaviour.live")
    assert (row.mean, row.low, row.high) == pytest.approx((by_tracker.mean(), low, high), abs=1e-3)
    assert (row.above, row.systems) == ((by_tracker > 0).sum(), len(by_tracker))


def test_shares_of_worlds_average_to_the_share_of_all() -> None:
    """earned and possible are means over worlds."""
    folder = overview.study_of("worlds").folder
    cells = read_rows(folder / "cells.csv", Cell)
    shares = [
        row
        for row in read_rows(folder / "shares.csv", WorldShare)
        if row.case == "first version" and row.target == "rl.live" and row.metric.startswith("jga")
    ]
    assert len(shares) == len({(cell.world, cell.dataset) for cell in cells}) == 12
    first = [cell for cell in cells if (cell.world, cell.dataset) == (cells[0].world, cells[0].dataset)]
    earned, possible = [], []
    for a, b in combinations(first, 2):
        earned.append(np.sign(a.jga - b.jga) * (a.learned - b.learned))
        possible.append(abs(a.learned - b.learned))
    assert shares[0].share == pytest.approx(np.sum(earned) / np.sum(possible), abs=6e-4)


def test_copies_that_hurt_one_policy_alone_are_seen_in_the_contrast() -> None:
    """Underconfident copies, which l2 puts lower, lose under the fixed policy only."""
    rng, rows = np.random.default_rng(0), []
    quality = rng.uniform(size=8)
    for i, good in enumerate(quality.tolist()):
        for copy in (False, True):
            row: dict[str, object] = {"dataset": "w", "family": f"t{i}"}
            row["system"] = f"recalibrated(t{i}, temperature=2)" if copy else f"t{i}"
            row |= {"accuracy": good, "l2": 1.0 - good + 0.5 * copy}
            rows.append(row | {"learned": 100.0 * good, "fixed": 100.0 * good - 60.0 * copy})
    metrics = {name: METRICS_OF_CELLS[name] for name in ("accuracy", "l2")}
    panel = verdicts.panel_of(rows, metrics, {"learned": ("rl.live", ""), "fixed": ("expert.live", "")})
    panels: Mapping[str, Panel] = dict.fromkeys(population.WORLDS, panel)
    table = Selection(list(population.contrast_rows(panels)))
    (row_of_all,) = table.where(world="bus", group="all", policy="fixed less learned").rows
    (alone,) = table.where(world="bus", group="without copies", policy="fixed less learned").rows
    assert row_of_all.value > 0.3 and row_of_all.low > 0.0
    assert abs(alone.value) < 1e-9
    assert population.base_of("recalibrated(t1, temperature=2)") == population.base_of("t1") == "t1"


def test_a_study_of_a_run(tiny: Study, tmp_path: Path) -> None:
    """From a run to tables and figure; without the run its rows are kept."""
    panel = Panel.from_run(tiny.folder)
    target = panel.targets[panel.targets_of(panel.variants[0])[0]].name
    study = MetricStudy(tmp_path, "", (target,), {"tiny": Case(tiny.folder.name, tiny.config)})
    arguments = argparse.Namespace(runs=tiny.folder.parent, existing=False)
    experiment = study.experiment
    experiment.write(experiment.compute(tmp_path, arguments), tmp_path)
    tables = experiment.read(tmp_path)
    own = {
        (row["target"], row["variant"], row["metric"], row["schedule"], row["component"]): row["lost"]
        for row in tiny.rows("choices")
        if row["systems"] == "core"
    }
    assert tables["answers"].rows and tables["choices"].rows
    for row in tables["choices"].rows:
        assert row.case == "tiny" and row.target == target
        lost = own[row.target, row.variant or "", row.metric, str(row.schedule), row.component]
        assert row.lost == (float(lost) if lost else None) or row.lost == pytest.approx(float(lost), abs=6e-4)
    study._draw(tables, tmp_path)
    assert "<svg" in (tmp_path / f"{tmp_path.name}.svg").read_text()
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    for runs in (tmp_path / "nowhere", tiny.folder.parent):
        again = argparse.Namespace(runs=runs, existing=True)
        experiment.write(experiment.compute(tmp_path, again), tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")} == before


def test_summaries_by_hand() -> None:
    (first, *_) = CHOICES.where(family="declared", metric="accuracy").rows
    changes = [{"case": case, "lost": lost, "possible": 10.0} for case, lost in (("a", 1.0), ("b", 4.0))]
    rows = [msgspec.structs.replace(first, **change) for change in changes]
    (summary,) = overview.summaries(Selection(rows))
    assert (summary.verdicts, summary.mean, summary.worst, summary.where) == (2, 0.25, 0.4, "b")


def test_a_verdict_that_promises_nothing_is_in_brackets() -> None:
    (row, *_) = read_rows(lee2014.FOLDER / "answers.csv", Answer)
    line = verdicts.answers_table([msgspec.structs.replace(row, bound=None)]).splitlines()[-1]
    assert f"({row.metric})" in line and "nothing promised" in line


# MultiWOZ's files again


@needs_data
def test_a_published_figure_and_a_paired_score_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "DATA", DATA)
    monkeypatch.setattr(state_files, "PAIRED_METRICS", ("jga",))
    folder = overview.study_of("multiwoz").folder
    (again,) = state_files.paired_rows()
    (row,) = (row for row in read_rows(folder / "paired.csv", state_files.Paired) if row.metric == "jga")
    assert msgspec.structs.astuple(again)[1:] == pytest.approx(msgspec.structs.astuple(row)[1:], abs=6e-4)
    native = DATA / "multiwoz" / "native" / "mlcsg.json.gz"
    reading = StateReading(None, None, "trippy", "keep")
    made = state_files._normalised(native, "trade", "own", "trippy", "keep", reading)
    assert round(made.jga, 2) == 52.04
