"""Everything that properties and oracles run, compiled by one call of dbt."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

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
from tests.properties.games import GAME_MODELS, GAME_SEEDS
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


@functools.cache
def statements() -> Mapping[str, str]:
    """Return the compiled SQL of all models by name."""
    shapes = [*SHAPES, *ORACLE_SHAPES.values()]
    models = {name: text for shape in shapes for name, text in shape_models(shape).items()}
    seeds = [name for shape in shapes for name in shape_seeds(shape)]
    models |= GUARDED_MODELS | SAMPLED_MODELS | GENERIC_MODELS | FURTHER_MODELS | GAME_MODELS
    models |= MEASURED_MODELS | TARGET_MODELS | OUTER_MODELS
    seeds += [
        *GUARDED_SEEDS,
        *SAMPLED_SEEDS,
        *GENERIC_SEEDS,
        *GAME_SEEDS,
        *FURTHER_SEEDS,
        *MEASURED_SEEDS,
        *TARGET_SEEDS,
        *OUTER_SEEDS,
    ]
    for one in of_extensions("compiled"):
        models |= one.MODELS
        seeds += one.SEEDS
    with tempfile.TemporaryDirectory() as folder:
        return MappingProxyType(compile_models(Path(folder), models, seeds))
