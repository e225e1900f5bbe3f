"""What others published of the same systems: oracles, not results."""

from __future__ import annotations

BENCHMARK: dict[str, tuple[float, float]] = {
    "augpt": (76.6, 60.5),
    "bort": (85.5, 77.4),
    "damd": (57.9, 47.6),
    "dots": (80.4, 68.7),
    "galaxy-e2e": (85.4, 75.7),
    "labes": (68.5, 58.1),
    "mars": (88.9, 78.0),
    "mintl": (73.7, 65.4),
    "pptod": (83.1, 72.7),
    "rstod": (83.5, 75.0),
    "soloist": (82.3, 72.4),
    "ubar": (83.4, 70.3),
    "uniconv": (66.7, 58.7),
}
"""Inform and Success in percent, from the benchmark tables in the README of github.com/budzianowski/multiwoz
(response generation, standard evaluator)."""

GIVEN_STATES = ("uniconv",)
"""Listed there among models that are given the true state when they answer. Its file, too, holds the true
states, less the slots of bookings: experiments/metrics."""

PROTOTYPE = {"inform": 0.15, "success": 0.12}
"""JGA against the benchmark's figures over the 13 systems, as a prototype of this project had it."""

JGA = {
    "uniconv": 56.67,
    "augpt": 54.96,
    "labes": 49.36,
    "rstod": 49.23,
    "galaxy-e2e": 47.40,
    "dots": 47.38,
    "pptod": 45.28,
    "mars": 45.04,
    "bort": 44.51,
    "mintl": 44.34,
    "ubar": 41.66,
    "soloist": 34.62,
    "damd": 29.02,
}
"""Of the files, as the README of the data has them."""

ROUNDING = 0.06
"""Percentage points that rounding to one decimal may take."""
