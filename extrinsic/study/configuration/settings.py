"""The settings of a study: one TOML file, every key typed, most with a default.

Dialogs come from exactly one of [simulation], [corpus] and [states]. The other tables
say what is computed.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from extrinsic.bounds import Count, Share, Whole
from extrinsic.corpus.state_sets import StateReading
from extrinsic.correlation.coefficients import COEFFICIENTS, Coefficient
from extrinsic.correlation.intervals import IntervalMethod

Option = bool | int | float | str | tuple[str, ...]
"""The value of an option in a TOML file."""

Options = dict[str, Option]
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of settings."""


class SimulationTable(Table, frozen=True):
    """Dialogs of a simulated world; policies can be played live there."""

    world: str = "bus"
    """Which kind of world: `extrinsic ls worlds`."""
    config: str | None = None
    """A file of settings for it (of bus: as for `extrinsic simulate`); without it, the embedded ones."""
    seed: Whole | None = None
    """Another seed than the file's: other callers in the same world."""
    datasets: tuple[str, ...] = ()
    """Which datasets; none: all of the file."""
    train: str = "train"
    test: str = "test"


class DatasetTable(Table, frozen=True):
    """A dataset of a corpus on disk: two lists of sessions."""

    train: str
    test: str


class CorpusTable(Table, frozen=True):
    """Dialogs on disk, in a challenge's own format."""

    format: str
    path: str
    domain: str | None = None
    train: str | None = None
    test: str | None = None
    datasets_by: str | None = None
    """A condition (e.g. `directory`) whose values divide the test dialogs into datasets."""
    datasets: dict[str, DatasetTable] = {}
    """Instead of train and test: several datasets, each with its own two lists."""
    dialogs: str | None = None
    """Instead of train and test: one list of sessions, divided by chance."""
    split: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] = 0.5
    """The share of `dialogs` that policies learn from."""
    splits: Count = 1
    """How many divisions; each is a dataset of its own: split1, split2, ..."""
    both_ways: bool = False
    """Every division also the other way round: learned on the test dialogs, valued on the training ones."""
    split_seed: Whole = 0
    exclude: bool = True
    """Leave out the dialogs that the domain excludes: of bus, calls with a restart or an apology."""


class StatesTable(Table, frozen=True):
    """Files of predicted and gold states: one system each, no policy."""

    files: tuple[str, ...]
    format: str = "state-sets"
    dialogs: Literal["same", "shared"] = "same"
    """`same`: refuse systems over different dialogs. `shared`: take the dialogs that all systems have."""
    gold: str | None = None
    """The file or directory of the gold states, where the files hold predictions alone."""
    fuzzy: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    """The similarity from which on values of open slots count as equal; none: equal text."""

    @property
    def reading(self) -> StateReading:
        return StateReading(self.gold, self.fuzzy)


class OutcomesTable(Table, frozen=True):
    """A table (.csv, .csv.gz) of outcomes: one row per system, or per system and dialog."""

    file: str
    names: tuple[str, ...]
    """The columns that are outcomes, higher is better."""
    system: str = "system"
    dialog: str | None = None
    """The column of dialog ids; without it the rows are of whole systems."""
    dataset: str | None = None
    """The column that names the dataset, where there are several."""
    rater: str | None = None
    """The column of people, where several rated a dialog: its outcome is their mean."""
    turn: str | None = None
    """The column of turn numbers, where people rated turns: a dialog's outcome is the mean of its turns."""
    scale: tuple[float, float] | None = None
    """The lowest and highest outcome there can be."""


class TrackerFilesTable(Table, frozen=True):
    """Where tracker files lie: `{tracker}`, `{dataset}` and `{list}` (of sessions) are replaced."""

    names: tuple[str, ...]
    test: str
    train: str | None = None


class TrackersTable(Table, frozen=True):
    """The trackers that are compared."""

    built_in: tuple[str, ...] = ()
    """Names of `extrinsic ls trackers`, or `all`."""
    files: TrackerFilesTable | None = None
    degenerate: tuple[str, ...] = ()
    recalibrated: tuple[str, ...] = ()
    """In addition to those that declare it; left out of the core trackers."""
    near_duplicate: Share = 0.98
    """Trackers whose beliefs agree at least this much count as one among the core trackers."""


class MetricsTable(Table, frozen=True):
    """The metrics of the trackers."""

    names: tuple[str, ...] = ()
    """Printed forms; none: all that belong to the format."""
    schedules: tuple[int, ...] = ()
    components: tuple[str, ...] = ()
    """None: `joint` and `all` of dstc1, `goal.joint` and `goal.all` of dstc2, `state` and `all` of states."""
    label_scheme: str | None = None
    """Of dstc2: a or b; none: a."""
    fill: tuple[str, ...] = ()
    """Fill rules by which beliefs are also scored with the state-set metrics."""


class PolicyTable(Table, frozen=True):
    """How policies are learned; options of a learner or behaviour model go in `[policy.<its name>]`."""

    learner: str | tuple[str, ...] = "kernel_lspi"
    """Of `extrinsic ls learners`. Each of several is a variant of its own, as fill rules are."""
    features: str | tuple[str, ...] = "compact"
    conditions: bool = True
    policies: tuple[Literal["rl", "sl", "sl_sampled"], ...] = ("rl", "sl", "sl_sampled")
    """Learned; imitated by the likeliest act; imitated by drawing."""
    behaviour: str = "logistic"
    """The model of how the logged system acts, for the filter and for imitation: `ls behaviours`."""
    threshold: Share = 0.1
    """Of the filter: acts that the logged system takes less often than this are not considered."""
    keep: bool = False
    """Write every policy to policies/<dataset>/ of the run: `extrinsic play`, `Run.policy`."""
    tables: dict[str, Options] = {}
    """The tables `[policy.<name>]`, by the name of the learner or behaviour model."""

    @property
    def learners(self) -> tuple[str, ...]:
        return (self.learner,) if isinstance(self.learner, str) else self.learner


class RewardTable(Table, frozen=True):
    """What a dialog earns. An option that is left out has the domain's default."""

    kind: str = "concepts"
    """Of `extrinsic ls rewards`."""
    fill: tuple[str, ...] = ("argmax", "threshold")
    """When a belief counts as filled. Each rule is a variant of its own: it can decide which metric wins.
    Rewards without an option `fill` do not take it."""
    options: Options = {}
    """Every other key of the table: the options of this reward."""


class ValueTable(Table, frozen=True):
    """How the values of policies are estimated; `[value.<name>]` are the options of an estimator."""

    estimators: tuple[str, ...] = ("mean_augmented", "lstd_augmented", "fqe_augmented", "lstd", "live")
    proxies: tuple[str, ...] = ("hwu", "baseline")
    live_dialogs: Count = 2000
    on_policy: bool = True
    """Also estimate the value of the logged policy, whose return is known."""
    placebo: bool = False
    """Also learn from shuffled actions: a gain there is due to the method, not to the policy."""
    tables: dict[str, Options] = {}
    """The tables `[value.<name>]`, by the name of the estimator."""


class CorrelationTable(Table, frozen=True):
    """How metrics are correlated with targets."""

    primary: str | None = None
    """The target of pairs, composites, stability and the answer; none: live, else mean_augmented, else the
    first."""
    targets: tuple[str, ...] = ()
    """`rl.live`, `behaviour.observed`, `outcome.success`, ...; none: all there are of rl and of behaviour."""
    coefficients: tuple[Coefficient, ...] = COEFFICIENTS
    coefficient: Coefficient = "pearson"
    """The one that ranks metrics."""
    resamples: Annotated[int, msgspec.Meta(ge=100)] = 1000
    permutations: Annotated[int, msgspec.Meta(ge=99)] = 4999
    interval: IntervalMethod = "percentile"
    level: Annotated[float, msgspec.Meta(gt=0.5, lt=1.0)] = 0.95
    subsets: Count = 200
    """Of trackers, for the stability curve."""


class SensitivityTable(Table, frozen=True):
    """Other settings to try, one at a time, around the study's first variant."""

    vary: dict[str, tuple[Option, ...]] = {}
    """Values for keys of [policy], [reward], [value]: `vary = {"policy.kernel_lspi.ridge" = [10, 1000]}`."""
    target: str | None = None
    """None: the primary target."""


class GridTable(Table, frozen=True):
    """The policies that `extrinsic policies` compares: each learner of [policy] with each fill rule of
    [reward] and each combination of `vary`, on every tracker."""

    vary: dict[str, tuple[Option, ...]] = {}
    """Values for keys of [policy] and [reward]: `vary = {"policy.features" = ["compact", "grouped"]}`."""
    baseline: str | dict[str, Option] = "logged"
    """What policies are compared to: `logged`, a learner, or settings of the grid; else as in each row."""
    estimator: str | None = None
    """The one that orders the policies and values the learning curve; none: live, else the first."""
    curve: tuple[Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)], ...] = ()
    """Shares of the training dialogs from which every policy is learned as well: the learning curve."""


class StudySettings(Table, frozen=True):
    """A whole study."""

    name: Name
    seed: Whole = 0
    description: str = ""
    plugins: tuple[str, ...] = ()
    """Python files to import first: they register your own trackers, metrics, learners, formats, ..."""
    simulation: SimulationTable | None = None
    corpus: CorpusTable | None = None
    states: StatesTable | None = None
    outcomes: OutcomesTable | None = None
    trackers: TrackersTable = TrackersTable()
    metrics: MetricsTable = MetricsTable()
    policy: PolicyTable = PolicyTable()
    reward: RewardTable = RewardTable()
    value: ValueTable = ValueTable()
    correlation: CorrelationTable = CorrelationTable()
    sensitivity: SensitivityTable = SensitivityTable()
    grid: GridTable | None = None
