"""The stage that relates: metrics against targets, for all trackers and for the core ones."""

from __future__ import annotations

from extrinsic.study.relating.family import family
from extrinsic.study.relating.stage import Relation, panel_of, relate

__all__ = ["Relation", "family", "panel_of", "relate"]
