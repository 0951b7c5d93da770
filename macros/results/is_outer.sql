{# SQL of whether a subject is outer: only scores the chosen effort. Hexadecimal digits of equal length compare as
   their numbers do, so it is the same set in every engine and every build. #}
{% macro is_outer(person, share, random_state) -%}
    {%- if share is not number or share is boolean or not 0 < share < 1 -%}
        {{ exceptions.raise_compiler_error(
            "is_outer: `share` must be a number between 0 and 1; got: " ~ share
            ~ ". Correct quality.outer_share in the spec."
        ) }}
    {%- endif -%}
    {%- set text = "'outer " ~ random_state | int ~ " ' || " ~ dbt_anonymize._as_text(person) -%}
    {{ return("substr(" ~ dbt.hash(text) ~ ", 1, 8) < '" ~ "%08x" | format((share * 4294967296) | int) ~ "'") }}
{%- endmacro %}
