"""A reward of one's own, found by its entry point: an order is right, or it is not."""

from dataclasses import dataclass

import numpy as np

from extrinsic.typed_files import Amount


@dataclass(frozen=True)
class RightOrder:
    """A dialog earns `right` where the best belief about every slot is what is wanted at its end.

    turn: what every turn earns.
    """

    right: Amount = 10.0
    turn: Amount = -1.0

    def __call__(self, corpus, output):
        n_slots, last = len(corpus.slots), corpus.offsets[1:] - 1
        beliefs = output.marginals(corpus)
        best = beliefs.value[beliefs.top].reshape(-1, n_slots)[last]
        slots = np.tile(np.arange(n_slots), (len(last), 1))
        earned = np.full(corpus.n_turns, self.turn)
        earned[last] += self.right * corpus.truth.is_correct(last[:, None], slots, best).all(axis=1)
        return earned
