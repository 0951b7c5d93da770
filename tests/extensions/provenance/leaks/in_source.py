"""Planted leaks upstream of the source: in models of the user, which are trusted."""

# ruff: noqa: E501 (SQL reads best on one line)
from __future__ import annotations

from tests.extensions.provenance.leaks.edits import (
    AGES,
    CHOSEN,
    CRM,
    DECIDED,
    FIVE_COLUMNS,
    IDENTIFIER,
    PROVENANCE,
    QUASI,
    RECORD_KEY,
    REGISTRY,
    STORED_ORDER,
    SUM,
    ZIPS,
    Leak,
)

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

NUMBERS = (
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

IN_SOURCE = (
    *UPSTREAM,
    *FOLLOWED_FORMS,
    *CHOSEN_RECORDS,
    *JOINED_RECORDS,
    *WRITTEN_VALUES,
    *NAMES_AND_PLACES,
    *NUMBERS,
)
