"""The settings of a study: one TOML file, every key typed, most with a default.

Dialogs come from exactly one of [simulation], [corpus] and [states]. The other tables
say what is computed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from extrinsic.corpus.state_sets import StateReading
from extrinsic.registry import REWARDS, Registry
from extrinsic.typed_files import Count, Share, Whole, option_names
from extrinsic.verdict.coefficients import COEFFICIENTS, Coefficient

Option = bool | int | float | str | tuple[bool | int | float | str, ...]
"""The value of an option in a TOML file."""

Options = dict[str, Option]
Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]*\Z")]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of settings."""


class Component(msgspec.Struct, frozen=True):
    """A thing of a registry as a study has it: small, plain, and the same in every process."""

    name: str
    options: Options = {}

    def make(self, registry: Registry[Any]) -> Any:
        """The config that the registry has under this name, with the options set."""
        return msgspec.convert(dict(self.options), registry.get(self.name))


class NamingTable(Table, frozen=True):
    """A table that names what is registered; `[policy.<name>]` has the options of a name."""

    options: dict[str, Options] = {}
    """By name, every option with its value, defaults filled in; those without a value are left out."""

    def component(self, name: str) -> Component:
        return Component(name, self.options.get(name, {}))


class WorldsTable(Table, frozen=True):
    """Worlds drawn from ranges of their properties: `extrinsic ls worlds bus`."""

    draws: Count
    base: tuple[str, ...] = ()
    """The datasets that they are drawn around, in turn; none: the first of the file."""
    ranges: dict[str, tuple[float, float]] = {}
    """The lowest and highest value of each property that is drawn; none: all, in their own ranges."""
    seed: Whole = 0


class SimulationTable(Table, frozen=True):
    """Dialogs of a simulated world; policies can be played live there."""

    world: str = "bus"
    """Which kind of world: `extrinsic ls worlds`."""
    config: str | None = None
    """A file of settings for it (of bus: as for `extrinsic simulate`); without it, the embedded ones."""
    seed: Whole | None = None
    """Another seed than the file's: other callers in the same world."""
    datasets: tuple[str, ...] = ()
    """Which datasets; none: all of the file, or the drawn worlds. `ds1(noise=0.3)` is ds1 with more noise."""
    worlds: WorldsTable | None = None
    """Further datasets: worlds drawn from ranges."""
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
    normalise: str | None = None
    """A rule that makes values alike on both sides (multiwoz_eval, trade, trippy, strict), or its file."""
    dontcare: Literal["keep", "drop", "drop_gold"] | None = None
    gold_name: str | None = None
    """Which gold, where the file has several."""
    own_gold: bool = False
    """Every system has a gold of its own; otherwise gold that differs between systems is an error."""

    @property
    def reading(self) -> StateReading:
        return StateReading(self.gold, self.fuzzy, self.normalise, self.dontcare, self.gold_name)


class OutcomesTable(NamingTable, frozen=True, kw_only=True):
    """Outcomes of dialogs: a table (.csv, .csv.gz) by system, dialog or trial, or an evaluator."""

    names: tuple[str, ...]
    """The columns that are outcomes, higher is better; of an evaluator, which of its outcomes."""
    file: str | None = None
    evaluator_name: str | None = msgspec.field(default=None, name="evaluator")
    """Instead of a file: of `extrinsic ls evaluators`, with its options in `[outcomes.<name>]`."""
    system: str = "system"
    dialog: str | None = None
    """The column of dialog ids; without it the rows are of whole systems."""
    dataset: str | None = None
    """The column that names the dataset, where there are several."""
    rater: str | None = None
    """The column of people, where several rated a dialog: its outcome is their mean."""
    turn: str | None = None
    """The column of turn numbers, where people rated turns: a dialog's outcome is the mean of its turns."""
    trial: str | None = None
    """The column of trials, where a system played a dialog several times: its outcome is their mean."""
    pass_k: tuple[Count, ...] = ()
    """Also the chance that k trials all succeed, as outcomes `<name>.pass<k>`."""
    scale: tuple[float, float] | None = None
    """The lowest and highest outcome there can be."""
    unknown: Literal["error", "ignore"] = "error"
    """Rows of systems or dialogs that the study does not have."""

    @property
    def evaluator(self) -> Component | None:
        return None if self.evaluator_name is None else self.component(self.evaluator_name)

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of all outcomes."""
        return tuple(
            name for outcome in self.names for name in (outcome, *(f"{outcome}.pass{k}" for k in self.pass_k))
        )


class ScoresTable(Table, frozen=True):
    """Scores of one's own (a judge's, BLEU, a calibration error): a table whose columns become metrics."""

    file: str
    names: tuple[str, ...]
    """The columns that are scores: the metrics `own(<name>)`."""
    lower_is_better: tuple[str, ...] = ()
    """Those of them that are errors."""
    system: str = "system"
    dialog: str = "dialog"
    turn: str | None = None
    """The column of turn numbers, where turns were scored."""


class TrackerFilesTable(Table, frozen=True):
    """Where tracker files lie: `{tracker}`, `{dataset}` and `{list}` (of sessions) are replaced."""

    names: tuple[str, ...]
    test: str
    train: str | None = None


class PopulationTable(Table, frozen=True):
    """Trackers drawn from families by a design that fills their space: `extrinsic ls populations`."""

    size: Count = 200
    families: tuple[str, ...] = ()
    """None: all."""
    seed: Whole = 0
    """Another population from the same families."""
    distinct: Share | None = None
    """Leave out members whose beliefs about training dialogs of the first dataset agree with an earlier
    member's at least this much, and draw others instead."""


class TrackersTable(Table, frozen=True):
    """The trackers that are compared."""

    built_in: tuple[str, ...] = ()
    """Names of `extrinsic ls trackers`, with parameters: `focus(discount=0.6)`, or `all`."""
    population: PopulationTable | None = None
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
    registered: tuple[str, ...] = ()
    """Filled in: what the study's plugins register and `names` does not list; it is measured as well."""
    schedules: tuple[int, ...] = ()
    components: tuple[str, ...] = ()
    """None: `joint` and `all` of dstc1, `goal.joint` and `goal.all` of dstc2, `state` and `all` of states."""
    label_scheme: str | None = None
    """Of dstc2: a or b; none: a."""
    fill: tuple[str, ...] = ()
    """Fill rules by which beliefs are also scored with the state-set metrics."""
    sentinels: bool | None = None
    """Also metrics of states that know nothing, as a floor. None: unless metrics are named."""


class PolicyTable(NamingTable, frozen=True):
    """How policies are learned; options of a learner or behaviour model go in `[policy.<its name>]`."""

    learner_names: str | tuple[str, ...] = msgspec.field(default="one_step", name="learner")
    """Of `extrinsic ls learners`. Each of several is a variant of its own, as fill rules are."""
    features: str | tuple[str, ...] = "compact"
    conditions: bool = True
    policies: tuple[Literal["rl", "sl", "sl_sampled", "expert"], ...] = ("rl", "sl", "sl_sampled")
    """Learned; imitated by the likeliest act; imitated by drawing. In a simulated world also `expert`: its
    own fixed policy on the beliefs of each tracker, played live."""
    behaviour_name: str = msgspec.field(default="logistic", name="behaviour")
    """The model of how the logged system acts, for the filter and for imitation: `ls behaviours`."""
    threshold: Share = 0.1
    """Of the filter: acts that the logged system takes less often than this are not considered."""
    keep: bool = False
    """Write every policy to policies/<dataset>/ of the run: `extrinsic play`, `Run.policy`."""

    @property
    def learners(self) -> tuple[Component, ...]:
        names = self.learner_names
        return tuple(map(self.component, (names,) if isinstance(names, str) else names))

    @property
    def learner(self) -> Component:
        """The first of them."""
        return self.learners[0]

    @property
    def behaviour(self) -> Component:
        return self.component(self.behaviour_name)


class RewardTable(Table, frozen=True):
    """What a dialog earns. An option that is left out has the domain's default."""

    kind: str = "concepts"
    """Of `extrinsic ls rewards`."""
    fill: tuple[str, ...] = ("argmax", "threshold")
    """When a belief counts as filled. Each rule is a variant of its own: it can decide which metric wins.
    Rewards without an option `fill` do not take it."""
    options: Options = {}
    """Every other key of the table: the options of this reward that are set."""

    @property
    def fills(self) -> tuple[str | None, ...]:
        """The fill rules, a variant each; a single None for a reward that does not judge beliefs."""
        return self.fill if "fill" in option_names(REWARDS.get(self.kind)) else (None,)


class ValueTable(NamingTable, frozen=True):
    """How the values of policies are estimated; `[value.<name>]` are the options of an estimator."""

    estimators: tuple[str, ...] = ()
    """Of `extrinsic ls estimators`; none: live with a simulator, mean_augmented, fqe_augmented, lstd."""
    proxies: tuple[str, ...] = ("hwu", "baseline")
    live_dialogs: Count = 2000
    on_policy: bool = True
    """Also estimate the value of the logged policy, whose return is known."""
    placebo: bool = False
    """Also learn from shuffled actions: a gain there is due to the method, not to the policy."""


class CorrelationTable(Table, frozen=True):
    """How metrics are related to targets; level: of the intervals of correlations, composites and errors."""

    primary: str | None = None
    """The target that comes first in the answer; none: live, else mean_augmented, else the first."""
    targets: tuple[str, ...] = ()
    """`rl.live`, `rl.gain`, `rl.completed`, `behaviour.observed`, `outcome.success`, ...; none: all there are
    of rl, expert and outcomes, and the logged return."""
    coefficients: tuple[Coefficient, ...] = COEFFICIENTS
    permutations: Annotated[int, msgspec.Meta(ge=99)] = 4999
    level: Annotated[float, msgspec.Meta(gt=0.5, lt=1.0)] = 0.95


class VerdictTable(Table, frozen=True):
    """What the verdict is about: the metrics that are declared beforehand, and those that are preferred."""

    metrics: tuple[str, ...] = ()
    """`l2`, or with component and schedule `l2 joint 3`; none: accuracy, L2, AvgP, MRR of the joint goal,
    JGA, slot F1, AGA, RSA, FGA 0.5, GCA, at every turn. What a choice by them loses at most holds for all at
    once; every other metric is exploratory."""
    margin: Share = 0.05
    """As good: shown to cost at most this share of what a coin loses more than the recommended metric."""
    prefer: tuple[str, ...] = ()
    """Metrics to recommend where they are as good, the most preferred one first."""
    draws: Annotated[int, msgspec.Meta(ge=100)] = 2000
    """Of systems, for the bounds."""


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
    scores: ScoresTable | None = None
    trackers: TrackersTable = TrackersTable()
    metrics: MetricsTable = MetricsTable()
    policy: PolicyTable = PolicyTable()
    reward: RewardTable = RewardTable()
    value: ValueTable = ValueTable()
    correlation: CorrelationTable = CorrelationTable()
    verdict: VerdictTable = VerdictTable()
    sensitivity: SensitivityTable = SensitivityTable()
    grid: GridTable | None = None
