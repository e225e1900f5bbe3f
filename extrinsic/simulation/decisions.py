"""Decisions of a policy at a moment: its probabilities, checked, and a draw from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.world import Moment, Policy

CLOSE = 1e-5
"""How far the probabilities of a policy may be from 1 in sum."""


def decide(
    policy: Policy,
    moment: Moment,
    chance: Chance,
    carried_out: Callable[[Moment, Floats], Floats] | None = None,
) -> tuple[Ints, Floats]:
    """(m,) the predicates drawn, and (m, n_predicates) the probabilities they were drawn from.

    chance: of these m dialogs.   carried_out: how a world replaces what was chosen, if it does.
    """
    chances = require_chances(policy.probabilities(moment), moment.allowed)
    if carried_out is not None:
        chances = carried_out(moment, chances)
    draw = chance.uniform("policy", moment.turn)
    predicate = (np.cumsum(chances, axis=1) <= draw[:, None]).sum(axis=1)
    # Rounding may leave the sum just below 1: then the last possible predicate is meant.
    return np.minimum(predicate, (np.arange(chances.shape[1]) * (chances > 0)).max(axis=1)), chances


def require_chances(chances: Floats, allowed: Bools) -> Floats:
    """The probabilities of a policy; UsageError where they are invalid or not allowed."""
    if chances.shape != allowed.shape:
        raise UsageError(
            "a policy gave probabilities of the wrong shape",
            expected=str(allowed.shape),
            found=str(chances.shape),
        )
    if not (np.abs(chances.sum(axis=1) - 1.0) <= CLOSE).all() or (chances < 0).any():
        raise UsageError("the probabilities of a policy must be at least 0 and sum to 1")
    if (chances[~allowed] > 0).any():
        raise UsageError("a policy chose what is not allowed at that moment")
    return chances
