"""Errors by dose: one thing moves, by as much as was asked, the same in live play as on the log of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats, row_of_each
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, find_simulation, play
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, needs_bus_calls, needs_data, read_bus_calls
from tests.trackers.calls import noisy_calls, restaurant_calls
from tests.trackers.test_by_hand import CALL

WORLDS = ("bus", "restaurants")
KINDS = ("wrong", "missed", "overshot", "stale")


@cache
def calls(world: str) -> Corpus:
    """Calls of a world whose callers often change their minds."""
    simulation = find_simulation(world, None, 7)
    dataset = simulation.corpora()[0][0]
    return simulation.simulate(dataset, "test").corpus


@cache
def tracked(world: str, doses: str = "") -> TrackerOutput:
    name = f"dosed(hwu, {doses})" if doses else "hwu"
    return track(TRACKERS.get(name), calls(world), name)


def tops(output: TrackerOutput) -> tuple[np.ndarray, Bools, Floats]:
    """Per item the best value, whether it is right, and its score."""
    beliefs = output.beliefs
    return beliefs.value[beliefs.top], beliefs.correct[beliefs.top], beliefs.score[beliefs.top]


def sorted_scores(output: TrackerOutput) -> Floats:
    """The scores of every item, None's among them, from the highest; those of 0 left out."""
    beliefs = output.beliefs
    item, positive = row_of_each(beliefs.offsets), beliefs.score > 1e-12
    order = np.lexsort((-beliefs.score, item))
    return beliefs.score[order][positive[order]]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_only_change_places(world: str, kind: str) -> None:
    """A belief is as sure as before: its scores, in order, are the same numbers."""
    for dose in (0.3, -1.0):
        dosed = tracked(world, f"{kind}={dose}")
        np.testing.assert_allclose(sorted_scores(dosed), sorted_scores(tracked(world)), atol=1e-9)


@pytest.mark.parametrize("world", WORLDS)
def test_a_dose_of_wrong_values_is_what_was_asked(world: str) -> None:
    """Of the right values on top a share d becomes wrong, within 4 standard errors; all others stay."""
    value, right, _ = tops(tracked(world))
    hit = (value != NONE) & right
    for dose in (0.1, 0.5):
        after, still_right, _ = tops(tracked(world, f"wrong={dose}"))
        assert (after[~hit] == value[~hit]).all()
        share = (~still_right[hit]).mean()
        assert abs(share - dose) < 4.0 * (dose * (1 - dose) / hit.sum()) ** 0.5
        assert (after[hit & (after != value)] != NONE).all()
    everything = tops(tracked(world, "wrong=1"))[1]
    assert not everything[hit].any()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", ("wrong", "missed", "overshot"))
def test_a_larger_dose_has_the_errors_of_a_smaller_one(world: str, kind: str) -> None:
    before = tops(tracked(world))[0]
    moved = [tops(tracked(world, f"{kind}={dose}"))[0] != before for dose in (0.1, 0.3, 0.9)]
    assert 0 < moved[0].sum() < moved[1].sum() < moved[2].sum()
    assert not (moved[0] & ~moved[1]).any()
    assert not (moved[1] & ~moved[2]).any()


@pytest.mark.parametrize("world", WORLDS)
def test_missed_and_overshot(world: str) -> None:
    value, right, _ = tops(tracked(world))
    missed = tops(tracked(world, "missed=1"))[0]
    assert (missed[right & (value != NONE)] == NONE).all()
    assert (missed[~right] == value[~right]).all()
    overshot, is_right, _ = tops(tracked(world, "overshot=1"))
    rightly_empty = right & (value == NONE)
    assert (overshot[rightly_empty] != NONE).all()
    assert not is_right[rightly_empty].any()
    assert (overshot[~rightly_empty] == value[~rightly_empty]).all()


@pytest.mark.parametrize("world", WORLDS)
def test_errors_are_removed(world: str) -> None:
    """Without wrong, missed and overshot values everything is right that can be; None is put right too."""
    _, right, _ = tops(tracked(world))
    assert not right.all()
    mended = tops(tracked(world, "wrong=-1, missed=-1, overshot=-1, stale=-1"))[1]
    assert mended.all()
    for kind in ("wrong", "missed", "overshot"):
        _, is_right, _ = tops(tracked(world, f"{kind}=-1"))
        assert is_right.sum() >= right.sum()
        assert is_right[right].all()


def test_stale_values_were_right_before() -> None:
    """In DSTC2's labels a goal that changed is wrong; `stale` brings it back, and nothing else moves."""
    corpus = calls("restaurants")
    value, right, _ = tops(tracked("restaurants"))
    after, is_right, _ = tops(tracked("restaurants", "stale=1"))
    moved = np.flatnonzero(after != value)
    n_slots = len(corpus.slots)
    assert len(moved)
    assert right[moved].all()
    assert not is_right[moved].any()
    dialog = np.searchsorted(corpus.offsets, moved // n_slots, side="right") - 1
    for item, begin in zip(moved, corpus.offsets[dialog], strict=True):
        turn, slot = divmod(int(item), n_slots)
        assert after[item] in corpus.labels.goal[begin:turn, slot]  # type: ignore[union-attr]


@pytest.mark.parametrize("world", WORLDS)
def test_temperature_keeps_every_ranking(world: str) -> None:
    """b^2, normalised: what `focus_overconfident` does to focus."""
    corpus = calls(world)
    dosed, squared = (
        track(TRACKERS.get(name), corpus, name).beliefs
        for name in ("dosed(focus, temperature=0.5)", "focus_overconfident")
    )
    np.testing.assert_allclose(dosed.score, squared.score, atol=1e-12)
    # Equals have no order but that of rounding.
    different = np.abs(np.diff(squared.score)) > 1e-9
    alone = np.append(different, True) & np.insert(different, 0, True)
    np.testing.assert_array_equal(dosed.value[alone], squared.value[alone])
    _, before, _ = tops(track(TRACKERS.get("focus"), corpus, "focus"))
    assert (dosed.correct[dosed.top] == before).mean() > 0.999


def test_seconds_are_scrambled_and_tops_are_not() -> None:
    before, after = tracked("bus"), tracked("bus", "second=1")
    np.testing.assert_array_equal(tops(before)[0], tops(after)[0])
    np.testing.assert_allclose(sorted_scores(before), sorted_scores(after), atol=1e-9)
    assert (before.beliefs.value != after.beliefs.value).any()


def test_none_takes_and_gives_its_share() -> None:
    def nones(output: TrackerOutput) -> Floats:
        beliefs = output.beliefs
        return beliefs.score[beliefs.value == NONE]

    before = nones(tracked("bus"))
    np.testing.assert_allclose(nones(tracked("bus", "none=0.4")), 1 - 0.6 * (1 - before), atol=1e-9)
    some = before < 1 - 1e-9
    np.testing.assert_allclose(nones(tracked("bus", "none=-0.4"))[some], 0.6 * before[some], atol=1e-9)


def test_where_errors_are() -> None:
    corpus, before = calls("bus"), tops(tracked("bus"))[0]
    turn = (np.arange(corpus.n_turns) - np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets)))[:, None]
    column = np.arange(len(corpus.slots))[None]

    def moved(where: str) -> Bools:
        return (tops(tracked("bus", f"wrong=0.5, {where}"))[0] != before).reshape(turn.shape[0], -1)

    everywhere = moved("turns=all")
    np.testing.assert_array_equal(moved("turns=early"), everywhere & (turn < 5))
    np.testing.assert_array_equal(moved("turns=late"), everywhere & (turn >= 5))
    slot = corpus.slots.index("route")
    np.testing.assert_array_equal(moved("slot=route"), everywhere & (column == slot))


def test_clustered_errors_are_as_many_but_together() -> None:
    """A (dialog, slot) has them at all of its right turns, or at none."""
    corpus = calls("bus")
    value, right, _ = tops(tracked("bus"))
    hit = ((value != NONE) & right).reshape(corpus.n_turns, -1)
    shares = {}
    for clustered in (0, 1):
        moved = (tops(tracked("bus", f"wrong=0.3, clustered={clustered}"))[0] != value).reshape(hit.shape)
        errors, all_right = (np.add.reduceat(part, corpus.offsets[:-1]) for part in (moved, hit))
        shares[clustered] = (errors[all_right > 1] / all_right[all_right > 1], moved.sum() / hit.sum())
    assert set(shares[1][0].tolist()) == {0.0, 1.0}
    assert len(set(shares[0][0].tolist())) > 5
    assert shares[0][1] == pytest.approx(0.3, abs=0.03)
    assert shares[1][1] == pytest.approx(0.3, abs=0.06)


@cache
def played(world: str, doses: str) -> Play:
    simulation = find_simulation(world, None, 7)
    dataset = simulation.corpora()[0][0]
    settled = simulation.world(dataset, "test")
    return play(settled.policy(), TRACKERS.get(f"dosed(hwu, {doses})"), 60, 3, settled)  # type: ignore[union-attr]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "doses", ["missed=1", "stale=1", "wrong=-1, missed=-1", "overshot=-1", "temperature=2"]
)
def test_live_play_places_what_its_log_would(world: str, doses: str) -> None:
    """A dose of 1 needs no draw: the tracker run on the log of its own calls believes the same."""
    live = played(world, doses)
    stored = track(TRACKERS.get(f"dosed(hwu, {doses})"), live.corpus, "x")
    np.testing.assert_array_equal(stored.beliefs.value, live.output.beliefs.value)
    np.testing.assert_array_equal(stored.beliefs.score, live.output.beliefs.score)


@pytest.mark.parametrize("world", WORLDS)
def test_wrong_values_in_live_play_are_wrong(world: str) -> None:
    live = played(world, "wrong=1")
    value, right, _ = tops(track(TRACKERS.get("hwu"), live.corpus, "hwu"))
    assert not tops(live.output)[1][right & (value != NONE)].any()


def test_errors_do_not_depend_on_other_dialogs() -> None:
    corpus = noisy_calls(30, seed=1)
    name = "dosed(hwu, missed=0.3, second=0.5)"
    whole, alone = (track(TRACKERS.get(name), part, name) for part in (corpus, corpus.take([17])))
    np.testing.assert_array_equal(whole.take([17]).beliefs.score, alone.beliefs.score)


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(UsageError, match="no labels"):
        track(TRACKERS.get("dosed(hwu, wrong=0.5)"), restaurant_calls(CALL), "x")
    with pytest.raises(UsageError, match="did you mean 'route'"):
        track(TRACKERS.get("dosed(hwu, wrong=0.5, slot=rout)"), calls("bus"), "x")


def test_without_a_wrong_value_there_is_no_error() -> None:
    """One dialog that mentions one value: nothing else is known."""
    corpus = calls("restaurants")
    lonely = [
        dialog
        for dialog in range(corpus.n_dialogs)
        if (corpus.take([dialog]).labels.goal != NONE).any()  # type: ignore[union-attr]
    ]
    messages = []
    for dialog in lonely[:40]:
        try:
            track(TRACKERS.get("dosed(hwu, wrong=1)"), corpus.take([dialog]), "x")
        except UsageError as error:
            messages.append(str(error))
    assert messages
    assert all("no wrong value of it is known" in message for message in messages)


@needs_bus_calls
def test_real_calls_of_the_first_challenge() -> None:
    """Labels of DSTC1: a slot may have several right values, and calls begin anew."""
    corpus = read_bus_calls()
    base, dosed, mended = (
        tops(track(TRACKERS.get(name), corpus, name))
        for name in ("hwu", "dosed(hwu, wrong=0.2)", "dosed(hwu, wrong=-1, missed=-1, overshot=-1, stale=-1)")
    )
    hit = (base[0] != NONE) & base[1]
    assert abs((~dosed[1][hit]).mean() - 0.2) < 4.0 * (0.16 / hit.sum()) ** 0.5
    np.testing.assert_array_equal(dosed[0][~hit], base[0][~hit])
    np.testing.assert_allclose(np.sort(dosed[2]), np.sort(base[2]), atol=1e-9)
    assert mended[1].all()


@needs_data
def test_real_calls_of_the_second_challenge() -> None:
    corpus = DSTC2.read_corpus(ARCHIVE, "dstc2_dev")
    base, dosed, mended = (
        tops(track(TRACKERS.get(name), corpus, name))
        for name in (
            "hwu",
            "dosed(hwu, missed=0.2)",
            "dosed(hwu, wrong=-1, missed=-1, overshot=-1, stale=-1)",
        )
    )
    hit = (base[0] != NONE) & base[1]
    assert abs((~dosed[1][hit]).mean() - 0.2) < 4.0 * (0.16 / hit.sum()) ** 0.5
    np.testing.assert_array_equal(dosed[0][~hit], base[0][~hit])
    assert mended[1].all()
