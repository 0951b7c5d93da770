{# What a transaction is where dbt does not begin or end it by itself. #}

{# Whether several statements count all or none. #}
{% macro _has_transactions() -%}{{ return(adapter.dispatch("_has_transactions", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___has_transactions() -%}{{ return(false) }}{%- endmacro %}

{% macro duckdb___has_transactions() -%}{{ return(true) }}{%- endmacro %}


{# SQL that begins one; none where dbt does so before the next statement. #}
{% macro _begin_transaction() -%}
    {{ return(adapter.dispatch("_begin_transaction", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___begin_transaction() -%}{{ return("") }}{%- endmacro %}


{# After a hook that dbt ran outside of a transaction, before what must be whole. #}
{% macro _begin_after_hooks() -%}
    {%- set begin = dbt_anonymize._begin_transaction() -%}
    {%- if begin -%}
        {% call statement("begin") -%}
            {{ begin }}
        {%- endcall %}
    {%- endif -%}
{%- endmacro %}


{# Ends a step of publishing; nothing where all steps are one transaction. #}
{% macro _commit_step() -%}{%- do adapter.dispatch("_commit_step", "dbt_anonymize")() -%}{%- endmacro %}

{% macro default___commit_step() -%}{%- do adapter.commit() -%}{%- endmacro %}


{# Before a step writes into a schema that may not be there. #}
{% macro _create_schema_of(relation) -%}
    {%- do adapter.dispatch("_create_schema_of", "dbt_anonymize")(relation) -%}
{%- endmacro %}

{% macro default___create_schema_of(relation) -%}{%- do adapter.create_schema(relation) -%}{%- endmacro %}


{# Has a relation for oneself until the end of the transaction, before it is replaced. #}
{% macro _lock_for_swap(existing_relation) -%}
    {%- do adapter.dispatch("_lock_for_swap", "dbt_anonymize")(existing_relation) -%}
{%- endmacro %}

{% macro default___lock_for_swap(existing_relation) -%}{%- endmacro %}
