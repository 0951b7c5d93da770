"""Keys of a spec for searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, PrivateAttr

from dbt_anonymize.extensions.search.measure_names import GUIDED, QUALITY, MeasureName
from dbt_anonymize.information_loss import LOSS
from dbt_anonymize.validation import BESIDE_MODELS, BESIDE_RESULTS, Level, Strict

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec


class Bounds(Strict):
    """Levels of one quasi-identifier that a search may use, both included."""

    lowest: Level = 0
    """Lowest level, included."""
    highest: Level | None = None
    """Highest level, included; that of the hierarchy by default."""


class Search(Strict):
    """Objective of `dbt-anonymize search`."""

    efforts: Annotated[int, Field(ge=1, le=50)] = 5
    """Most efforts that the chain has."""
    measure: MeasureName | None = None
    """Measure of the search: the quality of models that are trained on efforts, by default where
    there is a target, or a measure of information loss, by default loss.
    """
    levels: dict[str, Bounds] = Field(default={})
    """Levels of quasi-identifiers that may be used."""

    def measure_of(self, spec: Spec) -> str:
        """Return the declared measure, or the default of a spec."""
        return self.measure or (QUALITY if spec.targets else LOSS)


class Keys(Strict):
    """Keys of the spec."""

    search: Annotated[Search, BESIDE_RESULTS, BESIDE_MODELS] = Search()
    """Objective of `dbt-anonymize search`."""
    _has_outdated_efforts: bool = PrivateAttr(default=False)

    @property
    def is_searched_by_models(self) -> bool:
        """Tell whether models chose the levels."""
        return self.search.measure in {QUALITY, GUIDED}


def search_of(spec: Spec) -> Search:
    """Return the key ``search`` of a spec."""
    search: Search = cast(Any, spec).search
    return search


def with_outdated_efforts(spec: Spec) -> Spec:
    """Return a spec that remembers: its file has efforts that do not fit, which it leaves out."""
    marked: Any = spec.model_copy()
    marked._has_outdated_efforts = True
    return cast("Spec", marked)


def has_outdated_efforts(spec: Spec) -> bool:
    """Tell whether the file of a spec has efforts that do not fit, which a search replaces."""
    return bool(cast(Any, spec)._has_outdated_efforts)
