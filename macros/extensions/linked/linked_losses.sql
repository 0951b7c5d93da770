{#
  Body of the linked records that each effort raises, hides and leaves out, and of what their quasi-identifiers lose: a
  row per effort and table.
#}
{% macro linked_losses(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["tables", "decisions", "levels", "k"], {
    "generalization_suppression_factor": 0.5, "aggregate": "geometric_mean",
}) -%}
{{ config(materialized="table") }}
{%- set bigint, double = dbt.type_bigint(), dbt_anonymize._type_double() -%}
with
{%- for name, table in given.tables.items() %}
{{- dbt_anonymize._linked_classes(name, table, given.decisions, given.levels) }}
{%- if table.quasi_identifiers %}

loss_{{ name }} as (

    {{ dbt_anonymize.loss(
        "classes_" ~ name, table.quasi_identifiers, given.generalization_suppression_factor, given.aggregate
    ) | indent(4) }}

),
{%- endif %}
{%- endfor %}

counted as (
    {%- for name, table in given.tables.items() %}

    select
        effort,
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(name)) }} as linked_table,
        {{ dbt_anonymize._levels_of_table(name, given.levels) | indent(8) }} as levels,
        sum(records) as records,
        sum(case when status = 'raised' then records else 0 end) as raised_records,
        sum(case when status = 'hidden' then records else 0 end) as hidden_records,
        sum(case when status = 'left out' then records else 0 end) as left_out_records,
        {{ dbt_anonymize._number(table.largest_share) }} as largest_share
    from classes_{{ name }}
    group by effort
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

losses as (
    {%- for name, table in given.tables.items() %}

    select
        effort,
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(name)) }} as linked_table,
        {%- if table.quasi_identifiers %}
        loss
    from loss_{{ name }}
        {%- else %}
        {#- Nothing but whole records can be lost. #}
        sum(case when status = 'left out' then records else 0 end) / cast(sum(records) as {{ double }}) as loss
    from classes_{{ name }}
    group by effort
        {%- endif %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

)

select
    counted.effort,
    counted.linked_table,
    counted.levels,
    cast(
        case counted.effort
            {%- for number, k in given.k.items() %}
            when {{ number }} then {{ k }}
            {%- endfor %}
        end as {{ bigint }}
    ) as joint_k,
    cast(counted.records as {{ bigint }}) as records,
    cast(counted.raised_records as {{ bigint }}) as raised_records,
    cast(counted.hidden_records as {{ bigint }}) as hidden_records,
    cast(counted.left_out_records as {{ bigint }}) as left_out_records,
    (counted.hidden_records + counted.left_out_records) / cast(counted.records as {{ double }}) as lost_share,
    cast(counted.largest_share as {{ double }}) as largest_share,
    losses.loss
from counted
inner join losses on counted.effort = losses.effort and counted.linked_table = losses.linked_table
order by
    counted.effort,
    counted.linked_table
{%- endmacro %}


{# SQL of the levels of a linked table in words, by effort. #}
{% macro _levels_of_table(name, levels) -%}
    {%- set words = {} -%}
    {%- for effort, by_table in levels.items() -%}
        {%- do words.update({effort: dbt_anonymize._named_levels(by_table[name]) | join(", ")}) -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._levels_in_words(words)) }}
{%- endmacro %}


{#
  CTEs that end in `classes_<table>`: numbers of records by effort, status and the shares of hierarchies that their
  labels cover. Those of subjects who are left out are left out.
#}
{% macro _linked_classes(name, table, decisions, levels) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set columns = ["effort", "status"] -%}
{%- for quasi_identifier in table.quasi_identifiers %}
{%- do columns.append(dbt_anonymize._quote(quasi_identifier.name ~ "_share")) %}
{{- dbt_anonymize._shares_of_levels(quasi_identifier, "shares_" ~ name ~ "_" ~ loop.index) }}
{%- endfor %}

labelled_{{ name }} as (
    {%- for effort, relation in decisions.items() %}

    select
        {{ effort }} as effort,
        {%- for quasi_identifier in table.quasi_identifiers %}
        {%- set share, level = "shares_" ~ loop.index ~ ".share_", levels[effort][name][quasi_identifier.name] %}
        {#- NULL is released as `*`, which covers everything. #}
        coalesce(
            case
                when decided.status = 'raised' then {{ share ~ [level + 1, quasi_identifier.levels] | min }}
                else {{ share ~ level }}
            end,
            cast(1 as {{ double }})
        ) as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share") }},
        {%- endfor %}
        coalesce(decided.status, 'left out') as status
    from {{ table.relation }} as listed
    left join {{ relation }} as decided
        on
            {{ dbt_anonymize._as_text(dbt_anonymize._quote(table.key, "listed")) }} = decided.record
            and decided.linked_table = {{ dbt_anonymize._literal(name) }}
    {%- for quasi_identifier in table.quasi_identifiers %}
    left join shares_{{ name }}_{{ loop.index }} as shares_{{ loop.index }}
        on {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf", "listed") }} = shares_{{ loop.index }}.leaf
    {%- endfor %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

classes_{{ name }} as (

    select
        {{ columns | join(",\n        ") }},
        status in ('hidden', 'left out') as is_suppressed,
        count(*) as records
    from labelled_{{ name }}
    group by
        {{ columns | join(",\n        ") }}

),
{%- endmacro %}


{# CTE of the leaves of a hierarchy: the share of it that the label of each level covers, `share_<l>`. #}
{% macro _shares_of_levels(quasi_identifier, name) -%}
{%- set double = dbt_anonymize._type_double() %}

{{ name }} as (

    select
        leaf,
        {%- for level in range(quasi_identifier.levels + 1) %}
        max(share_{{ level }}) as share_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    from (
        select
            {%- if quasi_identifier.kind == "interval" %}
            lower_bound as leaf,
            cast(0 as {{ double }}) as share_0
            {%- else %}
            {{ dbt_anonymize._as_text("value") }} as leaf,
            cast(1 as {{ double }}) / count(*) over () as share_0
            {%- endif %}
            {%- for level in range(1, quasi_identifier.levels + 1) %},
            case
                when {{ dbt_anonymize._as_text("level_" ~ level) }} = '*' then 1
                else
                    {{ dbt_anonymize._share_of_label(quasi_identifier, level) | indent(8) }}
            end as share_{{ level }}
            {%- endfor %}
        from {{ quasi_identifier.hierarchy }}
    ) as leaves
    group by leaf

),
{%- endmacro %}
