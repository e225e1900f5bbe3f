"""Tail-orientation and non-uniformity together against FGA and GCA (the earlier version's Fig. 1c)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.metrics.covariation import correlations, covariances, moments
from experiments.metrics.files import FEWER, SOM, SYSTEMS, File, Group, units
from experiments.metrics.published import FGA, GCA
from experiments.metrics.traits import GIVEN, METRICS, TRAITS, Row, dialog_values, with_interval
from extrinsic.arrays import Floats

FORMS = (2024, 2023)
THIRDS = ("low", "middle", "high")
FIGURE_FORM = 2023
"""The forms of the version that has the figure."""


def trait_columns(form: int) -> list[int]:
    """Where TO and NU of a form stand among the columns of `dialog_values`."""
    return [len(METRICS) + len(GIVEN) + list(TRAITS).index((trait, form)) for trait in ("TO", "NU")]


def multiple_correlation(r: Floats, metric: int, traits: Sequence[int]) -> Floats:
    """(...,) R of a metric with two traits: sqrt((a^2 + b^2 - 2 a b c) / (1 - c^2)), c between them."""
    first, second = traits
    a, b, c = r[..., metric, first], r[..., metric, second], r[..., first, second]
    return np.asarray(np.sqrt(np.clip((a * a + b * b - 2 * a * b * c) / (1 - c * c), 0.0, 1.0)))


def rows(groups: dict[str, Group]) -> list[Row]:
    """R of FGA and of GCA with both traits, in every file and the systems together."""
    made = []
    for name, group, files in units(groups):
        parts = [moments(dialog_values(file), file.place, group.size) for file in files]
        r = correlations(covariances(parts, group.weights))
        n = int(sum(part[:, 0].sum() for part in parts))
        for form in FORMS:
            fga, gca = (multiple_correlation(r, metric, trait_columns(form)) for metric in (0, 1))
            row: Row = {"file": name, "form": form, "dialogs": n, FGA: float(fga[0]), GCA: float(gca[0])}
            made.append(row | with_interval("difference", fga - gca))
    return made


def thirds(groups: dict[str, Group]) -> list[Row]:
    """Mean FGA and GCA of the dialogs in each third of TO and of NU; thirds of each file by itself."""
    chosen = [unit for unit in units(groups) if unit[0] in (SOM, SYSTEMS, FEWER)]
    return [row for name, group, files in chosen for row in _thirds(name, group, files)]


def _thirds(name: str, group: Group, files: Sequence[File]) -> list[Row]:
    columns = trait_columns(FIGURE_FORM)
    sums = np.zeros((group.size, len(THIRDS) ** 2, 3))
    for file in files:
        values = dialog_values(file)
        kept = ~np.isnan(values[:, columns]).any(axis=1)
        values, place = values[kept], file.place[kept]
        third = [np.digitize(values[:, c], np.quantile(values[:, c], [1 / 3, 2 / 3])) for c in columns]
        counted = np.column_stack([np.ones(len(values)), 100 * values[:, 0], 100 * values[:, 1]])
        np.add.at(sums, (place, len(THIRDS) * third[0] + third[1]), counted)
    drawn = np.tensordot(group.weights, sums, axes=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn[:, :, 1:] / drawn[:, :, :1]
    made = []
    for cell in np.flatnonzero(drawn[0, :, 0]).tolist():
        to, nu = divmod(cell, len(THIRDS))
        row: Row = {"file": name, "TO": THIRDS[to], "NU": THIRDS[nu], "dialogs": int(drawn[0, cell, 0])}
        row |= {FGA: float(means[0, cell, 0]), GCA: float(means[0, cell, 1])}
        made.append(row | with_interval("difference", means[:, cell, 0] - means[:, cell, 1]))
    return made


def tables(groups: dict[str, Group]) -> dict[str, list[Row]]:
    return {"both_traits": rows(groups), "thirds": thirds(groups)}
