{# What a table is followed by, so that the engine knows how many rows it has before something reads it: without that
   Postgres chooses joins which take minutes. `verify` trusts a hook that only calls a macro of this package. #}
{% macro _analyzed() -%}{{ return(adapter.dispatch("_analyzed", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___analyzed() -%}{{ return([]) }}{%- endmacro %}

{% macro postgres___analyzed() -%}
    {{ return(["{{ dbt_anonymize._analyze(this) }}"]) }}
{%- endmacro %}


{% macro _analyze(relation) -%}analyze {{ relation }}{%- endmacro %}
