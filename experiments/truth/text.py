"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.tables import markdown, read_csv

HEADS = (
    "estimator",
    "cells",
    "bias",
    "rmse",
    "r",
    "r_core",
    "above_observed",
    "above_low",
    "above_high",
    "coverage",
    "coverage_near",
    "infeasible",
    "flagged",
    "on_policy_gap",
)
TRIED = ("estimator", "cells", "bias", "rmse", "r", "r_core", "coverage")

TEXT = """# What are estimates of a policy's value worth?

`python -m experiments.truth` learns a policy on each tracker of `config.toml` in worlds not used while
building, values it on the test half by every estimator and plays it live. `python -m experiments.truth.tried`
compares variants on a seed that was used (7). `python -m experiments.truth.dstc2` values policies on real
DSTC2 trackers.

{table}

bias, rmse: of the estimate against the live return, in points, without the degenerate tracker. r: correlation
with the live return within (seed, dataset); r_core: without the degenerate tracker. above_observed: how much
r_core exceeds that of the expert's own return on the same dialogs, which knows nothing of the policy, with an
interval over resampled (seed, dataset) groups. coverage: 95 % intervals that hold the live return;
coverage_near: that do so when allowed the noise of the live return itself.
infeasible, flagged: how many values lie outside of what can be earned, and how many are flagged for anything.
"other proxies": two that share nothing with the expert's own tracker. A live return itself is known to
+- {noise:.1f}.

- `mean_augmented`: bias {mean[bias]:.1f}, error {mean[rmse]:.1f}, r {mean[r]:.3f} ({mean[r_core]:.3f} without
  the degenerate tracker), coverage {coverage:.0f} % ({near:.0f} % near). LSTD alone errs by
  {lstd_aug[bias]:+.1f}, trees by {fqe_aug[bias]:+.1f}.
- Plain LSTD, as Lee used it, is {lstd[bias]:.1f} too optimistic about the policies it learned, and hardly
  tells trackers apart (r_core {lstd[r_core]:.2f}). It flatters those whose scores say little: in their own
  state an offer that is wrong looks like one that is right.
- Importance sampling and what builds on it (is, wis, pdis, pdwis, dr, wdr) is flagged throughout: the
  effective sample size is a handful of dialogs.
- The expert's observed return, a null predictor, has r_core {observed[r_core]:.2f}. {verdict}

What was tried, on the seed used while building:

{tried}
"""


def describe(summary: list[dict[str, Any]], noise: float, tried: Path) -> str:
    by_name = {row["estimator"]: row for row in summary}
    mean, observed = by_name["mean_augmented"], by_name["observed"]
    return TEXT.format(
        table=markdown(summary, HEADS),
        noise=noise,
        mean=mean,
        coverage=100 * mean["coverage"],
        near=100 * mean["coverage_near"],
        lstd=by_name["lstd"],
        lstd_aug=by_name["lstd_augmented"],
        fqe_aug=by_name["fqe_augmented"],
        observed=observed,
        verdict=_verdict(mean),
        tried=markdown(read_csv(tried), TRIED) if tried.exists() else "(not run)",
    )


def _verdict(mean: dict[str, Any]) -> str:
    low, high = mean["above_low"], mean["above_high"]
    told = f"Against it mean_augmented has {mean['above_observed']:+.3f} [{low:+.3f}, {high:+.3f}]: "
    if low > 0:
        return told + "the estimate tells more about a policy than the logged return does."
    if high < 0:
        return told + "the logged return orders the trackers better than the estimate does."
    return told + "which of them orders the trackers better is not resolved."
