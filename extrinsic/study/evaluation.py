"""The evaluating stage: the outcomes of one system's states under every generator, and its errors by slot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets
from extrinsic.errors import InputError
from extrinsic.outcomes import PreparedEvaluator
from extrinsic.plugins import hash_of_source
from extrinsic.registry import EVALUATORS
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.policy_spec import PolicyValue, PolicyValues
from extrinsic.study.settings import Component
from extrinsic.study.state_inputs import STATES_DATASET, StatesInput
from extrinsic.study.store import Result, Results, StageKey, code_version

OUTCOME = "outcome"
GENERATORS = "generators"
GENERATOR = "generator"
"""`generator.<name>`: the diagnostic that has a system's outcome under one of them."""

ERRORS = "errors"
KINDS = ("missed", "wrong", "overshot")


@dataclass(frozen=True)
class EvaluateTask:
    """Evaluate a file of states; signature: of the evaluator's own files when the study was planned.

    slots: those of all systems, for comparing their errors.
    """

    states: StatesInput
    evaluator: Component
    signature: str
    names: tuple[str, ...]
    dialogs: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]

    inputs: tuple[StageKey, ...] = ()

    @cached_property
    def key(self) -> StageKey:
        code = hash_of_source(EVALUATORS.get(self.evaluator.name))
        parts = (
            self.states.signature,
            self.signature,
            code,
            encode_json((self.names, self.dialogs, self.slots)),
        )
        return StageKey("evaluate", content_hash("evaluate", code_version(), *parts))

    @property
    def label(self) -> str:
        return f"outcomes of {self.states.name}"

    def run(self, results: Results) -> Result[PolicyValues]:
        prepared = prepared_evaluator(self.evaluator, self.signature)
        if prepared.signature != self.signature:
            raise InputError("the evaluator's files have changed since the study began; run it again")
        states = self.states.read(self.dialogs)
        everything = prepared.evaluate(
            self.states.path, self.states.format, self.states.reading, self.states.name, self.dialogs
        )
        available = EVALUATORS.get(self.evaluator.name).outcomes
        chosen = everything[[available.index(name) for name in self.names]]
        # A system's outcome is the mean over generators; a dialog's influence follows from the same means.
        by_dialog = chosen.mean(axis=1)
        values = tuple(
            PolicyValue(
                dataset=STATES_DATASET,
                policy=OUTCOME,
                estimator=name,
                mean=float(by_dialog[number].mean()),
                n=len(self.dialogs),
                diagnostics=dict(
                    zip(map(f"{GENERATOR}.{{}}".format, prepared.generators), means, strict=True)
                ),
            )
            for number, (name, means) in enumerate(zip(self.names, chosen.mean(axis=2).tolist(), strict=True))
        )
        arrays: dict[str, np.ndarray] = {
            f"influence{number}": (row - row.mean()) / len(row) for number, row in enumerate(by_dialog)
        }
        arrays[GENERATORS] = chosen
        arrays[ERRORS] = slot_errors(states, self.slots)
        return Result(PolicyValues(values, {}), arrays)


_PREPARED: dict[str, PreparedEvaluator] = {}
"""The evaluator that this process read last, by its signature: the stages of a study share it."""


def prepared_evaluator(evaluator: Component, signature: str | None = None) -> PreparedEvaluator:
    """The evaluator with its files read; signature: what they were when the study was planned."""
    if signature is None or signature not in _PREPARED:
        prepared: PreparedEvaluator = evaluator.make(EVALUATORS).prepare()
        _PREPARED.clear()
        _PREPARED[prepared.signature] = prepared
        return prepared
    return _PREPARED[signature]


def slot_errors(states: StateSets, slots: tuple[tuple[str, str], ...]) -> Floats:
    """(3, n_slots, n_dialogs) in what share of a dialog's turns each slot is missed, wrong, or overshot."""
    gold, predicted = (np.where(side == GIVEN_NONE, ABSENT, side) for side in (states.gold, states.predicted))
    in_gold, is_predicted = gold != ABSENT, predicted != ABSENT
    kinds = np.stack(
        [in_gold & ~is_predicted, in_gold & is_predicted & (gold != predicted), ~in_gold & is_predicted]
    )
    sums = np.add.reduceat(kinds, states.offsets[:-1], axis=1, dtype=np.float64)
    shares = np.moveaxis(sums / np.diff(states.offsets)[None, :, None], 1, 2)
    errors = np.zeros((len(kinds), len(slots), states.n_dialogs))
    errors[:, [slots.index(slot) for slot in states.slots]] = shares
    return errors
