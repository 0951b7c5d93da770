"""Report before a build which features have more categories than a model reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.evaluation import limits
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec
    from dbt_anonymize.spec.hierarchy_levels import ProjectFiles


def limits_in_seeds(files: ProjectFiles, spec: Spec) -> list[str]:
    """Return a sentence for each feature with too many categories in a seed of the project."""
    warnings: list[str] = []
    source = files.seed(spec.source.ref)
    for name in spec.features:
        tree = spec.quasi_identifiers.get(name)
        if tree is not None and tree.kind == "categorical":
            columns = ["value", *level_names(tree.levels)]
            warnings += consequences(spec, name, _sizes(files.seed(tree.ref), columns))
        elif tree is None:
            sizes = _sizes(source, [name], is_typed=True)
            warnings += consequences(spec, name, sizes)
    return warnings


def _sizes(path: Path | None, columns: Sequence[str], *, is_typed: bool = False) -> Sequence[int]:
    """Return the number of values of text columns of a file.

    Empty if unknown, if a column is no text, or if the file has too few lines to matter.
    """
    if path is None or not _is_long(path):
        return []
    import duckdb  # noqa: PLC0415 (keeps other commands fast)

    file = f"read_csv({quote_text(str(path))}, all_varchar = {not is_typed}, header = true)"
    try:
        with duckdb.connect() as connection:
            described = connection.execute(f"describe select * from {file}").fetchall()  # noqa: S608
            types = {str(row[0]): str(row[1]) for row in described}
            if any(types.get(column) != "VARCHAR" for column in columns):
                return []
            counts = f"select {distinct_counts(columns)} from {file}"  # noqa: S608 (a literal)
            return list(connection.execute(counts).fetchall()[0])
    except duckdb.Error:  # the build reports the error
        return []


def _is_long(path: Path) -> bool:
    """Tell whether a file has more lines than models read categories."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        return next(islice(lines, limits.MOST_CATEGORIES, None), None) is not None


def level_names(levels: int) -> list[str]:
    """Return the columns of labels of a hierarchy."""
    return [f"level_{level}" for level in range(1, levels + 1)]


def distinct_counts(columns: Sequence[str]) -> str:
    """Return SQL of the number of labels in each column."""
    return ", ".join(f"count(distinct nullif(cast({quote_name(c)} as text), '*'))" for c in columns)


def consequences(spec: Spec, name: str, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the consequence of too many labels, given the number of labels at each level."""
    limit = limits.MOST_CATEGORIES
    if not sizes or sizes[0] <= limit:
        return
    start = f"{spec.name}: {name} has {sizes[0]:,} values, and models read at most {limit:,}"
    categories = spec.tests.categories
    if len(sizes) == 1:
        yield (
            f"{start}: without a hierarchy the evaluation will stop. Leave it out of the features, "
            "or group its values in the source."
        )
    elif categories == "label" and not any(0 < size <= limit for size in sizes):
        yield (
            f"{start}: no level of its hierarchy has fewer, so the evaluation will stop. Add a "
            "level, or leave it out of the features."
        )
    elif categories != "label":
        yield (
            f"{start}: with categories: {categories} the evaluation will stop. Write categories: "
            "label, or leave it out of the features."
        )
    else:
        level = next(n for n, size in enumerate(sizes) if 0 < size <= limit)
        yield f"{start}: they read it at level {level} ({sizes[level]:,} labels), in effort 0 too."
