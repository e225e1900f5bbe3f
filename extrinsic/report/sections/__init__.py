"""The sections of the page, one file each, in the order of the page."""

from __future__ import annotations

from extrinsic.report.blocks import Section
from extrinsic.report.sections import (
    answer,
    composite,
    diagnostics,
    estimators,
    everything,
    heat_map,
    influence,
    pairs,
    ranking,
    reading,
    returns,
    scatter,
    sensitivity,
    trackers,
)
from extrinsic.report.study import Study

ORDER = (
    answer, returns, ranking, heat_map, scatter, estimators, influence, pairs, composite, sensitivity,
    diagnostics, trackers, everything, reading,
)  # fmt: skip


def make_sections(study: Study) -> list[Section]:
    """Those that have something to show."""
    made = (module.section(study) for module in ORDER)
    return [section for section in made if section is not None and section.blocks]
