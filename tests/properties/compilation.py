"""Compile macros once, in-process, so that properties run their SQL many times without dbt."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LEVELS = 3


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: its column and how its hierarchy orders the values."""

    name: str
    kind: str
    sql_type: str


@dataclass(frozen=True)
class Policy:
    """Demands on an anonymization: guarantees, and the share that may be suppressed for them."""

    name: str
    k: int
    limit: str
    further: tuple[Mapping[str, Any], ...] = ()

    @property
    def guarantees(self) -> list[dict[str, Any]]:
        """Return all guarantees, k-anonymity first."""
        return [{"model": "k_anonymity", "k": self.k}, *map(dict, self.further)]

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the macros that need the policy."""
        return {"guarantees": self.guarantees, "suppression_limit": float(self.limit)}


@dataclass(frozen=True)
class Shape:
    """A table about people whose SQL is compiled for every combination of levels."""

    name: str
    record_key: str
    quasi_identifiers: tuple[Quasi, ...]
    sensitive: str
    target: str
    policies: tuple[Policy, ...]
    chosen: tuple[tuple[int, ...], ...]
    # Whether the classes of one effort alone are needed too, which are faster to compute.
    has_single_efforts: bool = True

    @property
    def kept(self) -> list[str]:
        """Return the columns that are released as they are."""
        return [self.sensitive, self.target]

    @property
    def efforts(self) -> tuple[tuple[int, ...], ...]:
        """Return the levels of each effort by number."""
        return tuple(dict.fromkeys(self.chosen))

    @property
    def classes(self) -> str:
        """Return the name of the classes that the efforts read, whatever their policy."""
        return f"{self.name}_classes"

    def effort_model(self, levels: tuple[int, ...]) -> str:
        """Return the name of the model of one effort."""
        return f"{self.name}_effort_{self.efforts.index(levels)}"

    def classes_model(self, policy: Policy, levels: tuple[int, ...] | None = None) -> str:
        """Return the name of the model of the classes of one effort, or of all efforts."""
        number = "" if levels is None else f"_{self.efforts.index(levels)}"
        return f"{self.name}_{policy.name}_classes{number}"

    def hierarchy(self, position: int) -> str:
        """Return the name of the hierarchy of the quasi-identifier at this position."""
        return f"{self.name}_hierarchy_{position}"


class Ref:
    """A `ref` that survives `repr`, so that arguments are written as plain Python values."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ref({self.name!r})"


def call(macro: str, **arguments: object) -> str:
    """Return the text of a model that calls one macro of the package."""
    listed = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return "{{ dbt_anonymize." + macro + "(" + listed + ") }}"


def body(macro: str, **given: object) -> str:
    """Return the text of a model whose macro takes one mapping, as generated models write it."""
    return "{{ dbt_anonymize." + macro + f"({given!r})" + " }}"


def shape_models(shape: Shape) -> dict[str, str]:
    """Return the models of one shape: from microdata to privacy, for every policy."""
    quasi_identifiers = [{"name": q.name, "kind": q.kind} for q in shape.quasi_identifiers]
    with_hierarchy = [
        dict(quasi, hierarchy=Ref(shape.hierarchy(position)), levels=LEVELS)
        for position, quasi in enumerate(quasi_identifiers)
    ]
    models = {
        f"{shape.name}_microdata": body(
            "microdata",
            anonymization=shape.name,
            source=Ref(f"{shape.name}_source"),
            record_key=shape.record_key,
            identifiers=[],
            quasi_identifiers=[dict(q, nested=True) for q in with_hierarchy],
            kept_columns=shape.kept,
            target=shape.target,
            guarantees=shape.policies[0].guarantees,
        ),
        f"{shape.name}_frequencies": body(
            "frequencies",
            microdata=Ref(f"{shape.name}_microdata"),
            quasi_identifiers=quasi_identifiers,
            sensitive=[shape.sensitive],
            target=shape.target,
        ),
    }
    for policy in shape.policies:
        models |= _policy_models(shape, policy, with_hierarchy)
    for number, levels in enumerate(shape.efforts):
        models[shape.effort_model(levels)] = body(
            "effort",
            effort=number,
            microdata=Ref(f"{shape.name}_microdata"),
            classes=Ref(shape.classes),
            record_key=shape.record_key,
            quasi_identifiers=[
                dict(q, level=level) for q, level in zip(with_hierarchy, levels, strict=True)
            ],
            kept_columns=shape.kept,
        )
    return models


def _policy_models(
    shape: Shape, policy: Policy, with_hierarchy: list[dict[str, Any]]
) -> dict[str, str]:
    def classes(efforts: Mapping[int, tuple[int, ...]]) -> str:
        names = [q.name for q in shape.quasi_identifiers]
        return body(
            "classes",
            frequencies=Ref(f"{shape.name}_frequencies"),
            quasi_identifiers=with_hierarchy,
            sensitive=[shape.sensitive],
            target=shape.target,
            efforts={
                number: {"levels": dict(zip(names, levels, strict=True))}
                for number, levels in efforts.items()
            },
            **policy.arguments,
        )

    return {
        **{
            shape.classes_model(policy, levels): classes({number: levels})
            for number, levels in enumerate(shape.efforts)
            if shape.has_single_efforts
        },
        shape.classes_model(policy): classes(dict(enumerate(shape.efforts))),
        f"{shape.name}_{policy.name}_privacy": body(
            "privacy",
            classes=Ref(shape.classes),
            efforts=list(range(len(shape.efforts))),
            sensitive=[shape.sensitive],
            **policy.arguments,
        ),
    }


def shape_seeds(shape: Shape) -> list[str]:
    """Return the names that the models of a shape refer to without defining them."""
    hierarchies = [shape.hierarchy(i) for i in range(len(shape.quasi_identifiers))]
    return [f"{shape.name}_source", shape.classes, *hierarchies]


def compile_models(folder: Path, models: Mapping[str, str], seeds: list[str]) -> dict[str, str]:
    """Compile models of a project of their own; return the SQL of each by name.

    Relations are named `"memory"."main"."<name>"`, which is where a plain in-memory connection of
    DuckDB keeps its tables.
    """
    project = {
        "name": "properties",
        "version": "1.0",
        "profile": "properties",
        "flags": {"send_anonymous_usage_stats": False},
    }
    profile = {"target": "memory", "outputs": {"memory": {"type": "duckdb", "path": ":memory:"}}}
    # JSON is YAML.
    texts = {
        "dbt_project.yml": json.dumps(project),
        "packages.yml": json.dumps({"packages": [{"local": str(REPOSITORY)}]}),
        "profiles.yml": json.dumps({"properties": profile}),
        **{f"seeds/{name}.csv": "nothing\n" for name in seeds},
        **{f"models/{name}.sql": text for name, text in models.items()},
    }
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    dbt(folder, "deps")
    compiled = {r.node.name: r.node.compiled_code for r in dbt(folder, "compile").results}
    return {name: compiled[name] for name in models}


def dbt(folder: Path, *arguments: str) -> Any:
    """Run dbt in this process, which must succeed, and let go of its database."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    messages: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: messages.append(str(event.info))])
    with contextlib.chdir(folder), _released(DuckDBConnectionManager, reset_adapters):
        outcome = runner.invoke(
            [*arguments, "--profiles-dir", str(folder), "--log-level-file", "none"]
        )
    assert outcome.success, "\n".join([*messages, str(outcome.exception or "")])
    return outcome.result


@contextlib.contextmanager
def _released(manager: Any, reset_adapters: Any) -> Iterator[None]:
    try:
        yield
    finally:
        manager.close_all_connections()
        reset_adapters()
