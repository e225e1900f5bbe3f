"""A stored result is computed again when code changes that it may depend on, not when the report does."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.study import store


def test_a_result_depends_on_the_rooms_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)

    def both_after(file: str) -> tuple[str, str]:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(file)
        store.code_version.cache_clear()
        return store.code_version(), store.code_version("correlation")

    first = both_after("errors.py")
    scores = both_after("metrics/fga.py")
    task = both_after("corpus/bus.toml")
    correlations = both_after("correlation/intervals.py")
    page = both_after("report/page.py")
    store.code_version.cache_clear()
    assert len({first, scores, task}) == 3
    assert correlations[0] == task[0] and correlations[1] != task[1]
    assert page == correlations
