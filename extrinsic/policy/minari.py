"""Transitions as Minari datasets, and back: an episode a dialog.

observations (n + 1, d): FlatStates of every decision, and zeros after the last one, as there is no state.
actions (n,), rewards (n,); the last decision terminates. infos: per decision `discrete`, `turn`,
`propensities` and `possible`, repeated after the last one. The metadata `extrinsic` has the names.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import InputError, OutputError, Problems, UsageError
from extrinsic.policy.features import States
from extrinsic.policy.transitions import NOWHERE, Source, Transitions

KEY, DIALOG = "extrinsic", "dialog"


class Names(msgspec.Struct, frozen=True):
    """What a Minari dataset does not say of itself."""

    actions: tuple[str, ...]
    continuous: tuple[str, ...]
    discrete: tuple[str, ...]
    feasible: tuple[float, float] | None
    source: Source


def write_minari(transitions: Transitions, path: str | Path, dataset_id: str | None = None) -> None:
    """Write a dataset to a folder that does not exist yet; `minari.MinariDataset(path)` opens it."""
    spaces = require_extra("gymnasium").spaces
    storage_kind = require_extra("minari.dataset.minari_storage").MinariStorage
    path = Path(path).absolute()  # of a relative one Minari repeats the folders
    if path.exists():
        raise OutputError("there is something of this name already", path=str(path))
    flat = FlatStates.of(transitions.states)
    rows = flat(transitions.states)
    columns, source = flat.like, transitions.source
    names = Names(
        transitions.actions, columns.continuous_names, columns.discrete_names, transitions.feasible, source
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        storage = storage_kind.new(
            Path(folder) / "dataset",
            observation_space=spaces.Box(-np.inf, np.inf, (rows.shape[1],), np.float64),
            action_space=spaces.Discrete(len(transitions.actions)),
        )
        storage.update_metadata(
            {
                "dataset_id": dataset_id or f"extrinsic/{path.name.replace('.', '_')}-v0",
                "minari_version": require_extra("minari").__version__,
                "algorithm_name": f"the logged system of {source.dataset or 'a log'}",
                "observation_names": list(flat.names),
                KEY: msgspec.to_builtins(names),
            }
        )
        storage.update_episodes(_episodes(transitions, rows))
        storage.update_episode_metadata({DIALOG: session} for session in transitions.sessions)
        shutil.move(Path(folder) / "dataset", path)


def _episodes(transitions: Transitions, rows: Floats) -> Iterator[Any]:
    buffer = require_extra("minari.data_collector.episode_buffer").EpisodeBuffer
    columns: dict[str, Any] = {"turn": transitions.turn}
    if transitions.states.discrete.shape[1]:
        columns["discrete"] = transitions.states.discrete
    if not np.isnan(transitions.propensities).all():
        columns["propensities"] = transitions.propensities
    if transitions.possible is not None:
        columns["possible"] = transitions.possible
    begins = np.append(np.flatnonzero(transitions.first), len(transitions))
    for number, (begin, end) in enumerate(pairwise(begins.tolist())):
        padded = np.append(np.arange(begin, end), end - 1)
        yield buffer(
            id=number,
            observations=np.concatenate([rows[begin:end], np.zeros((1, rows.shape[1]))]),
            actions=transitions.action[begin:end],
            rewards=transitions.reward[begin:end],
            terminations=transitions.ends[begin:end],
            truncations=np.zeros(end - begin, dtype=bool),
            infos={name: column[padded] for name, column in columns.items()},
        )


def read_minari(dataset: Any, actions: Sequence[str] | None = None) -> Transitions:
    """The episodes of a Minari dataset (a folder, or a MinariDataset) as transitions.

    One that `write_minari` wrote is read back bit for bit. Of others, observations must be rows of numbers
    and actions discrete; actions: their names. A truncated episode does not end, and is refused.
    """
    if isinstance(dataset, str | Path):
        if not Path(dataset).is_dir():
            raise InputError("there is no such folder", path=str(dataset), expected="a Minari dataset")
        dataset = require_extra("minari").MinariDataset(Path(dataset).absolute())
    storage = dataset.storage
    metadata = storage.metadata
    _check_spaces(storage, str(storage.data_path))
    names = msgspec.convert(metadata[KEY], Names) if KEY in metadata else None
    indices = [int(index) for index in dataset.episode_indices]
    episodes = list(storage.get_episodes(indices))
    about = storage.get_episode_metadata(indices)
    dialogs = [str(entry.get(DIALOG, f"{index:08}")) for index, entry in zip(indices, about, strict=True)]
    lengths = [len(episode["rewards"]) for episode in episodes]

    def column(name: str) -> Any:
        """A column of the infos, where every episode has it."""
        parts: list[Any] = [(episode["infos"] or {}).get(name) for episode in episodes]
        if names is None or any(part is None for part in parts):
            return None
        return np.concatenate([part[:length] for part, length in zip(parts, lengths, strict=True)])

    rows = np.concatenate(
        [episode["observations"][:length] for episode, length in zip(episodes, lengths, strict=True)]
    )
    discrete = column("discrete")
    width = rows.shape[1] if names is None else len(names.continuous)
    continuous_names = names.continuous if names else tuple(f"x{number}" for number in range(width))
    n_rows = len(rows)
    continuous: Any = rows[:, :width].astype(np.float64)
    states: Any = continuous
    if np.isfinite(continuous).all():  # from_arrays reports what is not
        states = States(
            continuous,
            np.zeros((n_rows, 0), dtype=np.int64) if discrete is None else discrete,
            continuous_names,
            names.discrete if names else (),
        )
    default = [str(number) for number in range(int(storage.action_space.n))]
    return Transitions.from_arrays(
        states,
        np.concatenate([episode["actions"] for episode in episodes]),
        np.concatenate([episode["rewards"] for episode in episodes]),
        np.repeat(dialogs, lengths),
        actions=actions or (names.actions if names else default),
        turn=column("turn"),
        propensities=column("propensities"),
        possible=column("possible"),
        ends=np.concatenate([episode["terminations"] for episode in episodes]),
        feasible=names.feasible if names else None,
        source=names.source if names else NOWHERE,
    )


def _check_spaces(storage: Any, path: str) -> None:
    spaces = require_extra("gymnasium").spaces
    problems = Problems(path)
    observation, action = storage.observation_space, storage.action_space
    if not isinstance(observation, spaces.Box) or len(observation.shape) != 1:
        problems.add("observations are not rows of numbers", expected="Box(d,)", found=str(observation))
    if not isinstance(action, spaces.Discrete) or action.start != 0:
        problems.add("actions are not discrete", expected="Discrete(n), from 0", found=str(action))
    problems.raise_errors()


@dataclass(frozen=True, eq=False)
class FlatStates:
    """An encoding of states: their continuous columns, then 0 or 1 for each value of each discrete column.

    like: an empty States with the columns.   levels: the sorted values of every discrete column; another
    value is 0 everywhere.
    """

    like: States
    levels: tuple[Ints, ...]

    @staticmethod
    def of(states: States) -> FlatStates:
        return FlatStates(states.no_states, tuple(map(np.unique, states.discrete.T)))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every number; of a discrete value its column and what it is."""
        discrete = zip(self.like.discrete_names, self.levels, strict=True)
        values = (f"{name}={level}" for name, levels in discrete for level in levels.tolist())
        return (*self.like.continuous_names, *values)

    def __call__(self, states: States) -> Floats:
        """(n, d) numbers."""
        states.require_like(self.like)
        signs = [
            (column[:, None] == levels).astype(np.float64)
            for column, levels in zip(states.discrete.T, self.levels, strict=True)
        ]
        return np.concatenate([states.continuous, *signs], axis=1)


def require_extra(module: str) -> ModuleType:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(f"this needs {name}: pip install 'extrinsic[{name}]' ({error})") from None
