"""What reading costs, against Python's own json on the same bytes."""

from __future__ import annotations

import gc
import gzip
import json
import sys
import tracemalloc
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import compare, note
from extrinsic.corpus.acts import Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.formats.datasets import open_tree
from tests.real_data import ARCHIVE, needs_data, tracker_files

pytestmark = needs_data

TRACKER_LIMIT = 1.5
CORPUS_LIMIT = 2.0
MEMORY_LIMIT = 0.2


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return DSTC2.read_corpus(ARCHIVE, "dstc2_dev")


@pytest.mark.parametrize("path", tracker_files("dev"), ids=lambda path: path.name.partition(".")[0])
def test_a_tracker_file(benchmark: BenchmarkFixture, corpus: Corpus, path: Path, tmp_path: Path) -> None:
    """From disk to arrays against json.load, both from the plain file: gunzipping costs both the same."""
    plain = tmp_path / path.name.removesuffix(".gz")
    plain.write_bytes(gzip.decompress(path.read_bytes()))

    def load() -> Any:
        with plain.open(encoding="utf-8") as file:
            return json.load(file)

    ratio = compare(path.name, lambda: DSTC2.read_tracker(plain, corpus), load, TRACKER_LIMIT)
    benchmark.extra_info["ratio to json.load"] = ratio
    benchmark.pedantic(DSTC2.read_tracker, (plain, corpus), rounds=3)
    assert ratio <= TRACKER_LIMIT


def contents(dataset: str) -> list[tuple[bytes, bytes]]:
    """The bytes of the log and the labels of every session."""
    tree = open_tree(ARCHIVE)
    directories = tree.read(f"scripts/config/{dataset}.flist").decode().split()
    return [(tree.read(f"data/{d}/log.json"), tree.read(f"data/{d}/label.json")) for d in directories]


def test_the_dev_corpus(benchmark: BenchmarkFixture) -> None:
    """From the packed archive to arrays against json.loads of bytes that already are in memory."""
    files = [data for pair in contents("dstc2_dev") for data in pair]
    ratio = compare(
        "dev corpus from the archive",
        lambda: DSTC2.read_corpus(ARCHIVE, "dstc2_dev"),
        lambda: [json.loads(data) for data in files],
        CORPUS_LIMIT,
    )
    benchmark.extra_info["ratio to json.loads"] = ratio
    benchmark.pedantic(DSTC2.read_corpus, (ARCHIVE, "dstc2_dev"), rounds=3)
    assert ratio <= CORPUS_LIMIT


def size_in_memory(value: Any) -> int:
    """Bytes of arrays, texts and the vocabulary, found by walking a corpus's fields."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, Vocabulary):
        # The index, its number objects and its values; the list of values is made when one is asked for.
        index = value._index
        return sys.getsizeof(index) + sum(sys.getsizeof(v) + sys.getsizeof(i) for v, i in index.items())
    if isinstance(value, dict):
        return sys.getsizeof(value) + sum(map(size_in_memory, value.values()))
    if isinstance(value, tuple):
        return sys.getsizeof(value) + sum(map(size_in_memory, value))
    if is_dataclass(value):
        return sum(size_in_memory(getattr(value, field.name)) for field in fields(value))
    return sys.getsizeof(value)


def kept(log: Any, labels: Any) -> Any:
    """Of a session's files only what a corpus keeps."""
    turns = [
        (turn["output"]["dialog-acts"], turn["input"]["live"]["slu-hyps"], turn.get("restart", False))
        for turn in log["turns"]
    ]
    said = [
        (turn["goal-labels"], turn["method-label"], turn["requested-slots"], turn["semantics"]["json"])
        for turn in labels["turns"]
    ]
    return log["session-id"], turns, said, labels["task-information"]["feedback"].get("success")


def traced_size(build: Any) -> int:
    """Bytes that stay allocated for what `build` makes."""
    gc.collect()
    tracemalloc.start()
    try:
        value = build()
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert value
    return size


def test_memory_of_the_train_corpus() -> None:
    """Against the same content as Python objects: only the fields we keep, and the whole files."""
    files = contents("dstc2_train")
    ours = size_in_memory(DSTC2.read_corpus(ARCHIVE, "dstc2_train"))
    of_kept = traced_size(lambda: [kept(json.loads(log), json.loads(labels)) for log, labels in files])
    whole = traced_size(lambda: [(json.loads(log), json.loads(labels)) for log, labels in files])
    note("train corpus, the fields we keep", ours / 1e6, of_kept / 1e6, "MB", MEMORY_LIMIT)
    note("train corpus, the whole files", ours / 1e6, whole / 1e6, "MB")
    assert ours <= MEMORY_LIMIT * of_kept
