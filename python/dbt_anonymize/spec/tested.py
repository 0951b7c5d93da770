"""Target and quality of a spec: the test of efforts by models, and defaults without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from dbt_anonymize.errors import SpecError
from dbt_anonymize.information_loss import LOSS
from dbt_anonymize.spec.columns_by_role import ColumnsByRole

if TYPE_CHECKING:
    from dbt_anonymize.spec.information_loss import InformationLoss
    from dbt_anonymize.spec.quality import Quality, Task

# They are declared together or not at all.
KEYS = ("target", "features", "quality", "alpha")
# Wording of results, release, report and dossier.
NO_MODEL = "no model tested it"


class TestedByModels(ColumnsByRole):
    """Views of how models test a spec; one without a target is scored by information loss."""

    if TYPE_CHECKING:
        name: str
        target: str | None
        quality: Quality | None
        alpha: Literal["auto"] | float | None
        information_loss: InformationLoss
        mapping: Literal["class", "token", "none"]

    # Extensions answer these otherwise.
    is_chosen_by_outer: ClassVar[bool] = False
    """True where outer records score every effort and decide, not only the chosen one."""
    is_searched_by_models: ClassVar[bool] = False
    """True where models chose the levels, on the records that score them."""

    @property
    def is_tested(self) -> bool:
        """Tell whether models are trained on efforts, so that QF is theirs."""
        return self.quality is not None

    @property
    def tests(self) -> Quality:
        """Declared test of efforts by models; a `SpecError` where there is none."""
        if self.quality is None:
            raise SpecError(
                f"{self.name}: must have {', '.join(KEYS)} for this, since it needs models; got "
                f"none. Declare them in anonymizations/{self.name}.yml."
            )
        return self.quality

    @property
    def predicted(self) -> str:
        """The target, or the task of models that predict no column; else a `SpecError`."""
        return self.target or self.tests.task

    @property
    def measure(self) -> str:
        """Measure behind QF: that of the models, or loss, where QF is 1 - loss."""
        return self.quality.measure if self.quality else LOSS

    @property
    def shown_measure(self) -> str:
        """Definition of QF, in an expression."""
        return self.quality.measure if self.quality else f"1 - {LOSS}"

    @property
    def task(self) -> Task | None:
        """Kind of the trained models, if any are."""
        return self.quality.task if self.quality else None

    @property
    def outer_share(self) -> float | None:
        """Share of subjects that only score the chosen effort, if there is one."""
        return self.quality.outer_share if self.quality else None

    @property
    def weight_of_privacy(self) -> Literal["auto"] | float:
        """Alpha; 0 where QF and QNF have no common scale, since no model is trained."""
        return 0.0 if self.alpha is None else self.alpha

    @property
    def random_state(self) -> int:
        """Seed of random draws about the release; 0 where no model needs one."""
        return self.quality.random_state if self.quality else 0

    @property
    def targets(self) -> dict[str, object]:
        """The positive class of each column that is predicted, the one that decides first."""
        if self.target is None or self.quality is None:
            return {}
        further = {name: t.positive for name, t in self.quality.further_targets.items()}
        return {self.target: self.quality.positive, **further}

    @property
    def evaluated(self) -> dict[str, object]:
        """The `targets`, or the task of models that predict no column."""
        return self.targets or {self.predicted: None}

    @property
    def loss_targets(self) -> dict[str, float]:
        """Weight of each target of the classification metric."""
        return self.information_loss.targets or dict.fromkeys(self.targets, 1.0)

    @property
    def counted_columns(self) -> list[str]:
        """Kept columns that the frequencies tell apart: sensitive ones and targets."""
        return list(dict.fromkeys([*self.sensitive, *list(self.targets)[:1], *self.loss_targets]))

    @property
    def has_counted_release(self) -> bool:
        """Tell whether the release can be stored as counts of few distinct rows."""
        is_few = self.mapping != "token" and self.task in {None, "classification"}
        return is_few and {*self.quasi_identifiers, *self.counted_columns} >= {*self.kept_columns}
