{#
  A table in parts (see `_partitioned.sql`): what is as it should be stays, all else is deleted, and what was built anew
  is inserted, in one transaction. Where nothing may stay, which a changed spec says as well as a full refresh, the
  table is made anew with the columns that it has now. `incremental` keeps the columns of the first run, and rows of
  partitions that are gone.
#}
{% materialization dbt_anonymize_partitions, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set existing_relation = load_cached_relation(this) -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set existing_type = existing_relation.type if existing_relation else "table" -%}
    {%- set backup_relation = make_backup_relation(target_relation, existing_type) -%}
    {{ drop_relation_if_exists(load_cached_relation(candidate)) }}
    {{ drop_relation_if_exists(load_cached_relation(backup_relation)) }}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {%- do dbt_anonymize._begin_after_hooks() -%}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {%- set kept = dbt_anonymize._parts_of_model().kept if dbt_anonymize._is_building() else [] -%}
    {% call statement("main") -%}
        {{ create_table_as(False, candidate, sql) }}
    {%- endcall %}
    {%- if kept -%}
        {%- set columns = [] -%}
        {%- for column in adapter.get_columns_in_relation(candidate) -%}
            {%- do columns.append(dbt_anonymize._quote(column.name)) -%}
        {%- endfor -%}
        {% call statement("delete_parts") -%}
            delete from {{ target_relation }}
            where
                partition_digest is null
                or partition_digest not in ('{{ kept | join("', '") }}')
        {%- endcall %}
        {% call statement("insert_parts") -%}
            insert into {{ target_relation }} ({{ columns | join(", ") }})
            select {{ columns | join(", ") }} from {{ candidate }}
        {%- endcall %}
        {%- do adapter.drop_relation(candidate) -%}
        {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- else -%}
        {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {%- endif -%}
    {%- set is_revoked = should_revoke(existing_relation, full_refresh_mode=not kept) -%}
    {%- do apply_grants(target_relation, config.get("grants"), is_revoked) -%}
    {%- do persist_docs(target_relation, model) -%}
    {{ drop_relation_if_exists(load_cached_relation(backup_relation)) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}
