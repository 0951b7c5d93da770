{# Whether a data type of any engine is that of texts, whatever its length. #}
{% macro _is_text_type(type) -%}
    {%- set texts = ["varchar", "text", "string", "char", "bpchar", "character", "character varying"] -%}
    {{ return(modules.re.sub("\\s*\\(.*", "", type | lower) in texts) }}
{%- endmacro %}


{# Why texts of a relation cannot be told apart, as messages: a collation takes different ones for equal, so that a join
   finds several rows for one, and one class or group has what are several. `columns`: those to look at, with types. #}
{% macro _collation_errors(relation, columns) -%}
    {%- set collated = dbt_anonymize._collated(relation, columns) -%}
    {%- if not collated -%}{{ return([]) }}{%- endif -%}
    {{ return([
        "texts of " ~ relation.identifier ~ " must be compared by their bytes; the collation of " ~ collated | join(", ")
        ~ " takes different ones for equal (upper and lower case, accents or characters that are not shown), so that"
        ~ " records would be repeated and classes look larger. Remove it in a model before, such as "
        ~ dbt_anonymize._by_bytes(collated[0]) ~ "."
    ]) }}
{%- endmacro %}


{# The names of the columns that have such a collation. #}
{% macro _collated(relation, columns) -%}
    {{ return(adapter.dispatch("_collated", "dbt_anonymize")(relation, columns)) }}
{%- endmacro %}

{# Nothing names the collation of a column of a view; pairs that only bytes tell apart show it. One row is read. #}
{% macro default___collated(relation, columns) -%}
    {%- set texts, probes, collated = [], [], [] -%}
    {%- for column in columns if dbt_anonymize._is_text_type(column.dtype) -%}
        {%- set empty = "coalesce(left(" ~ dbt_anonymize._quote(column.name) ~ ", 0), '')" -%}
        {%- set equal = [] -%}
        {%- for one, other in [["a", "A"], ["e", "é"], ["é", "e\u0301"], ["a", "a\u200b"]] -%}
            {%- do equal.append(dbt.concat([empty, "'" ~ one ~ "'"]) ~ " = " ~ dbt.concat([empty, "'" ~ other ~ "'"])) -%}
        {%- endfor -%}
        {%- do texts.append(column.name) -%}
        {%- do probes.append("case when " ~ equal | join(" or ") ~ " then 1 else 0 end") -%}
    {%- endfor -%}
    {%- if not texts -%}{{ return([]) }}{%- endif -%}
    {%- for row in run_query(
        "select " ~ probes | join(", ") ~ " from (select * from " ~ relation ~ " limit 1) as first_row"
    ).rows -%}
        {%- for name in texts -%}{%- if row[loop.index0] == 1 -%}{%- do collated.append(name) -%}{%- endif -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(collated) }}
{%- endmacro %}


{# What gives a text the order of its bytes. #}
{% macro _by_bytes(name) -%}{{ return(adapter.dispatch("_by_bytes", "dbt_anonymize")(name)) }}{%- endmacro %}

{% macro default___by_bytes(name) -%}{{ return(name ~ ' collate "C"') }}{%- endmacro %}

{% macro duckdb___by_bytes(name) -%}{{ return(name ~ ' collate "binary"') }}{%- endmacro %}
