{#
  Rules of a table of counts that hides small cells, one row per rule and dimension that is broken. A line is a total
  and the cells that add up to it along one dimension. What several lines tell together is not seen here.
#}
{% macro protected_table(
    relation, dimensions, measure, minimum_frequency, total=none, additive=true, least_hidden=1,
    other=[]
) -%}
{%- do dbt_anonymize._check_table_arguments(dimensions, minimum_frequency, least_hidden, other) -%}
{%- set cells = [] -%}
{%- for dimension in dimensions -%}{%- do cells.append(dbt_anonymize._quote(dimension)) -%}{%- endfor -%}
with

cells as (

    select
        {{ cells | join(",\n        ") }},
        {{ dbt_anonymize._quote(measure) }} as measured
    from {{ relation }}

),
{%- for dimension in dimensions if additive %}

lines_{{ loop.index }} as (

    {{ dbt_anonymize._lines_of_table(dimensions, dimension, total) }}

),
{%- endfor %}

broken as (

    {{ dbt_anonymize._broken_rule("a shown cell is above 0 and below the minimum frequency") }}
    from cells
    where measured > 0 and measured < {{ minimum_frequency }}

    union all

    {{ dbt_anonymize._broken_rule("a count is negative") }}
    from cells
    where measured < 0

    union all

    {{ dbt_anonymize._broken_rule("a cell stands there more than once") }}
    from (
        select 1 as cell from cells group by {{ cells | join(", ") }} having count(*) > 1
    ) as repeated
    {%- for name in dbt_anonymize._unnamed_columns(relation, dimensions + [measure] + other) %}

    union all

    {{ dbt_anonymize._broken_rule("a column may give hidden counts away, and no argument names it", name) }}
    from {{ relation }}
    {%- if name == "status" %}
    where coalesce({{ dbt_anonymize._as_text(dbt_anonymize._quote(name)) }}, '')
    <> case when {{ dbt_anonymize._quote(measure) }} is null then 'hidden' else 'published' end
    {%- endif %}
    {%- endfor %}
    {%- for dimension in dimensions if additive %}

    union all

    {{ dbt_anonymize._broken_rule("a label has the sum of the others: name it by total", dimension) }}
    from (
        {{ dbt_anonymize._unnamed_totals(dimensions, dimension, total) | indent(8) }}
    ) as unnamed

    union all

    {{ dbt_anonymize._broken_rule("one hidden cell of a line is told by the total and the others", dimension) }}
    from lines_{{ loop.index }}
    where (total_measured is not null and hidden_cells = 1)
    or (hidden_totals > 0 and hidden_cells = 0 and shown_cells > 0)

    union all

    {{ dbt_anonymize._broken_rule("a line does not add up, and has no cell with NULL", dimension) }}
    from lines_{{ loop.index }}
    where hidden_cells = 0 and shown_cells > 0 and total_measured <> shown_measured

    union all

    {{ dbt_anonymize._broken_rule("no hidden cell of a line can reach the minimum frequency", dimension) }}
    from lines_{{ loop.index }}
    where hidden_cells > 1
    and total_measured - shown_measured < {{ minimum_frequency }} + {{ least_hidden }} * (hidden_cells - 1)
    {%- endfor %}

)

select rule, dimension, cells
from broken
where cells > 0
{%- endmacro %}


{% test protected_table(
    model, dimensions, measure, minimum_frequency, total=none, additive=true, least_hidden=1,
    other=[]
) %}
{{ dbt_anonymize._explain(
    "rules of a table with small cells hidden that are broken. Hide more, or show less"
) }}
{{ dbt_anonymize.protected_table(model, dimensions, measure, minimum_frequency, total, additive, least_hidden, other) }}
{% endtest %}


{# Columns of a relation that are none of these; of a query, which is what dbt makes of `where`, too. #}
{% macro _unnamed_columns(relation, names) -%}
    {%- if not execute -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set columns = get_columns_in_query("select * from " ~ relation) if relation is string
        else adapter.get_columns_in_relation(relation) | map(attribute="name") -%}
    {{ return(columns | reject("in", names) | list) }}
{%- endmacro %}


{# Beginning of the query of one rule. #}
{% macro _broken_rule(rule, dimension=none) -%}
    {%- set named = dbt_anonymize._literal(dimension) if dimension is not none else "null" -%}
    select
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(rule)) }} as rule,
        {{ dbt_anonymize._as_text(named) }} as dimension,
        count(*) as cells
{%- endmacro %}


{# One row per line along a dimension: what is shown of it. #}
{% macro _lines_of_table(dimensions, dimension, total) -%}
    {%- set column = dbt_anonymize._quote(dimension) -%}
    {%- set is_total = dbt_anonymize._is_total_of_table(column, total) -%}
    {%- set others = [] -%}
    {%- for name in dimensions if name != dimension -%}
        {%- do others.append(dbt_anonymize._quote(name)) -%}
    {%- endfor %}
    select
        count(case when not ({{ is_total }}) then measured end) as shown_cells,
        count(case when not ({{ is_total }}) and measured is null then 1 end) as hidden_cells,
        coalesce(sum(case when not ({{ is_total }}) then measured end), 0) as shown_measured,
        max(case when {{ is_total }} then measured end) as total_measured,
        count(case when {{ is_total }} and measured is null then 1 end) as hidden_totals
    from cells
    {%- if others %}
    group by {{ others | join(", ") }}
    {%- endif %}
{%- endmacro %}


{# Stops where an argument has no meaning. #}
{% macro _check_table_arguments(dimensions, minimum_frequency, least_hidden, other) -%}
    {%- set place = model.name ~ ": " -%}
    {%- if dimensions is string or dimensions is not sequence or dimensions | length == 0 -%}
        {{ exceptions.raise_compiler_error(
            place ~ "`dimensions` must be a list of columns; got " ~ dbt_anonymize._shown(dimensions) ~ "."
        ) }}
    {%- endif -%}
    {%- if other is string or other is not sequence -%}
        {{ exceptions.raise_compiler_error(
            place ~ "`other` must be a list of columns; got " ~ dbt_anonymize._shown(other) ~ "."
        ) }}
    {%- endif -%}
    {%- if minimum_frequency is not integer or minimum_frequency < 2 -%}
        {{ exceptions.raise_compiler_error(
            place ~ "`minimum_frequency` must be an integer >= 2; got "
            ~ dbt_anonymize._shown(minimum_frequency) ~ "."
        ) }}
    {%- endif -%}
    {%- if least_hidden is not integer or least_hidden < 0 -%}
        {{ exceptions.raise_compiler_error(
            place ~ "`least_hidden` must be an integer >= 0; got "
            ~ dbt_anonymize._shown(least_hidden) ~ "."
        ) }}
    {%- endif -%}
{%- endmacro %}
