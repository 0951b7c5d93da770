{# How values are written, compared and hashed. #}

{% macro spark___literal(value) -%}{{ return(dbt_anonymize._escaped_literal(value)) }}{%- endmacro %}


{% macro spark___quote(name, relation_alias=none) -%}
    {%- set quoted = adapter.quote(name | replace("`", "``")) -%}
    {{ return(relation_alias ~ "." ~ quoted if relation_alias else quoted) }}
{%- endmacro %}


{% macro spark___type_double() -%}{{ return("double") }}{%- endmacro %}


{% macro spark___raise_in_sql(message, like) -%}
    {{ return("raise_error(" ~ dbt_anonymize._literal(message) ~ ")") }}
{%- endmacro %}


{# A column may have a collation of its own. #}
{% macro spark___as_bytes(expression) -%}{{ return("cast(" ~ expression ~ " as binary)") }}{%- endmacro %}


{# The type of a column shows its collation. #}
{% macro spark___collated(relation, columns) -%}
    {%- set collated = [] -%}
    {%- for column in columns if "collate" in column.dtype | lower -%}
        {%- do collated.append(column.name) -%}
    {%- endfor -%}
    {{ return(collated) }}
{%- endmacro %}


{% macro spark___by_bytes(name) -%}{{ return(name ~ " collate UTF8_BINARY") }}{%- endmacro %}


{# As JSON, in which NULL, a text that says so and the place of a column differ; in decimals, which do not overflow. #}
{# Of times to_json writes milliseconds, unless it is told. #}
{% macro spark___sum_of_hashes(relation_alias) -%}
    {%- set time = "yyyy-MM-dd HH:mm:ss.SSSSSS" -%}
    {%- set formats = "map('timestampFormat', '" ~ time ~ "XXX', 'timestampNTZFormat', '" ~ time ~ "')" -%}
    {%- set row = "to_json(struct(" ~ relation_alias ~ ".*), " ~ formats ~ ")" -%}
    {{ return("coalesce(sum(cast(xxhash64(" ~ row ~ ") as decimal(38, 0))), 0)") }}
{%- endmacro %}


{# Its floor() is a bigint, the largest one where the number is larger. Beyond 2^53 every double is whole. #}
{% macro spark___mask_floor(number) -%}
    {{ return("(case when abs(" ~ number ~ ") < 9e15 then floor(" ~ number ~ ") else " ~ number ~ " end)") }}
{%- endmacro %}
