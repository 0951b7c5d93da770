{#
  Append only: creates the table where there is none, and gives a token to everybody who has none. Neither a full
  refresh nor a run on a part of the rows takes or changes a token.
#}
{% materialization dbt_anonymize_tokens, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set is_new = load_cached_relation(this) is none -%}
    {%- set protection = dbt_anonymize._vault_protection() -%}
    {%- if protection -%}
        {% call statement("protect_vault", language="python") -%}
            {{ protection }}
        {%- endcall %}
    {%- endif -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if is_new -%}
        {%- if not dbt_anonymize._is_trial() -%}
            {%- do dbt_anonymize._warn_of_new_tokens(target_relation) -%}
        {%- endif -%}
        {% call statement("create") -%}
            create table {{ target_relation }} as
            select
                person,
                {{ dbt_anonymize._as_text("null") }} as token,
                {{ dbt_anonymize._as_text("null") }} as identified_by
            from ({{ sql }}) as people
            where 1 = 0
        {%- endcall %}
    {%- endif -%}
    {%- set addition = dbt_anonymize._token_addition(target_relation, sql) -%}
    {%- if dbt_anonymize._is_trial() -%}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as people where 1 = 0
        {%- endcall %}
    {%- else -%}
        {%- if addition.language == "python" -%}
            {#- It works on a connection of its own and must see the table. -#}
            {%- do adapter.commit() -%}
        {%- endif -%}
        {% call statement("main", language=addition.language) -%}
            {{ addition.code }}
        {%- endcall %}
        {%- if addition.language == "python" -%}
            {% call statement("tokens_are_stored") -%}
                select 1 as begins_a_transaction
            {%- endcall %}
        {%- endif -%}
    {%- endif -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- do dbt_anonymize._apply_vault_grants(
        target_relation, should_revoke(none if is_new else target_relation, full_refresh_mode=False)
    ) -%}
    {%- do persist_docs(target_relation, model) -%}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{# Where re-linkings are recorded there were tokens: without their table those of earlier releases lead to nobody. #}
{% macro _warn_of_new_tokens(tokens) -%}
    {%- set name = model.config.meta.dbt_anonymize.anonymization -%}
    {%- set relinkings = load_relation(tokens.incorporate(path={"identifier": name ~ "_relinkings"})) -%}
    {%- set recorded = run_query("select count(*) from " ~ relinkings).rows[0][0] if relinkings else 0 -%}
    {%- if recorded > 0 -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ name ~ ": tokens are made once and kept; " ~ tokens ~ " is not there, though "
            ~ recorded
            ~ (" attempt to re-link is" if recorded == 1 else " attempts to re-link are") ~ " recorded. Everybody gets"
            ~ " a new token, and those of earlier releases lead to nobody. If that is no rotation, restore the table"
            ~ " from a backup."
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# What appends the tokens of new people: its language and code. #}
{% macro _token_addition(tokens, people) -%}
    {{ return(adapter.dispatch("_token_addition", "dbt_anonymize")(tokens, people)) }}
{%- endmacro %}

{% macro default___token_addition(tokens, people) -%}
    {%- set code -%}
        {{ dbt_anonymize._lock_table(tokens) }}
        insert into {{ tokens }} (person, token, identified_by)
        select
            people.person,
            {{ dbt_anonymize._random_token() }},
            {{ dbt_anonymize._literal(model.config.meta.dbt_anonymize.person) }}
        from ({{ people }}) as people
        where not exists (select 1 from {{ tokens }} as known where known.person = people.person)
    {%- endset -%}
    {{ return({"language": "sql", "code": code}) }}
{%- endmacro %}

{# DuckDB's random() and uuid() follow setseed() and are not made for secrets, so the operating system draws. #}
{% macro duckdb___token_addition(tokens, people) -%}
    {%- set code -%}
import json

from dbt_anonymize.vault.tokens import append_tokens


class dbtObj:
    def __init__(self, load):
        pass


def model(dbt, session):
    append_tokens(
        session,
        relation={{ dbt_anonymize._python_literal(tokens) }},
        people={{ dbt_anonymize._python_literal(people) }},
        identified_by={{ dbt_anonymize._python_literal(model.config.meta.dbt_anonymize.person) }},
    )


def materialize(result, session):
    pass
    {%- endset -%}
    {{ return({"language": "python", "code": code}) }}
{%- endmacro %}


{# An expression that is random for every row and that nobody can foresee. Adapters without one do not compile. #}
{% macro _random_token() -%}{{ return(adapter.dispatch("_random_token", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___random_token() -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: mapping: token needs a random generator made for secrets; the adapter " ~ target.type
        ~ " has none that we know. Write mapping: class."
    ) }}
{%- endmacro %}

{% macro postgres___random_token() -%}{{ return("replace(cast(gen_random_uuid() as text), '-', '')") }}{%- endmacro %}


{# A statement that makes a second build wait, so that nobody gets two tokens. #}
{% macro _lock_table(relation) -%}
    {{ return(adapter.dispatch("_lock_table", "dbt_anonymize")(relation)) }}
{%- endmacro %}

{% macro default___lock_table(relation) -%}{{ return("") }}{%- endmacro %}

{% macro postgres___lock_table(relation) -%}
    {{ return("lock table " ~ relation ~ " in share row exclusive mode;") }}
{%- endmacro %}
