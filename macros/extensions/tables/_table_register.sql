{#
  `<n>_table_register` beside `<n>_table_results`: a row per release, which nothing overwrites, with figures that
  readers of the table have. It is written before the table is published, and committed with it; a table that stays adds
  no row.
#}
{% macro _register_table(anonymization, candidate) -%}
    {%- set register = dbt_anonymize._table_register(anonymization) -%}
    {%- set results = ref(anonymization ~ "_table_results") -%}
    {%- set bigint, double, text = dbt.type_bigint(), dbt_anonymize._type_double(), dbt.type_string() -%}
    {%- set types = {
        "release": bigint,
        "released_at": dbt.type_timestamp(),
        "effort": bigint,
        "protection": text,
        "cells": bigint,
        "hidden_cells": bigint,
        "qf": double,
        "qnf": double,
        "q": double,
        "content": text,
    } -%}
    {#- Of true counts: with more decimals they would tell hidden ones. -#}
    {%- set known = {
        "qf": "round(cast(results.qf as numeric(10, 6)), 1)",
        "q": "round(cast(results.q as numeric(20, 6)), 1)",
        "release": "(select coalesce(max(register.release), 0) + 1 from " ~ register ~ " as register)",
        "released_at": dbt_anonymize._literal(run_started_at.strftime("%Y-%m-%d %H:%M:%S")),
        "content": dbt_anonymize._digest_of_relations([candidate]),
    } -%}
    {%- set columns = [] -%}
    {%- for column, type in types.items() -%}{%- do columns.append(column ~ " " ~ type) -%}{%- endfor -%}
    {#- With --defer there may be no schema of this target. -#}
    {%- if load_relation(register) is none and results.schema != register.schema -%}
        {%- do create_schema(register.without_identifier()) -%}
    {%- endif -%}
    {% call statement("create_table_register") -%}
        create table if not exists {{ register }} ({{ columns | join(", ") }})
    {%- endcall %}
    {% call statement("register_table") -%}
        insert into {{ register }} ({{ types | join(", ") }})
        select
            {%- for column, type in types.items() %}
            cast({{ known.get(column, "results." ~ column) }} as {{ type }}) as {{ column }}
            {{- "," if not loop.last }}
            {%- endfor %}
        from {{ results }} as results
        where results.is_chosen
    {%- endcall %}
{%- endmacro %}


{# The register of a table on this target. #}
{% macro _table_register(anonymization) -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == "model" and node.name == anonymization ~ "_table_results" -%}
        {{ return(api.Relation.create(
            database=node.database, schema=node.schema, identifier=anonymization ~ "_table_register", type="table"
        )) }}
    {%- endfor -%}
{%- endmacro %}


{# Whether this target releases tables; see `_is_published`. #}
{% macro _is_table_published(anonymization) -%}
    {{ return(dbt_anonymize._is_published(anonymization, dbt_anonymize._table_register(anonymization))) }}
{%- endmacro %}
