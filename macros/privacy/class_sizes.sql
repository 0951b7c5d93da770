{# CTEs `<prefix>classes` (one row per equivalence class: labels and class_size) and `<prefix>suppression`
   (one row: may the classes below the required k be suppressed?; absent where `k` is none). #}
{% macro class_sizes(quasi_identifiers, k, suppression_limit, count="count(*)", prefix="") -%}
{%- set labels = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do labels.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
{{ prefix }}classes as (

    select
        {{ labels | join(",\n        ") }},
        {{ count }} as class_size
    from {{ prefix }}generalized
    group by
        {{ labels | join(",\n        ") }}

),
{%- if k is not none %}

{{ prefix }}suppression as (

    select
        coalesce(sum(case when class_size < {{ k }} then class_size end), 0)
        <= {{ dbt_anonymize._may_be_suppressed(suppression_limit, "sum(class_size)") }} as is_within_limit
    from {{ prefix }}classes

),
{%- endif %}
{%- endmacro %}
