"""A figure of a report by itself, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.report.drawing.page_parts import Section, pictures
from extrinsic.report.policies_page import policy_sections, read_grid
from extrinsic.report.report_files import require_libraries
from extrinsic.report.results.report_data import read_run
from extrinsic.report.sections import ORDER
from extrinsic.study.finished_run import Run
from extrinsic.study.naming import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    for module in sorted(ORDER, key=lambda module: not module.__name__.endswith(f".{name}")):
        section = module.section(study)
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
