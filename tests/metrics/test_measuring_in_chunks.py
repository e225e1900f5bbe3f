"""A long corpus is measured in chunks of dialogs: the same numbers as at once."""

from __future__ import annotations

import pytest

import extrinsic
from extrinsic.metrics import measuring
from extrinsic.registry import TRACKERS
from extrinsic.simulation.play import play


@pytest.mark.parametrize("fill", [(), ("argmax",)])
@pytest.mark.parametrize("bootstrap", [0, 100])
def test_chunks_give_the_same_scores(
    monkeypatch: pytest.MonkeyPatch, fill: tuple[str, ...], bootstrap: int
) -> None:
    """To the last digit, with resamples and without."""
    from extrinsic.registry import WORLDS
    from extrinsic.simulation.datasets import logged_policy

    world = WORLDS.get("bus").read().world("ds1", "test")
    policy, _ = logged_policy(world)
    assert policy is not None
    played = play(policy, TRACKERS.get("hwu"), 40, 3, world)
    whole = extrinsic.score(played.corpus, played.output, fill=fill, bootstrap=bootstrap)
    for chunk in (1, 60):
        monkeypatch.setattr(measuring, "CHUNK", chunk)
        assert played.corpus.n_turns > 2 * measuring.CHUNK
        chunked = extrinsic.score(played.corpus, played.output, fill=fill, bootstrap=bootstrap)
        assert chunked.rows == whole.rows
