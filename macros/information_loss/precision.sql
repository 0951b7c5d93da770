{# Select with one row per effort: `<qi>_precision` of each quasi-identifier and `precision`. #}
{% macro precision(classes, quasi_identifiers, generalization_suppression_factor=0.5, aggregate="arithmetic_mean") -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set suppressed = dbt_anonymize._times(factors.suppression, "classes.records") -%}
{%- set released = dbt_anonymize._times(factors.generalization, "classes.records") -%}
{%- set heights = [] -%}
with

heights as (

    select
        classes.effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- do heights.append("height_" ~ loop.index) %}
        {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level", "classes") %}
        {%- set height = dbt_anonymize._label_height(quasi_identifier, level) %}
        {%- set label = dbt_anonymize._quote(quasi_identifier.name, "classes") %}
        {#- An interval that is no level of the hierarchy has no height. #}
        {%- set between = "not classes.is_suppressed and " ~ level ~ " is null and " ~ label ~ " <> '*'" %}
        case
            when count(case when {{ between }} then 1 end) = 0
                then
                    sum(case
                        when classes.is_suppressed then {{ suppressed }}
                        else {{ released }} * {{ height }}
                    end) / cast(sum(classes.records) as {{ double }})
        end as height_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ classes }} as classes
    group by classes.effort

)

select
    effort,
    {%- for quasi_identifier in quasi_identifiers %}
    {{ dbt_anonymize._rounded("1 - height_" ~ loop.index) }}
    {{- " as " ~ dbt_anonymize._quote(quasi_identifier.name ~ "_precision") }},
    {%- endfor %}
    {%- set height = dbt_anonymize._aggregate_attributes(heights, quasi_identifiers, aggregate) %}
    {{ dbt_anonymize._rounded("1 - (" ~ height ~ ")") }} as precision
from heights
{%- endmacro %}
