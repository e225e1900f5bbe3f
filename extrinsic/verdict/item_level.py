"""What each kind of error of a state costs: trackers crossed with generators on the same dialogs.

Whether a dialog of a tracker has an error against its outcome, the mean over trackers taken away within every
generator and dialog: how hard the dialog is and how good the generator is say nothing.

Trackers, generators and dialogs are three samples of whole units; one at a time is left out.

>>> rng = np.random.default_rng(0)
>>> outcomes = (rng.random((3, 5, 40)) < 0.6).astype(float)
>>> cost, without = error_costs(outcomes.mean(axis=0, keepdims=True), outcomes)
>>> cost.round(3).tolist(), [len(units) for units in without]
([-1.0], [5, 3, 40])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Panel
from extrinsic.tables import plain
from extrinsic.verdict.correlations import ALL, CORE, FEWEST_TRACKERS
from extrinsic.verdict.intervals import Interval, jackknife_influence, joint_degrees
from extrinsic.verdict.rows import ErrorRow

KINDS = ("missed", "wrong", "overshot")
"""The metrics of a panel that count errors, with a slot as component."""

EVERY, ANY = "all", "any"
BOOKING = frozenset({"people", "stay", "hotel-day", "restaurant-day", "restaurant-time"})
"""The slots of MultiWOZ that no database is asked for; all others are search values."""

FLAT = 1e-10
"""Sums of squares that centring leaves of what was there, below which nothing varies but the last bits."""


def crossed_interval(observed: Floats, left_out: Sequence[Floats], level: float = 0.95) -> Interval:
    """value -+ t se of statistics (k,) over crossed samples; left_out: (n_units, k) without each unit.

    The squared errors of the samples add up; t has the degrees of freedom of their sum. Undefined where the
    statistic is without some unit. In simulated studies 93 to 99 % of them held (those of version 156985d).

    >>> low, high = crossed_interval(np.array([0.5]), [np.array([[0.4], [0.5], [0.6], [0.5]])])
    >>> print(f"{low[0]:.3f} {high[0]:.3f}")
    0.013 0.987
    """
    from scipy.special import stdtrit

    # A sample of one says nothing about others.
    made = [jackknife_influence(observed, each, False) for each in left_out if len(each) > 1]
    parts = [each.scaled for each in made]
    error = np.sqrt(sum((each.error**2 for each in made), np.zeros(len(observed))))
    degrees = [joint_degrees([part[:, [i]] for part in parts]) for i in range(len(observed))]
    reach = stdtrit(np.array(degrees), (1.0 + level) / 2.0) * error
    return Interval(observed - reach, observed + reach)


def error_costs(occurs: Floats, outcomes: Floats) -> tuple[Floats, list[Floats]]:
    """(k,) by how much the outcome is lower with each error; (n_units, k) without each tracker, then without
    each generator, each dialog.

    occurs (k, n_trackers, n_dialogs), outcomes (g, n_trackers, n_dialogs). NaN where an error does not vary.
    """
    n_generators, n_trackers, _ = outcomes.shape
    centred = occurs - occurs.mean(axis=1, keepdims=True)
    by_dialog = (centred * outcomes.sum(axis=0)).sum(axis=1)
    by_generator = centred.reshape(len(occurs), -1) @ outcomes.reshape(n_generators, -1).T
    squares = (centred**2).sum(axis=1)
    products, total, most = by_dialog.sum(axis=1), squares.sum(axis=1), (occurs**2).sum(axis=(1, 2))

    def slope(numerator: Floats, denominator: Floats) -> Floats:
        # What centring leaves of nothing are rounding errors.
        flat = denominator <= FLAT * most
        return np.asarray(np.where(flat, np.nan, -numerator / np.where(flat, 1.0, denominator)))

    fewer = []
    for tracker in range(n_trackers):
        some, others = np.delete(occurs, tracker, axis=1), np.delete(outcomes, tracker, axis=1)
        some = some - some.mean(axis=1, keepdims=True)
        sums = (some * others.sum(axis=0)).sum(axis=(1, 2)), (some**2).sum(axis=(1, 2))
        fewer.append(slope(sums[0], sums[1] * n_generators))
    without = [
        np.array(fewer),
        slope(products - by_generator.T, np.tile(total * (n_generators - 1), (n_generators, 1))),
        slope(products - by_dialog.T, (total - squares.T) * n_generators),
    ]
    return slope(products, total * n_generators), without


def error_rows(panel: Panel, core: Sequence[str], level: float) -> Iterator[ErrorRow]:
    """Of every outcome, group of systems, kind of error and group of slots; none without errors by slot."""
    places = {
        (key.metric, key.component): m
        for m, key in enumerate(panel.metrics)
        if key.metric in KINDS and key.higher_is_better is None
    }
    if not places:
        return
    groups = _slot_groups(list(dict.fromkeys(slot for _, slot in places)))
    for k, target in enumerate(panel.targets):
        influence = panel.influence_of(k)
        for group, names in ((ALL, panel.names), (CORE, tuple(core))):
            systems = [panel.system(name) for name in names]
            if len(systems) < FEWEST_TRACKERS:
                continue
            n_dialogs = len(panel.datasets[0].items)
            # (g, n_trackers, n_dialogs): a mean and the influence on it give back what every dialog has.
            outcomes = np.stack(
                [
                    panel.values[k, d, systems, None] + n_dialogs * influence[d][systems]
                    for d in range(len(panel.datasets))
                ]
            )
            occurs, labels = [], []
            for kind in (*KINDS, ANY):
                for name, slots in groups.items():
                    chosen = [
                        places[each, slot]
                        for each in (KINDS if kind == ANY else (kind,))
                        for slot in slots
                        if (each, slot) in places
                    ]
                    has_error = (panel.parts[0][chosen][:, systems] > 0).any(axis=0)
                    if has_error.any():
                        occurs.append(has_error.astype(np.float64))
                        labels.append((kind, name))
            if not occurs:
                continue
            cost, without = error_costs(np.stack(occurs), outcomes)
            low, high = crossed_interval(cost, without, level)
            for number, (kind, name) in enumerate(labels):
                yield ErrorRow(
                    target=target.name,
                    error=kind,
                    slots=name,
                    share=float(occurs[number].mean()),
                    cost=plain(cost[number]),
                    low=plain(low[number]),
                    high=plain(high[number]),
                    systems=group,
                )


def _slot_groups(slots: Sequence[str]) -> dict[str, list[str]]:
    """`all`, `search` and `booking` slots, and every single slot (`domain-slot`)."""
    booking = [slot for slot in slots if slot in BOOKING or slot.partition("-")[2] in BOOKING]
    search = [slot for slot in slots if slot not in booking]
    groups = {EVERY: list(slots), "search": search, "booking": booking}
    return {name: part for name, part in groups.items() if part} | {slot: [slot] for slot in slots}
