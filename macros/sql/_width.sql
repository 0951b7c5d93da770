{# The width of an interval as a double, of bounds or values. Where the bounds of the hierarchy are points in time it is
   in seconds, where they are dates in days, and of points in time among those with their part of a day; numbers become
   doubles first, since their type may not hold the difference, and the engine's error would show them. #}
{% macro _width(lower, upper, hierarchy) -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set types = dbt_anonymize._bound_columns(hierarchy) | map(attribute="dtype") | map("lower") | list -%}
    {%- if "timestamp" in types | join(" ") -%}
        {{ return("cast(" ~ dbt_anonymize._seconds_between(lower, upper, types) ~ " as " ~ double ~ ")") }}
    {%- elif not types -%}
        {#- Where SQL is only shown, no bound has a type. -#}
        {{ return("cast(" ~ upper ~ " - " ~ lower ~ " as " ~ double ~ ")") }}
    {%- elif "date" in types -%}
        {{ return("cast(" ~ dbt_anonymize._days_between(lower, upper) ~ " as " ~ double ~ ")") }}
    {%- endif -%}
    {{ return("(cast(" ~ upper ~ " as " ~ double ~ ") - cast(" ~ lower ~ " as " ~ double ~ "))") }}
{%- endmacro %}


{% macro _seconds_between(lower, upper, types) -%}
    {{ return(adapter.dispatch("_seconds_between", "dbt_anonymize")(lower, upper, types)) }}
{%- endmacro %}

{% macro default___seconds_between(lower, upper, types) -%}
    {{ return("extract(epoch from " ~ upper ~ ") - extract(epoch from " ~ lower ~ ")") }}
{%- endmacro %}


{% macro _days_between(lower, upper) -%}
    {{ return(adapter.dispatch("_days_between", "dbt_anonymize")(lower, upper)) }}
{%- endmacro %}

{# A value may be a point in time where bounds are dates, and the difference then an interval. #}
{% macro default___days_between(lower, upper) -%}
    {%- set ends = [] -%}
    {%- for end in [upper, lower] -%}
        {%- do ends.append("extract(epoch from cast(" ~ end ~ " as timestamp))") -%}
    {%- endfor -%}
    {{ return("(" ~ ends | join(" - ") ~ ") / 86400") }}
{%- endmacro %}
