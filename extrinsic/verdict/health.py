"""What the data of a study lacks, so that whoever reads its results knows: the health of a run or a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from extrinsic.panel import Panel
from extrinsic.verdict.core_systems import JOINT_ONLY
from extrinsic.verdict.names import counted, listing, target_title
from extrinsic.verdict.rows import TrackerRow

FEW_TRACKERS = 12
"""With fewer core trackers the bound is hardly ever below what a coin loses."""

MOST_NAMED = 6

TRACKER_FLAGS = {
    "gold": "have the gold states on the slots that they fill",
    "unfilled": "never fill slots that the gold has",
    "forgets": "drop right values that the gold keeps",
    "copies": "have values that only the reply after the turn contains",
    "silent": "hardly ever have a value, less than a tenth as often as the median tracker",
}
"""What a flag says of trackers; they are not among the core."""


class HealthNote(msgspec.Struct, frozen=True, kw_only=True):
    """Something that limits what a study can show.

    kind: `few_trackers`, `near_duplicates`, `degenerate`, `recalibrated`, `flagged_trackers`,
    `joint_only`, `flagged_values`.   trackers: those it is about.
    """

    kind: str
    text: str
    trackers: tuple[str, ...] = ()


def health_notes(
    panel: Panel, trackers: Sequence[TrackerRow], targets: Sequence[str]
) -> Iterator[HealthNote]:
    """Of a run; targets: those it has a verdict of."""
    core = [row.tracker for row in trackers if row.core]
    if len(core) < FEW_TRACKERS:
        text = (
            f"{counted(len(core), 'core tracker')} of {len(trackers)}: so few can hardly promise anything "
            "for others; with 20 a bound comes to about half of what a coin loses, with 40 to a third"
        )
        yield HealthNote(kind="few_trackers", text=text)
    yield from _left_out(trackers)
    for target in dict.fromkeys(targets):
        places = [k for k, each in enumerate(panel.targets) if each.name == target]
        notes = [note for note in panel.notes if note.target in places]
        total = len(places) * len(panel.datasets) * len(panel.systems)
        for flag, n in Counter(flag for note in notes for flag in note.flags).most_common():
            names = tuple(dict.fromkeys(panel.names[note.system] for note in notes if flag in note.flags))
            text = f"{flag} on {n} of {total} values of {target_title(target)}: {panel.words.get(flag, flag)}"
            yield HealthNote(kind="flagged_values", text=text, trackers=names)


def joint_only_trackers(trackers: Sequence[TrackerRow]) -> list[str]:
    """Core trackers without beliefs about single slots."""
    return [row.tracker for row in trackers if row.core and JOINT_ONLY in row.flags]


def joint_only_notes(names: Sequence[str], so: str = "") -> list[HealthNote]:
    """so: what follows from it."""
    if not names:
        return []
    text = f"joint hypotheses only, so that metrics of single slots say nothing of them{so}"
    return [
        HealthNote(kind="joint_only", text=f"{text}: {listing(names, MOST_NAMED)}", trackers=tuple(names))
    ]


def _left_out(trackers: Sequence[TrackerRow]) -> Iterator[HealthNote]:
    """Trackers that are not among the core, by why."""
    twins = [row for row in trackers if row.near_duplicate_of]
    if twins:
        pairs = [f"{row.tracker} of {row.near_duplicate_of}" for row in twins]
        text = f"near-duplicates count once: {listing(pairs, MOST_NAMED)}"
        names = tuple(row.tracker for row in twins)
        yield HealthNote(kind="near_duplicates", text=text, trackers=names)
    for kind, words in (
        ("degenerate", "degenerate on purpose, and so not among the core"),
        ("recalibrated", "copies of other trackers with transformed scores, and so not among the core"),
    ):
        names = tuple(row.tracker for row in trackers if getattr(row, kind))
        if names:
            yield HealthNote(kind=kind, text=f"{words}: {listing(names, MOST_NAMED)}", trackers=names)
    yield from joint_only_notes(joint_only_trackers(trackers), ", and such metrics are not in the verdict")
    flags = dict.fromkeys(flag for row in trackers for flag in row.flags if flag != JOINT_ONLY)
    for flag in flags:
        names = tuple(row.tracker for row in trackers if flag in row.flags)
        words = TRACKER_FLAGS.get(flag, f"are flagged {flag}")
        text = f"not among the core, since they {words}: {listing(names, MOST_NAMED)}"
        yield HealthNote(kind="flagged_trackers", text=text, trackers=names)
