"""Which metrics the sections on the best metric are about: those of the verdict."""

from __future__ import annotations

from extrinsic.report.answer import best_of_each, in_set
from extrinsic.report.run_data import Tables, VariantResults
from extrinsic.verdict.rows import BestSetRow, TrackerRow


def row(metric: str, component: str, r: float) -> BestSetRow:
    return BestSetRow(
        target="rl.live",
        metric=metric,
        schedule=1,
        component=component,
        scope="within",
        coefficient="pearson",
        r=r,
        in_set=r > 0.5,
        trackers="all",
    )


def results(*rows: BestSetRow, flags: tuple[str, ...] = ("joint_only",)) -> VariantResults:
    tracker = TrackerRow(tracker="yarbus", core=True, degenerate=False, recalibrated=False, flags=flags)
    return VariantResults(Tables({TrackerRow: [tracker], BestSetRow: list(rows)}), "", "rl.live")


ROWS = (
    row("l2", "goal.all", 0.9),
    row("l2", "goal.joint", 0.3),
    row("accuracy", "goal.joint", 0.6),
    row("slot_f1(fill=argmax)", "state", 0.4),
)


def test_single_slots_that_a_tracker_does_not_know_are_no_metrics_best() -> None:
    evidence = results(*ROWS)
    best = [(best.metric, best.component) for best in best_of_each(evidence)]
    assert best == [("accuracy", "goal.joint"), ("slot_f1(fill=argmax)", "state"), ("l2", "goal.joint")]
    assert in_set(evidence) == {"accuracy"}


def test_single_slots_that_every_tracker_knows() -> None:
    evidence = results(*ROWS, flags=())
    assert best_of_each(evidence)[0] is ROWS[0]
    assert in_set(evidence) == {"l2", "accuracy"}


def test_a_study_of_single_slots_alone_shows_them() -> None:
    assert best_of_each(results(ROWS[0])) == [ROWS[0]]
