"""Live calls: what is said, labelled and answered in them, and how they end."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.simulation import CUT_OFF, GOODBYE, HANG_UP, ExpertTracker, play
from extrinsic.simulation.bus.goals import draw_goals
from extrinsic.simulation.bus.world_settings import WorldSettings
from extrinsic.simulation.chance import Chance
from tests.contents import acts_content
from tests.simulation.players import Always
from tests.simulation.worlds import (
    BUS,
    GROUPS,
    NOISY,
    PATIENT,
    PREDICATES,
    QUIET,
    acts_of_turns,
    expert_play,
    group_column,
    lists_of_turns,
    world,
)


def goals(n_dialogs: int, rng: int, of: WorldSettings) -> Any:
    return draw_goals(of.goal, BUS, Chance.of(n_dialogs, "live", rng))


def test_labels_are_of_the_callers_goals() -> None:
    """A value heard is labelled right if it is what the caller wants, wrong if not."""
    steady = world(caller={"changes_goal": 0.0})
    played = expert_play(steady, 200, 4)
    corpus, wanted = played.corpus, goals(200, 4, steady)
    labels = corpus.labels
    group = BUS.group[labels.slot]
    number = BUS.number[labels.slot, labels.value]
    right = wanted[corpus.dialog_of_turn[labels.turn], group] == number
    assert np.array_equal(labels.correct, right)
    assert 0.2 < right.mean() < 0.9


def test_every_value_heard_is_labelled_once_and_nothing_else() -> None:
    """Informed, or confirmed by a yes."""
    corpus = expert_play(NOISY, 100).corpus
    evidence = corpus.evidence
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    observed = evidence.informed > 0
    expected = set(zip(item[observed].tolist(), evidence.value[observed].tolist(), strict=True))
    labels = corpus.labels
    found = list(zip((labels.turn * 9 + labels.slot).tolist(), labels.value.tolist(), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_confirmations_are_answered_by_the_goal() -> None:
    """Where yes and no are never misheard: yes to a right explicit confirmation, no to a wrong one."""
    clear = world({"yes_no": 0.0}, {"answers": 1.0, "changes_goal": 0.0})
    played = expert_play(clear, 400, 6)
    corpus, wanted = played.corpus, goals(400, 6, clear)
    evidence = corpus.evidence
    last = np.zeros(corpus.n_turns, dtype=bool)
    last[corpus.offsets[1:] - 1] = True  # who hangs up does not answer
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    turn, slot = item // 9, item % 9
    right = wanted[corpus.dialog_of_turn[turn], BUS.group[slot]] == BUS.number[slot, evidence.value]
    asked = evidence.explicit & ~last[turn]
    heard = np.diff(corpus.nbest.offsets)[turn] > 0
    for flags, yes in ((asked & right, True), (asked & ~right, False)):
        turns = turn[flags]
        assert len(turns) > 100
        assert heard[flags].all()
        assert ((evidence.affirms[turns] > 0) == yes).all()
        assert ((evidence.negates[turns] > 0) != yes).all()


def test_infinitely_patient_callers_never_hang_up() -> None:
    played = expert_play(world({"noise": 2.0}, {**PATIENT, "leaves_content": 1.0}, longest_dialog=15), 400)
    assert set(played.ending) == {GOODBYE, CUT_OFF}
    lengths = np.diff(played.corpus.offsets)
    assert (lengths[played.ending == CUT_OFF] == 15).all()
    last = played.corpus.predicate[played.corpus.offsets[1:] - 1]
    assert np.array_equal(played.ending == GOODBYE, last == PREDICATES.index("goodbye"))


def test_they_stay_even_with_a_system_that_only_asks() -> None:
    played = play(Always("request"), ExpertTracker(), 50, 1, world(caller=PATIENT, longest_dialog=30))
    assert (played.ending == CUT_OFF).all()
    assert (np.diff(played.corpus.offsets) == 30).all()


def test_impatient_callers_hang_up() -> None:
    shares = [
        (expert_play(world(caller={"patience": patience}), 400).ending == HANG_UP).mean()
        for patience in (3.0, 8.0, 20.0)
    ]
    assert shares[0] > 0.9
    assert shares[0] > shares[1] > shares[2]


def test_goals_change_at_a_rate() -> None:
    """Without noise every wish is labelled right; a slot group with two right values has changed."""

    def changed(rate: float) -> int:
        corpus = expert_play(world(QUIET, {"changes_goal": rate}), 300).corpus
        labels = corpus.labels
        right = labels.correct
        keys = zip(
            corpus.dialog_of_turn[labels.turn[right]],
            BUS.group[labels.slot[right]],
            labels.value[right],
            strict=True,
        )
        distinct = {tuple(map(int, key)) for key in keys}
        return len(distinct) - len({key[:2] for key in distinct})

    never, seldom, often = changed(0.0), changed(0.02), changed(0.2)
    assert never == 0
    assert 0 < 3 * seldom < often


def test_calls_that_lee_leaves_out_are_absent_by_default() -> None:
    corpus = expert_play(world(), 300).corpus
    names = {name for acts in acts_of_turns(corpus) for name, _ in acts}
    said = {name for acts in acts_content(corpus.nbest.acts, corpus.vocabulary) for name, _ in acts}
    assert not {"restart", "canthelp.no_connection"} & names
    assert "restart" not in said
    assert not corpus.restart.any()


def test_callers_may_start_over() -> None:
    corpus = expert_play(world(caller={"starts_over": 0.3}), 300).corpus
    restarts = np.array([("restart", []) in acts for acts in acts_of_turns(corpus)])
    assert np.array_equal(corpus.restart, restarts)
    assert restarts.sum() > 20
    # The system begins anew just after it heard the wish in its best hypothesis.
    best = [hypotheses[0][2] if hypotheses else [] for hypotheses in lists_of_turns(corpus)]
    asked = np.array([("restart", []) in acts for acts in best])
    assert asked[np.flatnonzero(restarts) - 1].all()


def test_some_places_may_not_be_connected() -> None:
    corpus = expert_play(world(no_connection=0.5), 300).corpus
    acts = acts_of_turns(corpus)
    refused = np.array([any(name == "canthelp.no_connection" for name, _ in of) for of in acts])
    # As in real calls: both places, the destination confirmed implicitly, and asked for again.
    for of in (acts[turn] for turn in np.flatnonzero(refused)):
        (_, places), (_, confirmed), (_, asked) = of
        assert [name for name, _ in of] == ["canthelp.no_connection", "impl-conf", "request"]
        assert [slot.split(".")[0] for slot, _ in places] == ["from", "to"]
        assert (confirmed, asked) == (places[1:], [("to", None)])
    offered = corpus.predicate == PREDICATES.index("offer")
    assert 0.3 < refused.sum() / (refused.sum() + offered.sum()) < 0.8
    # An apology is logged with the probability of the offer it stands for.
    column = PREDICATES.index("canthelp")
    assert (corpus.propensities[refused, column] > 0).all()
    assert np.allclose(corpus.propensities[refused].sum(axis=1), 1.0)
    # Where nothing is connected, nothing is ever offered.
    full = expert_play(world(no_connection=1.0), 50).corpus
    assert not (full.predicate == PREDICATES.index("offer")).any()


def test_the_longest_dialog() -> None:
    played = expert_play(world(caller=PATIENT, longest_dialog=2), 30)
    assert (np.diff(played.corpus.offsets) == 2).all()


def test_requests_name_their_group() -> None:
    corpus = play(Always("request"), ExpertTracker(), 40, 1, world(QUIET)).corpus
    requests = [pairs for acts in acts_of_turns(corpus) for name, pairs in acts if name == "request"]
    assert {tuple(pairs) for pairs in requests} == {((group, None),) for group in ("from", "to", "time")}
    slots = [BUS.domain.groups[pairs[0][0]] for pairs in requests]
    turns = np.flatnonzero(corpus.predicate == PREDICATES.index("request"))
    for turn, of_group in zip(turns, slots, strict=True):
        assert {corpus.slots[column] for column in np.flatnonzero(corpus.evidence.requested[turn])} == set(
            of_group
        )
    assert set(GROUPS) == set(BUS.domain.groups)


def test_offers_are_for_the_values_believed_best() -> None:
    """With a perfect recogniser, for the caller's own; optional ones only when believed."""
    steady = world(QUIET, {"changes_goal": 0.0, "answers": 1.0}, {"main": 1.0, "exploration": 0.0})
    played = expert_play(steady, 100, 4)
    corpus, wanted = played.corpus, goals(100, 4, steady)
    for turn, acts in enumerate(acts_of_turns(corpus)):
        for name, pairs in acts:
            if name == "schedule":
                goal = wanted[corpus.dialog_of_turn[turn]]
                places = [int(goal[group_column(side)]) for side in ("from", "to")]
                told = [(f"result.{slot}", value) for place in places for slot, value in pairs_of(place)]
                assert set(told) <= set(pairs)
                for group, prefix in (("route", "result."), ("date", "result.from.")):
                    named = {pair for pair in pairs if pair[0].startswith(f"{prefix}{group}")}
                    wished = goal[group_column(group)]
                    if wished >= 0 and group == "route" and len(named & as_result(wished, prefix)):
                        assert named == as_result(wished, prefix)
                assert [slot for slot, _ in pairs[:3]] == [
                    f"result.from.time.{part}" for part in ("hour", "minute", "ampm")
                ]


def as_result(number: int, prefix: str) -> set[tuple[str, Any]]:
    return {(f"{prefix}{slot}", value) for slot, value in pairs_of(int(number))}


def pairs_of(number: int) -> list[tuple[str, Any]]:
    rows = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1])
    word = BUS.vocabulary.value
    return [
        (word(int(s)), word(int(v))) for s, v in zip(BUS.pair_slot[rows], BUS.pair_value[rows], strict=True)
    ]
