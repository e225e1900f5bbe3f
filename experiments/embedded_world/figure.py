"""Real and simulated calls side by side: a panel for each measure, a bar for each corpus."""

from __future__ import annotations

from pathlib import Path

from experiments.embedded_world.tables import CorpusProfile
from experiments.figures import begin, plt, save
from experiments.selection import Selection

SHOWN = {
    "turns_per_call": "turns a call",
    "hang_ups": "hung up before an offer",
    "ended_by_system": "ended by the system",
    "empty_lists": "empty lists",
    "lists_of_one": "lists of one",
    "long_lists": "lists of ten and more",
    "concepts": "concepts a list",
    "rank_1": "best is right",
    "in_list": "in the list",
    "wrong_again": "same wrong value again",
    "auc": "AUC of the best score",
    "calibration": "calibration error",
    "sure": "best scores above .9",
    "request": "requests, of turns",
    "confirm": "confirmations, of turns",
    "offer": "offers, of turns",
}
REAL, SIMULATED = "#D55E00", "#0072B2"


def draw(profiles: Selection[CorpusProfile], path: Path) -> None:
    begin(7.0)
    rows = profiles.rows
    figure, panels = plt.subplots(4, 4, figsize=(9.0, 8.0), sharey=True)
    for panel, (name, title) in zip(panels.ravel(), SHOWN.items(), strict=True):
        numbers = [getattr(row, name) for row in rows]
        colours = [REAL if row.is_real else SIMULATED for row in rows]
        panel.barh(range(len(rows)), [number or 0.0 for number in numbers], color=colours)
        for position, number in enumerate(numbers):
            panel.annotate("-" if number is None else f"{number:.2f}", (number or 0.0, position), va="center")
        panel.set_title(title)
        panel.margins(x=0.2)
        panel.set_yticks(range(len(rows)), [row.dataset for row in rows])
    panels[0, 0].invert_yaxis()
    save(figure, path)
