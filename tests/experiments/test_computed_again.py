"""Tables of experiments: summaries follow from rows, cells made again agree; measures of a corpus by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest
from scipy import stats

from experiments.embedded_world import __main__ as embedded_world
from experiments.embedded_world.profile import area_under_curve, calibration_error, profile
from experiments.embedded_world.tables import CorpusProfile, SimulatedDataset, TrackerAtEnd
from experiments.learners import __main__ as learners
from experiments.learners.ceiling import Config, climb, learner_returns
from experiments.learners.live_returns import PRESETS, live_returns
from experiments.learners.tables import LiveReturn, PolicySummary
from experiments.lee_wording import __main__ as lee_wording
from experiments.lee_wording.tables import Sparsified
from experiments.selection import Selection
from experiments.truth.__main__ import BY_DATASET, FOLDER, STUDIES
from experiments.truth.policy_values import Registered, compute_log, estimate_rows, logs
from experiments.truth.summary import dataset_biases, summarise
from experiments.truth.tables import DatasetBias, EstimatorSummary, PolicyEstimate
from experiments.uncertainty import __main__ as uncertainty
from experiments.uncertainty.studies import DECLARED, Cell, cell_rows, lines_of
from experiments.uncertainty.worlds import QUALITIES, SHAPES, World
from extrinsic.cli.simulate import dataset_row
from extrinsic.corpus.formats import DSTC2
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, read_simulation, simulate
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, table_bytes
from extrinsic.typed_files import read_toml
from extrinsic.verdict.choices import choices
from tests.real_data import ARCHIVE, needs_bus_calls, needs_data, read_bus_calls

REGISTERED = read_toml(FOLDER / "registered.toml", Registered)
ESTIMATES = {world: read_rows(FOLDER / f"{world}_estimates.csv", PolicyEstimate) for world in STUDIES}


def seeds_of(world: str) -> tuple[int, ...]:
    """Those that were registered, or, until these are run, those that were reported before."""
    runs = [getattr(seeds, world) for seeds in (REGISTERED.seeds, REGISTERED.seen)]
    (seeds,) = (seeds for seeds in runs if seeds[0] == ESTIMATES[world][0].seed)
    return tuple(seeds)


def test_nothing_registered_was_seen() -> None:
    for world in STUDIES:
        new, seen = (set(getattr(seeds, world)) for seeds in (REGISTERED.seeds, REGISTERED.seen))
        assert not new & seen and min(new) >= 100


def test_the_summaries_are_those_of_the_estimates() -> None:
    summaries = [row for rows in ESTIMATES.values() for row in summarise(rows)]
    assert table_bytes(summaries, EstimatorSummary, decimals=3) == (FOLDER / "summary.csv").read_bytes()
    biases = [row for rows in ESTIMATES.values() for row in dataset_biases(rows, BY_DATASET)]
    assert table_bytes(biases, DatasetBias, decimals=3) == (FOLDER / "datasets.csv").read_bytes()


def test_a_summary_by_hand() -> None:
    """Bias, error and correlation of one estimator, from the definition."""
    core = Selection(ESTIMATES["bus"]).where(estimator="mean_augmented", degenerate=False)
    (row,) = Selection(summarise(ESTIMATES["bus"])).where(estimator="mean_augmented").rows
    errors = np.array(core.column("value")) - core.column("live")
    assert (row.bias, row.rmse) == pytest.approx((errors.mean(), np.sqrt(np.mean(errors**2))))
    pairs = []
    for seed, dataset in core.distinct("seed", "dataset"):
        log = core.where(seed=seed, dataset=dataset)
        pairs.append([np.array(log.column(name)) - log.mean(name) for name in ("value", "live")])
    assert row.r_core == pytest.approx(np.corrcoef(np.concatenate(pairs, axis=1))[0, 1])


def test_a_cell_again() -> None:
    """The estimates are those of the table."""
    study = read_study(FOLDER / "config.toml")
    assert study.simulation is not None
    small = msgspec.structs.replace(
        study,
        simulation=msgspec.structs.replace(study.simulation, datasets=("ds4",)),
        trackers=msgspec.structs.replace(study.trackers, built_in=("focus",)),
        value=msgspec.structs.replace(
            study.value, estimators=("lstd", "lstd_augmented", "live"), live_dialogs=400
        ),
    )
    (tasks,) = logs(small, seeds_of("bus")[:1])
    rows = list(estimate_rows("bus", compute_log(*tasks)))
    for row in rows:
        if row.estimator == "ceiling":
            continue
        where = {name: getattr(row, name) for name in ("seed", "dataset", "tracker", "estimator")}
        (stored,) = Selection(ESTIMATES["bus"]).where(**where).rows
        assert (row.value, row.low, row.high) == pytest.approx(
            (stored.value, stored.low, stored.high), abs=1e-3
        )


ROWS = read_rows(learners.FOLDER / "live_returns.csv", LiveReturn)


def test_the_summary_is_that_of_the_returns() -> None:
    stored = read_rows(learners.FOLDER / "summary.csv", PolicySummary)
    for row, expected in zip(learners.summarise(ROWS), stored, strict=True):
        for name, value in msgspec.structs.asdict(row).items():
            exact = value if isinstance(value, str) or value is None else pytest.approx(value, abs=1.1e-3)
            assert getattr(expected, name) == exact


def test_the_interval_of_a_gain() -> None:
    """Of a mean of independent worlds, the jackknife's is Student's."""
    rows = Selection(ROWS)
    differences = [
        rows.where(seed=seed, dataset=dataset, policy="compact").mean("earned")
        - rows.where(seed=seed, dataset=dataset, policy="compact, lspi").mean("earned")
        for seed, dataset in rows.distinct("seed", "dataset")
    ]
    expected = stats.t.interval(0.95, 11, loc=np.mean(differences), scale=stats.sem(differences))
    result = learners.gain(rows, "compact", "compact, lspi")
    assert (result.low, result.high) == pytest.approx(expected)


def test_a_cell_with_few_callers() -> None:
    """What is learned is what the table has; what is played differs, as the callers are fewer."""
    seed, dataset, tracker = 101, "ds4", "hwu"
    presets = {"compact": PRESETS["compact"]}
    rows = live_returns(seed, dataset, tracker, presets, n_live=40)
    assert [row.policy for row in rows] == ["behaviour", "compact", "sl", "sl_sampled"]
    for row in rows:
        assert row.earned - row.difference == pytest.approx(rows[0].earned)
        stored = Selection(ROWS).where(seed=seed, dataset=dataset, tracker=tracker, policy=row.policy).rows[0]
        assert row.kernels == stored.kernels
        assert row.largest_q == (
            None if stored.largest_q is None else pytest.approx(stored.largest_q, abs=1e-3)
        )


def test_the_search_finds_the_top_of_a_hill() -> None:
    """Of a sum of squares, as near as the last step."""
    top = np.array([35.0, -12.0, 0.0])
    best = climb(lambda offsets: -float(((offsets - top) ** 2).sum()), 3, (40.0, 20.0, 10.0, 5.0))
    assert np.abs(best - top).max() <= 5.0
    assert climb(lambda offsets: 0.0, 3, (40.0,)).tolist() == [0.0, 0.0, 0.0]


def test_a_learning_curve_has_every_size_and_how_far_it_is_from_live() -> None:
    config = Config(
        (11,), ("ds4",), ("baseline",), ("one_step",), ("one_step", "kernel_lspi"), (2,), 10, 5, (40.0,)
    )
    names = [row.policy for row in learner_returns(config, *config.cells()[0])]
    larger = [f"{name} x{times}" for times in config.times for name in config.curve]
    assert names == ["behaviour", "one_step", *larger, "improved live"]


def test_dictionaries_of_a_cell_are_those_of_the_table() -> None:
    seed, tracker, features = 201, "baseline", "compact"
    world, preset = lee_wording.World(seed, tracker, features), lee_wording.PRESETS[features]
    behaviour = fit_behaviour(preset.logistic, world.transitions)
    table = Selection(read_rows(lee_wording.FOLDER / "sparsification.csv", Sparsified))
    for method in lee_wording.METHODS:
        policy = replace(preset.learner, sparsification=method).fit(world.transitions, behaviour)
        (row,) = table.where(seed=seed, tracker=tracker, features=features, sparsification=method).rows
        assert (row.points, row.kernels) == (len(world.transitions), len(policy.basis))
        assert row.residual == pytest.approx(policy.fit.largest_residual, abs=1e-3)


CONFIG = uncertainty.read_config()
TINY = msgspec.structs.replace(
    CONFIG, n_systems=(6, 12, 16), n_datasets=(1, 2), n_metrics=(30,), studies=3, studies_of_most=2, draws=50
)


def test_every_cell_is_there_once() -> None:
    cells = read_rows(uncertainty.FOLDER / "cells.csv", Cell)
    assert len({(c.shape, c.quality, c.n_systems, c.n_datasets) for c in cells}) == len(cells)
    assert len(cells) == len(SHAPES) * len(QUALITIES) * len(CONFIG.n_systems) * len(CONFIG.n_datasets)


@pytest.mark.parametrize("shape", ["normal", "families"])
def test_a_tiny_run(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.uncertainty.studies.MANY", 300)
    cells = [row for quality in ("good", "unrelated") for row in cell_rows(TINY, True, shape, quality)]
    assert [cell.studies for cell in cells[:6]] == [3, 3, 3, 3, 2, 2]
    assert all(0 <= cell.promised <= 1 and cell.held >= 1 - cell.promised for cell in cells)
    lines = lines_of(cells)
    assert [(line.n_systems, line.studies) for line in lines] == [(6, 6), (12, 6), (16, 4)]
    assert cell_rows(TINY, True, shape, "good")[0] == cells[0]
    assert (shape, "good") in TINY.worlds(kept=False)
    assert {name for name, _ in TINY.worlds(kept=False)} == set(SHAPES) - set(CONFIG.kept_shapes)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_world_is_as_good_as_it_says(shape: str) -> None:
    """The declared are of every cluster; metrics of a cluster lose alike, and better ones less."""
    scores, values, families = World(shape, "good", 30, 2).draw(400, np.random.default_rng(1))
    assert (scores.shape, values.shape) == ((30, 2, 400), (2, 400))
    assert (len(set(families.tolist())) < 200) == (shape in ("families", "copies"))
    share = choices(scores[:DECLARED], values).share
    if shape != "aspects":  # of which every other cluster sees the smaller one
        assert share[:6] == pytest.approx(np.linspace(0.9, 0.3, 6), abs=0.2)
    assert share[0] > share[2] > share[4]
    assert share[6:] == pytest.approx(share[:4], abs=0.1)


def test_a_selection_by_hand() -> None:
    rows = read_rows(uncertainty.FOLDER / "cells.csv", Cell)[:18]
    selection = Selection(rows)
    some = selection.where(n_systems=[8, 12], quality="good")
    assert some.column("held") == [row.held for row in rows if row.n_systems in (8, 12)]
    assert selection.distinct("n_systems") == list(CONFIG.n_systems)
    assert selection.means("held", "n_systems", "quality")[8, "good"] == pytest.approx(
        np.mean([row.held for row in rows if row.n_systems == 8])
    )
    assert selection.in_percent("held").lowest("held") == 100.0 * min(row.held for row in rows)


DATASETS = Selection(read_rows(embedded_world.FOLDER / "datasets.csv", SimulatedDataset))
PROFILES = Selection(read_rows(embedded_world.FOLDER / "profiles.csv", CorpusProfile))
SCORES = Selection(read_rows(embedded_world.FOLDER / "trackers.csv", TrackerAtEnd))
AGAIN = "make the tables again: python -m experiments.embedded_world"
LAST_DIGIT = 6e-4
"""Three places are written."""

OTHER_VERSIONS = 0.02
"""Of libraries: what learned trackers may differ by."""


@cache
def ds4(split: str) -> Play:
    return simulate(read_simulation(), "ds4", split)


def assert_stored(row: msgspec.Struct, stored: msgspec.Struct, tolerance: float) -> None:
    for name, value in msgspec.structs.asdict(row).items():
        expected = pytest.approx(value, abs=tolerance) if isinstance(value, float) else value
        assert getattr(stored, name) == expected, f"{name}; {AGAIN}"


@pytest.mark.parametrize("split", ["train", "test"])
def test_datasets(split: str) -> None:
    (stored,) = DATASETS.where(dataset=f"ds4_{split}").rows
    assert_stored(SimulatedDataset(**dataset_row(ds4(split))), stored, LAST_DIGIT)


def test_profiles_of_simulated_calls() -> None:
    for corpus in (ds4("test").corpus, embedded_world.fresh_letsgo()):
        (stored,) = PROFILES.where(dataset=corpus.dataset).rows
        assert_stored(embedded_world.profile_row(corpus, False), stored, LAST_DIGIT)


@needs_data
def test_profiles_of_real_calls() -> None:
    for corpus in embedded_world.real_corpora():
        (stored,) = PROFILES.where(dataset=corpus.dataset).rows
        assert_stored(embedded_world.profile_row(corpus, True), stored, LAST_DIGIT)


@pytest.mark.parametrize("name", TRACKERS.names())
def test_trackers(name: str) -> None:
    rows = SCORES.where(dataset="ds4", tracker=name).rows
    assert len(rows) == 1, AGAIN
    row = embedded_world.tracker_row(name, "ds4", ds4("test"), ds4("train"))
    assert_stored(row, rows[0], OTHER_VERSIONS if row.kind == "learned" else LAST_DIGIT)


def test_area_and_calibration_by_hand() -> None:
    """Of four pairs of a right and a wrong one, three are in order and one is a tie: 3.5 / 4."""
    score, right = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    assert area_under_curve(score, right) == 3.5 / 4
    # Bins [.9, 1], [.5, .6), [.1, .2): |.9 - 1| + |1.0 - 1| + |.1 - 0|, over four.
    assert calibration_error(score, right) == pytest.approx(0.2 / 4)
    assert calibration_error(np.array([1.0]), np.array([True])) == 0.0
    assert np.isnan(area_under_curve(score, np.ones(4, dtype=bool)))


def test_lists_by_plain_counting() -> None:
    corpus = read_simulation().simulate("ds4", "test").corpus
    measured, sizes = profile(corpus), np.diff(corpus.nbest.offsets)
    answered = np.delete(sizes, corpus.offsets[1:] - 1)
    # The world's lists hold no hypothesis twice.
    assert measured.lists_of_one == (sizes[sizes > 0] == 1).mean()
    assert measured.long_lists == (sizes[sizes > 0] >= 10).mean()
    assert measured.longest == sizes.max()
    assert measured.empty_lists == (answered == 0).mean()
    assert measured.turns_per_call == corpus.n_turns / 165
    assert sum(measured.predicates.values()) == pytest.approx(1.0)


@needs_bus_calls
def test_real_bus_calls() -> None:
    """The figures that another program counted: .59, .04, 61, 1.0, .06, .14, .19, 10.3."""
    real = profile(read_bus_calls("train3_plain"))
    assert (real.calls, real.longest, real.concepts, real.ended_by_system) == (447, 61, 1.0, 0.0)
    shares = (real.lists_of_one, real.long_lists, real.empty_lists)
    assert shares == pytest.approx((0.59, 0.04, 0.06), abs=0.005)
    assert (real.predicates["confirm"], real.predicates["request"]) == pytest.approx((0.14, 0.19), abs=0.005)
    assert real.turns_per_call == pytest.approx(10.3, abs=0.05)


@needs_data
def test_real_restaurant_calls() -> None:
    """Half of the best scores are above .9."""
    real = profile(DSTC2.read_corpus(ARCHIVE, "dstc2_train"))
    assert (real.calls, real.longest, real.empty_lists) == (1612, 10, 0.0)
    assert real.sure == pytest.approx(0.52, abs=0.005)
    assert real.auc == pytest.approx(0.83, abs=0.005)
