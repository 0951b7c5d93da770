"""Release: the effort, its form and its audience."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from dbt_anonymize.extension import Part, keys
from dbt_anonymize.validation import ColumnName, Strict, one_line, rule_error

_Written = Literal["auto"] | Annotated[int, Field(ge=1)]


def _released_effort(value: object) -> object:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    if value == 0 and not isinstance(value, bool):
        raise rule_error(
            "must not be 0: effort 0 is the untouched source, which is never released",
            "Write auto, or the number of an effort, counted from 1.",
        )
    raise rule_error(
        "must be auto or the number of an effort", "Write auto, or a number counted from 1."
    )


def _with_duckdb(value: tuple[str, ...]) -> tuple[str, ...]:
    if "duckdb" not in value or len(set(value)) < len(value):
        raise rule_error(
            "must hold duckdb, which everything else is compared with, and no format twice",
            "Write for example [duckdb, parquet, csv].",
        )
    return value


Contact = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(one_line)]


class Owner(Strict):
    """Owner of an anonymization, as dbt docs show it."""

    name: Contact
    """Name of a person or team."""
    email: Contact | None = None
    """Address that dbt docs show."""


class About(Strict):
    """Description of a release, beside its rows."""

    licence: Contact | None = None
    """Licence of the release."""
    limits: Contact | None = None
    """Limits of use; without them, those that hold of all releases."""


class CoreRelease(Strict):
    """Effort to publish and its audience, but for the keys of extensions."""

    effort: Annotated[
        Literal["auto"] | int, PlainValidator(_released_effort, json_schema_input_type=_Written)
    ] = "auto"
    """Number of the effort to release; auto: the one that is chosen."""
    access: Literal["protected", "public"] = "protected"
    """Access of the released model in dbt."""
    composition: Literal["report", "strict"] = "report"
    """Response if so few records joined or left since the published release that they can be told
    apart: warn (report) or stop (strict).
    """
    recompute: bool = False
    """Recompute the release from the source with independent code, and compare, before it is
    published.
    """
    formats: Annotated[
        tuple[Literal["duckdb", "parquet", "csv"], ...],
        Field(strict=False),
        AfterValidator(_with_duckdb),
    ] = ("duckdb",)
    """Files that a build on DuckDB publishes together."""
    leave_out: Annotated[tuple[ColumnName, ...], Field(min_length=1, strict=False)] | None = None
    """Columns that are not released, whatever the effort: each is as if it were dropped, and no
    level of it counts. None is a feature or the target.
    """
    midpoints: bool = False
    """Release `<column>_midpoint` of each interval, for charts: the middle of its bounds, a number,
    date or point in time; NULL for `*`.
    """
    about: About | None = None
    """Publish `<n>_about` with the release: what it is, what it promises and what it costs. {} says
    what is known.
    """


if TYPE_CHECKING:
    Release = CoreRelease
else:

    class Release(*keys(Part.release), CoreRelease):
        """Effort to publish, the best that qualifies (``auto``) or a number, and its audience."""
