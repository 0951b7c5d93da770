"""Aim of a release: statistics, or models that predict a class, a number or a time; options."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from dbt_anonymize.errors import SpecError


class Purpose(StrEnum):
    """Purpose of a release."""

    model = "model"
    statistics = "statistics"


class Categories(StrEnum):
    """Ways to merge categories without an order."""

    frequency = "frequency"
    target = "target"


Predict = Annotated[str | None, typer.Option(help="Column that models predict, the target.")]
Time = Annotated[
    str | None,
    typer.Option(help="Column with the time until the target happens or was last seen not to."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to leave out of the release and of models; may be repeated, or with commas."
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to release as it is, since nobody could know it of others, such as an "
        "outcome; may be repeated, or with commas."
    ),
]
Event = Annotated[
    str | None, typer.Option(help="With --time: the value of the target that says it happened.")
]

Dimensions = Annotated[
    list[str] | None,
    typer.Option(help="Columns to count people by, with commas: the release is a table of counts."),
]
Sums = Annotated[
    list[str] | None,
    typer.Option(help="With --dimensions: columns of amounts to add up, with commas."),
]
Linked = Annotated[
    list[str] | None,
    typer.Option(
        help="Tables with several records of a person to release with it, with commas, or all."
    ),
]
For = Annotated[
    Purpose | None,
    typer.Option(help="To learn models from the release, or to count and sum it."),
]

MergedBy = Annotated[
    Categories,
    typer.Option(
        help="Merge categories by how rare they are, or by what they mean for the target."
    ),
]
K = Annotated[
    int | None, typer.Option("--k", min=2, help="Fewest people of a class; 5 by default.")
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Take what is proposed, and drop what is in doubt.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Write the files of an earlier draft anew.")
]
Explain = Annotated[
    str | None,
    typer.Option(help="Print what is known of this column, no value; write nothing."),
]


@dataclass(frozen=True)
class Aim:
    """Purpose, and the columns of options; ``predict`` is None if the target is guessed or missing.

    Contradicting options are a `SpecError`.
    """

    purpose: Purpose = Purpose.model
    predict: str | None = None
    time: str | None = None
    event: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    k: int | None = None

    def __post_init__(self) -> None:
        if self.time is not None and self.predict is None:
            raise SpecError(
                "--time is the time until a target happens, and needs one: --predict <column>."
            )
        if self.event is not None and self.time is None:
            raise SpecError("--event is of a target with a time, and needs it: --time <column>.")

    @property
    def options(self) -> str:
        """The aim as options of a command."""
        named = [("predict", self.predict), ("time", self.time), ("event", self.event)]
        if self.purpose is not Purpose.model:
            named = [("purpose", self.purpose.value)]
        named += [("drop", name) for name in self.drop]
        named += [("keep", name) for name in self.keep]
        named += [("sensitive", name) for name in self.sensitive]
        named.append(("k", None if self.k is None else str(self.k)))
        return " ".join(
            f"--{name} {shlex.quote(value)}" for name, value in named if value is not None
        )
