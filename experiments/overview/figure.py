"""Every metric in every study, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.figures import begin, plt, save

if TYPE_CHECKING:
    from experiments.overview.__main__ import Panels

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#888888"


def draw(studies: Panels, metrics: Sequence[str], path: Path) -> None:
    """A panel for each study: r of all trackers or systems with its interval, and r of the core trackers."""
    begin()
    core_simulated = {name: row.r for name, row in studies.simulated_core.items()}
    core_dstc1 = {name: row.r for name, row in studies.dstc1_core.items()}
    core_dstc2 = {name: row.r for name, row in studies.dstc2_core.items()}
    contents: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float | None]]] = (
        ("simulated calls, live return", studies.simulated, core_simulated),
        ("DSTC1, estimated return", studies.dstc1, core_dstc1),
        ("DSTC2, estimated return", studies.dstc2, core_dstc2),
        ("MultiWOZ swaps, success:\ncore trackers as points", studies.swap, {}),
        ("MultiWOZ swaps, success:\nin the same dialog", studies.same_dialog, {}),
    )
    figure, panels = plt.subplots(1, len(contents), figsize=(13.0, 5.0), sharey=True)
    names = metrics[::-1]
    for panel, (title, rows, core) in zip(panels, contents, strict=True):
        panel.axvline(0.0, color=GREY, linewidth=0.8)
        for height, name in enumerate(names):
            if name in rows:
                panel.hlines(height, rows[name].low, rows[name].high, color=BLUE, linewidth=1.2)
                panel.plot(rows[name].r, height, "o", color=BLUE, markersize=4)
            if core.get(name) is not None:
                panel.plot(core[name], height, "D", color=ORANGE, markersize=3.5)
        panel.set_title(title)
        panel.set_xlim(-1.0, 1.0)
        panel.set_xlabel("Pearson's r, 95 %")
    panels[0].set_yticks(range(len(names)), names)
    # Where no metric stands: metrics of beliefs do not exist for states.
    panels[-1].plot([], [], "o", color=BLUE, markersize=4, label="all trackers, systems")
    panels[-1].plot([], [], "D", color=ORANGE, markersize=4, label="core trackers")
    panels[-1].legend(loc="upper left", frameon=False)
    save(figure, path)
