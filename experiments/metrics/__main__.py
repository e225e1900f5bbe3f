"""`python -m experiments.metrics [--output DIR]`: what three papers on metrics say, on the files we have."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, stdev
from typing import Any

import msgspec
from threadpoolctl import threadpool_limits

from experiments.main import Experiment, Made, Tables
from experiments.metrics import (
    both_traits,
    discrimination,
    kim_analyses,
    mistake_traits,
    published_values,
    state_files,
)
from experiments.metrics.figure import draw_slots, draw_traits
from experiments.metrics.paper_examples import example_rows
from experiments.metrics.state_files import Group, read_groups
from experiments.metrics.tables import LABELS, METRICS, TABLES, DomainScores, ExampleFigure
from experiments.selection import Selection
from extrinsic.cli.progress import show_progress

FOLDER = Path(__file__).parent


def table_rows(groups: dict[str, Group]) -> Iterator[tuple[str, Sequence[msgspec.Struct]]]:
    """Every table with its rows."""
    yield "scores", discrimination.score_rows(groups)
    spread, compared = discrimination.discrimination_rows(groups)
    yield from (("discrimination", spread), ("compared", compared))
    yield "whole_test", discrimination.whole_test_rows(groups[state_files.SOM])
    yield "traits", mistake_traits.trait_rows(groups)
    yield "bins", mistake_traits.bin_rows(groups)
    yield "both_traits", both_traits.both_traits_rows(groups)
    yield "thirds", both_traits.third_rows(groups)
    yield "positions", kim_analyses.position_rows(groups)
    yield "used_slots", kim_analyses.used_slot_rows(groups)
    yield "domains", kim_analyses.domain_rows(groups)
    yield "turn_correlations", kim_analyses.turn_rows(groups)
    yield "worked", example_rows()


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    # The last bits of a matrix product depend on the number of BLAS threads.
    with threadpool_limits(1, user_api="blas"):
        yield from show_progress(table_rows(read_groups()), len(TABLES), "table", lambda t: t[0])


ABOVE, BELOW, NOT_RESOLVED = "above", "below", "not resolved"


def sides(rows: Sequence[msgspec.Struct], name: str = "", than: float = 0.0) -> list[str]:
    """Of every row: on which side of a number the interval of a field lies; no name: of `low` and `high`."""
    stem = f"{name}_" if name else ""
    ends = [(getattr(row, f"{stem}low"), getattr(row, f"{stem}high")) for row in rows]
    return [ABOVE if low > than else BELOW if high < than else NOT_RESOLVED for low, high in ends]


def tally(rows: Selection[Any], name: str = "") -> list[int]:
    """How many single files lie above 0, below it, and on neither side."""
    together = (state_files.SYSTEMS, state_files.FEWER)
    verdicts = sides([row for row in rows.rows if row.file not in together], name)
    return [verdicts.count(verdict) for verdict in (ABOVE, BELOW, NOT_RESOLVED)]


def domain_orders(domains: Selection[DomainScores]) -> dict[str, object]:
    """Of files with all domains: where taxi has the lowest RSA, where hotel's SA is below taxi's."""
    files = {row.file: domains.where(file=row.file).rows for row in domains.rows if row.domain == "taxi"}
    taxi_last, hotel_below = set(), set()
    for file, rows in files.items():
        sa = {row.domain: row.sa for row in rows}
        if min(rows, key=lambda row: row.rsa).domain == "taxi":
            taxi_last.add(file)
        if sa["hotel"] < sa["taxi"]:
            hotel_below.add(file)
    return {"taxi_last": taxi_last, "hotel_below": hotel_below, "n_files": len(files)}


def page_values(rows: Tables) -> Mapping[str, object]:
    def source(prefix: str) -> Selection[ExampleFigure]:
        return Selection([row for row in rows["worked"].rows if row.source.startswith(prefix)])

    scores = rows["scores"].rows
    return {
        **domain_orders(rows["domains"]),
        "source": source,
        "sides": sides,
        "tally": tally,
        "median": median,
        "files": state_files,
        "papers": published_values,
        "metrics": METRICS,
        "labels": LABELS,
        "label": {METRICS[field]: label for field, label in LABELS.items()},
        "systems": [row.file for row in scores if row.file not in state_files.ALONE],
        "outside": [row.file for row in scores if not max(row.jga, row.fga) < row.gca < min(row.sa, row.aga)],
        "kim_deviations": {
            field: 100 * stdev(values) for field, values in published_values.KIM_MODELS.items()
        },
    }


def draw(rows: Tables, output: Path) -> None:
    draw_traits(rows["bins"], rows["traits"], output / "traits.svg")
    draw_slots(rows, output / "slots.svg")


EXPERIMENT = Experiment(FOLDER, __doc__, TABLES, compute, page_values, draw)

if __name__ == "__main__":
    EXPERIMENT.main()
