"""The text of every study is rendered from its committed tables, and its claims hold of them.

Where this fails after a change of a text: `python -m experiments.NAME --text`; after a change of what is
computed, run the experiment again: `python -m experiments.NAME`. Of studies of metrics also
`python -m experiments.overview --runs DIR`.
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
from experiments.main import Experiment
from experiments.metrics.state_files import FEWER
from experiments.overview import __main__ as overview
from experiments.texts import UnsupportedClaim
from extrinsic.tables import read_rows, table_bytes, write_rows

FOLDER = Path(experiments.__file__).parent
NAMES = (*overview.STUDIES, "embedded_world", "learners", "lee_wording", "metrics", "truth", "uncertainty")
EXPERIMENTS: dict[str, Experiment] = {
    name: import_module(f"experiments.{name}.__main__").EXPERIMENT for name in NAMES
}


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_rendered_from_the_tables(name: str, tmp_path: Path) -> None:
    """Every claim holds of the committed tables; figures are drawn."""
    study = EXPERIMENTS[name]
    study.write_texts(study.folder, tmp_path)
    assert (tmp_path / "README.md").read_text() == (study.folder / "README.md").read_text()
    drawn = {path.name for path in study.folder.glob("*.svg")}
    assert drawn == {path.name for path in tmp_path.glob("*.svg") if "<svg" in path.read_text()}


def test_the_page_of_all_studies(tmp_path: Path) -> None:
    overview.write_texts(tmp_path, tmp_path / "overview")
    page = (FOLDER / "README.md").read_text()
    assert (tmp_path / "README.md").read_text() == page
    links = [part.partition(")")[0] for part in page.split("](")[1:]]
    assert [link for link in links if not (FOLDER / link).exists()] == []
    written = table_bytes(overview.compared_rows(overview.read_studies()), overview.Compared, 3)
    assert written == (overview.FOLDER / "verdicts.csv").read_bytes()


@pytest.mark.parametrize(
    ("name", "table"), [(name, table) for name in NAMES for table in EXPERIMENTS[name].tables]
)
def test_tables_are_written_as_they_were_read(name: str, table: str) -> None:
    study = EXPERIMENTS[name]
    path, kind = study.folder / f"{table}.csv", study.tables[table]
    assert table_bytes(read_rows(path, kind), kind, study.decimals.get(table, 3)) == path.read_bytes()


class Change(NamedTuple):
    """What a table might have said instead: in the rows that have these values, other ones."""

    study: str
    table: str
    where: dict[str, Any]
    values: dict[str, Any]
    sentence: str
    """Of the text, which is then no longer supported."""


CHANGES = [
    Change("embedded_world", "datasets", {}, {"turns_per_dialog": 20.0}, "differs by"),
    Change("learners", "live_returns", {"policy": "compact"}, {"earned": -90.0}, "What the state holds"),
    Change("lee2014", "choices", {"metric": "l2"}, {"lost": 9.0}, "The rule matters"),
    Change("lee2014", "gains", {"more": "rl.live"}, {"low": -1.0}, "Learning pays"),
    Change("lee_wording", "sparsification", {}, {"beyond": 0.0}, "Removal keeps fewer kernels"),
    Change("metrics", "both_traits", {"file": FEWER, "form": 2023}, {"difference_high": 0.1}, "more"),
    Change("metrics", "scores", {"file": "augpt"}, {"always": 3}, "uniconv holds gold states"),
    Change("multiwoz", "normalisations", {"gold": "own"}, {"jga": 52.04}, "Published figures"),
    Change("population", "contrasts", {"what": "contrast"}, {"low": -0.1}, "confirmed"),
    Change("worlds", "choices", {"metric": "jga(fill=argmax)"}, {"lost": 6.0}, "not the same choice"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.study} {change.table}")
def test_a_claim_that_the_tables_contradict(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda *arguments, **options: None)  # half of the time
    study, folder = EXPERIMENTS[change.study], tmp_path / change.study
    shutil.copytree(study.folder, folder, ignore=shutil.ignore_patterns("*.py", "*.svg"))
    kind, path = study.tables[change.table], folder / f"{change.table}.csv"
    rows = read_rows(path, kind)
    changed = [
        msgspec.structs.replace(row, **change.values)
        if all(getattr(row, name) == value for name, value in change.where.items())
        else row
        for row in rows
    ]
    assert changed != rows
    write_rows(path, changed, kind, study.decimals.get(change.table, 3))
    with pytest.raises(UnsupportedClaim, match=change.sentence):
        study.write_texts(folder, tmp_path)
