"""Time of the attacks on a release, by the number of records.

usage: python benchmarks/attacks.py [RECORDS]

Random people with three quasi-identifiers; the release has two kinds of levels side by side, as
local recoding gives, and the other release is coarser. Membership inference is not measured: it
takes a sample, and as long as its model.
"""

# ruff: noqa: S608 (names of our own tables)

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from dbt_anonymize.extensions.attacks.composition import OtherRelease, attack_composition
from dbt_anonymize.extensions.attacks.inference import attack_confidence, attack_inference
from dbt_anonymize.extensions.attacks.knowledge import Knowledge, load_attacker_knowledge
from dbt_anonymize.extensions.attacks.linkability import attack_linkability
from dbt_anonymize.extensions.attacks.linkage import attack_linkage
from dbt_anonymize.extensions.attacks.mapping import attack_mapping
from dbt_anonymize.extensions.attacks.released import Origin, Released, read_release
from dbt_anonymize.extensions.attacks.running import GUESSES
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.extensions.attacks.singling_out import attack_singling_out
from dbt_anonymize.extensions.attacks.trial import read_trial
from dbt_anonymize.spec import Spec

PEOPLE = """
create table people_microdata as
select
    range as id,
    case when random() > 0.01 then cast(floor(random() * 100) as integer) end as age,
    lpad(cast(cast(floor(random() * 1000) as integer) as varchar), 3, '0') as zip,
    case when random() < 0.5 then 'f' else 'm' end as sex,
    ['a', 'b', 'c', 'd'][1 + cast(floor(random() * random() * 4) as integer)] as diagnosis
from range({records})
"""
AGES = """
create table ages as
select
    range as lower_bound,
    range + 1 as upper_bound,
    '[' || range // 5 * 5 || ', ' || (range // 5 + 1) * 5 || ')' as level_1,
    '[' || range // 20 * 20 || ', ' || (range // 20 + 1) * 20 || ')' as level_2,
    '*' as level_3
from range(100)
"""
ZIPS = """
create table zips as
select lpad(cast(range as varchar), 3, '0') as value, left(value, 1) || '**' as level_1,
    '*' as level_2
from range(1000)
"""
SEXES = "create table sexes as select unnest(['f', 'm']) as value, '*' as level_1"
# Every third postcode is generalized more.
RELEASE = """
create table {name} as
select *, concat_ws('|', age, zip, sex) as cqi, cqi as equivalence_class, false as is_suppressed
from (
select
    id,
    coalesce('[' || age // {w} * {w} || ', ' || (age // {w} + 1) * {w} || ')', '*') as age,
    coalesce(age // {w} * {w}, 0) as age_lower,
    coalesce((age // {w} + 1) * {w}, 100) as age_upper,
    case when cast(zip as integer) % 3 = 0 then '*' else left(zip, 1) || '**' end as zip,
    sex, diagnosis
from people_microdata
) as generalized
"""
SPEC = {
    "version": 1,
    "name": "people",
    "source": {"ref": "people"},
    "record_key": "id",
    "columns": {
        "age": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "ages", "kind": "interval", "levels": 3},
        },
        "zip": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "zips", "kind": "categorical", "levels": 2},
        },
        "sex": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "sexes", "kind": "categorical", "levels": 1},
        },
        "diagnosis": {"role": "sensitive"},
    },
    "target": "diagnosis",
    "features": ["age"],
    "efforts": [{"age": 1, "zip": 1, "sex": 0}],
    "guarantees": {"k_anonymity": {"k": 5}},
    "suppression_limit": 0.0,
    "quality": {
        "model": "naive_bayes",
        "measure": "accuracy",
        "repetitions": 1,
        "test_share": 0.3,
        "random_state": 1,
    },
    "alpha": 0.1,
    "qnf": "k",
}


class Relations:
    """Finds a relation by its name."""

    def relation_of_ref(self, name: str) -> str:
        """Return the name."""
        return name


def main(records: int) -> None:
    """Attack, and print what each attack took."""
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(str(Path(folder) / "people.duckdb"))
        connection.execute("select setseed(0.5)").fetchall()
        statements = (
            PEOPLE.format(records=records),
            AGES,
            ZIPS,
            SEXES,
            RELEASE.format(name="people_effort_1", w=5),
            RELEASE.format(name="people_effort_2", w=20),
            "create table people_identifiers as select id, cqi from people_effort_1",
        )
        for statement in statements:
            connection.execute(statement)
        session = Session(Relations(), connection)  # type: ignore[arg-type]
        _attack(session, Spec.model_validate(SPEC))
        connection.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{records:,} records, {memory:.1f} GiB")


def _attack(session: Session, spec: Spec) -> None:
    knowledge = _timed("what is known", lambda: load_attacker_knowledge(session, spec))
    release = _timed("reading the release", lambda: _read(knowledge, spec, 1))
    _timed("linkage", lambda: attack_linkage(release, 1.0))
    _timed("linkage through the mapping", lambda: attack_mapping(knowledge, "people_effort_1"))
    _timed("highest confidence", lambda: attack_confidence(release))
    _timed("trial", lambda: _try(knowledge))
    other = _timed("reading another release", lambda: _read(knowledge, spec, 2))
    _timed(
        "composition", lambda: attack_composition(release, other, OtherRelease("other", "other"))
    )


def _try(knowledge: Knowledge) -> None:
    """Anonymize half of the people, by the labels of effort 1, and attack them."""
    session = knowledge.session
    members = session.table(
        "members", f"select person, record_key % 2 = 0 as is_member from {knowledge.targets}"
    )
    released = session.table("trial", "select * from people_effort_1 where id % 2 = 0")
    trial = _timed(
        "reading a trial",
        lambda: read_trial(knowledge, released, members, "people_microdata", seed=1),
    )
    _timed("singling out", lambda: attack_singling_out(trial, GUESSES))
    _timed("linkability", lambda: attack_linkability(trial, GUESSES))
    _timed("attribute inference", lambda: attack_inference(trial, GUESSES))


def _read(knowledge: Knowledge, spec: Spec, effort: int) -> Released:
    relation = f"people_effort_{effort}"
    origin = Origin(relation, "id")
    found = read_release(knowledge, relation, relation, published=spec, origin=origin)
    assert found is not None
    return found


def _timed(what: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = work()
    print(f"{what:24} {time.perf_counter() - start:7.2f} s")
    return result


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
