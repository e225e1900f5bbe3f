"""Outcomes of dialogs, computed: evaluators judge by states and responses whether users succeed."""

from extrinsic.registry import EVALUATORS

EVALUATORS.register(
    "multiwoz",
    "extrinsic.outcomes.multiwoz_evaluator:MultiWOZ",
    "inform and success of states x responses x goals x database, as MultiWOZ_Evaluation computes them",
)
