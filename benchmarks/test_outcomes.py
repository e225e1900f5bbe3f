"""What a swap study's outcomes cost: trackers x dialogs x generators on one core, in CPU time."""

from __future__ import annotations

from time import process_time

import pytest

from benchmarks.measuring import note
from extrinsic.corpus.formats.gold_states import read_predictions
from extrinsic.corpus.state_sets import StateReading
from extrinsic.outcomes.multiwoz_evaluator import MultiWOZ
from extrinsic.registry import FORMATS
from tests.real_data import FOLDER

MULTIWOZ = FOLDER / "multiwoz"
GENERATORS = 10
LIMIT = 120.0
"""Seconds for 22 trackers x 942 dialogs x 10 generators, reading included."""


@pytest.mark.skipif(not (MULTIWOZ / "swap").is_dir(), reason="MultiWOZ's swap data is not here")
def test_trackers_by_generators() -> None:
    begin = process_time()
    files = sorted((MULTIWOZ / "swap").glob("responses_*.json.gz"))[:GENERATORS]
    prepared = MultiWOZ(
        goals=str(MULTIWOZ / "dialogs" / "test.json.gz"),
        booked=str(MULTIWOZ / "swap" / "booked_domains.json.gz"),
        database=str(MULTIWOZ / "swap" / "database"),
        responses=tuple(map(str, files)),
        domains="responses",
    ).prepare()
    trackers = sorted((MULTIWOZ / "trackers_2.1").glob("*.json.gz"))
    form = FORMATS.get("state-sets")
    shared = set.intersection(*(set(read_predictions(form, path, StateReading())) for path in trackers))
    dialogs = sorted(shared)
    for path in trackers:
        prepared.evaluate(str(path), "state-sets", StateReading(), path.stem, dialogs)
    took = process_time() - begin
    size = f"{len(trackers)} trackers x {len(dialogs)} dialogs x {len(files)} generators"
    note(f"outcomes of {size}", took, LIMIT, "s", 1.0)
    assert took <= LIMIT
