"""SQL condition of outer records."""

from __future__ import annotations

SHARES = (0.3, 0.999, 1e-05)
OUTER_MODELS = {
    f"outer_{number}": (
        "select person, {{ dbt_anonymize.is_outer('person', "
        f"{share}, {number}) }}}} as is_outer from {{{{ ref('outer_people') }}}}"
    )
    for number, share in enumerate(SHARES)
}
OUTER_SEEDS = ["outer_people"]
