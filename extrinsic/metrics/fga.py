"""Flexible goal accuracy: mistakes of earlier turns fade."""

import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import TurnMean, check_choice
from extrinsic.metrics.state_items import MULTIWOZ_SLOTS, StateItems
from extrinsic.printed_forms import value_text

PARAMETERS = ("lambda", "decay", "variant", "turns", "factor", "fill")

USUAL_DECAY = 0.5
"""The lambda of the paper's example and human evaluation."""


@dataclass(frozen=True)
class FlexibleGoalAccuracy(TurnMean):
    """`decay` is Dey's lambda: 0 is joint goal accuracy, infinity is turn match.

    `variant`: `published` (the authors' code) or `literal` (Algorithm 1 as printed, where a turn may be
    forgiven although no error came before it; it then counts from turn -1).
    `domains`: (domain, lambda) pairs; `decay` is for the others. Which turns are right, wrong by themselves
    or carry a mistake does not depend on them. A turn that carries mistakes, t - t_err turns after the last
    error, is forgiven at the smallest lambda among the domains with a slot that still differs: the strictest
    decides. Where all are x this is fga(x).
    """

    name: ClassVar[str] = "fga"
    formula: ClassVar[str] = (
        "mean over turns of 1 (match), 0 (the turn's own error) or 1 - exp(-lambda (t - t_err)); "
        "fga(hotel=0.5, taxi=1): lambda is the smallest of the domains that are still wrong"
    )
    citation: ClassVar[str] = "Dey et al. 2022, Algorithm 1"
    positional: ClassVar[str | None] = "decay"

    decay: float
    variant: str = "published"
    domains: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for name, decay in (("lambda", self.decay), *self.domains):
            if isinstance(decay, str) or not decay >= 0:
                what = name if name == "lambda" else f"the lambda of the domain {name!r}"
                raise UsageError(f"fga: {what} must be a number of at least 0", found=str(decay))
        object.__setattr__(self, "decay", float(self.decay))
        object.__setattr__(
            self, "domains", tuple(sorted((name, float(decay)) for name, decay in self.domains))
        )
        check_choice(self.name, "variant", self.variant, ("published", "literal"))

    def __str__(self) -> str:
        shown = [] if self.domains and self.decay == USUAL_DECAY else [value_text(self.decay)]
        shown += [f"{name}={value_text(decay)}" for name, decay in self.domains]
        shown += [f"variant={self.variant}"] if self.variant != "published" else []
        return f"{self.name}({', '.join(shown)})"

    def turn_scores(self, items: StateItems) -> Floats:
        errors = items.local_errors(literal=self.variant == "literal")
        turn = items.turn_in_dialog
        index = np.arange(len(turn))
        last_error = np.maximum.accumulate(np.where(errors, index, -1))
        since = np.where(last_error >= index - turn, index - last_error, turn + 1)
        # At an error itself nothing is forgiven; there 0 turns times an infinite lambda would be no number.
        forgiven = 1.0 - np.exp(-self._decay_of_turns(items) * np.maximum(since, 1))
        return np.where(items.match, 1.0, np.where(errors, 0.0, forgiven))

    def _decay_of_turns(self, items: StateItems) -> Floats | float:
        """(n_turns,) the smallest lambda of the domains wrong at each turn; a number if there is only one."""
        if not self.domains:
            return self.decay
        decays = dict(self.domains)
        has_domains = len(items.domains) == items.given_gold.shape[1]
        there = {*items.all_domains, *MULTIWOZ_SLOTS} if has_domains else set()
        for name in decays:
            if name not in there:
                raise UsageError(
                    f"{self}: these states have no domain {name!r}; {did_you_mean(name, there)}"
                    if there
                    else f"{self}: these states have no domains"
                )
        of_slots = np.array([decays.get(domain, self.decay) for domain in items.domains])
        return np.asarray(np.where(items.agrees, np.inf, of_slots).min(axis=1, initial=np.inf))


def decay_to_forget(turns: float, factor: float) -> float:
    """The lambda that forgets a mistake by `factor` after `turns` turns: -ln(1 - factor) / turns."""
    if not (turns > 0 and 0 <= factor < 1):
        raise UsageError(
            "fga: a mistake is forgotten over turns > 0 by a factor in [0, 1)", found=f"{turns}, {factor}"
        )
    return -math.log1p(-factor) / turns


def make_fga(
    decay: float | None = None,
    variant: str = "published",
    turns: float | None = None,
    factor: float | None = None,
    **domains: float,
) -> FlexibleGoalAccuracy:
    """`fga(0.5)`, or `fga(turns=6, factor=0.95)`; plain `fga` is the paper's lambda of 0.5.

    `fga(hotel=0.5, taxi=1)`: a lambda for each of these domains, and 0.5 (or the one given) for others.
    """
    for name in domains:
        # A mistyped parameter is no domain.
        if get_close_matches(name, PARAMETERS, cutoff=0.8):
            raise UsageError(f"the metric 'fga' has no parameter {name!r}; {did_you_mean(name, PARAMETERS)}")
    if turns is not None or factor is not None:
        if decay is not None or turns is None or factor is None:
            raise UsageError("fga takes a lambda, or both turns and factor")
        decay = decay_to_forget(turns, factor)
    return FlexibleGoalAccuracy(USUAL_DECAY if decay is None else decay, variant, tuple(domains.items()))
