"""The rows of `extrinsic evaluate`: a system's inform, success and JGA, in all and by domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import msgspec

from extrinsic.corpus.formats import StateFormat, read_state_file
from extrinsic.corpus.formats.state_sets.gold_states import dialog_key
from extrinsic.corpus.formats.state_sets.predictions import read_predictions
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.errors import UsageError
from extrinsic.metrics.measuring import measure
from extrinsic.metrics.sources import Source
from extrinsic.metrics.state_metrics import JointGoalAccuracy
from extrinsic.outcomes.multiwoz_evaluator import Prepared

ALL = "all"


class EvaluationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A system under a generator: `all` dialogs, or those whose goal has a domain."""

    system: str
    generator: str
    domain: str
    n: int
    inform: float
    success: float
    jga: float | None = None


def evaluate_system(
    prepared: Prepared,
    form: StateFormat,
    path: str,
    name: str,
    reading: StateReading,
    goals: str,
    dialogs: Literal["same", "shared"] = "same",
    own: bool = False,
) -> list[EvaluationRow]:
    """Every generator's rows of a system; goals: the file whose gold states JGA takes if none was chosen.

    A domain's inform is that of its venues; its success needs the whole dialog informed, as in the standard
    evaluator. `own`: the generator is the system itself.
    """
    states = read_predictions(form, path, reading)
    kept = list(states)
    if dialogs == "shared":
        having = [prepared.task.goals, *(responses.dialogs for responses in prepared.responses)]
        kept = [dialog for dialog in states if all(dialog in mapping for mapping in having)]
    prepared.check(path, {dialog: len(states[dialog]) for dialog in kept})
    accuracy = _accuracy(form, path, name, reading, goals, kept)
    counts: dict[tuple[int, str], list[int]] = {}
    for dialog in kept:
        for generator, outcome in enumerate(prepared.of_dialog(dialog, states[dialog])):
            verdicts = {ALL: (outcome.inform, outcome.success)} | {
                domain: (outcome.informed[domain], outcome.inform and outcome.told[domain])
                for domain in outcome.informed
            }
            for domain, (inform, success) in verdicts.items():
                count = counts.setdefault((generator, domain), [0, 0, 0])
                count[0] += 1
                count[1] += inform
                count[2] += success
    order = sorted(counts, key=lambda key: (key[0], key[1] != ALL, key[1]))
    return [
        EvaluationRow(
            system=name,
            generator=name if own else prepared.generators[generator],
            domain=domain,
            n=counts[generator, domain][0],
            inform=counts[generator, domain][1] / counts[generator, domain][0],
            success=counts[generator, domain][2] / counts[generator, domain][0],
            jga=accuracy.get(domain),
        )
        for generator, domain in order
    ]


def _accuracy(
    form: StateFormat, path: str, name: str, reading: StateReading, goals: str, kept: Sequence[str]
) -> dict[str, float | None]:
    """Joint goal accuracy by component; nothing where there is no gold to choose without being told."""
    needs: tuple[str, ...] = getattr(form, "needs", ())
    if reading.gold is None and "gold" in needs:
        try:
            states = read_state_file(form, path, name, replace(reading, gold=goals))
        except UsageError:
            return {}
    else:
        states = read_state_file(form, path, name, reading)
    chosen = _positions(states, kept)
    measured = measure(Source(None, states.take(chosen)), [JointGoalAccuracy()], [1], [ALL, *states.domains])
    return {row.component: row.value for row in measured}


def _positions(states: StateSets, kept: Sequence[str]) -> list[int]:
    number = {dialog_key(dialog): position for position, dialog in enumerate(states.dialogs)}
    return [number[dialog] for dialog in kept if dialog in number]
