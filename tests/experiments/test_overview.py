"""The page of all studies is rendered from their tables, and its claims hold of them.

Where this fails after a study was made again: `python -m experiments.overview`.
"""

from __future__ import annotations

from pathlib import Path

from experiments.overview.__main__ import METRICS, STUDIES, read_panels, write_page


def test_the_page_is_rendered_from_the_tables(tmp_path: Path) -> None:
    write_page(tmp_path)
    assert (STUDIES / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "overview.svg").read_text()
    assert (STUDIES / "overview.svg").exists()


def test_its_links_lead_somewhere() -> None:
    links = [part.partition(")")[0] for part in (STUDIES / "README.md").read_text().split("](")[1:]]
    assert len(links) == 21
    assert [link for link in links if not (STUDIES / link).exists()] == []


def test_every_study_has_its_metrics() -> None:
    panels = read_panels()
    of_states = set(METRICS[METRICS.index("jga") :])
    for rows in (panels.simulated, panels.dstc1, panels.dstc1_core, panels.dstc2, panels.dstc2_core):
        assert set(METRICS) <= set(rows)
    for of_systems in (panels.swap, panels.same_dialog):
        assert set(METRICS) & set(of_systems) == of_states
    assert [row.metric for row in panels.rows()] == list(METRICS)
