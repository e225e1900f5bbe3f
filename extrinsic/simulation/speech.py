"""Converting the world's numbers to dialog acts in columns."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Ids, Ints, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.nbest import NBest
from extrinsic.simulation.bus_ontology import Values
from extrinsic.simulation.goals import NOTHING
from extrinsic.simulation.recogniser import Lists
from extrinsic.simulation.system import SystemTurn


def nbest_of(values: Values, lists: Lists) -> NBest:
    """N-best lists as acts: one `inform` a value, `affirm`, `negate`, `startover`."""
    present = lists.score > 0.0
    content = lists.content[present]
    word = values.vocabulary.find
    other = np.array([word("null"), word("affirm"), word("negate"), word("startover")], dtype=np.int32)
    owner, position = np.nonzero(content != NOTHING)
    code = content[owner, position]
    is_value = code < len(values)
    name = np.where(is_value, word("inform"), other[np.where(is_value, 0, code - len(values))])
    return NBest(
        offsets_from_lengths(present.sum(axis=1)),
        lists.score[present],
        np.zeros(len(content), dtype=bool),
        _acts(values, len(content), owner, name.astype(np.int32), np.where(is_value, code, NOTHING)),
    )


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

    for name, act in (
        ("hello", "hello"),
        ("goodbye", "bye"),
        ("next_bus", "want-next-bus"),
        ("restart", "restart"),
        ("canthelp", "canthelp.no_connection"),
    ):
        say(act, rows[system.predicate == predicate(name)])
    opens = np.isin(system.predicate, [predicate(name) for name in ("hello", "open_request", "restart")])
    say("open-request", rows[opens])
    for act, value in (("expl-conf", system.explicit), ("impl-conf", system.implicit)):
        say(act, rows[value != NOTHING], value[value != NOTHING])
    # A request names the slots of its group; the pairs of an offer are its values.
    say("request", rows[system.request != NOTHING], -2 - system.request[system.request != NOTHING])
    offers = system.predicate == predicate("offer")
    say("schedule", rows[offers])
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    acts = _acts(values, n_turns, owner[order], np.concatenate(names)[order], np.concatenate(contents)[order])
    return _with_offers(values, acts, system.offer)


def _acts(values: Values, n_owners: int, owner: Ints, name: Ids, content: Ints) -> Acts:
    """Acts with the pairs of a value (its number), of a request (-2 - group), or none (NOTHING)."""
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


def _pair_table(values: Values) -> tuple[Ints, Ids, Ids]:
    """The pairs of every value, then an empty entry, then the pairs of a request for each group."""
    word = values.vocabulary.find
    slots_of = list(values.domain.groups.values())
    slot_words = np.array([word(slot) for of_group in slots_of for slot in of_group], dtype=np.int32)
    lengths = [*np.diff(values.pair_offsets), 0, *map(len, slots_of)]
    return (
        offsets_from_lengths(lengths),
        np.concatenate([values.pair_slot, np.full(len(slot_words), word("slot"), dtype=np.int32)]),
        np.concatenate([values.pair_value, slot_words]),
    )


def _with_offers(values: Values, acts: Acts, offer: Ints) -> Acts:
    """The acts, with the values of an offer as the pairs of its `schedule` act."""
    schedule = np.flatnonzero(acts.name == values.vocabulary.find("schedule"))
    turn = acts.owner_of_act()[schedule]
    row, group = np.nonzero(offer[turn] != NOTHING)
    value = offer[turn][row, group]
    offsets, pairs = take_rows(values.pair_offsets, value)
    lengths = np.diff(acts.pair_offsets)
    added = np.bincount(row, np.diff(offsets), minlength=len(schedule)).astype(np.int64)
    act = np.concatenate([row_of_each(acts.pair_offsets), schedule[row[row_of_each(offsets)]]])
    order = np.argsort(act, kind="stable")
    lengths[schedule] += added
    return Acts(
        acts.offsets,
        acts.name,
        offsets_from_lengths(lengths),
        np.concatenate([acts.slot, values.pair_slot[pairs]])[order],
        np.concatenate([acts.value, values.pair_value[pairs]])[order],
    )
