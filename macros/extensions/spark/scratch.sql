{# Tables that stand in for temporary ones, and CTEs that are kept in them. #}

{# There are no temporary tables, only views, which would be computed again in every round. #}
{% macro spark___scratch(name) -%}
    {{ return(dbt_anonymize._quote(target.schema) ~ "." ~ dbt_anonymize._quote(model.name ~ "__" ~ name)) }}
{%- endmacro %}


{% macro spark___create_scratch(table) -%}{{ return("create table " ~ table ~ " using parquet") }}{%- endmacro %}


{# One at a time; what a build left behind that stopped in between is dropped. #}
{% macro spark___run_statements(statements) -%}
    {%- set results = [] -%}
    {%- for statement in statements -%}
        {%- set created = modules.re.match("create table (`.*`) using parquet as\n", statement) -%}
        {%- if created -%}{%- do run_query("drop table if exists " ~ created.group(1)) -%}{%- endif -%}
        {%- do results.append(run_query(statement)) -%}
    {%- endfor -%}
    {{ return(results | last) }}
{%- endmacro %}


{#
  A CTE is computed again for each mention, and its plan is written out again in that of each CTE after it; of a hundred
  nested selects there is no plan at all. So each statement has only the CTEs that it needs.
#}
{% macro spark___in_steps(names, sql) -%}
    {{ return(dbt_anonymize._kept_steps(names, sql) if dbt_anonymize._is_building() and names else sql) }}
{%- endmacro %}


{% macro spark___after_steps() -%}{{ return(["{{ dbt_anonymize._forget_steps() }}"]) }}{%- endmacro %}


{# They hold people. #}
{% macro _forget_steps() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set names = model.name ~ "__dbt_anonymize_*" -%}
    {%- set schema = dbt_anonymize._quote(target.schema) -%}
    {%- for row in run_query("show tables in " ~ schema ~ " like '" ~ names ~ "'").rows -%}
        {%- do run_query("drop table " ~ this.incorporate(
            path={"schema": target.schema, "identifier": row["tableName"]}
        )) -%}
    {%- endfor -%}
{%- endmacro %}
