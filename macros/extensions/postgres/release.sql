{#
  Write, check, publish in one transaction: whoever is killed, or fails, has published nothing, paid nothing and left
  nothing behind. dbt-postgres sends COMMIT as text, after which the driver begins nothing: so the transaction begins
  by name, after what dbt commits by itself. The swap comes last, since readers of the release wait for its end.
#}
{% materialization dbt_anonymize_release, adapter="postgres" %}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set backup_relation = make_backup_relation(target_relation, "table") -%}
    {%- set is_trial = dbt_anonymize._is_trial() -%}
    {%- if is_trial and load_cached_relation(this) is not none -%}
        {#- A build of no rows or a sample tries the SQL; it must not take away what is released. -#}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [load_cached_relation(this)]}) }}
    {%- endif -%}
    {%- do dbt_anonymize._publication(this, declaration) -%}
    {%- do dbt_anonymize._recomputation(this, declaration) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {%- if not is_trial -%}{%- do dbt_anonymize._create_vault_schemas(declaration) -%}{%- endif -%}

    {#- What was read so far is let go of, before this build waits for another. -#}
    {% call statement("begin") -%}
        commit;
        {{ dbt_anonymize._begin_transaction() }}
    {%- endcall %}
    {%- do dbt_anonymize._lock_publication(target_relation) -%}
    {#- Before the choice is compared: what is published beside the release is of one effort with it. -#}
    {%- if not is_trial -%}{%- do dbt_anonymize._hold_tables_beside(declaration) -%}{%- endif -%}
    {%- do dbt_anonymize._check_chosen(declaration, sql) -%}
    {%- set existing_relation = dbt_anonymize._find_uncached(target_relation) -%}
    {%- for left_behind in [candidate, backup_relation] -%}
        {{ drop_relation_if_exists(dbt_anonymize._find_uncached(left_behind)) }}
    {%- endfor -%}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- do dbt_anonymize._expect_many_rows() -%}

    {% call statement("main") -%}
        {{ create_table_as(False, candidate, sql) }}
    {%- endcall %}
    {%- do apply_grants(candidate, config.get("grants"), should_revoke=false) -%}
    {%- do persist_docs(candidate, model) -%}
    {%- if not is_trial -%}
        {%- do dbt_anonymize._check_release(candidate) -%}
        {%- do dbt_anonymize._pay_for_release(candidate) -%}
        {%- if declaration.aggregates -%}
            {%- do dbt_anonymize._record_aggregates(declaration) -%}
        {%- endif -%}
        {%- if declaration.waits -%}
            {%- do dbt_anonymize._record_members(declaration) -%}
        {%- endif -%}
        {%- do dbt_anonymize._register_release(declaration, candidate) -%}
        {%- do dbt_anonymize._remember_release(declaration) -%}
        {%- do dbt_anonymize._compose_register(declaration) -%}
        {%- do dbt_anonymize._write_about(candidate, declaration) -%}
        {%- do dbt_anonymize._comment_on_columns(candidate, declaration) -%}
    {%- endif -%}
    {%- set beside = [] if is_trial else dbt_anonymize._write_tables_beside(declaration) -%}
    {%- do dbt_anonymize._lock_all_for_swap(
        ([existing_relation] + beside | map(attribute="existing") | list) | reject("none") | list
    ) -%}
    {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {{ drop_relation_if_exists(dbt_anonymize._find_uncached(backup_relation)) }}
    {%- do dbt_anonymize._swap_in_tables_beside(beside) -%}
    {#- By name too: where the profile says autocommit, dbt sends none. -#}
    {% call statement("commit") -%}
        commit
    {%- endcall %}
    {%- do adapter.commit() -%}
    {%- if not is_trial -%}
        {%- do dbt_anonymize._say_what_is_next(declaration.anonymization) -%}
        {%- do dbt_anonymize._warn_of_closed_schema(target_relation) -%}
    {%- endif -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{% macro postgres___publishes_beside() -%}{{ return(true) }}{%- endmacro %}


{# What is published beside the release stays what is checked, until the transaction ends. #}
{% macro _hold_tables_beside(declaration) -%}
    {%- for name in declaration.beside -%}
        {% call statement("hold") -%}
            lock table {{ ref(name) }} in share mode
        {%- endcall %}
    {%- endfor -%}
{%- endmacro %}


{#
  Writes the tables beside a release into its schema, in the order of their rows, under names of their own. A comment
  says whose they are, so that those go which a spec has no more. Returns what takes whose place.
#}
{% macro _write_tables_beside(declaration) -%}
    {%- set comment = "dbt_anonymize: published with " ~ declaration.anonymization ~ "_anonymized" -%}
    {%- set earlier = run_query(
        "select relname from pg_class inner join pg_namespace on relnamespace = pg_namespace.oid where nspname = "
        ~ dbt_anonymize._literal(this.schema) ~ " and relkind = 'r' and obj_description(pg_class.oid, 'pg_class') = "
        ~ dbt_anonymize._literal(comment)
    ).columns[0].values() -%}
    {%- set written = [] -%}
    {%- for name in (earlier | list + declaration.beside) | unique(case_sensitive=true) -%}
        {%- set published = this.incorporate(path={"identifier": name}, type="table") -%}
        {%- set existing = dbt_anonymize._find_uncached(published) -%}
        {%- set candidate = make_intermediate_relation(published) if name in declaration.beside else none -%}
        {%- if existing is not none and name not in earlier -%}
            {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
                published ~ " is to be published, and is already there, made by somebody else. Move it elsewhere."
            ]) -%}
        {%- endif -%}
        {%- if candidate is not none -%}
            {{ drop_relation_if_exists(dbt_anonymize._find_uncached(candidate)) }}
            {% call statement("publish") -%}
                {#- By the new keys, which come first. #}
                create table {{ candidate }} as select * from {{ ref(name) }} order by 1;
                comment on table {{ candidate }} is {{ dbt_anonymize._literal(comment) }}
            {%- endcall %}
            {%- do apply_grants(candidate, config.get("grants"), should_revoke=false) -%}
        {%- endif -%}
        {%- do written.append({"candidate": candidate, "published": published, "existing": existing}) -%}
    {%- endfor -%}
    {{ return(written) }}
{%- endmacro %}


{# In the place of the earlier ones, for which this transaction has locks. #}
{% macro _swap_in_tables_beside(written) -%}
    {%- for one in written -%}
        {%- if one.existing is not none -%}{%- do adapter.drop_relation(one.existing) -%}{%- endif -%}
        {%- if one.candidate is not none -%}
            {%- do adapter.rename_relation(one.candidate, one.published) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{# As in the file that DuckDB publishes, where the release says what it is. #}
{% macro _comment_on_columns(release, declaration) -%}
    {%- set comments = dbt_anonymize._comments_on_columns(declaration) if declaration.about else {} -%}
    {%- for name, comment in comments.items() -%}
        {% call statement("comment") -%}
            comment on column {{ release }}.{{ dbt_anonymize._quote(name) }} is {{ dbt_anonymize._literal(comment) }}
        {%- endcall %}
    {%- endfor -%}
{%- endmacro %}


{# The rows change with the release, in its transaction; whoever reads the earlier ones is not waited for. #}
{% macro postgres___publish_about(about, facts) -%}
    {% call statement("about") -%}
        create table if not exists {{ about }} (
            place integer, fact {{ dbt.type_string() }}, value {{ dbt.type_string() }}, number double precision
        );
        delete from {{ about }};
        insert into {{ about }} (place, fact, value, number)
        {{- facts }}
    {%- endcall %}
    {%- do apply_grants(about, config.get("grants"), should_revoke=true) -%}
{%- endmacro %}


{# A relation as the catalog has it now, or none: another build may have made it since dbt looked. #}
{% macro _find_uncached(relation) -%}
    {%- set types = {"r": "table", "p": "table", "v": "view", "m": "materialized_view"} -%}
    {%- set kinds = run_query(
        "select relkind from pg_class where oid = to_regclass(" ~ dbt_anonymize._literal(relation.render()) ~ ")"
    ).rows -%}
    {{ return(relation.incorporate(type=types.get(kinds[0][0] | string, "table")) if kinds else none) }}
{%- endmacro %}


{# The query was written before this build waited: another one may have chosen another effort since. #}
{% macro _check_chosen(declaration, sql) -%}
    {%- if not (declaration.waits or dbt_anonymize._is_trial()) -%}
        {%- set chosen = declaration.anonymization ~ "_effort_" ~ dbt_anonymize._released_effort(declaration) -%}
        {%- if ref(chosen).render() not in sql -%}
            {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
                "the release must be of the effort that is chosen, " ~ chosen ~ "; another build has chosen it since"
                ~ " this one began. Run `dbt build -s +" ~ model.name ~ "`."
            ]) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}


{% macro _pay_for_release(candidate) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- if declaration.budget -%}
        {%- do dbt_anonymize._lock_budget(dbt_anonymize._budget_relation(declaration.anonymization)) -%}
        {%- set cost = dbt_anonymize._cost_of_release(candidate, is_locked=true) -%}
        {%- if cost -%}{%- do dbt_anonymize._spend_budget(cost) -%}{%- endif -%}
    {%- endif -%}
{%- endmacro %}
