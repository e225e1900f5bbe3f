"""The policies that a run keeps, as files: policies/<dataset>/<tracker>.<policy>.<variant>.policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from extrinsic.errors import InputError, UsageError, did_you_mean
from extrinsic.policy.kept_policy import KeptPolicy, load_policy
from extrinsic.storage import content_hash, write_atomic
from extrinsic.study.planning.plan import Plan
from extrinsic.study.planning.variants import Variant
from extrinsic.study.run_directory import POLICIES, is_within
from extrinsic.study.stages.policy_spec import KEPT, PolicyValues
from extrinsic.study.stages.store import Result, StageKey, Store


def write_policies(folder: Path, plan: Plan, store: Store) -> dict[str, str]:
    """Write the kept policies of a run; returns the hashes of the files."""
    hashes = {}
    for variant, tracker, name, key in _learned(plan):
        result = Result.decode(store.read(key), key, PolicyValues)
        for array in sorted(result.arrays):
            if array.startswith(KEPT):
                path = _path(name, tracker, array.removeprefix(KEPT), variant)
                data = result.arrays[array].tobytes()
                write_atomic(folder / path, data)
                hashes[path] = content_hash(data)
    return hashes


def _learned(plan: Plan) -> Iterator[tuple[Variant, str, str, StageKey]]:
    """Of the variants that keep policies: every tracker, the name of its dialogs, and the stage."""
    for variant in plan.variants:
        if variant.spec.keep:
            for tracker, keys in plan.learned[variant.name].items():
                for unit, key in zip(plan.units, keys, strict=True):
                    yield variant, tracker, unit.name, key


def _path(dataset: str, tracker: str, policy: str, variant: Variant) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.=-]+", "_", variant.name)
    return f"{POLICIES}/{dataset}/{tracker}.{policy}.{plain}.policy"


def read_kept(
    folder: Path, plan: Plan, tracker: str, dataset: str | None, policy: str, variant: str | None
) -> KeptPolicy:
    """A policy of a run; None: the only dataset, and the first variant."""
    variants = {item.name: item for item in plan.variants if item.spec.keep}
    if not variants:
        raise UsageError(
            "this run kept no policies: add `keep = true` to [policy] and run it again", path=str(folder)
        )
    units = [unit.name for unit in plan.units]
    if dataset is None and len(units) > 1:
        raise UsageError("a policy is learned for each dataset: name one", found=", ".join(units))
    chosen = {
        "dataset": (dataset or units[0], units),
        "tracker": (tracker, plan.tracker_names),
        "policy": (policy, next(iter(variants.values())).spec.policies),
        "variant": (variant or next(iter(variants)), variants),
    }
    for kind, (name, names) in chosen.items():
        if name not in names:
            raise UsageError(f"the run has no {kind} {name!r}; {did_you_mean(name, names)}", path=str(folder))
    names = {kind: name for kind, (name, _) in chosen.items()}
    path = _path(names["dataset"], tracker, policy, variants[names["variant"]])
    if not is_within(path):
        raise InputError("a policy of the run lies elsewhere", path=str(folder), found=repr(path))
    return load_policy(folder / path)
