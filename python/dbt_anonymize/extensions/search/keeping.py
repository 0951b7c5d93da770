"""Columns that a search must not generalize to `*`."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.declared import Bounds, search_of
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.problems import did_you_mean, split_names


def keep_readable(spec: Spec, options: Sequence[str]) -> Spec:
    """Return a spec whose search keeps these quasi-identifiers below `*`.

    An option may list several names, separated by commas. A name that is no quasi-identifier is a
    `SpecError`.
    """
    trees = spec.quasi_identifiers
    names = split_names(options, trees)
    if unknown := next((name for name in names if name not in trees), None):
        raise SpecError(
            f"{spec.name}: --keep must name a quasi-identifier; got {unknown}. "
            + did_you_mean(unknown, trees, f"They are {', '.join(trees)}.")
        )
    declared = search_of(spec)
    levels = dict(declared.levels)
    for name in names:
        bounds = levels.get(name, Bounds())
        highest = trees[name].levels - 1
        if bounds.highest is not None:
            highest = min(highest, bounds.highest)
        if highest < bounds.lowest:
            raise SpecError(
                f"{spec.name}: --keep {name}: has no level below `*` within search.levels. Lower "
                "`lowest` there, or leave it out."
            )
        levels[name] = bounds.model_copy(update={"highest": highest})
    search = declared.model_copy(update={"levels": levels})
    return spec.model_copy(update={"search": search})
