"""Every metric in every study, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.figures import begin, plt, save
from experiments.overview.places import METRICS, Tables, places

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#888888"

PANELS = (
    ("embedded", "simulated calls, live return", "embedded"),
    ("dstc2", "DSTC2, estimated return", "dstc2 core"),
    ("between systems", "MultiWOZ, success:\nsystems as points", None),
    ("within a system", "MultiWOZ, success:\ndialogs within a system", None),
)
"""Of each panel: the study, its title, and where its core trackers are found."""


def draw(tables: Tables, path: Path) -> None:
    begin()
    found = places(tables)
    figure, panels = plt.subplots(1, len(PANELS), figsize=(11.0, 5.0), sharey=True)
    names = METRICS[::-1]
    for panel, (study, title, core) in zip(panels, PANELS, strict=True):
        panel.axvline(0.0, color=GREY, linewidth=0.8)
        for place, name in enumerate(names):
            row = found[study][name]
            if row is not None:
                panel.hlines(place, row["low"], row["high"], color=BLUE, linewidth=1.2)
                panel.plot(row["r"], place, "o", color=BLUE, markersize=4)
            if core is not None:
                _draw_core(panel, found[core][name], place, core == study)
        panel.set_title(title)
        panel.set_xlim(-1.0, 1.0)
        panel.set_xlabel("Pearson's r, 95 %")
    panels[0].set_yticks(range(len(names)), names)
    # Where no metric stands: belief trackers' metrics do not exist for states.
    panels[-1].plot([], [], "o", color=BLUE, markersize=4, label="all trackers, systems")
    panels[-1].plot([], [], "D", color=ORANGE, markersize=4, label="core trackers")
    panels[-1].legend(loc="upper left", frameon=False)
    save(figure, path)


def _draw_core(panel: Any, row: Any, place: int, in_row: bool) -> None:
    value = None if row is None else row["core"] if in_row else row["r"]
    if value is not None:
        panel.plot(value, place, "D", color=ORANGE, markersize=3.5)
