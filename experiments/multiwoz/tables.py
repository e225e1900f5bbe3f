"""The tables of the study, a struct each; those of the tool's runs have the gold beside their columns."""

from __future__ import annotations

import msgspec

from extrinsic.study.tables import CostRow, SwapRow


class Swap(SwapRow, frozen=True, kw_only=True):
    """A row of a run's swap.csv; gold: 2.1 or 2.4; of end-to-end systems the generator is `own`."""

    gold: str


class Cost(CostRow, frozen=True, kw_only=True):
    """A row of a run's costs.csv."""

    gold: str


class Tracker(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker under all generators; lowest, highest: of its success under one generator."""

    tracker: str
    flags: tuple[str, ...]
    success: float
    inform: float
    lowest: float
    highest: float
    jga_21: float
    jga_24: float
    slot_f1_21: float
    slot_f1_24: float


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What `extrinsic run configs/multiwoz_swap.toml` says at its end; certainty: beside it in the report.

    metric: the one that comes first.   r_means: its r with the means over generators, which is lowest without
    one tracker: r_without.
    """

    gold: str
    target: str
    metric: str
    sentence: str
    certainty: str
    r_means: float
    without: str
    r_without: float


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How many intervals of simulated swap studies that claim 95 % hold the truth, in percent.

    of: `r`, or the `difference` of two.   interval: `percentile` of resamples, or `jackknife` (the tool's).
    width: mean.
    """

    population: str
    n_trackers: int
    n_generators: int
    of: str
    interval: str
    held: float
    width: float
    n_studies: int


class Generator(msgspec.Struct, frozen=True, kw_only=True):
    """A generator under the states of one tracker, by the standard evaluator.

    states: `native`, as its authors wrote them, or `normalised`, the file that the swap study has.
    """

    states: str
    generator: str
    inform: float
    success: float


class System(msgspec.Struct, frozen=True, kw_only=True):
    """An end-to-end system with its own responses, on all of its dialogs; flags: of its states."""

    system: str
    flags: tuple[str, ...]
    n_dialogs: int
    jga: float
    jga_turns: float
    success: float
    inform: float


class Between(msgspec.Struct, frozen=True, kw_only=True):
    """r of JGA with success over systems: JGA as the mean over dialogs, or over turns.

    low, high: by the jackknife.   lowest, without: the lowest r without one system, and which.
    """

    systems: str
    n: int
    average: str
    r: float
    low: float | None
    high: float | None
    lowest: float
    without: str


class Normalised(msgspec.Struct, frozen=True, kw_only=True):
    """JGA in percent of a file as its authors wrote it; changed: how many predicted values a rule changed.

    own: on the gold in the file itself, else on MultiWOZ 2.1's or 2.4's.
    """

    tracker: str
    gold: str
    rule: str
    dontcare: str
    jga: float
    changed: int
    n_predicted: int


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Two trackers on the same dialogs, as `extrinsic score A B --paired` has them."""

    metric: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


TABLES: dict[str, type[msgspec.Struct]] = {
    "swap": Swap,
    "costs": Cost,
    "answers": Answer,
    "coverage": Coverage,
    "trackers": Tracker,
    "generators": Generator,
    "systems": System,
    "between": Between,
    "normalisations": Normalised,
    "paired": Paired,
}

DECIMALS = {"paired": 4}
"""Where three are too few: for a p."""
