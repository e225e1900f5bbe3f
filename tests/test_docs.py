"""Every block of code in the README and in docs/ runs as it stands, and every link leads somewhere.

A block with a title is a file. A block that begins with `# needs X` runs where X is (a library, or data of
the challenges). One that begins with `# takes` (minutes) or `# with` (files of others) is only parsed.
"""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import shutil
import tomllib
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

import msgspec
import pytest

import extrinsic.verdict
from extrinsic.cli.main import build_parser
from extrinsic.corpus.domain import load_domain
from extrinsic.corpus.formats.log_lines import LogLine
from extrinsic.corpus.normalisation import load_normalisation
from extrinsic.registry import BLOCKS, FORMATS, LEARNERS, METRICS, REWARDS, TRACKERS, WORLDS, Registry
from extrinsic.study.run import Run
from extrinsic.study.settings_tree import check_keys, decode
from extrinsic.typed_files import TomlProblems
from tests.real_data import find_data
from tests.running import run

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
FENCE = re.compile(r'^```(\w*)(?: title="([\w./-]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
LANGUAGES = {"python", "sh", "toml", "json", "csv", "text"}
REGISTRIES: tuple[Registry[Any], ...] = (BLOCKS, FORMATS, LEARNERS, METRICS, REWARDS, TRACKERS, WORLDS)
DATA = {
    "dstc2": {
        "dstc2_traindev.tar.gz": "dstc2/dstc2_traindev.tar.gz",
        "focus.dev.json.gz": "dstc2/trackers/focus.dev.json.gz",
        "hwu.dev.json.gz": "dstc2/trackers/hwu.dev.json.gz",
    },
    "multiwoz": {"som_dst.json.gz": "multiwoz/som_dst_100.json.gz"},
}
"""The files of each challenge that examples use, and where the data has them."""


class Block(NamedTuple):
    language: str
    title: str
    text: str

    @property
    def needs(self) -> str | None:
        match = re.match(r"# needs (\w+)", self.text)
        return match[1] if match else None

    @property
    def runs(self) -> bool:
        if self.text.startswith(("# takes", "# with")):
            return False
        if self.needs in DATA:
            return find_data() is not None
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def blocks(page: str) -> list[Block]:
    return [Block(*groups) for groups in FENCE.findall(PAGES[page])]


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the first tutorial, which other pages go on with."""
    folder = tmp_path_factory.mktemp("docs")
    study = next(block for block in blocks("tutorial_metric.md") if block.title == "small.toml")
    (folder / study.title).write_text(study.text)
    options = ("--output", folder / "small", "--n-jobs", "1", "--quiet")
    assert run("run", folder / study.title, *options).code == 0
    return folder / "small"


@pytest.fixture
def folder(tmp_path: Path, small_run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with that run and the files of the challenges, where these are; nothing stays registered."""
    shutil.copytree(small_run, tmp_path / "runs" / "small")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    data = find_data()
    for name, path in (pair for files in DATA.values() for pair in files.items()):
        if data is not None:
            (tmp_path / name).symlink_to(data / path)
    monkeypatch.chdir(tmp_path)
    before = [set(registry.names()) for registry in REGISTRIES]
    yield tmp_path
    for registry, names in zip(REGISTRIES, before, strict=True):
        for name in set(registry.names()) - names:
            registry.unregister(name)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str, folder: Path) -> None:
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks(page), start=1):
        where = f"{page}, block {number}"
        assert block.language in LANGUAGES, f"{where}: a block names its language"
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
        if block.language == "python":
            code = compile(block.text, where, "exec")
            if block.runs:
                with warnings.catch_warnings(action="ignore" if block.needs else "error"):
                    exec(code, names)
        elif block.language == "sh":
            run_commands(block, where)
        elif block.language == "json":
            read_json(block.text)
        elif block.language == "toml":
            check_toml(block, where, folder)


def read_json(text: str) -> None:
    """One value, or one a line."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line)


def run_commands(block: Block, where: str) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words or words[0] in ("pip", "make", "git"):
            continue
        assert words[0] == "extrinsic", f"{where}: {line}"
        arguments = [
            name
            for word in words[1:]
            for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        parsed = build_parser().parse_args(arguments)
        if block.runs:
            # One process: starting others takes longer than these examples do.
            extra = ["--n-jobs", "1"] if getattr(parsed, "n_jobs", 1) != 1 else []
            outcome = run(*arguments, *extra)
            assert outcome.code == 0, f"{where}: {line}\n{outcome.text}"


def check_toml(block: Block, where: str, folder: Path) -> None:
    """A task, a rule of normalisation, entry points, or (a part of) a study with keys that exist."""
    tree = tomllib.loads(block.text)
    if "slots" in tree:
        path = folder / "task.toml"
        path.write_text(block.text)
        assert load_domain(str(path)).predicate_names
    elif "rules" in tree:
        path = folder / "rule.toml"
        path.write_text(block.text)
        load_normalisation(str(path))
    elif "project" not in tree:
        problems = TomlProblems(where, block.text)
        check_keys({"name": "x", **tree}, problems)
        problems.raise_errors()
        if "plugins" not in tree:
            decode({"name": "x", **tree}, problems)
        problems.raise_errors()


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """mkdocs checks anchors too; this needs no mkdocs. Some pages are made when the site is built."""
    made = {"api.md", "tables.md", "registries.md"}
    for target in re.findall(r"\]\((?!https?:)([^)#]*)[^)]*\)", FENCE.sub("", PAGES[page])):
        base = ROOT if page == "README.md" else ROOT / "docs"
        assert not target or target in made or (base / target).exists(), target


def test_the_site_has_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    studies = [path.relative_to(ROOT).as_posix() for path in (ROOT / "experiments").rglob("README.md")]
    pages = [*(page for page in PAGES if page != "README.md"), *studies]
    assert [page for page in pages if f" {page}\n" not in text] == []


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 75


def test_things_of_ones_own_take_ten_lines() -> None:
    own = [
        block.text
        for block in blocks("extending.md")
        if block.language == "python" and ".register(" in block.text
    ]
    assert len(own) == 4
    for code in own:
        lines = [line for line in code.splitlines() if line.strip()]
        assert len([line for line in lines if not line.startswith(("from", "import"))]) <= 10


def test_every_field_of_a_log_has_an_example_that_is_valid() -> None:
    table = re.findall(r"^\| `(\w+)` \| (.+?) \| `(.+)` \|$", PAGES["own_logs.md"], flags=re.MULTILINE)
    assert [name for name, _, _ in table] == list(LogLine.__struct_fields__)
    for name, _, example in table:
        line = {"dialog": "x", "turn": 0, name: json.loads(example)}
        assert getattr(msgspec.convert(line, LogLine), name) is not None


def test_the_example_with_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grades join our metrics; over systems JGA follows success and the judge does not."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("states.md"):
        if block.title:
            Path(block.title).write_text(block.text)
    assert run("run", "judge.toml", "--output", "runs/judge", "--quiet", "--n-jobs", "1").code == 0
    finished = Run("runs/judge")
    pearson = finished.correlations(coefficient="pearson", scope="within", trackers="all")
    r = {row.metric: row.r for row in pearson}
    assert r["jga"] == pytest.approx(1.0)
    assert abs(r["own(judge)"] or 9.0) < 0.2
    (jga,) = (row for row in finished.choices if (row.systems, row.metric) == ("all", "jga"))
    assert jga.lost == pytest.approx(0.0)


WITH_EXAMPLES = {"choices", "composite", "intervals", "item_level"}
MODULES = [f"extrinsic.verdict.{module.name}" for module in iter_modules(extrinsic.verdict.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    results = doctest.testmod(import_module(name))
    assert results.failed == 0
    assert results.attempted > 0 or name.rpartition(".")[2] not in WITH_EXAMPLES
