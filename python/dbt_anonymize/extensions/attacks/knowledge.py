"""Knowledge of every attacker: who is in the source, and all quasi-identifiers.

The tables hold raw values and exist only while the attacks run, as temporary tables.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class Knowledge:
    """The attacker's background knowledge.

    - ``values``: by the number of a quasi-identifier, a table of its raw values (NULL included):
      ``value`` and its ``code`` in all other tables.
    - ``targets``: table of the records of the source: ``record_key``, ``person``, codes ``v_1``,
      .. of its quasi-identifiers, ``tuple`` (their combination) and the true sensitive values
      ``s_1``, ...
    - ``tuples``: table of the combinations: ``tuple``, ``v_1``, .. and ``records``.
    - ``people``: their number.
    """

    session: Session
    spec: Spec
    values: Mapping[int, str]
    targets: str
    tuples: str
    people: int

    def count_people(self, targets: str) -> str:
        """Return SQL that counts the people of targets with the alias ``targets``."""
        return f"count(distinct {targets}.person)" if self.spec.subject else "count(*)"


def load_attacker_knowledge(session: Session, spec: Spec) -> Knowledge:
    """Load the attacker's knowledge; missing microdata are a `WarehouseError`."""
    microdata = session.warehouse.relation_of_ref(f"{spec.name}_microdata")
    quoted = dict(enumerate(map(quote_name, spec.quasi_identifiers), 1))
    values = {
        number: session.table(
            f"values_{number}",
            "select value, cast(row_number() over (order by value) - 1 as integer) as code "
            f"from (select distinct {raw} as value from {microdata})",
        )
        for number, raw in quoted.items()
    }
    codes = "".join(f", v_{number}.code as v_{number}" for number in quoted)
    joins = " ".join(
        f"inner join {values[number]} as v_{number} "
        f"on m.{raw} is not distinct from v_{number}.value"
        for number, raw in quoted.items()
    )
    sensitive = "".join(
        f", m.{quote_name(name)} as s_{number}" for number, name in enumerate(spec.sensitive, 1)
    )
    person = "m.subject" if spec.subject else "row_number() over ()"
    coded = session.table(
        "coded",
        f"select m.{quote_name(spec.record_key)} as record_key, {person} as person{codes}"
        f"{sensitive} from {microdata} as m {joins}",
    )
    listed = ", ".join(f"v_{number}" for number in quoted)
    tuples = session.table(
        "tuples",
        f"select row_number() over () as tuple, * from (select {listed}, count(*) as records "
        f"from {coded} group by {listed})",
    )
    targets = session.table(
        "targets",
        f"select c.*, t.tuple from {coded} as c inner join {tuples} as t using ({listed})",
    )
    counted = "count(distinct person)" if spec.subject else "count(*)"
    (people,) = session.row(f"select {counted} from {targets}")
    return Knowledge(session, spec, values, targets, tuples, int(people))
