{# Select with one row per class of an effort: `effort`, `records`, `is_suppressed`, `covered` (how many combinations of
   raw values its labels may stand for), `domain` (how many there are at all) and `is_exact`. #}
{% macro covered_tuples(classes, frequencies, quasi_identifiers) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set covered, domain, approximate = [], [], [] -%}
with

{# NULL is a value of its own beside those of the hierarchy; the values of a number are those that occur. -#}
found as (

    select
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set name = dbt_anonymize._quote(quasi_identifier.name) %}
        {%- if quasi_identifier.kind == "interval" %}
        count(distinct {{ name }}) as values_{{ loop.index }},
        {%- else %}
        (select count(*) from {{ quasi_identifier.hierarchy }}) as values_{{ loop.index }},
        {%- endif %}
        max(case when {{ name }} is null then 1 else 0 end) as nulls_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ frequencies }}

),
{%- for quasi_identifier in quasi_identifiers if quasi_identifier.kind == "interval" %}
{%- set position = quasi_identifiers.index(quasi_identifier) + 1 %}
{%- set name = dbt_anonymize._quote(quasi_identifier.name) %}

leaves_{{ position }} as (

    select
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }} as leaf,
        count(distinct {{ name }}) as covered
    from {{ frequencies }}
    where {{ name }} is not null
    group by {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }}

),

labels_{{ position }} as (
    {%- for level in range(1, quasi_identifier.levels + 1) %}

    select
        {{ level }} as level,
        {{ dbt_anonymize._as_text("hierarchy.level_" ~ level) }} as label,
        sum(leaves_{{ position }}.covered) as covered
    from {{ quasi_identifier.hierarchy }} as hierarchy
    inner join leaves_{{ position }} on hierarchy.lower_bound = leaves_{{ position }}.leaf
    group by hierarchy.level_{{ level }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endfor %}

domains as (

    select
        {%- for quasi_identifier in quasi_identifiers %}
        cast(values_{{ loop.index }} as {{ double }}) as values_{{ loop.index }},
        cast(values_{{ loop.index }} + nulls_{{ loop.index }} as {{ double }}) as domain_{{ loop.index }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from found

),

labels as (

    select
        classes.effort,
        classes.records,
        classes.is_suppressed,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set label = dbt_anonymize._quote(quasi_identifier.name, "classes") %}
        {%- set share = dbt_anonymize._quote(quasi_identifier.name ~ "_share", "classes") %}
        {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level", "classes") %}
        {%- do covered.append("covered_" ~ loop.index) %}
        {%- do domain.append("domain_" ~ loop.index) %}
        case
            when {{ label }} = '*' then domains.domain_{{ loop.index }}
            {%- if quasi_identifier.kind == "interval" %}
            when {{ level }} = 0 then 1
            when labels_{{ loop.index }}.covered is not null then labels_{{ loop.index }}.covered
            {#- An interval that is no level of the hierarchy: as if its values were spread evenly. #}
            when {{ share }} * domains.values_{{ loop.index }} < 1 then 1
            {%- endif %}
            else {{ share }} * domains.values_{{ loop.index }}
        end as covered_{{ loop.index }},
        {%- if quasi_identifier.kind == "interval" %}
        {%- do approximate.append("without_level_" ~ loop.index) %}
        case when {{ level }} is null and {{ label }} <> '*' then 1 else 0 end as without_level_{{ loop.index }},
        {%- endif %}
        domains.domain_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ classes }} as classes
    cross join domains
    {%- for quasi_identifier in quasi_identifiers if quasi_identifier.kind == "interval" %}
    {%- set labels = "labels_" ~ (quasi_identifiers.index(quasi_identifier) + 1) %}
    left join {{ labels }}
        on
            {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "classes") }} = {{ labels }}.level
            and {{ dbt_anonymize._quote(quasi_identifier.name, "classes") }} = {{ labels }}.label
    {%- endfor %}

)

select
    effort,
    records,
    is_suppressed,
    {{ covered | join(" * ") }} as covered,
    {{ domain | join(" * ") }} as domain,
    {{ "true" if not approximate else approximate | join(" + ") ~ " = 0" }} as is_exact
from labels
{%- endmacro %}
