"""The sections of the page, in the order of the page."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section
from extrinsic.report.results.report_data import Study
from extrinsic.report.sections.all_correlations import all_correlations_section
from extrinsic.report.sections.further_tables import (
    combined_metrics_section,
    other_settings_section,
    world_fit_section,
)
from extrinsic.report.sections.heat_map import heat_map_section
from extrinsic.report.sections.how_sure import how_sure_section
from extrinsic.report.sections.how_to_read import how_to_read_section
from extrinsic.report.sections.returns import estimators_section, returns_section
from extrinsic.report.sections.swaps import swaps_section
from extrinsic.report.sections.tracker_by_tracker import tracker_by_tracker_section
from extrinsic.report.sections.trust import trust_section
from extrinsic.report.sections.verdict import lee_section, verdict_section
from extrinsic.report.sections.which_metric import which_metric_section

ORDER = (
    verdict_section,
    which_metric_section,
    heat_map_section,
    how_sure_section,
    lee_section,
    returns_section,
    swaps_section,
    estimators_section,
    world_fit_section,
    combined_metrics_section,
    other_settings_section,
    trust_section,
    tracker_by_tracker_section,
    all_correlations_section,
    how_to_read_section,
)


def make_sections(study: Study) -> list[Section]:
    """Those that have something to show."""
    made = (section(study) for section in ORDER)
    return [section for section in made if section is not None and section.blocks]
