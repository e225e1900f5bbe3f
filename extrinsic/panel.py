"""The waist of the package: a `Panel` of systems, datasets, metrics and targets.

Whatever measures fills one, whatever judges reads one, and nothing else passes from the upper half to the
lower. S systems, D datasets, M metrics, T targets; I_d items (dialogs, tasks) of dataset d, C_d callers of
its live play.

A file is a zip with fixed times and order, so that equal panels have equal bytes: `header.json` has the
names, and every array is a `.npy`. Those by item are read when asked for: most of a verdict needs none.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import InputError, UsageError, did_you_mean
from extrinsic.storage import content_hash, require_regular, write_atomic

Float32s = npt.NDArray[np.float32]

FILE = "panel.npz"
HEADER = "header.json"
N_DRAWS = 200
"""Shared resamples of the metrics that are no sums over items."""

ITEMS_OF_ALL = "states"
"""The one dataset of files of states, whose outcomes may be sampled."""

NPY_HEAD, MOST_NAMES = 4_096, 1 << 28
"""More bytes than the head of an array of ours has, and than the names of everything."""

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, msgspec.MsgspecError),
    *(ValueError, KeyError, EOFError, NotImplementedError, RuntimeError),
)
"""What a file that is no whole panel raises when it is read."""


class System(msgspec.Struct, frozen=True):
    """What is scored and valued: a tracker, a file of states, an agent, a policy.

    family: of systems that resemble each other.   flags: degenerate, recalibrated, silent, joint_only, gold,
    forgets, ...
    """

    name: str
    family: str | None = None
    flags: tuple[str, ...] = ()


class Dataset(msgspec.Struct, frozen=True):
    """Items that all systems have seen.

    items: their identities; none where only whole systems were measured.   n_callers: of live play.
    identity: of the items, by which they are drawn.   sampled: one of a population, e.g. a generator.
    properties: of a drawn world.
    """

    name: str
    items: tuple[str, ...] = ()
    n_callers: int = 0
    identity: str = ""
    sampled: bool = False
    properties: dict[str, float | str] = {}


class MetricKey(msgspec.Struct, frozen=True):
    """A metric on a schedule and a component; title: what people call it.

    higher_is_better: None for what only describes, a kind of error say, and nobody chooses by.
    is_sum: whether it is a sum of parts by item; the others have draws.
    """

    metric: str
    schedule: int
    component: str
    label_scheme: str | None = None
    higher_is_better: bool | None = True
    title: str = ""
    is_sum: bool = True


class Target(msgspec.Struct, frozen=True):
    """What a system is worth: `rl.live`, `behaviour.observed`, `outcome.success`, ...

    variant: the way of learning and rewarding.   items: what its influence is by.
    primary: the first of its variant.   is_correlated: whether a study relates metrics to it; a primary one
    that is not correlated belongs to a variant tried for comparison, where only the order of metrics counts.
    rank: its place among the correlated ones of its variant.
    """

    name: str
    variant: str | None = None
    title: str = ""
    items: Literal["dialogs", "callers", "none"] = "dialogs"
    unit: Literal["points", "share"] = "points"
    primary: bool = False
    is_correlated: bool = True
    rank: int = 0


class Note(msgspec.Struct, frozen=True):
    """Why a value is not to be trusted (flags), or is missing (reason); target, dataset, system: indices."""

    target: int
    dataset: int
    system: int
    flags: tuple[str, ...] = ()
    reason: str | None = None


class Roles(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns of a table are what; item: none where a row is about a whole system.

    lower_is_better: of the metrics; of outcomes more is always better.
    """

    metrics: tuple[str, ...]
    outcomes: tuple[str, ...]
    system: str = "system"
    item: str | None = None
    dataset: str | None = None
    family: str | None = None
    lower_is_better: tuple[str, ...] = ()


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file has beside arrays; same_as: arrays that equal an earlier one, which alone is written."""

    systems: tuple[System, ...]
    datasets: tuple[Dataset, ...]
    metrics: tuple[MetricKey, ...]
    targets: tuple[Target, ...]
    notes: tuple[Note, ...] = ()
    words: dict[str, str] = {}
    signature: str = ""
    same_as: dict[str, str] = {}


class Members(Sequence[Any]):
    """One array a dataset, each made when it is first asked for."""

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self._makers = makers
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._makers)

    def __getitem__(self, number: Any) -> Any:
        place = range(len(self._makers))[number]
        if place not in self._made:
            self._made[place] = self._makers[place]()
        return self._made[place]


@dataclass(frozen=True, eq=False)
class Panel:
    """systems, datasets, metrics, targets: S, D, M, T names, in the order of the arrays' axes.

    scores, counts (M, D, S): as printed, NaN where undefined, and how many items each score is about.
    values, low, high (T, D, S): NaN where missing; a note may say why.
    agreement (S, S): the share of items on which two systems say the same; NaN where that is not known.
    By dataset: parts (M, S, I_d), single precision: what each item adds to a score (they sum to it), NaN for
    metrics that are no sums; draws (M', S, N_DRAWS): these on resamples of items (`weights`); influence
    (T', S, I_d) of the targets on dialogs, caller_influence (T'', S, C_d) of those on callers.
    words: what each flag of the notes means.
    """

    systems: tuple[System, ...]
    datasets: tuple[Dataset, ...]
    metrics: tuple[MetricKey, ...]
    targets: tuple[Target, ...]
    scores: Floats
    counts: Ints
    values: Floats
    low: Floats
    high: Floats
    agreement: Floats
    parts: Sequence[Float32s]
    draws: Sequence[Float32s]
    influence: Sequence[Floats]
    caller_influence: Sequence[Floats]
    notes: tuple[Note, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    signature: str = ""

    def __post_init__(self) -> None:
        for name, (shape, _) in _forms(self).items():
            if name in WHOLE and getattr(self, name).shape != shape:
                raise UsageError(f"a panel's {name} have another shape", expected=str(shape))

    @staticmethod
    def of(
        systems: Iterable[System],
        datasets: Iterable[Dataset],
        metrics: Iterable[MetricKey] = (),
        targets: Iterable[Target] = (),
        **others: Any,
    ) -> Panel:
        """With some of the arrays; those that are not given are NaN, and counts 0."""
        header = Header(tuple(systems), tuple(datasets), tuple(metrics), tuple(targets))
        forms = _forms(header)

        def empty(name: str) -> Any:
            shape, kind = forms[name]
            return np.full(shape, 0 if kind is np.int64 else np.nan, kind)

        n_datasets = len(header.datasets)
        made = {name: empty(name) for name in WHOLE if name not in others}
        by_dataset = {
            name: [empty(f"{name}{number}") for number in range(n_datasets)]
            for name in BY_DATASET
            if name not in others
        }
        return Panel(**_names(header) | made | by_dataset | others)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the systems."""
        return tuple(system.name for system in self.systems)

    @property
    def variants(self) -> tuple[str | None, ...]:
        return tuple(dict.fromkeys(target.variant for target in self.targets))

    def system(self, name: str) -> int:
        """The index of a system."""
        if name not in self.names:
            raise UsageError(f"the run has no tracker {name!r}; {did_you_mean(name, self.names)}")
        return self.names.index(name)

    def targets_of(self, variant: str | None) -> list[int]:
        """The indices of the targets that metrics are correlated with, the primary one first."""
        places = [
            (target.rank, k)
            for k, target in enumerate(self.targets)
            if target.variant == variant and (target.is_correlated or target.primary)
        ]
        return [k for _, k in sorted(places)]

    def take(
        self,
        *,
        systems: Sequence[int] | Ints | None = None,
        datasets: Sequence[int] | Ints | None = None,
        targets: Sequence[int] | Ints | None = None,
        metrics: Sequence[int] | Ints | None = None,
    ) -> Panel:
        """Some of each, by index, in the order given; None: all."""
        s, d, t, m = (
            list(range(len(every))) if chosen is None else [int(number) for number in chosen]
            for chosen, every in (
                (systems, self.systems),
                (datasets, self.datasets),
                (targets, self.targets),
                (metrics, self.metrics),
            )
        )

        def some(arrays: Sequence[Any], rows: list[int]) -> Members:
            return Members([partial(lambda number: arrays[number][np.ix_(rows, s)], number) for number in d])

        drawn = _places(m, [not metric.is_sum for metric in self.metrics])
        on_dialogs, on_callers = (
            _places(t, [target.items == items for target in self.targets]) for items in ("dialogs", "callers")
        )
        return replace(
            self,
            systems=tuple(self.systems[i] for i in s),
            datasets=tuple(self.datasets[i] for i in d),
            metrics=tuple(self.metrics[i] for i in m),
            targets=tuple(self.targets[i] for i in t),
            **{name: getattr(self, name)[np.ix_(m, d, s)] for name in ("scores", "counts")},
            **{name: getattr(self, name)[np.ix_(t, d, s)] for name in ("values", "low", "high")},
            agreement=self.agreement[np.ix_(s, s)],
            parts=some(self.parts, m),
            draws=some(self.draws, drawn),
            influence=some(self.influence, on_dialogs),
            caller_influence=some(self.caller_influence, on_callers),
            notes=tuple(
                Note(
                    t.index(note.target), d.index(note.dataset), s.index(note.system), note.flags, note.reason
                )
                for note in self.notes
                if note.target in t and note.dataset in d and note.system in s
            ),
        )

    def influence_of(self, k: int) -> list[Floats]:
        """By dataset (S, n) of the target of this number, on the items that it is about; none: (S, 0)."""
        items = self.targets[k].items
        if items == "none":
            return [np.zeros((len(self.systems), 0))] * len(self.datasets)
        by_dataset = self.caller_influence if items == "callers" else self.influence
        row = sum(before.items == items for before in self.targets[:k])
        return [np.asarray(by_dataset[d][row]) for d in range(len(self.datasets))]

    def averaged(self) -> Panel:
        """Sampled datasets as one, under the name of their items, by the means of their values."""
        if not any(dataset.sampled for dataset in self.datasets):
            return self
        first = self.take(datasets=[0])
        return replace(
            first,
            datasets=(msgspec.structs.replace(self.datasets[0], name=ITEMS_OF_ALL, sampled=False),),
            values=self.values.mean(axis=1, keepdims=True),
            low=np.full_like(first.low, np.nan),
            high=np.full_like(first.high, np.nan),
            influence=Members([lambda: np.mean(list(self.influence), axis=0)]),
        )

    def oriented(self) -> Floats:
        """(M, D, S) scores with higher better; NaN for what has no direction."""
        signs = {True: 1.0, False: -1.0, None: np.nan}
        sign = np.array([signs[metric.higher_is_better] for metric in self.metrics], dtype=np.float64)
        return np.asarray(self.scores * sign[:, None, None])

    def weights(self, n: int, seed: int) -> tuple[Ints, ...]:
        """By dataset (n, I_d): how often each item is drawn, the same for whoever asks."""
        return tuple(item_weights(d.identity or d.name, len(d.items), n, seed) for d in self.datasets)

    def encode(self) -> bytes:
        """The file, as bytes."""
        arrays = {name: getattr(self, name) for name in WHOLE}
        for name in BY_DATASET:
            arrays |= {f"{name}{number}": array for number, array in enumerate(getattr(self, name))}
        data: dict[str, bytes] = {}
        same_as: dict[str, str] = {}
        first: dict[bytes, str] = {}
        for name, (shape, kind) in _forms(self).items():
            npy = io.BytesIO()
            array: Any = np.ascontiguousarray(arrays[name], dtype=kind).reshape(shape)
            np.lib.format.write_array(npy, array, version=(1, 0), allow_pickle=False)
            # Generators of a swap study share the scores of their dialogs: equal arrays are written once.
            earlier = first.setdefault(npy.getvalue(), name)
            if earlier == name:
                data[f"{name}.npy"] = npy.getvalue()
            else:
                same_as[name] = earlier
        header = Header(**_names(self) | {"words": dict(self.words)}, same_as=same_as)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as file:
            for name, member in {HEADER: msgspec.json.encode(header), **data}.items():
                # The earliest time that a zip can have, and no traces of this machine.
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
                file.writestr(info, member, compresslevel=6)
        return stream.getvalue()

    def save(self, path: str | Path) -> None:
        write_atomic(path, self.encode())

    @staticmethod
    def load(path: str | Path) -> Panel:
        """A saved panel; one that is damaged is refused, arrays by item when they are first read."""
        header = _read_header(str(path))
        makers = {
            member: partial(_read_array, str(path), header.same_as.get(member, member), *form)
            for member, form in _forms(header).items()
        }
        arrays: dict[str, Any] = {name: makers[name]() for name in WHOLE}
        for name in BY_DATASET:
            arrays[name] = Members([makers[f"{name}{number}"] for number in range(len(header.datasets))])
        return Panel(**_names(header), **arrays)

    @staticmethod
    def from_run(folder: str | Path) -> Panel:
        """That of a finished run."""
        return Panel.load(Path(folder) / FILE)

    @staticmethod
    def from_tables(rows: Sequence[Mapping[str, object]], roles: Roles) -> Panel:
        """From rows of a table, one a system (and dataset, and item); roles: of its columns."""
        # It is made of what is defined here, and comes after it in the order of layers.
        panel: Panel = import_module("extrinsic.panel_tables").panel_of_rows(rows, roles)
        return panel


WHOLE = ("scores", "counts", "values", "low", "high", "agreement")
BY_DATASET = ("parts", "draws", "influence", "caller_influence")


def rng_of(purpose: str, identity: str, seed: int) -> np.random.Generator:
    """A generator that depends on its purpose, identity and seed only."""
    key = int(content_hash(purpose, identity)[:16], 16)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))


def item_weights(identity: str, n_items: int, n: int, seed: int) -> Ints:
    """(n, n_items) how often each item is drawn, with replacement: the same for all that are about them.

    identity: of the items; it and the seed alone decide.
    """
    if n < 2:
        raise UsageError("a bootstrap needs at least 2 resamples", found=str(n))
    if seed < 0:
        raise UsageError("the seed of a bootstrap must be at least 0", found=str(seed))
    key = int(content_hash(identity)[:16], 16)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))
    return rng.multinomial(n_items, np.full(n_items, 1.0 / max(n_items, 1)), size=n)


def _names(panel: Panel | Header) -> dict[str, Any]:
    """All that a panel has beside arrays."""
    return {name: getattr(panel, name) for name in Header.__struct_fields__ if name != "same_as"}


def _forms(names: Panel | Header) -> dict[str, tuple[tuple[int, ...], type]]:
    """The shape and the type of every array, in the order of the file."""
    n_metrics, n_datasets, n_systems = len(names.metrics), len(names.datasets), len(names.systems)
    scores, values = (n_metrics, n_datasets, n_systems), (len(names.targets), n_datasets, n_systems)
    forms: dict[str, tuple[tuple[int, ...], type]] = {
        "scores": (scores, np.float64),
        "counts": (scores, np.int64),
        **dict.fromkeys(("values", "low", "high"), (values, np.float64)),
        "agreement": ((n_systems, n_systems), np.float64),
    }
    n_drawn = sum(not metric.is_sum for metric in names.metrics)
    kinds = [target.items for target in names.targets]
    for number, dataset in enumerate(names.datasets):
        n_items, n_callers = len(dataset.items), dataset.n_callers
        forms |= {
            f"parts{number}": ((n_metrics, n_systems, n_items), np.float32),
            f"draws{number}": ((n_drawn, n_systems, N_DRAWS), np.float32),
            f"influence{number}": ((kinds.count("dialogs"), n_systems, n_items), np.float64),
            f"caller_influence{number}": ((kinds.count("callers"), n_systems, n_callers), np.float64),
        }
    return forms


def _places(chosen: list[int], belongs: list[bool]) -> list[int]:
    """The rows that chosen ones have in an array of only those that belong to it."""
    before = np.cumsum([0, *belongs])
    return [int(before[number]) for number in chosen if belongs[number]]


def _read_header(path: str) -> Header:
    def decoded(data: bytes) -> Header:
        header = msgspec.json.decode(data, type=Header)
        sizes = len(header.targets), len(header.datasets), len(header.systems)
        for note in header.notes:
            places = zip((note.target, note.dataset, note.system), sizes, strict=True)
            if not all(0 <= place < size for place, size in places):
                raise ValueError(f"a note is about nothing: {note}")
        return header

    header: Header = _read(path, HEADER, 0, MOST_NAMES, decoded)
    return header


def _read_array(path: str, name: str, shape: tuple[int, ...], kind: type) -> Any:
    size = prod(shape) * np.dtype(kind).itemsize

    def decoded(data: bytes) -> Any:
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        if array.shape != shape or array.dtype != kind:
            raise ValueError(f"{array.dtype} of shape {array.shape}, not {np.dtype(kind)} of {shape}")
        return array

    return _read(path, f"{name}.npy", size, size + NPY_HEAD, decoded)


def _read(path: str, name: str, least: int, most: int, decode: Callable[[bytes], Any]) -> Any:
    """A member of a file, which has to have so many bytes: a few may unpack to as many as fill the memory."""
    try:
        require_regular(Path(path).stat().st_mode, path)
        with zipfile.ZipFile(path) as file:
            n_bytes = file.getinfo(name).file_size
            if not least < n_bytes <= most:
                raise ValueError(f"it has {n_bytes:,} bytes, not {least:,}")
            return decode(file.read(name))
    except FileNotFoundError:
        raise InputError("there is no such file", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except DAMAGE as error:
        message = "the panel is damaged, or of another version; run the study again"
        raise InputError(message, path=path, found=f"{name}: {error}") from None
