{# As a release of records (release.sql): write, check, remember and publish in one transaction, one build at a time. #}
{% materialization dbt_anonymize_table, adapter="postgres" %}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set backup_relation = make_backup_relation(target_relation, "table") -%}
    {%- set is_trial = dbt_anonymize._is_trial() -%}
    {%- if is_trial and load_cached_relation(this) is not none -%}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [load_cached_relation(this)]}) }}
    {%- endif -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}

    {#- What was read so far is let go of, before this build waits for another. -#}
    {% call statement("begin") -%}
        commit;
        {{ dbt_anonymize._begin_transaction() }}
    {%- endcall %}
    {%- do dbt_anonymize._lock_publication(target_relation) -%}
    {%- set existing_relation = dbt_anonymize._find_uncached(target_relation) -%}
    {%- for left_behind in [candidate, backup_relation] -%}
        {{ drop_relation_if_exists(dbt_anonymize._find_uncached(left_behind)) }}
    {%- endfor -%}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {% call statement("main") -%}
        {{ create_table_as(False, candidate, sql) }}
    {%- endcall %}
    {%- do apply_grants(candidate, config.get("grants"), should_revoke=false) -%}
    {%- do persist_docs(candidate, model) -%}
    {%- if not is_trial -%}
        {%- do dbt_anonymize._check_table(candidate, declaration, sql) -%}
        {%- do dbt_anonymize._check_chosen_table(declaration, sql) -%}
        {%- if dbt_anonymize._is_table_published(declaration.anonymization) -%}
            {%- do dbt_anonymize._remember_table(declaration) -%}
            {%- do dbt_anonymize._register_table(declaration.anonymization, candidate) -%}
        {%- endif -%}
    {%- endif -%}
    {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {{ drop_relation_if_exists(dbt_anonymize._find_uncached(backup_relation)) }}
    {#- By name too: where the profile says autocommit, dbt sends none. -#}
    {% call statement("commit") -%}
        commit
    {%- endcall %}
    {%- do adapter.commit() -%}
    {%- if not is_trial -%}{%- do dbt_anonymize._warn_of_closed_schema(target_relation) -%}{%- endif -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{# The query was written before this build waited: another one may have chosen another effort since. #}
{% macro _check_chosen_table(declaration, sql) -%}
    {%- set name = declaration.anonymization -%}
    {%- set is_of_effort = ref(name ~ "_table_efforts").render() in sql -%}
    {%- set chosen = run_query("select effort from " ~ ref(name ~ "_table_results") ~ " where is_chosen").rows -%}
    {%- set is_of_chosen = chosen and ("effort = " ~ chosen[0][0] | int ~ "\n") in sql -%}
    {%- if is_of_effort and not is_of_chosen or chosen and not is_of_effort -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "the table must be of the effort that is chosen; another build has chosen it since this one began. Run"
            ~ " `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
{%- endmacro %}
