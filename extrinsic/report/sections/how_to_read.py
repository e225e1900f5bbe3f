"""How to read all this, what not to conclude, and what made it."""

from __future__ import annotations

from collections import Counter

from extrinsic.report.drawing.page_parts import Partial, Section
from extrinsic.report.results.numbers import counted, listing
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.table_columns import NEEDED, clean


def section(study: Study) -> Section:
    stages = Counter(str(stage.get("stage", "")) for stage in study.manifest.get("stages", ()))
    values = {
        "study": study,
        "signature": clean(str(study.manifest.get("signature"))),
        "versions": {clean(str(k)): clean(str(v)) for k, v in study.manifest.get("versions", {}).items()},
        "stages": listing([f"{number} × {clean(name)}" for name, number in sorted(stages.items())]),
        "n_stages": counted(sum(stages.values()), "stage"),
        "config": "\n".join(map(clean, study.config.splitlines())),
        "tables": [f"{name}.csv" for name in NEEDED],
        "changed": study.changed,
    }
    return Section("reading", "How to read this", (Partial("reading.html", values),))
