"""Worlds from which studies are drawn: systems of a population, what they earn, and what metrics say of them.

A system has a quality; on a dataset its value is that quality, something of its own there (`INTERACTION`)
and noise of the value. Metrics come in clusters of near-copies: those of a cluster misjudge the same systems
by the same errors, half of whose variance is shared by the datasets. A third of the metrics are rounded, so
that they have ties. How good a cluster is depends on the `quality` of the world, and what the systems and the
errors look like on its `shape`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints

INTERACTION, NOISE, COPY, TIES = 0.4, 0.2, 0.1, 0.4
"""In standard deviations of the systems; how far copies of a metric are apart; to what it is rounded."""

GROSS, ODD, PER_FAMILY, ALIKE = 0.08, 0.06, 3, 0.2
"""Share of systems that a cluster misjudges; of systems worse in everything; systems in a family, and how
far they are apart."""

SHAPES = {
    "normal": "qualities and errors are normal",
    "heavy": "both have Student's t with 3 degrees of freedom",
    "curved": "what a system earns grows exponentially with its quality",
    "two groups": "good systems and poor ones",
    "odd": f"{100 * ODD:.0f} % of the systems are worse in everything, by 5 standard deviations",
    "gross": f"each cluster of metrics misjudges {100 * GROSS:.0f} % of the systems at random",
    "hetero": "the errors of metrics grow with quality",
    "families": "near-copies among the systems, which are known",
    "copies": "near-copies among the systems, which are not known",
    "ceiling": "a third of the systems reach the most that can be earned",
    "aspects": "half of the clusters see one part of a skewed quality, the others another",
}

QUALITIES = {
    "good": "the best cluster has a share of .9, the others less, down to .3",
    "equal": "half of the clusters have .8, the others .7 to .3",
    "near 0": "half of the clusters have .99, the others .9 to .4",
    "poor": "the best has .5, the others less, down to 0",
    "unrelated": "no metric has anything to do with the values",
}


@dataclass(frozen=True)
class World:
    shape: str
    quality: str
    n_metrics: int
    n_datasets: int

    @property
    def shares(self) -> Floats:
        """(K,) how good each cluster is: its correlation where all is normal."""
        k = 6 if self.n_metrics < 100 else 15
        half = k // 2
        return np.asarray(
            {
                "good": np.linspace(0.9, 0.3, k),
                "equal": np.r_[np.full(half, 0.8), np.linspace(0.7, 0.3, k - half)],
                "near 0": np.r_[np.full(half, 0.99), np.linspace(0.9, 0.4, k - half)],
                "poor": np.linspace(0.5, 0.0, k),
                "unrelated": np.zeros(k),
            }[self.quality]
        )

    def draw(self, n: int, rng: np.random.Generator, apart: bool = False) -> tuple[Floats, Floats, Ints]:
        """Metrics (M, D, n), values (D, n) and families (n,); apart: every system is a family of its own."""
        k, d = len(self.shares), self.n_datasets
        in_families = self.shape in ("families", "copies") and not apart
        family = np.sort(rng.integers(0, -(-n // PER_FAMILY), n)) if in_families else np.arange(n)

        def normal(*shape: int) -> Floats:
            """(*shape, n): nearly the same for a family."""
            if self.shape == "heavy":
                return np.asarray(rng.standard_t(3, (*shape, n)) / np.sqrt(3.0))
            common = rng.normal(size=(*shape, n))
            if self.shape not in ("families", "copies"):
                return common
            own = rng.normal(size=(*shape, n))
            return np.asarray(np.sqrt(1.0 - ALIKE**2) * common[..., family] + ALIKE * own)

        core = normal()
        if self.shape == "two groups":
            core = 0.3 * core + np.where(rng.random(n) < 0.5, 0.95, -0.95)
        if self.shape == "odd":
            core = core - 5.0 * (rng.random(n) < ODD)
        if self.shape == "aspects":
            core = rng.gamma(2.0, 0.5, n) - rng.gamma(2.0, 0.5, n)
            parts = np.stack([core, rng.gamma(2.0, 0.5, n)])
            core = parts.sum(axis=0)
        quality = core + INTERACTION * normal(d)
        earned = np.exp(0.8 * quality) if self.shape == "curved" else quality
        if self.shape == "ceiling":
            earned = np.minimum(quality, 0.4)
        values = earned + NOISE * normal(d)
        seen = np.broadcast_to(quality, (k, d, n))
        if self.shape == "aspects":
            seen = parts[np.arange(k) % 2][:, None] * np.sqrt(2.0) + (quality - core)
        errors = np.sqrt(0.5) * (normal(k, 1) + normal(k, d)) * np.sqrt(1.0 + INTERACTION**2)
        if self.shape == "hetero":
            errors = errors * np.exp(0.8 * core - 0.64)
        shares = self.shares[:, None, None]
        clusters = shares * seen + np.sqrt(1.0 - shares**2) * errors
        if self.shape == "gross":
            clusters = np.where(rng.random((k, 1, n)) < GROSS, 3.0 * normal(k, d), clusters)
        m = np.arange(self.n_metrics)
        scores = clusters[m % k] + COPY * np.sqrt(1.0 - shares[m % k] ** 2) * normal(self.n_metrics, d)
        scores[1::3] = np.round(scores[1::3] / TIES) * TIES
        return scores, values, family
