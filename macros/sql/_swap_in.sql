{# In the transaction of a materialization: the rows that were checked take the place of the earlier ones. #}
{% macro _swap_in(candidate, target_relation, existing_relation, backup_relation) -%}
    {%- if existing_relation is not none -%}
        {%- do dbt_anonymize._lock_for_swap(existing_relation) -%}
        {%- do adapter.rename_relation(existing_relation, backup_relation) -%}
    {%- endif -%}
    {%- do adapter.rename_relation(candidate, target_relation) -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
{%- endmacro %}
