"""Measure of the functional quality QF of an effort: models, targets, splits, readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    Field,
    FiniteFloat,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
)

from dbt_anonymize.extension import Part, keys
from dbt_anonymize.validation import ColumnName, Strict, rule_error

Measure = Literal[
    "accuracy",
    "balanced_accuracy",
    "matthews_correlation",
    "precision",
    "recall",
    "sensitivity",
    "specificity",
    "f1",
    "roc_auc",
    "brier_score",
    "log_loss",
    "r2",
    "mae",
    "rmse",
    "concordance_index",
    "adjusted_rand_index",
    "silhouette",
    "rank_correlation",
    "top_overlap",
]
Task = Literal["classification", "regression", "survival", "clustering", "anomaly"]

LARGEST_SEED = 2**32 - 1
# A hundred times what publications use; every split trains each model once for each effort.
MOST_REPETITIONS = 10_000
MOST_FOLDS = 1_000
# Always trained too, as the floor of every score.
BASELINE = "zero_rule"

_TASKS: dict[str, Task] = {
    "r2": "regression",
    "mae": "regression",
    "rmse": "regression",
    "concordance_index": "survival",
    "adjusted_rand_index": "clustering",
    "silhouette": "clustering",
    "rank_correlation": "anomaly",
    "top_overlap": "anomaly",
}
# With fewer splits there are no intervals: their variation is unknown.
FEWEST_SPLITS = 5


def task_of_measure(measure: str) -> Task:
    """Return the task of a measure.

    Examples
    --------
    >>> task_of_measure("accuracy"), task_of_measure("r2")
    ('classification', 'regression')
    """
    return _TASKS.get(measure, "classification")


def _check_parameter(value: object) -> object:
    """Accept a scalar or a list of scalars: a message names one rule, not one per type."""
    items = value if isinstance(value, list) else [value]
    finite = all(
        item is None
        or isinstance(item, (bool, int, str))
        or (isinstance(item, float) and abs(item) < float("inf"))
        for item in items
    )
    if not finite:
        raise rule_error(
            "must be a finite number, text, true, false, null or a list of these", "Correct it."
        )
    return value


_Scalar = str | float | bool | None
Parameter = Annotated[
    Any, PlainValidator(_check_parameter, json_schema_input_type=_Scalar | list[_Scalar])
]
ModelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=63)]
ClassValue = StrictStr | StrictInt | StrictBool | None


class ModelChoice(Strict):
    """A model and its parameters; without ``model`` its key is the model."""

    model: str | None = None
    """Name of a model, or dotted path of a scikit-learn class; the key by default."""
    parameters: dict[str, Parameter] = Field(default={})
    """Parameters of the model."""


class FurtherTarget(Strict):
    """A column that models predict as well; it is reported and decides nothing."""

    positive: ClassValue = None
    """Class of the target that precision, recall, specificity and f1 are about."""


class CoreQuality(Strict):
    """Measure of the functional quality QF of an effort, but for the keys of extensions."""

    model: str | None = None
    """Name of a model, or dotted path of a scikit-learn class."""
    parameters: dict[str, Parameter] = Field(default={})
    """Parameters of the model."""
    models: dict[ModelName, ModelChoice] = Field(default={})
    """Several models instead of one; the first decides, the others are reported."""
    measure: Measure
    """Measure that is QF; it decides whether the task is classification, regression, time to an
    event, clustering or anomaly.
    """
    positive: ClassValue = None
    """Class of the target that precision, recall, specificity and f1 are about; of a time-to-event
    model the event.
    """
    further_targets: dict[ColumnName, FurtherTarget] = Field(default={})
    """Columns that are predicted as well; they are reported and decide nothing."""
    time: ColumnName | None = None
    """Time until the event or censoring, for time-to-event models."""
    top_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of records, those with the highest anomaly scores, that top_overlap is about; 0.05 by
    default.
    """
    repetitions: Annotated[int, Field(ge=1, le=MOST_REPETITIONS)]
    """Number of random splits into training and test."""
    test_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of test records in repeated hold-out; instead of folds."""
    folds: Annotated[int, Field(ge=2, le=MOST_FOLDS)] | None = None
    """Number of folds in repeated cross-validation; instead of test_share."""
    random_state: Annotated[int, Field(ge=0, le=LARGEST_SEED)]
    """Seed of splits, models and resampling."""
    test_on: Literal["original", "generalized"] = "original"
    """Test records that QF is about: original ones, or generalized by the effort."""
    numbers: Literal["by_model", "midpoint", "class_mean", "bounds"] = "by_model"
    """Reading of an interval by models: by its rank or midpoint (by_model) or bounds, an original
    as its label; as midpoint or class_mean, an original as its raw value.
    """
    categories: Literal["label", "leaves", "frequencies"] = "label"
    """Reading of a label by models: as itself, or as shares of the leaves it covers."""
    suppressed: Literal["left_out", "missing"] = "left_out"
    """Leave suppressed records out of training, or keep them with unknown quasi-identifiers."""
    fit: Literal["once", "per_split"] = "once"
    """Anonymize all records and then split, or count the guarantees again on the training records
    of each split.
    """
    sample: Annotated[int, Field(ge=10)] = 100_000
    """Most records that are evaluated."""
    margin: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    """An effort that is worse than the untouched table by at most this much is non-inferior."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """One-sided confidence of the test of non-inferiority."""
    outer_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of subjects that only score the chosen effort, and are in no other part of quality."""

    @property
    def chosen_models(self) -> dict[str, ModelChoice]:
        """Each model by its name, the one that decides first."""
        if self.models:
            return {
                name: choice.model_copy(update={"model": choice.model or name})
                for name, choice in self.models.items()
            }
        name = str(self.model)
        simple = name.rpartition(".")[2]
        return {simple: ModelChoice(model=name, parameters=self.parameters)}

    @property
    def deciding_model(self) -> str:
        """Name of the model whose measure is QF."""
        return next(iter(self.chosen_models))

    @property
    def task(self) -> Task:
        """Task of the measure."""
        return task_of_measure(self.measure)


if TYPE_CHECKING:
    Quality = CoreQuality
else:

    class Quality(*keys(Part.quality), CoreQuality):
        """Measure of the functional quality QF of an effort."""
