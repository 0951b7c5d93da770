"""What is released and for whom, and who may go back to people."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainValidator

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


def _one_line(value: object) -> object:
    if isinstance(value, str) and (value != value.strip() or len(value.splitlines()) != 1):
        raise rule_error("must be one line without spaces around it", "Write it so.")
    return value


Purpose = Annotated[str, Field(max_length=200), BeforeValidator(_one_line)]


class Release(Strict):
    """Which effort is published, and for whom.

    The effort is the best that qualifies (``auto``), or one by its number. Access is that of dbt:
    ``public`` for everybody, ``protected`` for the models of the project. Where it differs from the
    file that it replaces by so few records that who joined or left can be told, the build warns
    (``report``) or stops (``strict``). ``recompute``: before it is published, it is computed again
    from the source by independent code, and compared.
    """

    effort: Annotated[Literal["auto"] | int, PlainValidator(_released_effort)] = "auto"
    access: Literal["protected", "public"] = "protected"
    composition: Literal["report", "strict"] = "report"
    recompute: bool = False


class Relinking(Strict):
    """When a custodian may go back from released rows to people; without it, never.

    Parameters
    ----------
    purposes
        What re-linking may be for; every request names one of them.
    highest_information_loss
        Information loss, 0 to 1, that the release must stay below: what has lost more says too
        little about a person to act on it.
    k
        Fewest people of a group that is given away; by default the k of ``k_anonymity``.
    """

    purposes: Annotated[tuple[Purpose, ...], Field(min_length=1, strict=False)]
    highest_information_loss: Annotated[float, Field(gt=0, le=1)]
    k: Annotated[int, Field(ge=2)] | None = None
