"""Labels beside points, where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 6.8
AWAY = 5.0
"""From a point to its label, in typographic points."""

SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
Box = tuple[float, float, float, float]


def place_labels(axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Put each label on the first side of its point where it covers nothing, outermost points first."""
    figure = axes.get_figure()
    assert figure is not None
    scale = 72.0 / figure.dpi
    axes.autoscale_view()
    extent = axes.get_window_extent()
    frame = (extent.x0 * scale, extent.y0 * scale, extent.x1 * scale, extent.y1 * scale)
    spots = [tuple(axes.transData.transform((x, y)) * scale) for x, y, _ in points]
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in spots]
    middle = ((frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2)
    order = sorted(range(len(points)), key=lambda i: -_distance(spots[i], middle))
    for i in order:
        x, y = spots[i]
        width, height = 0.6 * SIZE * len(points[i][2]), 1.15 * SIZE
        for right, up in SIDES:
            box = _box(x, y, width, height, right, up)
            if _is_within(box, frame) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                axes.annotate(
                    points[i][2],
                    points[i][:2],
                    xytext=(right * AWAY, up * AWAY),
                    textcoords="offset points",
                    ha=("right", "center", "left")[right + 1],
                    va=("top", "center", "bottom")[up + 1],
                    fontsize=SIZE,
                    color=MUTED,
                )
                break


def _box(x: float, y: float, width: float, height: float, right: int, up: int) -> Box:
    left = x + right * AWAY - width * (1 - right) / 2
    bottom = y + up * AWAY - height * (1 - up) / 2
    return left, bottom, left + width, bottom + height


def _distance(spot: tuple[float, ...], middle: tuple[float, float]) -> float:
    return (spot[0] - middle[0]) ** 2 + (spot[1] - middle[1]) ** 2


def _is_within(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
