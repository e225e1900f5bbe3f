"""Converting the world's numbers to dialog acts in columns, written as in the real DSTC1 calls."""

from __future__ import annotations

from functools import cache

import numpy as np

from extrinsic.arrays import Ids, Ints, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.bus.system import AGAIN, COMMANDS, GRANTED, NEXT, PREVIOUS, SystemTurn
from extrinsic.simulation.bus.timetable import pairs_of_offers
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.phrases import Phrases
from extrinsic.simulation.utterance import NOTHING


@cache
def caller_phrases(values: Values) -> Phrases:
    """What callers say: one `inform` a value, `affirm`, `negate`, and the commands."""
    return Phrases.of_callers(values, [(name, ()) for name in COMMANDS])


def acts_of(values: Values, system: SystemTurn) -> Acts:
    """What the system says, as acts."""
    domain, word = values.domain, values.vocabulary.find
    n_turns = len(system.predicate)
    rows = np.arange(n_turns)
    predicate = domain.predicate_names.index
    owners: list[Ints] = []
    names: list[Ids] = []
    contents: list[Ints] = []

    def say(act: str, rows_of_act: Ints, value: Ints | None = None) -> None:
        owners.append(rows_of_act)
        names.append(np.full(len(rows_of_act), word(act), dtype=np.int32))
        contents.append(np.full(len(rows_of_act), NOTHING) if value is None else value)

    def rows_of(name: str) -> Ints:
        return np.flatnonzero(system.predicate == predicate(name))

    for name, act in (("hello", "hello"), ("goodbye", "bye"), ("restart", "restart"), ("help", "sorry")):
        say(act, rows_of(name))
    opens = np.concatenate([rows_of(name) for name in ("hello", "open_request", "restart")])
    say("open-request", opens[system.request[opens] == NOTHING])
    # "I know the 61C and the 28X, but neither goes from the mall to downtown. Where are you going to?"
    apologies, groups = rows_of("canthelp"), list(domain.groups)
    start, end = (system.offer[apologies, groups.index(side)] for side in ("from", "to"))
    say("canthelp.no_connection", apologies)
    for act, value in (("expl-conf", system.explicit), ("impl-conf", system.implicit)):
        say(act, rows[value != NOTHING], value[value != NOTHING])
    say("impl-conf", apologies, end)
    code = len(domain.groups) + 2
    asks, offers = rows_of("next_bus"), rows_of("offer")
    say("expl-conf", asks, np.full(len(asks), -code - _CONFIRMED.index(GRANTED)))
    for position, follows in enumerate(_CONFIRMED):
        answers = offers[system.follows[offers] == follows]
        say("impl-conf", answers, np.full(len(answers), -code - position))
    say("request", rows[system.request != NOTHING], -2 - system.request[system.request != NOTHING])
    say("request", apologies, np.full(len(apologies), -2 - groups.index("to")))
    say("schedule", offers)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    acts = _acts(values, n_turns, owner[order], np.concatenate(names)[order], np.concatenate(contents)[order])
    if len(apologies):
        both = np.stack([start, end], axis=1)
        offsets, pairs = take_rows(values.pair_offsets, both.ravel())
        lengths = np.add.reduceat(np.diff(offsets), np.arange(0, 2 * len(both), 2))
        acts = _with_pairs(
            acts,
            word("canthelp.no_connection"),
            offsets_from_lengths(lengths),
            values.pair_slot[pairs],
            values.pair_value[pairs],
        )
    if not len(offers):
        return acts
    offer_pairs = pairs_of_offers(values, system.offer[offers], system.bus[offers])
    return _with_pairs(acts, word("schedule"), *offer_pairs)


def _acts(values: Values, n_owners: int, owner: Ints, name: Ids, content: Ints) -> Acts:
    """Acts with the pairs of a value (its number), of nothing (NOTHING), of a request (-2 - group), or of an
    act that is confirmed (further below, in the order of _CONFIRMED)."""
    table_offsets, table_slot, table_value = _pair_table(values)
    row = np.where(content >= 0, content, len(values) - 1 - content)
    offsets, pairs = take_rows(table_offsets, row)
    return Acts(
        offsets_from_lengths(np.bincount(owner, minlength=n_owners)),
        name,
        offsets,
        table_slot[pairs],
        table_value[pairs],
    )


_CONFIRMED = (NEXT, PREVIOUS, AGAIN, GRANTED)
"""What an offer follows, as codes; impl-conf(act=nextbus) says so."""


@cache
def _pair_table(values: Values) -> tuple[Ints, Ids, Ids]:
    """The pairs of every value, then an empty entry, then the pair of a request for each group,
    ["from", null], and of every confirmed act, ["act", "nextbus"]."""
    word = values.vocabulary.find
    requested = [word(group) for group in values.domain.groups]
    confirmed = [word(COMMANDS[code - 1]) for code in _CONFIRMED[:-1]] + [word("want-next-bus")]
    lengths = [*np.diff(values.pair_offsets), 0, *[1] * (len(requested) + len(confirmed))]
    more_slots = [*requested, *[word("act")] * len(confirmed)]
    return (
        offsets_from_lengths(lengths),
        np.concatenate([values.pair_slot, np.array(more_slots, dtype=np.int32)]),
        np.concatenate([values.pair_value, np.array([NONE] * len(requested) + confirmed, dtype=np.int32)]),
    )


def _with_pairs(acts: Acts, name: int, offsets: Ints, slot: Ids, value: Ids) -> Acts:
    """The acts, those of one name with pairs: the k-th of them has the k-th row of these."""
    chosen = np.flatnonzero(acts.name == name)
    lengths = np.diff(acts.pair_offsets)
    lengths[chosen] += np.diff(offsets)
    act = np.concatenate([row_of_each(acts.pair_offsets), chosen[row_of_each(offsets)]])
    order = np.argsort(act, kind="stable")
    return Acts(
        acts.offsets,
        acts.name,
        offsets_from_lengths(lengths),
        np.concatenate([acts.slot, slot])[order],
        np.concatenate([acts.value, value])[order],
    )
