"""Correlations with the return under both fill rules; and what is gained with the manager seen and hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.dstc2.candidates import FILLS
from experiments.dstc2.shown import headline
from experiments.figures import begin, plt, save

GROUPS = {"all": "#0072B2", "core": "#D55E00", "good": "#009E73"}
AT_THE_END = ("accuracy@3", "l2@3")
MANAGER = {"seen": "#0072B2", "hidden": "#D55E00"}


def draw(tables: dict[str, list[dict[str, Any]]], path: Path) -> None:
    begin(8.5)
    figure, panels = plt.subplots(1, 3, figsize=(11.5, 6.2), gridspec_kw={"width_ratios": (1.15, 1, 1.1)})
    of_core = headline(tables["correlations"], FILLS[0], "core")
    shown = [name for name in of_core if name.endswith("@1") or name in AT_THE_END]
    names = sorted(shown, key=lambda name: of_core[name]["r"])
    for panel, fill in zip(panels[:2], FILLS, strict=True):
        _correlations(panel, tables["correlations"], fill, names)
    panels[0].set_yticks(range(len(names)), [_label(name) for name in names])
    panels[1].set_yticks(range(len(names)), [])
    panels[0].legend(loc="upper left", frameon=False)
    _gains(panels[2], tables["gains"])
    save(figure, path)


def _label(name: str) -> str:
    return name.replace("average_goal_accuracy", "AGA").replace("@1", "").replace("@", " @")


def _correlations(panel: Any, rows: list[dict[str, Any]], fill: str, names: list[str]) -> None:
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    for number, (trackers, colour) in enumerate(GROUPS.items()):
        of = headline(rows, fill, trackers)
        there = [place for place, name in enumerate(names) if name in of]
        chosen = [of[names[place]] for place in there]
        at = np.array(there) + 0.25 * (1 - number)
        panel.hlines(
            at, [row["low"] for row in chosen], [row["high"] for row in chosen], color=colour, linewidth=1.0
        )
        label = f"{trackers} ({chosen[0]['n']} trackers)"
        panel.plot([row["r"] for row in chosen], at, "o", color=colour, markersize=3.2, label=label)
    panel.set_xlim(-1.0, 1.03)
    panel.set_ylim(-0.7, len(names) - 0.3)
    panel.set_xlabel("r with the return, within condition")
    panel.set_title(f"filled by {fill}")


def _gains(panel: Any, rows: list[dict[str, Any]]) -> None:
    """What the learned policy gains over the logged one, tracker by tracker."""
    main = [row for row in rows if (row["absent"], row["fill"]) == ("correct", FILLS[0])]
    seen = {row["tracker"]: row["rl_behaviour"] for row in main if row["manager"] == "seen"}
    names = sorted(seen, key=lambda name: seen[name])
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    for number, (manager, colour) in enumerate(MANAGER.items()):
        of = {row["tracker"]: row for row in main if row["manager"] == manager}
        at = np.arange(len(names)) + 0.15 * (1 - 2 * number)
        low, high = ([of[name][f"rl_behaviour_{end}"] for name in names] for end in ("low", "high"))
        panel.hlines(at, low, high, color=colour, linewidth=1.0)
        panel.plot(
            [of[name]["rl_behaviour"] for name in names],
            at,
            "o",
            color=colour,
            markersize=3.2,
            label=f"manager {manager}",
        )
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(-0.7, len(names) - 0.3)
    panel.set_xlabel("gain over the logged policy, points")
    panel.set_title(f"learned policy, filled by {FILLS[0]}")
    panel.legend(loc="center right", frameon=False)
