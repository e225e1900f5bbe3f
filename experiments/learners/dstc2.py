"""`python -m experiments.learners.dstc2`: learning on the real DSTC2 calls, with and without the manager.

Needs the data (EXTRINSIC_DATA, or ../shared/data); see the README.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from typing import Any

from threadpoolctl import threadpool_limits

import extrinsic
from experiments.data import require, run
from extrinsic.cli.text_tables import print_table
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.transitions import transitions_of

TRACKED = ("focus", "baseline", "hwu", "yarbus_28")


def main() -> None:
    data = require("dstc2")
    corpus = extrinsic.read_corpus(data / "dstc2_traindev.tar.gz", "dstc2_train", format="dstc2")
    rows: list[dict[str, Any]] = []
    for name in TRACKED:
        output = extrinsic.read_tracker(data / "trackers" / f"{name}.train.json.gz", corpus, name)
        for preset in ("compact", "grouped_history", "lee2014"):
            for with_manager in (True, False):
                features = replace(find_features(preset), conditions=with_manager)
                begin = time.perf_counter()
                transitions = transitions_of(corpus, output, features)
                with threadpool_limits(limits=1, user_api="blas"):
                    learner = KernelLSPI(gamma=0.95, ridge=10.0).fit(transitions)
                rows.append(
                    {
                        "tracker": name,
                        "features": preset,
                        "manager": with_manager,
                        "transitions": len(transitions),
                        "seconds": time.perf_counter() - begin,
                        **asdict(learner.fit_),
                    }
                )
    print_table(rows, {key: key for key in rows[0]}, sys.stdout)


if __name__ == "__main__":
    run(main)
