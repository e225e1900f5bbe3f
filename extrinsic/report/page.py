"""The page of a run, rendered from its tables by templates that escape all text; its figures as files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrinsic.errors import OutputError, UsageError, did_you_mean
from extrinsic.report.answer import lee_section, verdict_section
from extrinsic.report.correlations import all_numbers_section, heat_map_section
from extrinsic.report.figures import for_screen
from extrinsic.report.items import errors_section
from extrinsic.report.page_parts import Partial, Section, Term, pictures
from extrinsic.report.policies import policy_sections, read_grid
from extrinsic.report.returns import estimators_section, returns_section
from extrinsic.report.run_data import Study, clean, read_run, tables_of
from extrinsic.report.systems import systems_section
from extrinsic.report.trust import combined_metrics_section, other_settings_section, trust_section
from extrinsic.storage import read_plain, write_atomic
from extrinsic.study.run import Run
from extrinsic.study.tables import POLICY_TABLES
from extrinsic.verdict.names import (
    counted,
    counted_metrics,
    listing,
    schedule_title,
    slug,
    target_title,
)
from extrinsic.verdict.rows import ChoiceRow, TrackerRow

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

PAGE = "report.html"
NEEDED = ("matplotlib", "jinja2")
TEMPLATES = Path(__file__).parent / "templates"

BREAKS = re.compile(r"(?<=\w_)(?=\w)|(?<=\w)(?=\()")
TERM = '<abbr class="term" tabindex="0" role="button" data-term="{}" title="{}">{}</abbr>'

ORDER = (
    verdict_section,
    heat_map_section,
    returns_section,
    errors_section,
    lee_section,
    estimators_section,
    combined_metrics_section,
    other_settings_section,
    trust_section,
    systems_section,
    all_numbers_section,
)
"""The sections in the order of the page; one that has nothing to show is None, or empty."""


def write_report(run: Run, output: str | Path | None = None) -> Path:
    """Render a complete run from its tables; returns where the page is.

    Without `output` the page goes to the run's directory, with figures/*.svg beside it. With it only the page
    is written, which embeds its figures.
    """
    require_libraries()
    path = run.folder / PAGE if output is None else Path(output)
    require_page(path)
    figures = run.folder / "figures"
    if output is None and figures.is_symlink():
        raise OutputError("this is a link, and files elsewhere would be overwritten", path=str(figures))
    # The link from the page to the directory of the run.
    link = os.path.relpath(run.folder.resolve(), path.parent.resolve()).replace(os.sep, "/")
    folder = "" if output is None or link == "." else f"{link}/"
    with run.reading():
        if run.is_grid:
            grid = read_grid(run, folder)
            template, study, about = "policies.html", grid.study, grid.facts
            reading = reading_section(study, "policies_reading.html", POLICY_TABLES)
            sections = [*policy_sections(grid), reading]
        else:
            study = read_run(run, folder)
            template, about = "page.html", facts(study)
            made = [section for make in ORDER if (section := make(study)) is not None]
            sections = [*made, reading_section(study, "reading.html", tables_of(run))]
        page = render_page(template, study, sections, facts=about, signature=study.signature)
    if output is None:
        for picture in (picture for section in sections for picture in pictures(section.blocks)):
            write_atomic(figures / f"{picture.name}.svg", picture.file.encode())
    write_atomic(path, page.encode())
    return path


def single_figure(run: Run, name: str) -> Figure:
    """The figure of this name; `heat_map` is that of the study's first variant."""
    require_libraries()
    drawn = []
    with run.reading():
        wanted = {name, *(f"{name}_{slug(variant)}" for variant in run.panel.variants)}
        if run.is_grid:
            sections: Iterable[Section | None] = policy_sections(read_grid(run))
        else:
            study = read_run(run)
            # Each is drawn when it is reached; the one of this name first.
            order = sorted(ORDER, key=lambda make: make.__name__ != f"{name}_section")
            sections = (make(study) for make in order)
        for section in sections:
            for picture in pictures(section.blocks if section else ()):
                if picture.name in wanted:
                    return for_screen(picture)
                drawn.append(picture.name)
    raise UsageError(f"the report has no figure {name!r}; {did_you_mean(name, drawn)}")


def facts(study: Study) -> str:
    """What was compared, in one line."""
    core = sum(1 for row in study.tables[TrackerRow] if row.core)
    n, names = len(study.panel.systems), [dataset.name for dataset in study.panel.datasets]
    noun = "generator" if study.panel.datasets != study.view.datasets else "dataset"
    parts = [
        counted(n, "tracker") + (f" ({core} of them the core)" if core < n else ""),
        counted(len(names), noun) + f" ({listing(names, 6)})" * bool(names),
        counted_metrics([row for row in study.tables[ChoiceRow] if row.lost is not None]),
    ]
    target = f"; the target is {target_title(study.target)}" if study.target else ""
    return f"{', '.join(parts)}{target}."


def reading_section(study: Study, template: str, tables: Iterable[str]) -> Section:
    """How to read the page, what not to conclude, and the provenance of the run."""
    values = {
        "study": study,
        "signature": study.signature,
        "versions": study.versions,
        "stages": listing([f"{number} × {name}" for name, number in sorted(study.stages.items())]),
        "n_stages": counted(study.stages.total(), "stage"),
        "config": "\n".join(map(clean, study.config.splitlines())),
        "tables": [f"{name}.csv" for name in tables],
        "changed": study.changed,
        "left_out": study.left_out,
    }
    return Section("reading", "How to read this", (Partial(template, values),))


def require_page(path: Path) -> None:
    """Refuse to overwrite what is no page: a mistyped --output would replace a table, or a study."""
    if os.path.isdir(path):  # noqa: PTH112 - Path's raises for a name that is too long
        raise OutputError("this is a directory", path=str(path), expected="the name of a file")
    is_file = os.path.isfile(path)  # noqa: PTH113 - as above
    if is_file and not read_plain(path).lstrip()[:20].lower().startswith(b"<!doctype html"):
        raise OutputError(
            "this is no page, and would be overwritten", path=str(path), expected="a new name, or a page's"
        )


def require_libraries() -> None:
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        raise UsageError(f"a report needs {' and '.join(lacking)}: pip install 'extrinsic[report]'")


def make_environment() -> Environment:
    """The templates; they escape everything that is not marked as markup."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    glossary = Glossary()
    environment.filters["soft"] = glossary.show
    environment.globals |= {"glossary": glossary, "schedule_title": schedule_title}
    return environment


class Glossary:
    """The definitions that a page uses, each once; a name opens its own, also on a phone."""

    def __init__(self) -> None:
        self.terms: dict[tuple[str, str], Term] = {}

    def show(self, text: str) -> Markup:
        """Escaped text; a term that has a definition opens it."""
        from markupsafe import Markup

        if not isinstance(text, Term) or not text.key:
            return soft(text)
        key = (text.key, text.help)
        self.terms.setdefault(key, text)
        number = list(self.terms).index(key)
        title = f"{text.key}: {text.help}" if text.help else text.key
        return Markup(TERM).format(number, title, soft(text))


def render_page(template: str, study: Any, sections: Sequence[Section], **values: Any) -> str:
    """The page of a template, which embeds its style and script; study: its name and folder at least."""
    from markupsafe import Markup

    environment = make_environment()
    environment.globals["study"] = study
    macros: Any = environment.get_template("blocks.html").module
    files = {"style": "style.css", "script": "script.js"}
    embedded = {name: Markup((TEMPLATES / file).read_text()) for name, file in files.items()}
    blocks = partial(macros.show, study=study)
    return environment.get_template(template).render(sections=sections, blocks=blocks, **embedded, **values)


def soft(text: str) -> Markup:
    """Escaped text in which long names may break."""
    from markupsafe import Markup, escape

    return Markup(BREAKS.sub("<wbr>", str(escape(text))))
