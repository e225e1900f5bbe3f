"""The embedded datasets: Lee's sizes and lengths, his rates, and dialogs that depend on nothing else."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from extrinsic.simulation import BusSimulation, Play, describe, read_simulation, simulate
from tests.simulation.test_play import dialogs_of

LEE = {
    "ds1_train": (274, 9.5),
    "ds1_test": (312, 6.9),
    "ds2_train": (321, 10.6),
    "ds2_test": (339, 7.6),
    "ds3_train": (277, 8.0),
    "ds3_test": (286, 7.0),
    "ds4_train": (141, 7.5),
    "ds4_test": (165, 5.9),
}
"""Dialogs, and mean turns of a dialog, of Lee 2014, Table 1."""


@pytest.fixture(scope="module")
def simulation() -> BusSimulation:
    return read_simulation()


@pytest.fixture(scope="module")
def plays(simulation: BusSimulation) -> dict[str, Play]:
    return {
        f"{dataset}_{split}": simulate(simulation, dataset, split) for dataset, split in simulation.corpora()
    }


def test_the_datasets_are_those_of_the_paper(plays: dict[str, Play]) -> None:
    sizes = {name: played.corpus.n_dialogs for name, played in plays.items()}
    assert {name: sizes[name] for name in LEE} == {name: dialogs for name, (dialogs, _) in LEE.items()}
    assert set(sizes) - set(LEE) == {f"{d}_{s}" for d in ("letsgo", "cambridge") for s in ("train", "test")}
    assert all(played.corpus.dataset == name for name, played in plays.items())


@pytest.mark.parametrize("name", LEE)
def test_numbers_are_near_those_of_the_paper(plays: dict[str, Play], name: str) -> None:
    """Turns within 15 %; the said value at rank 1 in 42-65 % of the lists, anywhere in 68-80 %."""
    found = describe(plays[name])
    assert found.turns_per_dialog == pytest.approx(LEE[name][1], rel=0.15)
    assert found.lee_turns_per_dialog == pytest.approx(LEE[name][1], abs=0.05)
    assert 0.42 <= found.rank_1 <= 0.65
    assert 0.68 <= found.in_list <= 0.80
    assert found.list_size > 2
    assert 0.0 < found.hang_ups < 1.0 - found.completed


def test_statistics_by_counting(plays: dict[str, Play]) -> None:
    played = plays["ds4_test"]
    found, corpus = describe(played), played.corpus
    assert found.turns == corpus.n_turns == corpus.offsets[-1]
    assert found.turns_per_dialog == corpus.n_turns / 165
    assert found.completed == played.completed.mean()
    ranks = played.said_rank.tolist()
    assert found.rank_1 == ranks.count(0) / len(ranks)
    assert found.in_list == sum(rank >= 0 for rank in ranks) / len(ranks)


def test_ranks_of_what_was_said_in_a_perfect_world(simulation: BusSimulation) -> None:
    world = simulation.world("ds4")
    quiet = msgspec.structs.replace(world, recogniser=msgspec.structs.replace(world.recogniser, noise=0.0))
    played = simulate(_with_world(simulation, quiet, 50), "ds4", "test")
    found = describe(played)
    assert (found.rank_1, found.in_list, found.list_size) == (1.0, 1.0, 1.0)


def _with_world(simulation: BusSimulation, world: object, dialogs: int) -> BusSimulation:
    return BusSimulation(simulation.seed, {"ds4": {"test": world}}, {"ds4": {"test": dialogs}})  # type: ignore[dict-item]


def test_a_dialog_depends_on_nothing_but_its_name(simulation: BusSimulation, plays: dict[str, Play]) -> None:
    """Not on how many there are of it, nor on what else the configuration holds."""
    alone = simulate(_with_world(simulation, simulation.world("ds4"), 20), "ds4", "test")
    assert dialogs_of(alone) == dialogs_of(plays["ds4_test"])[:20]
    assert alone.corpus.sessions == plays["ds4_test"].corpus.sessions[:20]


def test_datasets_splits_and_seeds_have_their_own_callers(
    simulation: BusSimulation, plays: dict[str, Play]
) -> None:
    other = BusSimulation(simulation.seed + 1, simulation.worlds, simulation.dialogs)
    signatures = {name: played.corpus.signature for name, played in plays.items()}
    assert len(set(signatures.values())) == len(plays)
    again = simulate(other, "ds4", "test")
    assert again.corpus.signature != signatures["ds4_test"]
    assert dialogs_of(again)[:5] != dialogs_of(plays["ds4_test"])[:5]
    assert simulate(simulation, "ds4", "test").corpus.signature == signatures["ds4_test"]


def test_hang_ups_are_of_those_who_got_nothing(plays: dict[str, Play]) -> None:
    played = plays["ds4_test"]
    nobody = {**played.outcomes, "success": np.zeros_like(played.outcomes["success"])}
    everybody = replace(played, outcomes=nobody)
    assert describe(everybody).hang_ups == (played.ending == 1).mean() > describe(played).hang_ups


def test_completed_calls_had_an_offer(plays: dict[str, Play]) -> None:
    corpus, completed = plays["ds1_test"].corpus, plays["ds1_test"].completed
    offers = corpus.predicate == corpus.domain.predicate_names.index("offer")
    offered = np.bincount(corpus.dialog_of_turn[offers], minlength=corpus.n_dialogs) > 0
    assert offered[completed].all()
    assert not completed[~offered].any()
