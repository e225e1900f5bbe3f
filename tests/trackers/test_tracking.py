"""Candidates keep their places, and a tracker's memory goes with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

from extrinsic.arrays import Floats, turns_in_step
from extrinsic.corpus.corpus import Corpus
from extrinsic.trackers.tracking import FIRST_WIDTH, Candidates, Heard, StepBelief, Tracking
from tests.builders import act
from tests.corpus.bus_calls import answered_bus_calls, bus_corpus, said
from tests.metrics.reading import read_dstc1


def route(*names: str) -> list[Any]:
    """Hypotheses of equal score, each with one route."""
    return [(0.0625, [act("inform", ("route", name))]) for name in names]


def texts(corpus: Corpus, candidates: Candidates, dialog: int = 0, slot: str = "route") -> list[Any]:
    column = corpus.slots.index(slot)
    row = candidates.value[dialog, column, : candidates.count[dialog, column]]
    return [corpus.vocabulary.value(int(identity)) for identity in row]


def place_all(corpus: Corpus) -> tuple[Candidates, list[list[int]]]:
    """The places given at every step of a single call."""
    candidates = Candidates(corpus.n_dialogs, len(corpus.slots))
    places = []
    for active, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        evidence = corpus.evidence.take(turns)
        candidates.forget(active[evidence.restart])
        places.append(candidates.locate(active, evidence).tolist())
    return candidates, places


def test_places_are_by_first_appearance_and_stay() -> None:
    turns = [said([], *route("a", "b")), said([], *route("c", "b")), said([], *route("a"))]
    corpus = bus_corpus(turns)
    candidates, places = place_all(corpus)
    # Rows of a turn come best first, equals in their order: a, b; c, b; a.
    assert places == [[0, 1], [2, 1], [0]]
    assert texts(corpus, candidates) == ["a", "b", "c"]
    assert candidates.width == FIRST_WIDTH


def test_more_values_than_the_first_width() -> None:
    names = [f"r{number}" for number in range(2 * FIRST_WIDTH + 3)]
    half = len(names) // 2
    corpus = bus_corpus([said([], *route(*names[:half])), said([], *route(*names[::-1]))], [said([])])
    candidates, places = place_all(corpus)
    assert texts(corpus, candidates) == [*names[:half], *names[half:][::-1]]
    assert sorted(places[1]) == list(range(len(names)))
    assert candidates.count.sum() == len(names)
    assert texts(corpus, candidates, dialog=1) == []
    assert (candidates.value[1] == 0).all()


def test_a_restart_forgets_only_its_own_dialog() -> None:
    turns = [said([], *route("a", "b")), said([act("restart")], *route("c"), restart=True)]
    other = [said([], *route("a", "b")), said([], *route("c"))]
    corpus = bus_corpus(turns, other)
    candidates, _ = place_all(corpus)
    assert texts(corpus, candidates, dialog=0) == ["c"]
    assert texts(corpus, candidates, dialog=1) == ["a", "b", "c"]


class Summing:
    """Adds up what was informed (plane 0) and how often (plane 1)."""

    planes = 2

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return memory + np.stack([heard.informed, (heard.informed > 0).astype(float)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] * memory[1])


def beliefs(corpus: Corpus, belief: StepBelief, row: int = 0) -> dict[tuple[str, Any], float]:
    found = {}
    for slot, place in zip(*np.nonzero(belief.score[row] > 0), strict=True):
        value = corpus.vocabulary.value(int(belief.value[row, slot, place]))
        found[corpus.slots[slot], value] = float(belief.score[row, slot, place])
    return found


def test_memory_follows_its_candidate() -> None:
    """Also when the table is widened in between, and not over a restart."""
    many = [f"r{number}" for number in range(FIRST_WIDTH + 1)]
    corpus = bus_corpus(
        [
            said([], (0.5, [act("inform", ("route", "a"))])),
            said([], *route(*many)),
            said([], (0.25, [act("inform", ("route", "a"))])),
            said([act("restart")], (0.125, [act("inform", ("route", "b"))]), restart=True),
        ]
    )
    tracking = Tracking(Summing(), 1, len(corpus.slots))
    steps = [
        tracking.step(active, corpus.evidence.take(turns))
        for active, turns in turns_in_step(corpus.offsets, np.array([0]))
    ]
    assert beliefs(corpus, steps[0]) == {("route", "a"): 0.5}
    assert beliefs(corpus, steps[1])["route", "r8"] == 0.0625
    assert beliefs(corpus, steps[2])["route", "a"] == 0.75 * 2
    assert beliefs(corpus, steps[3]) == {("route", "b"): 0.125}


@given(answered_bus_calls())
@settings(max_examples=40)
def test_lockstep_equals_one_dialog_at_a_time(files: Any) -> None:
    """And both equal a dictionary per dialog."""
    corpus = read_dstc1(files)[0]
    together = Tracking(Summing(), corpus.n_dialogs, len(corpus.slots))
    steps: dict[tuple[int, int], dict[Any, float]] = {}
    for number, (active, turns) in enumerate(turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs))):
        belief = together.step(active, corpus.evidence.take(turns))
        for row, dialog in enumerate(active):
            steps[int(dialog), number] = beliefs(corpus, belief, row)
    for dialog in range(corpus.n_dialogs):
        total: dict[Any, float] = {}
        count: dict[Any, int] = {}
        for number, turn in enumerate(range(*corpus.offsets[dialog : dialog + 2])):
            if corpus.restart[turn]:
                total, count = {}, {}
            evidence = corpus.evidence.take(np.array([turn]))
            for item in range(len(corpus.slots)):
                for row in range(evidence.offsets[item], evidence.offsets[item + 1]):
                    if evidence.informed[row] > 0:
                        key = corpus.slots[item], corpus.vocabulary.value(int(evidence.value[row]))
                        total[key] = total.get(key, 0.0) + float(evidence.informed[row])
                        count[key] = count.get(key, 0) + 1
            assert steps[dialog, number] == {key: total[key] * count[key] for key in total}


def test_heard_lays_evidence_over_the_candidates() -> None:
    system = [act("expl-conf", ("route", "a")), act("request", ("slot", "time"))]
    corpus = bus_corpus(
        [
            said([], *route("a", "b")),
            said(system, (0.5, [act("affirm")]), (0.25, [act("inform", ("route", "c"))])),
        ]
    )
    candidates = Candidates(1, len(corpus.slots))
    dialog, column = np.array([0]), corpus.slots.index("route")
    for turn in (0, 1):
        evidence = corpus.evidence.take(np.array([turn]))
        place = candidates.locate(dialog, evidence)
    heard = Heard(evidence, place, candidates.value[dialog])
    # The candidates are a, b, c; b is not spoken of any more.
    assert heard.is_candidate[0, column].tolist() == [True] * 3 + [False] * (FIRST_WIDTH - 3)
    laid_out = {
        name: getattr(heard, name)[0, column, :3].tolist() for name in ("informed", "affirmed", "top")
    }
    assert laid_out == {"informed": [0.5, 0, 0.25], "affirmed": [0.5, 0, 0], "top": [0.5, 0, 0]}
    assert heard.rank[0, column, :3].tolist() == [1.0, 0.0, 0.5]
    assert heard.explicit[0, column, :3].tolist() == [True, False, False]
    assert not heard.implicit.any()
    assert not heard.denied.any()
    assert heard.requested[0].tolist() == [slot == "time" for slot in corpus.slots]
