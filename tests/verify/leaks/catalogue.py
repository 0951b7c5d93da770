"""The catalogue of planted leaks: which check finds each, or why none has to.

An edit is a list of replacements in the compiled SQL of models. All are valid SQL of DuckDB; what
they leak is shown by building two clinics that differ in that secret alone.
"""

# ruff: noqa: E501 (SQL reads best on one line)
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

EFFORTS = ("effort_0", "effort_1", "effort_2")
IDENTIFIER, RECORD_KEY, QUASI = "identifier", "record key", "quasi-identifier"
PEOPLE = '"clinic"."main"."people"'
REGISTRY = '"clinic"."main"."registry"'
# Another relation about the same people, with keys and identifiers of its own.
CRM = '"clinic"."main"."crm"'
VAULT = '"vault"."main"."visits_identifiers"'
Edit = Callable[[str], str]
# Who finds it.
PROVENANCE, RECOMPUTATION = "provenance", "recomputation"
# Why nobody has to. Nothing here changes the data of a release against its source.
CHOSEN = "a filter or join upstream chooses who is in the source"
DECIDED = "a filter, join or group upstream decides a value that is made of nothing secret"
STORED_ORDER = "the order in which rows are stored upstream decides a value"
UNCHANGED = "the release is what it must be"
STOPS = "the build stops, and nothing is released"


@dataclass(frozen=True)
class Leak:
    """One planted leak.

    Parameters
    ----------
    name : str
        What is done.
    secret : str
        What the release then depends on; empty for one that DuckDB runs, but that needs no secret
        of the clinic to be wrong.
    edits : mapping
        Model to the edit of its compiled SQL.
    found_by : str, default "recomputation"
        The check that finds it, or why none has to.
    healed : tuple of str
        Models that are honest again when the release is verified.
    """

    name: str
    secret: str
    edits: Mapping[str, Edit]
    found_by: str = RECOMPUTATION
    healed: tuple[str, ...] = ()


def swap(*pairs: tuple[str, str]) -> Edit:
    """Return an edit that replaces texts, each of which must be there."""

    def edit(sql: str) -> str:
        for old, new in pairs:
            assert old in sql, f"the edit has nothing to replace: {old}"
            sql = sql.replace(old, new)
        return sql

    return edit


def add(text: str) -> Edit:
    return lambda sql: f"{sql}\n{text}"


def source_smoker(expression: str) -> Edit:
    """Return an edit of the microdata that puts something else in the place of a kept column."""
    return swap(('source."smoker"', f'{expression} as "smoker"'))


def source_from(relation: str) -> Edit:
    return swap((f"select * from {PEOPLE}", relation))


def with_step(step: str, smoker: str, join: str = "") -> Edit:
    """Return an edit of the microdata with one common table more."""
    return swap(
        ("values_1 as (", f"step as ({step}),\n\nvalues_1 as ("),
        ('source."smoker"', f'{smoker} as "smoker"'),
        ("from source\nleft join leaves_1", f"from source\n{join}\nleft join leaves_1"),
    )


def released_smoker(expression: str, join: str = "") -> Edit:
    """Return an edit of the release that puts something else in the place of a kept column."""
    return swap(
        ('"smoker",\n    "diagnosis",\n    equivalence_class', f'{expression} as "smoker",\n'
         '    effort."diagnosis",\n    equivalence_class'),
        ("\n    \"age\",\n    \"age_lower\",\n    \"age_upper\",\n    \"zip\",\n    " + expression,
         "\n    effort.\"age\",\n    \"age_lower\",\n    \"age_upper\",\n    effort.\"zip\",\n    "
         + expression),
        ("from effort\nwhere", f"from effort\n{join}\nwhere"),
        ('order by\n    "age",\n    "age_lower",\n    "age_upper",\n    "zip",\n    "smoker",\n'
         '    "diagnosis",\n    cqi', "order by 1, 2, 3, 4, 5, 6, 7"),
    )  # fmt: skip


def label_zip(expression: str) -> Edit:
    """Return an edit of an effort that gives another label than the one its classes are made of."""
    return swap(
        ('generalized."zip",', 'generalized.other as "zip",'),
        ('microdata."smoker",', f'microdata."smoker", {expression} as other,'),
    )


def where(condition: str, join: str = "") -> Edit:
    """Return an edit of the release with one condition more."""
    return swap(
        ("from effort\nwhere not is_suppressed",
         f"from effort\n{join}\nwhere not is_suppressed and {condition}"),
    )  # fmt: skip


def in_microdata(name: str, expression: str, found_by: str = RECOMPUTATION) -> Leak:
    return Leak(name, IDENTIFIER, {"microdata": source_smoker(expression)}, found_by)


PERSON = "person.visit_id = effort.visit_id"

IN_VALUES = (
    in_microdata("direct", 'source."ssn"'),
    in_microdata("hashed with md5", "md5(source.ssn)"),
    in_microdata("hashed with sha256 and a salt", "sha256('salt' || source.ssn)"),
    in_microdata("hashed to a number", "cast(hash(source.ssn) as text)"),
    in_microdata("the last digits", "substring(source.ssn, 2)"),
    in_microdata("a slice", "source.ssn[2:3]"),
    in_microdata("concatenated", "concat(source.smoker, ' ', source.name)"),
    in_microdata("one bit of it", "case when source.name like 'A%' then 'yes' else 'no' end"),
    in_microdata("only where something is missing", "coalesce(nullif(source.smoker, 'no'), source.ssn)"),
    in_microdata("cast", "cast(cast(source.ssn as integer) % 2 = 0 as text)"),
    in_microdata("in a struct", "cast({'s': source.smoker, 'n': source.name} as text)"),
    in_microdata("in a list", "cast([source.smoker, source.ssn] as text)"),
    in_microdata("through an alias of the same select", "source.ssn as hidden, hidden"),
    in_microdata("in the message of an error",
                 "case when source.smoker = 'yes' then error(source.name) else source.smoker end", STOPS),
    in_microdata("the rank in an order", "cast(row_number() over (order by source.name) as text)"),
    in_microdata("the number in a partition",
                 "cast(count(*) over (partition by left(source.ssn, 1)) as text)"),
    in_microdata("the neighbour in an order", "lag(source.smoker) over (order by source.ssn)"),
    in_microdata("all values in one text", "string_agg(source.ssn, ',') over ()"),
    in_microdata("in a scalar subquery", f"(select min(name) from {PEOPLE})"),
    in_microdata("a list in a scalar subquery", "(select cast(array_agg(ssn) as text) from source)"),
    in_microdata("the order of a list", "(select string_agg(smoker, ',' order by ssn) from source)"),
    in_microdata("a filtered count",
                 "(select cast(count(*) filter (where name like 'A%') as text) from source)"),
    in_microdata("in a correlated subquery",
                 "(select max(p.name) from source as p where p.visit_id = source.visit_id)"),
    in_microdata("whether there is another",
                 "cast(exists (select 1 from source as p where p.ssn < source.ssn) as text)"),
    in_microdata("among others", "cast(source.name in ('Ana0', 'Eva4') as text)"),
    Leak("minimum per class", IDENTIFIER,
         {"anonymized": released_smoker("min(person.name) over (partition by equivalence_class)",
                                        f"inner join {PEOPLE} as person on {PERSON}")}),
    Leak("any value per group", IDENTIFIER,
         {"microdata": with_step("select zip as z, any_value(ssn) as s from source group by zip",
                                 "step.s", "inner join step on source.zip = step.z")}),
    Leak("renamed in a star", IDENTIFIER,
         {"microdata": source_from(f"select * replace (ssn as smoker) from {PEOPLE}")}),
    Leak("renamed by position", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} as p (visit_id, smoker, ssn, age, zip, name, diagnosis)")}),
    Leak("renamed twice", IDENTIFIER,
         {"microdata": with_step("select visit_id as a, ssn as b from source", "step.b",
                                 "inner join step on source.visit_id = step.a")}),
)  # fmt: skip

WHOLE_ROWS = (
    in_microdata("the row as JSON", "cast(to_json(source) as text)"),
    in_microdata("a field of the row", "(source).ssn"),
    in_microdata("the row itself", "cast(source as text)"),
    in_microdata("a field of the row as JSON", "to_json(source) ->> '$.ssn'"),
    Leak("a row in a common table, then one of its fields", IDENTIFIER,
         {"microdata": with_step("select visit_id as k, {'n': name} as r from source", "step.r.n",
                                 "inner join step on source.visit_id = step.k")}),
    Leak("rows as a group", IDENTIFIER,
         {"microdata": with_step("select cast(p as text) as r from source as p group by p order by 1 limit 1",
                                 "step.r", "cross join step")}),
    Leak("columns by a pattern", IDENTIFIER,
         {"microdata": source_from(f"select columns('visit_id|age|zip|diagnosis'), ssn as smoker, name from {PEOPLE}")}),
    Leak("a column by its number", IDENTIFIER,
         {"microdata": swap(('source."smoker"', '#2 as "smoker"'),
                            ("from source\nleft join leaves_1",
                             "from source\nleft join leaves_1"))}),
)  # fmt: skip

CLAUSES = (
    Leak("rows by an identifier", IDENTIFIER,
         {"microdata": add("where source.ssn > '5'")}),
    Leak("rows by a subquery over an identifier", IDENTIFIER,
         {"microdata": add("where source.name in (select name from source order by name limit 9)")}),
    Leak("rows by existence", IDENTIFIER,
         {"anonymized": where(f"exists (select 1 from {PEOPLE} as p where p.ssn > '5' and p.visit_id = effort.visit_id)")}),
    Leak("groups by an aggregate", RECORD_KEY,
         {"anonymized": where("true group by all having min(visit_id) > 150")}),
    Leak("the first of each window", IDENTIFIER,
         {"microdata": add("qualify row_number() over (partition by source.zip, source.age order by source.ssn) = 1")}),
    Leak("distinct on, by an order", IDENTIFIER,
         {"microdata": swap(("select\n    source.\"visit_id\"",
                             "select distinct on (source.zip, source.age)\n    source.\"visit_id\""),
                            ("cast(source.\"zip\" as TEXT) = leaves_2.leaf",
                             "cast(source.\"zip\" as TEXT) = leaves_2.leaf\norder by source.ssn"))}),
    Leak("how often a row is joined", IDENTIFIER,
         {"microdata": swap(("from source\nleft join leaves_1",
                             "from source\ninner join (select ssn as s from source) as p on p.s < source.ssn\n"
                             "left join leaves_1"))}),
    Leak("joined using an identifier", IDENTIFIER,
         {"microdata": swap(("from source\nleft join leaves_1",
                             "from source\ninner join (select left(ssn, 1) || '11' as ssn from source) as p using (ssn)\n"
                             "left join leaves_1"))}),
    Leak("the order of the release", RECORD_KEY,
         {"anonymized": swap(("order by\n    \"age\",", "order by\n    visit_id,\n    \"age\","))}),
    Leak("the order of the release by an alias", RECORD_KEY,
         {"anonymized": swap(("select * from \"clinic\".\"main\".\"visits_effort_2\"",
                              "select *, 0 - visit_id as way from \"clinic\".\"main\".\"visits_effort_2\""),
                             ("order by\n    \"age\",", "order by\n    way,\n    \"age\","))}),
    Leak("rows by a raw value", QUASI,
         {"effort_2": swap(("select * from \"clinic\".\"main\".\"visits_microdata\"",
                            "select * from \"clinic\".\"main\".\"visits_microdata\" where zip <> '11'"))}),
    Leak("rows by the finest interval", "",
         {"effort_2": swap(("select * from \"clinic\".\"main\".\"visits_microdata\"",
                            "select * from \"clinic\".\"main\".\"visits_microdata\" where age_leaf <> 2"))}),
    Leak("rows except some", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} except select * from {PEOPLE} where name < 'C'")}),
    Leak("rows by a random order of an identifier", IDENTIFIER,
         {"microdata": add("order by source.ssn limit 20")}),
)  # fmt: skip

SHAPES = (
    Leak("a branch of a union", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} union all by name select visit_id + 5000 as visit_id, name, ssn,"
                                   f" age, zip, name as smoker, diagnosis from {PEOPLE}")}),
    Leak("a branch of a union by position", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} union all select visit_id + 5000, name, ssn, age, zip, name as n,"
                                   f" diagnosis from {PEOPLE}")}),
    Leak("values in a recursive common table", IDENTIFIER,
         {"microdata": lambda sql: with_step(
             "select max(name) as v from source union all select v || '!' from step where length(v) < 4",
             "step.v", "cross join step")(sql).replace("with", "with recursive", 1)}),
    Leak("a lateral join", IDENTIFIER,
         {"microdata": with_step("select 1", "person.name",
                                 "cross join lateral (select source.name as name) as person")}),
    Leak("a row of each element of a list", IDENTIFIER,
         {"microdata": source_smoker("unnest([source.ssn])")}),
    Leak("elements of a list as a relation", IDENTIFIER,
         {"microdata": with_step("select 1", "element.e",
                                 "cross join unnest([source.ssn]) as element (e)")}),
    Leak("a pivot", IDENTIFIER,
         {"microdata": with_step("select * from (pivot (select name, smoker from source) on smoker in ('yes', 'no')"
                                 " using max(name)) as p", "step.yes", "cross join step")}),
    Leak("joined by position", IDENTIFIER,
         {"anonymized": released_smoker("person.name", f"positional join {PEOPLE} as person")}),
    Leak("a function over a list", IDENTIFIER,
         {"microdata": source_smoker("cast(list_transform([source.ssn], lambda x: x || '!') as text)")}),
    Leak("two queries", "", {"anonymized": add("; select 1")}, UNCHANGED),
)  # fmt: skip

RELATIONS = (
    Leak("a view that dbt does not know", IDENTIFIER,
         {"microdata": source_from('select * from "clinic"."main"."hidden"')}),
    Leak("a relation without its schema", "",
         {"microdata": source_from("select * from hidden")}),
    Leak("a file", "",
         {"microdata": source_from("select * from read_csv('{registry}')")}),
    Leak("a file by its name", "",
         {"microdata": source_from("select * from '{registry}'")}),
    Leak("a macro in the database", IDENTIFIER,
         {"microdata": source_smoker("peek(source.visit_id)")}),
    Leak("a variable of the session", "",
         {"microdata": source_smoker("coalesce(getvariable('x'), source.smoker)")}, UNCHANGED),
    Leak("the vault", IDENTIFIER,
         {"anonymized": released_smoker("person.name", f"inner join {VAULT} as person on {PERSON}")}),
    Leak("the vault, before the release", IDENTIFIER,
         {"effort_2": swap(("select * from effort", "select effort.* replace (person.name as smoker) from effort"
                            f" inner join {VAULT} as person on {PERSON}"))}),
    Leak("the source, after the microdata", IDENTIFIER,
         {"effort_2": swap(("select * from effort", "select effort.* replace (person.name as smoker) from effort"
                            f" inner join {PEOPLE} as person on {PERSON}"))}),
    Leak("another relation of the project", "",
         {"effort_2": swap(("select * from effort", "select effort.* from effort cross join"
                            " (select count(*) as n from \"clinic\".\"main\".\"registry\") as r"))}, UNCHANGED),
    Leak("the untouched table", QUASI,
         {"anonymized": swap(("visits_effort_2", "visits_effort_0"))}),
    Leak("two efforts", "",
         {"anonymized": swap(('select * from "clinic"."main"."visits_effort_2"',
                              'select * from "clinic"."main"."visits_effort_2" union all'
                              ' select * from "clinic"."main"."visits_effort_1"'))}),
)  # fmt: skip

GENERALIZATION = (
    Leak("the record key as it is", RECORD_KEY, {"anonymized": released_smoker("visit_id")}),
    Leak("the record key in a formula", RECORD_KEY,
         {"anonymized": released_smoker("cast(visit_id * 7 + 3 as text)")}),
    Leak("the record key in the equivalence class", RECORD_KEY,
         {"anonymized": swap(("equivalence_class as cqi", "equivalence_class || '|' || visit_id as cqi"))}),
    Leak("the number of the row", "",
         {"microdata": with_step(f"select visit_id as k, rowid as r from {PEOPLE}", "step.r",
                                 "inner join step on source.visit_id = step.k")}),
    Leak("a raw value in a kept column", QUASI,
         {"microdata": source_smoker("source.zip")}),
    Leak("a raw value as a label", QUASI,
         {"effort_2": label_zip("microdata.zip")}),
    Leak("a raw value as a bound", QUASI,
         {"effort_2": swap(("coalesce(hierarchy_1.label_lower, range_1.range_lower)",
                            "coalesce(microdata.age, range_1.range_lower)"))}),
    Leak("the value of a hierarchy as a label", QUASI,
         {"effort_2": label_zip("hierarchy_2.leaf")}),
    Leak("the finest interval as a bound", "",
         {"effort_2": swap(("partition by level_2", "partition by lower_bound"))}),
    Leak("the leaf as a bound", "",
         {"effort_2": swap(("coalesce(hierarchy_1.label_lower, range_1.range_lower)",
                            "coalesce(microdata.age_leaf, range_1.range_lower)"))}),
    Leak("a weaker level than declared", "",
         {"effort_2": swap(("cast(level_2 as TEXT)", "cast(level_1 as TEXT)"))}, STOPS),
    Leak("a weaker level in an effort that is not chosen now", "",
         {"effort_1": label_zip("hierarchy_2.leaf")}),
    Leak("the equivalence class of the untouched table", QUASI,
         {"effort_2": swap(("where effort = 2", "where effort = 0"),
                           ("microdata.\"smoker\",", "microdata.\"smoker\", microdata.zip as z, cast(microdata.age as text) as a,"),
                           ("generalized.\"age\" = classes", "generalized.a = classes"),
                           ("generalized.\"zip\" = classes", "generalized.z = classes"))}),
    Leak("the equivalence class of any effort", "",
         {"effort_2": swap(("where effort = 2", "where effort <> 1"))}, UNCHANGED),
    Leak("a label by another column", "",
         {"effort_2": swap(("microdata.\"zip_leaf\" = hierarchy_2.leaf", "microdata.\"smoker\" = hierarchy_2.leaf"))}, STOPS),
    Leak("a mark on one raw value, joined", "",
         {"effort_2": swap(("select * from effort", "select effort.* replace (case when step.b is null then smoker else 'x' end"
                            " as smoker) from effort left join (select 4 as b) as step on effort.visit_id = step.b"))}, UNCHANGED),
    Leak("a mark on one leaf, joined", "",
         {"effort_2": swap(("left join hierarchy_2", "left join (select 4 as b, 'x' as mark) as step"
                            " on microdata.age_leaf = step.b\n    left join hierarchy_2"),
                           ("microdata.\"smoker\",", "coalesce(step.mark, microdata.smoker) as \"smoker\","))}),
    Leak("a mark on leaves that are computed", "",
         {"effort_2": swap(("left join hierarchy_2", "left join (select case when lower_bound = 4 then lower_bound end as b,"
                            " 'x' as mark from \"clinic\".\"main\".\"ages\") as step"
                            " on microdata.age_leaf = step.b\n    left join hierarchy_2"),
                           ("microdata.\"smoker\",", "coalesce(step.mark, microdata.smoker) as \"smoker\","))}),
    Leak("half a hierarchy", QUASI,
         {"effort_2": swap(("left join hierarchy_2", "inner join (select value as b from \"clinic\".\"main\".\"zips\""
                            " where value like '%1') as step on microdata.zip_leaf = step.b\n    left join hierarchy_2"))}),
    Leak("a kept column that holds another too", "",
         {"effort_2": swap(("microdata.\"smoker\",", "microdata.smoker || microdata.diagnosis as \"smoker\","))}),
    Leak("a column more", RECORD_KEY,
         {"anonymized": swap(("equivalence_class as cqi", "equivalence_class as cqi, visit_id"))}),
    Leak("an identifier in a working table", IDENTIFIER,
         {"microdata": swap(('source."smoker",', 'source."smoker", source.ssn,')),
          "anonymized": released_smoker("first.ssn", 'inner join "clinic"."main"."visits_microdata" as first'
                                                    " on first.visit_id = effort.visit_id")}),
    Leak("an identifier in a working table, not released", "",
         {"microdata": swap(('source."smoker",', 'source."smoker", source.ssn,'))}),
)  # fmt: skip

ZIPS, AGES = '"clinic"."main"."zips"', '"clinic"."main"."ages"'
MICRODATA = '"clinic"."main"."visits_microdata"'
COUNTED = "rows between current row and current row"
FIVE_COLUMNS = "visit_id, name, ssn, age, zip"


def marked(step: str, on: str) -> Edit:
    """Return an edit of an effort that marks the records which a join finds."""
    return swap(
        ("left join hierarchy_2", f"left join ({step}) as step on {on}\n    left join hierarchy_2"),
        ('microdata."smoker",', 'coalesce(step.mark, microdata.smoker) as "smoker",'),
    )


def with_part(smoker: str) -> Edit:
    """Return an edit of the microdata in which a column of its source is a unit of time."""
    return swap(
        (f"select * from {PEOPLE}",
         f"select *, case when ssn > '5' then 'month' else 'year' end as part from {PEOPLE}"),
        ('source."smoker"', f'{smoker} as "smoker"'),
    )  # fmt: skip


# A condition that stands where no rule looks for one: in a presence, a count, a mark, a unit, a type.
HIDDEN_CONDITIONS = (
    Leak("a label by the presence of something computed", QUASI,
         {"effort_2": label_zip("case when nullif(microdata.zip, '11') is null then 'x' else hierarchy_2.label end")}),
    Leak("rows by the presence of something computed", QUASI,
         {"microdata": add("where nullif(source.zip, '11') is not null")}),
    Leak("rows by the presence of a lossy cast", "",
         {"microdata": add("where try_cast(source.zip as utinyint) is not null")}, UNCHANGED),
    Leak("rows by a count over one row", QUASI,
         {"effort_2": swap((f"select * from {MICRODATA}",
                            f"select * from (select *, count(case when zip = '11' then 1 end) over ({COUNTED}) as n"
                            f" from {MICRODATA}) as q where n = 0"))}),
    Leak("a mark by a count over one row", QUASI,
         {"microdata": swap((f"select * from {PEOPLE}",
                             f"select *, count(case when zip = '11' then 1 end) over ({COUNTED}) as n from {PEOPLE}"),
                            ("from source\nleft join leaves_1",
                             "from source\nleft join (select 1 as b, 'x' as mark) as step on source.n = step.b\n"
                             "left join leaves_1"),
                            ('source."smoker"', 'coalesce(step.mark, source.smoker) as "smoker"'))}),
    Leak("a mark on the first of a hierarchy", QUASI,
         {"effort_2": marked(f"select value as b, 'x' as mark from {ZIPS} limit 1", "microdata.zip_leaf = step.b")}),
    Leak("a mark on the first row of a window", QUASI,
         {"effort_2": marked(f"select value as b, 'x' as mark from {ZIPS} qualify row_number() over () = 1",
                             "microdata.zip_leaf = step.b")}),
    Leak("a mark on the least of each label", QUASI,
         {"effort_2": marked(f"select min(value) as b, 'x' as mark from {ZIPS} group by level_1",
                             "microdata.zip_leaf = step.b")}),
    Leak("a mark on the least of all", QUASI,
         {"effort_2": swap(("left join hierarchy_2", f"left join (select min(value) as b, 'x' as mark from {ZIPS}) as step"
                            " on microdata.zip_leaf = step.b\n    left join hierarchy_2"),
                           ("else hierarchy_2.label", "else coalesce(step.mark, hierarchy_2.label)"),
                           ('and generalized."zip" = classes."zip"', 'and hierarchy_zip = classes."zip"'),
                           ("from microdata\n    cross join", "        , hierarchy_2.label as hierarchy_zip\n    from microdata\n    cross join"))}),
    Leak("a mark on a literal beside a hierarchy", QUASI,
         {"effort_2": marked(f"select '11' as b, 'x' as mark union all select value, null from {ZIPS} where false",
                             "microdata.zip_leaf = step.b")}),
    Leak("a mark on some record keys", RECORD_KEY,
         {"effort_2": marked(f"select case when visit_id > 150 then visit_id end as b, 'x' as mark from {MICRODATA}",
                             "microdata.visit_id = step.b")}),
    Leak("a mark on the first record keys", "",
         {"effort_2": marked(f"select visit_id as b, 'x' as mark from {MICRODATA} limit 3",
                             "microdata.visit_id = step.b")}),
    Leak("the record with the next key", RECORD_KEY,
         {"effort_2": marked(f"select visit_id - 7 as b, smoker as mark from {MICRODATA}",
                             "microdata.visit_id = step.b")}),
    Leak("a window over two branches, one of which is left out", IDENTIFIER,
         {"microdata": with_step("select v from (select j, first_value(v) over (partition by k order by j desc, v) as v from"
                                 " (select 2 as j, 2 - 1 as k, name as v from source union all"
                                 " select 1 as j, 1 as k, smoker as v from source) as u) as t where j = 1 limit 1",
                                 "coalesce(step.v, source.smoker)", "cross join step")}),
    Leak("a number that another type rounds", IDENTIFIER,
         {"microdata": with_step("select v from (select 16777217 as e, name as v from source union all"
                                 " select cast(0 as float) as e, smoker as v from source union all"
                                 " select 16777216 as e, smoker as v from source) as u where e = 16777216 limit 1",
                                 "coalesce(step.v, source.smoker)", "cross join step")}),
    Leak("a column as the unit of a time that is cut", IDENTIFIER,
         {"microdata": with_part("coalesce(cast(date_trunc(part, date '2001-05-05') as text), source.smoker)")}),
    Leak("a column as the unit of a difference", IDENTIFIER,
         {"microdata": with_part("case when date_diff(part, date '2000-01-01', date '2001-01-01') > 5"
                                 " then source.smoker else 'n' end")}),
    Leak("a comment for one parser only", QUASI,
         {"effort_2": label_zip("map {#2:1}::text || --#}\n {'a': hierarchy_2.label}::text")}),
    Leak("a name that folds to another for one parser only", IDENTIFIER,
         {"microdata": lambda sql: swap((f"select * from {PEOPLE}", "select * from hidden_k"))(sql).replace(
             "with", f'with "hidden_\u212a" as (select * from {PEOPLE}),', 1)}),
)  # fmt: skip

# What comes out is in no order but that of what it shows.
ORDERS = (
    Leak("the release in no order", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")]}),
    Leak("the release in the order in which it is stored", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")] + "order by row_number() over ()"}),
    Leak("the release without the last key of its order", "",
         {"anonymized": swap(('"diagnosis",\n    cqi', '"diagnosis"'))}, UNCHANGED),
    Leak("the first rows of the source", "",
         {"microdata": source_from(f"select * from {PEOPLE} limit 20")}),
    Leak("the first rows of the release", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")] + "qualify row_number() over () <= 5"}),
)  # fmt: skip

UPSTREAM = (
    Leak("a hash that a model upstream calls harmless", IDENTIFIER,
         {"people": lambda _: f"select * replace (md5(ssn) as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("the record key under another name upstream", RECORD_KEY,
         {"people": lambda _: f"select * replace (visit_id + 1 as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("a quasi-identifier under another name upstream", QUASI,
         {"people": lambda _: f"select * replace (cast(age >= 7 as text) as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("a rank upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (rank() over (order by name) as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("a subquery upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace ((select min(p.name) from {REGISTRY} as p where p.zip = r.zip)"
                              f" as smoker) from {REGISTRY} as r"}, PROVENANCE),
    Leak("SQL upstream that cannot be followed", IDENTIFIER,
         {"people": lambda _: f"select * replace (peek(visit_id) as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("the whole row upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (cast(registry as text) as smoker) from {REGISTRY}"}, PROVENANCE),
    Leak("a literal by the branch of a union upstream", IDENTIFIER,
         {"people": lambda _: f"select {FIVE_COLUMNS}, 'yes' as smoker, diagnosis from {REGISTRY} where ssn > '5' union all"
                              f" select {FIVE_COLUMNS}, 'no' as smoker, diagnosis from {REGISTRY} where ssn <= '5'"}, DECIDED),
    Leak("a literal by a join upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (coalesce(p.mark, 'no') as smoker) from {REGISTRY} as r"
                              " left join (select 'x' as mark) as p on r.ssn > '5'"}, DECIDED),
    Leak("a literal by a joined part of the people upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (coalesce(p.mark, 'no') as smoker) from {REGISTRY} as r"
                              f" left join (select ssn, 'x' as mark from {REGISTRY} where ssn > '5') as p using (ssn)"}, DECIDED),
    Leak("a lookup by an identifier upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (z.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {ZIPS} as z on z.value[1] = r.ssn[1]"}, PROVENANCE),
    Leak("a literal by a filter over a cross join upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (p.mark as smoker) from {REGISTRY} as r"
                              ", (select 'x' as mark union all select 'y') as p where (r.ssn > '5') = (p.mark = 'x')"}, DECIDED),
    Leak("a count of some people upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (cast(n.n as text) as smoker) from {REGISTRY} as r left join"
                              f" (select zip, count(*) as n from {REGISTRY} where ssn > '5' group by zip) as n using (zip)"}, DECIDED),
    Leak("a label by the range of a quasi-identifier upstream", "",
         {"people": lambda _: f"select r.* replace (a.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {AGES} as a on r.age >= a.lower_bound and r.age < a.upper_bound"}, PROVENANCE),
    Leak("a label of a quasi-identifier upstream", "",
         {"people": lambda _: f"select r.* replace (z.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {ZIPS} as z on z.value = r.zip"}, PROVENANCE),
    Leak("the number of the row in a sorted relation upstream", IDENTIFIER,
         {"people": lambda _: "select * replace (cast(row_number() over () as text) as smoker)"
                              f" from (select * from {REGISTRY} order by ssn) as q"}, STORED_ORDER),
    Leak("a column as a unit of time upstream", IDENTIFIER,
         {"people": lambda _: "select * exclude (part) replace (cast(date_trunc(part, date '2001-05-05') as text) as smoker)"
                              f" from (select *, case when ssn > '5' then 'month' else 'year' end as part from {REGISTRY}) as q"}, PROVENANCE),
    Leak("a named window over an identifier upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (lag(smoker) over w as smoker) from {REGISTRY} window w as (order by ssn)"}, PROVENANCE),
)  # fmt: skip


def upstream(name: str, sql: str, found_by: str, secret: str = IDENTIFIER) -> Leak:
    """Return a leak in a model upstream of the source: `{r}` is what it reads."""
    text = sql.replace("{r}", REGISTRY).replace("{z}", ZIPS).replace("{k}", CRM)
    return Leak(name, secret, {"people": lambda _: text}, found_by)


KEPT_RANK = (
    "select * replace (cast({f} over (partition by {p} order by {o}) as text) as smoker) from {r}"
)


def ranked(name: str, window: tuple[str, str, str], found_by: str, secret: str) -> Leak:
    """Return a leak by a window over some rows (function, partition and order), which is kept."""
    function, by, order = window
    text = KEPT_RANK.replace("{f}", function).replace("{p}", by).replace("{o}", order)
    return upstream(name, text, found_by, secret)


# The twins of honest models: forms that are followed, with something secret in them.
FOLLOWED_FORMS = (
    upstream("renamed in a star upstream", "select * exclude (smoker) rename (name as smoker), name from {r}", PROVENANCE),
    upstream("a branch of a union by name upstream",
             "select * from {r} where age < 5 union all by name select diagnosis, name as smoker, zip, age, ssn, name,"
             " visit_id from {r} where age >= 5", PROVENANCE),
    upstream("letters of an identifier in a recursive common table upstream",
             "with recursive w as (select ssn, ssn[1] as c, 1 as n from {r} union all select ssn, ssn[n + 1], n + 1 from w"
             " where n < 2) select r.* replace (w.c as smoker) from {r} as r join w on w.ssn = r.ssn and w.n = 2", PROVENANCE),
    upstream("a mark in a natural join upstream",
             "select r.* replace (p.mark as smoker) from {r} as r natural join"
             " (select ssn, case when ssn > '5' then 'x' else 'y' end as mark from {r}) as p", PROVENANCE),
    upstream("a mark on a list of identifiers, joined using them",
             "select r.* replace (coalesce(p.mark, 'no') as smoker) from {r} as r"
             " left join (select '111' as ssn, 'x' as mark) as p using (ssn)", DECIDED),
    upstream("a mark on an unknown condition of a join",
             "select r.* replace (coalesce(p.mark, 'no') as smoker) from {r} as r"
             " left join (select 'x' as mark) as p on peek(r.visit_id) < 'D'", DECIDED),
    upstream("renamed by position upstream",
             "select * from {r} as q (visit_id, smoker, ssn, age, zip, name, diagnosis)", PROVENANCE),
    ranked("a rank among neighbours", ("row_number()", "zip", "name"), PROVENANCE, IDENTIFIER),
    ranked("a rank by the record key among neighbours", ("rank()", "zip", "visit_id"), PROVENANCE, RECORD_KEY),
    ranked("a rank by the record key where nobody is a subject", ("row_number()", "diagnosis", "visit_id"), PROVENANCE, RECORD_KEY),
    ranked("a count by a part of an identifier", ("count(*)", "left(ssn, 1)", "1"), PROVENANCE, IDENTIFIER),
    ranked("how often a raw value occurs", ("count(*)", "zip, diagnosis", "1"), PROVENANCE, ""),
    upstream("a rank beside the rows of neighbours",
             "select distinct on (visit_id) * from (select r.* replace (cast(rank() over (partition by p.diagnosis"
             " order by r.visit_id) as text) as smoker) from {r} as r join {r} as p on r.zip = p.zip) as q", PROVENANCE, RECORD_KEY),
    upstream("the first of a sorted relation in each group",
             "select r.* replace (m.s as smoker) from {r} as r join (select age, first(smoker) as s"
             " from (select * from {r} order by ssn) as q group by age) as m using (age)", STORED_ORDER),
    upstream("a text of all values of a sorted relation",
             "select r.* replace (m.s as smoker) from {r} as r join (select age, string_agg(smoker, '') as s"
             " from (select * from {r} order by ssn) as q group by age) as m using (age)", STORED_ORDER),
    upstream("the value of whoever is last in an order", "select r.* replace (m.s as smoker) from {r} as r join (select"
             " age, max_by(smoker, ssn) as s from {r} group by age) as m using (age)", PROVENANCE),
    upstream("records that are written down", "select * from (values (1, 'Ana', '111', 3, '11', 'Ana', 'flu'))"
             " as t (visit_id, name, ssn, age, zip, smoker, diagnosis)", CHOSEN, ""),
)  # fmt: skip

# Nothing that is released is made of a secret; that somebody is released tells it.
CHOSEN_RECORDS = (
    upstream("people of a name", "select * from {r} where name like 'A%'", CHOSEN),
    upstream("people on a list", "select * from {r} where ssn in ('111', '134', '157', '180')", CHOSEN),
    upstream("people in a subquery", "select * from {r} where ssn in (select ssn from {r} where name < 'C')", CHOSEN),
    upstream("people whom others precede",
             "select * from {r} as r where exists (select 1 from {r} as p where p.ssn < r.ssn and p.zip = r.zip)", CHOSEN),
    upstream("people of an unknown condition", "select * from {r} where peek(visit_id) < 'D'", CHOSEN),
    upstream("people by two identifiers", "select * from {r} where left(name, 1) > left(reverse(ssn), 1) or name < ssn", CHOSEN),
    upstream("records from a key on", "select * from {r} where visit_id > 130", CHOSEN, RECORD_KEY),
    upstream("records of a formula of the key", "select * from (select *, visit_id % 5 as m from {r}) as q (visit_id, name,"
             " ssn, age, zip, smoker, diagnosis, m) where m < 3", CHOSEN, RECORD_KEY),
    upstream("the first by name", "select * from {r} qualify row_number() over (order by name) < 17", CHOSEN),
    upstream("the first of neighbours by name",
             "select * from {r} qualify row_number() over (partition by zip, diagnosis order by name) = 1", CHOSEN),
    upstream("the first of neighbours by name, without a window",
             "select distinct on (zip, diagnosis) * from {r} order by zip, diagnosis, name", CHOSEN),
    upstream("the first of the record key of neighbours",
             "select * from (select *, row_number() over (partition by zip, diagnosis order by visit_id) as n from {r}) as q"
             " (visit_id, name, ssn, age, zip, smoker, diagnosis, n) where n = 1", CHOSEN, RECORD_KEY),
    upstream("the first by name, by a limit", "select * from {r} order by name limit 16", CHOSEN),
    upstream("the first as they are stored", "select * from {r} limit 16", CHOSEN, ""),
    upstream("people who have a match in a list", "select * from {r} as r semi join (select '111' as ssn union all"
             " select '134') as p using (ssn)", CHOSEN),
    upstream("people who have no match in a list", "select * from {r} as r anti join (values ('111'), ('134')) as p (s)"
             " on r.ssn = p.s", CHOSEN),
    upstream("people joined with a list", "select r.* from {r} as r join (values ('111'), ('134'), ('157')) as p (ssn)"
             " using (ssn)", CHOSEN),
    upstream("people joined by a part of an identifier",
             "select r.* from {r} as r join (select '1' as s) as p on left(r.ssn, 1) = p.s", CHOSEN),
    upstream("neighbours of the first by name", "select r.* from {r} as r join (select diagnosis, zip from {r} group by all"
             " having min(name) < 'C') as m using (diagnosis, zip)", CHOSEN),
    upstream("people without those of a name", "select * from {r} except select * from {r} where name < 'C'", CHOSEN),
)  # fmt: skip

# What another relation of the people chooses or gives, which a join equates with a secret.
JOINED_RECORDS = (
    upstream("people whom a filter on a joined key chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id where k.id < 130", CHOSEN, RECORD_KEY),
    upstream("people whom a join by a joined key chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id and k.id < 130", CHOSEN, RECORD_KEY),
    upstream("people who have a match among some keys",
             "select r.* from {r} as r semi join (select id from {k} where id < 130) as k on r.visit_id = k.id",
             CHOSEN, RECORD_KEY),
    upstream("people who have no match among some keys",
             "select r.* from {r} as r left join (select id from {k} where id < 130) as k on r.visit_id = k.id"
             " where k.id is null", CHOSEN, RECORD_KEY),
    upstream("people who have a match among some identifiers",
             "select r.* from {r} as r semi join (select ssn from {k} where ssn < '5') as k using (ssn)", CHOSEN),
    upstream("people whom a filter on a joined identifier chooses",
             "select r.* from {r} as r join {k} as k on r.ssn = k.ssn where k.ssn < '5'", CHOSEN),
    upstream("people joined by a hash, of which a filter chooses",
             "select r.* from {r} as r join {k} as k on md5(r.ssn) = md5(k.ssn) where k.ssn < '5'", CHOSEN),
    upstream("people whom a joined name chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id where k.name like 'A%'", CHOSEN),
    upstream("people whom a name in two steps chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id"
             " semi join (select name as called from {k} where name < 'D') as c on c.called = k.name", CHOSEN),
    upstream("people whom a joined key ranks first",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id qualify row_number() over (order by k.id) < 17",
             CHOSEN, RECORD_KEY),
    upstream("people in the first rows of another relation",
             "select r.* from {r} as r semi join (select id from {k} limit 16) as k on r.visit_id = k.id",
             CHOSEN, ""),
    upstream("a joined record key", "select r.* replace (k.id as smoker) from {r} as r join {k} as k on r.visit_id = k.id",
             PROVENANCE, RECORD_KEY),
    upstream("a hash of a joined identifier",
             "select r.* replace (md5(k.ssn) as smoker) from {r} as r join {k} as k using (ssn)", PROVENANCE),
    upstream("a joined name", "select r.* replace (k.name as smoker) from {r} as r join {k} as k on r.visit_id = k.id",
             PROVENANCE),
    upstream("the rank of a joined name",
             "select r.* replace (cast(rank() over (order by k.name) as text) as smoker) from {r} as r"
             " join {k} as k on r.visit_id = k.id", PROVENANCE),
    upstream("a joined name in two steps",
             "select r.* replace (c.called as smoker) from {r} as r join {k} as k on r.visit_id = k.id"
             " join (select visit_id, name as called from {r}) as c on c.called = k.name", PROVENANCE),
    upstream("a joined quasi-identifier", "select r.* replace (z.value as smoker) from {r} as r"
             " join (select zip as value from {k} group by zip) as z on z.value = r.zip", PROVENANCE, QUASI),
)  # fmt: skip

# Joins by a literal, or that give no column: on the way to the release they are conditions, too.
HALF_JOINS = (
    Leak("records on a list of keys, joined using them", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m inner join"
                            " (values (107), (114), (121), (128)) as k (visit_id) using (visit_id)"))}),
    Leak("records that are not on a list of keys", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m anti join"
                            " (values (107), (114), (121), (128)) as k (visit_id) using (visit_id)"))}),
    Leak("records of a raw value", QUASI,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m semi join"
                            " (select '11' as zip) as k using (zip)"))}),
    Leak("records in a natural join with a key", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m natural join"
                            " (values (107), (114), (121), (128)) as k (visit_id)"))}),
)  # fmt: skip

# What is written down stands beside what is in a relation, so that joins and counts find it.
NO_PEOPLE = "(select 1 as one) as o left join {r} as r on false"
NO_NAME = "(select name from {r} where false)"
TAGGED = "(select *, 1 as tag from {r} union all by name select 107 as visit_id, 2 as tag)"
UNITED_NAMES = "(select name from {r} union all select 'Ana0' as name)"


def without(name: str, table: str, by: str = "using (name)", found_by: str = CHOSEN) -> Leak:
    """Return a leak by a common table that holds a name, so that its person is left out."""
    return upstream(
        name,
        f"with c as ({table}) select p.* from {{r}} as p anti join c {by}",
        found_by,
    )


def counted(name: str, key: str, united: str, secret: str = IDENTIFIER) -> Leak:
    """Return a leak by a count in which a written row takes part."""
    return upstream(
        name,
        f"select * exclude (n) from (select *, count(*) over (partition by {key}) as n from ({united}) as u)"
        " as q where n = 1 and zip is not null",
        CHOSEN,
        secret,
    )


WRITTEN_VALUES = (
    upstream("a mark on a name that stands for NULL", f"with c as (select coalesce(r.name, 'Ana0') as name, 'yes' as mark from {NO_PEOPLE})"
             " select p.* replace (coalesce(c.mark, 'no') as smoker) from {r} as p left join c on p.name = c.name", DECIDED),
    without("a name that stands for NULL", f"select coalesce(r.name, 'Ana0') as name from {NO_PEOPLE}"),
    without("a name that stands for NULL, by ifnull", f"select ifnull(r.name, 'Ana0') as name from {NO_PEOPLE}"),
    without("a name that stands for NULL, by a case", f"select case when r.name is null then 'Ana0' else r.name end as name from {NO_PEOPLE}"),
    without("a name that stands for a subquery", f"select coalesce({NO_NAME}, 'Ana0') as name"),
    without("a name in a subquery with a filter", "select (select max('Ana0') from {r} where smoker <> 'x') as name", found_by=PROVENANCE),
    without("a name in a full join", f"select coalesce(a.name, b.name) as name from {NO_NAME} as a full join (select 'Ana0' as name) as b on false"),
    without("a name in a full join using another column",
            "select v from (select zip as v from {r} where false) as a full join (select 'Ana0' as v) as b using (v)", "on p.name = c.v", found_by=PROVENANCE),
    without("a name that stands for NULL on both sides", f"select r.name from {NO_PEOPLE}",
            "on coalesce(p.name, 'Ana0') = coalesce(c.name, 'Ana0')"),
    without("a hash of a name that stands for NULL on both sides", f"select r.name from {NO_PEOPLE}",
            "on md5(coalesce(p.name, 'Ana0')) = md5(coalesce(c.name, 'Ana0'))"),
    upstream("a name that stands for NULL in a recursive common table",
             f"with recursive c (name) as ({NO_NAME} union all select coalesce(c.name, 'Ana0') from (select 1 as one) as o"
             " left join c on true where c.name is null) select p.* from {r} as p anti join c using (name)", CHOSEN),
    upstream("a name that stands for NULL in a natural join", f"with c as (select coalesce(r.name, 'Ana0') as name from {NO_PEOPLE})"
             " select p.* from {r} as p natural join c", CHOSEN),
    upstream("a record key that stands for NULL", f"with c as (select coalesce(r.visit_id, 107) as visit_id from {NO_PEOPLE})"
             " select p.* from {r} as p anti join c using (visit_id)", CHOSEN, RECORD_KEY),
    counted("a count with a written name", "name", "select * from {r} union all by name select 'Ana0' as name"),
    counted("a count with a written record key", "visit_id", "select * from {r} union all by name select 107 as visit_id", RECORD_KEY),
    counted("a count with a written record key of another mark", "visit_id", f"select * exclude (tag) from {TAGGED} as t", RECORD_KEY),
    counted("a count with the hash of a written name", "h", "select *, md5(name) as h from {r} union all by name select md5('Ana0') as h"),
    counted("a count with a written name that is put together", "k", "select *, name as k from {r} union all by name"
            f" select concat(r.name, 'Ana0') as k from {NO_PEOPLE}"),
    upstream("the largest mark beside a written record key", "select * exclude (t, tag) from (select *, max(tag) over"
             f" (partition by visit_id) as t from {TAGGED} as u) as q where t = 1", CHOSEN, RECORD_KEY),
    upstream("groups with a written record key", "select visit_id, max(name) as name, max(ssn) as ssn, max(age) as age, max(zip) as zip,"
             f" max(smoker) as smoker, max(diagnosis) as diagnosis from {TAGGED} as u group by visit_id having max(tag) = 1", CHOSEN, RECORD_KEY),
    upstream("groups by a part of an identifier", "select max(visit_id) as visit_id, max(name) as name, max(ssn) as ssn, max(age) as age,"
             " max(zip) as zip, max(smoker) as smoker, max(diagnosis) as diagnosis from {r} group by left(name, 2)", CHOSEN),
    upstream("the largest value of those whose names start alike",
             "select * replace (max(smoker) over (partition by left(name, 2)) as smoker) from {r}", PROVENANCE),
    upstream("groups of a written record key alone", "with m as (select visit_id, count(*) as n from (select visit_id, 1 as tag from {r}"
             " where false union all select 107, 2 as tag) as u group by visit_id) select p.* from {r} as p semi join m using (visit_id)",
             CHOSEN, RECORD_KEY),
    upstream("how many names there are with a written one", "with c as (select count(*) as n from (select name from {r} union"
             " select 'Ana0') as u) select p.* from {r} as p cross join c where c.n = 32", CHOSEN),
    upstream("how many different names there are with a written one", "with c as (select count(*) as n from (select distinct name"
             f" from {UNITED_NAMES} as u) as v) select p.* from {{r}} as p cross join c where c.n = 32", CHOSEN),
    upstream("how many values of a visit differ from a written one", "select p.* from {r} as p semi join (select visit_id from"
             " (select visit_id, name as n, 1 as tag from {r} union all select visit_id, 'Ana0', 2 as tag from {r}) as u"
             " group by visit_id having count(distinct n) = 1) as m using (visit_id)", CHOSEN),
    upstream("a count of a number that is rounded",
             "select * exclude (n) from (select *, count(*) over (partition by cast(ssn || 'e-2' as int)) as n from {r}) as q where n > 4", CHOSEN),
    upstream("a count within bounds by a name", "select * exclude (n) from (select *, count(*) over (partition by visit_id order by age rows"
             " between case when name like 'A%' then 0 else 1 end following and unbounded following) as n from {r}) as q where n = 1", CHOSEN),
)  # fmt: skip

FIRST_BY_VISIT = (
    "select p.* from {r} as p semi join (select visit_id from (select visit_id, tag, rank() over (partition by visit_id order by n)"
    " as p from (select visit_id, {one} as n, 1 as tag from {r} union all select {key}, {other} as n, 2 as tag from {from}) as d)"
    " as w where p = 1 and tag = 1) as s using (visit_id)"
)


def compared(name: str, one: str, other: str, key: str = "visit_id") -> Leak:
    """Return a leak by the order of two values of one visit, of which the smaller stands first."""
    text = FIRST_BY_VISIT.replace("{one}", one).replace("{other}", other).replace("{key}", key)
    return upstream(name, text.replace("{from}", "{r}" if key == "visit_id" else CRM), CHOSEN)


# The name of an output may be that of a column, and a place may compare two columns of a record.
NAMES_AND_PLACES = (
    upstream("a group whose output is called like a column", "with m as (select visit_id, max(left(name, 1)) as smoker from {r}"
             " group by visit_id having smoker = 'D') select p.* from {r} as p semi join m using (visit_id)", CHOSEN),
    upstream("a group by all whose output is called like a column", "with m as (select visit_id, max(left(name, 1)) as smoker from {r}"
             " group by all having smoker = 'D') select p.* from {r} as p anti join m using (visit_id)", CHOSEN),
    upstream("a least name that is called like a column", "with m as (select visit_id, min(name) as diagnosis from {r}"
             " group by visit_id having diagnosis like 'A%') select p.* from {r} as p anti join m using (visit_id)", CHOSEN),
    upstream("the first of each output that is called like a column", "with m as (select distinct on (diagnosis) visit_id,"
             " left(name, 1) as diagnosis from {r} order by visit_id) select p.* from {r} as p semi join m using (visit_id)", CHOSEN),
    upstream("the first in the order of an output that is called like a column", "with m as (select distinct on (diagnosis) visit_id,"
             " diagnosis, left(name, 1) as smoker from {r} order by diagnosis, smoker) select p.* from {r} as p semi join m using (visit_id)",
             CHOSEN),
    compared("identifiers that come before the record key", "cast(ssn as int)", "visit_id"),
    compared("names that come before a written one", "name", "'D'"),
    compared("names that come before what stands for NULL", "name", f"coalesce({NO_NAME}, 'D')"),
    compared("names that come before a fact of another relation", "name", "case when age < 9 then 'D' else 'C' end", "id"),
    compared("names that come before that of somebody", "name",
             "(select max(name) from {r} where age = 0)"),
    upstream("names that come before a written one, without a mark", "select p.* from {r} as p semi join (select visit_id from (select"
             " visit_id, smoker, rank() over (partition by visit_id order by n) as p from (select visit_id, smoker, name as n from {r}"
             " union all select visit_id, null, 'D' from {r}) as d) as w where p = 1 and smoker is not null) as s using (visit_id)", CHOSEN),
)  # fmt: skip

# What other checks fell to: bits that no comparison sees, and data that are healed before it.
ZERO = {"people": lambda _: f"select * replace (cast(0 as double) as smoker) from {REGISTRY}"}
NAN = {"people": lambda _: f"select * replace (cast('nan' as double) as smoker) from {REGISTRY}"}
SUM = "sum(1 / cast(ssn as double)) over (partition by diagnosis order by {by} rows between unbounded preceding and unbounded following)"
DATA = (
    Leak("the sign of a zero", IDENTIFIER,
         ZERO | {"microdata": source_smoker("case when source.name < 'E' then -source.smoker else source.smoker end")}),
    Leak("the sign of a zero, after the microdata", IDENTIFIER,
         ZERO | {"effort_2": swap(("select * from effort", "select effort.* replace (case when person.name < 'E' then -effort.smoker"
                                   f" else effort.smoker end as smoker) from effort inner join {PEOPLE} as person on {PERSON}"))}),
    Leak("the sign of what is no number", IDENTIFIER,
         NAN | {"effort_2": swap(("select * from effort", "select effort.* replace (case when person.name < 'E' then -effort.smoker"
                                  f" else effort.smoker end as smoker) from effort inner join {PEOPLE} as person on {PERSON}"))}),
    Leak("microdata that leak while they are built, and are healed then", IDENTIFIER,
         {"microdata": source_smoker("left(source.name, 1)")}, healed=("microdata",)),
    Leak("all that leaks while it is built, and is healed then", IDENTIFIER,
         {"microdata": source_smoker("left(source.name, 1)")}, healed=("microdata", "frequencies", "classes", *EFFORTS)),
    in_microdata("a sum of doubles in the order of an identifier", SUM.replace("{by}", "name")),
    upstream("a sum of doubles in the order of an identifier upstream",
             f"select * replace ({SUM.replace('{by}', 'name').replace('ssn', 'age + 3')} as smoker) from {{r}}", PROVENANCE),
    upstream("a quasi-identifier made of a name", "select * replace (case when name < 'E' then '11' else '21' end as zip) from {r}",
             PROVENANCE),
    upstream("a record key in a quasi-identifier", "select * replace (visit_id % 16 as age) from {r}", PROVENANCE, RECORD_KEY),
    upstream("people whose one identifier is another of somebody",
             "select r.* from {r} as r semi join {r} as p on r.ssn[1] = p.name[-1]", CHOSEN),
    upstream("what a join of two identifiers gives",
             "select r.* replace (p.n as smoker) from {r} as r join (select distinct on (n) name[-1] as n from {r}) as p"
             " on p.n = r.ssn[1]", PROVENANCE),
)  # fmt: skip

LEAKS = (
    *IN_VALUES,
    *WHOLE_ROWS,
    *CLAUSES,
    *SHAPES,
    *RELATIONS,
    *GENERALIZATION,
    *HIDDEN_CONDITIONS,
    *ORDERS,
    *UPSTREAM,
    *FOLLOWED_FORMS,
    *CHOSEN_RECORDS,
    *JOINED_RECORDS,
    *HALF_JOINS,
    *WRITTEN_VALUES,
    *NAMES_AND_PLACES,
    *DATA,
)
