"""The calls of generated models, as dbt would make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jinja2


class Relation(str):
    """Stand-in for a relation, as `ref` and `source` return it."""

    __slots__ = ()


class Macros:
    """Stands for the package in a rendered model: records the call instead of answering it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., str]:
        def record(given: dict[str, Any]) -> str:
            self.calls.append((name, given))
            return ""

        return record


def call_of(sql: str) -> tuple[str, dict[str, Any]]:
    """Return the macro call of a generated model and its mapping, as Jinja reads them."""
    macros = Macros()
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)  # noqa: S701
    rendered = environment.from_string(sql).render(
        dbt_anonymize=macros,
        ref=lambda name: Relation(f"ref {name}"),
        source=lambda *names: Relation(f"source {'.'.join(names)}"),
    )
    # A model that comes before without being read is named in a comment.
    assert all(line.startswith("-- depends_on: ref ") for line in rendered.split("\n") if line)
    (call,) = macros.calls
    return call
