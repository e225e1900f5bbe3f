"""Random corpora and tracker outputs for property tests, small but with every kind of awkwardness.

`repairs=False` leaves out what the scoring rules have to mend: negative scores and sums above 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.builders import (
    ONTOLOGY,
    Dstc1Files,
    Dstc2Files,
    StateSetFiles,
    act,
    dstc1_labels,
    dstc2_label_turn,
    dstc2_labels,
    dstc2_turn,
    heard,
    hypothesis,
    log,
    log_turn,
    slu_label,
    tracker,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]

# Few distinct numbers, so that ties are common; thirds and tenths, so that sums are not exact.
EXACT = (0.0, 0.125, 0.25, 0.5)
INEXACT = (0.1, 0.2, 0.3, 1 / 3, 0.7, 1e-7)

BUS_VALUES: dict[str, tuple[Any, ...]] = {
    "route": ("61c", "61d", "28x"),
    "from.desc": ("cmu", "forbes and murray", "café"),
    "from.neighborhood": ("oakland", "downtown"),
    "from.monument": ("airport", "waterfront"),
    "to.desc": ("cmu", "fifth: and aiken"),
    "to.neighborhood": ("oakland", "squirrel hill"),
    "to.monument": ("airport", "zoo"),
    "date.day": ("monday", "today"),
    "date.absmonth": ("5", 6),
    "date.absday": ("1", 22),
    "date.relweek": ("next",),
    "time.hour": ("7", 8),
    "time.minute": ("0", 30),
    "time.ampm": ("am", "pm"),
    "time.arriveleave": ("arrive", "leave"),
    "time.rel": ("now",),
}
PARTS = {
    "date": [n for n in BUS_VALUES if n[:4] == "date"],
    "time": [n for n in BUS_VALUES if n[:4] == "time"],
}
GROUPS = (*(name for name in BUS_VALUES if name[:4] not in PARTS), *PARTS)

GOAL_VALUES = {slot: (*values, "dontcare") for slot, values in ONTOLOGY["informable"].items()}
METHODS = tuple(ONTOLOGY["method"])
REQUESTABLE = tuple(ONTOLOGY["requestable"])

STATE_SLOTS = {"hotel": ("area", "name"), "taxi": ("leave at",), "train": ("day", "book people")}
STATE_VALUES = ("north", "a-and-b", "10:15", "two words", "ünïcode", "none", "")


@st.composite
def score_lists(draw: Draw, n: int, repairs: bool = True) -> list[float]:
    """n scores with ties; without `repairs` none is negative and they sum to less than 1."""
    number = st.sampled_from(EXACT + INEXACT) | st.floats(0, 1, allow_subnormal=False)
    if repairs:
        number = number | st.sampled_from((-0.1, -0.5, 1.5, 1.0, 0.9999999, 0.50000001))
    scores = draw(st.lists(number, min_size=n, max_size=n))
    total = sum(scores)
    return scores if repairs or total < 1 else [score * 0.99 / total for score in scores]


def pairs_of(slot: str) -> st.SearchStrategy[dict[str, Any]]:
    """One hypothesis of a DSTC1 slot group: its pair, or for date and time some pairs of its parts."""
    if slot not in PARTS:
        return st.sampled_from(BUS_VALUES[slot]).map(lambda value: {slot: value})
    names = st.lists(st.sampled_from(PARTS[slot]), min_size=1, max_size=3, unique=True)
    return names.flatmap(
        lambda chosen: st.fixed_dictionaries({name: st.sampled_from(BUS_VALUES[name]) for name in chosen})
    )


PAIRS = {slot: pairs_of(slot) for slot in GROUPS}


def _as_text(pairs: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Two hypotheses are equal when their pairs are, compared as text."""
    return tuple(sorted((name, str(value)) for name, value in pairs.items()))


def joint_pairs() -> st.SearchStrategy[dict[str, Any]]:
    """A joint hypothesis over some slots; it may be empty."""
    slots = st.lists(st.sampled_from(GROUPS), max_size=3, unique=True)
    parts = slots.flatmap(lambda chosen: st.tuples(*(PAIRS[slot] for slot in chosen)))
    return parts.map(lambda found: {name: value for pairs in found for name, value in pairs.items()})


JOINT_PAIRS = joint_pairs()


@st.composite
def hypothesis_lists(
    draw: Draw, pairs: st.SearchStrategy[dict[str, Any]], most: int, repairs: bool
) -> list[Any]:
    """Scored hypotheses in any order, no two of them equal."""
    found = draw(st.lists(pairs, max_size=most, unique_by=_as_text))
    scores = draw(score_lists(len(found), repairs))
    return [hypothesis(score, value) for score, value in zip(scores, found, strict=True)]


def _pairs_in_act() -> st.SearchStrategy[list[tuple[str, Any]]]:
    return st.lists(st.sampled_from(GROUPS).flatmap(PAIRS.__getitem__), max_size=2).map(
        lambda found: [pair for pairs in found for pair in pairs.items()]
    )


BUS_USER_ACTS = st.one_of(
    _pairs_in_act().map(lambda pairs: act("inform", *pairs)),
    st.sampled_from([act("affirm"), act("negate"), act("bye"), act("null")]),
)
BUS_SYSTEM_ACTS = st.one_of(
    st.sampled_from([act("hello"), act("open-request"), act("restart"), act("canthelp"), act("bye")]),
    st.sampled_from(GROUPS).map(lambda slot: act("request", ("slot", slot))),
    st.tuples(st.sampled_from(["expl-conf", "impl-conf", "schedule"]), _pairs_in_act()).map(
        lambda found: act(found[0], *found[1])
    ),
)


@st.composite
def nbest_lists(draw: Draw, user_acts: st.SearchStrategy[Any]) -> list[Any]:
    hypotheses = draw(st.lists(st.lists(user_acts, max_size=2), max_size=2))
    return [heard(score, *acts) for score, acts in zip((0.625, 0.3), hypotheses, strict=False)]


BUS_NBEST = nbest_lists(BUS_USER_ACTS)


@st.composite
def dstc1_label_turns(draw: Draw) -> list[Any]:
    """Labels of one turn; no value is both right and wrong in it."""
    values = st.sampled_from(GROUPS).flatmap(PAIRS.__getitem__)
    found = draw(st.lists(values, max_size=3, unique_by=_as_text))
    return [slu_label(draw(st.booleans()), pairs) for pairs in found]


@st.composite
def dstc1_tracker_turns(draw: Draw, repairs: bool, joint: bool = True) -> Any:
    slots = draw(st.lists(st.sampled_from(GROUPS), max_size=4, unique=True))
    turn = {slot: {"hyps": draw(hypothesis_lists(PAIRS[slot], 3, repairs))} for slot in slots}
    if joint and draw(st.booleans()):
        turn["joint"] = {"hyps": draw(hypothesis_lists(JOINT_PAIRS, 3, repairs))}
    return turn


@st.composite
def dstc1_files(draw: Draw, repairs: bool = True, max_dialogs: int = 3) -> Dstc1Files:
    """Calls about buses: nine slots, pair sets for date and time, restarts, live and batch SLU."""
    dataset = draw(st.sampled_from(["train4", "train3a", "test3"]))
    logs, labels, beliefs = {}, {}, {}
    for number in range(draw(st.integers(1, max_dialogs))):
        session, n_turns = f"call-{number}", draw(st.integers(1, 4))
        turns = [
            log_turn(
                index,
                draw(st.lists(BUS_SYSTEM_ACTS, max_size=2)),
                draw(BUS_NBEST),
                draw(st.none() | BUS_NBEST),
                draw(st.sampled_from([None, False, False, True])),
            )
            for index in range(n_turns)
        ]
        logs[f"2010{number % 2}/{session}"] = log(session, turns)
        labels[f"2010{number % 2}/{session}"] = dstc1_labels(
            session, [draw(dstc1_label_turns()) for _ in range(n_turns)]
        )
        beliefs[session] = [draw(dstc1_tracker_turns(repairs)) for _ in range(n_turns)]
    return Dstc1Files(dataset, logs, labels, tracker(dataset, beliefs))


GOAL_PAIRS = st.sampled_from(sorted(GOAL_VALUES)).flatmap(
    lambda slot: st.tuples(st.just(slot), st.sampled_from(GOAL_VALUES[slot]))
)
RESTAURANT_USER_ACTS = st.one_of(
    st.lists(GOAL_PAIRS, min_size=1, max_size=2).map(lambda pairs: act("inform", *pairs)),
    st.sampled_from(["dontcare", "thai", "north"]).map(lambda value: act("inform", ("this", value))),
    st.sampled_from(REQUESTABLE).map(lambda slot: act("request", ("slot", slot))),
    st.tuples(st.sampled_from(["confirm", "deny"]), GOAL_PAIRS).map(lambda found: act(found[0], found[1])),
    st.sampled_from([act("reqalts"), act("bye"), act("affirm"), act("negate"), act("null"), act("thankyou")]),
)
RESTAURANT_SYSTEM_ACTS = st.one_of(
    st.sampled_from([act("welcomemsg"), act("reqmore"), act("repeat"), act("canthelp.exception")]),
    st.sampled_from(["food", "area", "pricerange"]).map(lambda slot: act("request", ("slot", slot))),
    st.tuples(st.sampled_from(["expl-conf", "impl-conf"]), GOAL_PAIRS).map(lambda f: act(f[0], f[1])),
    st.sampled_from(["food", "area"]).map(
        lambda slot: act("select", *((slot, value) for value in GOAL_VALUES[slot][:2]))
    ),
    st.lists(GOAL_PAIRS, min_size=1, max_size=2).map(lambda pairs: act("canthelp", *pairs)),
    st.sampled_from(GOAL_VALUES["name"][:2]).map(lambda name: act("offer", ("name", name))),
    st.lists(GOAL_PAIRS, min_size=1, max_size=1).map(lambda p: act("inform", *p, ("phone", "01223 358899"))),
)
RESTAURANT_NBEST = nbest_lists(RESTAURANT_USER_ACTS)


@st.composite
def goal_label_turns(draw: Draw) -> Any:
    slots = draw(st.lists(st.sampled_from(sorted(GOAL_VALUES)), max_size=3, unique=True))
    return dstc2_label_turn(
        {slot: draw(st.sampled_from(GOAL_VALUES[slot])) for slot in slots},
        draw(st.sampled_from(METHODS)),
        draw(st.lists(st.sampled_from(REQUESTABLE), max_size=2, unique=True)),
        draw(st.lists(RESTAURANT_USER_ACTS, max_size=2)),
    )


@st.composite
def distributions(draw: Draw, values: tuple[str, ...], repairs: bool) -> dict[str, float]:
    found = draw(st.lists(st.sampled_from(values), max_size=3, unique=True))
    return dict(zip(found, draw(score_lists(len(found), repairs)), strict=True))


@st.composite
def goal_assignments(draw: Draw) -> dict[str, str]:
    """The slots of a joint hypothesis; it may be empty, which is not the same as None."""
    slots = draw(st.lists(st.sampled_from(sorted(GOAL_VALUES)), max_size=3, unique=True))
    return {slot: draw(st.sampled_from(GOAL_VALUES[slot])) for slot in slots}


GOAL_ASSIGNMENTS = goal_assignments()


@st.composite
def dstc2_tracker_turns(draw: Draw, repairs: bool, joint: bool) -> Any:
    slots = draw(st.lists(st.sampled_from(sorted(GOAL_VALUES)), max_size=3, unique=True))
    asked = draw(st.lists(st.sampled_from(REQUESTABLE), max_size=2, unique=True))
    return dstc2_turn(
        {slot: draw(distributions(GOAL_VALUES[slot], repairs)) for slot in slots},
        draw(hypothesis_lists(GOAL_ASSIGNMENTS, 3, repairs)) if joint else None,
        draw(distributions(METHODS, repairs)),
        {slot: draw(st.sampled_from((0.0, 0.3, 0.5, 0.7, 1.0))) for slot in asked},
    )


@st.composite
def dstc2_files(draw: Draw, repairs: bool = True, max_dialogs: int = 3) -> Dstc2Files:
    """Calls about restaurants: `this`, every kind of system act, a tracker with or without joint lists."""
    order = draw(st.permutations(list(ONTOLOGY["informable"])))
    ontology = {**ONTOLOGY, "informable": {slot: ONTOLOGY["informable"][slot] for slot in order}}
    joint = draw(st.sampled_from(["always", "never", "sometimes"]))
    logs, labels, beliefs = {}, {}, {}
    for number in range(draw(st.integers(1, max_dialogs))):
        session, n_turns = f"voip-{number}", draw(st.integers(1, 4))
        manager = draw(st.integers(0, 1))
        turns = [
            log_turn(index, draw(st.lists(RESTAURANT_SYSTEM_ACTS, max_size=2)), draw(RESTAURANT_NBEST))
            for index in range(n_turns)
        ]
        directory = f"Mar13_S{manager}A0/{session}"
        logs[directory] = log(session, turns, dialog_manager=manager)
        labels[directory] = dstc2_labels(
            session,
            [draw(goal_label_turns()) for _ in range(n_turns)],
            draw(st.sampled_from([None, True, False])),
        )
        beliefs[session] = [
            draw(
                dstc2_tracker_turns(
                    repairs, joint == "always" or (joint == "sometimes" and draw(st.booleans()))
                )
            )
            for _ in range(n_turns)
        ]
    return Dstc2Files("dstc2_dev", logs, labels, tracker("dstc2_dev", beliefs), ontology)


@st.composite
def next_states(draw: Draw, state: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """A state after one more turn: some slots set, changed or dropped, the rest kept."""
    found = {domain: dict(slots) for domain, slots in state.items()}
    for _ in range(draw(st.integers(0, 2))):
        domain = draw(st.sampled_from(sorted(STATE_SLOTS)))
        slot = draw(st.sampled_from(STATE_SLOTS[domain]))
        if draw(st.integers(0, 4)) == 0:
            found.get(domain, {}).pop(slot, None)
        else:
            found.setdefault(domain, {})[slot] = draw(st.sampled_from(STATE_VALUES))
    return found


@st.composite
def state_set_files(draw: Draw, max_dialogs: int = 3) -> StateSetFiles:
    """Cumulative states with absent, "none" and empty values; a prediction follows gold or goes astray."""
    states = {}
    for number in range(draw(st.integers(1, max_dialogs))):
        gold: dict[str, Any] = {}
        predicted: dict[str, Any] = {}
        turns = {}
        for turn in range(draw(st.integers(1, 5))):
            gold = draw(next_states(gold))
            predicted = gold if draw(st.booleans()) else draw(next_states(predicted))
            turns[str(turn)] = {"gt": gold, "pr": predicted}
        states[f"PMUL{number:04}.json"] = turns
    return StateSetFiles(states)
