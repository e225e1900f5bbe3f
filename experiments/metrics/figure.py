"""The papers' figures in their form: Fig. 4 of Aksu & Chen, Figs. 1 to 4 of Kim et al."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save
from experiments.metrics.files import FEWER, SOM, SYSTEMS
from experiments.metrics.lookup import Row, Tables, matches
from experiments.metrics.published import FGA, GCA, JGA, KIM_MODELS, RSA, SA, TRAIT_R
from experiments.metrics.slots import ACTIVE, EVERY, N_BINS
from experiments.metrics.traits import LEFT_OUT
from experiments.tables import one
from extrinsic.metrics.turn_correlation import KIM_METRICS

COLOURS = {FGA: "#D55E00", GCA: "#0072B2"}
NAMES = {FGA: "FGA(.5)", GCA: "GCA"}
OF_FILES = {SOM: "#009E73", SYSTEMS: "#0072B2"}
LONG = {"TO": "tail-orientation (TO)", "NU": "non-uniformity (NU)"}


def draw_traits(bins: list[Row], traits: list[Row], path: Path) -> None:
    """A row for each trait: FGA and GCA by the trait in standard deviations, and r in every file."""
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(11.0, 7.0), width_ratios=(1, 1, 1.1))
    for i, trait in enumerate(LONG):
        for j, name in enumerate((SOM, SYSTEMS)):
            of = [row for row in bins if matches(row, file=name, trait=trait)]
            _draw_bins(panels[i, j], of, f"{name}: {LONG[trait]}")
        of = [row for row in traits if matches(row, trait=trait, form=2024, faultless=LEFT_OUT)]
        _draw_files(panels[i, 2], [row for row in of if row["file"] != FEWER], trait)
    panels[0, 0].legend(loc="lower right", frameon=False)
    save(figure, path)


def _draw_bins(panel: Any, rows: list[Row], title: str) -> None:
    for metric, colour in COLOURS.items():
        centres = [row["centre"] for row in rows]
        panel.plot(centres, [row[metric] for row in rows], color=colour, label=NAMES[metric], linewidth=1.0)
        # The area of a point is the share of dialogs that it stands for.
        total = sum(row["dialogs"] for row in rows)
        sizes = [400.0 * row["dialogs"] / total for row in rows]
        panel.scatter(centres, [row[metric] for row in rows], s=sizes, color=colour)
    panel.set_title(title)
    panel.set_ylim(30, 100)
    panel.set_xlim(-2.0, 2.0)
    panel.set_xlabel("standard deviations from the mean")
    panel.set_ylabel("mean over dialogs, percent")


def _draw_files(panel: Any, rows: list[Row], trait: str) -> None:
    places = np.arange(len(rows))[::-1]
    for row, place in zip(rows, places, strict=True):
        panel.plot([row[FGA], row[GCA]], [place, place], color="#bbbbbb", linewidth=1.0, zorder=1)
    for number, (metric, colour) in enumerate(COLOURS.items()):
        panel.scatter([row[metric] for row in rows], places, s=22, color=colour, zorder=2)
        paper = TRAIT_R[trait, 2024][number]
        panel.axvline(paper, color=colour, linewidth=0.8, linestyle=":")
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    panel.set_yticks(places, [row["file"] for row in rows], fontsize=8)
    panel.set_xlabel(f"r with {trait}; dotted: the paper")
    panel.set_title(f"r with {trait} over dialogs with a mistake")


def draw_slots(tables: Tables, path: Path) -> None:
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(11.0, 7.0))
    _draw_positions(panels[0, 0], tables["positions"])
    _draw_used(panels[0, 1], tables["used_slots"])
    _draw_spread(panels[0, 2], tables["discrimination"])
    shown = ((SOM, EVERY), (SYSTEMS, EVERY), (SYSTEMS, ACTIVE))
    for panel, (name, turns) in zip(panels[1], shown, strict=True):
        _draw_matrix(panel, one(tables["turn_correlations"], file=name, turns=turns), f"{name}, {turns}")
    save(figure, path)


def _draw_positions(panel: Any, rows: list[Row]) -> None:
    """Kim's Fig. 1."""
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    for name, colour in OF_FILES.items():
        row = one(rows, file=name)
        shares = [100 * row[f"bin_{number}"] / row["wrong"] for number in range(N_BINS)]
        panel.stairs(shares, edges, color=colour, label=f"{name}: {row['wrong']:,} of {row['dialogs']:,}")
    panel.legend(frameon=False, fontsize=8)
    panel.set_title("first wrong turn of dialogs wrong at the end")
    panel.set_xlabel("position in the dialog")
    panel.set_ylabel("percent of these dialogs")


def _draw_used(panel: Any, rows: list[Row]) -> None:
    """Kim's Fig. 2."""
    for name, colour in OF_FILES.items():
        of = [row for row in rows if row["file"] == name]
        total = sum(row["dialogs"] for row in of)
        label = name if name == SOM else "test set, without dontcare"
        panel.plot(
            [row["slots"] for row in of],
            [100 * row["dialogs"] / total for row in of],
            color=colour,
            marker="o",
            markersize=3,
            linewidth=1.0,
            label=label,
        )
    panel.legend(frameon=False, fontsize=8)
    panel.set_ylim(0, 21)
    panel.set_title("slots in a dialog's gold state, of 30")
    panel.set_xlabel("slots")
    panel.set_ylabel("percent of dialogs")


def _draw_spread(panel: Any, rows: list[Row]) -> None:
    """Kim's Fig. 4: mean and standard deviation over models, beside those of his Table 1."""
    for number, metric in enumerate(KIM_METRICS):
        ours = one(rows, systems=SYSTEMS, metric=metric)
        theirs = 100 * np.array(KIM_MODELS[metric])
        for shift, mean, deviation, colour, label in (
            (-0.12, theirs.mean(), theirs.std(ddof=1), "#888888", "Kim, 10 models"),
            (0.12, ours["mean"], ours["deviation"], OF_FILES[SYSTEMS], SYSTEMS),
        ):
            panel.errorbar(
                number + shift,
                mean,
                deviation,
                color=colour,
                marker="o",
                markersize=4,
                capsize=3,
                linestyle="none",
                label=label if number == 0 else None,
            )
    panel.set_xticks(range(len(KIM_METRICS)), [MATRIX[metric] for metric in KIM_METRICS])
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    panel.set_title("mean, standard deviation over systems")
    panel.set_ylabel("percent")


MATRIX = {JGA: "JGA", SA: "SA", "slot_f1": "F1", RSA: "RSA"}


def _draw_matrix(panel: Any, row: Row, title: str) -> None:
    """Kim's Fig. 3."""
    size = len(KIM_METRICS)
    values = np.eye(size)
    for i, first in enumerate(KIM_METRICS):
        for j, second in enumerate(KIM_METRICS[:i]):
            values[i, j] = values[j, i] = row[f"{second} {first}"]
    panel.imshow(values, cmap="Blues", vmin=0.3, vmax=1.3)
    for i in range(size):
        for j in range(size):
            panel.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center")
    panel.set_xticks(range(size), [MATRIX[metric] for metric in KIM_METRICS])
    panel.set_yticks(range(size), [MATRIX[metric] for metric in KIM_METRICS])
    panel.set_title(f"r by turn: {title}")
