"""Columns that a search must leave something of."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.declared import Bounds, search_of
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.problems import did_you_mean, split_names


def keep_readable(spec: Spec, options: Sequence[str]) -> Spec:
    """Return a spec whose search keeps these quasi-identifiers at some level below `*`.

    Names may stand in one option, with commas between them. One that is no quasi-identifier is a
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
        known = levels.get(name, Bounds())
        highest = trees[name].levels - 1
        if known.highest is not None:
            highest = min(highest, known.highest)
        if highest < known.lowest:
            raise SpecError(
                f"{spec.name}: --keep {name}: has no level below `*` within search.levels. Lower "
                "`lowest` there, or leave it out."
            )
        levels[name] = known.model_copy(update={"highest": highest})
    search = declared.model_copy(update={"levels": levels})
    return spec.model_copy(update={"search": search})
