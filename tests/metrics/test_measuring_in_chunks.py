"""A long corpus is measured in chunks of dialogs: the same numbers as at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

import extrinsic
from extrinsic.metrics import measuring
from extrinsic.registry import TRACKERS
from extrinsic.simulation.play import play


@pytest.mark.parametrize("fill", [(), ("argmax",)])
def test_chunks_give_the_same_scores(monkeypatch: pytest.MonkeyPatch, fill: tuple[str, ...]) -> None:
    """With resamples to the last bit; without, chunks keep sums, which may differ in it."""
    from extrinsic.registry import WORLDS
    from extrinsic.simulation.datasets import logged_policy

    world = WORLDS.get("bus").read().world("ds1", "test")
    policy, _ = logged_policy(world)
    assert policy is not None
    played = play(policy, TRACKERS.get("hwu"), 40, 3, world)
    whole, summed = (
        extrinsic.score(played.corpus, played.output, fill=fill, bootstrap=number) for number in (100, 0)
    )
    monkeypatch.setattr(measuring, "CHUNK", 60)
    assert played.corpus.n_turns > 2 * measuring.CHUNK
    assert extrinsic.score(played.corpus, played.output, fill=fill, bootstrap=100).rows == whole.rows
    for row, other in zip(
        extrinsic.score(played.corpus, played.output, fill=fill).rows, summed.rows, strict=True
    ):
        assert row.value == other.value or row.value == pytest.approx(other.value, rel=1e-12)
        assert replace(row, value=other.value) == other
