{#
  `<n>_releases` in the vault: in which class every record was, of each of the last ten releases. Rows are added where a
  record has another class than in the release before (NULL: it left), so an unchanged release adds none. It is written
  with the release; on DuckDB after it, in a transaction of its own, which writes one database at a time.
#}
{% macro _remember_release(declaration) -%}
    {%- do adapter.dispatch("_remember_release", "dbt_anonymize")(declaration) -%}
{%- endmacro %}

{% macro default___remember_release(declaration) -%}
    {%- if declaration.mapping != "none" and dbt_anonymize._is_published(declaration.anonymization) -%}
        {%- set releases = dbt_anonymize._releases_relation(declaration.anonymization) -%}
        {%- set chosen = run_query(
            "select effort from " ~ ref(declaration.anonymization ~ "_results") ~ " where is_chosen"
        ).rows[0][0] | int -%}
        {%- set effort = ref(declaration.anonymization ~ "_effort_" ~ chosen) -%}
        {%- do dbt_anonymize._create_schema_of(releases) -%}
        {% call statement("remember_release") -%}
            {{ dbt_anonymize._releases_table(releases) }};
            {{ dbt_anonymize._closed_to_others(releases, "select") }}
            {{ dbt_anonymize._changes_of_classes(
                releases, effort, declaration.record_key,
                ref(declaration.anonymization ~ "_membership") if declaration.waits
            ) }};
            {{ dbt_anonymize._forgotten_releases(releases) }}
        {%- endcall %}
        {%- do dbt_anonymize._commit_step() -%}
    {%- endif -%}
{%- endmacro %}


{# Beside `<n>_identifiers`, which is not referred to: with `class` it is built from the release. #}
{% macro _releases_relation(anonymization) -%}
    {%- set vault = [] -%}
    {%- set beside = anonymization ~ "_identifiers" -%}
    {%- for node in graph.nodes.values() if node.resource_type == "model" and node.name == beside -%}
        {%- do vault.append(node) -%}
    {%- endfor -%}
    {{ return(api.Relation.create(
        database=vault[0].database, schema=vault[0].schema, identifier=anonymization ~ "_releases", type="table"
    )) }}
{%- endmacro %}


{% macro _releases_table(releases) -%}
create table if not exists {{ releases }} (
    release {{ dbt.type_bigint() }},
    released_at {{ dbt.type_timestamp() }},
    record_key {{ dbt.type_string() }},
    cqi {{ dbt.type_string() }}
)
{%- endmacro %}


{# Adds what changed since the last release; numbers of releases grow by 1. #}
{% macro _changes_of_classes(releases, effort, record_key, membership=none) -%}
insert into {{ releases }} (release, released_at, record_key, cqi)
select
    (select coalesce(max(release), 0) + 1 from {{ releases }}),
    cast({{ dbt_anonymize._literal(run_started_at.strftime("%Y-%m-%d %H:%M:%S")) }} as {{ dbt.type_timestamp() }}),
    coalesce(released.record_key, known.record_key),
    released.cqi
from (
    {%- if membership %}
    select
        record_key,
        cqi
    from {{ membership }}
    where cqi is not null
    {%- else %}
    select
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(record_key)) }} as record_key,
        equivalence_class as cqi
    from {{ effort }}
    where not is_suppressed
    {%- endif %}
) as released
full outer join (
    select
        record_key,
        cqi
    from (
        select
            record_key,
            cqi,
            row_number() over (partition by record_key order by release desc) as age
        from {{ releases }}
    ) as numbered
    where age = 1
) as known
    on released.record_key = known.record_key
where released.cqi is distinct from known.cqi
{%- endmacro %}


{# Removes what no remembered release needs: rows that the oldest of them has replaced, and who had left before it. #}
{% macro _forgotten_releases(releases) -%}
{%- set oldest = "(select max(release) - 9 from " ~ releases ~ ")" -%}
delete from {{ releases }} as known
where
    known.release < {{ oldest }}
    and (
        known.cqi is null
        or exists (
            select 1
            from {{ releases }} as later
            where
                later.record_key = known.record_key
                and later.release > known.release
                and later.release <= {{ oldest }}
        )
    )
{%- endmacro %}
