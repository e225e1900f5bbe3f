"""The probabilities of an expert that now and then does something else, so that its log can teach."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints


def exploring(main: Ints, second: Ints, sensible: Bools, of_main: float, exploration: float) -> Floats:
    """P(a) = main [a is the rule's] + rest [a is its second choice] + exploration / |sensible|.

    main, second (m,); sensible (m, n_predicates): what exploration may choose.
    """
    rows = np.arange(len(main))
    blind = np.where(sensible, 1.0, 0.0)
    chances: Floats = exploration * blind / blind.sum(axis=1, keepdims=True)
    np.add.at(chances, (rows, main), of_main)
    np.add.at(chances, (rows, second), 1.0 - exploration - of_main)
    return chances
