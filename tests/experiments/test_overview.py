"""The page of all studies, as it stands in the repository, is made from their tables.

Where this fails after a study was made again: `python -m experiments.overview`.
"""

from __future__ import annotations

from pathlib import Path

from experiments.overview import answers
from experiments.overview.__main__ import write_page
from experiments.overview.places import METRICS, STUDIES, places, read_tables
from experiments.tables import side, spelled, without_fill
from tests.experiments.test_texts import stored


def test_the_page_is_made_from_the_tables(tmp_path: Path) -> None:
    write_page(tmp_path, tmp_path / "overview.svg")
    assert stored(STUDIES / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "overview.svg").read_text()
    assert (STUDIES / "overview.svg").exists()


def test_its_links_lead_somewhere() -> None:
    text = stored(STUDIES / "README.md").read_text()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) == 7
    assert [link for link in links if not (STUDIES / link).exists()] == []


def test_every_study_has_its_metrics() -> None:
    found = places(read_tables())
    of_states = METRICS[METRICS.index("jga") :]
    for study in ("embedded", "dstc2", "dstc2 core"):
        assert [metric for metric in METRICS if found[study][metric] is None] == []
    for study in ("between systems", "within a system"):
        assert [metric for metric in METRICS if found[study][metric] is not None] == list(of_states)


def test_words_by_hand() -> None:
    above, below, neither = ({"low": low, "high": high} for low, high in ((0.1, 1), (-1, -0.1), (-1, 1)))
    assert [side(row) for row in (above, below, neither)] == ["above 0", "below 0", "not resolved"]
    assert side({**above, "jackknife_low": -0.1, "jackknife_high": 1.0}) == "not resolved"
    assert answers.tally(["a", "b", "a"]) == "a in 2 of 3, b in 1 of 3"
    assert spelled({"r": 0.5, "low": -0.25, "high": 1.0}) == "0.50 [-0.25, 1.00]"
    assert spelled(None) == ""
    assert [without_fill(name, "argmax") for name in ("fga(0.5, fill=argmax)", "jga(fill=argmax)", "l2")] == [
        "fga(0.5)",
        "jga",
        "l2",
    ]
