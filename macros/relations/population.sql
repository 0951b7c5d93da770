{% macro population(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "population", "frequencies", "quasi_identifiers",
]) -%}
{%- set checked = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do checked.append({"name": quasi_identifier.name, "kind": quasi_identifier.kind}) -%}
{%- endfor -%}
{{ config(
    materialized="table",
    meta={"dbt_anonymize": {"anonymization": given.anonymization, "quasi_identifiers": checked}},
    post_hook=["{{ dbt_anonymize._check_population() }}"] + dbt_anonymize._analyzed(),
) }}
{%- set names = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do names.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
{%- do dbt_anonymize._check_stored(given.anonymization, [given.population]) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_population_columns(given.anonymization, given.population, given.quasi_identifiers) -%}
{%- endif -%}
with

counted as (

    select
        {{ names | join(",\n        ") }},
        count(*) as records
    from {{ given.population }}
    group by
        {{ names | join(",\n        ") }}

),
{%- for quasi_identifier in given.quasi_identifiers %}

{{ dbt_anonymize._leaves("counted", quasi_identifier, loop.index) }}{{ "," if not loop.last }}
{%- endfor %}

{%- set unknown = given.quasi_identifiers | selectattr("unknown", "defined") | list | length > 0 %}

select
    {%- for quasi_identifier in given.quasi_identifiers %}
    {%- set value = dbt_anonymize._quote(quasi_identifier.name, "counted") %}
    {{ dbt_anonymize._known_value(value, quasi_identifier, loop.index) }},
    leaves_{{ loop.index }}.leaf as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }},
    {%- endfor %}
    {{ "cast(sum(counted.records) as " ~ dbt.type_bigint() ~ ") as records" if unknown else "counted.records" }}
from counted
{%- for quasi_identifier in given.quasi_identifiers %}
{{ dbt_anonymize._join_leaves("counted", quasi_identifier, loop.index) }}
{%- endfor %}
{#- Several values that nobody foresaw are one now. #}
{%- if unknown %}
group by
    {%- for quasi_identifier in given.quasi_identifiers %}
    {{ loop.index * 2 - 1 }},
    {{ loop.index * 2 }}{{ "," if not loop.last }}
    {%- endfor %}
{%- endif %}
{%- endmacro %}


{% macro _check_population_columns(anonymization, population, quasi_identifiers) -%}
    {%- set columns = adapter.get_columns_in_relation(population) -%}
    {%- set existing = columns | map(attribute="name") | list -%}
    {%- set missing = quasi_identifiers | map(attribute="name") | reject("in", existing) | list -%}
    {%- set errors = [] -%}
    {%- if missing -%}
        {%- do errors.append(
            "the population " ~ population ~ " must have every quasi-identifier; missing: " ~ missing | join(", ")
            ~ "; got: " ~ (existing | join(", ") or "no such relation") ~ ". Give it the column names of the source."
        ) -%}
    {%- endif -%}
    {%- for column in columns -%}
        {%- for quasi_identifier in quasi_identifiers if quasi_identifier.name == column.name -%}
            {%- do errors.extend(dbt_anonymize._collation_errors(population, [column])) -%}
            {%- do errors.extend(dbt_anonymize._zone_errors(column)) -%}
            {%- do errors.extend(dbt_anonymize._bound_type_errors(quasi_identifier, column)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(anonymization, errors) -%}
{%- endmacro %}


{# After the build, in its transaction: everybody in the source must be in the population. Counts only, never values. #}
{% macro _check_population() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set frequencies = ref(declaration.anonymization ~ "_frequencies") -%}
    {%- set has_subject = "subject" in adapter.get_columns_in_relation(frequencies) | map(attribute="name") | list -%}
    {%- set subjects = "count(distinct subject)" if has_subject else "sum(records)" -%}
    {%- set names, errors = [], [] -%}
    {%- for quasi_identifier in declaration.quasi_identifiers -%}
        {%- do names.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
        {%- set uncovered = run_query(
            "select coalesce(sum(records), 0) from " ~ this
            ~ " where " ~ dbt_anonymize._quote(quasi_identifier.name) ~ " is not null"
            ~ " and " ~ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") ~ " is null"
        ).rows[0][0] -%}
        {%- if uncovered > 0 -%}
            {%- do errors.append(
                "the hierarchy of " ~ quasi_identifier.name ~ " does not cover the population: " ~ uncovered
                ~ " of its records have a value outside it. Extend the hierarchy or correct the population."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set group = names | join(", ") -%}
    {%- set counts = run_query(
        "select count(*), coalesce(sum(case when class_size > population_size then 1 else 0 end), 0) from ("
        ~ "select " ~ group ~ ", sum(class_size) as class_size, sum(population_size) as population_size from ("
        ~ "select " ~ group ~ ", " ~ subjects ~ " as class_size, 0 as population_size from " ~ frequencies
        ~ " group by " ~ group
        ~ " union all select " ~ group ~ ", 0 as class_size, records as population_size from " ~ this
        ~ ") as counted group by " ~ group ~ ") as classes"
    ).rows[0] -%}
    {%- if counts[1] > 0 -%}
        {%- do errors.append(
            "the population must contain everybody in the source; " ~ counts[1] ~ " of " ~ counts[0]
            ~ " combinations of quasi-identifiers have fewer people in the population. Complete the population."
        ) -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
{%- endmacro %}
