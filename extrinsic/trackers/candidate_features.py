"""The features of learned trackers: numbers about every candidate, gathered turn by turn."""

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.tracking import Heard
from extrinsic.trackers.protocol import capped, total

PLANES = (
    "highest",
    "sum",
    "count",
    "focus",
    "since",
    "affirmed",
    "denied",
    "top count",
    "best rank",
    "explicit",
    "implicit",
)
"""The memory of a candidate. since: turns since it was last informed, counted from 1."""

FEATURES = (
    *PLANES,
    "informed now",
    "affirmed now",
    "denied now",
    "rejected now",
    "top now",
    "rank now",
    "explicit now",
    "implicit now",
    "requested now",
    "slot informed now",
    "share of sum",
    "best other focus",
    "best other highest",
    "candidates",
)

NOW = tuple(name for name in FEATURES if name.endswith(" now"))
FEATURE_SETS = {
    "all": FEATURES,
    "now": NOW,
    "memory": PLANES,
    "scores": ("highest", "sum", "focus", "informed now", "affirmed now", "denied now", "slot informed now"),
    "ranks": ("count", "top count", "best rank", "top now", "rank now", "candidates"),
}
"""Named parts of the features, for learned trackers that see less than all of them."""

Places = tuple[Ints, Ints, Ints]
"""Some candidates: their row, slot and position in the arrays of a turn."""


def remember(memory: Floats, heard: Heard) -> Floats:
    """(len(PLANES), m, n_slots, width) the memory after a turn."""
    highest, summed, count, focus, since, affirmed, denied, top_count, rank, explicit, implicit = memory
    informed = capped(heard.informed)
    mentioned = informed > 0.0
    return np.stack(
        [
            np.maximum(highest, informed),
            summed + informed,
            count + mentioned,
            informed + np.maximum(0.0, 1.0 - total(informed)) * focus,
            np.where(mentioned, 1.0, since + (since > 0.0)),
            affirmed + heard.affirmed,
            denied + heard.denied,
            top_count + (heard.top > 0.0),
            np.maximum(rank, heard.rank),
            explicit + heard.explicit,
            implicit + heard.implicit,
        ]
    )


def describe(memory: Floats, heard: Heard) -> tuple[Places, Floats]:
    """The candidates, and (r, len(FEATURES)) their features after the turn."""
    places: Places = np.nonzero(heard.is_candidate)  # type: ignore[assignment]
    row, slot, _ = places
    informed = capped(heard.informed)
    highest, summed, focus = memory[0], memory[1], memory[3]
    now = (
        informed,
        heard.affirmed,
        heard.denied,
        heard.rejected,
        heard.top,
        heard.rank,
        heard.explicit,
        heard.implicit,
    )
    columns = np.empty((len(FEATURES), len(row)))
    columns[: len(PLANES)] = memory[:, *places]
    for number, table in enumerate(now, start=len(PLANES)):
        columns[number] = table[places]
    columns[-6] = heard.requested[row, slot]
    columns[-5] = total(informed)[row, slot, 0]
    columns[-4] = summed[places] / np.maximum(total(summed)[row, slot, 0], 1e-9)
    columns[-3] = best_other(focus)[places]
    columns[-2] = best_other(highest)[places]
    columns[-1] = heard.is_candidate.sum(axis=-1)[row, slot]
    return places, np.ascontiguousarray(columns.T)


def best_other(scores: Floats) -> Floats:
    """(m, n_slots, width) the highest score among the other candidates of the slot."""
    best_two = np.sort(scores, axis=-1)[..., -2:]
    return np.where(scores == best_two[..., 1:], best_two[..., :1], best_two[..., 1:])
