"""Writing a report: the page, its figures as files, its tables as LaTeX; and a figure by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrinsic.errors import OutputError, UsageError, did_you_mean
from extrinsic.report.drawing.page_parts import Section, pictures
from extrinsic.report.latex import latex_tables
from extrinsic.report.page import facts, render_page
from extrinsic.report.policies_page import policy_sections, read_grid
from extrinsic.report.results.report_data import read_run
from extrinsic.report.sections import ORDER, make_sections
from extrinsic.storage import read_plain, write_atomic
from extrinsic.study.finished_run import Run
from extrinsic.study.naming import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "report.html"
NEEDED = ("matplotlib", "jinja2")


def write_report(run: Run, output: str | Path | None = None) -> Path:
    """Render a complete run from its tables; returns where the page is.

    Without `output` the page goes to the run's directory, with figures/*.svg and tables/*.tex beside it.
    With it only the page is written, which embeds its figures.
    """
    require_libraries()
    path = run.folder / PAGE if output is None else Path(output)
    require_page(path)
    for beside in ("figures", "tables") if output is None else ():
        if (run.folder / beside).is_symlink():
            raise OutputError(
                "this is a link, and files elsewhere would be overwritten", path=str(run.folder / beside)
            )
    folder = "" if output is None else _relative_link(path.parent, run.folder)
    with run.reading():
        if run.is_grid:
            grid = read_grid(run, folder)
            study, sections = grid.study, policy_sections(grid)
            page = render_page("policies.html", study, sections, facts=grid.facts, signature=study.signature)
            latex = {}
        else:
            study = read_run(run, folder)
            sections, latex = make_sections(study), latex_tables(study)
            page = render_page("page.html", study, sections, facts=facts(study), signature=study.signature)
    if output is None:
        for section in sections:
            for picture in pictures(section.blocks):
                write_atomic(run.folder / "figures" / f"{picture.name}.svg", picture.file.encode())
        for name, text in latex.items():
            write_atomic(run.folder / "tables" / f"{name}.tex", text.encode())
    write_atomic(path, page.encode())
    return path


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


def _relative_link(begin: Path, end: Path) -> str:
    """The link from a directory to another; "" to itself."""
    link = os.path.relpath(end.resolve(), begin.resolve()).replace(os.sep, "/")
    return "" if link == "." else f"{link}/"


def single_figure(run: Run, name: str) -> Figure:
    """The figure of this name; `heat_map` is that of the study's first variant."""
    require_libraries()
    drawn = []
    with run.reading():
        variants = {row.variant for row in run.table("returns")}
        wanted = {name, *(f"{name}_{slug(variant)}" for variant in variants)}
        for section in _sections(run, name):
            for picture in pictures(section.blocks):
                if picture.name in wanted:
                    return _fitted(picture.figure, picture.title)
                drawn.append(picture.name)
    raise UsageError(f"the report has no figure {name!r}; {did_you_mean(name, drawn)}")


def _sections(run: Run, name: str) -> Iterator[Section]:
    """The sections of the report, each made when it is reached; the one of this name first."""
    if run.is_grid:
        yield from policy_sections(read_grid(run, ""))
        return
    study = read_run(run)
    for make_section in sorted(ORDER, key=lambda make: make.__name__ != f"{name}_section"):
        section = make_section(study)
        if section is not None:
            yield section


def _fitted(figure: Figure, title: str) -> Figure:
    """The figure under its title, as large as what is drawn: in the report, axes lie outside of its frame."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # For the screen: a report draws in a resolution for measuring text.
    figure.set_dpi(100)
    canvas: Any = FigureCanvasAgg(figure)
    box = figure.get_tightbbox(canvas.get_renderer()).padded(0.1)
    width, height = figure.get_size_inches()
    room = 0.35

    def moved(x: float, y: float) -> tuple[float, float]:
        return (x * width - box.x0) / box.width, (y * height - box.y0) / (box.height + room)

    for axes in figure.axes:
        place = axes.get_position()
        (x0, y0), (x1, y1) = moved(place.x0, place.y0), moved(place.x1, place.y1)
        axes.set_position((x0, y0, x1 - x0, y1 - y0))
    for text in figure.texts:
        text.set_position(moved(*text.get_position()))
    figure.set_size_inches(box.width, box.height + room)
    top = 1.0 - 0.1 / (box.height + room)
    figure.text(0.1 / box.width, top, title, fontsize=11, fontweight="bold", va="top")
    figure.set_facecolor("white")
    return figure
