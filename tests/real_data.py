"""Where the real data is: in $EXTRINSIC_DATA, else beside the repository."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def find_data() -> Path | None:
    folder = Path(os.environ.get("EXTRINSIC_DATA") or BESIDE)
    return folder if (folder / "dstc2").is_dir() else None


DATA = find_data()
FOLDER = DATA or BESIDE
ARCHIVE = FOLDER / "dstc2" / "dstc2_traindev.tar.gz"

needs_data = pytest.mark.skipif(
    DATA is None, reason="the real data is not here: point EXTRINSIC_DATA at its folder"
)

BUS_CALLS = FOLDER / "dstc1" / "dstc1_train3.tar.gz"

needs_bus_calls = pytest.mark.skipif(
    not BUS_CALLS.is_file(), reason="the real DSTC1 calls are not here: point EXTRINSIC_DATA at their folder"
)


@cache
def read_bus_calls(dataset: str = "train3") -> Corpus:
    """Real calls of DSTC1, read once."""
    return DSTC1.read_corpus(BUS_CALLS, dataset)


def tracker_files(part: str) -> list[Path]:
    """The tracker files of `dev` or `train`."""
    return sorted((FOLDER / "dstc2" / "trackers").glob(f"*.{part}.json.gz"))
