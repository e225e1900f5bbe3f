"""Records: the same again, the same bytes; the panel, which is one: whole or refused, parts, tables' rows."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from extrinsic import records
from extrinsic.errors import ExtrinsicError, InputError, UsageError
from extrinsic.panel import HEADER, Panel, Roles
from extrinsic.records import decode_record, encode_record, is_whole, require_shapes


class Values(msgspec.Struct):
    name: str
    numbers: tuple[float, ...]


VALUES = Values("a", (1.5, float("inf")))
ARRAYS = {
    "x": np.arange(6.0).reshape(2, 3),
    "on": np.array([True, False]),
    "none": np.zeros((0, 4), np.int32),
}


def test_what_was_written_is_read() -> None:
    data = encode_record("score 1", VALUES, ARRAYS)
    values, arrays = decode_record(data, "score 1", Values, "here")
    assert values == VALUES
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(arrays[name], array)
    assert encode_record("score 1", values, arrays) == data
    assert is_whole(data, "score 1") and not is_whole(data, "score 2") and not is_whole(data[:-1], "score 1")


def written(*stored: Any) -> bytes:
    """A record with these arrays as they are stored, and a check sum that holds."""
    body = zlib.compress(msgspec.msgpack.encode((VALUES, {"x": stored})))
    return records._head("score", body) + b"\n" + body


@pytest.mark.parametrize(
    "data",
    [
        encode_record("score", {"name": 3}, {}),
        *[written(kind, (1,), bytes(8)) for kind in ("|O", "<U2", "nothing", "f8,i4", "<M8[s]")],
        *[written("<f8", shape, bytes(16)) for shape in ((3,), (-1,), (2, 2), ("a",))],
        records._head("score", b"no zlib") + b"\nno zlib",
    ],
)
def test_what_is_no_record_although_its_check_sum_holds(data: bytes) -> None:
    with pytest.raises(InputError, match="here: not what it should be"):
        decode_record(data, "score", Values, "here")


@dataclass
class Part:
    centers: Any
    weights: Any


def test_shapes_fit_together() -> None:
    require_shapes(Part(np.zeros((3, 2)), np.zeros(3)), centers="kernels numbers", weights="kernels")
    for weights in (np.zeros(4), np.zeros((3, 1))):
        with pytest.raises(UsageError, match="weights of Part has the wrong shape"):
            require_shapes(Part(np.zeros((3, 2)), weights), centers="kernels numbers", weights="kernels")


ROWS = [
    {"system": f"s{s}", "task": f"t{i}", "set": name, "acc": (s + i) % 3, "l2": s / 4, "ok": s * i % 2}
    for name, n in (("a", 5), ("b", 3))
    for s in range(4)
    for i in range(n)
]
ROLES = Roles(item="task", dataset="set", metrics=("acc", "l2"), outcomes=("ok",), lower_is_better=("l2",))


def arrays_of(panel: Panel) -> dict[str, list[Any]]:
    names = ("scores", "counts", "values", "low", "high", "agreement")
    by_dataset = ("parts", "draws", "influence", "caller_influence")
    whole = {name: [getattr(panel, name)] for name in names}
    return whole | {name: list(getattr(panel, name)) for name in by_dataset}


def same(first: Panel, second: Panel) -> bool:
    named = ("systems", "datasets", "metrics", "targets", "notes", "words", "signature")
    pairs = zip(arrays_of(first).values(), arrays_of(second).values(), strict=True)
    return all(getattr(first, name) == getattr(second, name) for name in named) and all(
        np.array_equal(a, b, equal_nan=True) and a.dtype == b.dtype
        for one, other in pairs
        for a, b in zip(one, other, strict=True)
    )


def test_saved_and_loaded(tmp_path: Path) -> None:
    panel = Panel.from_tables(ROWS, ROLES)
    panel.save(tmp_path / "panel.npz")
    loaded = Panel.load(tmp_path / "panel.npz")
    assert same(loaded, panel)
    assert loaded.encode() == panel.encode() == Panel.from_run(tmp_path).encode()


def test_means_of_items_by_hand() -> None:
    panel = Panel.from_tables(ROWS, ROLES)
    for (m, name), (d, dataset), s in (
        (metric, each, s) for metric in enumerate(("acc", "l2")) for each in enumerate("ab") for s in range(4)
    ):
        cells = [row[name] for row in ROWS if (row["set"], row["system"]) == (dataset, f"s{s}")]
        assert panel.scores[m, d, s] == pytest.approx(np.mean(cells))
        assert panel.parts[d][m, s].sum() == pytest.approx(panel.scores[m, d, s], abs=1e-6)
        assert panel.counts[m, d, s] == len(cells)
    assert panel.oriented()[1].tolist() == (-panel.scores[1]).tolist()
    whole = panel.values[0, 0, 1]
    without = np.mean([row["ok"] for row in ROWS if (row["set"], row["system"]) == ("a", "s1")][1:])
    # The influence of an item is the jackknife's, up to (n - 1) / n.
    assert panel.influence[0][0, 1, 0] == pytest.approx((whole - without) * 4 / 5)


def test_whole_systems_have_no_parts() -> None:
    rows = [{"system": f"s{s}", "f1": s, "won": 2 * s} for s in range(3)]
    panel = Panel.from_tables(rows, Roles(metrics=("f1",), outcomes=("won",)))
    assert panel.values[0, 0].tolist() == [0.0, 2.0, 4.0]
    assert (panel.targets[0].items, panel.parts[0].shape) == ("none", (1, 3, 0))


def test_some_of_each() -> None:
    panel = Panel.from_tables(ROWS, ROLES)
    some = panel.take(systems=[2, 0], datasets=[1], metrics=[1])
    assert some.names == ("s2", "s0") and some.datasets[0].name == "b"
    assert some.scores[0, 0].tolist() == panel.scores[1, 1, [2, 0]].tolist()
    assert some.parts[0].tolist() == panel.parts[1][[1]][:, [2, 0]].tolist()
    assert same(Panel.from_tables(ROWS, ROLES).take(), panel)


def test_weights_are_by_identity() -> None:
    panel = Panel.from_tables(ROWS, ROLES)
    first, _ = panel.weights(7, seed=1)
    assert first.shape == (7, 5) and (first.sum(axis=1) == 5).all()
    (alone,) = panel.take(datasets=[0], systems=[1]).weights(7, seed=1)
    assert (alone == first).all() and (panel.weights(7, seed=2)[0] != first).any()


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


def of_header(change: Callable[[Any], None]) -> Callable[[dict[str, bytes]], None]:
    def changed(members: dict[str, bytes]) -> None:
        header = json.loads(members[HEADER])
        change(header)
        members[HEADER] = json.dumps(header).encode()

    return changed


DAMAGES: dict[str, Callable[[dict[str, bytes]], None]] = {
    "no header": lambda members: members.pop(HEADER) and None,
    "no array": lambda members: members.pop("parts1.npy") and None,
    "a field too many": of_header(lambda header: header.update(more=1)),
    "a system too many": of_header(lambda header: header["systems"].append({"name": "x"})),
    "a note of nothing": of_header(
        lambda header: header["notes"].append({"target": 9, "dataset": 0, "system": 0})
    ),
    "callers without end": of_header(lambda header: header["datasets"][0].update(n_callers=10**15)),
    "an array that is cut": lambda members: members.update({"scores.npy": members["scores.npy"][:-8]}),
    "an array of objects": lambda members: members.update(
        {"parts0.npy": members["parts0.npy"].replace(b"<f4", b"|O4")}
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "panel.npz"
    Panel.from_tables(ROWS, ROLES).save(path)
    rewritten(path, DAMAGES[damage])
    with pytest.raises(InputError, match=r"panel.npz: the panel is damaged"):
        arrays_of(Panel.load(path))


def test_what_is_no_panel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "panel.npz"
    with pytest.raises(InputError, match="no such file"):
        Panel.load(path)
    with pytest.raises(InputError, match="directory"):
        Panel.load(tmp_path)
    path.write_bytes(Panel.from_tables(ROWS, ROLES).encode()[:-50])
    with pytest.raises(InputError, match="damaged"):
        Panel.load(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([*ROWS, ROWS[0]], "s0 is there twice"),
        (ROWS[1:], "not about the same items"),
        ([{**ROWS[0], "acc": "much"}, *ROWS[1:]], "no number"),
        ([{"system": "s0"}], "no column 'task'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: list[dict[str, object]], words: str) -> None:
    with pytest.raises(ExtrinsicError, match=words):
        Panel.from_tables(rows, ROLES)


def test_arrays_that_do_not_fit_are_refused() -> None:
    panel = Panel.from_tables(ROWS, ROLES)
    with pytest.raises(UsageError, match="no tracker 's9'"):
        panel.system("s9")
    with pytest.raises(UsageError, match="another shape"):
        Panel(**{**vars(panel), "scores": panel.scores[:, :1]})
