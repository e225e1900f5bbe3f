"""The fast implementation agrees with the plain one on random corpora: every metric, schedule, component."""

from __future__ import annotations

from hypothesis import given, settings

from extrinsic.corpus.conventions import DSTC2
from extrinsic.metrics.scoring import score
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles
from tests.metrics.reading import assert_close, assert_same, keyed, read_dstc1, read_dstc2, read_states
from tests.oracles import dstc1, dstc2, state_changes, state_sets
from tests.strategies import dstc1_files, dstc2_files, state_set_files

N_EXAMPLES = 60


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(dstc1_files(max_dialogs=4))
def test_dstc1(files: Dstc1Files) -> None:
    ours = score(*read_dstc1(files))
    theirs = dstc1.score(list(files.logs.values()), list(files.labels.values()), files.tracker, files.dataset)
    assert_same(keyed(ours.rows), keyed(theirs))


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(dstc2_files(max_dialogs=4))
def test_dstc2(files: Dstc2Files) -> None:
    ours = score(*read_dstc2(files), metrics=[*DSTC2.metrics, "brier"])
    theirs = dstc2.score(
        list(files.logs.values()), list(files.labels.values()), files.tracker, files.ontology
    )
    assert_same(keyed(ours.rows), keyed(theirs))


@settings(max_examples=2 * N_EXAMPLES, deadline=None)
@given(state_set_files(max_dialogs=4))
def test_state_sets(files: StateSetFiles) -> None:
    states = read_states(files)
    corpus = files.states
    for component in ("all", *states.domains):
        part = corpus if component == "all" else state_sets.restrict_to_domain(corpus, component)
        n_slots = 30 if component == "all" else {"hotel": 10, "taxi": 4, "train": 6}[component]
        expected = {
            "jga": state_sets.jga(part),
            "slot_accuracy": state_sets.slot_accuracy(part, n_slots),
            "relative_slot_accuracy": state_sets.relative_slot_accuracy(part),
            "average_goal_accuracy": state_sets.average_goal_accuracy(part),
            "improved_average_goal_accuracy": state_sets.improved_average_goal_accuracy(part),
            "improved_average_goal_accuracy(published)": (
                state_sets.improved_average_goal_accuracy_published(part)
            ),
            "slot_f1": state_sets.slot_f1(part),
            "turn_match": state_sets.turn_match(part),
            "fga(0)": state_sets.fga(part, 0.0),
            "fga(0.5)": state_sets.fga(part, 0.5),
            "fga(0.5, variant=literal)": state_sets.fga(part, 0.5, literal=True),
            "gca": state_changes.gca(part),
            "gca(weights=plain)": state_changes.gca(part, weights="plain"),
            "gca(drops=once)": state_changes.gca(part, count_double_drops_once=True),
            "tail_orientation": mean_of(part, state_changes.tail_orientation),
            "tail_orientation(2023)": mean_of(part, state_changes.tail_orientation_summed),
            "non_uniformity": mean_of(part, state_changes.non_uniformity),
            "non_uniformity(2023)": mean_of(part, state_changes.non_uniformity_squared),
            "first_error": mean_of(part, state_sets.first_joint_error),
        }
        counts = state_changes.gca_counts(part)
        expected |= {f"changes({kind})": float(getattr(counts, kind)) for kind in counts._fields}
        rows = score(states, metrics=list(expected), components=[component], schedules=[1]).rows
        assert_close({row.metric: row.value for row in rows}, expected)


def mean_of(corpus, trait) -> float | None:  # type: ignore[no-untyped-def]
    found = [value for value in map(trait, corpus.values()) if value is not None]
    return sum(found) / len(found) if found else None
