"""The dbt test of tables of counts."""

from __future__ import annotations

from tests.properties.compilation import Ref, call

MINIMUM = 3
DIMENSIONS = ("ward", "age")


def _test(dimensions: tuple[str, ...], **options: object) -> str:
    return call(
        "test_protected_table",
        model=Ref("shown_table"),
        dimensions=[*dimensions],
        measure="people",
        minimum_frequency=MINIMUM,
        **options,
    )


MODELS = {
    "table_of_two": _test(DIMENSIONS),
    "table_of_one": _test(DIMENSIONS[:1]),
    "table_with_label": _test(DIMENSIONS, total="all"),
    "table_with_noise": _test(DIMENSIONS, additive=False),
    "table_of_one_with_hidden_zeros": _test(DIMENSIONS[:1], least_hidden=0),
    "table_of_two_with_hidden_zeros": _test(DIMENSIONS, least_hidden=0),
}
SEEDS = ["shown_table"]
