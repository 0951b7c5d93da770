{# Select with one row per effort and its `total_information_loss`. #}
{% macro total_information_loss(
    classes, quasi_identifiers, generalization_suppression_factor=0.5, has_modes=false
) -%}
with
{{- dbt_anonymize._costs(classes, quasi_identifiers, generalization_suppression_factor, has_modes) }}

select
    effort,
    {{ dbt_anonymize._sum_of_costs(quasi_identifiers) }} as total_information_loss
from costs
{%- endmacro %}


{# What is lost in all columns of `costs`. #}
{% macro _sum_of_costs(quasi_identifiers) -%}
    {%- set costs = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}{%- do costs.append("cost_" ~ loop.index) -%}{%- endfor -%}
    {{ return(dbt_anonymize._aggregate_attributes(costs, quasi_identifiers, "sum")) }}
{%- endmacro %}


{# CTEs that end in `costs`: what each quasi-identifier loses, `cost_<i>`, in each class, or in all of an effort. #}
{% macro _costs(classes, quasi_identifiers, generalization_suppression_factor, has_modes, of_classes=[]) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set categories = quasi_identifiers | rejectattr("kind", "equalto", "interval") | list -%}
{%- for quasi_identifier in categories if has_modes %}
{{- dbt_anonymize._heights_of_modes(classes, quasi_identifier, quasi_identifiers.index(quasi_identifier) + 1) }}
{%- endfor %}

costs as (

    select
        classes.effort,
        {%- for column in of_classes %}
        classes.{{ column }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set width = dbt_anonymize._quote(quasi_identifier.name ~ "_share", "classes") %}
        {%- if quasi_identifier.kind != "interval" %}
            {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level", "classes") %}
            {%- if has_modes %}
                {%- set level = "coalesce(" ~ level ~ ", modes_" ~ loop.index ~ ".level)" %}
            {%- endif %}
            {%- set width = dbt_anonymize._label_height(quasi_identifier, level) %}
        {%- endif %}
        {{ "" if of_classes else "sum(" }}case
            when classes.is_suppressed then {{ dbt_anonymize._times(factors.suppression, "classes.records") }}
            else {{ dbt_anonymize._times(factors.generalization, "classes.records") }} * {{ width }}
        end{{ "" if of_classes else ")" }} as cost_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ classes }} as classes
    {%- for quasi_identifier in categories if has_modes %}
    {%- set modes = "modes_" ~ (quasi_identifiers.index(quasi_identifier) + 1) %}
    left join {{ modes }}
        on
            {{ dbt_anonymize._quote(quasi_identifier.name, "classes") }} = {{ modes }}.label
            and {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share", "classes") }} = {{ modes }}.share
    {%- endfor %}
    {%- if not of_classes %}
    group by classes.effort
    {%- endif %}

)
{%- endmacro %}


{# CTE `modes_<i>`: of each mode, a value with the share of the label that covers its group, the lowest level that has
   it. A label of another effort may be the same text with the same share, at the level that it has by itself. #}
{% macro _heights_of_modes(classes, quasi_identifier, position) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set label = dbt_anonymize._quote(quasi_identifier.name) -%}
{%- set share = dbt_anonymize._quote(quasi_identifier.name ~ "_share") -%}
{%- set value = dbt_anonymize._as_text("value") %}

ancestors_{{ position }} as (
    {%- for level in range(quasi_identifier.levels + 1) %}

    select
        {{ level }} as level,
        {{ value }} as label,
        cast(count(*) over (partition by {{ "level_" ~ level if level else value }}) as {{ double }})
        / count(*) over () as share
    from {{ quasi_identifier.hierarchy }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

modes_{{ position }} as (

    select
        shown.label,
        shown.share,
        min(ancestors.level) as level
    from (
        select distinct
            {{ label }} as label,
            {{ share }} as share
        from {{ classes }}
        where {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }} is null and {{ label }} <> '*'
    ) as shown
    inner join ancestors_{{ position }} as ancestors
        on shown.label = ancestors.label and shown.share <= ancestors.share + 1e-12
    group by
        shown.label,
        shown.share

),
{%- endmacro %}
