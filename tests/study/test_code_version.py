"""A stored result is computed again when code changes that it may depend on, not when the report does."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.study import store


def test_a_result_depends_on_the_rooms_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)

    def version_after(file: str) -> str:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(file)
        store.code_version.cache_clear()
        return store.code_version()

    first, scores, task = map(version_after, ("errors.py", "metrics/fga.py", "corpus/bus.toml"))
    assert len({first, scores, task}) == 3
    assert task == version_after("verdict/intervals.py") == version_after("report/page.py")
    store.code_version.cache_clear()
