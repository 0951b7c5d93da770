{#
  Body of an effort with aggregates of the linked records of each subject: as they are released, by the `decisions`, or
  without those as they are in the microdata.
#}
{% macro linked_features(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["effort", "record_key", "tables"], {"decisions": none}) -%}
{{ config(materialized="view") }}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._raise_errors(model.name, dbt_anonymize._mean_errors(given.tables)) -%}
{%- endif -%}
{%- set with_features = given.tables | selectattr("features") | list -%}
with
{%- for table in given.tables %}

{{ dbt_anonymize._records_of_subjects(table, given.decisions) }}
{%- endfor %}
{%- for table in with_features %}
{{- dbt_anonymize._aggregated_records(table, given.decisions) }}
{%- endfor %}

effort as (

    select * from {{ given.effort }}

)

select
    effort.*
    {%- for table in with_features %}
    {%- for feature in table.features %},
    {%- set value = "features_" ~ table.name ~ "." ~ dbt_anonymize._quote(feature.name) %}
    {{ value if feature.aggregate == "mean"
        else "coalesce(" ~ value ~ ", 0) as " ~ dbt_anonymize._quote(feature.name) }}
    {%- endfor %}
    {%- endfor %}
from effort
{%- for table in with_features %}
left join features_{{ table.name }}
    on {{ dbt_anonymize._key_text(given.record_key, "effort") }} = features_{{ table.name }}.subject_key
{%- endfor %}
{%- endmacro %}


{# CTE `records_<table>`: its rows with the key of their subject, and with `decisions` those one level up. #}
{% macro _records_of_subjects(table, decisions) -%}
{%- set raised = dbt_anonymize._raised_columns(
    table.quasi_identifiers, none if table.over == "subjects" else "records"
) if decisions else "" -%}
records_{{ table.name }} as (

    {%- if table.over == "subjects" %}

    select
        *,
        {{ dbt_anonymize._key_text(table.key) }} as own_key,
        {{ dbt_anonymize._key_text(table.parent) }} as subject_key
        {{- raised }}
    from {{ table.relation }}
    {%- else %}

    select
        records.*,
        {{ dbt_anonymize._key_text(table.key, "records") }} as own_key,
        parents.subject_key
        {{- raised }}
    from {{ table.relation }} as records
    inner join records_{{ table.over }} as parents
        on {{ dbt_anonymize._key_text(table.parent, "records") }} = parents.own_key
    {%- endif %}

),
{%- endmacro %}


{# CTEs that end in `features_<table>`: a row per subject with records. #}
{% macro _aggregated_records(table, decisions) -%}
{%- set means = table.features | selectattr("aggregate", "equalto", "mean") | map(attribute="column") | list -%}
{%- set prefix = "of_" ~ table.name ~ "_" -%}
{%- if table.quasi_identifiers -%}
{%- set raised = dbt_anonymize._raised(table.quasi_identifiers) if decisions else [] -%}
{{ dbt_anonymize.generalize(
    "records_" ~ table.name, table.quasi_identifiers + raised, [table.key, "subject_key"] + means, prefix
) }}
{%- endif %}

features_{{ table.name }} as (

    select
        listed.subject_key
        {%- for feature in table.features %},
        {{ dbt_anonymize._aggregate_of_records(feature, decisions) }} as {{ dbt_anonymize._quote(feature.name) }}
        {%- endfor %}
    from {{ prefix ~ "generalized" if table.quasi_identifiers else "records_" ~ table.name }} as listed
    {%- if decisions %}
    inner join {{ decisions }} as decided
        on
            decided.linked_table = {{ dbt_anonymize._literal(table.name) }}
            and {{ dbt_anonymize._as_text(dbt_anonymize._quote(table.key, "listed")) }} = decided.record
    where decided.status <> 'left out'
    {%- endif %}
    group by listed.subject_key

),
{%- endmacro %}


{% macro _aggregate_of_records(feature, decisions) -%}
    {%- if feature.aggregate == "count" -%}{{ return("count(*)") }}{%- endif -%}
    {%- if feature.aggregate == "mean" -%}
        {{ return("avg(" ~ dbt_anonymize._quote(feature.column, "listed") ~ ")") }}
    {%- endif -%}
    {%- set labels = [] -%}
    {%- for label in feature.labels -%}{%- do labels.append(dbt_anonymize._literal(label)) -%}{%- endfor -%}
    {%- set shown = {none: dbt_anonymize._quote(feature.labelled, "listed")} if not decisions else {
        "released": dbt_anonymize._quote(feature.labelled, "listed"),
        "raised": "listed." ~ dbt_anonymize._raised_name(feature.labelled),
    } -%}
    {%- set cases = [] -%}
    {%- for status, label in shown.items() -%}
        {%- do cases.append(
            "when " ~ ("decided.status = '" ~ status ~ "' and " if status else "") ~ label ~ " in ("
            ~ labels | join(", ") ~ ") then 1"
        ) -%}
    {%- endfor -%}
    {{ return("max(case " ~ cases | join(" ") ~ " else 0 end)") }}
{%- endmacro %}


{# Why means cannot be taken, as messages. #}
{% macro _mean_errors(tables) -%}
    {%- set errors = [] -%}
    {%- for table in tables -%}
        {%- set means = table.features | selectattr("aggregate", "equalto", "mean") | map(attribute="column") | list -%}
        {%- for column in (adapter.get_columns_in_relation(table.relation) if means else []) -%}
            {%- if column.name in means and not modules.re.match("(U?(TINY|SMALL|BIG|HUGE)?INT|DOUBLE|FLOAT|DECIMAL)",
                column.dtype | upper) -%}
                {%- do errors.append(
                    "the mean of " ~ column.name ~ " of " ~ table.name ~ " must be of numbers; it has " ~ column.dtype
                    ~ ". Cast it in a model before, or remove it from linked.features."
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}
