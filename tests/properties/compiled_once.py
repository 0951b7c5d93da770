"""Everything that properties and oracles run, compiled part by part when it is first asked for."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.extensions import of_extensions
from tests.properties.compilation import (
    LEVELS,
    Policy,
    Quasi,
    Shape,
    compile_models,
    shape_models,
    shape_seeds,
)
from tests.properties.generic import GENERIC_MODELS, GENERIC_SEEDS
from tests.properties.guarded import GUARDED_MODELS, GUARDED_SEEDS
from tests.properties.measured import MEASURED_MODELS, MEASURED_SEEDS
from tests.properties.outer import OUTER_MODELS, OUTER_SEEDS
from tests.properties.sampled import SAMPLED_MODELS, SAMPLED_SEEDS
from tests.properties.several_targets import TARGET_MODELS, TARGET_SEEDS
from tests.properties.statements import FURTHER_MODELS, FURTHER_SEEDS
from tests.worlds.hierarchies import SHAPES

_KINDS = {"interval": "double", "categorical": "varchar"}


def oracle_shape(kinds: tuple[str, ...]) -> Shape:
    """Return a table with quasi-identifiers of these kinds."""
    return Shape(
        name="oracle_" + "".join(kind[0] for kind in kinds),
        record_key="record_id",
        quasi_identifiers=tuple(
            Quasi(f"attribute_{i}", kind, _KINDS[kind]) for i, kind in enumerate(kinds)
        ),
        sensitive="disease",
        target="outcome",
        # A class of one record is never suppressed, so k is the k of the whole table.
        policies=(Policy("none", 2, "0.0"),),
        chosen=tuple((level,) * len(kinds) for level in range(LEVELS + 1))
        + tuple(
            tuple((position + shift) % LEVELS for position in range(len(kinds))) for shift in (1, 2)
        ),
        has_single_efforts=False,
    )


ORACLE_SHAPES = {
    kinds: oracle_shape(kinds)
    for kinds in (
        ("interval",),
        ("categorical", "interval"),
        ("interval", "categorical", "categorical"),
        ("categorical", "interval", "categorical", "interval"),
    )
}


_REF = re.compile(r"ref\('([^']+)'\)")
_CORE: tuple[tuple[Mapping[str, str], Sequence[str]], ...] = (
    *((shape_models(shape), shape_seeds(shape)) for shape in (*SHAPES, *ORACLE_SHAPES.values())),
    (GUARDED_MODELS, GUARDED_SEEDS),
    (SAMPLED_MODELS, SAMPLED_SEEDS),
    (GENERIC_MODELS, GENERIC_SEEDS),
    (FURTHER_MODELS, FURTHER_SEEDS),
    (MEASURED_MODELS, MEASURED_SEEDS),
    (TARGET_MODELS, TARGET_SEEDS),
    (OUTER_MODELS, OUTER_SEEDS),
)


class _Statements(Mapping[str, str]):
    """The SQL of all models by name; dbt compiles a part when the first of its models is read."""

    def __init__(self) -> None:
        parts = [*_CORE, *((one.MODELS, one.SEEDS) for one in of_extensions("compiled"))]
        self._part_of = {name: part for part in parts for name in part[0]}
        self._compiled: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._compiled:
            models, seeds = self._part_of[name]
            # Models of another part are read as seeds are: by their names.
            read = {ref for text in models.values() for ref in _REF.findall(text)}
            with tempfile.TemporaryDirectory() as folder:
                self._compiled |= compile_models(
                    Path(folder), models, sorted({*seeds, *read} - models.keys())
                )
        return self._compiled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._part_of)

    def __len__(self) -> int:
        return len(self._part_of)


@functools.cache
def statements() -> Mapping[str, str]:
    """Return the compiled SQL of all models by name."""
    return _Statements()
