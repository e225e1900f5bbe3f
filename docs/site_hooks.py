"""What the site has beyond docs/: the pages of experiments/, and a reference made from docstrings."""

from __future__ import annotations

import inspect
import logging
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import extrinsic
from extrinsic.cli.commands import KINDS
from extrinsic.cli.ls import lines_of
from extrinsic.study.tables import READABLE, column_help, summary

ROOT = Path(__file__).parents[1]
STUDIES = ("*.md", "*.svg", "*/*.md", "*/*.svg")


def on_files(files: Any, config: Any) -> Any:
    """Add to the files of the site; nothing is copied into docs/."""
    from mkdocs.structure.files import File

    for pattern in STUDIES:
        for path in sorted((ROOT / "experiments").glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, text in (("api.md", api()), ("tables.md", tables()), ("registries.md", registries())):
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Links between docs/ and experiments/ are as in the repository; on the site both have one root.

    mkdocs passes over a link that leaves the site, so that it is reported here.
    """
    folder = posixpath.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder or "docs", link[1]))
        target = posixpath.relpath(path.removeprefix("docs/"), folder or ".")
        if path.partition("/")[0] not in ("docs", "experiments"):
            logging.getLogger("mkdocs.hooks").warning(f"{page.file.src_uri}: {link[1]} is not on the site")
        return f"]({target}"

    return re.sub(r"\]\((\.\./[^)#]*)", moved, markdown)


def api() -> str:
    """The names of `extrinsic`, with signatures and docstrings."""
    lines = [
        "# Python reference\n",
        "All of `import extrinsic`; everything is imported when it is first used.\n",
    ]
    for name in sorted(extrinsic.__all__, key=lambda name: (name.startswith("_"), name.lower())):
        thing = getattr(extrinsic, name)
        if callable(thing):
            lines += [f"## `{name}`\n", *_described(name, thing)]
            lines += [
                part
                for member, method in _members(thing)
                for part in (f"### `{name}.{member}`\n", *_described(f"{name}.{member}", method))
            ]
    return "\n".join(lines)


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    """The documented public methods and properties of a class."""
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        target = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not name.startswith("_") and callable(target) and inspect.getdoc(target):
            yield name, member


def _described(name: str, thing: Any) -> list[str]:
    function = getattr(thing, "__func__", thing)
    signature = ""
    if callable(function):
        parts = [
            str(parameter.replace(annotation=_plain(parameter.annotation)))
            for parameter in inspect.signature(function).parameters.values()
            if parameter.name != "self"
        ]
        text = f"{name}({', '.join(parts)})"
        if len(text) > 90:
            text = f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"
        signature = f"```python\n{text}\n```\n"
    document = inspect.getdoc(getattr(thing, "fget", None) or getattr(thing, "func", None) or function) or ""
    first, _, rest = document.partition("\n\n")
    # Every field of a docstring stands on a line of its own, aligned.
    return [
        signature,
        first.replace("\n", " ") + "\n",
        *([f"```text\n{rest}\n```\n"] if rest.strip() else []),
    ]


class _Name:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _plain(annotation: Any) -> Any:
    return annotation if annotation is inspect.Parameter.empty else _Name(str(annotation))


def tables() -> str:
    """The tables of a run, column by column."""
    lines = [
        "# Tables of a run\n",
        "Every table is a csv file; `Run.table(name)` has its rows as typed objects.\n",
    ]
    for name, kind in READABLE.items():
        lines += [f"## {name}.csv\n", summary(kind) + "\n", "| column | meaning |", "|---|---|"]
        lines += [f"| `{column}` | {_cell(text)} |" for column, text in column_help(kind).items()]
        lines.append("")
    return "\n".join(lines)


def registries() -> str:
    """What `extrinsic ls` lists."""
    lines = [
        "# What can be named\n",
        "As `extrinsic ls KIND` prints it; `extrinsic ls KIND KEY` has the details.\n",
    ]
    for kind, description in KINDS.items():
        lines += [f"## {kind}\n", f"{description[0].upper()}{description[1:]}.\n"]
        lines += ["| key | what it is |", "|---|---|"]
        lines += [*(f"| `{key}` | {_cell(text)} |" for key, text in lines_of(kind)), ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
