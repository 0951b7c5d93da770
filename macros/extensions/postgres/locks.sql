{# Builds wait for each other, and for readers some seconds only. #}

{# A second build of a release waits for the first, as on DuckDB for ten minutes. #}
{% macro _lock_publication(release) -%}
    {%- set place = dbt_anonymize._literal(release.render()) -%}
    {%- set is_held = "locktype = 'advisory' and objsubid = 1 and (cast(classid as bigint) << 32"
        ~ " | cast(objid as bigint)) = key" -%}
    {%- do dbt_anonymize._lock_or_name_holders(
        "hashtextextended('dbt_anonymize ' || " ~ place ~ ", 0)",
        "perform pg_advisory_xact_lock(key)",
        is_held,
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
    {%- do dbt_anonymize._lock_or_name_holders(
        "cast(cast(to_regclass(" ~ dbt_anonymize._literal(existing_relation.render()) ~ ") as oid) as bigint)",
        "lock table " ~ existing_relation ~ " in access exclusive mode",
        "locktype = 'relation' and relation = key",
        dbt_anonymize._lock_timeout(),
        existing_relation ~ " is replaced, for which nobody may be reading it",
        dbt_anonymize._remedy_of_readers()
    ) -%}
{%- endmacro %}


{#
  Has several relations for oneself until the end of the transaction. A reader of one may ask for another next, and each
  would wait for the other: so it lets go of all before Postgres looks for deadlocks (after a second), and tries again.
#}
{% macro _lock_all_for_swap(relations) -%}
    {%- if relations | length > 1 -%}
        {%- set places = [] -%}
        {%- for one in relations -%}
            {%- do places.append("to_regclass(" ~ dbt_anonymize._literal(one.render()) ~ ")") -%}
        {%- endfor -%}
        {%- set seconds = dbt_anonymize._lock_timeout() -%}
        {%- set short = [0.8 / relations | length, seconds] | min -%}
        {%- do dbt_anonymize._lock_or_name_holders(
            "0",
            "lock table " ~ relations | join(", ") ~ " in access exclusive mode",
            "locktype = 'relation' and relation in (" ~ places | join(", ") ~ ")",
            seconds,
            relations[0] ~ " is replaced with the tables beside it, for which nobody may be reading one of them",
            dbt_anonymize._remedy_of_readers(),
            short
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# Seconds for which a build waits for readers. #}
{% macro _lock_timeout() -%}
    {%- set seconds = var("dbt_anonymize_lock_timeout", 10) -%}
    {%- if seconds is not number or seconds is boolean or seconds <= 0 -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize_lock_timeout must be a number of seconds above 0; got " ~ seconds
            ~ ". Correct it under vars in dbt_project.yml."
        ) }}
    {%- endif -%}
    {{ return(seconds) }}
{%- endmacro %}


{# Remedy where readers hold what is replaced. #}
{% macro _remedy_of_readers() -%}
    {{ return(
        "The earlier one stays as it was. Whoever reads, or has read in a transaction that is still open, should end"
        ~ " it (`commit`), or an administrator does (`select pg_terminate_backend(<pid>)`); then build again. The"
        ~ " variable dbt_anonymize_lock_timeout says for how many seconds a build waits."
    ) }}
{%- endmacro %}


{#
  Runs a statement that takes a lock; where that is not had in time, says by which sessions it is held: process, user
  and application, never what they ask.
    key    SQL of a number that tells the lock
    is_held  condition on pg_locks
    at_once  seconds after which it lets go of what it has, and tries again
#}
{% macro _lock_or_name_holders(key, lock, is_held, seconds, rule, remedy, at_once=none) -%}
    {% call statement("lock") -%}
set local lock_timeout = {{ ((at_once or seconds) * 1000) | int }};
do $dbt_anonymize$
declare
    key bigint := {{ key }};
    holders text;
    last timestamptz := clock_timestamp() + make_interval(secs => {{ seconds }});
begin
    loop
        begin
            {{ lock }};
            return;
        exception when lock_not_available then
            exit when clock_timestamp() >= last;
        end;
        perform pg_sleep(0.05);
    end loop;
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
        and {{ is_held }};
    raise exception using message = 'dbt_anonymize: ' || {{ dbt_anonymize._literal(rule) }} || '; it is held by '
        || coalesce(holders, 'a session that has ended since') || ', and this build has waited for {{ seconds }} s. '
        || {{ dbt_anonymize._literal(remedy) }};
end
$dbt_anonymize$
    {%- endcall %}
{%- endmacro %}


{# Two builds that release of one source must not both find room for what only one may spend. #}
{% macro _lock_budget(budget) -%}
    {% call statement("lock_budget") -%}
        {{ dbt_anonymize._budget_table(budget) }};
        {{ dbt_anonymize._closed_to_others(budget, "select") }}
        {{ dbt_anonymize._lock_table(budget) }}
    {%- endcall %}
{%- endmacro %}


{% macro postgres___lock_table(relation) -%}
    {{ return("lock table " ~ relation ~ " in share row exclusive mode;") }}
{%- endmacro %}


{# Not `lock table`: it needs the right to change what is there, which custodians must not have. #}
{% macro postgres___lock_for_append(relation) -%}
    {{ return("select pg_advisory_xact_lock(cast(cast(" ~ dbt_anonymize._literal(relation) ~ " as regclass) as"
    ~ " bigint))") }}
{%- endmacro %}
