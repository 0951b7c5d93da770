"""The spec of one anonymization: roles, efforts, guarantees, and how quality is measured.

Types and single values are checked here; what must hold between keys is in ``rules``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dbt_anonymize.extension import Part, keys
from dbt_anonymize.privacy.model import Mechanism, PrivacyModel
from dbt_anonymize.privacy.registry import measures_of
from dbt_anonymize.spec.columns import Column
from dbt_anonymize.spec.details import Details
from dbt_anonymize.spec.efforts import AnyEffort, Effort
from dbt_anonymize.spec.fingerprint import digest_of, fingerprint_of, key_digests_of
from dbt_anonymize.spec.guarantees import Guarantees
from dbt_anonymize.spec.information_loss import InformationLoss
from dbt_anonymize.spec.left_out import without_left_out
from dbt_anonymize.spec.qnf import Alpha, Qnf, check_columns, qnf_argument
from dbt_anonymize.spec.quality import Quality
from dbt_anonymize.spec.release import Owner, Release
from dbt_anonymize.spec.rules import BROKEN_RULES, violations
from dbt_anonymize.spec.sample import Sample
from dbt_anonymize.spec.sources import Population, Source
from dbt_anonymize.spec.tested import TestedByModels
from dbt_anonymize.validation import ColumnName, Hierarchy, Strict, generalized_columns, rule_error

# PostgreSQL allows 63 characters; the longest name of a relation adds 13.
LONGEST_NAME = 50
# Names of our own relations and models.
RESERVED_SPEC_NAMES = frozenset({"anonymization"})


def _check_name(value: object) -> object:
    if isinstance(value, str) and value in RESERVED_SPEC_NAMES:
        raise rule_error(
            "must not be 'anonymization': its results would be the history of all anonymizations",
            "Choose another name.",
        )
    return value


SpecName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=LONGEST_NAME), BeforeValidator(_check_name)
]


# Validation context that skips the rules between keys, some of which import models.
SHAPE_ONLY = "shape only"


class CoreSpec(TestedByModels, Strict):
    """One anonymization, but for the keys of extensions.

    Examples
    --------
    >>> spec = Spec.model_validate({
    ...     "version": 1, "name": "visits", "source": {"ref": "visits_source"},
    ...     "record_key": "visit_id",
    ...     "columns": {
    ...         "phone": {"role": "identifier"},
    ...         "age": {
    ...             "role": "quasi_identifier",
    ...             "hierarchy": {"ref": "ages", "kind": "interval", "levels": 3},
    ...         },
    ...         "diagnosis": {"role": "sensitive"},
    ...     },
    ...     "target": "diagnosis", "features": ["age"], "efforts": [{"age": 1}, {"age": 2}],
    ...     "guarantees": {"k_anonymity": {"k": 3}}, "suppression_limit": 0.1,
    ...     "quality": {
    ...         "model": "naive_bayes", "measure": "accuracy", "repetitions": 10,
    ...         "test_share": 0.3, "random_state": 1,
    ...     },
    ...     "alpha": 0.1, "qnf": "k",
    ... })
    >>> spec.identifiers, list(spec.quasi_identifiers), spec.kept_columns
    (['phone'], ['age'], ['diagnosis'])
    >>> {number: effort.levels for number, effort in spec.numbered_efforts.items()}
    {0: {'age': 0}, 1: {'age': 1}, 2: {'age': 2}}
    """

    version: Literal[1]
    """Version of the spec format."""
    name: SpecName
    """Name of the anonymization and of its file; its relations begin with it."""
    description: str = ""
    """Purpose: the question that these data answer, and the audience of the release; shown in dbt
    docs.
    """
    owner: Owner | None = None
    """Owner of the anonymization."""
    source: Source
    """The table about people that is anonymized."""
    record_key: ColumnName
    """Column that is unique and never NULL; never released."""
    subject: ColumnName | None = None
    """Column that is equal in all records of one person; privacy then counts people, not records.
    """
    consent: ColumnName | None = None
    """Boolean column, true where a person agreed to a release that leads back to people; records of
    others take no part where there is a mapping.
    """
    population: Population | None = None
    """The people among whom an attacker looks, for k_map, delta_presence and the journalist's
    risks.
    """
    sample: Sample | None = None
    """Release a random part of the subjects only."""
    columns: Annotated[dict[ColumnName, Column], Field(min_length=1)]
    """Every column of the source but the record key, with its role."""
    target: str | None = None
    """Kept column that models predict; without it, features, quality and alpha no model tests the
    efforts, and QF is 1 - loss.
    """
    features: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = ()
    """Columns that models predict the target from."""
    efforts: Annotated[tuple[AnyEffort, ...], Field(strict=False)] = ()
    """Ways to generalize, from weak to strong; `dbt-anonymize search` writes them if there are
    none.
    """
    guarantees: Guarantees
    """Guarantees of the release; checked on the data of every build."""
    suppression_limit: Annotated[float, Field(ge=0, le=1)]
    """Largest share of records that may be left out of an effort."""
    quality: Quality | None = None
    """Measure of the functional quality QF of an effort."""
    alpha: Alpha | None = None
    """Weight of privacy in Q = QF + alpha * QNF; auto: what privacy costs on average."""
    qnf: Qnf
    """Non-functional quality: an expression over columns of <n>_privacy, such as k or 1 - 1/k."""
    choose: Literal["max_q", "strongest_non_inferior", "pareto_knee"] = "max_q"
    """Choice among the efforts that qualify."""
    release: Release = Release()
    """Effort to release, its form and its audience."""
    mapping: Literal["class", "token", "none"] = "class"
    """Mapping of the vault from released rows to people: to a group (class), to one person (token),
    or not at all (none).
    """
    information_loss: InformationLoss = InformationLoss()
    """Measure of information loss."""
    details: Details = ()
    """Relations that tell more than the choice needs, by name; or all of them."""

    # Extensions answer these otherwise.
    is_frozen: ClassVar[bool] = False
    """True where every build releases the same effort with the same labels."""
    holds_back_joiners: ClassVar[bool] = False
    """True where new records wait, so that the release differs from its effort."""
    external_efforts: ClassVar[Mapping[int, Effort]] = {}
    """Each table of another tool by its number."""
    frozen_labels: ClassVar[str | None] = None
    """The seed that holds the labels of a frozen effort."""
    recomputation: ClassVar[Any] = None
    """Module that recomputes frozen labels, and releases in which new records wait."""
    judged_privacy: ClassVar[str] = "privacy"
    """Relation that says which efforts keep their guarantees; another one has a `refusal`, too."""
    judged_loss: ClassVar[str] = "information_loss"
    """Relation with the loss by which an effort is chosen where no model is trained."""
    trees_beside: ClassVar[Mapping[str, Hierarchy]] = {}
    """Hierarchy of each generalized column of another table, by both names."""
    kept_beside: ClassVar[Sequence[str]] = ()
    """Columns of tables beside it that are released as they are, by names as in `trees_beside`."""
    tables_beside: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Models that are published with the release, as tables of its file, each with its columns."""
    composition_beside: ClassVar[Mapping[str, Any] | None] = None
    """The function by which `release.composition` compares these with what is published."""
    read_beside: ClassVar[Sequence[str]] = ()
    """Models beside the microdata, and seeds, whose rows steps in Python read."""
    obstacles: ClassVar[Sequence[str]] = ()
    """Models whose ``problem`` says why nothing may be published."""
    other_sources_of_people: ClassVar[Sequence[tuple[Source, str]]] = ()
    """Sources beside its own, each with the column that has the record key of a person."""
    renews_tokens: ClassVar[bool] = False
    """True where each build draws new tokens."""

    @field_validator("qnf")
    @classmethod
    def _names_what_is_measured(cls, text: str, info: ValidationInfo) -> str:
        return check_columns(text, info.data)

    @model_validator(mode="before")
    @classmethod
    def _without_left_out(cls, raw: object) -> object:
        return without_left_out(raw) if isinstance(raw, Mapping) else raw

    @model_validator(mode="after")
    def _keeps_the_rules(self, info: ValidationInfo) -> Self:
        problems = [] if info.context == SHAPE_ONLY else violations(self.model_dump(mode="python"))
        if problems:
            raise PydanticCustomError(
                BROKEN_RULES, "{problems}", {"problems": "\n".join(map(str, problems))}
            )
        return self

    @property
    def described_trees(self) -> dict[str, Hierarchy]:
        """Hierarchy of all that efforts generalize, by the name in their descriptions."""
        return {**self.quasi_identifiers, **self.trees_beside}

    @property
    def qnf_argument(self) -> dict[str, Any]:
        """QNF as the macro of the results takes it."""
        return qnf_argument(self.qnf)

    @property
    def sensitive_hierarchies(self) -> dict[str, Hierarchy]:
        """Hierarchy of each sensitive column whose distance a guarantee measures along it."""
        return {
            guarantee["attribute"]: hierarchy
            for guarantee in self.all_guarantees
            if guarantee.get("distance") == "hierarchical"
            and (hierarchy := self.columns[guarantee["attribute"]].hierarchy) is not None
        }

    @property
    def all_guarantees(self) -> list[dict[str, Any]]:
        """The guarantees of the spec, then those of each effort, with its number as ``effort``."""
        efforts = self.numbered_efforts.items()
        own = [{**g, "effort": n} for n, e in efforts for g in e.own_guarantees]
        return [*self.guarantees.resolved, *own]

    @property
    def reads_labels(self) -> bool:
        """Tell whether a guarantee weighs what labels lose."""
        return any(guarantee.READS_LABELS for guarantee in self._declared_guarantees)

    def measures(self, attribute: str) -> dict[str, str]:
        """Return the measures of a sensitive attribute: end of the column's name, description."""
        return measures_of(self._declared_guarantees, attribute)

    @property
    def _declared_guarantees(self) -> list[PrivacyModel]:
        """The privacy models of the spec and of all efforts."""
        sets = (self.guarantees, *(e.guarantees for e in self.efforts if e.guarantees))
        return [model for guarantees in sets for _, model in guarantees.declared]

    @property
    def largest_k(self) -> int:
        """Largest k of the guarantees: the fewest people of a class that they allow."""
        return max(guarantee.least_people for _, guarantee in self.guarantees.declared)

    @property
    def population_relation(self) -> Source | None:
        """The table of the population: as declared, or of a sample of records its source."""
        is_sample = bool(self.declared_shares) and self.differential_privacy is None
        if self.population is None and is_sample and self.subject is None:
            return self.source
        return self.population.relation if self.population else None

    @property
    def declared_shares(self) -> list[float]:
        """The shares of all declared samples, ascending."""
        private = self.differential_privacy
        declared = [self.sample, *(effort.sample for effort in self.efforts)]
        shares = {sample.share for sample in declared if sample}
        return sorted(shares | ({private.share} if private else set()))

    @property
    def differential_privacy(self) -> Mechanism | None:
        """The guarantee by which the release is a sample, if it is declared."""
        declared = (guarantee for _, guarantee in self.guarantees.declared)
        return next((g for g in declared if isinstance(g, Mechanism)), None)

    @property
    def mechanism(self) -> str | None:
        """Digest of a differentially private release; its draws are stored under it."""
        private = self.differential_privacy
        return None if private is None else private.digest(self)

    @property
    def sample_shares(self) -> dict[int, float]:
        """Share of each effort that is released from a sample, by number."""
        private = self.differential_privacy
        shares = {
            number: private.share if private else sample.share if sample else None
            for number, effort in self.numbered_efforts.items()
            for sample in [effort.sample or self.sample]
        }
        return {number: share for number, share in shares.items() if number and share}

    @property
    def population_size(self) -> int | None:
        """Number of people in the population, if it is declared."""
        return self.population.size if self.population else None

    @property
    def ungeneralized_columns(self) -> list[str]:
        """Columns of the source whose values an effort releases as they are."""
        efforts = [effort for number, effort in self.numbered_efforts.items() if number]
        exact = {name for one in efforts for name in one.exact(self.quasi_identifiers)}
        return [name for name in (*exact, *self.kept_columns) if name not in self.masks]

    @property
    def mapping_columns(self) -> list[str]:
        """The released column that the vault maps to people, if there is a mapping."""
        return {"class": ["cqi"], "token": ["token"], "none": []}[self.mapping]

    @property
    def released_columns(self) -> list[str]:
        """All columns of the release, in order."""
        ends = ("", "_lower", "_upper", *(["_midpoint"] if self.release.midpoints else []))
        labels = generalized_columns(self.released_quasi_identifiers, ends)
        return [*labels, *self.kept_columns, *self.mapping_columns]

    @property
    def released_labels(self) -> list[str]:
        """Columns of the release that make its classes: labels, and bounds of intervals."""
        return generalized_columns(self.released_quasi_identifiers)

    @property
    def released_quasi_identifiers(self) -> dict[str, Hierarchy]:
        """Quasi-identifiers with columns in the release: not `*` in every effort, or all are."""
        trees = self.quasi_identifiers
        shown = {n: trees[n] for n in trees if any(e.shows(n, trees) for e in self.efforts)}
        return shown or trees

    @property
    def midpoints(self) -> dict[str, str]:
        """Released columns that are the middle of an interval, with its column."""
        trees = self.released_quasi_identifiers.items() if self.release.midpoints else ()
        return {f"{name}_midpoint": name for name, tree in trees if tree.kind == "interval"}

    @property
    def person_column(self) -> str:
        """Column that identifies a person: the subject, or the record key without one."""
        return self.subject or self.record_key

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with whatever results or release depend on."""
        return fingerprint_of(self)

    @property
    def digest(self) -> str:
        """Digits that change with whatever the generated models say."""
        return digest_of(self)

    @property
    def key_digests(self) -> dict[str, str]:
        """A few digits for each key that the generated models depend on."""
        return key_digests_of(self)

    @property
    def awaits_search(self) -> bool:
        """Tell whether efforts must be found before anything can be released."""
        return not self.efforts

    @property
    def numbered_efforts(self) -> dict[int, Effort]:
        """Each effort by its number, the untouched baseline (effort 0) included."""
        baseline = Effort(levels=dict.fromkeys(self.quasi_identifiers, 0))
        return dict(enumerate([baseline, *map(self._in_declared_order, self.efforts)]))

    @property
    def built_efforts(self) -> dict[int, Effort]:
        """Every effort with a relation of its own, by number."""
        return self.numbered_efforts

    def findings_of_external(self, tables: Any, number: int) -> Iterable[Any]:
        """Return what `verify` finds of the release of a table of another tool."""
        return ()

    def require_seeds(self, folder: Path) -> None:
        """Stop if the folder of the seeds lacks one that commands write for the spec."""

    @property
    def recoded_efforts(self) -> dict[int, Effort]:
        """Efforts whose levels differ per record, by number."""
        return {
            n: effort for n, effort in self.numbered_efforts.items() if not effort.is_full_domain
        }

    def _in_declared_order(self, effort: Effort) -> Effort:
        if effort.levels is None or [*effort.levels] == [*self.quasi_identifiers]:
            return effort
        levels = {name: effort.levels[name] for name in self.quasi_identifiers}
        return effort.model_copy(update={"levels": levels})


if TYPE_CHECKING:
    Spec = CoreSpec
else:

    class Spec(*keys(Part.spec), CoreSpec):
        """One anonymization."""
