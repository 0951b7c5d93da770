{#
  Scratch tables: what a recoding in rounds keeps between its statements. They are temporary, seen by their own
  connection only, and dropped when the model is built.
#}
{% macro _scratch(name) -%}
    {{ return(adapter.dispatch("_scratch", "dbt_anonymize")("dbt_anonymize_" ~ name)) }}
{%- endmacro %}

{% macro default___scratch(name) -%}{{ return(name) }}{%- endmacro %}


{% macro _create_scratch(name, sql) -%}
    {{ return(adapter.dispatch("_create_scratch", "dbt_anonymize")(dbt_anonymize._scratch(name)) ~ " as\n" ~ sql) }}
{%- endmacro %}

{% macro default___create_scratch(table) -%}{{ return("create temporary table " ~ table) }}{%- endmacro %}


{% macro _drop_scratch(names) -%}
    {%- set statements = [] -%}
    {%- for name in names -%}
        {%- do statements.append("drop table if exists " ~ dbt_anonymize._scratch(name)) -%}
    {%- endfor -%}
    {{ return(statements) }}
{%- endmacro %}


{# Runs statements one after the other and returns what the last one finds; in one call where the engine takes several,
   since each call has its own cost. #}
{% macro _run_statements(statements) -%}
    {{ return(adapter.dispatch("_run_statements", "dbt_anonymize")(statements)) }}
{%- endmacro %}

{% macro default___run_statements(statements) -%}
    {%- set results = [] -%}
    {%- for statement in statements -%}
        {%- do results.append(run_query(statement)) -%}
    {%- endfor -%}
    {{ return(results | last) }}
{%- endmacro %}

{% macro duckdb___run_statements(statements) -%}
    {{ return(run_query(statements | join(";\n"))) }}
{%- endmacro %}


{# Statements that keep the rows of a select, of which the engine then knows how many there are. #}
{% macro _keep_scratch(name, sql) -%}
    {{ return(adapter.dispatch("_keep_scratch", "dbt_anonymize")(name, sql)) }}
{%- endmacro %}

{% macro default___keep_scratch(name, sql) -%}{{ return([dbt_anonymize._create_scratch(name, sql)]) }}{%- endmacro %}
