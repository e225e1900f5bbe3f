"""`make demo`, until the study exists: the embedded world, some trackers, their scores, what they are worth.

Calls are simulated, tracked and scored by the command line, as a user would. Then a policy is learned on each
tracker and played live against the same callers. `configs/quick.toml` will put the question of the README to
these numbers; three trackers answer nothing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from extrinsic.cli.main import main
from extrinsic.cli.tables import print_table
from extrinsic.policy.live import LivePolicy
from extrinsic.policy.lspi import KernelLSPI
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.running import track
from extrinsic.value.augmenting import PROXIES, augment
from extrinsic.value.case import Case
from extrinsic.value.live import Stage

DATASET = "ds4"
CHOSEN = ("baseline", "focus", "hwu")
N_LIVE = 2_000


def show(*arguments: str) -> None:
    print(f"\n$ extrinsic {' '.join(arguments)}", flush=True)
    code = main(arguments)
    if code:
        raise SystemExit(code)


def values(name: str) -> dict[str, Any]:
    """A policy learned on a tracker: what the expert earned, what two estimators say, what live play says."""
    simulation, tracker = read_simulation(), TRACKERS.get(name)
    train, test = (simulate(simulation, DATASET, split).corpus for split in ("train", "test"))
    output = track(tracker, test, name)
    learner = KernelLSPI().fit(transitions_of(train, track(tracker, train, name)))
    transitions = transitions_of(test, output)
    proxies = [track(TRACKERS.get(proxy), test, proxy) for proxy in PROXIES]
    stage = Stage(LivePolicy("compact", learner), tracker, simulation.world(DATASET), N_LIVE, seed=1)
    target = learner.probabilities(transitions.states)
    case = Case(transitions, target, augment(transitions, test, output, proxies), stage)
    names = ("observed", "lstd", "mean_augmented", "live")
    return {"tracker": name, **{key: ESTIMATORS.get(key).estimate(case).mean for key in names}}


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        world, out = str(Path(folder) / "world"), str(Path(folder) / "out")
        corpus = ("--format", "dstc1", "--corpus", world, "--dataset", f"{DATASET}_test")
        show("simulate", "--output", world, "--dataset", DATASET)
        show("track", *(part for name in CHOSEN for part in ("--tracker", name)), *corpus, "--output", out)
        files = [str(Path(out) / f"{name}.json") for name in CHOSEN]
        metrics = [part for name in ("accuracy", "l2", "avgp") for part in ("--metric", name)]
        show("score", *corpus, *files, *metrics, "--schedule", "3", "--component", "joint")
    print("\nA policy learned on each tracker: return of the logged expert, two estimates, live play")
    heads = {"tracker": "tracker", "observed": "expert", "lstd": "lstd", "mean_augmented": "mean_augmented",
             "live": f"live ({N_LIVE:,} calls)"}  # fmt: skip
    print_table([values(name) for name in CHOSEN], heads, sys.stdout)
    print("\nThe study and its report (configs/quick.toml) are not built yet; three trackers answer nothing.")


if __name__ == "__main__":
    run()
