{# What a table is followed by, so that the engine knows how many rows it has before something reads it: without that
   Postgres chooses joins which take minutes. `verify` trusts a hook that only calls a macro of this package. #}
{% macro _analyzed() -%}{{ return(adapter.dispatch("_analyzed", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___analyzed() -%}{{ return([]) }}{%- endmacro %}


{# Before hierarchies are joined: seeds and models of other packages are not analyzed by whoever builds them. #}
{% macro _analyze_hierarchies(quasi_identifiers) -%}
    {{ return(adapter.dispatch("_analyze_hierarchies", "dbt_anonymize")(quasi_identifiers)) }}
{%- endmacro %}

{% macro default___analyze_hierarchies(quasi_identifiers) -%}{%- endmacro %}
