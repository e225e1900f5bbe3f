"""What a turn says about each value, in dictionaries and loops, straight from the JSON of a log.

Written from the description of the evidence, not from its code: slow, plain, one hypothesis at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = str | tuple[tuple[str, str], ...]
Mention = tuple[str, Value]


@dataclass
class Row:
    """What is said about one value of one slot."""

    informed: float = 0.0
    affirmed: float = 0.0
    top: float = 0.0
    denied: float = 0.0
    rejected: float = 0.0
    rank: int = -1
    explicit: bool = False
    implicit: bool = False


@dataclass
class TurnEvidence:
    """rows: slot -> value -> row, in order of first appearance."""

    rows: dict[str, dict[Value, Row]] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)
    affirms: float = 0.0
    negates: float = 0.0
    restart: bool = False

    def row(self, mention: Mention) -> Row:
        slot, value = mention
        return self.rows.setdefault(slot, {}).setdefault(value, Row())


def evidence_of_turn(
    turn: Any,
    parts: Mapping[str, Sequence[str]],
    groups: Mapping[str, Sequence[str]],
    undo: Sequence[str] = (),
    questions: Sequence[str] = (),
) -> TurnEvidence:
    """parts: of every slot the names of its parts, () for a simple one.   groups: the slots of each.
    undo: user acts that take back what was confirmed.   questions: system acts that ask for a yes or no."""
    slot_of = {name: slot for slot, of in parts.items() for name in (of or (slot,))}
    system = turn["output"]["dialog-acts"]
    found = TurnEvidence(restart=bool(turn.get("restart")))
    asked = None
    for act in system:
        if act["act"] == "request":
            # DSTC2 writes ["slot", "food"], DSTC1 ["from", null], perhaps with the name of a group.
            pairs = [(name, value) for name, value in act["slots"] if name == "slot" or value is None]
            named = [value if name == "slot" else name for name, value in pairs]
            for name in named:
                found.requested |= set(groups.get(name, ())) & set(parts)
                found.requested |= {slot for slot in parts if name == slot or name in parts[slot]}
            if named:
                asked = named[0]

    def mentions(acts: Sequence[Any], name: str) -> list[tuple[int, Mention]]:
        """The values that acts called so speak of, each with the position of its act."""
        said: list[tuple[int, Mention]] = []
        for position, act in enumerate(acts):
            if act["act"] != name:
                continue
            compound: dict[str, dict[str, str]] = {}
            for written, value in act["slots"]:
                pair = asked if written == "this" else written
                slot = slot_of.get(pair)
                if slot is None:
                    continue
                if parts[slot]:
                    compound.setdefault(slot, {})[pair] = str(value)
                else:
                    said.append((position, (slot, str(value))))
            said += [(position, (slot, tuple(sorted(of.items())))) for slot, of in compound.items()]
        return said

    explicit = [mention for _, mention in mentions(system, "expl-conf")]
    implicit = [mention for _, mention in mentions(system, "impl-conf")]
    asks_else = any(_asks_else(act, {*slot_of, *parts}, questions) for act in system)
    n_questions = len(explicit) + asks_else
    live = turn["input"]["live"]["slu-hyps"]
    ranked = sorted(live, key=lambda hypothesis: -hypothesis["score"])
    denials: list[tuple[Mention, float, bool]] = []
    for rank, hypothesis in enumerate(ranked):
        acts, score = hypothesis["slu-hyp"], hypothesis["score"]
        names = [act["act"] for act in acts]
        found.affirms += score * ("affirm" in names)
        takes_back = any(name in undo for name in names)
        found.negates += score * ("negate" in names or takes_back)
        claims = [(position, mention, False) for position, mention in mentions(acts, "inform")]
        if explicit and n_questions == 1:
            claims += [(at, explicit[0], True) for at, name in enumerate(names) if name == "affirm"]
        stands: dict[str, tuple[Mention, bool]] = {}
        for _, mention, by_yes in sorted(claims, key=lambda claim: claim[0]):
            stands[mention[0]] = (mention, by_yes)
        for mention, by_yes in stands.values():
            row = found.row(mention)
            row.informed += score
            row.affirmed += score if by_yes else 0.0
            row.top += score if rank == 0 else 0.0
            row.rank = rank if row.rank < 0 else row.rank
        denied = {mention for _, mention in mentions(acts, "deny")}
        # A no answers the one question there is; where nothing was asked it is about what was implied.
        if "negate" in names and n_questions < 2:
            denied |= set(explicit) if n_questions else set(implicit)
        if takes_back:
            denied |= set(explicit) | set(implicit)
        denials += [(mention, score, mention[0] in stands) for mention in denied]
    for mention, score, instead in denials:
        row = found.row(mention)
        row.denied += score
        row.rejected += 0.0 if instead else score
    for mention in explicit:
        found.row(mention).explicit = True
    for mention in implicit:
        found.row(mention).implicit = True
    return found


def _asks_else(act: Any, slots: set[str], questions: Sequence[str]) -> bool:
    """Whether an act asks for a yes or no about something that is no slot: expl-conf(act=want-next-bus)."""
    about = [name for name, _ in act["slots"]]
    if act["act"] == "expl-conf" and any(name not in slots for name in about):
        return True
    return act["act"] in questions and not any(name in slots for name in about)
