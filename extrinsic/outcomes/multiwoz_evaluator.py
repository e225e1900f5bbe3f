"""`evaluator = "multiwoz"`: the states of systems under the responses of one generator or several.

`extrinsic evaluate` has its rows from here: inform, success and JGA, in all and by domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.formats import StateFormat, read_state_file
from extrinsic.corpus.formats.gold_states import dialog_key, read_predictions
from extrinsic.corpus.formats.state_files import State
from extrinsic.corpus.state_sets import StateReading
from extrinsic.errors import InputError, Problems, UsageError
from extrinsic.metrics.measuring import Source, measure
from extrinsic.metrics.state_metrics import JointGoalAccuracy
from extrinsic.outcomes.multiwoz import DialogOutcome, Task, active_domains, changed_domains, read_task
from extrinsic.outcomes.responses import DomainRule, Responses, read_responses
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash


@dataclass(frozen=True)
class MultiWOZ:
    """The options of `[outcomes.multiwoz]`.

    goals: the file of dialogs with their goals.   booked: which domains were booked by which turn.
    database: the folder of `<domain>_db.json`.   responses: a file for each generator.
    domains: which domains a response is about where its file does not say: `states` (whose slots changed, the
    standard evaluator's rule) or `responses` (that its placeholders name: the tracker cannot change them).
    """

    outcomes: ClassVar[tuple[str, ...]] = ("success", "inform")
    paths: ClassVar[tuple[str, ...]] = ("goals", "booked", "database", "responses")

    goals: str
    booked: str
    database: str
    responses: tuple[str, ...]
    domains: DomainRule = "states"

    def prepare(self) -> Prepared:
        if not self.responses:
            raise UsageError("outcomes.multiwoz.responses names no file")
        problems = Problems()
        generators = []
        for path in self.responses:
            try:
                generators.append(read_responses(path))
            except InputError as error:
                problems.extend(error.problems)
        names = [responses.name for responses in generators]
        for name in sorted({name for name in names if names.count(name) > 1}):
            problems.add(f"several files of responses are of one generator {name!r}")
        problems.raise_errors()
        return Prepared(read_task(self.goals, self.booked, self.database), tuple(generators), self.domains)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Goals, database and the responses of all generators."""

    task: Task
    responses: tuple[Responses, ...]
    domains: DomainRule

    @property
    def generators(self) -> tuple[str, ...]:
        return tuple(responses.name for responses in self.responses)

    @cached_property
    def signature(self) -> str:
        files = [responses.signature for responses in self.responses]
        return content_hash("multiwoz", self.task.signature, self.domains, *self.generators, *files)

    def evaluate(
        self, path: str, format: str, reading: StateReading, name: str, dialogs: Sequence[str]
    ) -> Floats:
        """(n_outcomes, n_generators, n_dialogs) success and inform of the states in a file."""
        states = read_predictions(FORMATS.get(format), path, reading)
        keys = [dialog_key(dialog) for dialog in dialogs]
        self.check(path, {dialog: len(states[dialog]) for dialog in keys})
        values = np.empty((2, len(self.responses), len(keys)))
        for number, dialog in enumerate(keys):
            for generator, outcome in enumerate(self.of_dialog(dialog, states[dialog])):
                values[:, generator, number] = outcome.success, outcome.inform
        return values

    def check(self, path: str, turns: Mapping[str, int]) -> None:
        """Raise InputError with every dialog that lacks a goal or responses, or has other turns.

        path: the file of states.   turns: how many each of its dialogs has.
        """
        problems = Problems(path)
        for name, n_turns in turns.items():
            dialog = dialog_key(name)
            if dialog not in self.task.goals:
                problems.add("there is no goal of this dialog", session=dialog)
                continue
            expected = "1 turn" if n_turns == 1 else f"{n_turns} turns"
            for responses in self.responses:
                what, answers = f"the responses of {responses.name!r}", responses.dialogs.get(dialog)
                place = {"path": responses.path, "session": dialog}
                if answers is None:
                    problems.add(f"{what} lack this dialog of {path}", **place)
                elif len(answers) != n_turns:
                    message, found = f"{what} have another number of turns than {path}", str(len(answers))
                    problems.add(message, **place, expected=expected, found=found)
            n_booked = len(self.task.booked[dialog])
            if n_booked < n_turns:
                message = "the bookings have fewer turns than the states"
                problems.add(message, session=dialog, expected=expected, found=str(n_booked))
        problems.raise_errors()

    def of_dialog(self, dialog: str, states: Sequence[State]) -> list[DialogOutcome]:
        """The outcome of a dialog under every generator's responses."""
        offers, outcomes = self.task.offers(dialog, states), []
        # The same for every generator that gives no domains of its own.
        changed = changed_domains(states) if self.domains == "states" else []
        for responses in self.responses:
            turns = responses.dialogs[dialog]
            by_states = self.domains == "states" and not responses.gives_domains
            active = changed if by_states else active_domains(turns)
            outcomes.append(self.task.outcome(dialog, offers, turns, active))
        return outcomes


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
    reached: dict[tuple[int, str], list[tuple[bool, bool]]] = {}
    for dialog in kept:
        for generator, outcome in enumerate(prepared.of_dialog(dialog, states[dialog])):
            reached.setdefault((generator, ALL), []).append((outcome.inform, outcome.success))
            for domain, informed in outcome.informed.items():
                success = outcome.inform and outcome.told[domain]
                reached.setdefault((generator, domain), []).append((informed, success))
    rows = []
    for generator, domain in sorted(reached, key=lambda key: (key[0], key[1] != ALL, key[1])):
        informs, successes = zip(*reached[generator, domain], strict=True)
        rows.append(
            EvaluationRow(
                system=name,
                generator=name if own else prepared.generators[generator],
                domain=domain,
                n=len(informs),
                inform=sum(informs) / len(informs),
                success=sum(successes) / len(informs),
                jga=accuracy.get(domain),
            )
        )
    return rows


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
    position = {dialog_key(dialog): number for number, dialog in enumerate(states.dialogs)}
    chosen = [position[dialog] for dialog in kept if dialog in position]
    measured = measure(Source(None, states.take(chosen)), [JointGoalAccuracy()], [1], [ALL, *states.domains])
    return {row.component: row.value for row in measured}
