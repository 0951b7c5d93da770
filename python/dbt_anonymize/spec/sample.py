"""Share of the subjects that is released at all."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dbt_anonymize.validation import ColumnName, Strict

SampleShare = Annotated[float, Field(gt=0, lt=1)]


class EffortSample(Strict):
    """The share of an effort that is released from a smaller or larger sample than others.

    Samples are nested: whoever is in a smaller one is in all larger ones.
    """

    share: SampleShare
    """Share of the subjects that is released."""


class Sample(EffortSample):
    """A random sample of subjects (records without a subject), drawn once and kept in the vault.

    Without ``strata`` each subject is drawn by itself with probability ``share``; with strata, of
    the new subjects of each combination of their values that share, rounded up or down.
    """

    by: Literal["subject"] = "subject"
    """Subjects are drawn; without a subject, records."""
    strata: Annotated[tuple[ColumnName, ...], Field(min_length=1, strict=False)] | None = None
    """Draw the share of each combination of the values of these columns."""
