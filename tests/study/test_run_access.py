"""What Python has of a run: rows of one kind, the metric to choose by, single figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.errors import UsageError
from extrinsic.study.run import Run
from tests.study.studies import Study


@pytest.fixture(scope="module")
def run(tiny: Study) -> Run:
    return Run(str(tiny.folder))


def test_correlations_are_of_one_kind_and_in_order(run: Run) -> None:
    rows = run.correlations(coefficient="pearson", scope="within", trackers="core")
    first = run.table("correlations")[0]
    kinds = {(row.coefficient, row.scope, row.trackers, row.target, row.variant) for row in rows}
    assert kinds == {("pearson", "within", "core", first.target, first.variant)}
    numbers = [row.r for row in rows if row.r is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert len({(row.metric, row.schedule, row.component) for row in rows}) == len(rows)


def test_one_decision(run: Run) -> None:
    """The verdict, `best`, `recommended` and a notebook show the same metric."""
    chosen = run.verdict().verdicts[0].recommended
    assert chosen is not None and run.recommended() == chosen
    first, *others = run.best()
    assert (first.group, first.metric, first.schedule) == ("recommended", chosen.metric, chosen.schedule)
    assert {row.group for row in others} <= {"as good"}
    assert chosen.title in run._repr_html_()
    assert repr(run).startswith("<Run '")
    assert {row.systems for row in run.best(trackers="all")} == {"all"}
    with pytest.raises(UsageError, match="the run has no target"):
        run.recommended("rl.life")


WRONG = [
    ({"coefficient": "pearsons"}, "did you mean 'pearson'?"),
    ({"scope": "inside"}, "the run has no scope 'inside'"),
    ({"trackers": "cores"}, "did you mean 'core'?"),
    ({"target": "rl.life"}, "the run has no target 'rl.life'"),
    ({"variant": "fill=argmxa"}, "did you mean 'fill=argmax'?"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[said for _, said in WRONG])
def test_kinds_that_a_run_does_not_have(run: Run, change: dict[str, Any], said: str) -> None:
    kinds: dict[str, Any] = {"coefficient": "pearson", "scope": "within", "trackers": "all"}
    with pytest.raises(UsageError) as refused:
        run.correlations(**(kinds | change))
    assert said in str(refused.value)


def test_a_single_figure(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = run.figure("heat_map")
    figure.savefig(tmp_path / "heat_map.png")
    # Everything is inside: no axes begin below or end above the frame.
    places = [axes.get_position() for axes in figure.axes]
    assert places and all(0 <= place.x0 < place.x1 <= 1 and 0 <= place.y0 < place.y1 <= 1 for place in places)
    with pytest.raises(UsageError, match="the report has no figure 'heat'"):
        run.figure("heat")
