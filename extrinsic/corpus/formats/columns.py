"""Names as columns of a table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from extrinsic.arrays import Ints


def columns_of(names: Iterable[str], known: tuple[str, ...]) -> Ints:
    """(n,) where each name stands among the known ones; KeyError if one does not."""
    column_of = {name: column for column, name in enumerate(known)}
    return np.fromiter(map(column_of.__getitem__, names), dtype=np.int64)
