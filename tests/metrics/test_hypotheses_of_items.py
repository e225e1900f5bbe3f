"""All hypotheses of items, as a metric of one's own sees them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

from extrinsic.arrays import Floats
from extrinsic.corpus.conventions import DSTC1
from extrinsic.errors import UsageError
from extrinsic.metrics import belief_items
from extrinsic.metrics.belief_items import ItemHypotheses, Items, brier_scores
from extrinsic.metrics.definition import HypothesisMean, Mean
from extrinsic.metrics.measuring import Source
from extrinsic.metrics.scoring import score
from extrinsic.registry import METRICS
from tests.metrics.calls import Turn, files_of
from tests.metrics.reading import Files, files_of_any_format, read, read_dstc1

C, D = {"route": "61c"}, {"route": "61d"}


class MyBrier(HypothesisMean):
    name: ClassVar[str] = "my_brier"
    formula: ClassVar[str] = "the Brier score, from the hypotheses"
    citation: ClassVar[str] = "ours"

    def item_scores(self, hypotheses: ItemHypotheses) -> Floats:
        return brier_scores(hypotheses)


class MassOfNone(HypothesisMean):
    """Only of items with several hypotheses."""

    name: ClassVar[str] = "mass_of_none"
    formula: ClassVar[str] = "mean score of None where it is not alone"
    citation: ClassVar[str] = "ours"

    def item_scores(self, hypotheses: ItemHypotheses) -> Floats:
        mass = hypotheses.sum_by_item(np.where(hypotheses.is_none, hypotheses.score, 0.0))
        return np.where(np.diff(hypotheses.offsets) > 1, mass, np.nan)


class MyBrierByHand(Mean):
    """The same from `items.hypotheses`, without a base class that does the sums."""

    name: ClassVar[str] = "by_hand"
    formula: ClassVar[str] = "the Brier score, summed by itself"
    citation: ClassVar[str] = "ours"
    kind: ClassVar[str] = "belief"

    def statistics(self, items: Items) -> Floats:
        size = items.n_dialogs
        scores = brier_scores(items.hypotheses)
        totals = np.bincount(items.dialog_of_item, scores, minlength=size)
        return np.stack([totals, np.bincount(items.dialog_of_item, minlength=size)], axis=1)


@pytest.fixture
def plugins() -> Any:
    chosen = (MyBrier, MassOfNone)
    for metric in chosen:
        METRICS.register(metric.name, metric, metric.formula)
    yield
    for metric in chosen:
        METRICS.unregister(metric.name)


def test_a_plugin_metric_scores_and_resamples(plugins: Any) -> None:
    corpus, output = read_dstc1(
        files_of(
            [Turn({"route": [(0.5, C), (0.25, D)]}), Turn({"route": [(0.75, C)]}, right=[C])],
            [Turn({"route": [(0.5, D)]})],
        )
    )
    scores = score(corpus, output, metrics=["my_brier", "mass_of_none", "brier"], bootstrap=20)
    rows = {(row.metric, row.component, row.schedule): row for row in scores.rows}
    assert rows["mass_of_none", "route", 1].value == pytest.approx((0.25 + 0.25 + 0.5) / 3)
    assert (rows["mass_of_none", "all", 1].n, rows["mass_of_none", "from.desc", 1].value) == (3, None)
    for component in ("route", "all", "joint"):
        mine, built_in = rows["my_brier", component, 1], rows["brier", component, 1]
        assert (mine.value, mine.low, mine.high) == pytest.approx(
            (built_in.value, built_in.low, built_in.high)
        )


@settings(max_examples=40)
@given(files_of_any_format())
def test_hypotheses_give_the_brier_score_everywhere(files: Files) -> None:
    """Every component, schedule, label scheme: joints of independent slots are listed, too."""
    source = read(files)
    for table in source.belief_tables:
        for component in table.components:
            for schedule in table.schedules:
                items = table.select(component, schedule)
                expected = np.stack([items.sum_by_dialog("brier"), items.count_by_dialog], axis=1)
                assert MyBrier().statistics(items) == pytest.approx(expected, abs=1e-12)
                assert len(items.hypotheses) == items.count
                if items.count:
                    assert MyBrierByHand().statistics(items) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(files_of_any_format())
def test_they_are_ranked_with_none_among_them(files: Files) -> None:
    for table in read(files).belief_tables:
        for part in table.hypotheses:
            hypotheses = part.hypotheses
            assert (hypotheses.sum_by_item(hypotheses.is_none) == 1).all()
            rising = np.diff(hypotheses.score) > 0
            rising[hypotheses.offsets[1:-1] - 1] = False
            assert not rising.any()
            # A product's last bit may differ from that of the closed form, and with it a tie.
            top = hypotheses.score[hypotheses.offsets[:-1]]
            assert top == pytest.approx(table.top_score[:, part.columns].ravel(), abs=1e-12)


def test_nothing_is_listed_unless_a_metric_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, output = read_dstc1(files_of([Turn({"route": [(0.5, C)]})]))
    source = Source(corpus, output)
    (table,) = source.belief_tables
    for field in table.fields:
        table.sums(field, 1)
    assert not any("hypotheses" in vars(part) for part in table.hypotheses)


def test_a_product_too_long_to_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_items, "MOST_PRODUCTS", 3)
    pair = ItemHypotheses(np.array([0, 2, 4]), np.full(4, 0.5), np.zeros(4, bool), np.zeros(4, bool))
    with pytest.raises(UsageError, match="4 hypotheses, too many"):
        belief_items.products_of_slots(pair, 2, np.array([0]))


def test_items_without_hypotheses_are_named(plugins: Any) -> None:
    corpus, output = read_dstc1(files_of([Turn({"route": [(0.5, C)]})]))
    source = Source(corpus, output)
    object.__setattr__(source.belief_tables[0], "hypotheses", ())
    with pytest.raises(UsageError, match=f"my_brier is not defined for {DSTC1.name}"):
        source.tables(MyBrier())
