{#
  A table of the vault. The vault is closed once more before identifiers enter, and the rows are checked beside the
  earlier ones before they take their place, all in one transaction.
#}
{% materialization dbt_anonymize_vault, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set existing_relation = load_cached_relation(this) -%}
    {%- if dbt_anonymize._is_trial() and existing_relation is not none -%}
        {#- A build of no rows or a sample must not empty the vault. -#}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [existing_relation]}) }}
    {%- endif -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set existing_type = existing_relation.type if existing_relation else "table" -%}
    {%- set backup_relation = make_backup_relation(target_relation, existing_type) -%}
    {%- set protection = dbt_anonymize._vault_protection() -%}
    {%- if protection -%}
        {% call statement("protect_vault", language="python") -%}
            {{ protection }}
        {%- endcall %}
    {%- endif -%}

    {{ drop_relation_if_exists(load_cached_relation(candidate)) }}
    {{ drop_relation_if_exists(load_cached_relation(backup_relation)) }}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {%- do dbt_anonymize._begin_after_hooks() -%}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- do dbt_anonymize._expect_many_rows() -%}

    {% call statement("main") -%}
        {{ create_table_as(False, candidate, sql) }}
    {%- endcall %}
    {%- set is_membership = config.get("meta").dbt_anonymize.mapping == "membership" -%}
    {%- if not is_membership and not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._check_identifiers(candidate) -%}
    {%- endif -%}
    {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {%- do dbt_anonymize._apply_vault_grants(
        target_relation, should_revoke(existing_relation, full_refresh_mode=True)
    ) -%}
    {%- do dbt_anonymize._prepare_relinkings(target_relation, config.get("meta").dbt_anonymize.anonymization) -%}
    {%- do persist_docs(target_relation, model) -%}
    {{ drop_relation_if_exists(backup_relation) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}
