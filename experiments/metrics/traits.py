"""Tail-orientation and non-uniformity of mistakes against metrics, dialog by dialog (Aksu & Chen)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.metrics.covariation import correlations, covariances, moments, partial_correlations
from experiments.metrics.files import FEWER, SOM, SYSTEMS, File, Group, units
from experiments.metrics.published import AGA, FGA, GCA, JGA, RSA, SA, TURN
from extrinsic.arrays import Floats
from extrinsic.correlation.dependent import zou_interval
from extrinsic.metrics.dialog_resampling import percentile_interval
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.traits import DialogTrait, mistakes

Row = dict[str, Any]

METRICS = (FGA, GCA, JGA, TURN, RSA, AGA, SA)
TRAITS = {
    ("TO", 2024): "tail_orientation",
    ("NU", 2024): "non_uniformity",
    ("TO", 2023): "tail_orientation(2023)",
    ("NU", 2023): "non_uniformity(2023)",
}
LEFT_OUT, ZERO = "left out", "zero"
GIVEN = ("mistakes", "turns")
EDGES = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
"""Of the bins of Fig. 4, in standard deviations; the outer bins are open."""


def dialog_values(file: File, faultless: str = LEFT_OUT) -> Floats:
    """(n_dialogs, k): the metrics, the number of mistakes and of turns, the traits.

    Dialogs without a mistake have no trait: NaN, or 0 where `faultless` says so.
    """
    items = file.items
    columns = [metric.values(metric.statistics(items)) for metric in map(parse_metric, METRICS)]
    columns += [items.sum_by_dialog(mistakes(items)), np.diff(items.offsets).astype(np.float64)]
    for name in TRAITS.values():
        trait = parse_metric(name)
        assert isinstance(trait, DialogTrait)
        values = trait.dialog_values(items)
        columns.append(np.where(np.isnan(values), 0.0, values) if faultless == ZERO else values)
    return np.stack(columns, axis=1)


def rows(groups: dict[str, Group]) -> list[Row]:
    return [
        row
        for name, group, files in units(groups)
        for faultless in (LEFT_OUT, ZERO)
        for row in trait_rows(name, group, files, faultless)
    ]


def trait_rows(name: str, group: Group, files: Sequence[File], faultless: str) -> list[Row]:
    """A row for every trait: r with each metric, and FGA against GCA.

    By Zou; by |r|, whose intervals lean low where r is near 0; and by |r| given turns and mistakes.
    """
    parts = [moments(dialog_values(file, faultless), file.place, group.size) for file in files]
    covariance = covariances(parts, group.weights)
    r, n = correlations(covariance), int(sum(part[:, 0].sum() for part in parts))
    given = range(len(METRICS), len(METRICS) + len(GIVEN))
    found = []
    for number, (trait, form) in enumerate(TRAITS):
        column = len(METRICS) + len(GIVEN) + number
        shown = dict(zip((*METRICS, *GIVEN), r[0, column, :column].tolist(), strict=False))
        fga, gca = r[:, column, 0], r[:, column, 1]
        partial = partial_correlations(covariance, (column, 0, 1), given)[:, 0, 1:]
        row: Row = {"file": name, "trait": trait, "form": form, "faultless": faultless, "dialogs": n, **shown}
        row |= with_interval("difference", fga - gca)
        # Zou's interval takes points as independent: dialogs of one system are, those of 13 together are not.
        zou = zou_interval(fga[0], gca[0], r[0, 0, 1], n) if len(files) == 1 else (None, None)
        row |= {"zou_low": zou[0], "zou_high": zou[1]}
        row |= with_interval("absolute", np.abs(fga) - np.abs(gca))
        row |= {"partial_fga": float(partial[0, 0]), "partial_gca": float(partial[0, 1])}
        found.append(row | with_interval("partial", np.abs(partial[:, 0]) - np.abs(partial[:, 1])))
    return found


def with_interval(name: str, values: Floats) -> Row:
    low, high = percentile_interval(values[1:])
    return {name: float(values[0]), f"{name}_low": low, f"{name}_high": high}


def bins(groups: dict[str, Group]) -> list[Row]:
    """FGA and GCA by the standardised trait (Fig. 4 of 2024), for SOM-DST and the systems taken together."""
    chosen = [unit for unit in units(groups) if unit[0] in (SOM, SYSTEMS, FEWER)]
    return [row for unit in chosen for trait in ("TO", "NU") for row in _bins(*unit, trait)]


def _bins(name: str, group: Group, files: Sequence[File], trait: str) -> list[Row]:
    column = len(METRICS) + len(GIVEN) + list(TRAITS).index((trait, 2024))
    sums = np.zeros((group.size, len(EDGES) + 1, 3))
    for file in files:
        values = dialog_values(file)
        kept = ~np.isnan(values[:, column])
        values, place = values[kept], file.place[kept]
        standard = (values[:, column] - values[:, column].mean()) / values[:, column].std()
        counted = np.column_stack([np.ones(len(values)), 100 * values[:, 0], 100 * values[:, 1]])
        np.add.at(sums, (place, np.digitize(standard, EDGES)), counted)
    drawn = np.tensordot(group.weights, sums, axes=1)
    with np.errstate(invalid="ignore"):
        means = drawn[:, :, 1:] / drawn[:, :, :1]
    outer = (EDGES[0] - 0.5, *EDGES, EDGES[-1] + 0.5)
    found = []
    for number in range(len(EDGES) + 1):
        row: Row = {
            "file": name,
            "trait": trait,
            "centre": (outer[number] + outer[number + 1]) / 2,
            "dialogs": int(drawn[0, number, 0]),
        }
        if row["dialogs"]:
            row |= {FGA: float(means[0, number, 0]), GCA: float(means[0, number, 1])}
            row |= with_interval("difference", means[:, number, 0] - means[:, number, 1])
            found.append(row)
    return found


def tables(groups: dict[str, Group]) -> dict[str, list[Row]]:
    return {"traits": rows(groups), "bins": bins(groups)}
