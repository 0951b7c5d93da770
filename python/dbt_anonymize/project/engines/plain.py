"""Reading of an engine without dbt, which takes two seconds to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse

# Credentials that dbt could read differently are left to dbt.
STRICT = ConfigDict(extra="forbid", strict=True)


def _unchanged(output: dict[str, Any]) -> dict[str, Any]:
    return output


@dataclass(frozen=True)
class Plain:
    """Reader of the profiles and relations of an engine.

    Attributes
    ----------
    credentials : type
        Pydantic dataclass of the ordinary outputs of a profile; any other is left to dbt.
    relations : str
        Query of database, schema and name of all relations.
    columns : callable
        Returns name and data type of each column of a relation.
    connect : callable
        Connects by credentials, as dbt does.
    aliases : mapping of str to str
        Other names of keys of an output.
    completed : callable
        Adds the defaults that dbt computes; a `ValueError` leaves the output to dbt.
    """

    credentials: type[Any]
    relations: str
    columns: Callable[[Warehouse, Any], list[tuple[str, str]]]
    connect: Callable[[Any], Any]
    aliases: Mapping[str, str] = field(default_factory=dict)
    completed: Callable[[dict[str, Any]], dict[str, Any]] = _unchanged
