"""Acts and N-best lists as DSTC's files write them, for worlds and toolkits that go turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import offsets_from_lengths
from extrinsic.corpus.acts import Acts, NBest
from extrinsic.corpus.formats.logs import WrittenAct, WrittenHypothesis, columns_of_acts
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.errors import UsageError

JsonActs = Sequence[dict[str, Any]]
"""[{"act": "inform", "slots": [["food", "thai"]]}, ...]"""

JsonNBest = Sequence[dict[str, Any]]
"""[{"slu-hyp": [acts], "score": 0.7}, ...], best first."""

ACTS = '[{"act": "inform", "slots": [["food", "thai"]]}]'
NBEST = '[{"slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}], "score": 0.7}]'


def acts_of_json(owners: Sequence[JsonActs], vocabulary: Vocabulary, name: str = "system acts") -> Acts:
    """The acts of every turn, or of every hypothesis."""
    return columns_of_acts([_converted(acts, list[WrittenAct], name, ACTS) for acts in owners], vocabulary)


def nbest_of_json(lists: Sequence[JsonNBest], vocabulary: Vocabulary, name: str = "N-best list") -> NBest:
    """The list of every turn."""
    written = [_converted(entries, list[WrittenHypothesis], name, NBEST) for entries in lists]
    hypotheses: list[WrittenHypothesis] = [hypothesis for entries in written for hypothesis in entries]
    score = np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64)
    if not np.isfinite(score).all():
        raise UsageError(f"a score of the {name} is not a finite number", found=str(score.tolist()))
    return NBest(
        offsets_from_lengths([len(entries) for entries in written]),
        score,
        np.zeros(len(hypotheses), dtype=bool),
        columns_of_acts([hypothesis.slu_hyp for hypothesis in hypotheses], vocabulary),
    )


def _converted(value: Any, kind: Any, name: str, form: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the {name} has the wrong form: {error}", expected=form, found=repr(value)
        ) from None
