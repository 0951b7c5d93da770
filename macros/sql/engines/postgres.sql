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
        {%- do dbt_anonymize._record_members(declaration) -%}
        {%- do dbt_anonymize._register_release(declaration, candidate) -%}
        {%- do dbt_anonymize._remember_release(declaration) -%}
        {%- do dbt_anonymize._compose_register(declaration) -%}
        {%- do dbt_anonymize._write_about(candidate, declaration) -%}
        {%- do dbt_anonymize._comment_on_columns(candidate, declaration) -%}
    {%- endif -%}
    {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {{ drop_relation_if_exists(dbt_anonymize._find_uncached(backup_relation)) }}
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


{# As in the file that DuckDB publishes, where the release says what it is. #}
{% macro _comment_on_columns(release, declaration) -%}
    {%- set comments = dbt_anonymize._comments_on_columns(declaration) if declaration.about else {} -%}
    {%- for name, comment in comments.items() -%}
        {% call statement("comment") -%}
            comment on column {{ release }}.{{ dbt_anonymize._quote(name) }} is {{ dbt_anonymize._literal(comment) }}
        {%- endcall %}
    {%- endfor -%}
{%- endmacro %}


{# dbt grants a table and not its schema, so that whom it is for may not get in. #}
{% macro _warn_of_closed_schema(release) -%}
    {%- set roles = [] -%}
    {%- for granted in (config.get("grants") or {}).values() -%}
        {%- do roles.extend([granted] if granted is string else granted) -%}
    {%- endfor -%}
    {%- set schema = dbt_anonymize._quote(release.schema) -%}
    {%- set outside = dbt_anonymize._roles_where(
        roles, "not has_schema_privilege(to_regrole(role), to_regnamespace(" ~ dbt_anonymize._literal(schema)
        ~ "), 'usage')"
    ) -%}
    {%- if outside -%}
        {%- do exceptions.warn(
            "WARNING: " ~ release ~ ": whoever is granted it must be able to enter its schema; "
            ~ outside | join(", ") ~ " cannot. Have its owner run once: grant usage on schema " ~ schema ~ " to "
            ~ outside | join(", ")
        ) -%}
    {%- endif -%}
{%- endmacro %}


{% macro postgres___begin_transaction() -%}begin{%- endmacro %}

{# One transaction has all steps, and ends once. #}
{% macro postgres___commit_step() -%}{%- endmacro %}

{# dbt commits a schema that it makes, so they are made before. #}
{% macro postgres___create_schema_of(relation) -%}{%- endmacro %}

{% macro _create_vault_schemas(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- if declaration.mapping != "none" -%}
        {%- do adapter.create_schema(dbt_anonymize._releases_relation(name)) -%}
    {%- endif -%}
    {%- if declaration.budget -%}{%- do adapter.create_schema(dbt_anonymize._budget_relation(name)) -%}{%- endif -%}
{%- endmacro %}


{# A second build of a release waits for the first, as on DuckDB for ten minutes. #}
{% macro _lock_publication(release) -%}
    {%- set place = dbt_anonymize._literal(release.render()) -%}
    {%- set found = "locktype = 'advisory' and objsubid = 1 and (cast(classid as bigint) << 32 | cast(objid as bigint))"
        ~ " = key" -%}
    {%- do dbt_anonymize._lock_or_name_holders(
        "hashtextextended('dbt_anonymize ' || " ~ place ~ ", 0)",
        "perform pg_advisory_xact_lock(key)",
        found,
        600,
        release ~ " must be published by one build at a time",
        "It has published nothing. End that process if it hangs, and build again."
    ) -%}
{%- endmacro %}


{#
  Readers hold a table until their transaction ends, and whoever comes after waits in line behind the one that wants it
  alone: so that is tried for some seconds only.
#}
{% macro postgres___lock_for_swap(existing_relation) -%}
    {%- set seconds = var("dbt_anonymize_lock_timeout", 10) -%}
    {%- if seconds is not number or seconds is boolean or seconds <= 0 -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize_lock_timeout must be a number of seconds above 0; got " ~ seconds
            ~ ". Correct it under vars in dbt_project.yml."
        ) }}
    {%- endif -%}
    {%- set place = dbt_anonymize._literal(existing_relation.render()) -%}
    {%- do dbt_anonymize._lock_or_name_holders(
        "cast(cast(to_regclass(" ~ place ~ ") as oid) as bigint)",
        "lock table " ~ existing_relation ~ " in access exclusive mode",
        "locktype = 'relation' and relation = key",
        seconds,
        existing_relation ~ " is replaced, for which nobody may be reading it",
        "The earlier one stays as it was. Whoever reads, or has read in a transaction that is still open, should end"
        ~ " it (`commit`), or an administrator does (`select pg_terminate_backend(<pid>)`); then build again. The"
        ~ " variable dbt_anonymize_lock_timeout says for how many seconds a build waits."
    ) -%}
{%- endmacro %}


{#
  Runs a statement that takes a lock; where that is not had in time, says by which sessions it is held: process, user
  and application, never what they ask.
    key    SQL of a number that tells the lock
    found  condition on pg_locks
#}
{% macro _lock_or_name_holders(key, lock, found, seconds, rule, remedy) -%}
    {% call statement("lock") -%}
set local lock_timeout = {{ (seconds * 1000) | int }};
do $dbt_anonymize$
declare
    key bigint := {{ key }};
    holders text;
begin
    {{ lock }};
exception when lock_not_available then
    select string_agg(
        distinct coalesce(
            'process ' || held.pid || ' (user ' || coalesce(cast(holder.usename as text), 'unknown')
            || ', application ' || coalesce(nullif(holder.application_name, ''), 'unknown') || ')',
            'a prepared transaction'
        ), ', '
    )
    into holders
    from pg_locks as held
    left join pg_stat_activity as holder on held.pid = holder.pid
    where
        held.granted
        and held.pid is distinct from pg_backend_pid()
        and held.database = (select oid from pg_database where datname = current_database())
        and {{ found }};
    raise exception using message = 'dbt_anonymize: ' || {{ dbt_anonymize._literal(rule) }} || '; it is held by '
        || coalesce(holders, 'a session that has ended since') || ', and this build has waited for {{ seconds }} s. '
        || {{ dbt_anonymize._literal(remedy) }};
end
$dbt_anonymize$
    {%- endcall %}
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


{# Two builds that release of one source must not both find room for what only one may spend. #}
{% macro _lock_budget(budget) -%}
    {% call statement("lock_budget") -%}
        {{ dbt_anonymize._budget_table(budget) }};
        {{ dbt_anonymize._closed_to_others(budget, "select") }}
        {{ dbt_anonymize._lock_table(budget) }}
    {%- endcall %}
{%- endmacro %}
