"""What policies are worth on dev, tracker by tracker: learned, imitated, logged, and their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from experiments.dstc2.candidate_settings import ESTIMATOR, FILLS
from experiments.dstc2.scenarios import LOGGED, TARGET, Scenario
from experiments.dstc2.tables import Check, FlagCount, Gain
from extrinsic.arrays import Floats
from extrinsic.study.policy_values import PolicyValue, StoredValue
from extrinsic.study.run import Run


class Worth(NamedTuple):
    """A value, and what each call adds to it or takes from it."""

    mean: float
    influence: Floats

    def minus(self, other: Worth) -> tuple[float, float, float]:
        """The difference with a normal 95 % interval over calls."""
        difference = self.mean - other.mean
        half = 1.96 * float(np.sqrt(((self.influence - other.influence) ** 2).sum()))
        return difference, difference - half, difference + half


def gain_rows(scenario: Scenario, run: Run, trackers: list[str]) -> Iterator[Gain]:
    for tracker, fill in product(trackers, FILLS):
        worth = worth_by_target(stored_values(run, tracker, fill))
        learned, logged, imitated = (worth[target] for target in (TARGET, LOGGED, f"sl_sampled.{ESTIMATOR}"))
        yield Gain(
            scenario.manager,
            scenario.absent,
            fill,
            tracker,
            logged.mean,
            imitated.mean,
            learned.mean,
            *learned.minus(logged),
            *learned.minus(imitated),
        )


def stored_values(run: Run, tracker: str, fill: str) -> list[StoredValue]:
    return [stored for stored in run.values(f"fill={fill}") if stored.tracker == tracker]


def worth_by_target(values: Sequence[StoredValue]) -> dict[str, Worth]:
    """All conditions together: every call counts as much."""
    parts: dict[str, list[Worth]] = {}
    for entry in values:
        part = Worth(entry.value.mean, entry.influence)
        parts.setdefault(entry.value.target, []).append(part)
    return {target: together(by_condition) for target, by_condition in parts.items()}


def together(parts: list[Worth]) -> Worth:
    """The mean over the calls of several conditions."""
    shares = _shares([len(part.influence) for part in parts])
    influence = [share * part.influence for share, part in zip(shares, parts, strict=True)]
    return Worth(float(shares @ np.array([part.mean for part in parts])), np.concatenate(influence))


def _shares(sizes: list[int]) -> Floats:
    return np.array(sizes, dtype=np.float64) / sum(sizes)


def check_rows(scenario: Scenario, run: Run, trackers: list[str]) -> Iterator[Check]:
    """The placebo is valued by LSTD, so that the gain beside it is, too."""
    for fill, tracker in product(FILLS, trackers):
        values: dict[str, list[PolicyValue]] = {}
        for entry in stored_values(run, tracker, fill):
            values.setdefault(entry.value.target, []).append(entry.value)
        own, by_lstd, logged = (values[target] for target in (TARGET, "rl.lstd", LOGGED))
        gains = [
            a.mean - b.mean - a.diagnostics["on_policy_gap"] for a, b in zip(by_lstd, logged, strict=True)
        ]
        placebos = [value.diagnostics["placebo_gain"] for value in by_lstd]
        gaps = [value.diagnostics["on_policy_gap"] for value in own]
        shares = _shares([value.n for value in logged])
        means = (float(shares @ np.array(numbers)) for numbers in (gains, placebos, gaps))
        yield Check(scenario.manager, scenario.absent, fill, tracker, *means)


def flag_rows(run: Run) -> list[FlagCount]:
    rows = [row for row in run.table("returns") if (row.policy, row.estimator) == ("rl", ESTIMATOR)]
    counts = Counter(flag for row in rows for flag in row.flags)
    return [FlagCount(flag, count, len(rows)) for flag, count in sorted(counts.items())]
