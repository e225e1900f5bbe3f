"""A metric's printed form is its identity and what the user types."""

from __future__ import annotations

import pytest

from extrinsic.corpus.conventions import DSTC1, DSTC2, STATE_SETS
from extrinsic.corpus.hypotheses import Fill
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import Filled, Metric, parse_metric
from extrinsic.registry import METRICS

VARIANTS = (
    "fga(0)",
    "fga(2, variant=literal)",
    "fga(inf)",
    "fga(0.12345678)",
    "gca(weights=plain)",
    "gca(drops=once)",
    "gca(similarity=edit)",
    "gca(drops=once, similarity=words)",
    "gca(weights=plain, drops=once)",
    "changes(missed)",
    "changes(correct, drops=once)",
    "turn_errors(own)",
    "turn_errors(carried)",
    "first_error(relative)",
    "slot_accuracy(37)",
    "jga(fill=argmax)",
    "jga(fill=threshold)",
    "jga(fill=threshold:0.7)",
    "jga(fill=threshold:0.12345678)",
    "fga(0.5, fill=argmax)",
    "gca(weights=plain, fill=threshold:0.25)",
)

NEEDS_A_PARAMETER = {
    "changes": "changes(wrong)",
    "turn_errors": "turn_errors(own)",
    "own": "own(judge)",
    "sentinel": "sentinel(noise)",
}


@pytest.mark.parametrize("text", sorted({*DSTC1.metrics, *DSTC2.metrics, *STATE_SETS.metrics, *VARIANTS}))
def test_the_printed_form_is_what_was_typed(text: str) -> None:
    metric = parse_metric(text)
    assert str(metric) == text
    assert parse_metric(str(metric)) == metric


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("fga", "fga(0.5)"),
        ("fga()", "fga(0.5)"),
        ("fga(decay=0.75)", "fga(0.75)"),
        ("fga(.5, variant=published)", "fga(0.5)"),
        ("  fga ( 1.0 )  ", "fga(1)"),
        ("gca(weights=counts)", "gca"),
        ("gca(drops=once, weights=plain)", "gca(weights=plain, drops=once)"),
        ("improved_average_goal_accuracy(union)", "improved_average_goal_accuracy"),
        ("tail_orientation(2024)", "tail_orientation"),
        ("first_error(turn)", "first_error"),
        ("jga(fill=threshold:0.5)", "jga(fill=threshold)"),
        ("fga(taxi=1, hotel=0.5)", "fga(hotel=0.5, taxi=1)"),
        ("fga(0.5, taxi=1)", "fga(taxi=1)"),
        ("fga(2, taxi=1.0)", "fga(2, taxi=1)"),
        ("fga(turns=1, factor=0, taxi=1)", "fga(0, taxi=1)"),
        ("fga(taxi=1, variant=literal)", "fga(taxi=1, variant=literal)"),
    ],
)
def test_defaults_are_not_printed(typed: str, printed: str) -> None:
    assert str(parse_metric(typed)) == printed
    assert parse_metric(printed) == parse_metric(typed)


def test_what_is_read_off_the_text() -> None:
    metric = parse_metric("fga(turns=6, factor=0.95)")
    assert parse_metric(str(metric)) == metric
    filled = Filled(parse_metric("fga(0.5)"), Fill("threshold", 0.7))  # type: ignore[arg-type]
    assert parse_metric("fga(0.5, fill=threshold:0.7)") == filled


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acuracy", "did you mean 'accuracy'?"),
        ("nothing_like_it", "available: accuracy"),
        ("fga(lambada=1)", "no parameter 'lambada'; did you mean 'lambda'?"),
        ("fga(varient=literal)", "did you mean 'variant'?"),
        ("jga(weights=plain)", "no parameter 'weights'"),
        ("fga(-0.5)", "lambda must be a number of at least 0 (found -0.5)"),
        ("fga(nan)", "lambda must be a number"),
        ("fga(abc)", "lambda must be a number"),
        ("fga(0.5, variant=litteral)", "did you mean 'literal'?"),
        ("fga(0.5, 0.6)", "one value without a name"),
        ("jga(1)", "no value without a name"),
        ("fga(turns=6)", "both turns and factor"),
        ("fga(0.5, turns=6, factor=0.95)", "both turns and factor"),
        ("fga(turns=0, factor=0.95)", "turns > 0"),
        ("fga(turns=6, factor=1)", "factor in [0, 1)"),
        ("fga(turns=six, factor=0.95)", "fga"),
        ("fga(variant=literal, variant=published)", "'variant' occurs twice"),
        ("jga(fill=argmax, fill=threshold)", "'fill' occurs twice"),
        ("fga(0.5, decay=0.5)", "decay"),
        ("fga(lambdas=1)", "no parameter 'lambdas'; did you mean 'lambda'"),
        ("fga(spa=literal)", "the lambda of the domain 'spa' must be a number"),
        ("fga(hotel=-1)", "'hotel' must be a number of at least 0"),
        ("fga(hotel=nan)", "at least 0"),
        ("fga(hotel=1, hotel=2)", "occurs twice"),
        ("gca(weights=plane)", "did you mean 'plain'?"),
        ("gca(drops=thrice)", "did you mean 'twice'?"),
        ("changes", "which"),
        ("changes(mised)", "did you mean 'missed'?"),
        ("turn_errors(other)", "available: carried, own"),
        ("tail_orientation(2022)", "no form '2022'"),
        ("slot_accuracy(0)", "whole number above 0"),
        ("slot_accuracy(many)", "whole number above 0"),
        ("jga(fill=argmin)", "did you mean 'argmax'?"),
        ("jga(fill=threshold:1.5)", "must lie in [0, 1]"),
        ("jga(fill=threshold:-0.1)", "must lie in [0, 1]"),
        ("jga(fill=threshold:nan)", "must lie in [0, 1]"),
        ("jga(fill=threshold:half)", "must be a number"),
        ("jga(fill=argmax:0.7)", "argmax"),
        ("accuracy(fill=argmax)", "takes no fill rule"),
        ("", "is not a metric"),
        ("fga(0.5", "is not a metric"),
        ("fga)0.5(", "is not a metric"),
        ("fga(0.5))", "is not a metric"),
        ("fga(0.5) jga", "is not a metric"),
        ("7", "there is no metric '7'"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_metric(text)
    assert said in str(refusal.value)


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_says_what_it_is(name: str) -> None:
    metric = parse_metric(NEEDS_A_PARAMETER.get(name, name))
    assert isinstance(metric, Metric)
    assert metric.name == name
    assert metric.kind in ("belief", "state")
    assert metric.higher_is_better in (True, False, None)
    assert len(metric.formula) > 10
    # An author and a year, so that a reader can look it up.
    assert any(character.isdigit() for character in metric.citation)


LOWER_IS_BETTER = {
    *("l2", "l2.lee", "brier", "l2.binary", "neglogp", "roc.v1_eer", "roc.v1_eer_lee"),
    *("changes(missed)", "turn_errors(own)", "turn_errors(carried)"),
}


def test_directions() -> None:
    """A filled metric has that of the metric; some describe, and do not judge."""
    texts = {*DSTC1.metrics, *DSTC2.metrics, *STATE_SETS.metrics, *VARIANTS}
    assert {text for text in texts if parse_metric(text).higher_is_better is False} == LOWER_IS_BETTER
    assert parse_metric("jga(fill=argmax)").higher_is_better is True
    assert parse_metric("changes(wrong, fill=argmax)").higher_is_better is False
    assert parse_metric("gca(fill=argmax)").whole_dialogs
    for name in ("tail_orientation", "non_uniformity", "first_error", "nonempty", "hypothesis_count"):
        assert parse_metric(name).higher_is_better is None
