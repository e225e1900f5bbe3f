"""State-set trackers: at every turn one set of (domain, slot, value), predicted against gold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints
from extrinsic.corpus.acts import Value, Vocabulary
from extrinsic.corpus.conventions import STATE_SETS, ScoreConventions
from extrinsic.corpus.corpus import ReadDialogs
from extrinsic.corpus.normalisation import DONTCARE, Normalisation, load_normalisation, slot_name
from extrinsic.errors import Problem, UsageError, did_you_mean
from extrinsic.storage import content_hash
from extrinsic.tables import html_table

ABSENT = 0
"""The slot is not in the set, or has an empty value."""

GIVEN_NONE = 1
"""The slot is in the set with the value "none"; only metrics of change distinguish it from ABSENT."""


DONTCARE_CHOICES = ("keep", "drop", "drop_gold")


@dataclass(frozen=True)
class StateReading:
    """What the user chooses when state files are read; which choices there are depends on the format.

    gold: the file or directory of the gold states, where the files hold predictions alone.
    fuzzy: the similarity (1 to 100) from which on a value of an open slot counts as the gold one; None: equal
    text.
    normalise: a named rule that makes values alike, or its .toml file.   dontcare: `keep` it, `drop` it on
    both sides, or `drop_gold`.   gold_name: which gold, where its file has several.
    """

    gold: str | None = None
    fuzzy: int | None = None
    normalise: str | None = None
    dontcare: str | None = None
    gold_name: str | None = None

    def __post_init__(self) -> None:
        if self.fuzzy is not None and not 1 <= self.fuzzy <= 100:
            raise UsageError("fuzzy is out of range", expected="1 to 100", found=str(self.fuzzy))
        if self.dontcare not in (None, *DONTCARE_CHOICES):
            raise UsageError(
                f"dontcare cannot be {self.dontcare!r}; {did_you_mean(str(self.dontcare), DONTCARE_CHOICES)}"
            )
        if self.gold_name is not None and self.gold is None:
            raise UsageError("a gold was named, but not its file", expected="--gold FILE --gold-name NAME")
        if self.normalise is not None:
            load_normalisation(self.normalise)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the choices that were made."""
        return tuple(name for name, value in asdict(self).items() if value is not None)

    @property
    def value_rules(self) -> str:
        """When values count as equal, as a signature has it; empty where equal text is meant."""
        rules = [] if self.fuzzy is None else [f"fuzzy={self.fuzzy}"]
        if self.normalise is not None:
            rule = load_normalisation(self.normalise)
            # A file of one's own is known by its content.
            own = f"@{rule.signature}" if self.normalise.endswith(".toml") else ""
            rules.append(f"normalise={rule.name}{own}")
        if self.dontcare is not None:
            rules.append(f"dontcare={self.dontcare}")
        return ",".join(rules)


@dataclass(frozen=True)
class Suspicion:
    """A sign that a system did not track (see tracker_checks): the rule, and the figures that meet it."""

    rule: str
    text: str

    def note(self, path: str) -> Problem:
        return Problem(f"this may be no tracker ({self.rule}): {self.text}", path=path, severity="note")


@dataclass(frozen=True, eq=False)
class StateSets(ReadDialogs):
    """The states of one system over its dialogs, and the gold states beside them.

    dialogs: ids.   offsets (n_dialogs + 1,): turns.   slots: (domain, slot), sorted.
    gold, predicted (n_turns, n_slots): value ids; ABSENT, GIVEN_NONE or an id of the vocabulary.
    in_gold (n_slots,): whether the slot occurs in any gold state of the file, not only in predictions.
    conventions: what is scored by default.
    gold_signature: a hash of the gold files, where they are not the system's own.
    value_rules: when values counted as equal; empty for equal text.   n_values_changed: how many predicted
    values these rules changed, or took for gold ones.   suspicions: signs that this is no tracker.
    """

    name: str
    dialogs: tuple[str, ...]
    offsets: Ints
    slots: tuple[tuple[str, str], ...]
    vocabulary: Vocabulary
    gold: Ids
    predicted: Ids
    in_gold: Bools
    problems: tuple[Problem, ...] = ()
    signature: str = ""
    conventions: ScoreConventions = STATE_SETS
    gold_signature: str = ""
    value_rules: str = ""
    n_values_changed: int = 0
    suspicions: tuple[Suspicion, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<StateSets {self.name!r}: {self.n_dialogs:,} dialogs, {self.n_turns:,} turns, "
            f"{len(self.slots)} slots of {', '.join(self.domains)}>"
        )

    def _repr_html_(self) -> str:
        differs = self.gold != self.predicted
        given = (self.gold > GIVEN_NONE) | (self.predicted > GIVEN_NONE)
        rows = [
            {
                "domain": domain,
                "slot": slot,
                "turns with gold": int((self.gold[:, column] > GIVEN_NONE).sum()),
                "turns predicted": int((self.predicted[:, column] > GIVEN_NONE).sum()),
                "turns that differ": int((differs & given)[:, column].sum()),
            }
            for column, (domain, slot) in enumerate(self.slots)
        ]
        return html_table(repr(self).strip("<>"), rows)

    @cached_property
    def domains(self) -> tuple[str, ...]:
        return tuple(sorted({domain for domain, _ in self.slots}))

    @property
    def n_predicted(self) -> int:
        """How many values are predicted."""
        return int((self.predicted > GIVEN_NONE).sum())

    def value(self, identity: int) -> Value | None:
        """The value of an id; "none" for GIVEN_NONE."""
        return self.vocabulary.value(identity)

    def take(self, dialogs: Ints | list[int]) -> StateSets:
        """The chosen dialogs, in the order given."""
        return self.taken(dialogs, ("dialogs",), ("gold", "predicted"))


def state_vocabulary() -> Vocabulary:
    """A vocabulary in which "none" has the id GIVEN_NONE."""
    vocabulary = Vocabulary()
    if vocabulary.id("none") != GIVEN_NONE:
        raise RuntimeError("a new vocabulary gives out ids from 1")
    return vocabulary


SPELLINGS = frozenset({DONTCARE, "dont care", "don't care", "do n't care", "do not care"})
"""Of dontcare, where no normalisation was chosen."""


def normalise_states(states: StateSets, reading: StateReading) -> StateSets:
    """The states as chosen: values normalised on both sides, dontcare kept or dropped."""
    if reading.normalise is None and reading.dontcare in (None, "keep"):
        return states
    rule = None if reading.normalise is None else load_normalisation(reading.normalise)
    slots, column = _renamed_slots(states, rule)
    clashes: list[int] = []
    sides = []
    for table in (states.gold, states.predicted):
        changed = np.zeros((len(table), len(slots)), dtype=np.int32)
        for number, (domain, _) in enumerate(states.slots):
            ids = _normalised(states, table[:, number], domain.lower(), slots[column[number]][1], rule)
            taken = (changed[:, column[number]] > GIVEN_NONE) & (ids > GIVEN_NONE)
            clashes.append(int((taken & (changed[:, column[number]] != ids)).sum()))
            changed[:, column[number]] = np.where(
                ids > changed[:, column[number]], ids, changed[:, column[number]]
            )
        sides.append(changed)
    gold, predicted = sides
    n_changed = _n_changed(states.predicted, predicted, column)
    for side, choices in ((gold, ("drop", "drop_gold")), (predicted, ("drop",))):
        if reading.dontcare in choices:
            side[np.isin(side, states.vocabulary.find_all(SPELLINGS))] = ABSENT
    notes = list(states.problems)
    if sum(clashes):
        text = f"{sum(clashes):,} values are of slots with one name after normalising: one of two is kept"
        notes.append(Problem(text, severity="note"))
    rules = reading.value_rules
    return replace(
        states,
        slots=slots,
        gold=gold,
        predicted=predicted,
        in_gold=np.asarray((gold > GIVEN_NONE).any(axis=0)),
        problems=tuple(notes),
        signature=content_hash(states.signature, rules),
        value_rules=rules,
        n_values_changed=states.n_values_changed + n_changed,
    )


def _renamed_slots(
    states: StateSets, rule: Normalisation | None
) -> tuple[tuple[tuple[str, str], ...], list[int]]:
    """The slots under their new names, sorted, and which of them each old one is."""
    names = [(domain.lower(), slot_name(slot)) if rule else (domain, slot) for domain, slot in states.slots]
    slots = tuple(sorted(set(names)))
    return slots, [slots.index(name) for name in names]


def _normalised(states: StateSets, ids: Ids, domain: str, slot: str, rule: Normalisation | None) -> Ids:
    if rule is None:
        return ids
    old, position = np.unique(ids, return_inverse=True)
    new = [
        states.vocabulary.id(rule.value(domain, slot, str(states.value(identity))))
        if identity > GIVEN_NONE
        else identity
        for identity in old.tolist()
    ]
    empty = states.vocabulary.id("")
    return np.array([ABSENT if identity == empty else identity for identity in new], dtype=np.int32)[position]


def _n_changed(before: Ids, after: Ids, column: list[int]) -> int:
    """How many predicted values are other ones now; another name of a slot is no other value."""
    moved = np.zeros_like(after)
    for number, target in enumerate(column):
        moved[:, target] = np.maximum(moved[:, target], before[:, number])
    return int((moved != after).sum())
