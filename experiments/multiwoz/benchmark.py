"""What others published of the same systems: to compare with, not results."""

from __future__ import annotations

PUBLISHED: dict[str, tuple[float, float]] = {
    "augpt": (60.5, 76.6),
    "bort": (77.4, 85.5),
    "damd": (47.6, 57.9),
    "dots": (68.7, 80.4),
    "galaxy-e2e": (75.7, 85.4),
    "labes": (58.1, 68.5),
    "mars": (78.0, 88.9),
    "mintl": (65.4, 73.7),
    "pptod": (72.7, 83.1),
    "rstod": (75.0, 83.5),
    "soloist": (72.4, 82.3),
    "ubar": (70.3, 83.4),
    "uniconv": (58.7, 66.7),
}
"""Success and Inform in percent, from the benchmark tables in the README of github.com/budzianowski/multiwoz
(response generation, standard evaluator)."""

ROUNDING = 0.06
"""Percentage points that rounding to one decimal may take."""

PROTOTYPE = {"success": 0.12, "inform": 0.15}
"""JGA's r with the published figures over the 13 systems, as a prototype of this project had it."""
