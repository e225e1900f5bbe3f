"""The filter: only actions that were likely enough in the logs are admitted (Lee, Henderson et al. 2008).

Which actions a policy may choose is one notion everywhere, a mask (n, n_actions) called `possible`: in a log
what its turns call possible (`Transitions.possible`), in live play what the world does (`Moment.allowed`). A
policy chooses among the possible actions that the filter admits; where it admits none of them, the likeliest
possible one.
"""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.errors import UsageError


def admit(probabilities: Floats, threshold: float, possible: Bools | None = None) -> Bools:
    """(n, n_actions) actions more likely than the threshold; where none is, the likeliest one.

    possible (n, n_actions): the possible actions; no others are admitted.
    """
    if not 0.0 <= threshold < 1.0:
        raise UsageError("the threshold of the filter must lie in [0, 1)", found=str(threshold))
    if not np.isfinite(probabilities).all():
        raise UsageError("the probabilities of actions must be finite numbers")
    if possible is not None and not possible.any(axis=1).all():
        raise UsageError("there is a state in which nothing at all can be done")
    chances = probabilities if possible is None else np.where(possible, probabilities, -1.0)
    admitted = chances > threshold
    empty = np.flatnonzero(~admitted.any(axis=1))
    admitted[empty, chances[empty].argmax(axis=1)] = True
    return np.asarray(admitted)
