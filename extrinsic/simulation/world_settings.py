"""How a simulated world is set: callers, recogniser, expert, and the datasets made of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec

from extrinsic.errors import Problems, UsageError, did_you_mean
from extrinsic.storage import content_hash, encode_json
from extrinsic.toml_files import check_tree, read_tree, report_key

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Amount = Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]
Endless = Annotated[float, msgspec.Meta(gt=0.0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of settings, each with its default."""


class GoalSettings(Settings, frozen=True):
    """What callers want. A place is a stop, a neighborhood or a monument; the others may be absent."""

    stop: Share = 0.60
    neighborhood: Share = 0.25
    route: Share = 0.35
    date: Share = 0.30
    time: Share = 0.90
    usual: Share = 0.15
    """Of the times (dates): how many are "now" (today or tomorrow)."""


class CallerSettings(Settings, frozen=True):
    """How callers behave. Annoyances are counted in turns of patience."""

    patience: Endless = 14.0
    """Turns until the average caller hangs up; `inf` for callers who never do."""
    patience_shape: Positive = 4.0
    """The larger, the more alike callers are in that."""
    answers: Share = 0.95
    """Says something fitting, and not nothing."""
    opens_with: Share = 0.50
    """At an open question: each further thing wanted is said too."""
    over_informs: Share = 0.20
    """At any other question: the same."""
    corrects_denied: Share = 0.60
    """Having said no to a confirmation, says the right value too."""
    notices_implicit: Share = 0.75
    """Objects to a wrong implicit confirmation."""
    changes_goal: Share = 0.01
    """Per turn: wants something else than before."""
    another_bus: Share = 0.30
    """Having got a bus, wants to hear of the next one."""
    leaves_content: Share = 0.20
    """Hangs up as soon as the right bus was named."""
    annoyed_by_wrong_confirmation: Amount = 0.5
    annoyed_by_wrong_implicit: Amount = 1.0
    annoyed_by_wrong_offer: Amount = 2.0
    annoyed_by_repetition: Amount = 1.0
    starts_over: Share = 0.0
    """Per turn, once half of the patience is gone: asks to begin anew. Lee leaves such calls out."""


class RecogniserSettings(Settings, frozen=True):
    """How speech is misunderstood. A caller's error level is a draw from a Beta distribution."""

    noise: Amount = 1.0
    """Multiplies every caller's error level; 0 hears what was said, with score 1."""
    error: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] = 0.40
    """Mean error level: how often the best hypothesis has a said value wrong."""
    concentration: Positive = 5.0
    """Of the Beta distribution: the larger, the more alike callers are."""
    in_list: Share = 0.60
    """A value wrong in the best hypothesis: how often it stands further down, in a list long enough."""
    longest: Annotated[int, msgspec.Meta(ge=1, le=10)] = 7
    lengthens: Amount = 2.0
    """How much longer lists get with the error level."""
    persistence: Share = 0.6
    """A misheard value is taken for the same other value as before."""
    keeps: Share = 0.5
    """A value right in the best hypothesis is right in a further one, too."""
    deletion: Share = 0.10
    insertion: Share = 0.10
    cross_slot: Share = 0.12
    yes_no: Share = 0.25
    """These four, times the error level: a value is lost, added, put in another slot; yes taken for no."""
    discrimination: Share = 0.5
    """How much the scores tell right from wrong: 0 nothing, 1 all they can."""
    boldness: Positive = 1.0
    """Above 1 the best hypothesis gets a larger share of the score, right or wrong."""


class ExpertSettings(Settings, frozen=True):
    """How the system that made the corpus decides, on its own tracker's scores."""

    main: Share = 0.85
    exploration: Share = 0.08
    """The share of decisions made blindly among what is possible; what is left over is its second choice."""
    trusts: Share = 0.70
    """A value scored below this is confirmed explicitly before anything else."""
    offers: Share = 0.80
    """A required value scored below this is confirmed before an offer."""
    knows: Share = 0.90
    """A value scored below this is confirmed implicitly, while asking for the next; 0: never."""
    asks_again: Count = 2
    """How often it asks for the same thing before it goes on without."""
    gives_up: Count = 22
    """The turn at which it says goodbye in any case."""


class WorldSettings(Settings, frozen=True):
    """A world: its callers' goals and manners, its recogniser and its expert."""

    goal: GoalSettings = GoalSettings()
    caller: CallerSettings = CallerSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    expert: ExpertSettings = ExpertSettings()
    longest_dialog: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 40
    no_connection: Share = 0.0
    """StateActions of places no bus connects: the system cannot help there. Lee leaves such calls out."""

    def signature(self) -> str:
        return content_hash("world", encode_json(plain(self)))


class SplitSettings(WorldSettings, frozen=True):
    """A part of a dataset: how many dialogs, and what differs from the dataset's world."""

    dialogs: Count = 100


class DatasetSettings(WorldSettings, frozen=True):
    """A dataset: what differs from the common world, and its parts."""

    splits: dict[str, SplitSettings] = {}


class SimulationSettings(Settings, frozen=True):
    """A whole configuration: one seed, a common world, and datasets that differ from it."""

    seed: Annotated[int, msgspec.Meta(ge=0)] = 2014
    world: WorldSettings = WorldSettings()
    datasets: dict[str, DatasetSettings] = {}


class Simulation(msgspec.Struct, frozen=True):
    """A configuration with everything resolved: per dataset and split its world and its size."""

    seed: int
    worlds: dict[str, dict[str, WorldSettings]]
    dialogs: dict[str, dict[str, int]]

    def world(self, dataset: str, split: str = "test") -> WorldSettings:
        self.require(dataset, split)
        return self.worlds[dataset][split]

    def require(self, dataset: str, split: str) -> None:
        if dataset not in self.worlds:
            raise UsageError(f"there is no dataset {dataset!r}; {did_you_mean(dataset, self.worlds)}")
        if split not in self.worlds[dataset]:
            splits = self.worlds[dataset]
            raise UsageError(f"dataset {dataset!r} has no split {split!r}; {did_you_mean(split, splits)}")

    def corpora(self) -> list[tuple[str, str]]:
        """Every (dataset, split)."""
        return [(dataset, split) for dataset, splits in self.worlds.items() for split in splits]

    def plain(self) -> Any:
        """As JSON can hold it."""
        return plain(self)

    def hash(self) -> str:
        return content_hash("simulation", encode_json(self.plain()))


EMBEDDED = Path(__file__).with_name("worlds.toml")


def read_simulation(path: str | Path | None = None) -> Simulation:
    """Read a configuration (the embedded one by default), or raise InputError with every mistake in it."""
    path = EMBEDDED if path is None else path
    tree, text = read_tree(path)
    check_tree(tree, SimulationSettings, text, str(path))
    problems = Problems(str(path))
    common = tree.get("world", {})
    worlds: dict[str, dict[str, WorldSettings]] = {}
    dialogs: dict[str, dict[str, int]] = {}
    for name, dataset in tree.get("datasets", {}).items():
        own = {key: value for key, value in dataset.items() if key != "splits"}
        worlds[name], dialogs[name] = {}, {}
        for split, table in dataset.get("splits", {}).items():
            keys = ("datasets", name, "splits", split)
            dialogs[name][split] = table.get("dialogs", SplitSettings().dialogs)
            differs = {key: value for key, value in table.items() if key != "dialogs"}
            world = msgspec.convert(_merged(_merged(common, own), differs), WorldSettings)
            worlds[name][split] = world
            if world.goal.stop + world.goal.neighborhood > 1.0:
                report_key(problems, text, keys, "goal.stop and goal.neighborhood sum above 1")
            if world.expert.main + world.expert.exploration > 1.0 + 1e-12:
                report_key(problems, text, keys, "expert.main and expert.exploration sum above 1")
    _check_names(worlds, text, problems)
    problems.raise_errors()
    if not any(worlds.values()):
        raise UsageError(
            "the configuration has no dataset with a split, so there is nothing to simulate", path=str(path)
        )
    return Simulation(tree.get("seed", SimulationSettings().seed), worlds, dialogs)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _check_names(worlds: dict[str, dict[str, WorldSettings]], text: str, problems: Problems) -> None:
    """Names become those of folders and files: they must be fit for that, and no two the same."""
    seen: dict[str, tuple[str, str]] = {}
    for dataset, splits in worlds.items():
        for split in splits:
            keys = ("datasets", dataset, "splits", split)
            whole = f"{dataset}_{split}"
            if not (NAME.fullmatch(dataset) and NAME.fullmatch(split)):
                report_key(
                    problems,
                    text,
                    keys,
                    "no name for a folder",
                    found=repr(whole),
                    expected="letters, digits, _ . -",
                )
            if whole in seen:
                report_key(problems, text, keys, f"is called {whole!r}, and so is {'.'.join(seen[whole])}")
            seen[whole] = (dataset, split)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Tables merged key by key, the second one's values on top."""
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def plain(settings: msgspec.Struct) -> Any:
    """Settings as JSON can hold them; an infinite patience becomes a word."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return "inf" if value == float("inf") else value

    return clean(msgspec.to_builtins(settings))
