"""`python -m experiments.overview`: the page of all studies, from the tables that they stored."""

from __future__ import annotations

from pathlib import Path

from experiments.overview.figure import draw
from experiments.overview.places import STUDIES, read_tables
from experiments.overview.text import describe


def write_page(folder: Path, figure: Path) -> None:
    tables = read_tables()
    draw(tables, figure)
    (folder / "README.md").write_text(describe(tables))


if __name__ == "__main__":
    write_page(STUDIES, STUDIES / "overview.svg")
