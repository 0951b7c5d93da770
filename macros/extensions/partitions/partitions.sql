{% macro partitions(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "source", "record_key", "partition_by", "columns", "hierarchies",
], {
    "mask_keys": none, "sample": none, "person": none, "mechanism": none, "consent": none,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- do dbt_anonymize._check_stored(given.anonymization, [given.source] + given.hierarchies) -%}
{%- set source_columns = {} -%}
{%- for column in (adapter.get_columns_in_relation(given.source) if execute else []) -%}
    {%- do source_columns.update({column.name: column}) -%}
{%- endfor -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._raise_errors(
        given.anonymization, dbt_anonymize._partition_errors(given.source, given.partition_by, source_columns)
    ) -%}
{%- endif -%}
{%- set value, read, types = dbt_anonymize._quote(given.partition_by), [], [] -%}
{#- What is declared and missing stops the microdata, with all other errors. -#}
{%- for name in ([given.partition_by] + given.columns) | unique(case_sensitive=true)
    if name in source_columns or not source_columns -%}
    {%- do read.append(dbt_anonymize._quote(name, "source")) -%}
    {%- do types.append(name ~ " " ~ (source_columns[name].data_type if source_columns else "")) -%}
{%- endfor -%}
{%- if given.sample -%}{%- do read.append("drawn.draw as sample_share") -%}{%- endif -%}
with

source as (

    {{ dbt_anonymize._taking_part(given.source, given.anonymization, given.record_key, consent=given.consent) }}

),
{# All that a record becomes depends on: its values, and what is drawn for whom it is of. #}
digested as (

    select
        {{ read | join(",\n        ") }}
    from source
    {%- if given.sample %}
    {{ dbt_anonymize._join_draws(given.sample, dbt_anonymize._quote(given.person, "source"), given.mechanism) }}
    {%- endif %}

),

counted as (

    select
        {{ value }} as partition_value,
        count(*) as records,
        {{ dbt_anonymize._sum_of_hashes("digested") }} as digest
    from digested
    group by {{ value }}

),
{# And what is the same for all. #}
shared as (

    select
        {{ dbt_anonymize._literal(types | join(", ")) }}
        {%- for hierarchy in given.hierarchies %}
        || ' ' || (
            select count(*) || ' ' || {{ dbt_anonymize._sum_of_hashes("digested") }}
            from {{ hierarchy }} as digested  -- noqa: AL05
        )
        {%- endfor %}
        {%- if given.mask_keys %}
        || ' ' || (select string_agg(md5(person || ' ' || token), ' ' order by person) from {{ given.mask_keys }})
        {%- endif %} as digest

)

select
    counted.partition_value,
    counted.records,
    md5(
        case
            when counted.partition_value is null then 'null'
            else 'value ' || {{ dbt_anonymize._as_text("counted.partition_value") }}
        end
        || ' ' || counted.records || ' ' || counted.digest || ' ' || shared.digest
    ) as fingerprint,
    {{ dbt_anonymize._literal(invocation_id) }} as run_id
from counted
cross join shared
{%- endmacro %}


{# Values are compared as text and as their type, so both must be equal alike. #}
{% macro _partition_errors(source, partition_by, source_columns) -%}
    {%- if not dbt_anonymize._has_transactions() -%}
        {{ return([
            "partition_by needs transactions, in which the parts change; " ~ target.type ~ " has none. Remove it from"
            ~ " the spec and generate again."
        ]) }}
    {%- elif not source_columns -%}
        {{ return(["the source " ~ source ~ " does not exist or has no columns. Build or load it first."]) }}
    {%- elif partition_by not in source_columns -%}
        {{ return([
            "partition_by must name a column of the source " ~ source ~ "; it has no " ~ partition_by
            ~ ". Name another, or add it."
        ]) }}
    {%- endif -%}
    {%- set type = source_columns[partition_by].dtype | lower -%}
    {%- set types = "u?(tiny|small|big|huge)?int|integer|date|text|string|(var)?char.*" -%}
    {%- if modules.re.fullmatch(types, type) -%}{{ return([]) }}{%- endif -%}
    {{ return([
        "partition_by must name a column of texts, whole numbers or dates; " ~ partition_by ~ " is "
        ~ dbt_anonymize._shown_type(type) ~ ". Cast it in a model before."
    ]) }}
{%- endmacro %}
