"""The text of every study is rendered from its committed tables, and its claims hold of them.

Where this fails after a change of a text: `python -m experiments.NAME --text`; after a change of what is
computed, run the experiment again: `python -m experiments.NAME`.
"""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from matplotlib.figure import Figure

import experiments
from experiments.dstc1.tables import TABLES as DSTC1
from experiments.dstc2.tables import CHOSEN, COMPUTED
from experiments.embedded_world.tables import CorpusProfile, SimulatedDataset, TrackerAtEnd
from experiments.learners.tables import LiveReturn, PolicySummary
from experiments.lee2014.__main__ import KEPT, MADE
from experiments.lee_wording.tables import Filtered, Sparsified, StudyStep
from experiments.metrics.state_files import FEWER
from experiments.metrics.tables import TABLES as METRICS
from experiments.multiwoz.tables import DECIMALS
from experiments.multiwoz.tables import TABLES as MULTIWOZ
from experiments.texts import UnsupportedClaim
from experiments.truth.__main__ import TABLES as TRUTH
from experiments.uncertainty.__main__ import TABLES as UNCERTAINTY
from extrinsic.study.tables import PolicyRow
from extrinsic.tables import read_rows, table_bytes, write_rows

Kinds = dict[str, type[msgspec.Struct]]
STUDIES = Path(experiments.__file__).parent
TABLES: dict[str, Kinds] = {
    "dstc1": DSTC1,
    "dstc2": {**COMPUTED, **CHOSEN},
    "embedded_world": {
        "datasets": SimulatedDataset,
        "trackers": TrackerAtEnd,
        "profiles": CorpusProfile,
    },
    "learners": {
        "live_returns": LiveReturn,
        "summary": PolicySummary,
        "learner_returns": LiveReturn,
        "dstc2_learners": PolicyRow,
    },
    "lee2014": {**{name: kept[0] for name, kept in KEPT.items()}, **MADE},
    "lee_wording": {"sparsification": Sparsified, "svm_height": Filtered, "literal_steps": StudyStep},
    "metrics": METRICS,
    "multiwoz": MULTIWOZ,
    "truth": TRUTH,
    "uncertainty": {name: kind for name, (kind, _) in UNCERTAINTY.items()},
}
PLACES = {("multiwoz", name): places for name, places in DECIMALS.items()}
PLACES |= {("lee2014", name): kept[2] for name, kept in KEPT.items()}


def read(study: str, table: str) -> list[Any]:
    return read_rows(STUDIES / study / f"{table}.csv", TABLES[study][table])


def write_texts(study: str, tables: Path, output: Path) -> None:
    import_module(f"experiments.{study}.__main__").write_texts(tables, output)


@pytest.mark.parametrize("study", TABLES)
def test_the_text_is_rendered_from_the_tables(study: str, tmp_path: Path) -> None:
    """Every claim holds of the committed tables; figures are drawn."""
    write_texts(study, STUDIES / study, tmp_path)
    assert (tmp_path / "README.md").read_text() == (STUDIES / study / "README.md").read_text()
    drawn = {path.name for path in (STUDIES / study).glob("*.svg")}
    assert drawn == {path.name for path in tmp_path.glob("*.svg") if "<svg" in path.read_text()}


@pytest.mark.parametrize(("study", "table"), [(study, name) for study in TABLES for name in TABLES[study]])
def test_tables_are_written_as_they_were_read(study: str, table: str) -> None:
    written = table_bytes(read(study, table), TABLES[study][table], PLACES.get((study, table), 3))
    assert written == (STUDIES / study / f"{table}.csv").read_bytes()


class Change(NamedTuple):
    """What a table might have said instead: in the rows that have these values, other ones."""

    study: str
    table: str
    where: dict[str, Any]
    values: dict[str, Any]
    sentence: str
    """Of the text, which is then no longer supported."""


CORE = {"trackers": "core", "metric": "gca@1"}
CHANGES = [
    Change("dstc1", "differences", {}, {"difference": 0.5, "low": 0.1, "high": 0.9, "p": 0.001}, "accuracy"),
    Change("dstc2", "differences", CORE, {"low": 0.01, "jackknife_low": 0.01}, "No metric is clearly better"),
    Change("embedded_world", "datasets", {}, {"turns_per_dialog": 20.0}, "differs by"),
    Change("learners", "live_returns", {"policy": "compact"}, {"earned": -90.0}, "What the state holds"),
    Change("lee_wording", "sparsification", {}, {"beyond": 0.0}, "Removal keeps fewer kernels"),
    Change("metrics", "both_traits", {"file": FEWER, "form": 2023}, {"difference_high": 0.1}, "more"),
    Change("metrics", "scores", {"file": "augpt"}, {"always": 3}, "uniconv holds gold states"),
    Change("multiwoz", "swap", {"metric": "slot_f1", "level": "tracker"}, {"low": -0.01}, "Slot F1 predicts"),
    Change("multiwoz", "costs", {"error": "overshot", "slots": "search"}, {"low": 0.01}, "Wrong and missed"),
    Change("multiwoz", "normalisations", {"gold": "own"}, {"jga": 52.04}, "Published figures"),
    Change("uncertainty", "independent", {}, {"coverage": 0.9}, r"covers 90\.0"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.study} {change.table}")
def test_a_claim_that_the_tables_contradict(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda *arguments, **options: None)  # half of the time
    folder = tmp_path / change.study
    shutil.copytree(STUDIES / change.study, folder, ignore=shutil.ignore_patterns("*.py", "*.svg"))
    rows = read(change.study, change.table)
    changed = [
        msgspec.structs.replace(row, **change.values)
        if all(getattr(row, name) == value for name, value in change.where.items())
        else row
        for row in rows
    ]
    assert changed != rows
    places = PLACES.get((change.study, change.table), 3)
    write_rows(folder / f"{change.table}.csv", changed, TABLES[change.study][change.table], places)
    with pytest.raises(UnsupportedClaim, match=change.sentence):
        write_texts(change.study, folder, tmp_path)
