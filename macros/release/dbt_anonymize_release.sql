{#
  Write, check, publish. The rows are built beside the release, checked as they are, and only then take its place;
  whatever fails before leaves the earlier release as it was. Publishing comes last: it cannot be rolled back.
#}
{% materialization dbt_anonymize_release, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set existing_relation = load_cached_relation(this) -%}
    {%- if dbt_anonymize._is_trial() and existing_relation is not none -%}
        {#- A build of no rows or a sample tries the SQL; it must not take away what is released. -#}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [existing_relation]}) }}
    {%- endif -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set existing_type = existing_relation.type if existing_relation else "table" -%}
    {%- set backup_relation = make_backup_relation(target_relation, existing_type) -%}
    {%- set is_counted = model.config.meta.dbt_anonymize.is_counted -%}

    {{ drop_relation_if_exists(load_cached_relation(candidate)) }}
    {{ drop_relation_if_exists(load_cached_relation(backup_relation)) }}
    {%- if dbt_anonymize._is_counted_here() -%}{%- do dbt_anonymize._drop_counts(candidate) -%}{%- endif -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {%- if is_counted -%}
        {%- do dbt_anonymize._create_counts(candidate, sql) -%}
    {%- else -%}
        {% call statement("main") -%}
            {{ create_table_as(False, candidate, sql) }}
        {%- endcall %}
    {%- endif -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._check_release(candidate) -%}
        {%- do dbt_anonymize._write_about(candidate, model.config.meta.dbt_anonymize) -%}
        {%- if model.config.meta.dbt_anonymize.budget -%}
            {%- set cost = dbt_anonymize._cost_of_release(candidate) -%}
        {%- endif -%}
    {%- endif -%}
    {#- Publishing works on a connection of its own and must see the candidate. -#}
    {%- do adapter.commit() -%}
    {%- if cost -%}{%- do dbt_anonymize._spend_budget(cost) -%}{%- endif -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- if model.config.meta.dbt_anonymize.aggregates -%}
            {%- do dbt_anonymize._record_aggregates(model.config.meta.dbt_anonymize) -%}
        {%- endif -%}
        {%- if model.config.meta.dbt_anonymize.waits -%}
            {%- do dbt_anonymize._record_members(model.config.meta.dbt_anonymize) -%}
        {%- endif -%}
    {%- endif -%}

    {% call statement("swap") -%}
        select 1 as begins_a_transaction
    {%- endcall %}
    {%- if is_counted -%}
        {%- set target_relation = dbt_anonymize._swap_in_counts(candidate, target_relation, existing_relation) -%}
    {%- else -%}
        {%- if dbt_anonymize._is_counted_here() -%}{%- do dbt_anonymize._drop_counts(target_relation) -%}{%- endif -%}
        {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {%- endif -%}
    {%- do apply_grants(
        target_relation, config.get("grants"), should_revoke(existing_relation, full_refresh_mode=True)
    ) -%}
    {%- do persist_docs(target_relation, model) -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._register_release(model.config.meta.dbt_anonymize) -%}
    {%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set has_python = dbt_anonymize._has_python() -%}
    {#- On a connection of its own the candidate has its name until this transaction ends. -#}
    {%- set steps = [] if dbt_anonymize._is_trial() else dbt_anonymize._steps_of_release(
        candidate if has_python else target_relation, declaration
    ) -%}
    {%- for step in steps if has_python -%}
        {% call statement(step.function, language="python") -%}
            {{ dbt_anonymize._python_code(step) }}
        {%- endcall %}
    {%- endfor -%}
    {%- if steps and not has_python -%}
        {% call statement("publication") -%}
            {{ dbt_anonymize._publication_table(target_relation, declaration, steps) }}
        {%- endcall %}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._remember_release(model.config.meta.dbt_anonymize) -%}
        {%- do dbt_anonymize._compose_register(model.config.meta.dbt_anonymize) -%}
        {%- do dbt_anonymize._say_what_is_next(declaration.anonymization, has_python or not steps) -%}
    {%- endif -%}
    {{ drop_relation_if_exists(backup_relation) }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{# What needs Python, in order, once the candidate is checked: computed again, and published. #}
{% macro _steps_of_release(candidate, declaration) -%}
    {%- set steps = [
        dbt_anonymize._recomputation(candidate, declaration), dbt_anonymize._publication(candidate, declaration)
    ] -%}
    {{ return(steps | reject("none") | list) }}
{%- endmacro %}
