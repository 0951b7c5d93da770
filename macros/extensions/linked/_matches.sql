{#
  CTEs `items`, the linked records of each subject as numbers, equal ones with the number of each; and
  `classes_of_subjects`, what else an attacker sees: own quasi-identifiers and, where they are known, numbers of
  records.
#}
{% macro _items_of_subjects(linked, known_records, known_count) -%}
records as (
    {%- for table in linked %}

    select
        subject,
        {{ loop.index }} as linked_table,
        {{ dbt_anonymize._as_bytes("record_text") }} as record_values
    from linked_{{ loop.index }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

),

equal_records as (

    select
        subject,
        linked_table,
        record_values,
        count(*) as times
    from records
    group by subject, linked_table, record_values

),

numbered as (

    select
        linked_table,
        record_values,
        row_number() over (order by linked_table, record_values) as number
    from (
        select distinct
            linked_table,
            record_values
        from equal_records
    ) as distinct_records

),

held as (

    select
        equal_records.subject,
        numbered.linked_table,
        numbered.number,
        equal_records.times
    from equal_records
    inner join numbered
        on
            equal_records.linked_table = numbered.linked_table
            and equal_records.record_values = numbered.record_values

),
{%- set columns = ["subjects.own_class"] %}
{%- if known_count %}
{%- for table in linked -%}
    {%- do columns.append("coalesce(seen.records_" ~ table.place ~ ", 0)") -%}
{%- endfor %}
{%- endif %}
{%- if known_records == "all" -%}
    {%- do columns.append(dbt_anonymize._as_bytes("coalesce(seen.record_list, '')")) -%}
{%- endif %}
{%- if columns | length > 1 %}

seen as (

    select
        subject
        {%- if known_records == "all" %},
        {{ dbt_anonymize._sorted_list(dbt.concat([
            dbt_anonymize._as_text("number"), "':'", dbt_anonymize._as_text("times")
        ])) }} as record_list
        {%- endif %}
        {%- for table in linked if known_count %},
        sum(case when linked_table = {{ table.place }} then times else 0 end) as records_{{ table.place }}
        {%- endfor %}
    from held
    group by subject

),
{%- endif %}

classes_of_subjects as (

    select
        subjects.subject,
        dense_rank() over (order by {{ columns | join(", ") }}) as known_class
    from subjects
    {%- if columns | length > 1 %}
    left join seen on subjects.subject = seen.subject
    {%- endif %}

),
{%- if known_records != "all" %}

items as (
    {%- for copy in range(1, known_records + 1) %}

    select
        subject,
        number,
        {{ copy }} as copy_number
    from held
    where times >= {{ copy }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

),
{%- endif %}
{%- endmacro %}


{#
  CTEs of a number of known records: `sets_<n>`, each multiset of so many records that a subject has, in order;
  `support_<n>`, how many subjects of a class have one; and the subjects that one finds. As in searches for frequent
  itemsets (Agrawal and Srikant 1994), what too few have is not added to, since they are found already.
#}
{% macro _matches(number, given) -%}
{%- set columns = dbt_anonymize._set_columns(number) -%}
{%- if number == 0 -%}
sets_0 as (

    select
        known_class,
        subject
    from classes_of_subjects

),
{%- else -%}
sets_{{ number }} as (

    select
        {%- for column in dbt_anonymize._set_columns(number - 1) %}
        sets.{{ column }},
        {%- endfor %}
        items.number as record_{{ number }},
        items.copy_number as last_copy,
        sets.subject
    from sets_{{ number - 1 }} as sets
    inner join support_{{ number - 1 }} as support
        on
            {{ dbt_anonymize._join_condition("sets", "support", dbt_anonymize._set_columns(number - 1)) }}
    inner join items
        on sets.subject = items.subject
    where
        support.subjects >= {{ given.k }}
        {%- if number == 1 %}
        and items.copy_number = 1
        {%- else %}
        and (
            (items.number > sets.record_{{ number - 1 }} and items.copy_number = 1)
            or (items.number = sets.record_{{ number - 1 }} and items.copy_number = sets.last_copy + 1)
        )
        {%- endif %}

),
{%- endif %}

support_{{ number }} as (

    select
        {{ columns | join(",\n        ") }},
        count(*) as subjects
    from sets_{{ number }}
    group by {{ columns | join(", ") }}

),

rare_subjects_{{ number }} as (

    select distinct sets.subject
    from sets_{{ number }} as sets
    inner join support_{{ number }} as support
        on
            {{ dbt_anonymize._join_condition("sets", "support", columns) }}
    where support.subjects < {{ given.k }}

),
{%- if given.l %}

{{ dbt_anonymize._uniform_subjects(number, given) }}
{%- endif %}
{%- endmacro %}


{# CTEs of the subjects who match what at least k match, of whom more than a share 1/l have the same sensitive value. #}
{% macro _uniform_subjects(number, given) -%}
{%- set columns = dbt_anonymize._set_columns(number) -%}
uniform_{{ number }} as (

    select distinct{{ "\n        " if columns | length > 1 else " " }}{{ columns | join(",\n        ") }}
    from (
        select
            {%- for column in columns %}
            sets.{{ column }},
            {%- endfor %}
            count(*) as holders,
            max(support.subjects) as subjects
        from sets_{{ number }} as sets
        inner join support_{{ number }} as support
            on
                {{ dbt_anonymize._join_condition("sets", "support", columns) | indent(4) }}
        inner join sensitive_values on sets.subject = sensitive_values.subject
        where support.subjects >= {{ given.k }}
        group by
            {%- for column in columns %}
            sets.{{ column }},
            {%- endfor %}
            sensitive_values.attribute,
            sensitive_values.held_value
    ) as held_values
    where holders * {{ given.l }} > subjects

),

uniform_subjects_{{ number }} as (

    select distinct sets.subject
    from sets_{{ number }} as sets
    inner join uniform_{{ number }} as uniform
        on
            {{ dbt_anonymize._join_condition("sets", "uniform", columns) }}

),
{%- endmacro %}


{# Columns that tell what is known: the class, and each record, equal ones one after the other. #}
{% macro _set_columns(number) -%}
    {%- set columns = ["known_class"] -%}
    {%- for place in range(1, number + 1) -%}
        {%- do columns.append("record_" ~ place) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro %}


{% macro _join_condition(one, other, columns) -%}
    {%- set equal = [] -%}
    {%- for column in columns -%}
        {%- do equal.append(one ~ "." ~ column ~ " = " ~ other ~ "." ~ column) -%}
    {%- endfor -%}
    {{ return(equal | join("\n            and ")) }}
{%- endmacro %}


{# Texts of a group as one, in an order of their own. #}
{% macro _sorted_list(expression) -%}
    {{ return(adapter.dispatch("_sorted_list", "dbt_anonymize")(expression)) }}
{%- endmacro %}

{% macro default___sorted_list(expression) -%}
    {{ return("string_agg(" ~ expression ~ ", ',' order by " ~ expression ~ ")") }}
{%- endmacro %}
