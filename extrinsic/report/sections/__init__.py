"""The sections of the page, one file each, in the order of the page."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section
from extrinsic.report.results.report_data import Study
from extrinsic.report.sections import (
    all_correlations,
    answer,
    best_against_others,
    combined_metrics,
    estimates_and_live,
    heat_map,
    how_to_read,
    ranked_metrics,
    returns,
    scatter,
    sensitivity,
    single_trackers,
    swaps,
    tracker_by_tracker,
    trust,
    world_fit,
)

ORDER = (
    answer,
    returns,
    ranked_metrics,
    swaps,
    heat_map,
    scatter,
    estimates_and_live,
    world_fit,
    single_trackers,
    best_against_others,
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
