"""How figures are drawn: one style, text as text, colours of the page, equal bytes for equal data."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from extrinsic.report.page_parts import Partial, Picture
from extrinsic.verdict.names import slug

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID, PAPER = "#22262e", "#626b78", "#d9dde3", "#fffffe"

SERIES = ("#0072b2", "#d55e00", "#009e73", "#b8860b", "#b0508c", "#3a9bd9", "#7a7f87", "#7b5ea7")
"""After Okabe and Ito, for colour-blind readers; yellow is darker, to be visible on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")

VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", PAPER: "paper"} | {
    colour: f"series-{number}" for number, colour in enumerate(SERIES, start=1)
}
"""In the page every colour is a variable of its style sheet, so that it has a light and a dark form."""

STYLE: dict[str, object] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), INK),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("grid.linewidth", "axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("axes.grid", "axes.axisbelow", "axes.unicode_minus"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("text.parse_math", "path.simplify"), False),
    "font.family": "DejaVu Sans",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "svg.fonttype": "none",
    "figure.dpi": 288,
    "legend.fontsize": 8.5,
    "grid.color": GRID,
}

LONGEST, LONGEST_ROW = 26, 60
MANY = 150
"""More points are drawn as one path."""

TITLE_SIZE, TITLE_ROOM = 10.5, 24.0
"""Of the title above everything, in points."""


def draw(
    name: str,
    title: str,
    caption: str,
    paint: Callable[[Figure], None],
    variant: str | None = "",
    in_page: Partial | None = None,
) -> Picture:
    """A figure that `paint` fills, under its title; the variant is part of its name.

    in_page: what the page shows in its place.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    name = "_".join(filter(None, (name, slug(variant))))
    style: Any = {**STYLE, "svg.hashsalt": name}
    with rc_context(style), warnings.catch_warnings():
        # A glyph missing from the font used here is no problem: the viewer's fonts have it.
        warnings.simplefilter("ignore")
        figure = Figure()
        canvas: Any = FigureCanvasAgg(figure)
        paint(figure)
        # Measured here, since savefig would draw everything once more to find out.
        box = figure.get_tightbbox(canvas.get_renderer()).padded(0.1, 0.04)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", bbox_inches=box, metadata=nothing)
    svg = _titled(stream.getvalue(), title)
    label, view = f'role="img" aria-label="{escape(title)}"', _view_box(svg)
    # In the page colours are variables, and the page chooses the width.
    inline = _opened(svg, f'{label} style="--wide: {float(view[2]):.0f}px"', colours=VARIABLES)
    # As a file of its own: plain colours on white, for any viewer.
    white = f'\n<rect y="{-TITLE_ROOM:g}" width="100%" height="100%" fill="#ffffff"/>'
    file = _opened(svg, f'width="{view[2]}pt" height="{view[3]}pt" {label}', white)
    return Picture(name, title, caption, inline, file, in_page, figure)


def for_screen(picture: Picture) -> Figure:
    """Its figure under its title, as large as what is drawn: in the report, axes lie outside of its frame."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Figure = picture.figure
    # A report draws in a resolution for measuring text.
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
    figure.text(0.1 / box.width, top, picture.title, fontsize=11, fontweight="bold", va="top")
    figure.set_facecolor("white")
    return figure


def panels(
    figure: Figure,
    lines: int,
    columns: int,
    width: float,
    height: float,
    across: float = 0.0,
    down: float = 0.0,
    **more: Any,
) -> list[Axes]:
    """Axes of this size (inches) with these distances; labels and titles add to the figure."""
    figure.set_size_inches(columns * width + (columns - 1) * across, lines * height + (lines - 1) * down)
    made = figure.subplots(lines, columns, squeeze=False, **more)
    figure.subplots_adjust(0, 0, 1, 1, wspace=across / width, hspace=down / height)
    return list(made.ravel())


def look(number: int) -> tuple[str, str]:
    """The colour and the marker of the n-th series."""
    return SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]


def put_points(axes: Axes, points: Sequence[tuple[float, float]], form: str, **style: Any) -> None:
    """Points (x, y), in matplotlib's form of marker and line."""
    x, y = zip(*points, strict=True) if points else ((), ())
    if len(points) > MANY and len(form) == 1:
        # A line of no length with a round end is a dot: thousands of them are one path.
        size, label = style.pop("markersize", 5.0), style.pop("label", None)
        axes.plot([], [], form, markersize=size, label=label, **style)
        style |= {"linewidth": 0.7 * size, "solid_capstyle": "round"}
        axes.plot(*_apart(x, x, y, y), "-", **style)
        return
    axes.plot(x, y, form, **style)


def _apart(
    x0: Sequence[float], x1: Sequence[float], y0: Sequence[float], y1: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Lines that do not touch, as the x and y of one."""
    gap = [math.nan] * len(x0)
    ends = (
        [part for line in zip(*side, strict=True) for part in line] for side in ((x0, x1, gap), (y0, y1, gap))
    )
    x, y = ends
    return x, y


def put_dataset(axes: Axes, number: int, dataset: str, points: Sequence[tuple[float, float]]) -> None:
    """The points of a dataset, in the colour and with the marker that it has in every figure."""
    colour, marker = look(number)
    put_points(axes, points, marker, color=colour, markersize=5, alpha=0.9, label=short(dataset))


Interval = tuple[float, float | None, float | None]
"""A position, and the ends; either may be undefined."""


def put_intervals(axes: Axes, intervals: Iterable[Interval], upright: bool = False, **style: Any) -> None:
    """A line for each interval that has both ends."""
    whole = [interval for interval in intervals if None not in interval]
    positions, lows, highs = zip(*whole, strict=True) if whole else ((), (), ())
    ends = (positions, positions, lows, highs) if upright else (lows, highs, positions, positions)
    # One path for all of them: a page with 200 systems has thousands.
    axes.plot(*_apart(*ends), "-", **style)


def short(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


TAG = re.compile(r"<[^<>]*>")
DECIMALS = re.compile(r"(\d\.\d\d)\d+")
FONT = re.compile(r"(font: (?:\w+ )*[\d.]+px) [^;\"]+")
VIEW = re.compile(r'viewBox="0 (-?[\d.]+) ([\d.]+) ([\d.]+)"')


def _titled(text: str, title: str) -> str:
    """The svg element without prologue, metadata and names of groups, its title above everything else."""
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"\n\s*", "\n", re.sub(r'<g id="[^"]*"', "<g", text))
    box = _view_box(text)
    # A title may be longer than the figure is wide; its letters are about this wide.
    wide = max(float(box[2]), 0.6 * TITLE_SIZE * len(title))
    taller = f'viewBox="0 {-TITLE_ROOM:g} {wide:g} {float(box[3]) + TITLE_ROOM:g}"'
    style = f"font: 700 {TITLE_SIZE}px sans-serif; fill: {INK}"
    position = f'x="3" y="{8 - TITLE_ROOM:g}" dominant-baseline="middle"'
    above = f'<text {position} style="{style}">{escape(title)}</text>\n'
    end = text.rindex("</svg>")
    return VIEW.sub(lambda _: taller, text[:end], count=1) + above + text[end:]


def _view_box(svg: str) -> re.Match[str]:
    view_box = VIEW.search(svg)
    assert view_box is not None, "matplotlib gives every SVG a view box"
    return view_box


def _opened(svg: str, attributes: str, inside: str = "", colours: Mapping[str, str] | None = None) -> str:
    """The picture under another opening tag, coordinates rounded.

    Only the tags in it are changed, never the text between them.
    """

    def changed(tag: re.Match[str]) -> str:
        text = tag[0]
        for colour, variable in (colours or {}).items():
            text = text.replace(colour, f"var(--{variable})")
        return FONT.sub(r"\1 system-ui, sans-serif", DECIMALS.sub(r"\1", text))

    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    rest = TAG.sub(changed, svg[svg.index(">") + 1 :])
    return f"<svg {links} {_view_box(svg)[0]} {attributes}>{inside}{rest}"


def put_rows(axes: Axes, labels: Sequence[str], strong: Container[int] = ()) -> None:
    """Rows from the top down, each with its label at the left: like ticks, but drawn much faster.

    strong: the rows whose label is bold.
    """
    axes.set_yticks([])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.hlines(
        range(len(labels)), 0, 1, transform=axes.get_yaxis_transform(), color=GRID, linewidth=0.4, zorder=0.5
    )
    beside: Any = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center", "fontsize": 7.5}
    for y, label in enumerate(labels):
        weight = "bold" if y in strong else "normal"
        axes.text(-0.012, y, short(label, LONGEST_ROW), fontweight=weight, **beside)


def put_notes(axes: Axes, notes: Sequence[str]) -> None:
    """A remark at the right end of each row."""
    for y, note in enumerate(notes):
        axes.text(
            1.015, y, note, transform=axes.get_yaxis_transform(), va="center", fontsize=7.2, color=MUTED
        )


def put_legend(axes: Axes, above: float = 0.05, **more: Any) -> None:
    """A legend in one line, `above` inches above the axes."""
    from matplotlib.figure import Figure
    from matplotlib.transforms import ScaledTranslation

    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    raised = axes.transAxes + ScaledTranslation(0, above, figure.dpi_scale_trans)
    options = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "bbox_transform": raised, "ncols": 7}
    tight = {"borderaxespad": 0.0, "borderpad": 0.1, "handletextpad": 0.3, "columnspacing": 1.2}
    axes.legend(**{**options, **tight, **more})
