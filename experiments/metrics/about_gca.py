"""Claims of Aksu and Chen 2024 and of its earlier version."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.metrics.both_traits import FIGURE_FORM, THIRDS
from experiments.metrics.files import SOM
from experiments.metrics.judging import Tally, of_counts, of_interval, span
from experiments.metrics.lookup import Claim, Tables, files_of, matches, whole_test, worked
from experiments.metrics.published import AGA, EARLIER, FGA, GCA, JGA, SA, TRAIT_R
from experiments.metrics.traits import LEFT_OUT
from experiments.tables import one


def claims(tables: Tables, systems: str) -> Iterator[Claim]:
    paper = "GCA"
    yield worked(tables, paper, "Aksu & Chen")
    yield worked(tables, f"{paper}, earlier", EARLIER)
    yield whole_test(tables, f"{paper}, earlier", EARLIER)
    files = files_of(tables["scores"])
    between = [max(row[JGA], row[FGA]) < row[GCA] < min(row[SA], row[AGA]) for row in files]
    absent = ", ".join(row["file"] for row, held in zip(files, between, strict=True) if not held) or "none"
    here = f"in {sum(between)} of {len(files)} files; not in {absent}"
    verdict = of_counts(sum(between), len(files) - sum(between), len(files))
    yield paper, "GCA lies above JGA and FGA, below SA and AGA", "full-shot", here, verdict
    for (trait, form), (fga, gca) in TRAIT_R.items():
        rows = [row for row in tables["traits"] if matches(row, trait=trait, form=form, faultless=LEFT_OUT)]
        of = files_of(rows)
        absolute = Tally(of, "absolute_low", "absolute_high")
        shown = [f"{name} {row[FGA]:.2f} and {row[GCA]:.2f}" for name, row in _named(rows, SOM, systems)]
        zou = Tally(of, "zou_low", "zou_high")
        here = f"{'; '.join(shown)}; by Zou {zou}, by absolute r {absolute} of {len(of)} files"
        claim = f"{trait} ({form}) correlates less with GCA than with FGA"
        yield paper, claim, f"r {fga:.2f} (FGA) and {gca:.2f} (GCA)", here, absolute.verdict
    for trait in ("TO", "NU"):
        low, *_, high = [row for row in tables["bins"] if matches(row, file=systems, trait=trait)]
        first, last = (span(row, "difference", decimals=1) for row in (low, high))
        bottom = high["difference_low"] - low["difference_high"]
        verdict = of_interval(bottom, high["difference_high"] - low["difference_low"])
        here = f"FGA - GCA from {first} to {last}, in percent"
        yield paper, f"FGA gains on GCA from low to high {trait}", "Fig. 4", here, verdict
    yield from _both_traits(tables, systems)


def _both_traits(tables: Tables, systems: str) -> Iterator[Claim]:
    paper = "GCA, earlier"
    of = files_of([row for row in tables["both_traits"] if row["form"] == FIGURE_FORM])
    tally = Tally(of, "difference_low", "difference_high")
    row = one(tables["both_traits"], file=systems, form=FIGURE_FORM)
    here = f"R {row[FGA]:.2f} (FGA) and {row[GCA]:.2f} (GCA) in the {systems}; {tally} of {len(of)} files"
    claim = "TO and NU together (2023) explain more of FGA than of GCA"
    yield paper, claim, "Fig. 1c", here, tally.verdict
    low, high = (one(tables["thirds"], file=systems, TO=third, NU=third) for third in (THIRDS[0], THIRDS[-1]))
    bottom = high["difference_low"] - low["difference_high"]
    verdict = of_interval(bottom, high["difference_high"] - low["difference_low"])
    first, last = (span(corner, "difference", decimals=1) for corner in (low, high))
    here = f"FGA - GCA from {first} to {last}, in percent"
    yield paper, "FGA gains on GCA from the low to the high end of both", "Fig. 1c", here, verdict


def _named(rows: list[dict[str, object]], *names: str) -> Iterator[tuple[str, dict[str, object]]]:
    return ((name, one(rows, file=name)) for name in names)
