"""`python -m experiments.overview`: the page of all studies, from the tables that they stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from experiments.dstc1.run_rows import PRIMARY
from experiments.dstc1.tables import Correlation as BusCorrelation
from experiments.dstc1.tables import Difference as BusDifference
from experiments.dstc1.tables import PolicyValue
from experiments.dstc2.__main__ import DEGENERATE
from experiments.dstc2.scenarios import TARGET
from experiments.dstc2.tables import BeyondLogged, Correlation, Difference, Gain, JudgedTracker
from experiments.estimate_rows import row_verdict
from experiments.lee2014.study import Points, read_points
from experiments.lee2014.tables import METRICS as LEE_METRICS
from experiments.lee2014.tables import Correlation as SimulatedCorrelation
from experiments.lee2014.tables import PolicyGain, Verdict, without_fill
from experiments.multiwoz.tables import Between, Cost, Swap
from experiments.overview.figure import draw
from experiments.population.__main__ import Contrast
from experiments.population.power import BestSet, LeeFinding
from experiments.roc_links import ACCURACY, ROC, RocCell, roc_links
from experiments.selection import Selection
from experiments.texts import render, with_interval
from experiments.uncertainty.tables import Coverage
from experiments.worlds.__main__ import Varying
from extrinsic.tables import read_rows
from extrinsic.verdict.names import Name

STUDIES = Path(__file__).parents[1]
FILL = "argmax"
SCHEDULE_2 = "Schedule 2 correlates less than schedules 1 and 3"
METRICS = (
    "accuracy",
    "mrr",
    "avgp",
    "l2",
    "roc.v1_eer",
    "roc.v2_ca05",
    "jga",
    "slot_accuracy",
    "relative_slot_accuracy",
    "average_goal_accuracy",
    "improved_average_goal_accuracy",
    "slot_f1",
    "turn_match",
    "fga(0.5)",
    "gca",
)
"""Of joint goals over all turns, then of states."""

R = TypeVar("R", bound=msgspec.Struct)


class MetricRow(msgspec.Struct, frozen=True):
    """A metric in every study, each r with its interval as text."""

    metric: str
    simulated: str
    simulated_core: str
    dstc1: str
    dstc1_core: str
    dstc2: str
    dstc2_core: str
    swap: str
    same_dialog: str


@dataclass(frozen=True)
class Panels:
    """By metric, what every study says of it."""

    simulated: Mapping[str, SimulatedCorrelation]
    simulated_core: Mapping[str, SimulatedCorrelation]
    dstc1: Mapping[str, BusCorrelation]
    dstc1_core: Mapping[str, BusCorrelation]
    dstc2: Mapping[str, Correlation]
    dstc2_core: Mapping[str, Correlation]
    swap: Mapping[str, Swap]
    same_dialog: Mapping[str, Swap]

    def rows(self) -> list[MetricRow]:
        studies: Sequence[Mapping[str, msgspec.Struct]] = (
            self.simulated,
            self.simulated_core,
            self.dstc1,
            self.dstc1_core,
            self.dstc2,
            self.dstc2_core,
            self.swap,
            self.same_dialog,
        )
        return [
            MetricRow(metric, *(with_interval(rows[metric]) if metric in rows else "" for rows in studies))
            for metric in METRICS
        ]


def table(name: str, kind: type[R]) -> Selection[R]:
    """The rows of a study's table, by `study/table`."""
    return Selection(read_rows(STUDIES / f"{name}.csv", kind))


def read_panels() -> Panels:
    simulated = table("lee2014/correlations", SimulatedCorrelation).where(
        fill=FILL, target="rl.live", schedule=1, component=["joint", "state"]
    )
    dstc1 = table("dstc1/correlations", BusCorrelation).where(
        fill=FILL, target=PRIMARY, schedule=1, component=["joint", "state"]
    )
    dstc2 = table("dstc2/correlations", Correlation).where(
        manager="seen", absent="correct", fill=FILL, target=TARGET, headline=True, schedule=1
    )
    swap = table("multiwoz/swap", Swap).where(
        gold="2.1", generator="all", trackers="core", target="outcome.success"
    )
    return Panels(
        simulated={without_fill(row.metric): row for row in simulated.where(trackers="all").rows},
        simulated_core={without_fill(row.metric): row for row in simulated.where(trackers="core").rows},
        dstc1={without_fill(row.metric): row for row in dstc1.where(trackers="all").rows},
        dstc1_core={without_fill(row.metric): row for row in dstc1.where(trackers="core").rows},
        dstc2={row.metric: row for row in dstc2.where(trackers="all").rows},
        dstc2_core={row.metric: row for row in dstc2.where(trackers="core").rows},
        swap={row.metric: row for row in swap.where(level="tracker").rows},
        same_dialog={row.metric: row for row in swap.where(level="dialog").rows},
    )


def simulated_roc_cells(points: Points) -> list[RocCell]:
    """Core trackers of lee2014, the callers of every seed a dataset of their own."""
    accuracy, roc = (
        points.metrics[LEE_METRICS.index(Name(metric, 1, "joint"))] for metric in (ACCURACY, ROC)
    )
    value = points.returns[FILL, "rl.live"]
    return [
        RocCell(
            "Lee's corpora", f"{dataset} {seed}", points.trackers[k], *(float(x[i, j, k]) for x in arrays)
        )
        for arrays in [(accuracy, roc, value)]
        for i, seed in enumerate(points.seeds)
        for j, dataset in enumerate(points.datasets)
        for k in points.core
    ]


def write_page(folder: Path) -> None:
    panels = read_panels()
    draw(panels, METRICS, folder / "overview.svg")
    coverage = table("uncertainty/coverage", Coverage).where(population=["normal", "heavy"])
    points = read_points(STUDIES / "lee2014")
    gains = [row for row in table("dstc2/gains", Gain).rows if row.tracker != DEGENERATE]
    contrasts = table("population/contrasts", Contrast)
    sets = table("population/best_sets", BestSet)
    costs = table("multiwoz/costs", Cost).where(
        target="outcome.success", slots="search", trackers="core", gold="2.1"
    )
    text = render(
        Path(__file__).parent / "README.md.j2",
        metrics=panels.rows(),
        panels=panels,
        live=table("lee2014/correlations", SimulatedCorrelation).where(trackers="core"),
        verdicts_live=table("lee2014/verdicts", Verdict).where(target="rl.live", trackers="core"),
        gains_live=table("lee2014/policies", PolicyGain).where(more="rl.live"),
        lstd=table("lee2014/policies", PolicyGain).where(more="rl.lstd"),
        points=points,
        varying=table("worlds/varying", Varying),
        roc_links=Selection(roc_links(simulated_roc_cells(points))),
        bus_differences=table("dstc1/differences", BusDifference),
        contrast=lambda world, group, what="contrast": contrasts.where(
            world=world, group=group, what=what
        ).rows[0],
        best_sets=sets,
        made_schedules=table("population/findings", LeeFinding).where(claim=SCHEDULE_2),
        in_every_set=lambda title: all(title in row.first or title in row.others for row in sets.rows),
        in_no_set=lambda title: all(title not in row.first and title not in row.others for row in sets.rows),
        highest=lambda panel: max(METRICS, key=lambda metric: panel[metric].r if metric in panel else -1.0),
        cost=lambda error: costs.where(error=error).rows[0],
        correlations=table("dstc2/correlations", Correlation).where(
            manager="seen", absent="correct", target=TARGET, headline=True
        ),
        differences=table("dstc2/differences", Difference),
        beyond=table("dstc2/beyond", BeyondLogged),
        bus=table("dstc1/correlations", BusCorrelation).where(trackers="core", target=PRIMARY, schedule=1),
        bus_values=table("dstc1/values", PolicyValue),
        gains=Selection(gains).where(absent="correct", fill=FILL),
        f1_other_gold=table("multiwoz/swap", Swap)
        .where(
            gold="2.4",
            generator="all",
            trackers="core",
            target="outcome.success",
            level="tracker",
            metric="slot_f1",
        )
        .rows[0],
        between=table("multiwoz/between", Between).where(average="dialogs").rows,
        n_dstc1=len(table("dstc1/values", PolicyValue).distinct("tracker")),
        n_dstc2=len(table("dstc2/trackers", JudgedTracker).rows),
        coverage_before=100.0 * coverage.where(way="both", method="percentile").mean("coverage"),
        coverage=100.0 * coverage.where(way="jackknife", method="noise removed").mean("coverage"),
        verdict=row_verdict,
        verdicts=lambda rows: sorted({row_verdict(row) for row in rows.rows}),
    )
    (folder / "README.md").write_text(text)


if __name__ == "__main__":
    write_page(STUDIES)
