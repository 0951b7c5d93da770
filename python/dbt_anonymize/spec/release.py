"""What is released and for whom, and who may re-link it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from dbt_anonymize.validation import Strict, rule_error


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


def _one_line(value: object) -> object:
    if isinstance(value, str) and (value != value.strip() or len(value.splitlines()) != 1):
        raise rule_error("must be one line without spaces around it", "Write it so.")
    return value


Purpose = Annotated[str, Field(max_length=200), BeforeValidator(_one_line)]


Contact = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_one_line)]


class Owner(Strict):
    """Who answers for an anonymization, as dbt docs show it."""

    name: Contact
    email: Contact | None = None


class Release(Strict):
    """Which effort is published, the best that qualifies (``auto``) or a number, and for whom.

    Access is that of dbt. Where so few records joined or left since the published file that they
    can be told apart, the build warns (``report``) or stops (``strict``). ``recompute``:
    independent code recomputes the release from the source and compares before it is published.
    ``formats``: which files a build on DuckDB publishes, all of them together.
    ``joiners``: new records wait until those of a class keep every guarantee by themselves
    (`Spec.waits`), or are published at once.
    """

    effort: Annotated[Literal["auto"] | int, PlainValidator(_released_effort)] = "auto"
    access: Literal["protected", "public"] = "protected"
    composition: Literal["report", "strict"] = "report"
    recompute: bool = False
    formats: Annotated[
        tuple[Literal["duckdb", "parquet", "csv"], ...],
        Field(strict=False),
        AfterValidator(_with_duckdb),
    ] = ("duckdb",)
    joiners: Literal["wait", "publish"] | None = None


class Relinking(Strict):
    """When a custodian may re-link released rows to people; without it, never.

    Every request names one of ``purposes``. The release must lose less than
    ``highest_information_loss`` (0 to 1): a value that has lost more says too little about a person
    to act on it. ``k`` is the least size of a group that is shown, by default that of
    ``k_anonymity``.
    """

    purposes: Annotated[tuple[Purpose, ...], Field(min_length=1, strict=False)]
    highest_information_loss: Annotated[float, Field(gt=0, le=1)]
    k: Annotated[int, Field(ge=2)] | None = None
