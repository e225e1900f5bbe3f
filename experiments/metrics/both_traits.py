"""Tail-orientation and non-uniformity together against FGA and GCA (Fig. 1c of the earlier version)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.metrics.mistake_traits import COLUMNS, FGA, GCA, cell_means, dialog_values
from experiments.metrics.partial import scatter_correlations
from experiments.metrics.state_files import FEWER, SOM, SYSTEMS, File, Group, named_ends, units
from experiments.metrics.tables import BothTraits, TraitThirds
from extrinsic.arrays import Floats, Ints

FORMS, FIGURE_FORM = (2024, 2023), 2023
THIRDS = ("low", "middle", "high")


def both_traits_rows(groups: dict[str, Group]) -> list[BothTraits]:
    """R of FGA and of GCA with both traits, in every file and the systems taken together."""
    return [row for unit in units(groups) for row in unit_both_traits(*unit)]


def unit_both_traits(name: str, group: Group, files: Sequence[File]) -> list[BothTraits]:
    values = [dialog_values(file) for file in files]
    n = sum(int((~np.isnan(part).any(axis=1)).sum()) for part in values)
    scatter = group.scatter((part, file.rows) for part, file in zip(values, files, strict=True))
    rows = []
    for form in FORMS:
        to, nu = COLUMNS.index(("TO", form)), COLUMNS.index(("NU", form))
        r = scatter_correlations(scatter, [FGA, GCA, to], [to, nu])
        fga, gca = (multiple_correlation(r[:, i, 0], r[:, i, 1], r[:, 2, 1]) for i in (0, 1))
        ends = named_ends("difference", fga - gca)
        rows.append(BothTraits(name, form, n, fga=float(fga[0]), gca=float(gca[0]), **ends))
    return rows


def multiple_correlation(r_yx: Floats, r_yz: Floats, r_xz: Floats) -> Floats:
    """(...,) R of y with x and z: sqrt((r_yx^2 + r_yz^2 - 2 r_yx r_yz r_xz) / (1 - r_xz^2))."""
    explained = (r_yx**2 + r_yz**2 - 2.0 * r_yx * r_yz * r_xz) / (1.0 - r_xz**2)
    # Rounding may leave [0, 1].
    return np.asarray(np.sqrt(np.clip(explained, 0.0, 1.0)))


def third_rows(groups: dict[str, Group]) -> list[TraitThirds]:
    """FGA and GCA by thirds of TO and of NU, for SOM-DST and the systems taken together."""
    chosen = [unit for unit in units(groups) if unit[0] in (SOM, SYSTEMS, FEWER)]
    return [row for unit in chosen for row in _unit_thirds(*unit)]


def thirds(values: Floats) -> Ints:
    """(n,) of each value: 0, 1 or 2, by the terciles."""
    return np.asarray(np.digitize(values, np.quantile(values, [1 / 3, 2 / 3])))


def _unit_thirds(name: str, group: Group, files: Sequence[File]) -> list[TraitThirds]:
    parts = []
    for file in files:
        columns = [FGA, GCA, *(COLUMNS.index((trait, FIGURE_FORM)) for trait in ("TO", "NU"))]
        values = dialog_values(file)[:, columns]
        kept = ~np.isnan(values).any(axis=1)
        _, _, to, nu = values[kept].T
        parts.append((values[kept, :2], file.rows[kept], len(THIRDS) * thirds(to) + thirds(nu)))
    number, fga, gca = cell_means(group, parts, len(THIRDS) ** 2)
    return [
        TraitThirds(
            file=name,
            to=THIRDS[cell // len(THIRDS)],
            nu=THIRDS[cell % len(THIRDS)],
            dialogs=int(number[0, cell]),
            fga=float(fga[0, cell]),
            gca=float(gca[0, cell]),
            **named_ends("difference", fga[:, cell] - gca[:, cell]),
        )
        for cell in np.flatnonzero(number[0]).tolist()
    ]
