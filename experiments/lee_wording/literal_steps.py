"""The literal study, reduced: from what it was to Lee's words, one change after the other."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.lee_wording.tables import StudyStep
from experiments.selection import Selection
from extrinsic.study.engine import Engine
from extrinsic.study.run import Run
from extrinsic.study.runner import run_study
from extrinsic.study.settings_file import read_study

CONFIG = Path(__file__).resolve().parents[2] / "configs" / "lee2014_literal.toml"
TRACKED = ("baseline", "bayes_high", "confident_only", "hwu", "logistic", "top_hypothesis", "yarbus")
REDUCED = (
    'simulation.datasets=["ds4"]',
    f"trackers.built_in={list(TRACKED)}",
    'reward.fill=["argmax"]',
    "value.live_dialogs=400",
    "correlation.resamples=100",
    "correlation.permutations=99",
)
STEPS = {
    "as it was": (
        "policy.svm.height=1.0",
        "value.lstd.width=2.0",
        "value.lstd.nu=1.0",
        'value.lstd.sparsification="growing"',
        'policy.kernel_lspi.sparsification="growing"',
        'reward.absent="zero"',
        'reward.concepts="groups"',
    ),
    "height of the classifier": ("policy.svm.height=4.0",),
    "kernel of the estimator": ("value.lstd.width=3.0", "value.lstd.nu=3.0"),
    "removal": ('value.lstd.sparsification="removal"', 'policy.kernel_lspi.sparsification="removal"'),
    "every empty concept": ('reward.absent="empty"',),
    "nine concepts": ('reward.concepts="slots"',),
}
"""What each step sets; it keeps what the steps before it set."""

TARGETS = ("behaviour.observed", "sl.live", "rl.live", "sl.lstd", "rl.lstd")


def literal_steps(n_jobs: int) -> list[StudyStep]:
    """A row for every step and target."""
    rows: list[StudyStep] = []
    changes: tuple[str, ...] = REDUCED
    for step, more in STEPS.items():
        changes += more
        with TemporaryDirectory() as folder:
            rows += _rows(step, run_study(read_study(CONFIG, changes), folder, Engine("joblib", n_jobs)))
    return rows


def _rows(step: str, run: Run) -> list[StudyStep]:
    correlations = Selection(run.table("correlations")).where(
        trackers="all", scope="within", coefficient="pearson"
    )
    rows = []
    for target in TARGETS:
        policy, _, estimator = target.partition(".")
        returns = Selection(run.table("returns")).where(policy=policy, estimator=estimator)
        ranked = [(row.r, row) for row in correlations.where(target=target).rows if row.r is not None]
        r, best = max(ranked, key=lambda pair: pair[0], default=(None, None))
        rows.append(
            StudyStep(
                step=step,
                target=target,
                mean=returns.mean("value"),
                lowest=returns.lowest("value"),
                highest=returns.highest("value"),
                best=f"{best.metric}@{best.schedule} ({best.component})" if best else None,
                r=r,
            )
        )
    return rows
