{# Days and points in time. #}

{% macro spark___middle_day(lower, upper) -%}
    {{ return("date_add(" ~ lower ~ ", cast(floor(datediff(" ~ upper ~ ", " ~ lower ~ ") / 2) as int))") }}
{%- endmacro %}


{# The difference of two points in time is an interval here; of those with a time zone, one in local time. #}
{% macro spark___seconds_between(lower, upper, types) -%}
    {%- if "timestamp_ntz" in types -%}
        {%- set ends = "cast(" ~ upper ~ " as timestamp_ntz) - cast(" ~ lower ~ " as timestamp_ntz)" -%}
        {{ return("cast(cast(" ~ ends ~ " as interval second) as decimal(20, 6))") }}
    {%- endif -%}
    {{ return("(unix_micros(" ~ upper ~ ") - unix_micros(" ~ lower ~ ")) / 1e6") }}
{%- endmacro %}


{% macro spark___days_between(lower, upper) -%}
    {{ return(dbt_anonymize.spark___seconds_between(lower, upper, ["timestamp_ntz"]) ~ " / 86400") }}
{%- endmacro %}


{# `timestamp` is a point in time that is shown in the zone of the session. #}
{% macro spark___zoned_types() -%}{{ return("timestamp(_ltz)?$") }}{%- endmacro %}


{% macro spark___without_zone(name) -%}
    {{ return("cast(" ~ name ~ " as timestamp_ntz), under spark.sql.session.timeZone") }}
{%- endmacro %}


{# date_trunc() takes a point in time without zone for one of the zone of the session, where it may not exist. #}
{% macro spark___mask_truncated(date, unit) -%}
    {%- set day = "cast(" ~ date ~ " as date)" -%}
    {%- if unit == "hour" -%}
        {%- set hour = "hour(cast(" ~ date ~ " as timestamp_ntz))" -%}
        {{ return("cast(" ~ day ~ " as timestamp_ntz) + make_dt_interval(0, " ~ hour ~ ")") }}
    {%- endif -%}
    {{ return(day if unit == "day" else "trunc(" ~ day ~ ", '" ~ unit ~ "')") }}
{%- endmacro %}


{% macro spark___mask_dates() -%}{{ return("date|timestamp_ntz") }}{%- endmacro %}
