{% macro microdata(anonymization, source, record_key, identifiers, quasi_identifiers, kept_columns, target) -%}
{#- What the check after the build needs to know. Names only: configuration is read before relations are known. -#}
{%- set checked = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do checked.append({"name": quasi_identifier.name, "kind": quasi_identifier.kind}) -%}
{%- endfor -%}
{{ config(
    materialized="table",
    meta={"dbt_anonymize": {
        "anonymization": anonymization,
        "record_key": record_key,
        "quasi_identifiers": checked,
        "target": target,
    }},
    post_hook="{{ dbt_anonymize._check_microdata() }}",
) }}
{%- set found = {} -%}
{%- for column in (adapter.get_columns_in_relation(source) if execute else []) -%}
    {%- do found.update({column.name: column}) -%}
{%- endfor -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_declaration(anonymization, source, found, [record_key] + identifiers, quasi_identifiers, kept_columns) -%}
{%- endif -%}
with

source as (

    select * from {{ source }}

),
{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name) %}
{#- Each value is looked up once, and records find it by equality: a join of all records on bounds sorts them all. #}

values_{{ loop.index }} as (

    select distinct {{ raw }} as found
    from source
    where {{ raw }} is not null

),

leaves_{{ loop.index }} as (

    select
        values_{{ loop.index }}.found,
        hierarchy.lower_bound as leaf
    from values_{{ loop.index }}
    inner join {{ quasi_identifier.hierarchy }} as hierarchy
        on
            values_{{ loop.index }}.found >= hierarchy.lower_bound
            and values_{{ loop.index }}.found < hierarchy.upper_bound

){{ "," if not loop.last }}
{%- else %}

leaves_{{ loop.index }} as (

    select {{ dbt_anonymize._as_text("value") }} as leaf
    from {{ quasi_identifier.hierarchy }}

){{ "," if not loop.last }}
{%- endif %}
{%- endfor %}

select
    {{ dbt_anonymize._quote(record_key, "source") }},
    {%- for quasi_identifier in quasi_identifiers %}
    {%- set quoted = dbt_anonymize._quote(quasi_identifier.name) %}
    {#- Adding 0 turns -0.0 into 0.0: they are equal, so they must not look different in the release. #}
    {%- set column = found.get(quasi_identifier.name) %}
    {{ "source." ~ quoted ~ " + 0 as " ~ quoted if column and column.is_float() else "source." ~ quoted }},
    {#- The leaf stays with the record: every effort joins its level by equality. #}
    leaves_{{ loop.index }}.leaf as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }},
    {%- endfor %}
    {%- for column in kept_columns %}
    {{ dbt_anonymize._quote(column, "source") }}{{ "," if not loop.last }}
    {%- endfor %}
from source
{%- for quasi_identifier in quasi_identifiers %}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name, "source") %}
left join leaves_{{ loop.index }}
    {%- if quasi_identifier.kind == "interval" %}
    on {{ raw }} = leaves_{{ loop.index }}.found
    {%- else %}
    on {{ dbt_anonymize._as_text(raw) }} = leaves_{{ loop.index }}.leaf
    {%- endif %}
{%- endfor %}
{%- endmacro %}


{# Before the build: every source column has a role, and every hierarchy is well formed. All errors at once. #}
{% macro _check_declaration(anonymization, source, found, other_columns, quasi_identifiers, kept_columns) -%}
    {%- set spec = "anonymizations/" ~ anonymization ~ ".yml" -%}
    {%- set errors = dbt_anonymize._setting_errors() -%}
    {%- set declared = other_columns + kept_columns -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- do declared.append(quasi_identifier.name) -%}
        {%- do errors.extend(dbt_anonymize._hierarchy_errors(quasi_identifier)) -%}
        {%- do errors.extend(dbt_anonymize._column_type_errors(found.get(quasi_identifier.name), quasi_identifier.kind)) -%}
    {%- endfor -%}
    {%- for name in kept_columns -%}
        {%- do errors.extend(dbt_anonymize._column_type_errors(found.get(name), "released as it is")) -%}
    {%- endfor -%}
    {%- set undeclared = found.keys() | reject("in", declared) | list -%}
    {%- set missing = declared | reject("in", found.keys()) | list -%}
    {%- if found | length == 0 -%}
        {%- do errors.append("the source " ~ source ~ " does not exist or has no columns. Build or load it first.") -%}
    {%- else -%}
        {%- if undeclared -%}
            {%- do errors.append(
                "every column of the source needs a declared role; without one: " ~ undeclared | join(", ")
                ~ ". Give each a role in " ~ spec ~ " and run `dbt-anonymize generate " ~ anonymization ~ "`."
            ) -%}
        {%- endif -%}
        {%- if missing -%}
            {%- do errors.append(
                "declared columns are not in the source " ~ source ~ ": " ~ missing | join(", ") ~ ". Correct " ~ spec ~ "."
            ) -%}
        {%- endif -%}
        {%- if run_query("select 1 from " ~ source ~ " limit 1").rows | length == 0 -%}
            {%- do errors.append("the source " ~ source ~ " has no rows, so there is nothing to anonymize. Load it first.") -%}
        {%- endif -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(anonymization, errors) -%}
{%- endmacro %}


{# After the build, in its transaction: what the data themselves must hold. Counts only, never values. #}
{% macro _check_microdata() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set spec = "anonymizations/" ~ declaration.anonymization ~ ".yml" -%}
    {%- set key = dbt_anonymize._quote(declaration.record_key) -%}
    {%- set target_column = dbt_anonymize._quote(declaration.target) -%}
    {%- set counts = run_query(
        "select count(*), count(" ~ key ~ "), count(distinct " ~ key ~ "), count(" ~ target_column
        ~ "), count(distinct " ~ target_column ~ ") from " ~ this
    ).rows[0] -%}
    {%- set records, keys, distinct_keys, targets, classes = counts[0], counts[1], counts[2], counts[3], counts[4] -%}
    {%- set errors = [] -%}
    {%- if records == 0 -%}
        {%- do errors.append("the source lost its rows during the build. Load it and build again.") -%}
    {%- else -%}
        {%- if distinct_keys < records -%}
            {%- do errors.append(
                "the record key " ~ declaration.record_key ~ " must be unique and not NULL; "
                ~ (records - keys) ~ " of " ~ records ~ " records have none and "
                ~ (keys - distinct_keys) ~ " repeat another's. Choose another key in " ~ spec ~ " or remove the duplicates."
            ) -%}
        {%- endif -%}
        {%- if targets < records -%}
            {%- do errors.append(
                "the target " ~ declaration.target ~ " must not be NULL; " ~ (records - targets) ~ " of " ~ records
                ~ " records have none. Filter them in a model before."
            ) -%}
        {%- endif -%}
        {%- if classes == 1 -%}
            {%- do errors.append(
                "the target " ~ declaration.target ~ " has one value only, so there is nothing to learn. Choose another target in " ~ spec ~ "."
            ) -%}
        {%- endif -%}
        {%- for quasi_identifier in declaration.quasi_identifiers -%}
            {%- set uncovered = run_query(
                "select count(*) from " ~ this ~ " where " ~ dbt_anonymize._quote(quasi_identifier.name) ~ " is not null and "
                ~ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") ~ " is null"
            ).rows[0][0] -%}
            {%- if uncovered > 0 -%}
                {%- do errors.append(
                    "the hierarchy of " ~ quasi_identifier.name ~ " does not cover the column"
                    ~ ": " ~ uncovered ~ " of " ~ records ~ " records have a value outside it"
                    ~ (" (NaN and infinity always are)" if quasi_identifier.kind == "interval" else " (compared as text: keep leading zeros with column_types)")
                    ~ ". Extend the hierarchy or correct the source."
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
{%- endmacro %}
