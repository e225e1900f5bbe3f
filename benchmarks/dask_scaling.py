"""A study on a Dask cluster of this machine: what more workers cost, and how even their shares are.

python -m benchmarks.dask_scaling [1] [2] [4]      # 0: only what studies cost (docs/populations.md)

All is processor time, so that it holds on a machine that has other things to do: the cluster's cost is what
all workers compute for the same stages, and the busiest worker's share is the wall time that a machine with a
free core for every worker would need. What it cannot show: cores that share a cache or a bus, and networks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from dask.distributed import Client, LocalCluster

from extrinsic.study.engine import run_bundle, run_on_cluster
from extrinsic.study.learn_stage import with_other_trackers
from extrinsic.study.plan import plan_study
from extrinsic.study.settings_file import read_study
from extrinsic.study.store import Task

CONFIG = Path(__file__).parents[1] / "configs" / "population.toml"
CHANGES = (
    "trackers.population.size=33",
    'trackers.population.families=["focus", "hwu", "bayes", "vote", "window"]',
    'simulation.datasets=["ds1"]',
    "simulation.seed=5",
    "seed=6",
    "value.live_dialogs=100",
)
WORKERS = (1, 2, 4)
STUDIES = ((200, 4), (1_000, 20), (10_000, 100))


def scaling(bundles: Sequence[Sequence[Task]], n_workers: int) -> tuple[float, float, float]:
    """Seconds of computing: of all workers, of the busiest one, and of what hands out the stages."""
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        # Imports and the vocabulary are there before: they are paid once for a study of any size.
        client.run(run_bundle, bundles[0])
        before, own = client.run(process_time), process_time()
        for done in run_on_cluster(client, bundles[1:], ()):
            assert not done.problems, done.problems
        own, after = process_time() - own, client.run(process_time)
    took = [after[worker] - before[worker] for worker in before]
    return sum(took), max(took), own


def _merged(bundles: Sequence[list[Task]]) -> list[list[Task]]:
    """The first bundle as it is; of the others, the trackers of each in the numbers of a large study."""
    return [bundles[0], *with_other_trackers(bundles[1:], 1)]


def costs() -> None:
    """What studies would cost, from some trackers of configs/population.toml at its full size."""
    changes = ("trackers.population.size=17", 'simulation.datasets=["ds1"]', "simulation.seed=5", "seed=6")
    bundles, n_trackers = _merged(plan_study(read_study(CONFIG, changes)).bundles), 16
    run_bundle(bundles[0])
    begin = process_time()
    done = [stage for bundle in bundles[1:] for stage in run_bundle(bundle)]
    tracker = (process_time() - begin) / n_trackers
    stored = sum(len(stage.data) for stage in done) / n_trackers
    print(
        f"a tracker in a dataset, both fill rules: {tracker:.2f} s of computing, {stored / 1e6:.2f} MB stored"
    )
    for trackers, datasets in STUDIES:
        hours = trackers * datasets * tracker / 3600
        by_workers = ", ".join(
            f"{workers:,} workers {hours / workers:,.2f} h" for workers in (1, 2, 40, 1000)
        )
        stored_here = trackers * datasets * stored / 1e9
        print(f"{trackers:,} trackers x {datasets} datasets: {by_workers}; {stored_here:,.1f} GB", flush=True)


def main(numbers: list[int]) -> None:
    costs()
    alone, bundles = None, _merged(plan_study(read_study(CONFIG, CHANGES)).bundles)
    for n_workers in filter(None, numbers or WORKERS):
        total, busiest, own = scaling(bundles, n_workers)
        alone = alone or busiest
        print(
            f"{n_workers} workers: {total:.1f} s of computing, the busiest {busiest:.1f} s "
            f"({alone / busiest:.2f} times one worker), handing out {own:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(list(map(int, sys.argv[1:])))
