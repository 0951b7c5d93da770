"""What every attacker is assumed to know: who is in the source, and all quasi-identifiers.

The tables hold raw values and exist only while the attacks run, as temporary tables.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.attacks.session import Session


@dataclass(frozen=True)
class Known:
    """The outside knowledge.

    - ``targets``: table of the records of the source: ``record_key``, ``person``, ``tuple``
      (combination of raw quasi-identifiers) and the true sensitive values ``s_1``, ...
    - ``tuples``: table of the combinations: ``tuple``, raw values ``v_1``, .. and ``records``.
    - ``people``: how many there are.
    """

    session: Session
    spec: Spec
    targets: str
    tuples: str
    people: int

    def count_people(self, targets: str) -> str:
        """Return SQL that counts the people of targets, which have this alias."""
        return f"count(distinct {targets}.person)" if self.spec.subject else "count(*)"


def learn(session: Session, spec: Spec) -> Known:
    """Collect what an attacker knows; microdata that are not built are a `WarehouseError`."""
    microdata = session.warehouse.relation_of_ref(f"{spec.name}_microdata")
    quoted = [quote_name(name) for name in spec.quasi_identifiers]
    values = [f"v_{number}" for number in range(1, len(quoted) + 1)]
    selected = ", ".join(f"{raw} as {v}" for raw, v in zip(quoted, values, strict=True))
    tuples = session.table(
        "tuples",
        f"select row_number() over () as tuple, * from (select {selected}, "
        f"count(*) as records from {microdata} group by {', '.join(quoted)})",
    )
    same = " and ".join(
        f"m.{raw} is not distinct from t.{v}" for raw, v in zip(quoted, values, strict=True)
    )
    sensitive = "".join(
        f", m.{quote_name(name)} as s_{number}" for number, name in enumerate(spec.sensitive, 1)
    )
    person = "m.subject" if spec.subject else "row_number() over ()"
    targets = session.table(
        "targets",
        f"select m.{quote_name(spec.record_key)} as record_key, {person} as person, t.tuple"
        f"{sensitive} from {microdata} as m inner join {tuples} as t on {same}",
    )
    counted = "count(distinct person)" if spec.subject else "count(*)"
    (people,) = session.row(f"select {counted} from {targets}")
    return Known(session, spec, targets, tuples, int(people))
