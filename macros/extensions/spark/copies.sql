{# The folder that a release reads: a copy of the rows that were checked. #}

{% macro spark___is_counted_here() -%}{{ return(true) }}{%- endmacro %}


{# The copy is. #}
{% macro spark___is_ordered_here() -%}{{ return(false) }}{%- endmacro %}


{# What is grouped by becomes 0.0 where it is -0.0. A text does not change, and with it rows would have to be sorted. #}
{% macro spark___counted_values(columns, typed) -%}
    {%- set texts, values = [], [] -%}
    {%- if typed -%}
        {%- for column in adapter.get_columns_in_relation(typed) if column.dtype == "string" -%}
            {%- do texts.append(dbt_anonymize._quote(column.name)) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for column in columns -%}
        {%- do values.append(column if column in texts + ["cqi"] else "any_value(" ~ column ~ ") as " ~ column) -%}
    {%- endfor -%}
    {{ return(values) }}
{%- endmacro %}


{# Select of the rows to be published, ordered by what is released, so that their order carries nothing else. Counts are
   put in order before they are repeated, in parts, so that no list is long, and about a million rows by a task. #}
{% macro _ordered_copy(checked, names, is_counted) -%}
{%- set listed = names | join(", ") -%}
{%- if is_counted -%}
{%- set tasks = (run_query("select coalesce(sum(records), 0) from " ~ checked).rows[0][0] | int) // 1000000 + 1 -%}
select {{ listed }}
from (
    select {{ listed }}, explode(array_repeat(true, records)) as records
    from (
        select *
        from (
            select /*+ repartition_by_range({{ tasks }}, {{ listed }}) */
                {{ listed }},
                explode(concat(
                    array_repeat(32768, cast(records div 32768 as int)), array(cast(records % 32768 as int))
                )) as records
            from {{ checked }}
        ) as parts
        sort by {{ listed }}
    ) as ordered
) as repeated
{%- else -%}
select {{ listed }}
from {{ checked }}
order by {{ listed }}
{%- endif -%}
{%- endmacro %}


{# What is published are the very rows that were checked. #}
{% macro _check_copy(checked, folder, names, is_counted) -%}
    {%- set before = dbt_anonymize._digest_of_copy(checked, names, "records" if is_counted else "1") -%}
    {%- set copied = dbt_anonymize._digest_of_copy(folder, names, "1") -%}
    {%- if run_query(before).rows[0][0] != run_query(copied).rows[0][0] -%}
        {%- do dbt_anonymize._drop_tables([folder]) -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": the rows to be published must be those that were checked; they differ."
            ~ " Nothing is published; somebody else writes there."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# Query of a text that differs where rows do, whatever their order: their number, and two sums of 64-bit hashes. A hash
   passes over NULL, and takes -0.0 for 0.0, so that each value is also hashed as a text, and whether it is there. #}
{% macro _digest_of_copy(relation, names, records) -%}
    {%- set hashed, sums = [], ["sum(" ~ records ~ ")"] -%}
    {%- for name in names -%}
        {%- set shown = dbt_anonymize._as_bytes(dbt_anonymize._as_text(name)) -%}
        {%- do hashed.extend([name ~ " is null", name, shown]) -%}
    {%- endfor -%}
    {%- for first in [1, 2] -%}
        {%- set hash = "xxhash64(" ~ first ~ ", " ~ hashed | join(", ") ~ ")" -%}
        {%- do sums.append("sum(cast(" ~ hash ~ " as decimal(38, 0)) * " ~ records ~ ")") -%}
    {%- endfor -%}
    {{ return("select concat_ws(' ', " ~ sums | join(", ") ~ ") from " ~ relation) }}
{%- endmacro %}


{% macro _drop_tables(relations) -%}
    {%- for relation in relations -%}
        {% call statement("dropped") -%}
            drop table if exists {{ relation }}
        {%- endcall %}
    {%- endfor -%}
{%- endmacro %}


{# Also those that a build left behind which stopped before it had published. #}
{% macro _drop_earlier_folders(folder) -%}
    {%- set prefix = this.identifier ~ "__" -%}
    {%- for row in run_query("show tables in " ~ folder.without_identifier() ~ " like '" ~ prefix ~ "*'").rows -%}
        {%- set name = row["tableName"] -%}
        {%- if name != folder.identifier and modules.re.fullmatch("[0-9]{20}", name[prefix | length:]) -%}
            {% call statement("earlier_folder") -%}
                drop table if exists {{ folder.incorporate(path={"identifier": name}) }}
            {%- endcall %}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
