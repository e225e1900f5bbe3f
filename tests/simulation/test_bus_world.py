"""The bus world: callers, their goals and patience; the system, setting by setting; its expert."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

import extrinsic
from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats.dstc1 import value_of_pairs
from extrinsic.registry import TRACKERS
from extrinsic.simulation import (
    Expert,
    ExpertTracker,
    Moment,
    Play,
    play,
    read_simulation,
)
from extrinsic.simulation.bus_callers import Callers, GoalSettings, draw_goals
from extrinsic.simulation.bus_expert import ExpertSettings
from extrinsic.simulation.bus_system import SystemSettings, SystemTurn
from extrinsic.simulation.bus_world import WorldSettings
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.values import N_NEIGHBOURS, NO, NOTHING, SILENT, YES, Utterance
from extrinsic.trackers.track import track
from extrinsic.trackers.tracking import Heard
from tests.contents import acts_content
from tests.simulation.worlds import (
    BUS,
    CERTAIN,
    GROUPS,
    PATIENT,
    PREDICATES,
    QUIET,
    acts_of_turns,
    expert_play,
    group_column,
    lists_of_turns,
    slot_values,
    world,
)

SLOTS = BUS.domain.slot_names
MANY = 20_000
N = 600
ALL = np.arange(N)
EVEN = ALL % 2 == 0


def text(number: int) -> str:
    return BUS.vocabulary.text(int(BUS.identity[number]))


def test_pairs_are_read_back_as_the_value() -> None:
    """What acts write of a value is, to the reader of labels, that very value; ids find it."""
    for number in range(len(BUS)):
        rows = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1])
        names, parts = (
            [BUS.vocabulary.value(int(identity)) for identity in column[rows]]
            for column in (BUS.pair_slot, BUS.pair_value)
        )
        column = BUS.slot[number]
        assert len(set(names)) == len(names) > 0
        value = value_of_pairs(BUS.domain, SLOTS[column], dict(zip(names, parts, strict=True)))
        assert BUS.vocabulary.find(value) == BUS.identity[number]
        assert BUS.number[column, BUS.identity[number]] == number


def test_neighbours_are_the_values_of_the_slot_that_sound_most_alike() -> None:
    """Against a plain Dice coefficient of letter pairs."""

    def alike(first: str, second: str) -> float:
        pairs = [{f" {word} "[i : i + 2] for i in range(len(word) + 1)} for word in (first, second)]
        return 2 * len(pairs[0] & pairs[1]) / (len(pairs[0]) + len(pairs[1]))

    assert (BUS.slot[BUS.neighbour] == BUS.slot[:, None]).all()
    numbers = slot_values("from.neighborhood")
    for number in numbers[::9]:
        scores = {other: alike(text(number), text(other)) for other in numbers if other != number}
        best = sorted(scores, key=lambda other: (-scores[other], other))[:N_NEIGHBOURS]
        assert BUS.neighbour[number].tolist() == best


def test_elsewhere_is_the_other_direction_and_another_kind_of_place() -> None:
    for number in (*slot_values("from.desc")[::50], *slot_values("to.monument")[::10]):
        side, kind = SLOTS[BUS.slot[number]].split(".")
        opposite, other_kind = BUS.elsewhere[number]
        assert SLOTS[BUS.slot[opposite]] == f"{'to' if side == 'from' else 'from'}.{kind}"
        assert text(opposite) == text(number)
        assert BUS.group[BUS.slot[other_kind]] == BUS.group[BUS.slot[number]]
        assert BUS.slot[other_kind] != BUS.slot[number]
    for slot in ("route", "date", "time"):
        assert (BUS.elsewhere[slot_values(slot)] == slot_values(slot)[:, None]).all()


@pytest.fixture(scope="module")
def goals() -> Ints:
    return draw_goals(GoalSettings(), BUS, Chance.of(MANY, "goals"))


def assert_share(flags: np.ndarray, expected: float) -> None:
    """Within four standard deviations of a share of so many."""
    tolerance = 4 * np.sqrt(expected * (1 - expected) / len(flags))
    assert flags.mean() == pytest.approx(expected, abs=tolerance)


def test_goals_are_drawn_as_set(goals: Ints) -> None:
    for column in range(len(GROUPS)):
        wanted = goals[:, column][goals[:, column] != NOTHING]
        assert (BUS.group[BUS.slot[wanted]] == column).all()
    for side in ("from", "to"):
        slot = BUS.slot[goals[:, group_column(side)]]
        for kind, share in (("desc", 0.60), ("neighborhood", 0.25), ("monument", 0.15)):
            assert_share(slot == SLOTS.index(f"{side}.{kind}"), share)
    for group, share in (("route", 0.35), ("date", 0.30), ("time", 0.90), ("from", 1.0)):
        assert_share(goals[:, group_column(group)] != NOTHING, share)
    times = goals[:, group_column("time")]
    usual = BUS.usual[times] & (times != NOTHING)
    assert_share(usual, 0.9 * (0.15 + 0.85 / len(slot_values("time"))))
    routes = goals[:, group_column("route")]
    counts, expected = np.bincount(routes[routes != NOTHING]), (routes != NOTHING).sum() / 100
    assert ((counts - expected) ** 2 / expected).sum() < 160  # chi-square of 99 degrees: p = 1e-4


@pytest.mark.parametrize("shares", [{}, {"stop": 0.0, "neighborhood": 0.0}])
def test_nobody_travels_to_where_he_is(shares: dict[str, float]) -> None:
    """With monuments only, 43 of them, one caller in 43 would."""
    goals = draw_goals(GoalSettings(**shares), BUS, Chance.of(MANY, "monuments"))
    assert (BUS.elsewhere[goals[:, group_column("from")], 0] != goals[:, group_column("to")]).all()


PLAIN: dict[str, Any] = {
    "answers": 1.0,
    "opens_with": 0.0,
    "over_informs": 0.0,
    "changes_goal": 0.0,
    "leaves_content": 0.0,
    **PATIENT,
}
"""Callers without whims: they answer what they are asked, and nothing else."""


def callers(**caller: Any) -> Callers:
    settings = world(caller={**PLAIN, **caller}).caller
    return Callers(GoalSettings(), settings, SystemSettings(), Chance.of(N, "callers"))


def system(predicate: str, request: str | None = None, **values: Ints) -> SystemTurn:
    """The same act to everybody; values: explicit, implicit, offer."""
    nothing, zero = np.full(N, NOTHING), np.zeros(N, dtype=np.int64)
    return SystemTurn(
        np.full(N, PREDICATES.index(predicate)),
        np.full(N, NOTHING if request is None else group_column(request)),
        values.get("explicit", nothing),
        values.get("implicit", nothing),
        values.get("offer", np.full((N, len(GROUPS)), NOTHING)),
        zero,
        zero,
    )


def respond(to: Callers, said: SystemTurn, turn: int = 1, repeated: bool = False) -> Utterance:
    return to.respond(ALL, turn, said, np.full(N, repeated))


def wrong(values: Ints) -> Ints:
    """Other values of the same slots, NOTHING where there is none."""
    return np.where(values == NOTHING, NOTHING, BUS.neighbour[np.maximum(values, 0), 3])


def wrong_in(goal: Ints, group: str) -> Ints:
    """The goal, but for another value of one group."""
    offer = goal.copy()
    offer[:, group_column(group)] = wrong(offer[:, group_column(group)])
    return offer


def assert_says(answer: Utterance, expected: Ints | int, goal: Ints, *groups: str) -> None:
    """What callers answer, and the values that they mention: those of some groups."""
    assert np.array_equal(answer.answer, np.broadcast_to(expected, N))
    mentioned = np.isin(GROUPS, groups)
    assert np.array_equal(answer.value, np.where(mentioned, goal, NOTHING))


@pytest.mark.parametrize("group", GROUPS)
def test_a_request_is_answered(group: str) -> None:
    """Who has no wish there says nothing."""
    some = callers()
    answer = respond(some, system("request", request=group))
    assert_says(answer, SILENT, some.goal, group)
    assert not answer.hangs_up.any()
    assert np.array_equal(some.mentioned, answer.value != NOTHING)


def test_confirmations_get_a_yes_or_a_no_and_sometimes_the_right_value() -> None:
    goal = callers().goal
    place, route = (goal[:, group_column(group)] for group in ("to", "route"))
    said = system("confirm", explicit=np.where(EVEN, place, wrong(place)))
    assert_says(respond(callers(corrects_denied=0.0), said), np.where(EVEN, YES, NO), goal)
    said = system("confirm", explicit=wrong(place))
    assert_says(respond(callers(corrects_denied=1.0), said), NO, goal, "to")
    any_route = np.where(route == NOTHING, slot_values("route")[0], route)
    answer = respond(callers(corrects_denied=1.0), system("confirm", explicit=any_route))
    assert_says(answer, np.where(route == NOTHING, NO, YES), goal)


def test_offers() -> None:
    """A right one contents, also without a route or a date, but not without a time; a wrong one gets a no."""
    some = callers()
    assert_says(respond(some, system("offer", offer=some.goal)), SILENT, some.goal)
    assert some.content.all() and some.served.all() and (some.worn == 0.0).all()
    for group, may_lack in (("route", True), ("date", True), ("time", False), ("from", False)):
        some = callers()
        offer = some.goal.copy()
        offer[:, group_column(group)] = NOTHING
        respond(some, system("offer", offer=offer))
        assert np.array_equal(some.content, may_lack | (some.goal[:, group_column(group)] == NOTHING)), group
    some = callers()
    more = np.where(some.goal == NOTHING, slot_values("route")[0], some.goal)
    respond(some, system("offer", offer=more))
    assert some.content.all()
    some = callers()
    assert_says(respond(some, system("offer", offer=wrong_in(some.goal, "to"))), NO, some.goal, "to")
    assert not some.served.any()


GOAL = callers().goal
PLACE = GOAL[:, group_column("from")]


@pytest.mark.parametrize(
    ("said", "repeated", "cost"),
    [
        (system("request", request="from"), False, 1.0),
        (system("request", request="from"), True, 9.0),
        (system("confirm", explicit=PLACE), False, 1.0),
        (system("confirm", explicit=wrong(PLACE)), False, 1.25),
        (system("implicit_confirm", implicit=wrong(PLACE)), False, 1.5),
        (system("offer", offer=wrong(GOAL)), False, 5.0),
        (system("offer", offer=GOAL), True, 0.0),  # who has a bus has time
    ],
)
def test_what_wears_patience_out(said: SystemTurn, repeated: bool, cost: float) -> None:
    annoyances = {"wrong_confirmation": 0.25, "wrong_implicit": 0.5, "wrong_offer": 4.0, "repetition": 8.0}
    some = callers(**{f"annoyed_by_{name}": turns for name, turns in annoyances.items()})
    for turn in (1, 2):
        respond(some, said, turn, repeated)
        assert (some.worn == turn * cost).all()


def test_who_has_no_patience_left_hangs_up_without_a_word() -> None:
    """Patience is a gamma: mean m, variance m^2 / shape."""
    some = callers(patience=12.0, patience_shape=9.0)
    assert some.patience.mean() == pytest.approx(12.0, abs=4 * 4.0 / np.sqrt(N))
    assert some.patience.std() == pytest.approx(4.0, rel=0.15)
    some.worn = some.patience - 1.0 + 0.01 * EVEN
    answer = respond(some, system("request", request="from"))
    assert np.array_equal(answer.hangs_up, EVEN)
    assert (answer.value[EVEN] == NOTHING).all()
    assert (answer.value[~EVEN] != NOTHING).any()


RESTLESS = world(caller={"starts_over": 0.3})
UNCONNECTED = world(no_connection=0.5)


def predicates(corpus: Corpus, name: str) -> Ints:
    """The turns of a predicate."""
    return np.flatnonzero(corpus.predicate == PREDICATES.index(name))


def goals_of(in_world: WorldSettings, n_dialogs: int, rng: int) -> Ints:
    return draw_goals(in_world.goal, BUS, Chance.of(n_dialogs, "live", rng))


def test_labels_are_of_the_callers_goals() -> None:
    """A value informed, or confirmed by a yes, is labelled once: right if it is what the caller wants."""
    steady = world(caller={"changes_goal": 0.0})
    corpus, wanted = expert_play(steady, 200, 4).corpus, goals_of(steady, 200, 4)
    labels, evidence = corpus.labels, corpus.evidence
    number = BUS.number[labels.slot, labels.value]
    right = wanted[corpus.dialog_of_turn[labels.turn], BUS.group[labels.slot]] == number
    assert np.array_equal(labels.correct, right)
    assert 0.2 < right.mean() < 0.9
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    heard = evidence.informed > 0
    expected = sorted(zip(item[heard].tolist(), evidence.value[heard].tolist(), strict=True))
    assert (
        sorted(zip((labels.turn * 9 + labels.slot).tolist(), labels.value.tolist(), strict=True)) == expected
    )


@pytest.mark.parametrize("opening", ["open", "directed"])
def test_openings_and_restarts(opening: str) -> None:
    """The system begins anew just after it heard the wish in its best hypothesis, as it began the call."""
    settings = world(caller={"starts_over": 0.5, "patience": 20.0}, system={"opening": opening})
    corpus = expert_play(settings, 150).corpus
    acts, lists = acts_of_turns(corpus), lists_of_turns(corpus)
    asks = ("open-request", []) if opening == "open" else ("request", [("from", None)])
    assert all(acts[turn] == [("hello", []), asks] for turn in corpus.offsets[:-1])
    restarts = np.flatnonzero(corpus.restart)
    assert len(restarts) > 20
    assert restarts.tolist() == predicates(corpus, "restart").tolist()
    for turn in restarts:
        assert acts[turn] == [("restart", []), asks]
        assert ("restart", []) in lists[turn - 1][0][2]


def test_some_places_may_not_be_connected() -> None:
    """As in real calls: both places, the destination confirmed implicitly, and asked for again."""
    corpus = expert_play(UNCONNECTED).corpus
    acts, refused = acts_of_turns(corpus), predicates(corpus, "canthelp")
    for (apology, places), (name, confirmed), asked in (acts[turn] for turn in refused):
        assert (apology, name, asked) == ("canthelp.no_connection", "impl-conf", ("request", [("to", None)]))
        assert [slot.split(".")[0] for slot, _ in places] == ["from", "to"]
        assert confirmed == places[1:]
    assert 0.3 < len(refused) / (len(refused) + len(predicates(corpus, "offer"))) < 0.8
    # An apology is logged with the probability of the offer it stands for.
    assert corpus.propensities is not None
    assert (corpus.propensities[refused, PREDICATES.index("canthelp")] > 0).all()
    assert not len(predicates(expert_play(world(no_connection=1.0), 50).corpus, "offer"))


def test_offers_are_for_the_values_believed_best() -> None:
    """With a perfect recogniser, for the caller's own; when the bus leaves comes first."""
    steady = world(QUIET, {"changes_goal": 0.0, "answers": 1.0}, CERTAIN)
    corpus, wanted = expert_play(steady, 100, 4).corpus, goals_of(steady, 100, 4)
    for turn in predicates(corpus, "offer"):
        (pairs,) = (pairs for name, pairs in acts_of_turns(corpus)[turn] if name == "schedule")
        goal = wanted[corpus.dialog_of_turn[turn]]
        places = [int(goal[group_column(side)]) for side in ("from", "to")]
        named = {(f"result.{slot}", value) for place in places for slot, value in pairs_of(place)}
        assert named <= set(pairs)
        parts = [f"result.from.time.{part}" for part in ("hour", "minute", "ampm")]
        assert [slot for slot, _ in pairs[:3]] == parts


def pairs_of(number: int) -> list[tuple[Any, Any]]:
    rows, word = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1]), BUS.vocabulary.value
    columns = (BUS.pair_slot[rows].tolist(), BUS.pair_value[rows].tolist())
    return [(word(slot), word(value)) for slot, value in zip(*columns, strict=True)]


LETSGO = read_simulation().world("letsgo")


@pytest.fixture(scope="module")
def letsgo() -> Play:
    return expert_play(LETSGO, 300, 3)


def test_browsing(letsgo: Play) -> None:
    """A request for another bus gets an offer that says which, and it is another one; else there is help."""
    corpus = letsgo.corpus
    acts, offers = acts_of_turns(corpus), predicates(corpus, "offer")
    follows = {turn: pairs[0][1] for turn in offers for name, pairs in acts[turn] if name == "impl-conf"}
    counts = Counter(follows.values())
    assert set(counts) == {"want-next-bus", "nextbus", "prevbus", "repeat"}
    assert counts["nextbus"] > counts["repeat"] > counts["prevbus"]
    compared = 0
    for turn, name in follows.items():
        if turn - 1 in offers and name in ("nextbus", "repeat"):
            before, now = (dict(acts[at][-1][1]) for at in (turn - 1, turn))
            if all(before[f"result.{side}.desc"] == now[f"result.{side}.desc"] for side in ("from", "to")):
                parts = [f"result.from.time.{part}" for part in ("hour", "minute", "ampm")]
                assert all(before[part] == now[part] for part in parts) is (name == "repeat")
                compared += 1
    assert compared > 20
    helps = predicates(corpus, "help")
    assert len(helps) > 100
    browsing = [PREDICATES.index(name) for name in ("offer", "help")]
    assert np.isin(corpus.predicate[helps - 1], browsing).all()
    assert all(acts[turn] == [("sorry", [])] for turn in helps)
    hypotheses = acts_content(corpus.nbest.acts, corpus.vocabulary)
    assert "goback" in {name for acts in hypotheses for name, _ in acts}  # for a no and the right value
    assert max(map(len, hypotheses)) == 1


class Watched(Expert):
    """An expert whose decisions are written down."""

    def __init__(self, settings: ExpertSettings) -> None:
        super().__init__(settings)
        self.seen: list[tuple[Any, ...]] = []

    def probabilities(self, moment: Moment) -> Floats:
        chances = super().probabilities(moment)
        self.seen.append((moment.allowed, moment.history.offered, chances, self.choice(moment)))
        return chances


def test_probabilities_in_closed_form() -> None:
    """main .8 on the rule's choice, .1 on its second, .1 spread over what is sensible."""
    policy = Watched(ExpertSettings(main=0.8, exploration=0.1))
    play(policy, ExpertTracker(), 800, 3, world(caller={"starts_over": 0.1}, no_connection=0.1))
    allowed, offered, chances, main = (np.concatenate(column) for column in zip(*policy.seen, strict=True))
    assert len(chances) > 3000
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert not chances[~allowed].any()
    sensible = allowed.copy()
    sensible[~offered, PREDICATES.index("goodbye")] = False
    sensible[:, PREDICATES.index("restart")] = False
    rest = chances - 0.1 * sensible / sensible.sum(axis=1, keepdims=True)
    on_main = rest[np.arange(len(main)), main]
    rest[np.arange(len(main)), main] = 0.0
    # The second choice is another act, or the first again.
    two = np.isclose(on_main, 0.8)
    assert (two | np.isclose(on_main, 0.9)).all()
    assert np.allclose(rest.max(axis=1), np.where(two, 0.1, 0.0))
    assert np.allclose(rest.sum(axis=1), np.where(two, 0.1, 0.0))
    assert 0.3 < two.mean() < 1.0
    # Every act is chosen at some time, those that only the world makes excepted.
    used = {PREDICATES[column] for column in np.flatnonzero(chances.any(axis=0))}
    assert set(PREDICATES) - used == {"hello", "canthelp", "help", "confirm_restart"}


@pytest.mark.parametrize("in_world", [world(), RESTLESS, UNCONNECTED], ids=["usual", "restart", "canthelp"])
def test_actions_are_taken_at_the_logged_rates(in_world: WorldSettings) -> None:
    """Per predicate: sum of (1[a] - p) over sqrt of sum p (1 - p), normal; and chi-square over bins."""
    corpus = expert_play(in_world, 1500, 11).corpus
    assert corpus.propensities is not None
    decided = corpus.turn_in_dialog > 0
    chances, action = corpus.propensities[decided], corpus.predicate[decided]
    taken = np.eye(len(PREDICATES), dtype=bool)[action]
    assert (chances[taken] > 0).all()
    spread = np.sqrt((chances * (1 - chances)).sum(axis=0))
    used = spread > 0
    assert (np.abs((taken - chances).sum(axis=0)[used] / spread[used]) < 4).all()
    probability, was_taken = chances[chances > 0], taken[chances > 0]
    number = np.digitize(probability, [0.01, 0.015, 0.02, 0.05, 0.08, 0.1, 0.5, 0.86, 0.88, 0.9])
    expected, variance = (
        np.bincount(number, weights, 11) for weights in (probability, probability * (1 - probability))
    )
    observed, used = np.bincount(number[was_taken], minlength=11), variance > 5
    assert used.sum() >= 4
    statistic = ((observed - expected)[used] ** 2 / variance[used]).sum()
    assert stats.chi2.sf(statistic, used.sum()) > 1e-4


def test_its_tracker_by_hand() -> None:
    """max(.999 memory (1 - denied), informed), shared out where the sum exceeds one."""

    class Turn:
        informed = np.array([[[0.2, 0.9, 0.0]]])
        denied = np.array([[[0.0, 0.0, 1.5]]])

    tracker, memory = ExpertTracker(), np.array([[[[0.5, 0.3, 0.8]]]])
    heard: Heard = Turn()  # type: ignore[assignment]
    after = tracker.update(memory, heard)
    assert after.tolist() == [[[[0.5 * 0.999, 0.9, 0.0]]]]
    assert np.allclose(tracker.belief(after, heard), [[[0.4995 / 1.3995, 0.9 / 1.3995, 0.0]]])
    half = np.array([[[[0.25, 0.5, 0.0]]]])
    assert tracker.belief(half, heard).tolist() == half[0].tolist()


def accuracy(played: Play, name: str, component: str = "joint") -> float:
    output = track(TRACKERS.get(name), played.corpus, name)
    scores = extrinsic.score(played.corpus, output, metrics=["accuracy"], schedules=[3])
    (row,) = [row for row in scores.rows if row.component == component]
    assert row.n > played.corpus.n_dialogs / 3
    assert row.value is not None
    return row.value


@pytest.fixture(scope="module")
def louder() -> list[Play]:
    return [expert_play(world({"noise": noise}), 600, 22) for noise in (0.0, 0.5, 1.0, 1.5, 2.0)]


@pytest.mark.parametrize("name", ["baseline", "focus"])
@pytest.mark.parametrize("component", ["joint", "from.desc"])
def test_more_noise_less_accuracy_and_fewer_buses(louder: list[Play], name: str, component: str) -> None:
    accuracies = [accuracy(played, name, component) for played in louder]
    assert accuracies[0] == 1.0
    assert (np.diff(accuracies) < 0).all()
    assert (np.diff([played.completed.mean() for played in louder]) < 0).all()
