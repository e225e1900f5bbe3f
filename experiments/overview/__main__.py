"""`python -m experiments.overview [--runs DIR]`: the page of all studies, from the tables that they stored.

Every study of metrics is judged again first, on its stored tables and on the runs that are in DIR: nothing is
run, and it takes seconds. `--text` judges nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from experiments.main import Tables, add_runs, run_experiment
from experiments.selection import Selection
from experiments.texts import number, render
from experiments.verdicts import PAGE, TABLES, Answer, Judged, MetricStudy, draw_choices
from extrinsic.tables import read_rows, write_rows
from extrinsic.verdict.choice_table import DECLARED_FAMILY
from extrinsic.verdict.names import metric_title

FOLDER = Path(__file__).parent
STUDIES = ("lee2014", "worlds", "population", "dstc1", "dstc2", "multiwoz")
SHOWN = {
    ("lee2014", "three seeds", "rl.live", "fill=argmax"): "Lee, learned, argmax",
    ("lee2014", "three seeds", "rl.live", "fill=threshold"): "Lee, learned, threshold",
    ("lee2014", "three seeds", "expert.live", "fill=argmax"): "Lee, fixed, argmax",
    ("lee2014", "three seeds", "expert.live", "fill=threshold"): "Lee, fixed, threshold",
    ("worlds", "first version", "rl.live", None): "12 worlds, learned",
    ("worlds", "first version", "expert.live", None): "12 worlds, fixed",
    ("worlds", "bus", "rl.live", "fill=argmax"): "bus worlds, learned",
    ("worlds", "bus", "expert.live", "fill=argmax"): "bus worlds, fixed",
    ("worlds", "restaurants", "rl.live", "fill=argmax"): "restaurants, learned",
    ("worlds", "restaurants", "expert.live", "fill=argmax"): "restaurants, fixed",
    ("population", "200 made trackers", "rl.live", "fill=argmax"): "200 made, learned, argmax",
    ("population", "200 made trackers", "rl.live", "fill=threshold"): "200 made, learned, threshold",
    ("population", "200 made trackers", "expert.live", "fill=argmax"): "200 made, fixed, argmax",
    ("population", "200 made trackers", "expert.live", "fill=threshold"): "200 made, fixed, threshold",
    ("dstc1", "real calls", "rl.mean_augmented", "fill=argmax"): "DSTC1, estimated, argmax",
    ("dstc1", "real calls", "rl.mean_augmented", "fill=threshold"): "DSTC1, estimated, threshold",
    ("dstc2", "real calls", "rl.mean_augmented", "fill=argmax"): "DSTC2, estimated, argmax",
    ("dstc2", "real calls", "rl.mean_augmented", "fill=threshold"): "DSTC2, estimated, threshold",
    ("multiwoz", "2.1", "outcome.success", None): "MultiWOZ, success",
}
"""The verdicts that stand side by side on the page: study, case, target, variant."""

INSTEAD = {"real calls": "all of dev"}
"""What stands for a case that has not been judged."""

FEW, MANY = 20, 40
"""Trackers, by which bounds are compared."""


class OldVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the page of version 156985d said: the metric of the highest r, and how many might be the best."""

    study: str
    case: str
    target: str
    variant: str | None
    metric: str
    r: float
    low: float
    high: float
    may_be_best: int | None
    of: int
    verdict: str


OLD = ("metric", "r", "low", "high", "may_be_best", "of", "verdict")


class Compared(Answer, frozen=True, kw_only=True):
    """A verdict in points, and what the page of version 156985d said there, if it did (`OldVerdict`)."""

    study: str
    old_metric: str | None = None
    old_r: float | None = None
    old_low: float | None = None
    old_high: float | None = None
    old_may_be_best: int | None = None
    old_of: int | None = None
    old_verdict: str | None = None


def study_of(name: str) -> MetricStudy:
    study: MetricStudy = import_module(f"experiments.{name}.__main__").STUDY
    return study


def read_studies() -> dict[str, Tables]:
    """The stored tables of every study, of verdicts alone."""
    folders = {name: study_of(name).folder for name in STUDIES}
    tables: dict[str, Tables] = {}
    for name, folder in folders.items():
        files = {table: folder / f"{table}.csv" for table in TABLES}
        tables[name] = {
            table: Selection(read_rows(file, TABLES[table]) if file.exists() else [])
            for table, file in files.items()
        }
    return tables


def compared_rows(studies: Mapping[str, Tables]) -> list[Compared]:
    """A row for every verdict; the old one where there was one."""
    old = {
        (row.study, row.case, row.target, row.variant): row
        for row in read_rows(FOLDER / "old_verdicts.csv", OldVerdict)
    }
    rows = []
    original = {instead: case for case, instead in INSTEAD.items()}
    for study, tables in studies.items():
        for answer in tables["answers"].rows:
            case = original.get(answer.case, answer.case)
            before = old.get((study, case, answer.target, answer.variant))
            columns: dict[str, Any] = {f"old_{name}": getattr(before, name, None) for name in OLD}
            rows.append(Compared(**msgspec.structs.asdict(answer), study=study, **columns))
    return rows


def side_by_side(studies: Mapping[str, Tables], table: str) -> Selection[Any]:
    """The rows of the verdicts shown, as if they were cases of one study."""
    shown: list[Any] = []
    for (study, case, target, variant), title in SHOWN.items():
        rows = studies[study][table].where(target=target, variant=variant)
        chosen = rows.where(case=case).rows or rows.where(case=INSTEAD.get(case, case)).rows
        shown += [msgspec.structs.replace(row, case=title, variant=None) for row in chosen]
    return Selection(shown)


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A declared metric over all verdicts that have it: what it loses, as a share of what a coin loses."""

    metric: str
    verdicts: int
    mean: float
    worst: float
    where: str


def summaries(choices: Selection[Judged]) -> list[MetricSummary]:
    """The smallest worst share first; metrics that few verdicts have last."""
    parts: dict[str, dict[str, float]] = {}
    for row in choices.where(family=DECLARED_FAMILY).rows:
        if row.lost is not None and row.possible:
            title = metric_title(row.metric).removesuffix(" over 0.5")
            parts.setdefault(title, {})[row.case] = row.lost / row.possible
    rows = [
        MetricSummary(
            metric=metric,
            verdicts=len(by_case),
            mean=fmean(by_case.values()),
            worst=max(by_case.values()),
            where=max(by_case, key=by_case.__getitem__),
        )
        for metric, by_case in parts.items()
    ]
    return sorted(rows, key=lambda row: (-row.verdicts, row.worst))


def compute(output: Path, arguments: argparse.Namespace) -> None:
    again = argparse.Namespace(runs=arguments.runs, existing=True)
    for name in STUDIES:
        study = study_of(name).experiment
        study.write(study.compute(study.folder, again), study.folder)
        study.write_texts(study.folder, study.folder)
    write_rows(FOLDER / "verdicts.csv", compared_rows(read_studies()), Compared, decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    """The page lies in the folder above."""
    studies = read_studies()
    choices, answers = side_by_side(studies, "choices"), side_by_side(studies, "answers")
    shares = {row.case: row.bound / row.possible for row in answers.rows if row.bound and row.possible}
    promised = list(shares.values())
    few = [shares[row.case] for row in answers.rows if row.case in shares and row.systems <= FEW]
    many = [shares[row.case] for row in answers.rows if row.case in shares and row.systems >= MANY]
    multiwoz = study_of("multiwoz").experiment
    errors = multiwoz.read(multiwoz.folder)["errors"].where(
        case="2.1", target="outcome.success", slots="search"
    )
    compared = read_rows(FOLDER / "verdicts.csv", Compared)
    page = output.parent
    draw_choices(choices, answers.rows, page / "overview.svg")
    text = render(
        FOLDER / "README.md.j2",
        **PAGE,
        studies=studies,
        choices=choices,
        answers=answers,
        columns={row.case: {"case": row.case} for row in answers.rows},
        compared=compared,
        summaries=summaries(choices),
        missing=[title for title in SHOWN.values() if title not in {row.case for row in answers.rows}],
        n_promised=len(promised),
        bounds_range=f"{number(min(promised))} to {number(max(promised))}" if promised else "not known",
        bounds_few=number(median(few)) if few else "nothing",
        bounds_many=number(median(many)) if many else "nothing",
        price=lambda error: errors.where(error=error).rows[0],
        answer=lambda title: next((row for row in answers.rows if row.case == title), None),
    )
    (page / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_runs)
