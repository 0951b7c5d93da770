{# Subsets of quasi-identifiers, in one query for all. #}

{# In the order of the values: the macro of dbt-spark has none. #}
{% macro spark___listed_features(level) -%}
    {%- set feature = "name || ' at level ' || " ~ level -%}
    {{ return(
        "array_join(transform(array_sort(collect_list(struct(name, value, " ~ feature
        ~ " as feature))), found -> found.feature), ', ')"
    ) }}
{%- endmacro %}


{# Without bases every tuple is joined with each subset. #}
{% macro spark___are_subsets_planned(frequencies, counted_whole) -%}{{ return(true) }}{%- endmacro %}


{# The 255 subsets of eight quasi-identifiers as rows: as many branches of a union are planned for minutes. #}
{% macro spark___listed_subsets(subsets, quasi_identifiers, ones_in, bases) -%}
{%- set rows, number = [], quasi_identifiers | length -%}
{%- for subset in subsets -%}
    {%- set names = [] -%}
    {%- for position in subset -%}{%- do names.append(quasi_identifiers[position]) -%}{%- endfor -%}
    {%- set base = bases.of_subset[loop.index0] if bases else none -%}
    {%- do rows.append([
        loop.index,
        dbt_anonymize._literal(names | join(", ")),
        subset | length,
        "cast(" ~ ones_in[loop.index0] ~ " as " ~ dbt.type_bigint() ~ ")",
        -1 if base is none else base,
    ] + dbt_anonymize._marked_columns(subset, number)) -%}
{%- endfor %}

subsets as (

    {{ dbt_anonymize._marked_rows(
        rows, ["subset_number", "quasi_identifiers", "size", "one_in", "base"], number
    ) }}

),
{%- endmacro %}


{# Whether a subset has each of the columns. #}
{% macro _marked_columns(subset, number) -%}
    {%- set cells = [] -%}
    {%- for position in range(number) -%}
        {%- do cells.append("true" if position in subset else "false") -%}
    {%- endfor -%}
    {{ return(cells) }}
{%- endmacro %}


{# Select of rows that end in what _marked_columns returns. #}
{% macro _marked_rows(rows, columns, number) -%}
    {%- set lines, marks = [], [] -%}
    {%- for row in rows -%}{%- do lines.append("(" ~ row | join(", ") ~ ")") -%}{%- endfor -%}
    {%- for position in range(number) -%}{%- do marks.append("has_" ~ (position + 1)) -%}{%- endfor -%}
    select listed.*
    from values
        {{ lines | join(",\n        ") }}
    as listed ({{ (columns + marks) | join(", ") }})
{%- endmacro %}


{#
  `based` has the tuples themselves, as number -1, and the classes of every base; each subset is grouped from its own.
  In one query, whose plan does not grow with the subsets.
#}
{% macro spark___classes_of_subsets(subsets, tuples, ones_in, bases=none) -%}
{%- set number = subsets | map("length") | select("equalto", 1) | list | length -%}
{%- set hashed, of_subset, of_base, codes, rows = [], [], [], [], [] -%}
{%- for position in range(number) -%}
    {%- set place = position + 1 -%}
    {%- do codes.append("code_" ~ place) -%}
    {%- do of_base.append("if(bases.has_" ~ place ~ ", code_" ~ place ~ ", 0)") -%}
    {%- do of_subset.append("if(subsets.has_" ~ place ~ ", code_" ~ place ~ ", 0)") -%}
    {%- do hashed.append(of_subset[-1] ~ " * " ~ dbt_anonymize._hash_factor(position)) -%}
{%- endfor -%}
{%- for base in bases.columns if bases -%}
    {%- do rows.append([loop.index0] + dbt_anonymize._marked_columns(base, number)) -%}
{%- endfor %}

based as (

    select
        -1 as base,
        {{ codes | join(",\n        ") }},
        records
    from {{ tuples }}
    {%- if rows %}
    union all
    select
        bases.base,
        {%- for code in of_base %}
        {{ code }} as {{ codes[loop.index0] }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as records
    from {{ tuples }}
    cross join (
    {{ dbt_anonymize._marked_rows(rows, ["base"], number) }}
    ) as bases
    group by
        bases.base,
        {{ of_base | join(",\n        ") }}
    {%- endif %}

),

classes as (

    select
        subsets.subset_number,
        sum(records) as class_size
    from based
    inner join subsets on based.base = subsets.base
    where mod(mod({{ hashed | join(" + ") }}, 2147483647), subsets.one_in) = 0
    group by
        subsets.subset_number,
        {{ of_subset | join(",\n        ") }}

),
{%- endmacro %}

{% macro spark___sorted_list(expression) -%}
    {{ return("array_join(array_sort(collect_list(" ~ expression ~ ")), ',')") }}
{%- endmacro %}
