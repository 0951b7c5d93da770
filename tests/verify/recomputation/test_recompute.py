"""Recomputation: an honest release passes, and nothing that changes its data does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verify.recomputation.world import RECODINGS, World, open_world, spec_of
from tests.worlds import visits

pytestmark = pytest.mark.sampled_tests(15)

MAPPINGS = ("none", "class", "token")
WORLDS = [
    ("none", "full_domain"),
    ("class", "full_domain"),
    ("token", "full_domain"),
    ("none", "local"),
    ("none", "multidimensional"),
]
WORLDS = [(mapping, recoding) for mapping, recoding in WORLDS if recoding in RECODINGS]
FILE = "release file, visits_anonymized"
ORDER = f"{FILE}, order of rows"
SORT = "create or replace table release as from release order by all"
BITS = "select * replace (score::bit::varchar as score) from release"
ONE = "rowid = (select min(rowid) from release where age = '[20, 30)' or age = '[20, 40)')"


@pytest.fixture(scope="module", params=WORLDS, ids=" ".join)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    mapping, recoding = request.param
    with open_world(spec_of(mapping=mapping, recoding=recoding)) as opened:
        yield opened


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("recoding", RECODINGS)
def test_an_honest_release_is_what_follows_from_its_source(mapping: str, recoding: str) -> None:
    with open_world(spec_of(mapping=mapping, recoding=recoding)) as world:
        findings = world.findings()
    assert [f"{f.subject}: {f.message}" for f in findings if f.holds is False or f.is_warning] == []
    subjects = {finding.subject for finding in findings}
    assert {"visits_microdata", "visits_effort_1", "visits_anonymized", FILE, ORDER} <= subjects
    assert ("visits_identifiers" in subjects) == (mapping != "none")


# What an attacker may do to the rows of the release file.
ROWS = {
    "a row removed": f"delete from release where {ONE}",
    "a row twice": f"insert into release from release where {ONE}",
    "a row twice, another removed": f"insert into release from release where {ONE}; "
    "delete from release where rowid = "
    "(select rowid from release where diagnosis = 'lupus' limit 1)",
    "a suppressed or other row added": "insert into release from release limit 1",
    "a lower label": f"update release set age_lower = age_lower + 1 where {ONE}",
    "a label written otherwise": f"update release set age = age || ' ' where {ONE}",
    "a category in another case": f"update release set note = upper(note) where {ONE}",
    "a trailing space": "update release set note = rtrim(note) where rowid in "
    "(select rowid from release where note = 'seen ' limit 1)",
    "an empty text for NULL": "update release set note = null where rowid in "
    "(select rowid from release where note = '' limit 1)",
    "kept values exchanged between two records of a class": (
        "update release set score = score + 1 where rowid = (select min(rowid) from release where "
        "score > 0); update release set score = score - 1 where rowid = (select max(rowid) from "
        "release where score > 0)"
    ),
    "kept values exchanged between two classes": "update release set note = case "
    "when rowid = (select min(rowid) from release where note = 'seen') then 'Seen' else 'seen' end "
    "where rowid in (select min(rowid) from release where note = 'seen' union all "
    "select max(rowid) from release where note = 'Seen')",
    "labels exchanged between two classes": "update release set zip = "
    "case zip when '01067' then '01097' when '01097' then '01067' else zip end",
    # An update of DuckDB leaves a zero as it is.
    "the sign of a zero": "create or replace table release as select * replace (case when rowid = "
    "(select min(rowid) from release where score = 0) then '-0.0'::double else score end as score) "
    "from release",
    "the sign of NaN": "update release set score = -score where rowid = "
    "(select min(rowid) from release where isnan(score))",
    "the payload of NaN": "update release set score = ('011111111111' || '1' || repeat('0', 48) || "
    "'101')::bit::double where rowid = (select min(rowid) from release where isnan(score))",
    "NULL for NaN": "update release set score = null where rowid = "
    "(select min(rowid) from release where isnan(score))",
    "the last bit of a double": "update release set score = nextafter(score, 1e9) where rowid = "
    "(select min(rowid) from release where score > 0)",
    "a sensitive value": f"update release set diagnosis = 'cancer' where {ONE}",
    "everything": "delete from release",
}
COLUMNS = {
    "one more": "alter table release add column visit bigint",
    "one less": "alter table release drop column note",
    "another type": "alter table release alter score type float",
    "an enumeration": "alter table release alter zip type enum('01067', '01097', '010**')",
    "names exchanged": "alter table release rename note to other; "
    "alter table release rename diagnosis to note; "
    "alter table release rename other to diagnosis",
}


@pytest.mark.parametrize("change", ROWS)
def test_a_changed_row_of_the_file_is_seen(world: World, change: str) -> None:
    before = world.connection.execute(BITS).fetchall()
    # Whoever changes rows and knows the rules puts them in order again.
    with world.changed(f"{ROWS[change]}; {SORT}"):
        assert world.connection.execute(BITS).fetchall() != before
        broken = world.broken()
    assert FILE in broken
    assert ORDER not in broken


@pytest.mark.parametrize("change", COLUMNS)
def test_other_columns_of_the_file_are_seen(change: str) -> None:
    with open_world(spec_of()) as world:
        world.connection.execute(COLUMNS[change])
        assert FILE in world.broken()


@pytest.mark.parametrize(
    "order",
    [
        pytest.param("hash(note, score, diagnosis, rowid)", id="at random"),
        pytest.param("age, age_lower, age_upper, zip, score, diagnosis, note", id="of columns"),
        pytest.param(
            "age, age_lower, age_upper, zip, diagnosis, score nulls first, note", id="NULL"
        ),
        pytest.param(
            "age, age_lower, age_upper, zip, diagnosis, isnan(score) desc, score", id="NaN"
        ),
    ],
)
def test_another_order_of_rows_is_seen(order: str) -> None:
    with open_world(spec_of(mapping="none")) as world:
        world.connection.execute(
            f"create or replace table release as from release order by {order}"
        )
        assert world.broken() == {ORDER}


CHANGED = {
    "source": {
        "a value of a quasi-identifier": "age = 57 where visit = 104",
        "a kept value": "note = 'changed' where visit = 104",
        "a kept value of a suppressed record": "note = 'changed' where visit = 103",
        "the key of two records": "visit = case visit when 104 then 105 else 104 end "
        "where visit in (104, 105)",
    },
    "microdata": {
        "a kept value": "note = 'changed' where visit = 104",
        "a leaf": "age_leaf = 30 where visit = 104",
    },
}


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(("table", "change"), [(t, c) for t in CHANGED for c in CHANGED[t]])
def test_a_source_that_changed_since_the_build_is_named(
    mapping: str, table: str, change: str
) -> None:
    with open_world(spec_of(mapping=mapping)) as world:
        world.connection.execute(f"update {table} set {CHANGED[table][change]}")
        findings = world.findings()
    assert [finding.subject for finding in findings] == ["visits_microdata"]
    assert "changed since the build, cannot be verified" in findings[0].message
    assert "1 rows are missing and 1 should" in findings[0].message or "key" in change


EVERYWHERE = ("effort", "anonymized", "release")
# Condition, column and value.
CONSISTENT = {
    "kept values of other records": ("note = 'seen' and score > 5", "note", "'Seen'"),
    "kept values that tell a bit": ("note = 'seen' and hash(score) % 2 = 0", "note", "'Seen'"),
    "a sign of NaN": ("isnan(score) and note = 'seen'", "score", "-score"),
    "a sign of zero": ("score = 0 and note = 'seen'", "score", "'-0.0'::double"),
    "bounds": ("note = 'seen'", "age_lower", "age_lower - 1"),
}


@pytest.mark.parametrize("change", CONSISTENT)
def test_a_leak_that_every_relation_of_the_build_agrees_on_is_seen(
    world: World, change: str
) -> None:
    """At build time a model leaks; nothing but the source contradicts it."""
    condition, column, value = CONSISTENT[change]
    leak = "; ".join(
        f"create or replace table {relation} as select * replace "
        f"(case when {condition} then {value} else {column} end as {column}) from {relation}"
        for relation in EVERYWHERE
    )
    with world.changed(f"{leak}; {SORT}"):
        broken = world.broken()
    assert {"visits_effort_1", FILE} <= broken or "recoded labels" in broken


def test_a_record_that_is_released_though_its_class_is_too_small_is_seen() -> None:
    with open_world(spec_of(mapping="none")) as world:
        world.connection.execute("update effort set is_suppressed = false where class_size < 3")
        world.connection.execute(
            "insert into release select columns(* exclude (visit, equivalence_class, class_size, "
            "is_suppressed)) from effort where class_size < 3"
        )
        world.connection.execute(SORT)
        assert {"visits_effort_1", FILE, "k_anonymity (k 3)"} <= world.broken()


def test_a_class_that_is_suppressed_without_a_reason_is_seen() -> None:
    """Suppression by a build may tell something about people."""
    with open_world(spec_of(mapping="none")) as world:
        for relation, gone in {"effort": "is_suppressed = true", "release": ""}.items():
            condition = "where age = '[50, 60)'"
            world.connection.execute(
                f"update {relation} set {gone} {condition}" if gone
                else f"delete from {relation} {condition}"
            )  # fmt: skip
        assert {"visits_effort_1", FILE} <= world.broken()


@pytest.mark.needs("recoding")
@pytest.mark.parametrize(
    ("change", "recoding"),
    [
        ("age = '[30, 40)', age_lower = 30, age_upper = 40 where age = '[20, 30)'", "local"),
        ("age = '[20, 40)', age_lower = 20, age_upper = 40 where age = '[20, 30)'", "local"),
        ("age = '*', age_lower = 0, age_upper = 100 where zip = '01067'", "local"),
        (
            "age = '[40, 100)', age_lower = 40, age_upper = 100 where visit = 104",
            "multidimensional",
        ),
        ("age = '[20 ,40)' where age = '[20, 40)'", "multidimensional"),
        ("age = '[20, 40.0)' where visit = 105", "multidimensional"),
        ("age_upper = 41 where age = '[20, 40)'", "multidimensional"),
        ("age = '[20, 41)', age_upper = 41 where age = '[20, 40)'", "multidimensional"),
        ("zip = '01067' where visit = 105", "multidimensional"),
        ("zip = '011**' where visit = 105", "multidimensional"),
    ],
)
def test_labels_that_a_recoding_may_not_give_are_seen(change: str, recoding: str) -> None:
    with open_world(spec_of(recoding=recoding)) as world:
        world.connection.execute(f"update effort set {change}")
        assert "recoded labels" in world.broken()


@pytest.mark.needs("recoding")
@pytest.mark.parametrize("recoding", ["microaggregation", "medians"])
@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ("age = '27.5' where age_upper = 40", "means of groups"),
        ("age = 'mean' where age_upper = 40", "means of groups"),
        # As if a group with NULL had a mean.
        ("age = '31.0' where visit = 103", "recoded labels"),
        ("age_lower = 25 where age_upper = 40", "recoded labels"),
        ("zip = '01067' where visit = 105", "recoded labels"),
    ],
)
def test_means_that_are_not_those_of_their_groups_are_seen(
    change: str, subject: str, recoding: str
) -> None:
    with open_world(spec_of(recoding=recoding)) as world:
        world.connection.execute(f"update effort set {change}")
        assert subject in world.broken()


@pytest.mark.needs("recoding")
@pytest.mark.parametrize(
    ("change", "is_wrong"),
    [
        (None, False),
        # Of the young, most in the first place and the others in two more.
        ("{most} then '01067' when visit % 5 = 1 then '01097' else '01129'", False),
        ("{most} then '01097' when visit % 5 = 1 then '01067' else '01129'", True),
        # NULL is a value of its own.
        ("{most} then '01067' when visit % 5 = 1 then '01097' else null", True),
        # All but one are in one place: whoever is elsewhere knows where the others are.
        ("visit = {one} then '01097' else '01067'", True),
        ("visit in ({one}, {other}) then '01097' else '01067'", False),
    ],
)
def test_modes_that_are_not_those_of_their_groups_are_seen(
    change: str | None, *, is_wrong: bool
) -> None:
    zips = f"{visits.ZIPS} union all select '01129', '011**', '*'"
    trees = {"age": visits.AGES, "zip": zips}
    with open_world(spec_of(recoding="modes"), hierarchies=trees) as world:
        if change is not None:
            young = "age < 40"
            (one,), (other,) = world.tables.rows(
                f"select visit from source where {young} order by visit limit 2"
            )
            case = change.format(most="visit % 5 > 1", one=one, other=other)
            world.connection.execute(
                f"update source set zip = case when {case} end where {young}; "
                "update microdata set zip = source.zip, zip_leaf = source.zip from source "
                "where microdata.visit = source.visit; "
                "update effort set zip = '01067' where age_upper = 40"
            )
        assert ("modes of groups" in world.broken()) == is_wrong


@pytest.mark.needs("recoding")
def test_a_mean_that_tells_a_value_too_closely_is_seen() -> None:
    with open_world(spec_of(recoding="microaggregation")) as world:
        assert "means of groups" not in world.broken()
        # All but one of a group are as old as its lower bound: whoever is older is known.
        world.connection.execute(
            "update source set age = case when visit = 100 then 30 else 20 end where age < 40; "
            "update microdata set age = source.age, age_leaf = source.age from source "
            "where microdata.visit = source.visit and source.age < 40"
        )
        for zip_ in ("01067", "01097"):
            (mean,) = world.tables.rows(
                f"select round(avg(age), 1) from source where age < 40 and zip = '{zip_}'"
            )[0]
            world.connection.execute(
                f"update effort set age = '{mean}' where age_upper = 40 and zip = '{zip_}'"
            )
        assert "means of groups" in world.broken()


@pytest.mark.parametrize(
    ("mapping", "change"),
    [
        ("class", "cqi = null where visit = 104"),
        ("class", "cqi = 'n8:[30, 40)|t5:01067' where visit = 104"),
        ("class", "name = 'Moreau' where visit = 104"),
        ("token", "name = 'Moreau' where visit = 104"),
        ("token", "token = (select max(token) from identifiers) where visit = 104"),
    ],
)
def test_a_vault_that_leads_elsewhere_is_seen(mapping: str, change: str) -> None:
    with open_world(spec_of(mapping=mapping)) as world:
        world.connection.execute(f"update identifiers set {change}")
        assert "visits_identifiers" in world.broken()


def test_a_token_that_says_something_is_seen() -> None:
    with open_world(spec_of(mapping="token")) as world:
        for relation in ("tokens", "identifiers", "anonymized", "release"):
            world.connection.execute(f"update {relation} set token = 'Moreau ' || token")
        assert f"{FILE}.token" in world.broken()


def test_no_message_shows_a_value() -> None:
    with open_world(spec_of()) as world:
        world.connection.execute("update release set note = 'Moreau', age = 'Moreau'")
        assert not any("Moreau" in finding.message for finding in world.findings())
