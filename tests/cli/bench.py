"""Where files are spoilt: both corpora on disk, and a good tracker file of each format."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import Json, Written
from tests.running import Outcome, run
from tests.samples import small_dstc1, small_dstc2, small_state_sets

FORMATS = ("dstc1", "dstc2", "state-sets", "trade", "trippy", "simpletod")
BELIEFS = FORMATS[:2]

every_format = pytest.mark.parametrize("form", FORMATS)
belief_formats = pytest.mark.parametrize("form", BELIEFS)


@dataclass(frozen=True)
class Bench:
    """Both corpora on disk, and a tracker file of each format to spoil."""

    root: Path
    written: dict[str, Written]

    def good(self, form: str) -> Json:
        files = {"dstc1": small_dstc1, "dstc2": small_dstc2}
        return copy.deepcopy(files[form]().tracker if form in files else small_state_sets().states)

    def check(self, form: str, content: bytes | Json) -> Outcome:
        """Validate a file with this content."""
        path = self.root / "spoilt.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return self.check_path(form, path)

    def check_path(self, form: str, path: Path) -> Outcome:
        corpus = ["--corpus", self.written[form].corpus] if form in BELIEFS else []
        return run("validate", "--format", form, *corpus, path)
