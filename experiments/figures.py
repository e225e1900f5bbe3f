"""How figures of experiments begin and end: the same fonts, and the same bytes when made again."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

__all__ = ["begin", "plt", "save"]


def begin(font_size: float = 9.0) -> None:
    """Whatever else this process has drawn, and with which backend."""
    matplotlib.rcdefaults()
    plt.switch_backend("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "extrinsic", "font.size": font_size})


def save(figure: Any, path: Path) -> None:
    """As svg, with coordinates to a hundredth of a point and no indentation: both are a third of the file."""
    figure.tight_layout()
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    short = re.sub(r"(\d\.\d\d)\d+", r"\1", drawn.getvalue())
    path.write_text(re.sub(r"\n +", "\n", short))
    plt.close(figure)
