"""Input of a worker, without a database: targets, models, efforts and splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.evaluation.data.design import Design
from dbt_anonymize.evaluation.data.features import VALUES
from dbt_anonymize.evaluation.data.spaces import Space
from dbt_anonymize.evaluation.splits import Split, Splitting, draw_splits
from dbt_anonymize.evaluation.suppression import Recount

if TYPE_CHECKING:
    from dbt_anonymize.evaluation.inspections import Inspection

ZERO_RULE = "zero_rule"


@dataclass(frozen=True)
class Target:
    """A target of prediction.

    Attributes
    ----------
    task : str
        classification, regression, survival, clustering or anomaly.
    classes : tuple of str
        Texts of the classes of a classification, sorted.
    positive : int or None
        Code of the positive class.
    codes : array of int, shape (records,), or None
        Class of each record; of a survival target 1 for an event and 0 for a censored record.
        Negative for NULL.
    numbers : array of float, shape (records,), or None
        What a regression predicts; of a survival target the time. NaN for NULL. Of clustering and
        anomaly, which predict no column, 0.0, or the answers that others are compared with.
    top_share : float
        Share of records that anomalies are compared among, in (0, 1).
    """

    name: str
    task: str
    classes: tuple[str, ...] = ()
    positive: int | None = None
    codes: Ints | None = None
    numbers: Floats | None = None
    top_share: float = 0.05

    @property
    def records(self) -> int:
        """Number of records."""
        values = self.numbers if self.codes is None else self.codes
        return 0 if values is None else len(values)

    @cached_property
    def known(self) -> Ints:
        """Positions of the records with a target; only these train and are scored."""
        is_known = np.ones(self.records, dtype=np.bool_)
        if self.codes is not None:
            is_known &= self.codes >= 0
        if self.numbers is not None:
            is_known &= ~np.isnan(self.numbers)
        return np.flatnonzero(is_known)

    def splits(
        self, splitting: Splitting, seed: int, groups: Ints | None, among: Ints | None = None
    ) -> list[Split]:
        """Draw the splits of a repetition among the records with a target, or some of these.

        Both sides are positions among all records; see `draw_splits`.
        """
        known = self.known if among is None else among
        drawn = draw_splits(
            splitting,
            seed,
            records=len(known),
            strata=None if self.codes is None else self.codes[known],
            groups=None if groups is None else groups[known],
        )
        return [Split(train=known[split.train], test=known[split.test]) for split in drawn]


@dataclass(frozen=True)
class Model:
    """A model of a spec: its name, type and parameters, and the feature space that it sees."""

    name: str
    model: str
    parameters: Mapping[str, Any]
    space: str = VALUES


@dataclass(frozen=True)
class EffortData:
    """One effort as arrays over the records, in the order of the record key.

    Attributes
    ----------
    effort : int
        Number; 0 is the untouched table.
    own, original : mapping of str to Space
        Features of its own rows and of untouched rows, by feature space.
    suppressed : array of bool, shape (records,)
        True for records that are not released.
    means : array of float, shape (distinct rows, means), or None
        Class means over all released records.
    is_recoded : bool
        Levels differ per record, so that a test record has no generalization of its own.
    classes : array of int, shape (records,), or None
        Equivalence classes, where suppression is recounted.
    k : int or None
        Required in addition to the guarantees.
    coarser : mapping of str to mapping of int to int
        By feature, levels with too many labels and those at which they are read.
    targets : sequence of Target, or None
        Where rows are not those of the records: what they say of each target.
    """

    effort: int
    design: Design
    own: Mapping[str, Space]
    original: Mapping[str, Space]
    suppressed: Bools
    means: Floats | None = None
    is_recoded: bool = False
    classes: Ints | None = None
    k: int | None = None
    coarser: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    targets: Sequence[Target] | None = None

    @property
    def is_fitted(self) -> bool:
        """Tell whether the features of a value depend on the released records."""
        return self.design.means is not None or self.own[VALUES].is_fitted


@dataclass(frozen=True)
class Problem:
    """Everything to evaluate; the first effort is untouched.

    ``keeps_suppressed``: suppressed records train too, without quasi-identifiers. ``groups`` are
    the subjects of records; none is on both sides of a split. ``recount`` suppresses on the
    training records alone. ``inspections`` are asked beside measures. ``confidence`` is the level
    of intervals over splits, ``read_seconds`` the time it took to read each effort. With
    ``tested``, flags of records, each split tests some of these and trains on all others.
    """

    targets: Sequence[Target]
    models: Sequence[Model]
    efforts: Sequence[EffortData]
    splitting: Splitting
    random_state: int
    keeps_suppressed: bool = False
    groups: Ints | None = None
    recount: Recount | None = None
    inspections: Sequence[Inspection] = ()
    confidence: float = 0.95
    read_seconds: Sequence[float] = field(default=(), compare=False)
    tested: Bools | None = None

    def splits(self, target: Target, seed: int) -> list[Split]:
        """Draw the splits of a repetition for a target."""
        if self.tested is None:
            return target.splits(self.splitting, seed, self.groups)
        known, is_tested = target.known, self.tested[target.known]
        drawn = target.splits(self.splitting, seed, self.groups, known[is_tested])
        return [Split(train=known[~is_tested], test=split.test) for split in drawn]

    @property
    def fits(self) -> tuple[str, ...]:
        """Ways to fit the anonymization; each gives a model of its own."""
        return ("once",) if self.recount is None else ("once", "per_split")

    def fitted_models(self, efforts: int) -> int:
        """Return how many models are scored for a number of efforts in one split."""
        return len(self.models) * len(self.fits) * efforts


@dataclass(frozen=True)
class Task:
    """Models that share the splits of one repetition; target and efforts by position."""

    target: int
    repetition: int
    efforts: tuple[int, ...]
