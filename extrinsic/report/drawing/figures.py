"""How figures are drawn: one style, text as text, colours of the page, equal bytes for equal data."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from extrinsic.report.drawing.page_parts import Picture

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
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.titlecolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.unicode_minus": True,
    "font.sans-serif": ["DejaVu Sans"],
    "path.simplify": False,
    "figure.dpi": 288,
}

LONGEST, LONGEST_ROW = 26, 60
TITLE_SIZE, TITLE_ROOM = 10.5, 24.0
"""Of the title above everything, in points."""


def draw(name: str, title: str, caption: str, paint: Callable[[Figure], None]) -> Picture:
    """A figure that `paint` fills, under its title."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

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
    svg = _titled(_body(stream.getvalue()), title)
    return Picture(name, title, caption, _inline(svg, title), _file(svg, title), figure)


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


def plot_dataset(axes: Axes, number: int, dataset: str, x: Sequence[float], y: Sequence[float]) -> None:
    """The points of a dataset, in the colour and with the marker that it has in every figure."""
    colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
    axes.plot(x, y, marker, color=colour, markersize=5, alpha=0.9, label=short(dataset))


def short(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _body(text: str) -> str:
    """The svg element without prologue, metadata and names of groups."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    return re.sub(r"\n\s*", "\n", text)


TAG = re.compile(r"<[^<>]*>")
FONT = re.compile(r"(font: (?:\w+ )*[\d.]+px) [^;\"]+")
VIEW = re.compile(r'viewBox="0 (-?[\d.]+) ([\d.]+) ([\d.]+)"')


def _titled(svg: str, title: str) -> str:
    """With the title above everything else, from the left edge on."""
    view_box = VIEW.search(svg)
    assert view_box is not None, "matplotlib gives every SVG a view box"
    taller = f'viewBox="0 {-TITLE_ROOM:g} {view_box[2]} {float(view_box[3]) + TITLE_ROOM:g}"'
    style = f"font: 700 {TITLE_SIZE}px sans-serif; fill: {INK}"
    position = f'x="3" y="{8 - TITLE_ROOM:g}" dominant-baseline="middle"'
    text = f'<text {position} style="{style}">{escape(title)}</text>\n'
    end = svg.rindex("</svg>")
    return VIEW.sub(lambda _: taller, svg[:end], count=1) + text + svg[end:]


def _opened(svg: str, attributes: str, changed: Callable[[str], str]) -> str:
    """The picture under another opening tag. Only the tags in it are changed, never the text between them."""
    view_box = VIEW.search(svg)
    assert view_box is not None
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    rest = svg[svg.index(">") + 1 :]
    return f"<svg {links} {view_box[0]} {attributes}>{TAG.sub(lambda tag: changed(tag[0]), rest)}"


def _font(tag: str) -> str:
    return FONT.sub(r"\1 system-ui, sans-serif", tag)


def _inline(svg: str, title: str) -> str:
    """For the page: colours are variables, and the page chooses the width."""

    def changed(tag: str) -> str:
        for colour, variable in VARIABLES.items():
            tag = tag.replace(colour, f"var(--{variable})")
        return _font(tag)

    view_box = VIEW.search(svg)
    assert view_box is not None
    attributes = f'role="img" aria-label="{escape(title)}" style="--wide: {float(view_box[2]):.0f}px"'
    return _opened(svg, attributes, changed)


def _file(svg: str, title: str) -> str:
    """As a file of its own: plain colours on white, for any viewer."""
    view_box = VIEW.search(svg)
    assert view_box is not None
    size = f'width="{view_box[2]}pt" height="{view_box[3]}pt" role="img" aria-label="{escape(title)}"'
    ground = f'\n<rect y="{-TITLE_ROOM:g}" width="100%" height="100%" fill="#ffffff"/>'
    opened = _opened(svg, size, _font)
    # The title is escaped in its attribute, so the first > ends the opening tag.
    end = opened.index(">") + 1
    return f"{opened[:end]}{ground}{opened[end:]}"


def put_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Rows from the top down, each with its label at the left: like ticks, but drawn much faster."""
    axes.set_yticks([])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.hlines(
        range(len(labels)), 0, 1, transform=axes.get_yaxis_transform(), color=GRID, linewidth=0.4, zorder=0.5
    )
    for y, label in enumerate(labels):
        axes.text(
            -0.012,
            y,
            short(label, LONGEST_ROW),
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="center",
            fontsize=7.5,
        )


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
