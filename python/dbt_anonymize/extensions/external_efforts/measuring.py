"""The body of ``<n>_measured_privacy``: the same attacks on every effort.

Members are inner subjects, others are outer ones, equally many of both; the rows are what an effort
makes of the inner records alone, or a foreign table as it is.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader
from dbt_anonymize.evaluation.data.relations import read_arrays
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.data.subjects import make_recount, rank_sql, sensitive_attributes
from dbt_anonymize.evaluation.suppression import training_table
from dbt_anonymize.extensions.attacks.inference import attack_inference
from dbt_anonymize.extensions.attacks.knowledge import Knowledge, load_attacker_knowledge
from dbt_anonymize.extensions.attacks.linkability import attack_linkability
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.extensions.attacks.singling_out import attack_singling_out
from dbt_anonymize.extensions.attacks.trial import Trial, read_trial
from dbt_anonymize.extensions.external_efforts.closest import attack_closest
from dbt_anonymize.extensions.external_efforts.digest import digest_of
from dbt_anonymize.extensions.external_efforts.seen import SeenTest, seen_tests
from dbt_anonymize.extensions.external_efforts.steps import COLUMN_TYPES
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

# Enough for a 95 % interval of less than 0.1.
GUESSES = 500


@dataclass(frozen=True)
class _Relations:
    """The relations of a build by name, in the place of a warehouse."""

    relations: Mapping[str, duckdb.DuckDBPyRelation]

    def relation_of_ref(self, name: str) -> str:
        """Return SQL of a relation."""
        return f"({self.relations[name].sql_query()})"


def measure(
    session: duckdb.DuckDBPyConnection,
    spec: str,
    relations: Mapping[str, duckdb.DuckDBPyRelation],
) -> pd.DataFrame:
    """Attack every effort; called by a generated model.

    ``spec`` is the spec as JSON, ``relations`` are microdata, hierarchies and efforts by name.
    Returns a row per effort and measure of an attack, and one per test of a foreign table.
    """
    import pandas as pd  # noqa: PLC0415

    declared = Spec.model_validate_json(spec)
    # A connection of its own: its temporary tables vanish with it.
    cursor = session.cursor()
    try:
        own = Session(cast(Any, _Relations(relations)), cursor)
        rows = list(_rows(own, declared, relations))
    finally:
        cursor.close()
    return pd.DataFrame(
        {n: pd.Series([row.get(n) for row in rows], dtype=t) for n, t in COLUMN_TYPES.items()}
    )


def _rows(
    session: Session, spec: Spec, relations: Mapping[str, duckdb.DuckDBPyRelation]
) -> Iterator[dict[str, Any]]:
    if not session.row(f"select count(*) from {_microdata(session, spec)}")[0]:
        return
    knowledge = load_attacker_knowledge(session, spec)
    members = _members(knowledge)
    released = _Released(session, spec, relations)
    for number in spec.built_efforts:
        name = f"{spec.name}_effort_{number}"
        is_external = number in spec.external_efforts
        rows = session.table(
            "rows", released.external(name) if is_external else released.own(name, number)
        )
        trial = _trial(knowledge, rows, members)
        digest = digest_of(relations[name]) if is_external else None
        for result in attack(trial) if trial.records and trial.members else ():
            yield {**_row(number, result), "rows_digest": digest}
        if is_external:
            for test in seen_tests(session, spec, session.warehouse.relation_of_ref(name)):
                yield {**_seen_row(number, test), "rows_digest": digest}


def attack(trial: Trial, guesses: int = GUESSES) -> list[AttackResult]:
    """Carry out all attacks on a trial."""
    return [
        *attack_singling_out(trial, guesses),
        *attack_linkability(trial, guesses),
        *attack_inference(trial, guesses),
        attack_closest(trial, guesses),
    ]


def _microdata(session: Session, spec: Spec) -> str:
    return str(session.warehouse.relation_of_ref(f"{spec.name}_microdata"))


def _members(knowledge: Knowledge) -> str:
    """Draw equally many inner and outer people, as many as there are of the fewer."""
    session, spec = knowledge.session, knowledge.spec
    key = quote_name(spec.record_key)
    drawn = f"md5('{spec.random_state} member ' || cast(t.record_key as varchar))"
    placed = session.table(
        "placed",
        "select t.person, not m.is_outer as is_member, row_number() over (partition by m.is_outer "
        f"order by {drawn}, t.record_key) as place from {knowledge.targets} as t "
        f"inner join {_microdata(session, spec)} as m on t.record_key = m.{key}",
    )
    fewest = (
        f"select least(count(*) filter (is_member), count(*) filter (not is_member)) from {placed}"
    )
    return session.table(
        "members", f"select person, is_member from {placed} where place <= ({fewest})"
    )


def _trial(knowledge: Knowledge, rows: str, members: str) -> Trial:
    session, spec = knowledge.session, knowledge.spec
    names = ", ".join(map(quote_name, [spec.record_key, *spec.kept_columns]))
    kept = f"(select {names} from {_microdata(session, spec)})"
    return read_trial(knowledge, rows, members, kept, seed=spec.random_state)


class _Released:
    """The rows that each effort releases of the inner records."""

    def __init__(
        self, session: Session, spec: Spec, relations: Mapping[str, duckdb.DuckDBPyRelation]
    ) -> None:
        self.session, self.spec, self.relations = session, spec, relations
        key, untouched = spec.record_key, relations[f"{spec.name}_effort_0"]
        microdata = relations[f"{spec.name}_microdata"]
        inner = read_arrays(microdata, {"inner": "cast(not is_outer as bigint)"}, order_by=key)
        self.inner: Ints = np.flatnonzero(inner["inner"])
        guarantees = spec.guarantees.resolved
        named = {f"sensitive {a}": rank_sql(a) for a in sensitive_attributes(guarantees)}
        count = len(inner["inner"])
        reader = EffortReader(Effort(0, untouched, {}), (), Reading(), Sample(count, count), key)
        recount = make_recount(
            reader,
            guarantees,
            read_arrays(untouched, named, order_by=key),
            subjects=None,
            population_size=spec.population_size,
        )
        self.table = training_table(recount, self.inner)
        self.names = ", ".join(map(quote_name, [*spec.generalized_columns, *spec.kept_columns]))

    def external(self, name: str) -> str:
        """Return SQL of a foreign table."""
        return f"select {self.names} from {self.session.warehouse.relation_of_ref(name)}"

    def own(self, name: str, number: int) -> str:
        """Return SQL of the inner records of an effort that keep the guarantees on their own."""
        key = quote_name(self.spec.record_key)
        positions = self.inner if number == 0 else self.inner[~self._suppressed(name, number)]
        import pandas as pd  # noqa: PLC0415

        view = f"dbt_anonymize_positions_{number}"
        self.session.cursor.register(view, pd.DataFrame({"position": positions}))
        return (
            f"select {self.names} from (select *, row_number() over (order by {key}) - 1 as "
            f"dbt_anonymize_position from {self.session.warehouse.relation_of_ref(name)}) "
            f"where dbt_anonymize_position in (select position from {view})"
        )

    def _suppressed(self, name: str, number: int) -> np.ndarray:
        hashed = {"class": "hash(equivalence_class)"}
        hashes = read_arrays(self.relations[name], hashed, order_by=self.spec.record_key)["class"]
        classes = np.unique(hashes, return_inverse=True)[1].astype(np.int64)
        try:
            return self.table.suppressed(classes, self.spec.numbered_efforts[number].k)
        except SearchError:  # a guarantee can never hold on the inner records alone
            return np.ones(len(self.inner), dtype=np.bool_)


def _row(number: int, result: AttackResult) -> dict[str, Any]:
    return {
        "effort": number,
        "attack": result.attack,
        "measure": result.measure,
        "attribute": result.attribute,
        "rate": result.main,
        "control_rate": result.control,
        "risk": result.risk,
        "risk_low": result.risk_lower,
        "risk_high": result.risk_upper,
        "guesses": result.guesses,
    }


def _seen_row(number: int, test: SeenTest) -> dict[str, Any]:
    (outer, records), (compared, of) = test.outer, test.compared
    return {
        "effort": number,
        "attack": "seen",
        "measure": test.measure,
        "attribute": test.left_out,
        "rate": outer / records if records else None,
        "control_rate": compared / of if of else None,
        "guesses": records,
        "p_value": test.p_value,
    }
