"""The papers' figures in their form: Fig. 4 of Aksu & Chen, Figs. 1 to 4 of Kim et al."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save
from experiments.metrics.kim_analyses import ACTIVE, EVERY, N_BINS
from experiments.metrics.mistake_traits import LEFT_OUT
from experiments.metrics.published_values import KIM_MODELS, TRAIT_R
from experiments.metrics.state_files import FEWER, SOM, SYSTEMS
from experiments.metrics.tables import (
    KIM_FIELDS,
    LABELS,
    METRICS,
    Discrimination,
    ErrorPositions,
    TraitBin,
    TraitCorrelation,
    TurnCorrelations,
    UsedSlots,
)
from experiments.selection import Selection

COLOURS = {"fga": "#D55E00", "gca": "#0072B2"}
FILE_COLOURS = {SOM: "#009E73", SYSTEMS: "#0072B2"}
TRAIT_NAMES = {"TO": "tail-orientation (TO)", "NU": "non-uniformity (NU)"}


def draw_traits(bins: Selection[Any], traits: Selection[Any], path: Path) -> None:
    """A row for each trait: FGA and GCA by the trait in standard deviations, and r in every file."""
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(11.0, 7.0), width_ratios=(1, 1, 1.1))
    for i, (trait, trait_name) in enumerate(TRAIT_NAMES.items()):
        for j, file in enumerate((SOM, SYSTEMS)):
            _draw_bins(panels[i, j], bins.where(file=file, trait=trait))
            panels[i, j].set_title(f"{file}: {trait_name}")
        rows = traits.where(trait=trait, form=2024, faultless=LEFT_OUT).rows
        _draw_files(panels[i, 2], [row for row in rows if row.file != FEWER], trait)
    panels[0, 0].legend(loc="lower right", frameon=False)
    save(figure, path)


def _draw_bins(panel: Any, bins: Selection[TraitBin]) -> None:
    centres, dialogs = bins.column("centre"), np.array(bins.column("dialogs"))
    for field, colour in COLOURS.items():
        values = bins.column(field)
        label = {"fga": "FGA(.5)", "gca": "GCA"}[field]
        panel.plot(centres, values, color=colour, label=label, linewidth=1.0)
        # The area of a point is the share of dialogs that it stands for.
        panel.scatter(centres, values, s=400.0 * dialogs / dialogs.sum(), color=colour)
    panel.set(ylim=(30, 100), xlim=(-2.0, 2.0), xlabel="standard deviations from the mean")
    panel.set_ylabel("mean over dialogs, percent")


def _draw_files(panel: Any, rows: Sequence[TraitCorrelation], trait: str) -> None:
    heights = np.arange(len(rows))[::-1]
    for row, height in zip(rows, heights, strict=True):
        panel.plot([row.fga, row.gca], [height, height], color="#bbbbbb", linewidth=1.0, zorder=1)
    for field, colour in COLOURS.items():
        panel.scatter([getattr(row, field) for row in rows], heights, s=22, color=colour, zorder=2)
        panel.axvline(TRAIT_R[trait, 2024][field], color=colour, linewidth=0.8, linestyle=":")
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    panel.set_yticks(heights, [row.file for row in rows], fontsize=8)
    panel.set_xlabel(f"r with {trait}; dotted: the paper")
    panel.set_title(f"r with {trait} over dialogs with a mistake")


def draw_slots(tables: Mapping[str, Selection[Any]], path: Path) -> None:
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(11.0, 7.0))
    _draw_positions(panels[0, 0], tables["positions"])
    _draw_used(panels[0, 1], tables["used_slots"])
    _draw_spread(panels[0, 2], tables["discrimination"].where(systems=SYSTEMS))
    shown = ((SOM, EVERY), (SYSTEMS, EVERY), (SYSTEMS, ACTIVE))
    for panel, (file, turns) in zip(panels[1], shown, strict=True):
        _draw_matrix(panel, tables["turn_correlations"].where(file=file, turns=turns).rows[0])
    save(figure, path)


def _draw_positions(panel: Any, positions: Selection[ErrorPositions]) -> None:
    """Kim's Fig. 1."""
    for file, colour in FILE_COLOURS.items():
        row = positions.where(file=file).rows[0]
        shares = [100 * getattr(row, f"bin_{number}") / row.wrong for number in range(N_BINS)]
        label = f"{file}: {row.wrong:,} of {row.dialogs:,}"
        panel.stairs(shares, np.linspace(0.0, 1.0, N_BINS + 1), color=colour, label=label)
    panel.legend(frameon=False, fontsize=8)
    panel.set_title("first wrong turn of dialogs wrong at the end")
    panel.set(xlabel="position in the dialog", ylabel="percent of these dialogs")


def _draw_used(panel: Any, used_slots: Selection[UsedSlots]) -> None:
    """Kim's Fig. 2."""
    labels = {SOM: SOM, SYSTEMS: "test set, without dontcare"}
    for file, colour in FILE_COLOURS.items():
        rows = used_slots.where(file=file)
        dialogs = np.array(rows.column("dialogs"))
        style = {"color": colour, "marker": "o", "markersize": 3, "linewidth": 1.0}
        panel.plot(rows.column("slots"), 100 * dialogs / dialogs.sum(), label=labels[file], **style)
    panel.legend(frameon=False, fontsize=8)
    panel.set_title("slots in a dialog's gold state, of 30")
    panel.set(ylim=(0, 21), xlabel="slots", ylabel="percent of dialogs")


def _draw_spread(panel: Any, discrimination: Selection[Discrimination]) -> None:
    """Kim's Fig. 4: mean and standard deviation over models, beside those of his Table 1."""
    style = {"marker": "o", "markersize": 4, "capsize": 3, "linestyle": "none"}
    x = np.arange(len(KIM_FIELDS))
    theirs = 100 * np.array([KIM_MODELS[field] for field in KIM_FIELDS])
    means, deviations = theirs.mean(axis=1), theirs.std(axis=1, ddof=1)
    panel.errorbar(x - 0.12, means, deviations, color="#888888", label="Kim, 10 models", **style)
    rows = [discrimination.where(metric=METRICS[field]).rows[0] for field in KIM_FIELDS]
    means, deviations = np.array([(row.mean, row.deviation) for row in rows]).T
    panel.errorbar(x + 0.12, means, deviations, color=FILE_COLOURS[SYSTEMS], label=SYSTEMS, **style)
    panel.set_xticks(x, [LABELS[field] for field in KIM_FIELDS])
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    panel.set_title("mean, standard deviation over systems")
    panel.set_ylabel("percent")


def _draw_matrix(panel: Any, row: TurnCorrelations) -> None:
    """Kim's Fig. 3."""
    size = len(KIM_FIELDS)
    values = np.eye(size)
    for i, first in enumerate(KIM_FIELDS):
        for j, second in enumerate(KIM_FIELDS[:i]):
            values[i, j] = values[j, i] = getattr(row, f"{second}_{first}")
    panel.imshow(values, cmap="Blues", vmin=0.3, vmax=1.3)
    for i, j in np.ndindex(size, size):
        panel.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center")
    labels = [LABELS[field] for field in KIM_FIELDS]
    panel.set_xticks(range(size), labels)
    panel.set_yticks(range(size), labels)
    panel.set_title(f"r by turn: {row.file}, {row.turns}")
