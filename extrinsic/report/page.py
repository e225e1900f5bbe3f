"""The page: sections rendered by templates that escape all text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrinsic.report.drawing.page_parts import Section, Term
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import Counted, target_title
from extrinsic.study.number_texts import counted, listing

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

BREAKS = re.compile(r"(?<=\w_)(?=\w)|(?<=\w)(?=\()")

TERM = '<abbr class="term" tabindex="0" role="button" data-term="{}" title="{}">{}</abbr>'

TEMPLATES = Path(__file__).parent / "templates"


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
    environment.globals["glossary"] = glossary
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


def facts(study: Study) -> str:
    """What was compared, in one line."""
    core = sum(1 for row in study.tables.trackers if row.core)
    n = len(study.trackers)
    parts = [
        counted(n, "tracker") + (f" ({core} of them the core)" if core < n else ""),
        counted(len(study.datasets), "dataset") + f" ({listing(study.datasets, 6)})" * bool(study.datasets),
        str(Counted.of(row for row in study.tables.correlations if row.r is not None)),
    ]
    target = f"; the target is {target_title(study.target)}" if study.target else ""
    return f"{', '.join(parts)}{target}."
