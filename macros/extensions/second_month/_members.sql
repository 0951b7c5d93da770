{#
  `<n>_members` in the vault: what was released of each record, from which release (`entered`) to which (`left_at`;
  NULL: it still is), and with whom it joined its class (`cohort`). It is written before publishing, as a release that
  is remembered and was never published only makes later ones stricter.
#}
{% macro _members_relation(beside, anonymization) -%}
    {{ return(api.Relation.create(
        database=beside.database, schema=beside.schema, identifier=anonymization ~ "_members", type="table"
    )) }}
{%- endmacro %}


{# The number of the last release that changed anything. #}
{% macro _last_change(members) -%}
    {{ return(run_query("select coalesce(max(entered), 0), coalesce(max(left_at), 0) from " ~ members).rows[0]
        | map("int") | max) }}
{%- endmacro %}


{# Stops where the earlier releases are not known well enough to hide who joined. #}
{% macro _check_members(anonymization, stored, effort, columns, labels) -%}
    {%- set errors = [] -%}
    {%- set freeze = "`dbt-anonymize freeze " ~ anonymization ~ "`" -%}
    {%- if stored is none -%}
        {%- set released = dbt_anonymize._released_before(anonymization) -%}
        {%- if released -%}
            {%- do errors.append(
                released ~ " has an earlier release, and the vault does not know its records, so nobody could tell"
                ~ " who joins or leaves. Restore " ~ anonymization ~ "_members from a backup of the vault, or remove"
                ~ " `freeze`, build, and run " ~ freeze ~ ", which remembers them; or accept it with"
                ~ " `release: {joiners: publish}`."
            ) -%}
        {%- endif -%}
    {%- else -%}
        {%- set others = run_query(
            "select count(*) from " ~ stored ~ " where labels is null or labels <> " ~ dbt_anonymize._literal(labels)
        ).rows[0][0] -%}
        {%- set types = {} -%}
        {%- for column in adapter.get_columns_in_relation(effort) -%}
            {%- do types.update({column.name: column.data_type}) -%}
        {%- endfor -%}
        {%- set stored_types, wanted = {}, {} -%}
        {%- for column in adapter.get_columns_in_relation(stored) if column.name.startswith("v_") -%}
            {%- do stored_types.update({column.name: column.data_type}) -%}
        {%- endfor -%}
        {%- for column in columns -%}{%- do wanted.update({"v_" ~ loop.index: types.get(column)}) -%}{%- endfor -%}
        {%- if others > 0 or stored_types != wanted -%}
            {%- do errors.append(
                "the members that the vault remembers must be of the same labels, columns and types as now; "
                ~ stored ~ " is of others, so that the next release could be intersected with the earlier ones. Take"
                ~ " back what changed in the spec or the source, or let a custodian drop that table, remove `freeze`,"
                ~ " build, and run " ~ freeze ~ ": whoever has a release of before and one of after then learns more."
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(anonymization, errors) -%}
{%- endmacro %}


{# The released relation, if it holds records, or what the vault remembers of it. It must not be referred to, since it
   is built later. #}
{% macro _released_before(anonymization) -%}
    {%- set released = anonymization ~ "_anonymized" -%}
    {%- set remembered = load_relation(dbt_anonymize._releases_relation(anonymization)) -%}
    {%- if remembered and run_query("select 1 from " ~ remembered ~ " limit 1").rows | length > 0 -%}
        {{ return(released ~ ", by " ~ remembered ~ ",") }}
    {%- endif -%}
    {%- for node in graph.nodes.values() if node.resource_type == "model" and node.name == released -%}
        {%- set relation = adapter.get_relation(database=node.database, schema=node.schema, identifier=node.alias) -%}
        {%- if relation and run_query("select 1 from " ~ relation ~ " limit 1").rows | length > 0 -%}
            {{ return(relation | string) }}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{# Query of the first members: everybody who is released, each class a cohort. #}
{% macro _first_members(effort, record_key, columns, labels) -%}
select
    {{ dbt_anonymize._as_text(dbt_anonymize._quote(record_key)) }} as record_key,
    equivalence_class as cqi,
    {{ dbt.concat(["'1 '", "md5(equivalence_class)"]) }} as cohort,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(labels)) }} as labels,
    {%- for column in columns %}
    {{ dbt_anonymize._quote(column) }} as v_{{ loop.index }},
    {%- endfor %}
    cast(1 as {{ dbt.type_bigint() }}) as entered,
    cast(null as {{ dbt.type_bigint() }}) as left_at
from {{ effort }}
where not is_suppressed
{%- endmacro %}


{# Before publishing; on DuckDB in a transaction of its own, which writes one database at a time. #}
{% macro _record_members(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- set plan = ref(name ~ "_membership") -%}
    {%- set members = dbt_anonymize._members_relation(plan, name) -%}
    {%- set values = dbt_anonymize._member_values(declaration.waits.columns) -%}
    {% call statement("members_exist") -%}
        create table if not exists {{ members }} as
        select
            record_key,
            cqi,
            cohort,
            {{ dbt_anonymize._as_text("null") }} as labels,
            {{ values | join(", ") }},
            cast(null as {{ dbt.type_bigint() }}) as entered,
            cast(null as {{ dbt.type_bigint() }}) as left_at
        from {{ plan }}
        where 1 = 0;
        {{ dbt_anonymize._closed_to_others(members, "select") }}
        {{ dbt_anonymize._lock_table(members) }}
    {%- endcall %}
    {%- set base = run_query("select coalesce(max(after_release), 0) from " ~ plan).rows[0][0] | int -%}
    {%- if dbt_anonymize._last_change(members) != base -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "who is released now was decided after release " ~ base ~ "; the vault remembers another since. Another"
            ~ " build released meanwhile, or this step was run alone; run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {% call statement("record_members") -%}
        {{ dbt_anonymize._changes_of_members(members, plan, values, base + 1, declaration.waits.labels) }}
    {%- endcall %}
    {%- do dbt_anonymize._commit_step() -%}
    {%- do dbt_anonymize._say_who_waits(name, plan) -%}
{%- endmacro %}


{% macro _changes_of_members(members, plan, values, release, labels) -%}
update {{ members }} set left_at = {{ release }}
where
    left_at is null
    and record_key in (select plan.record_key from {{ plan }} as plan where plan.state = 'left');
insert into {{ members }} (record_key, cqi, cohort, labels, {{ values | join(", ") }}, entered, left_at)
select
    record_key,
    cqi,
    cohort,
    {{ dbt_anonymize._literal(labels) }},
    {{ values | join(", ") }},
    {{ release }},
    null
from {{ plan }}
where state = 'joined'
{%- endmacro %}


{# How many wait for what; never who. #}
{% macro _say_who_waits(name, plan) -%}
    {%- set counts = run_query(
        "select count(case when state = 'waiting' then 1 end), count(case when state = 'leaving' then 1 end), "
        ~ "count(case when state = 'changing' then 1 end) from " ~ plan
    ).rows[0] -%}
    {%- if counts[0] or counts[1] or counts[2] -%}
        {%- do log(
            name ~ ": " ~ counts[0] ~ " records wait to join, " ~ counts[1] ~ " to leave and " ~ counts[2]
            ~ " to change, until enough of a class do to keep every guarantee by themselves.", info=True
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# Query of the release where new records wait: of the members, ordered by what is released. #}
{% macro _released_members(
    membership, columns, tokens, has_class, is_counted=false, shown=none, middles=""
) -%}
{%- set released = [] -%}
{%- for column in columns -%}{%- do released.append(dbt_anonymize._quote(column)) -%}{%- endfor -%}
{%- set mapped = ["cqi"] if has_class else ["token"] if tokens else [] -%}
{%- do released.extend(mapped) -%}
{%- set ordered = [] -%}
{%- for column in shown or columns -%}{%- do ordered.append(dbt_anonymize._quote(column)) -%}{%- endfor -%}
with

members as (

    select
        {%- for column in columns %}
        membership.v_{{ loop.index }} as {{ released[loop.index0] }}
        {{- "," if not loop.last or has_class or tokens }}
        {%- endfor %}
        {{ "membership.cqi" if has_class else "tokens.token" if tokens }}
    from {{ membership }} as membership
    {%- if tokens %}
    left join {{ tokens }} as tokens on membership.record_key = {{ dbt_anonymize._as_text("tokens.person") }}
    {%- endif %}
    where membership.cqi is not null

)

{{ dbt_anonymize._rows_in_order(
    "(select *" ~ middles ~ " from members) as members" if middles else "members", ordered + mapped, is_counted
) }}
{%- endmacro %}
