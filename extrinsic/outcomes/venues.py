"""The venues of a MultiWOZ database, and which of them satisfy the constraints of a state.

As MultiWOZ_Evaluation queries them: names, foods and stations match by partial similarity, times as bounds,
all else as equal text; an unknown field of a venue ("?") satisfies everything, and so does dontcare.
"""

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from extrinsic.arrays import Bools
from extrinsic.corpus.normalisation import DONTCARE, load_normalisation, slot_name
from extrinsic.errors import InputError, Problems
from extrinsic.storage import content_hash, decode_json, read_bytes

FUZZY = {
    "restaurant": frozenset({"name", "food"}),
    "hotel": frozenset({"name"}),
    "attraction": frozenset({"name"}),
    "train": frozenset({"departure", "destination"}),
}
"""The domains that have a database, and the columns that match by similarity."""

SIMILAR = 90
NOT_QUERIED = frozenset({"location", "openhours", "takesbookings", "introduction", "signature"})
UNKNOWN = "?"
NO_CONSTRAINT = frozenset(
    {DONTCARE, "not mentioned", "don't care", "dont care", "do n't care", "do not care"}
)

_TIME = re.compile(r"[0-9][0-9]:[0-9][0-9]")


class Venues:
    """The venues of all domains; sets of them are whole numbers with a bit for each identity."""

    def __init__(self, rows: Mapping[str, list[dict[str, str]]], signature: str) -> None:
        self.signature = signature
        self._rule = load_normalisation("multiwoz_eval")
        self._rows = rows
        # The standard evaluator queries the columns of a domain's first venue, and no others.
        self._columns = {domain: frozenset(table[0]) for domain, table in rows.items()}
        self._identity = {domain: _identities(domain, table) for domain, table in rows.items()}
        self._rows_of_value: dict[tuple[str, str, str], Bools] = {}
        self._sets: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}

    @property
    def domains(self) -> frozenset[str]:
        return frozenset(self._rows)

    def query(self, domain: str, constraints: Mapping[str, str]) -> int:
        """The set of venues that satisfy all constraints; slots without a column constrain nothing."""
        key = (domain, tuple(sorted(constraints.items())))
        if key in self._sets:
            return self._sets[key]
        kept = np.ones(len(self._rows[domain]), dtype=bool)
        for slot, value in constraints.items():
            if slot in self._columns[domain] and value not in NO_CONSTRAINT:
                kept &= self._satisfying(domain, slot, value)
        # Trains that differ only in their day may share an identity: a set is of identities, not of rows.
        numbers = self._identity[domain]
        present = np.zeros(int(numbers.max()) + 1, dtype=bool)
        present[numbers[kept]] = True
        bits = np.packbits(present, bitorder="little").tobytes()
        self._sets[key] = int.from_bytes(bits, "little")
        return self._sets[key]

    def _satisfying(self, domain: str, slot: str, written: str) -> Bools:
        value = self._rule.value(domain, slot, written)
        key = (domain, slot, value)
        if key not in self._rows_of_value:
            cells = [row.get(slot, UNKNOWN) for row in self._rows[domain]]
            verdicts = {cell: satisfies(domain, slot, cell, value) for cell in set(cells)}
            self._rows_of_value[key] = np.array([verdicts[cell] for cell in cells])
        return self._rows_of_value[key]


def satisfies(domain: str, slot: str, cell: str, value: str) -> bool:
    """Whether the cell of a venue satisfies the constraint of a state."""
    if cell == UNKNOWN:
        return True
    if slot == "arrive":
        return minutes(cell) <= minutes(value)
    if slot == "leave":
        return minutes(cell) >= minutes(value)
    return is_similar(cell, value) if slot in FUZZY[domain] else cell == value


def minutes(time: str) -> int:
    """Since midnight; 0 for what is no time, as the standard evaluator has it."""
    return int(time[:2]) * 60 + int(time[3:5]) if _TIME.match(time) else 0


def is_similar(left: str, right: str) -> bool:
    """Whether the partial ratio reaches SIMILAR.

    With m characters in common and a shorter text of n, it is at most 2 m / (n + m): most pairs need no
    matching.
    """
    common = sum((Counter(left) & Counter(right)).values())
    shorter = min(len(left), len(right))
    if round(200 * common / max(shorter + common, 1)) < SIMILAR:
        return False
    return partial_ratio(left, right) >= SIMILAR


def partial_ratio(left: str, right: str) -> int:
    """0 to 100: how similar the shorter text is to the part of the longer one that resembles it most.

    The parts that are tried begin where a block of equal characters puts the shorter text; so the measure is
    that of the fuzzy matching which the standard evaluator uses, and not a search over all parts.
    """
    shorter, longer = sorted((left, right), key=len)
    if not shorter:
        return 0
    if shorter in longer:
        return 100
    best = 0.0
    for block in SequenceMatcher(None, shorter, longer).get_matching_blocks():
        start = max(block.b - block.a, 0)
        best = max(best, SequenceMatcher(None, shorter, longer[start : start + len(shorter)]).ratio())
    return round(100 * best)


def read_venues(path: str | Path) -> Venues:
    """The database of a folder with `<domain>_db.json` files."""
    folder = Path(path)
    problems = Problems(str(path))
    if not folder.is_dir():
        raise InputError("there is no such folder of a database", path=str(path), expected="<domain>_db.json")
    rows: dict[str, list[dict[str, str]]] = {}
    contents = []
    for domain in FUZZY:
        file = folder / f"{domain}_db.json"
        try:
            data = read_bytes(file)
            table = decode_json(data, str(file))
        except InputError as error:
            problems.extend(error.problems)
            continue
        contents.append(data)
        if not isinstance(table, list) or not table or not all(isinstance(row, dict) for row in table):
            problems.add("no list of venues", path=str(file), expected="an array of objects")
            continue
        # The columns that are queried: their names alike, their cells text.
        rows[domain] = [
            {
                name if name == "id" else slot_name(name): cell
                for name, cell in row.items()
                if name not in NOT_QUERIED and isinstance(cell, str)
            }
            for row in table
        ]
        for number, row in enumerate(rows[domain]):
            if _key(domain) not in row:
                problems.add(f"venue {number} lacks {_key(domain)!r}", path=str(file))
    problems.raise_errors()
    return Venues(rows, content_hash("venues", *contents))


def _key(domain: str) -> str:
    return "trainid" if domain == "train" else "id"


def _identities(domain: str, rows: list[dict[str, str]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    number: dict[str, int] = {}
    return np.array([number.setdefault(row[_key(domain)], len(number)) for row in rows], dtype=np.int64)
