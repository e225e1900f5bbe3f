"""Tail-orientation and non-uniformity of mistakes against metrics, dialog by dialog (Aksu & Chen)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from experiments.metrics.partial import partial_scatter, scatter_correlations, zou_interval
from experiments.metrics.state_files import FEWER, SOM, SYSTEMS, File, Group, named_ends, units
from experiments.metrics.tables import METRICS, TraitBin, TraitCorrelation
from extrinsic.arrays import Floats, Ints
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.traits import DialogTrait, mistakes

CORRELATED = ("fga", "gca", "jga", "turn", "rsa", "aga", "sa")
GIVEN = ("mistakes", "turns")
TRAITS = {
    ("TO", 2024): "tail_orientation",
    ("NU", 2024): "non_uniformity",
    ("TO", 2023): "tail_orientation(2023)",
    ("NU", 2023): "non_uniformity(2023)",
}
COLUMNS = (*CORRELATED, *GIVEN, *TRAITS)
FGA, GCA = COLUMNS.index("fga"), COLUMNS.index("gca")
LEFT_OUT, ZERO = "left out", "zero"
EDGES = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
"""Of the bins of Fig. 4, in standard deviations; the outer bins are open."""


def dialog_values(file: File, faultless: str = LEFT_OUT) -> Floats:
    """(n_dialogs, n_columns). Dialogs without a mistake have no trait: NaN, or 0 where `faultless` is so."""
    items = file.items
    metrics = [parse_metric(METRICS[field]) for field in CORRELATED]
    columns = [metric.values(metric.statistics(items)) for metric in metrics]
    columns += [items.sum_by_dialog(mistakes(items)), np.diff(items.offsets).astype(np.float64)]
    for trait in map(parse_metric, TRAITS.values()):
        assert isinstance(trait, DialogTrait)
        values = trait.dialog_values(items)
        columns.append(np.nan_to_num(values, nan=0.0) if faultless == ZERO else values)
    return np.stack(columns, axis=1)


def trait_rows(groups: dict[str, Group]) -> list[TraitCorrelation]:
    return [
        row
        for unit in units(groups)
        for faultless in (LEFT_OUT, ZERO)
        for row in unit_trait_rows(*unit, faultless)
    ]


def unit_trait_rows(name: str, group: Group, files: Sequence[File], faultless: str) -> list[TraitCorrelation]:
    """A row for every trait; the intervals of |r| lean low where r is near 0."""
    values = [dialog_values(file, faultless) for file in files]
    n = sum(int((~np.isnan(part).any(axis=1)).sum()) for part in values)
    scatter = group.scatter((part, file.rows) for part, file in zip(values, files, strict=True))
    every = range(len(COLUMNS))
    r = scatter_correlations(scatter, every, every)
    given = [COLUMNS.index(field) for field in GIVEN]
    rows = []
    for trait, form in TRAITS:
        column = COLUMNS.index((trait, form))
        fga, gca = r[:, column, FGA], r[:, column, GCA]
        left = partial_scatter(scatter, given, (column, FGA, GCA))
        partial_fga, partial_gca = scatter_correlations(left, [0], [1, 2])[:, 0].T
        # Zou's interval takes points as independent: dialogs of one system are, those of 13 together are not.
        zou = zou_interval(fga[0], gca[0], r[0, FGA, GCA], n) if len(files) == 1 else (None, None)
        shown = dict(zip((*CORRELATED, *GIVEN), r[0, column].tolist(), strict=False))
        shown |= named_ends("difference", fga - gca)
        shown |= named_ends("absolute", np.abs(fga) - np.abs(gca))
        shown |= named_ends("partial", np.abs(partial_fga) - np.abs(partial_gca))
        shown |= {"partial_fga": float(partial_fga[0]), "partial_gca": float(partial_gca[0])}
        rows.append(
            TraitCorrelation(name, trait, form, faultless, n, zou_low=zou[0], zou_high=zou[1], **shown)
        )
    return rows


def bin_rows(groups: dict[str, Group]) -> list[TraitBin]:
    """FGA and GCA by the standardised trait (Fig. 4 of 2024), for SOM-DST and the systems taken together."""
    chosen = [unit for unit in units(groups) if unit[0] in (SOM, SYSTEMS, FEWER)]
    return [row for unit in chosen for trait in ("TO", "NU") for row in _unit_bins(*unit, trait)]


def cell_means(
    group: Group, parts: Iterable[tuple[Floats, Ints, Ints]], n_cells: int
) -> tuple[Floats, Floats, Floats]:
    """(1 + RESAMPLES, n_cells) each: the dialogs of every cell, their mean FGA and mean GCA in percent.

    A part, one system's: (m, 2) FGA and GCA, (m,) the row of each dialog in its group, (m,) its cell.
    """
    sums = np.zeros((len(group.dialogs), n_cells, 3))
    for values, rows, cells in parts:
        np.add.at(sums, (rows, cells), np.column_stack([np.ones(len(values)), 100.0 * values]))
    number, fga, gca = np.moveaxis(np.tensordot(group.weights, sums, axes=1), -1, 0)
    with np.errstate(invalid="ignore"):
        return number, fga / number, gca / number


def _unit_bins(name: str, group: Group, files: Sequence[File], trait: str) -> list[TraitBin]:
    parts = []
    for file in files:
        values = dialog_values(file)
        fga, gca, traits = values[:, [FGA, GCA, COLUMNS.index((trait, 2024))]].T
        kept = ~np.isnan(traits)
        bins = np.digitize((traits - np.nanmean(traits))[kept] / np.nanstd(traits), EDGES)
        parts.append((np.column_stack([fga, gca])[kept], file.rows[kept], bins))
    number, fga, gca = cell_means(group, parts, len(EDGES) + 1)
    ends = pairwise((EDGES[0] - 0.5, *EDGES, EDGES[-1] + 0.5))
    return [
        TraitBin(
            file=name,
            trait=trait,
            centre=(low + high) / 2,
            dialogs=int(number[0, i]),
            fga=float(fga[0, i]),
            gca=float(gca[0, i]),
            **named_ends("difference", fga[:, i] - gca[:, i]),
        )
        for i, (low, high) in enumerate(ends)
        if number[0, i] > 0
    ]
