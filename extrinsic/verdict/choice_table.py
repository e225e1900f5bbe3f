"""The rows of choices.csv: what choosing by every metric of a panel loses, and how much it may lose at most.

The promise is for metrics that were named before the data (`declared`): all other combinations of metric,
schedule and component are exploratory, and pay for being many with a wider bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.panel import MetricKey, Panel
from extrinsic.tables import plain
from extrinsic.verdict.bounds import RECOMMENDED, Bounds, bounds
from extrinsic.verdict.choices import choices, possible_corrected
from extrinsic.verdict.core_systems import JOINT_ONLY
from extrinsic.verdict.correlations import ALL, CORE, Points, points_of
from extrinsic.verdict.names import Name, is_of_single_slots
from extrinsic.verdict.rows import ChoiceRow

DECLARED = (
    *("accuracy", "l2", "avgp", "mrr", "jga", "slot_f1", "average_goal_accuracy"),
    *("relative_slot_accuracy", "fga(0.5)", "gca"),
)
"""What a person would report, where a study names nothing: of the joint goal or state, at every turn."""

COMPONENTS = ("joint", "goal.joint", "state", "all")
"""Where a metric is looked at unless its component is named, the first that it has."""

DECLARATION = re.compile(
    r"(?P<base>[^\s(]+)(?:\((?P<options>[^)]*)\))?(?:\s+(?P<component>[^\s\d]\S*))?(?:\s+(?P<schedule>\d+))?"
)
"""`l2`, `fga(0.5)`, `avgp goal.joint 3`: metric, component, schedule."""

DECLARED_FAMILY, EXPLORATORY = "declared", "exploratory"

SINGLE_SLOTS = "some trackers have joint hypotheses only, so that metrics of single slots say nothing of them"

UNDEFINED = "too few trackers have both this metric and the target"


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """What a study says of its verdict beforehand; metrics, prefer: none for what is usual."""

    metrics: tuple[str, ...] = ()
    margin: float = 0.05
    prefer: tuple[str, ...] = ()
    level: float = 0.95
    draws: int = 2_000
    seed: int = 0


def declared_metrics(keys: Sequence[MetricKey], wanted: Sequence[str]) -> list[int]:
    """The places of declared metrics among those of a study; one that it does not have is left out.

    Where nothing is wanted: the usual ones, or all where a study has none of those.
    """
    places = [_place(keys, text) for text in wanted or DECLARED]
    found = list(dict.fromkeys(place for place in places if place is not None))
    return found if found or wanted else list(range(len(keys)))


def undeclared(keys: Sequence[MetricKey], wanted: Sequence[str]) -> list[str]:
    """What is wanted and is not there."""
    return [text for text in wanted if _place(keys, text) is None]


def _place(keys: Sequence[MetricKey], text: str) -> int | None:
    match = DECLARATION.fullmatch(text.strip())
    if match is None:
        return None
    options = _options(match["options"])
    places = []
    for place, key in enumerate(keys):
        base, _, rest = key.metric.removesuffix(")").partition("(")
        own = _options(rest)
        # What is not said of a metric may be anything: its fill rule, say.
        if base != match["base"] or not options <= own:
            continue
        if match["component"] not in (None, key.component):
            continue
        if match["schedule"] not in (None, str(key.schedule)):
            continue
        usual = COMPONENTS.index(key.component) if key.component in COMPONENTS else len(COMPONENTS)
        plainest = len([option for option in own - options if not option.startswith("fill=")])
        places.append((plainest, usual, key.schedule, place))
    return min(places)[-1] if places else None


def _options(text: str | None) -> set[str]:
    return {part.strip() for part in (text or "").split(",") if part.strip()}


def choice_rows(panel: Panel, core: Sequence[str], declaration: Declaration) -> Iterator[ChoiceRow]:
    """Of every variant, target, group of systems and metric, in this order.

    Variants that were only tried for comparison have none: `sensitivity.csv` has what they show.
    """
    for variant in panel.variants:
        if not any(panel.targets[k].is_correlated for k in panel.targets_of(variant)):
            continue
        groups = [points_of(panel, variant, group, core, averaged=False) for group in (ALL, CORE)]
        for k in range(len(groups[0].target_keys)):
            for points in groups:
                yield from _rows_of_target(panel, points, k, declaration)


def _rows_of_target(panel: Panel, points: Points, k: int, declaration: Declaration) -> Iterator[ChoiceRow]:
    systems = [panel.system(name) for name in points.systems]
    keys, target = points.metric_keys, points.target_keys[k]
    values = points.targets[k]
    made = choices(points.metrics, values)
    fits = np.ones(len(keys), dtype=bool)
    if any(JOINT_ONLY in panel.systems[i].flags for i in systems):
        fits = np.array([not is_of_single_slots(Name.of(key)) for key in keys], dtype=bool)
    kept = np.flatnonzero(fits)
    bound = _bounds(panel, points, values, kept, systems, declaration)
    influence = [part[systems] for part in panel.influence_of(panel.targets.index(target))]
    corrected = possible_corrected(values, influence, f"{target.name} {points.identity}", declaration.seed)
    declared = set(declared_metrics(keys, declaration.metrics)) & set(kept.tolist())
    places = {m: i for i, m in enumerate(kept.tolist())}
    for m, key in enumerate(keys):
        i = places.get(m)
        top = None if i is None or np.isnan(bound.bound[i]) else float(bound.bound[i])
        reason = None
        if top is None:
            reason = SINGLE_SLOTS if i is None else bound.reason or UNDEFINED
        yield ChoiceRow(
            target=target.name,
            variant=target.variant,
            systems=points.group,
            metric=key.metric,
            schedule=key.schedule,
            component=key.component,
            label_scheme=key.label_scheme,
            datasets=len(values),
            n=len(systems),
            family=DECLARED_FAMILY if m in declared else EXPLORATORY,
            earned=plain(made.earned[m]),
            possible=plain(made.possible[m]),
            possible_corrected=corrected,
            lost=plain(made.lost[m]),
            share=plain(made.share[m]),
            bound=top,
            group=None if i is None else bound.groups[i],
            reason=reason,
            lost_of_3=plain(made.lost_of[3][m]),
            lost_of_5=plain(made.lost_of[5][m]),
            lost_of_10=plain(made.lost_of[10][m]),
            lost_hard=plain(made.lost_hard[m]),
            needed=bound.needed if i is not None and bound.groups[i] == RECOMMENDED else None,
        )


def _bounds(
    panel: Panel,
    points: Points,
    values: Floats,
    kept: Ints,
    systems: Sequence[int],
    declaration: Declaration,
) -> Bounds:
    keys = [points.metric_keys[m] for m in kept]
    is_declared: Bools = np.zeros(len(keys), dtype=bool)
    is_declared[declared_metrics(keys, declaration.metrics)] = True
    return bounds(
        points.metrics[kept],
        values,
        declared=is_declared,
        identity=points.identity,
        seed=declaration.seed,
        margin=declaration.margin,
        level=declaration.level,
        draws=declaration.draws,
        families=_families(panel, systems),
        sampled=all(dataset.sampled for dataset in panel.datasets),
        prefer=declared_metrics(keys, declaration.prefer) if declaration.prefer else (),
    )


def _families(panel: Panel, systems: Sequence[int]) -> Ints | None:
    """The family of every system as a number; None where no system has one."""
    names = [panel.systems[i].family for i in systems]
    if not any(names):
        return None
    order: dict[str, int] = {}
    return np.array([order.setdefault(name or f"\0{i}", len(order)) for i, name in enumerate(names)])
