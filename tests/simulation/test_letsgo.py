"""The ways of real calls, one setting at a time: how the system opens, asks, helps, and what callers do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pytest

from extrinsic.corpus.model import Corpus
from extrinsic.corpus.profile import profile
from extrinsic.domain import CALLER, ENDED_BY, SYSTEM
from extrinsic.errors import InputError
from extrinsic.simulation import CUT_OFF, GOODBYE, ExpertTracker, Play, WorldSettings, play, read_simulation
from tests.simulation.players import Always
from tests.simulation.worlds import PATIENT, PREDICATES, QUIET, acts_of_turns, lists_of_turns, world

LETSGO = read_simulation().world("letsgo")


def expert_play(in_world: WorldSettings, n_dialogs: int = 200, rng: int = 3) -> Play:
    return play(in_world.policy(), ExpertTracker(), n_dialogs, rng, in_world)


@pytest.fixture(scope="module")
def letsgo() -> Play:
    return expert_play(LETSGO, 300)


def names_of(acts: list[Any]) -> list[str]:
    return [name for name, _ in acts]


def user_acts(corpus: Corpus) -> Counter[str]:
    return Counter(
        name for hypotheses in lists_of_turns(corpus) for _, _, acts in hypotheses for name, _ in acts
    )


def test_openings(letsgo: Play) -> None:
    first = letsgo.corpus.offsets[:-1]
    directed, opens = acts_of_turns(letsgo.corpus), acts_of_turns(expert_play(world(), 30).corpus)
    assert all(directed[turn] == [("hello", []), ("request", [("route", None)])] for turn in first)
    assert opens[0] == [("hello", []), ("open-request", [])]
    assert "open-request" not in {name for acts in directed for name in names_of(acts)}


@pytest.mark.parametrize(
    ("opening", "asked"),
    [("open", [("open-request", [])]), ("directed", [("request", [("from", None)])])],
)
def test_who_begins_anew_asks_what_it_asks_first(opening: str, asked: list[Any]) -> None:
    settings = world(caller={"starts_over": 0.5, "patience": 30.0}, system={"opening": opening})
    corpus = expert_play(settings).corpus
    turns = np.flatnonzero(corpus.restart)
    assert len(turns) > 10
    assert all(acts_of_turns(corpus)[turn] == [("restart", []), *asked] for turn in turns)


def test_a_system_that_never_hangs_up(letsgo: Play) -> None:
    assert not (letsgo.ending == GOODBYE).any()
    assert set(letsgo.corpus.conditions[ENDED_BY]) == {CALLER}
    assert not letsgo.corpus.system_ended.any()
    assert profile(letsgo.corpus).ended_by_system == 0.0


def test_who_ended_a_call_is_in_the_corpus() -> None:
    played = expert_play(world(caller={"patience": 8.0}, longest_dialog=12))
    expected = [SYSTEM if how == GOODBYE else CALLER for how in played.ending]
    assert list(played.corpus.conditions[ENDED_BY]) == expected
    assert {GOODBYE, CUT_OFF} <= set(played.ending.tolist())


def test_the_question_for_the_next_bus_before_the_offer(letsgo: Play) -> None:
    """At most one clear answer, and nothing of the kind once a bus was offered."""
    corpus = letsgo.corpus
    asks, offers = (corpus.predicate == PREDICATES.index(name) for name in ("next_bus", "offer"))
    for turn in np.flatnonzero(asks):
        begin = corpus.offsets[corpus.dialog_of_turn[turn]]
        assert not offers[begin:turn].any()
        acts = acts_of_turns(corpus)[turn] if turn < 50 else []
        assert not acts or ("expl-conf", [("act", "want-next-bus")]) in acts
    assert asks.any()
    after = expert_play(world(), 100).corpus
    question = np.flatnonzero(after.predicate == PREDICATES.index("next_bus"))
    assert all(
        acts_of_turns(after)[turn] == [("expl-conf", [("act", "want-next-bus")])] for turn in question[:5]
    )


@pytest.mark.parametrize("time", [1.0, 0.0])
def test_who_wants_a_time_says_no_to_the_next_bus(time: float) -> None:
    """And is then asked for it; nobody else is."""
    settings = world(
        QUIET,
        {"answers": 1.0, "changes_goal": 0.0, "opens_with": 0.0, "over_informs": 0.0, **PATIENT},
        {"main": 1.0, "exploration": 0.0},
        system={"required": ["from", "to"], "unless_next_bus": ["time"], "next_bus": "before"},
        goal={"time": time},
        longest_dialog=8,
    )
    corpus = expert_play(settings, 60).corpus
    acts, lists = acts_of_turns(corpus), lists_of_turns(corpus)
    asks = np.flatnonzero(corpus.predicate == PREDICATES.index("next_bus"))
    assert len(asks) == 60
    answers = [[name for _, _, heard in lists[turn] for name, _ in heard] for turn in asks]
    assert answers == [["negate"] if time else ["affirm"]] * 60
    assert all((("request", [("time", None)]) in acts[turn + 1]) == bool(time) for turn in asks)


@pytest.mark.parametrize("required", [["from", "to"], ["route", "from", "to"], ["from", "to", "date"]])
def test_what_is_required_is_asked_for(required: list[str]) -> None:
    settings = world(QUIET, PATIENT, system={"required": required}, longest_dialog=12)
    corpus = play(Always("request"), ExpertTracker(), 40, 1, settings).corpus
    asked = {pairs[0][0] for acts in acts_of_turns(corpus) for name, pairs in acts if name == "request"}
    assert asked == set(required)


def test_browsing(letsgo: Play) -> None:
    """A request for another bus gets an offer that says which, and the bus is another one."""
    corpus = letsgo.corpus
    acts, offers = acts_of_turns(corpus), corpus.predicate == PREDICATES.index("offer")
    follows = Counter(
        pairs[0][1] for turn in np.flatnonzero(offers) for name, pairs in acts[turn] if name == "impl-conf"
    )
    assert set(follows) == {"want-next-bus", "nextbus", "prevbus", "repeat"}
    assert follows["nextbus"] > follows["repeat"] > follows["prevbus"]
    for turn in np.flatnonzero(offers):
        name = next((pairs[0][1] for act, pairs in acts[turn] if act == "impl-conf"), None)
        if offers[turn - 1] and name in ("nextbus", "repeat"):
            before, now = (dict(acts[at][-1][1]) for at in (turn - 1, turn))
            same = [before[f"result.from.time.{part}"] for part in ("hour", "minute", "ampm")] == [
                now[f"result.from.time.{part}"] for part in ("hour", "minute", "ampm")
            ]
            if (
                before["result.from.desc"] == now["result.from.desc"]
                and before["result.to.desc"] == now["result.to.desc"]
            ):
                assert same is (name == "repeat")
    assert not set(user_acts(expert_play(world(), 60).corpus)) & {
        "nextbus",
        "prevbus",
        "repeat",
        "bye",
        "goback",
    }


def test_help_is_what_an_offer_is_followed_by_when_nothing_was_understood(letsgo: Play) -> None:
    corpus = letsgo.corpus
    helps = np.flatnonzero(corpus.predicate == PREDICATES.index("help"))
    assert len(helps) > 100
    browsing = [PREDICATES.index(name) for name in ("offer", "help")]
    assert np.isin(corpus.predicate[helps - 1], browsing).all()
    assert all(acts_of_turns(corpus)[turn] == [("sorry", [])] for turn in helps[:20])
    assert profile(expert_play(world(), 60).corpus).predicates["help"] == 0.0


def test_go_back_instead_of_a_no(letsgo: Play) -> None:
    heard = user_acts(letsgo.corpus)
    assert heard["goback"] > 0
    assert not [
        acts for hypotheses in lists_of_turns(letsgo.corpus) for _, _, acts in hypotheses if len(acts) > 1
    ]


def test_long_lists_are_longer_and_never_sum_above_one() -> None:
    plain, long = (
        profile(expert_play(world({"long_lists": share}, PATIENT), 150).corpus) for share in (0.0, 1.0)
    )
    assert (plain.long_lists, plain.longest) == (0.0, 7)
    assert long.long_lists > 0.1
    assert 30 < long.longest <= 64
    corpus = expert_play(world({"long_lists": 1.0, "longest_list": 20}, PATIENT), 150).corpus
    assert np.diff(corpus.nbest.offsets).max() == 20
    total = np.bincount(corpus.nbest.turn_of_hypothesis(), corpus.nbest.score)
    assert total.max() <= 1.0 + 1e-9
    assert (corpus.nbest.score > 0).all()


def test_lists_of_one_and_rejected_speech() -> None:
    def shares(**recogniser: float) -> tuple[float, float]:
        of = profile(expert_play(world(recogniser, PATIENT), 150).corpus)
        return of.lists_of_one, of.empty_lists

    usual = shares()
    assert shares(single=1.0)[0] > usual[0] + 0.2
    assert shares(rejects=0.3)[1] > usual[1] + 0.1


def test_what_is_hardly_heard_is_asked_for_again() -> None:
    usual, strict = (profile(expert_play(world(system={"ignores": x}), 150).corpus) for x in (0.0, 0.5))
    assert strict.predicates["request"] > usual.predicates["request"] + 0.1
    assert strict.predicates["confirm"] < usual.predicates["confirm"]


def test_bad_groups_are_named(tmp_path: Any) -> None:
    path = tmp_path / "w.toml"
    path.write_text(
        '[datasets.a.system]\nrequired = ["from", "wen"]\n[datasets.a.splits.test]\ndialogs = 3\n'
    )
    with pytest.raises(InputError, match="no group 'wen'") as error:
        read_simulation(path)
    assert "needs from and to" in str(error.value)


def test_the_defaults_are_those_of_a_world_that_knows_nothing_of_this() -> None:
    assert msgspec.convert({}, WorldSettings) == world()
