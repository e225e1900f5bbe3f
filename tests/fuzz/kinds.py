"""The kinds of inputs: good files, those of them that are mutated, and the commands over them."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from extrinsic.corpus.domain import FOLDER as DOMAINS
from extrinsic.simulation.restaurant_world import RestaurantSimulation
from tests.builders import write_dstc1, write_dstc2, write_json, write_state_sets
from tests.corpus.formats.test_jsonl import small as small_log
from tests.corpus.test_refusals import GOLD, PREDICTED, SIMPLETOD, TRADE, TRIPPY
from tests.fuzz.mutations import mutation_of
from tests.outcomes.town import RESPONSES, states, write_responses, write_system, write_task
from tests.running import run
from tests.samples import small_dstc1, small_dstc2, small_state_sets
from tests.schema_guided import write_gold, write_predictions
from tests.study.studies import SMALL, WORLDS, write_study
from tests.study.test_kept_policies import KEEPING
from tests.study.test_own_logs import judged, write_judges
from tests.study.test_policies import GRID
from tests.study.test_populations import BUILT_IN, TABLES
from tests.study.test_states import STATES, write_states

Command = tuple[str, ...]


NORMALISED = """times = "clock"
dontcare = ["any"]
[[rules]]
slots = ["hotel-type"]
clean = ["case", "ampersand"]
same = [["guesthouse", "guest house"]]
[rules.values]
"none given" = "none"
"""

POPULATION = (
    SMALL.replace(BUILT_IN, "").replace(
        'datasets = ["a"]',
        '[simulation.worlds]\ndraws = 1\nbase = ["a"]\nranges = {noise = [0.2, 0.4]}\nseed = 1',
    )
    + TABLES
)
"""Trackers of families, worlds that are drawn."""

SMALL_GRID = GRID.replace('"baseline", "hwu"', '"hwu"').replace(
    'config = "worlds.toml"', 'config = "worlds.toml"\ndatasets = ["a"]'
)
"""One tracker in one dataset: without its line on live dialogs it plays two thousand, within the limit."""

WORLD = WORLDS.replace("= 30", "= 3").replace("= 32", "= 3").replace("= 36", "= 3")


@dataclass(frozen=True)
class Kind:
    """Good files, made once, and the commands over them; `{}` stands for their folder.

    mutated: patterns of the files that are mutated.   is_slow: takes around a second, not milliseconds.
    """

    make: Callable[[Path], object]
    mutated: tuple[str, ...]
    commands: tuple[Command, ...]
    is_slow: bool = False

    def good(self, root: Path, name: str) -> Path:
        """The good files, made when they are first needed."""
        folder = root / "good" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            self.make(folder)
        return folder


def _over(form: str, *more: str) -> tuple[Command, ...]:
    files = ("--format", form, *more)
    return ("validate", *files), ("validate", "--json", "--strict", *files), ("score", *files)


def _trackers(form: str, name: str = "tracker.json") -> tuple[Command, ...]:
    return _over(form, "--corpus", "{}/corpus", f"{{}}/{name}")


def _tracked(form: str, corpus: str = "{}/corpus") -> tuple[Command, ...]:
    files = ("--format", form, "--corpus", corpus)
    output = ("--tracker", "focus", "--quiet", "--output", "{}/out.json")
    return ("validate", *files), ("track", *files, *output)


def _make_archive(folder: Path) -> None:
    written = write_dstc2(folder, small_dstc2(), archive=True)
    (folder / "corpus.tar").write_bytes(gzip.decompress(written.corpus.read_bytes()))


def _make_log(folder: Path) -> None:
    (folder / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in small_log()))


def _write(folder: Path, **contents: object) -> None:
    for name, content in contents.items():
        write_json(folder / name, content)


def _make_schema_guided(folder: Path) -> None:
    write_gold(folder / "gold")
    write_predictions(folder / "mine" / "all.json")


def _make_domain(folder: Path) -> None:
    write_dstc1(folder, small_dstc1())
    shutil.copy(DOMAINS / "bus.toml", folder / "task.toml")


def _make_task(folder: Path) -> None:
    """A town for the evaluator: a system, and a generator's responses."""
    write_task(folder)
    write_system(folder / "mine.json", states(), RESPONSES)
    write_responses(folder / "responses.json", RESPONSES)
    (folder / "rules.toml").write_text(NORMALISED)


def _make_scores(folder: Path) -> None:
    write_states(folder, STATES + '[scores]\nfile = "judges.csv"\nnames = ["judge", "ece"]\n')
    write_judges(folder, judged())


def _make_restaurants(folder: Path) -> None:
    text = RestaurantSimulation.file.read_text()
    (folder / "worlds.toml").write_text(re.sub(r"dialogs = \d+", "dialogs = 3", text))


def _make_policies(folder: Path) -> None:
    """Kept policies, and what is needed to play them."""
    _make_run(folder, KEEPING)
    for path in (folder / "run" / "policies" / "a").glob("hwu.*"):
        shutil.copy(path, folder / f"{path.name.split('.')[1]}.policy")
    shutil.rmtree(folder / "run")


def _make_run(folder: Path, study: str = SMALL) -> None:
    config = write_study(folder, study)
    outcome = run("run", config, "--output", folder / "run", "--n-jobs", "1", "--quiet", "--no-report")
    assert outcome.code == 0, outcome.text


EVALUATE: Command = (
    *("evaluate", "--goals", "{}/goals.json", "--booked", "{}/booked.json"),
    *("--database", "{}/database", "--quiet", "{}/mine.json"),
)
PLAY: Command = ("--tracker", "hwu", "--world", "a", "--config", "{}/worlds.toml", "--dialogs", "3")
STUDY: Command = ("run", "{}/study.toml", "--output", "{}/run", "--n-jobs", "1", "--quiet", "--no-report")

KINDS: dict[str, Kind] = {
    "tracker dstc1": Kind(
        lambda folder: write_dstc1(folder, small_dstc1()), ("tracker.json",), _trackers("dstc1")
    ),
    "tracker dstc2": Kind(
        lambda folder: write_dstc2(folder, small_dstc2()), ("tracker.json",), _trackers("dstc2")
    ),
    "corpus dstc1": Kind(
        lambda folder: write_dstc1(folder, small_dstc1()),
        ("corpus/*/*/*.json", "corpus/config/*"),
        (*_tracked("dstc1"), *_trackers("dstc1")),
    ),
    "corpus dstc2": Kind(
        lambda folder: write_dstc2(folder, small_dstc2()),
        ("corpus/data/*/*/*.json", "corpus/scripts/config/*"),
        (*_tracked("dstc2"), *_trackers("dstc2")),
    ),
    "corpus jsonl": Kind(_make_log, ("calls.jsonl",), _tracked("jsonl", "{}/calls.jsonl")),
    "archive": Kind(_make_archive, ("corpus.tar",), _tracked("dstc2", "{}/corpus.tar")),
    "archive gz": Kind(_make_archive, ("corpus.tar.gz",), _tracked("dstc2", "{}/corpus.tar.gz")),
    "state sets": Kind(
        lambda folder: write_state_sets(folder, small_state_sets()),
        ("states.json",),
        _over("state-sets", "{}/states.json"),
    ),
    **{
        form: Kind(partial(_write, **{"t.json": content}), ("t.json",), _over(form, "{}/t.json"))
        for form, content in {"trade": TRADE, "trippy": TRIPPY, "simpletod": SIMPLETOD}.items()
    },
    "sgd": Kind(
        _make_schema_guided, ("gold/*.json", "mine/*.json"), _over("sgd", "--gold", "{}/gold", "{}/mine")
    ),
    "multiwoz-eval": Kind(
        partial(_write, **{"gold.json": GOLD, "mine.json": PREDICTED}),
        ("*.json",),
        _over("multiwoz-eval", "--gold", "{}/gold.json", "--gold-name", "gold21", "{}/mine.json"),
    ),
    "domain": Kind(
        _make_domain,
        ("task.toml",),
        (("validate", "--format", "dstc1", "--corpus", "{}/corpus", "--domain", "{}/task.toml"),),
    ),
    "world": Kind(
        lambda folder: (folder / "worlds.toml").write_text(WORLD),
        ("worlds.toml",),
        (("simulate", "--config", "{}/worlds.toml", "--output", "{}/calls", "--quiet"),),
    ),
    "world restaurants": Kind(
        _make_restaurants,
        ("worlds.toml",),
        (
            (
                *("simulate", "--world", "restaurants", "--config", "{}/worlds.toml"),
                *("--output", "{}/calls", "--quiet", "--dataset", "quiet_test"),
            ),
        ),
        is_slow=True,
    ),
    "evaluate": Kind(
        _make_task,
        ("*.json", "database/*"),
        (EVALUATE, (*EVALUATE, "--responses", "{}/responses.json", "--json")),
    ),
    "normalise": Kind(
        _make_task,
        ("rules.toml",),
        ((*EVALUATE, "--normalise", "{}/rules.toml"),),
    ),
    "policy": Kind(
        _make_policies,
        ("*.policy",),
        (("play", "{}/rl.policy", *PLAY), ("play", "{}/sl_sampled.policy", *PLAY, "--json")),
        is_slow=True,
    ),
    "grid": Kind(
        lambda folder: write_study(folder, SMALL_GRID),
        ("study.toml",),
        (("policies", "{}/study.toml", "--output", "{}/run", "--n-jobs", "1", "--quiet", "--no-report"),),
        is_slow=True,
    ),
    "populations": Kind(
        lambda folder: write_study(folder, POPULATION), ("study.toml",), (STUDY,), is_slow=True
    ),
    "scores": Kind(_make_scores, ("judges.csv", "study.toml"), (STUDY,), is_slow=True),
    "configuration": Kind(lambda folder: write_study(folder, SMALL), ("study.toml",), (STUDY,), is_slow=True),
    "outcomes": Kind(write_states, ("outcomes.csv",), (STUDY,), is_slow=True),
    "run": Kind(
        _make_run,
        ("run/*.json", "run/*.csv", "run/config.toml", "run/stages/*"),
        (
            ("compare", "{}/run", "hwu", "vote", "--json"),
            ("compare", "{}/run", "hwu", "vote", "--output", "{}/page.html"),
            ("report", "{}/run", "--output", "{}/page.html", "--quiet"),
            STUDY,
        ),
        is_slow=True,
    ),
}


def run_good(kind: str, root: Path) -> None:
    """Good inputs are done: otherwise nothing beyond the first mistake would ever be tried."""
    good = KINDS[kind].good(root, kind.replace(" ", "_"))
    for command in KINDS[kind].commands:
        folder = _copy(good, root / "input")
        outcome = run(*(part.replace("{}", str(folder)) for part in command))
        assert outcome.code == 0, outcome.text


def _copy(good: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    return folder


@dataclass(frozen=True)
class Input:
    """A mutated copy of good files, and a command over them."""

    kind: str
    seed: int
    folder: Path
    changed: str
    command: tuple[str, ...]


def make_input(kind: str, seed: int, root: Path) -> Input:
    """The input of a seed: the same for everybody who makes it."""
    rng = Random(f"{kind} {seed}")
    good = KINDS[kind].good(root, kind.replace(" ", "_"))
    folder = _copy(good, root / "input")
    files = sorted(
        {path for pattern in KINDS[kind].mutated for path in folder.glob(pattern) if path.is_file()}
    )
    # Of a run there are a hundred stages and one record: every sort of file is as likely as any other.
    sorts: dict[tuple[str, str], list[Path]] = {}
    for path in files:
        sorts.setdefault((path.parent.name, path.suffix), []).append(path)
    path = rng.choice(sorts[rng.choice(sorted(sorts))])
    data = path.read_bytes()
    path.write_bytes(mutation_of(path.name, rng)(data, rng) if data else b"?")
    command: Sequence[str] = rng.choice(KINDS[kind].commands)
    changed = str(path.relative_to(folder))
    return Input(kind, seed, folder, changed, tuple(part.replace("{}", str(folder)) for part in command))
