"""The sections of the page, one file each, in the order of the page."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section
from extrinsic.report.results.report_data import Study
from extrinsic.report.sections import (
    all_correlations,
    combined_metrics,
    estimates_and_live,
    heat_map,
    how_sure,
    how_to_read,
    lee,
    returns,
    sensitivity,
    swaps,
    tracker_by_tracker,
    trust,
    verdict,
    which_metric,
    world_fit,
)

ORDER = (
    verdict,
    which_metric,
    heat_map,
    how_sure,
    lee,
    returns,
    swaps,
    estimates_and_live,
    world_fit,
    combined_metrics,
    sensitivity,
    trust,
    tracker_by_tracker,
    all_correlations,
    how_to_read,
)


def make_sections(study: Study) -> list[Section]:
    """Those that have something to show."""
    made = (module.section(study) for module in ORDER)
    return [section for section in made if section is not None and section.blocks]
