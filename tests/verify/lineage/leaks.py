"""The catalogue: edits of honest models that leak a secret, each with the reason of its rejection.

An edit is a list of replacements in the compiled SQL of models. All are valid SQL of DuckDB; what
they leak is shown by building two clinics that differ in that secret alone.
"""

# ruff: noqa: E501 (SQL reads best on one line)
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

IDENTIFIER, RECORD_KEY, QUASI = "identifier", "record key", "quasi-identifier"
PEOPLE = '"clinic"."main"."people"'
REGISTRY = '"clinic"."main"."registry"'
# Another relation about the same people, with keys and identifiers of its own.
CRM = '"clinic"."main"."crm"'
VAULT = '"vault"."main"."visits_identifiers"'
Edit = Callable[[str], str]


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
    reason : str
        Part of the message of a finding that does not hold.
    """

    name: str
    secret: str
    edits: Mapping[str, Edit]
    reason: str


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


def in_microdata(name: str, expression: str, reason: str = "the identifier ssn") -> Leak:
    return Leak(name, IDENTIFIER, {"microdata": source_smoker(expression)}, reason)


SSN, NAME, KEY = "the identifier ssn", "the identifier name", "the record key visit_id"
PERSON = "person.visit_id = effort.visit_id"

IN_VALUES = (
    in_microdata("direct", 'source."ssn"'),
    in_microdata("hashed with md5", "md5(source.ssn)"),
    in_microdata("hashed with sha256 and a salt", "sha256('salt' || source.ssn)"),
    in_microdata("hashed to a number", "cast(hash(source.ssn) as text)"),
    in_microdata("the last digits", "substring(source.ssn, 2)"),
    in_microdata("a slice", "source.ssn[2:3]"),
    in_microdata("concatenated", "concat(source.smoker, ' ', source.name)", NAME),
    in_microdata("one bit of it", "case when source.name like 'A%' then 'yes' else 'no' end", NAME),
    in_microdata("only where something is missing", "coalesce(nullif(source.smoker, 'no'), source.ssn)"),
    in_microdata("cast", "cast(cast(source.ssn as integer) % 2 = 0 as text)"),
    in_microdata("in a struct", "cast({'s': source.smoker, 'n': source.name} as text)", NAME),
    in_microdata("in a list", "cast([source.smoker, source.ssn] as text)"),
    in_microdata("through an alias of the same select", "source.ssn as hidden, hidden"),
    in_microdata("in the message of an error",
                 "case when source.smoker = 'yes' then error(source.name) else source.smoker end", NAME),
    in_microdata("the rank in an order", "cast(row_number() over (order by source.name) as text)", NAME),
    in_microdata("the number in a partition",
                 "cast(count(*) over (partition by left(source.ssn, 1)) as text)"),
    in_microdata("the neighbour in an order", "lag(source.smoker) over (order by source.ssn)"),
    in_microdata("all values in one text", "string_agg(source.ssn, ',') over ()"),
    in_microdata("in a scalar subquery", f"(select min(name) from {PEOPLE})", NAME),
    in_microdata("a list in a scalar subquery", "(select cast(array_agg(ssn) as text) from source)"),
    in_microdata("the order of a list", "(select string_agg(smoker, ',' order by ssn) from source)"),
    in_microdata("a filtered count",
                 "(select cast(count(*) filter (where name like 'A%') as text) from source)", NAME),
    in_microdata("in a correlated subquery",
                 "(select max(p.name) from source as p where p.visit_id = source.visit_id)", NAME),
    in_microdata("whether there is another",
                 "cast(exists (select 1 from source as p where p.ssn < source.ssn) as text)"),
    in_microdata("among others", "cast(source.name in ('Ana0', 'Eva4') as text)", NAME),
    Leak("minimum per class", IDENTIFIER,
         {"anonymized": released_smoker("min(person.name) over (partition by equivalence_class)",
                                        f"inner join {PEOPLE} as person on {PERSON}")},
         "must read one effort and nothing else; it reads people"),
    Leak("any value per group", IDENTIFIER,
         {"microdata": with_step("select zip as z, any_value(ssn) as s from source group by zip",
                                 "step.s", "inner join step on source.zip = step.z")}, SSN),
    Leak("renamed in a star", IDENTIFIER,
         {"microdata": source_from(f"select * replace (ssn as smoker) from {PEOPLE}")}, SSN),
    Leak("renamed by position", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} as p (visit_id, smoker, ssn, age, zip, name, diagnosis)")}, NAME),
    Leak("renamed twice", IDENTIFIER,
         {"microdata": with_step("select visit_id as a, ssn as b from source", "step.b",
                                 "inner join step on source.visit_id = step.a")}, SSN),
)  # fmt: skip

WHOLE_ROWS = (
    in_microdata("the row as JSON", "cast(to_json(source) as text)", "whole row"),
    in_microdata("a field of the row", "(source).ssn", "whole row"),
    in_microdata("the row itself", "cast(source as text)", "whole row"),
    in_microdata("a field of the row as JSON", "to_json(source) ->> '$.ssn'", "whole row"),
    Leak("a row in a common table, then one of its fields", IDENTIFIER,
         {"microdata": with_step("select visit_id as k, {'n': name} as r from source", "step.r.n",
                                 "inner join step on source.visit_id = step.k")}, NAME),
    Leak("rows as a group", IDENTIFIER,
         {"microdata": with_step("select cast(p as text) as r from source as p group by p order by 1 limit 1",
                                 "step.r", "cross join step")}, "whole row"),
    Leak("columns by a pattern", IDENTIFIER,
         {"microdata": source_from(f"select columns('visit_id|age|zip|diagnosis'), ssn as smoker, name from {PEOPLE}")},
         "columns"),
    Leak("a column by its number", IDENTIFIER,
         {"microdata": swap(('source."smoker"', '#2 as "smoker"'),
                            ("from source\nleft join leaves_1",
                             "from source\nleft join leaves_1"))}, "positionalcolumn"),
)  # fmt: skip

CLAUSES = (
    Leak("rows by an identifier", IDENTIFIER,
         {"microdata": add("where source.ssn > '5'")}, f"where looks at {SSN}"),
    Leak("rows by a subquery over an identifier", IDENTIFIER,
         {"microdata": add("where source.name in (select name from source order by name limit 9)")}, NAME),
    Leak("rows by existence", IDENTIFIER,
         {"anonymized": where(f"exists (select 1 from {PEOPLE} as p where p.ssn > '5' and p.visit_id = effort.visit_id)")},
         "it reads people"),
    Leak("groups by an aggregate", RECORD_KEY,
         {"anonymized": where("true group by all having min(visit_id) > 150")}, KEY),
    Leak("the first of each window", IDENTIFIER,
         {"microdata": add("qualify row_number() over (partition by source.zip, source.age order by source.ssn) = 1")},
         SSN),
    Leak("distinct on, by an order", IDENTIFIER,
         {"microdata": swap(("select\n    source.\"visit_id\"",
                             "select distinct on (source.zip, source.age)\n    source.\"visit_id\""),
                            ("cast(source.\"zip\" as TEXT) = leaves_2.leaf",
                             "cast(source.\"zip\" as TEXT) = leaves_2.leaf\norder by source.ssn"))},
         f"order by looks at {SSN}"),
    Leak("how often a row is joined", IDENTIFIER,
         {"microdata": swap(("from source\nleft join leaves_1",
                             "from source\ninner join (select ssn as s from source) as p on p.s < source.ssn\n"
                             "left join leaves_1"))}, f"join looks at {SSN}"),
    Leak("joined using an identifier", IDENTIFIER,
         {"microdata": swap(("from source\nleft join leaves_1",
                             "from source\ninner join (select left(ssn, 1) || '11' as ssn from source) as p using (ssn)\n"
                             "left join leaves_1"))}, f"join looks at {SSN}"),
    Leak("the order of the release", RECORD_KEY,
         {"anonymized": swap(("order by\n    \"age\",", "order by\n    visit_id,\n    \"age\","))},
         f"order by looks at {KEY}"),
    Leak("the order of the release by an alias", RECORD_KEY,
         {"anonymized": swap(("select * from \"clinic\".\"main\".\"visits_effort_2\"",
                              "select *, 0 - visit_id as way from \"clinic\".\"main\".\"visits_effort_2\""),
                             ("order by\n    \"age\",", "order by\n    way,\n    \"age\","))},
         f"order by looks at {KEY}"),
    Leak("rows by a raw value", QUASI,
         {"effort_2": swap(("select * from \"clinic\".\"main\".\"visits_microdata\"",
                            "select * from \"clinic\".\"main\".\"visits_microdata\" where zip <> '11'"))},
         "where looks at the raw quasi-identifier zip"),
    Leak("rows by the finest interval", "",
         {"effort_2": swap(("select * from \"clinic\".\"main\".\"visits_microdata\"",
                            "select * from \"clinic\".\"main\".\"visits_microdata\" where age_leaf <> 2"))},
         "where"),
    Leak("rows except some", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} except select * from {PEOPLE} where name < 'C'")},
         NAME),
    Leak("rows by a random order of an identifier", IDENTIFIER,
         {"microdata": add("order by source.ssn limit 20")}, f"order by looks at {SSN}"),
)  # fmt: skip

SHAPES = (
    Leak("a branch of a union", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} union all by name select visit_id + 5000 as visit_id, name, ssn,"
                                   f" age, zip, name as smoker, diagnosis from {PEOPLE}")}, NAME),
    Leak("a branch of a union by position", IDENTIFIER,
         {"microdata": source_from(f"select * from {PEOPLE} union all select visit_id + 5000, name, ssn, age, zip, name as n,"
                                   f" diagnosis from {PEOPLE}")}, NAME),
    Leak("values in a recursive common table", IDENTIFIER,
         {"microdata": lambda sql: with_step(
             "select max(name) as v from source union all select v || '!' from step where length(v) < 4",
             "step.v", "cross join step")(sql).replace("with", "with recursive", 1)}, NAME),
    Leak("a lateral join", IDENTIFIER,
         {"microdata": with_step("select 1", "person.name",
                                 "cross join lateral (select source.name as name) as person")}, "lateral"),
    Leak("a row of each element of a list", IDENTIFIER,
         {"microdata": source_smoker("unnest([source.ssn])")}, "not followed"),
    Leak("elements of a list as a relation", IDENTIFIER,
         {"microdata": with_step("select 1", "element.e",
                                 "cross join unnest([source.ssn]) as element (e)")}, "unnest"),
    Leak("a pivot", IDENTIFIER,
         {"microdata": with_step("select * from (pivot (select name, smoker from source) on smoker in ('yes', 'no')"
                                 " using max(name)) as p", "step.yes", "cross join step")}, "pivot"),
    Leak("joined by position", IDENTIFIER,
         {"anonymized": released_smoker("person.name", f"positional join {PEOPLE} as person")}, "method"),
    Leak("a function over a list", IDENTIFIER,
         {"microdata": source_smoker("cast(list_transform([source.ssn], lambda x: x || '!') as text)")}, "lambda"),
    Leak("two queries", "", {"anonymized": add("; select 1")}, "one query"),
)  # fmt: skip

RELATIONS = (
    Leak("a view that dbt does not know", IDENTIFIER,
         {"microdata": source_from('select * from "clinic"."main"."hidden"')}, "is not a relation of a model"),
    Leak("a relation without its schema", "",
         {"microdata": source_from("select * from hidden")}, "is not a relation of a model"),
    Leak("a file", "",
         {"microdata": source_from("select * from read_csv('{registry}')")}, "not a relation"),
    Leak("a file by its name", "",
         {"microdata": source_from("select * from '{registry}'")}, "not a relation"),
    Leak("a macro in the database", IDENTIFIER,
         {"microdata": source_smoker("peek(source.visit_id)")}, "peek(), a function that is not known"),
    Leak("a variable of the session", "",
         {"microdata": source_smoker("coalesce(getvariable('x'), source.smoker)")}, "getvariable()"),
    Leak("the vault", IDENTIFIER,
         {"anonymized": released_smoker("person.name", f"inner join {VAULT} as person on {PERSON}")},
         "it reads visits_identifiers"),
    Leak("the vault, before the release", IDENTIFIER,
         {"effort_2": swap(("select * from effort", "select effort.* replace (person.name as smoker) from effort"
                            f" inner join {VAULT} as person on {PERSON}"))}, "of the vault"),
    Leak("the source, after the microdata", IDENTIFIER,
         {"effort_2": swap(("select * from effort", "select effort.* replace (person.name as smoker) from effort"
                            f" inner join {PEOPLE} as person on {PERSON}"))}, NAME),
    Leak("another relation of the project", "",
         {"effort_2": swap(("select * from effort", "select effort.* from effort cross join"
                            " (select count(*) as n from \"clinic\".\"main\".\"registry\") as r"))},
         "not a relation of the anonymization"),
    Leak("the untouched table", QUASI,
         {"anonymized": swap(("visits_effort_2", "visits_effort_0"))}, "must read one effort"),
    Leak("two efforts", "",
         {"anonymized": swap(('select * from "clinic"."main"."visits_effort_2"',
                              'select * from "clinic"."main"."visits_effort_2" union all'
                              ' select * from "clinic"."main"."visits_effort_1"'))}, "must read one effort"),
)  # fmt: skip

GENERALIZATION = (
    Leak("the record key as it is", RECORD_KEY, {"anonymized": released_smoker("visit_id")}, KEY),
    Leak("the record key in a formula", RECORD_KEY,
         {"anonymized": released_smoker("cast(visit_id * 7 + 3 as text)")}, KEY),
    Leak("the record key in the equivalence class", RECORD_KEY,
         {"anonymized": swap(("equivalence_class as cqi", "equivalence_class || '|' || visit_id as cqi"))}, KEY),
    Leak("the number of the row", "",
         {"microdata": with_step(f"select visit_id as k, rowid as r from {PEOPLE}", "step.r",
                                 "inner join step on source.visit_id = step.k")}, "cannot be resolved"),
    Leak("a raw value in a kept column", QUASI,
         {"microdata": source_smoker("source.zip")}, "the raw quasi-identifier zip"),
    Leak("a raw value as a label", QUASI,
         {"effort_2": label_zip("microdata.zip")},
         "the raw quasi-identifier zip"),
    Leak("a raw value as a bound", QUASI,
         {"effort_2": swap(("coalesce(hierarchy_1.label_lower, range_1.range_lower)",
                            "coalesce(microdata.age, range_1.range_lower)"))}, "the raw quasi-identifier age"),
    Leak("the value of a hierarchy as a label", QUASI,
         {"effort_2": label_zip("hierarchy_2.leaf")}, "value of zips"),
    Leak("the finest interval as a bound", "",
         {"effort_2": swap(("partition by level_2", "partition by lower_bound"))}, "lower_bound of ages"),
    Leak("the leaf as a bound", "",
         {"effort_2": swap(("coalesce(hierarchy_1.label_lower, range_1.range_lower)",
                            "coalesce(microdata.age_leaf, range_1.range_lower)"))}, "lower_bound of ages"),
    Leak("a weaker level than declared", "",
         {"effort_2": swap(("cast(level_2 as TEXT)", "cast(level_1 as TEXT)"))}, "level_1 of ages"),
    Leak("a weaker level in an effort that is not chosen now", "",
         {"effort_1": label_zip("hierarchy_2.leaf")},
         "value of zips"),
    Leak("the equivalence class of the untouched table", QUASI,
         {"effort_2": swap(("where effort = 2", "where effort = 0"),
                           ("microdata.\"smoker\",", "microdata.\"smoker\", microdata.zip as z, cast(microdata.age as text) as a,"),
                           ("generalized.\"age\" = classes", "generalized.a = classes"),
                           ("generalized.\"zip\" = classes", "generalized.z = classes"))},
         "the raw quasi-identifier"),
    Leak("the equivalence class of any effort", "",
         {"effort_2": swap(("where effort = 2", "where effort <> 1"))}, "the raw quasi-identifier"),
    Leak("a label by another column", "",
         {"effort_2": swap(("microdata.\"zip_leaf\" = hierarchy_2.leaf", "microdata.\"smoker\" = hierarchy_2.leaf"))},
         "join compares"),
    Leak("a mark on one raw value, joined", "",
         {"effort_2": swap(("select * from effort", "select effort.* replace (case when step.b is null then smoker else 'x' end"
                            " as smoker) from effort left join (select 4 as b) as step on effort.visit_id = step.b"))},
         f"join looks at {KEY}"),
    Leak("a mark on one leaf, joined", "",
         {"effort_2": swap(("left join hierarchy_2", "left join (select 4 as b, 'x' as mark) as step"
                            " on microdata.age_leaf = step.b\n    left join hierarchy_2"),
                           ("microdata.\"smoker\",", "coalesce(step.mark, microdata.smoker) as \"smoker\","))},
         "join compares"),
    Leak("a mark on leaves that are computed", "",
         {"effort_2": swap(("left join hierarchy_2", "left join (select case when lower_bound = 4 then lower_bound end as b,"
                            " 'x' as mark from \"clinic\".\"main\".\"ages\") as step"
                            " on microdata.age_leaf = step.b\n    left join hierarchy_2"),
                           ("microdata.\"smoker\",", "coalesce(step.mark, microdata.smoker) as \"smoker\","))},
         "join compares"),
    Leak("half a hierarchy", QUASI,
         {"effort_2": swap(("left join hierarchy_2", "inner join (select value as b from \"clinic\".\"main\".\"zips\""
                            " where value like '%1') as step on microdata.zip_leaf = step.b\n    left join hierarchy_2"))},
         "where looks at value of zips"),
    Leak("a kept column that holds another too", "",
         {"effort_2": swap(("microdata.\"smoker\",", "microdata.smoker || microdata.diagnosis as \"smoker\","))},
         "diagnosis of people"),
    Leak("a column more", RECORD_KEY,
         {"anonymized": swap(("equivalence_class as cqi", "equivalence_class as cqi, visit_id"))},
         "exactly the declared columns"),
    Leak("an identifier in a working table", IDENTIFIER,
         {"microdata": swap(('source."smoker",', 'source."smoker", source.ssn,')),
          "anonymized": released_smoker("first.ssn", 'inner join "clinic"."main"."visits_microdata" as first'
                                                    " on first.visit_id = effort.visit_id")},
         "it reads visits_microdata"),
    Leak("an identifier in a working table, not released", "",
         {"microdata": swap(('source."smoker",', 'source."smoker", source.ssn,'))},
         "its column ssn holds the identifier ssn"),
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
         {"effort_2": label_zip("case when nullif(microdata.zip, '11') is null then 'x' else hierarchy_2.label end")},
         "the raw quasi-identifier zip"),
    Leak("rows by the presence of something computed", QUASI,
         {"microdata": add("where nullif(source.zip, '11') is not null")}, "the raw quasi-identifier zip"),
    Leak("rows by the presence of a lossy cast", "",
         {"microdata": add("where try_cast(source.zip as utinyint) is not null")}, "the raw quasi-identifier zip"),
    Leak("rows by a count over one row", QUASI,
         {"effort_2": swap((f"select * from {MICRODATA}",
                            f"select * from (select *, count(case when zip = '11' then 1 end) over ({COUNTED}) as n"
                            f" from {MICRODATA}) as q where n = 0"))}, "the raw quasi-identifier zip"),
    Leak("a mark by a count over one row", QUASI,
         {"microdata": swap((f"select * from {PEOPLE}",
                             f"select *, count(case when zip = '11' then 1 end) over ({COUNTED}) as n from {PEOPLE}"),
                            ("from source\nleft join leaves_1",
                             "from source\nleft join (select 1 as b, 'x' as mark) as step on source.n = step.b\n"
                             "left join leaves_1"),
                            ('source."smoker"', 'coalesce(step.mark, source.smoker) as "smoker"'))}, "zip"),
    Leak("a mark on the first of a hierarchy", QUASI,
         {"effort_2": marked(f"select value as b, 'x' as mark from {ZIPS} limit 1", "microdata.zip_leaf = step.b")},
         "limit leaves out rows"),
    Leak("a mark on the first row of a window", QUASI,
         {"effort_2": marked(f"select value as b, 'x' as mark from {ZIPS} qualify row_number() over () = 1",
                             "microdata.zip_leaf = step.b")}, "qualify leaves out rows"),
    Leak("a mark on the least of each label", QUASI,
         {"effort_2": marked(f"select min(value) as b, 'x' as mark from {ZIPS} group by level_1",
                             "microdata.zip_leaf = step.b")}, "join compares"),
    Leak("a mark on the least of all", QUASI,
         {"effort_2": swap(("left join hierarchy_2", f"left join (select min(value) as b, 'x' as mark from {ZIPS}) as step"
                            " on microdata.zip_leaf = step.b\n    left join hierarchy_2"),
                           ("else hierarchy_2.label", "else coalesce(step.mark, hierarchy_2.label)"),
                           ('and generalized."zip" = classes."zip"', 'and hierarchy_zip = classes."zip"'),
                           ("from microdata\n    cross join", "        , hierarchy_2.label as hierarchy_zip\n    from microdata\n    cross join"))},
         "join compares"),
    Leak("a mark on a literal beside a hierarchy", QUASI,
         {"effort_2": marked(f"select '11' as b, 'x' as mark union all select value, null from {ZIPS} where false",
                             "microdata.zip_leaf = step.b")}, "join compares"),
    Leak("a mark on some record keys", RECORD_KEY,
         {"effort_2": marked(f"select case when visit_id > 150 then visit_id end as b, 'x' as mark from {MICRODATA}",
                             "microdata.visit_id = step.b")}, f"join looks at {KEY}"),
    Leak("a mark on the first record keys", "",
         {"effort_2": marked(f"select visit_id as b, 'x' as mark from {MICRODATA} limit 3",
                             "microdata.visit_id = step.b")}, "limit leaves out rows"),
    Leak("the record with the next key", RECORD_KEY,
         {"effort_2": marked(f"select visit_id - 7 as b, smoker as mark from {MICRODATA}",
                             "microdata.visit_id = step.b")}, f"join looks at {KEY}"),
    Leak("a window over two branches, one of which is left out", IDENTIFIER,
         {"microdata": with_step("select v from (select j, first_value(v) over (partition by k order by j desc, v) as v from"
                                 " (select 2 as j, 2 - 1 as k, name as v from source union all"
                                 " select 1 as j, 1 as k, smoker as v from source) as u) as t where j = 1 limit 1",
                                 "coalesce(step.v, source.smoker)", "cross join step")}, NAME),
    Leak("a number that another type rounds", IDENTIFIER,
         {"microdata": with_step("select v from (select 16777217 as e, name as v from source union all"
                                 " select cast(0 as float) as e, smoker as v from source union all"
                                 " select 16777216 as e, smoker as v from source) as u where e = 16777216 limit 1",
                                 "coalesce(step.v, source.smoker)", "cross join step")}, NAME),
    Leak("a column as the unit of a time that is cut", IDENTIFIER,
         {"microdata": with_part("coalesce(cast(date_trunc(part, date '2001-05-05') as text), source.smoker)")},
         "where a unit of time stands"),
    Leak("a column as the unit of a difference", IDENTIFIER,
         {"microdata": with_part("case when date_diff(part, date '2000-01-01', date '2001-01-01') > 5"
                                 " then source.smoker else 'n' end")}, "where a unit of time stands"),
    Leak("a comment for one parser only", QUASI,
         {"effort_2": label_zip("map {#2:1}::text || --#}\n {'a': hierarchy_2.label}::text")}, "has {# in its SQL"),
    Leak("a name that folds to another for one parser only", IDENTIFIER,
         {"microdata": lambda sql: swap((f"select * from {PEOPLE}", "select * from hidden_k"))(sql).replace(
             "with", f'with "hidden_\u212a" as (select * from {PEOPLE}),', 1)}, "not ASCII"),
)  # fmt: skip

# What comes out is in no order but that of what it shows.
ORDERS = (
    Leak("the release in no order", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")]}, "must be ordered by all released columns"),
    Leak("the release in the order in which it is stored", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")] + "order by row_number() over ()"},
         "must be ordered by released columns and nothing else"),
    Leak("the release without the last key of its order", "",
         {"anonymized": swap(('"diagnosis",\n    cqi', '"diagnosis"'))}, "missing: cqi"),
    Leak("the first rows of the source", "",
         {"microdata": source_from(f"select * from {PEOPLE} limit 20")}, "limit leaves out rows"),
    Leak("the first rows of the release", "",
         {"anonymized": lambda sql: sql[: sql.rindex("order by")] + "qualify row_number() over () <= 5"},
         "qualify leaves out rows"),
)  # fmt: skip

UPSTREAM = (
    Leak("a hash that a model upstream calls harmless", IDENTIFIER,
         {"people": lambda _: f"select * replace (md5(ssn) as smoker) from {REGISTRY}"},
         "what makes the identifier ssn"),
    Leak("the record key under another name upstream", RECORD_KEY,
         {"people": lambda _: f"select * replace (visit_id + 1 as smoker) from {REGISTRY}"},
         "what makes the record key visit_id"),
    Leak("a quasi-identifier under another name upstream", QUASI,
         {"people": lambda _: f"select * replace (cast(age >= 7 as text) as smoker) from {REGISTRY}"},
         "what makes the quasi-identifier age"),
    Leak("a rank upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (rank() over (order by name) as smoker) from {REGISTRY}"},
         "what makes the identifier name"),
    Leak("a subquery upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace ((select min(p.name) from {REGISTRY} as p where p.zip = r.zip)"
                              f" as smoker) from {REGISTRY} as r"}, "what makes the identifier name"),
    Leak("SQL upstream that cannot be followed", IDENTIFIER,
         {"people": lambda _: f"select * replace (peek(visit_id) as smoker) from {REGISTRY}"},
         "cannot be followed"),
    Leak("the whole row upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (cast(registry as text) as smoker) from {REGISTRY}"},
         "cannot be followed"),
    Leak("a literal by the branch of a union upstream", IDENTIFIER,
         {"people": lambda _: f"select {FIVE_COLUMNS}, 'yes' as smoker, diagnosis from {REGISTRY} where ssn > '5' union all"
                              f" select {FIVE_COLUMNS}, 'no' as smoker, diagnosis from {REGISTRY} where ssn <= '5'"},
         "decided by it"),
    Leak("a literal by a join upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (coalesce(p.mark, 'no') as smoker) from {REGISTRY} as r"
                              " left join (select 'x' as mark) as p on r.ssn > '5'"}, "what makes the identifier ssn"),
    Leak("a literal by a joined part of the people upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (coalesce(p.mark, 'no') as smoker) from {REGISTRY} as r"
                              f" left join (select ssn, 'x' as mark from {REGISTRY} where ssn > '5') as p using (ssn)"},
         "what makes the identifier ssn"),
    Leak("a lookup by an identifier upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (z.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {ZIPS} as z on z.value[1] = r.ssn[1]"}, "what makes the identifier ssn"),
    Leak("a literal by a filter over a cross join upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (p.mark as smoker) from {REGISTRY} as r"
                              ", (select 'x' as mark union all select 'y') as p where (r.ssn > '5') = (p.mark = 'x')"},
         "what makes the identifier ssn"),
    Leak("a count of some people upstream", IDENTIFIER,
         {"people": lambda _: f"select r.* replace (cast(n.n as text) as smoker) from {REGISTRY} as r left join"
                              f" (select zip, count(*) as n from {REGISTRY} where ssn > '5' group by zip) as n using (zip)"},
         "what makes the identifier ssn"),
    Leak("a label by the range of a quasi-identifier upstream", "",
         {"people": lambda _: f"select r.* replace (a.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {AGES} as a on r.age >= a.lower_bound and r.age < a.upper_bound"},
         "what makes the quasi-identifier age"),
    Leak("a label of a quasi-identifier upstream", "",
         {"people": lambda _: f"select r.* replace (z.level_1 as smoker) from {REGISTRY} as r"
                              f" left join {ZIPS} as z on z.value = r.zip"}, "what makes the quasi-identifier zip"),
    Leak("the number of the row in a sorted relation upstream", IDENTIFIER,
         {"people": lambda _: "select * replace (cast(row_number() over () as text) as smoker)"
                              f" from (select * from {REGISTRY} order by ssn) as q"}, "in the order in which they are stored"),
    Leak("a column as a unit of time upstream", IDENTIFIER,
         {"people": lambda _: "select * exclude (part) replace (cast(date_trunc(part, date '2001-05-05') as text) as smoker)"
                              f" from (select *, case when ssn > '5' then 'month' else 'year' end as part from {REGISTRY}) as q"},
         "cannot be followed"),
    Leak("a named window over an identifier upstream", IDENTIFIER,
         {"people": lambda _: f"select * replace (lag(smoker) over w as smoker) from {REGISTRY} window w as (order by ssn)"},
         "what makes the identifier ssn"),
)  # fmt: skip


def upstream(name: str, sql: str, reason: str, secret: str = IDENTIFIER) -> Leak:
    """Return a leak in a model upstream of the source: `{r}` is what it reads."""
    text = sql.replace("{r}", REGISTRY).replace("{z}", ZIPS).replace("{k}", CRM)
    return Leak(name, secret, {"people": lambda _: text}, reason)


MADE_SSN, MADE_NAME = "what makes the identifier ssn", "what makes the identifier name"
MADE_KEY, STORED = "what makes the record key visit_id", "in the order in which they are stored"
KEPT_RANK = (
    "select * replace (cast({f} over (partition by {p} order by {o}) as text) as smoker) from {r}"
)


def ranked(name: str, window: tuple[str, str, str], reason: str, secret: str) -> Leak:
    """Return a leak by a window over some rows (function, partition and order), which is kept."""
    function, by, order = window
    text = KEPT_RANK.replace("{f}", function).replace("{p}", by).replace("{o}", order)
    return upstream(name, text, reason, secret)


# The twins of honest models: forms that are followed, with something secret in them.
FOLLOWED_FORMS = (
    upstream("renamed in a star upstream", "select * exclude (smoker) rename (name as smoker), name from {r}", MADE_NAME),
    upstream("a branch of a union by name upstream",
             "select * from {r} where age < 5 union all by name select diagnosis, name as smoker, zip, age, ssn, name,"
             " visit_id from {r} where age >= 5", MADE_NAME),
    upstream("letters of an identifier in a recursive common table upstream",
             "with recursive w as (select ssn, ssn[1] as c, 1 as n from {r} union all select ssn, ssn[n + 1], n + 1 from w"
             " where n < 2) select r.* replace (w.c as smoker) from {r} as r join w on w.ssn = r.ssn and w.n = 2", MADE_SSN),
    upstream("a mark in a natural join upstream",
             "select r.* replace (p.mark as smoker) from {r} as r natural join"
             " (select ssn, case when ssn > '5' then 'x' else 'y' end as mark from {r}) as p", MADE_SSN),
    upstream("a mark on a list of identifiers, joined using them",
             "select r.* replace (coalesce(p.mark, 'no') as smoker) from {r} as r"
             " left join (select '111' as ssn, 'x' as mark) as p using (ssn)", MADE_SSN),
    upstream("a mark on an unknown condition of a join",
             "select r.* replace (coalesce(p.mark, 'no') as smoker) from {r} as r"
             " left join (select 'x' as mark) as p on peek(r.visit_id) < 'D'", "cannot be followed"),
    upstream("renamed by position upstream",
             "select * from {r} as q (visit_id, smoker, ssn, age, zip, name, diagnosis)", "is called like the identifier name"),
    ranked("a rank among neighbours", ("row_number()", "zip", "name"), MADE_NAME, IDENTIFIER),
    ranked("a rank by the record key among neighbours", ("rank()", "zip", "visit_id"), MADE_KEY, RECORD_KEY),
    ranked("a rank by the record key where nobody is a subject", ("row_number()", "diagnosis", "visit_id"), MADE_KEY, RECORD_KEY),
    ranked("a count by a part of an identifier", ("count(*)", "left(ssn, 1)", "1"), MADE_SSN, IDENTIFIER),
    ranked("how often a raw value occurs", ("count(*)", "zip, diagnosis", "1"), "what makes the quasi-identifier zip", ""),
    upstream("a rank beside the rows of neighbours",
             "select distinct on (visit_id) * from (select r.* replace (cast(rank() over (partition by p.diagnosis"
             " order by r.visit_id) as text) as smoker) from {r} as r join {r} as p on r.zip = p.zip) as q", MADE_KEY, RECORD_KEY),
    upstream("the first of a sorted relation in each group",
             "select r.* replace (m.s as smoker) from {r} as r join (select age, first(smoker) as s"
             " from (select * from {r} order by ssn) as q group by age) as m using (age)", STORED),
    upstream("a text of all values of a sorted relation",
             "select r.* replace (m.s as smoker) from {r} as r join (select age, string_agg(smoker, '') as s"
             " from (select * from {r} order by ssn) as q group by age) as m using (age)", STORED),
    upstream("the value of whoever is last in an order", "select r.* replace (m.s as smoker) from {r} as r join (select"
             " age, max_by(smoker, ssn) as s from {r} group by age) as m using (age)", MADE_SSN),
    upstream("records that are written down", "select * from (values (1, 'Ana', '111', 3, '11', 'Ana', 'flu'))"
             " as t (visit_id, name, ssn, age, zip, smoker, diagnosis)", "the record key must come from a relation", ""),
)  # fmt: skip

BY_SSN, BY_NAME = (
    "must not choose records by the identifier ssn",
    "must not choose records by the identifier name",
)
BY_KEY = "must not choose records by the record key visit_id"
# Nothing that is released is made of a secret; that somebody is released tells it.
CHOSEN_RECORDS = (
    upstream("people of a name", "select * from {r} where name like 'A%'", f"where {BY_NAME}"),
    upstream("people on a list", "select * from {r} where ssn in ('111', '134', '157', '180')", f"where {BY_SSN}"),
    upstream("people in a subquery", "select * from {r} where ssn in (select ssn from {r} where name < 'C')", BY_NAME),
    upstream("people whom others precede",
             "select * from {r} as r where exists (select 1 from {r} as p where p.ssn < r.ssn and p.zip = r.zip)", BY_SSN),
    upstream("people of an unknown condition", "select * from {r} where peek(visit_id) < 'D'", "where cannot be followed"),
    upstream("people by two identifiers", "select * from {r} where left(name, 1) > left(reverse(ssn), 1) or name < ssn", BY_NAME),
    upstream("records from a key on", "select * from {r} where visit_id > 130", BY_KEY, RECORD_KEY),
    upstream("records of a formula of the key", "select * from (select *, visit_id % 5 as m from {r}) as q (visit_id, name,"
             " ssn, age, zip, smoker, diagnosis, m) where m < 3", BY_KEY, RECORD_KEY),
    upstream("the first by name", "select * from {r} qualify row_number() over (order by name) < 17", f"qualify {BY_NAME}"),
    upstream("the first of neighbours by name",
             "select * from {r} qualify row_number() over (partition by zip, diagnosis order by name) = 1", BY_NAME),
    upstream("the first of neighbours by name, without a window",
             "select distinct on (zip, diagnosis) * from {r} order by zip, diagnosis, name", f"distinct on {BY_NAME}"),
    upstream("the first of the record key of neighbours",
             "select * from (select *, row_number() over (partition by zip, diagnosis order by visit_id) as n from {r}) as q"
             " (visit_id, name, ssn, age, zip, smoker, diagnosis, n) where n = 1", BY_KEY, RECORD_KEY),
    upstream("the first by name, by a limit", "select * from {r} order by name limit 16", "limit must not choose records"),
    upstream("the first as they are stored", "select * from {r} limit 16", "limit must not choose records", ""),
    upstream("people who have a match in a list", "select * from {r} as r semi join (select '111' as ssn union all"
             " select '134') as p using (ssn)", f"semi join {BY_SSN}"),
    upstream("people who have no match in a list", "select * from {r} as r anti join (values ('111'), ('134')) as p (s)"
             " on r.ssn = p.s", f"anti join {BY_SSN}"),
    upstream("people joined with a list", "select r.* from {r} as r join (values ('111'), ('134'), ('157')) as p (ssn)"
             " using (ssn)", f"join {BY_SSN}"),
    upstream("people joined by a part of an identifier",
             "select r.* from {r} as r join (select '1' as s) as p on left(r.ssn, 1) = p.s", f"join {BY_SSN}"),
    upstream("neighbours of the first by name", "select r.* from {r} as r join (select diagnosis, zip from {r} group by all"
             " having min(name) < 'C') as m using (diagnosis, zip)", f"having {BY_NAME}"),
    upstream("people without those of a name", "select * from {r} except select * from {r} where name < 'C'", BY_NAME),
)  # fmt: skip

# What another relation of the people chooses or gives, which a join equates with a secret.
JOINED_RECORDS = (
    upstream("people whom a filter on a joined key chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id where k.id < 130", f"where {BY_KEY}", RECORD_KEY),
    upstream("people whom a join by a joined key chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id and k.id < 130", f"join {BY_KEY}", RECORD_KEY),
    upstream("people who have a match among some keys",
             "select r.* from {r} as r semi join (select id from {k} where id < 130) as k on r.visit_id = k.id",
             f"where {BY_KEY}", RECORD_KEY),
    upstream("people who have no match among some keys",
             "select r.* from {r} as r left join (select id from {k} where id < 130) as k on r.visit_id = k.id"
             " where k.id is null", f"where {BY_KEY}", RECORD_KEY),
    upstream("people who have a match among some identifiers",
             "select r.* from {r} as r semi join (select ssn from {k} where ssn < '5') as k using (ssn)", f"where {BY_SSN}"),
    upstream("people whom a filter on a joined identifier chooses",
             "select r.* from {r} as r join {k} as k on r.ssn = k.ssn where k.ssn < '5'", f"where {BY_SSN}"),
    upstream("people joined by a hash, of which a filter chooses",
             "select r.* from {r} as r join {k} as k on md5(r.ssn) = md5(k.ssn) where k.ssn < '5'", f"where {BY_SSN}"),
    upstream("people whom a joined name chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id where k.name like 'A%'", f"where {BY_NAME}"),
    upstream("people whom a name in two steps chooses",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id"
             " semi join (select name as called from {k} where name < 'D') as c on c.called = k.name", f"where {BY_NAME}"),
    upstream("people whom a joined key ranks first",
             "select r.* from {r} as r join {k} as k on r.visit_id = k.id qualify row_number() over (order by k.id) < 17",
             f"qualify {BY_KEY}", RECORD_KEY),
    upstream("people in the first rows of another relation",
             "select r.* from {r} as r semi join (select id from {k} limit 16) as k on r.visit_id = k.id",
             f"limit {BY_KEY}", ""),
    upstream("a joined record key", "select r.* replace (k.id as smoker) from {r} as r join {k} as k on r.visit_id = k.id",
             MADE_KEY, RECORD_KEY),
    upstream("a hash of a joined identifier",
             "select r.* replace (md5(k.ssn) as smoker) from {r} as r join {k} as k using (ssn)", MADE_SSN),
    upstream("a joined name", "select r.* replace (k.name as smoker) from {r} as r join {k} as k on r.visit_id = k.id",
             "is called like the identifier name"),
    upstream("the rank of a joined name",
             "select r.* replace (cast(rank() over (order by k.name) as text) as smoker) from {r} as r"
             " join {k} as k on r.visit_id = k.id", "is called like the identifier name"),
    upstream("a joined name in two steps",
             "select r.* replace (c.called as smoker) from {r} as r join {k} as k on r.visit_id = k.id"
             " join (select visit_id, name as called from {r}) as c on c.called = k.name", MADE_NAME),
    upstream("a joined quasi-identifier", "select r.* replace (z.value as smoker) from {r} as r"
             " join (select zip as value from {k} group by zip) as z on z.value = r.zip", "what makes the quasi-identifier zip", QUASI),
)  # fmt: skip

# Joins by a literal, or that give no column: on the way to the release they are conditions, too.
HALF_JOINS = (
    Leak("records on a list of keys, joined using them", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m inner join"
                            " (values (107), (114), (121), (128)) as k (visit_id) using (visit_id)"))}, f"join looks at {KEY}"),
    Leak("records that are not on a list of keys", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m anti join"
                            " (values (107), (114), (121), (128)) as k (visit_id) using (visit_id)"))}, f"anti join looks at {KEY}"),
    Leak("records of a raw value", QUASI,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m semi join"
                            " (select '11' as zip) as k using (zip)"))}, "semi join looks at the raw quasi-identifier zip"),
    Leak("records in a natural join with a key", RECORD_KEY,
         {"effort_2": swap((f"select * from {MICRODATA}", f"select m.* from {MICRODATA} as m natural join"
                            " (values (107), (114), (121), (128)) as k (visit_id)"))}, f"join looks at {KEY}"),
)  # fmt: skip

# What is written down stands beside what is in a relation, so that joins and counts find it.
NO_PEOPLE = "(select 1 as one) as o left join {r} as r on false"
NO_NAME = "(select name from {r} where false)"
TAGGED = "(select *, 1 as tag from {r} union all by name select 107 as visit_id, 2 as tag)"
UNITED_NAMES = "(select name from {r} union all select 'Ana0' as name)"


def without(name: str, table: str, by: str = "using (name)") -> Leak:
    """Return a leak by a common table that holds a name, so that its person is left out."""
    return upstream(
        name,
        f"with c as ({table}) select p.* from {{r}} as p anti join c {by}",
        f"anti join {BY_NAME}",
    )


def counted(name: str, key: str, united: str, reason: str, secret: str = IDENTIFIER) -> Leak:
    """Return a leak by a count in which a written row takes part."""
    return upstream(
        name,
        f"select * exclude (n) from (select *, count(*) over (partition by {key}) as n from ({united}) as u)"
        " as q where n = 1 and zip is not null",
        reason,
        secret,
    )


WRITTEN_VALUES = (
    upstream("a mark on a name that stands for NULL", f"with c as (select coalesce(r.name, 'Ana0') as name, 'yes' as mark from {NO_PEOPLE})"
             " select p.* replace (coalesce(c.mark, 'no') as smoker) from {r} as p left join c on p.name = c.name", MADE_NAME),
    without("a name that stands for NULL", f"select coalesce(r.name, 'Ana0') as name from {NO_PEOPLE}"),
    without("a name that stands for NULL, by ifnull", f"select ifnull(r.name, 'Ana0') as name from {NO_PEOPLE}"),
    without("a name that stands for NULL, by a case", f"select case when r.name is null then 'Ana0' else r.name end as name from {NO_PEOPLE}"),
    without("a name that stands for a subquery", f"select coalesce({NO_NAME}, 'Ana0') as name"),
    without("a name in a subquery with a filter", "select (select max('Ana0') from {r} where smoker <> 'x') as name"),
    without("a name in a full join", f"select coalesce(a.name, b.name) as name from {NO_NAME} as a full join (select 'Ana0' as name) as b on false"),
    without("a name in a full join using another column",
            "select v from (select zip as v from {r} where false) as a full join (select 'Ana0' as v) as b using (v)", "on p.name = c.v"),
    without("a name that stands for NULL on both sides", f"select r.name from {NO_PEOPLE}",
            "on coalesce(p.name, 'Ana0') = coalesce(c.name, 'Ana0')"),
    without("a hash of a name that stands for NULL on both sides", f"select r.name from {NO_PEOPLE}",
            "on md5(coalesce(p.name, 'Ana0')) = md5(coalesce(c.name, 'Ana0'))"),
    upstream("a name that stands for NULL in a recursive common table",
             f"with recursive c (name) as ({NO_NAME} union all select coalesce(c.name, 'Ana0') from (select 1 as one) as o"
             " left join c on true where c.name is null) select p.* from {r} as p anti join c using (name)", BY_NAME),
    upstream("a name that stands for NULL in a natural join", f"with c as (select coalesce(r.name, 'Ana0') as name from {NO_PEOPLE})"
             " select p.* from {r} as p natural join c", f"join {BY_NAME}"),
    upstream("a record key that stands for NULL", f"with c as (select coalesce(r.visit_id, 107) as visit_id from {NO_PEOPLE})"
             " select p.* from {r} as p anti join c using (visit_id)", f"anti join {BY_KEY}", RECORD_KEY),
    counted("a count with a written name", "name", "select * from {r} union all by name select 'Ana0' as name", f"where {BY_NAME}"),
    counted("a count with a written record key", "visit_id", "select * from {r} union all by name select 107 as visit_id",
            f"where {BY_KEY}", RECORD_KEY),
    counted("a count with a written record key of another mark", "visit_id", f"select * exclude (tag) from {TAGGED} as t",
            f"where {BY_KEY}", RECORD_KEY),
    counted("a count with the hash of a written name", "h", "select *, md5(name) as h from {r} union all by name select md5('Ana0') as h",
            f"where {BY_NAME}"),
    counted("a count with a written name that is put together", "k", "select *, name as k from {r} union all by name"
            f" select concat(r.name, 'Ana0') as k from {NO_PEOPLE}", f"where {BY_NAME}"),
    upstream("the largest mark beside a written record key", "select * exclude (t, tag) from (select *, max(tag) over"
             f" (partition by visit_id) as t from {TAGGED} as u) as q where t = 1", f"where {BY_KEY}", RECORD_KEY),
    upstream("groups with a written record key", "select visit_id, max(name) as name, max(ssn) as ssn, max(age) as age, max(zip) as zip,"
             f" max(smoker) as smoker, max(diagnosis) as diagnosis from {TAGGED} as u group by visit_id having max(tag) = 1", f"having {BY_KEY}", RECORD_KEY),
    upstream("groups by a part of an identifier", "select max(visit_id) as visit_id, max(name) as name, max(ssn) as ssn, max(age) as age,"
             " max(zip) as zip, max(smoker) as smoker, max(diagnosis) as diagnosis from {r} group by left(name, 2)", f"grouping {BY_NAME}"),
    upstream("the largest value of those whose names start alike",
             "select * replace (max(smoker) over (partition by left(name, 2)) as smoker) from {r}", MADE_NAME),
    upstream("groups of a written record key alone", "with m as (select visit_id, count(*) as n from (select visit_id, 1 as tag from {r}"
             " where false union all select 107, 2 as tag) as u group by visit_id) select p.* from {r} as p semi join m using (visit_id)",
             f"semi join {BY_KEY}", RECORD_KEY),
    upstream("how many names there are with a written one", "with c as (select count(*) as n from (select name from {r} union"
             " select 'Ana0') as u) select p.* from {r} as p cross join c where c.n = 32", f"grouping {BY_NAME}"),
    upstream("how many different names there are with a written one", "with c as (select count(*) as n from (select distinct name"
             f" from {UNITED_NAMES} as u) as v) select p.* from {{r}} as p cross join c where c.n = 32", f"grouping {BY_NAME}"),
    upstream("how many values of a visit differ from a written one", "select p.* from {r} as p semi join (select visit_id from"
             " (select visit_id, name as n, 1 as tag from {r} union all select visit_id, 'Ana0', 2 as tag from {r}) as u"
             " group by visit_id having count(distinct n) = 1) as m using (visit_id)", f"having {BY_NAME}"),
    upstream("a count of a number that is rounded",
             "select * exclude (n) from (select *, count(*) over (partition by cast(ssn || 'e-2' as int)) as n from {r}) as q where n > 4", BY_SSN),
    upstream("a count within bounds by a name", "select * exclude (n) from (select *, count(*) over (partition by visit_id order by age rows"
             " between case when name like 'A%' then 0 else 1 end following and unbounded following) as n from {r}) as q where n = 1", f"where {BY_NAME}"),
)  # fmt: skip

FIRST_BY_VISIT = (
    "select p.* from {r} as p semi join (select visit_id from (select visit_id, tag, rank() over (partition by visit_id order by n)"
    " as p from (select visit_id, {one} as n, 1 as tag from {r} union all select {key}, {other} as n, 2 as tag from {from}) as d)"
    " as w where p = 1 and tag = 1) as s using (visit_id)"
)


def compared(name: str, one: str, other: str, reason: str, key: str = "visit_id") -> Leak:
    """Return a leak by the order of two values of one visit, of which the smaller stands first."""
    text = FIRST_BY_VISIT.replace("{one}", one).replace("{other}", other).replace("{key}", key)
    return upstream(name, text.replace("{from}", "{r}" if key == "visit_id" else CRM), reason)


# The name of an output may be that of a column, and a place may compare two columns of a record.
NAMES_AND_PLACES = (
    upstream("a group whose output is called like a column", "with m as (select visit_id, max(left(name, 1)) as smoker from {r}"
             " group by visit_id having smoker = 'D') select p.* from {r} as p semi join m using (visit_id)", f"having {BY_NAME}"),
    upstream("a group by all whose output is called like a column", "with m as (select visit_id, max(left(name, 1)) as smoker from {r}"
             " group by all having smoker = 'D') select p.* from {r} as p anti join m using (visit_id)", f"having {BY_NAME}"),
    upstream("a least name that is called like a column", "with m as (select visit_id, min(name) as diagnosis from {r}"
             " group by visit_id having diagnosis like 'A%') select p.* from {r} as p anti join m using (visit_id)", f"having {BY_NAME}"),
    upstream("the first of each output that is called like a column", "with m as (select distinct on (diagnosis) visit_id,"
             " left(name, 1) as diagnosis from {r} order by visit_id) select p.* from {r} as p semi join m using (visit_id)", f"distinct on {BY_NAME}"),
    upstream("the first in the order of an output that is called like a column", "with m as (select distinct on (diagnosis) visit_id,"
             " diagnosis, left(name, 1) as smoker from {r} order by diagnosis, smoker) select p.* from {r} as p semi join m using (visit_id)",
             f"distinct on {BY_NAME}"),
    compared("identifiers that come before the record key", "cast(ssn as int)", "visit_id", f"where {BY_SSN}"),
    compared("names that come before a written one", "name", "'D'", f"where {BY_NAME}"),
    compared("names that come before what stands for NULL", "name", f"coalesce({NO_NAME}, 'D')", f"where {BY_NAME}"),
    compared("names that come before a fact of another relation", "name", "case when age < 9 then 'D' else 'C' end", f"where {BY_NAME}", "id"),
    compared("names that come before that of somebody", "name",
             "(select max(name) from {r} where age = 0)", f"where {BY_NAME}"),
    upstream("names that come before a written one, without a mark", "select p.* from {r} as p semi join (select visit_id from (select"
             " visit_id, smoker, rank() over (partition by visit_id order by n) as p from (select visit_id, smoker, name as n from {r}"
             " union all select visit_id, null, 'D' from {r}) as d) as w where p = 1 and smoker is not null) as s using (visit_id)", f"where {BY_NAME}"),
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
)
