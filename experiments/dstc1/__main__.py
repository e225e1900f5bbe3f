"""`python -m experiments.dstc1 [--runs DIR]`: Lee's study on the plain calls of DSTC1's train3.

A run of configs/dstc1.toml, both directions and both fill rules; one that is there is not made again. Needs
EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

from pathlib import Path

from experiments.verdicts import Case, MetricStudy

STUDY = MetricStudy(
    Path(__file__).parent,
    __doc__,
    targets=("rl.mean_augmented", "rl.lstd"),
    cases={"real calls": Case("dstc1", "dstc1")},
    gains=(("rl.mean_augmented", "behaviour.observed"), ("rl.lstd", "behaviour.observed")),
    data="dstc1",
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
