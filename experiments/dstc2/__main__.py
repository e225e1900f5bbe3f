"""`python -m experiments.dstc2 [--runs DIR]`: which metric predicts the return on real calls?

A run of configs/dstc2.toml: learned on train, valued on dev, both fill rules; one that is there is not made
again. Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

from pathlib import Path

from experiments.verdicts import Case, MetricStudy

STUDY = MetricStudy(
    Path(__file__).parent,
    __doc__,
    targets=("rl.mean_augmented", "rl.lstd"),
    cases={"real calls": Case("dstc2", "dstc2")},
    gains=(
        ("rl.mean_augmented", "behaviour.observed"),
        ("rl.mean_augmented", "sl_sampled.mean_augmented"),
        ("rl.lstd", "behaviour.observed"),
    ),
    data="dstc2",
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
