{#
  Append only: creates the table where there is none, and gives a token to everybody who has none, or the draw that
  decides in which samples she is (`drawn` of the configuration). Neither a full refresh nor a run on a part of the rows
  takes or changes one; only with `is_renewed` each run draws all tokens anew.
#}
{% materialization dbt_anonymize_tokens, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set is_new = load_cached_relation(this) is none -%}
    {%- set drawn = model.config.meta.dbt_anonymize.drawn -%}
    {%- set mechanism = model.config.meta.dbt_anonymize.get("mechanism") -%}
    {%- set is_renewed = model.config.meta.dbt_anonymize.get("is_renewed", false) -%}
    {%- set protection = dbt_anonymize._vault_protection() -%}
    {%- if protection -%}
        {% call statement("protect_vault", language="python") -%}
            {{ protection }}
        {%- endcall %}
    {%- endif -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {%- do dbt_anonymize._begin_after_hooks() -%}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if is_new -%}
        {%- if not dbt_anonymize._is_trial() and not is_renewed -%}
            {%- do dbt_anonymize._warn_of_new_draws(target_relation, drawn) -%}
        {%- endif -%}
        {% call statement("create") -%}
            create table {{ target_relation }} as
            select
                person,
                {{ dbt_anonymize._as_text("null") if drawn == "token"
                    else "cast(null as " ~ dbt_anonymize._type_double() ~ ")" }} as {{ drawn }},
                {{ dbt_anonymize._as_text("null") }} as identified_by
                {%- if mechanism %},
                {{ dbt_anonymize._as_text("null") }} as mechanism
                {%- endif %}
            from ({{ sql }}) as people
            where 1 = 0
        {%- endcall %}
    {%- elif mechanism -%}
        {% call statement("draws_are_of_mechanisms") -%}
            alter table {{ target_relation }} add column if not exists mechanism {{ dbt.type_string() }}
        {%- endcall %}
    {%- endif -%}
    {%- if is_renewed and not dbt_anonymize._is_trial() -%}
        {% call statement("forget") -%}
            delete from {{ target_relation }}
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
            {% call statement("draws_are_stored") -%}
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


{# Where a re-linking or a release is recorded there were draws: without their table earlier releases lead to nobody,
   and a second sample adds to what the first one released. #}
{% macro _warn_of_new_draws(draws, drawn) -%}
    {%- set name = model.config.meta.dbt_anonymize.anonymization -%}
    {%- set are_keys = model.config.meta.dbt_anonymize.get("are_keys", false) -%}
    {%- set memory = model.config.meta.dbt_anonymize.get("remembered_by", "releases") -%}
    {%- set uses = name ~ "_" ~ ("relinkings" if drawn == "token" and not are_keys else memory) -%}
    {%- set relation = load_relation(draws.incorporate(path={"identifier": uses})) -%}
    {%- set recorded = run_query("select count(*) from " ~ relation).rows[0][0] if relation else 0 -%}
    {%- if recorded > 0 and are_keys -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ name ~ ": keys of masks are drawn once and kept; " ~ draws ~ " is not there,"
            ~ " though a release is recorded. New ones are drawn now: hashes are others, and dates are shifted by"
            ~ " other days, so that two releases tell more than one. If that is no rotation, restore the table from"
            ~ " a backup."
        ) -%}
    {%- elif recorded > 0 and drawn == "token" -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ name ~ ": tokens are made once and kept; " ~ draws ~ " is not there, though "
            ~ recorded
            ~ (" attempt to re-link is" if recorded == 1 else " attempts to re-link are") ~ " recorded. Everybody gets"
            ~ " a new token, and those of earlier releases lead to nobody. If that is no rotation, restore the table"
            ~ " from a backup."
        ) -%}
    {%- elif recorded > 0 and memory != "releases" -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ name ~ ": everybody draws once, and the draw is kept; " ~ draws ~ " is not"
            ~ " there, though a release is recorded. New draws make new noise about the same people, so that two"
            ~ " releases tell more than one. Restore the table from a backup."
        ) -%}
    {%- elif recorded > 0 -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ name ~ ": a sample is drawn once and kept; " ~ draws ~ " is not there, though a"
            ~ " release is recorded. Others are drawn now: who has both releases knows more people than one sample"
            ~ " holds. Restore the table from a backup."
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# What appends the draws of new people: its language and code. #}
{% macro _token_addition(draws, people) -%}
    {{ return(adapter.dispatch("_token_addition", "dbt_anonymize")(draws, people)) }}
{%- endmacro %}

{% macro default___token_addition(draws, people) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set mechanism = dbt_anonymize._mechanism_of_draws() -%}
    {%- set code -%}
        {{ dbt_anonymize._lock_table(draws) }}
        insert into {{ draws }} (person, {{ declaration.drawn }}, identified_by{{ ", mechanism" if mechanism }})
        select
            people.person,
            {{ dbt_anonymize._random_token() if declaration.drawn == "token"
                else dbt_anonymize._drawn_number(dbt_anonymize._random_number(), declaration.strata) }},
            {{ dbt_anonymize._literal(declaration.person) }}{{ ", " ~ mechanism if mechanism }}
        from ({{ people }}) as people
        where not exists ({{ dbt_anonymize._known_draws(draws, mechanism) }})
    {%- endset -%}
    {{ return({"language": "sql", "code": code}) }}
{%- endmacro %}

{# DuckDB's random() and uuid() follow setseed() and are not made for secrets, so the operating system draws. #}
{% macro duckdb___token_addition(draws, people) -%}
    {%- if not dbt_anonymize._has_python() -%}
        {{ return({"language": "sql", "code": dbt_anonymize._keyed_draws(draws, people)}) }}
    {%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set arguments = {
        "relation": draws | string, "people": people, "identified_by": declaration.person
    } -%}
    {%- if declaration.drawn == "draw" -%}
        {%- do arguments.update({"strata": declaration.strata, "mechanism": declaration.mechanism}) -%}
    {%- endif -%}
    {%- set function = "append_tokens" if declaration.drawn == "token" else "append_draws" -%}
    {{ return({"language": "python", "code": dbt_anonymize._python_code(
        dbt_anonymize._python_step("dbt_anonymize.vault.tokens", function, arguments)
    )}) }}
{%- endmacro %}


{#
  The same in SQL: a draw is the hash of the person under the key that the operating system drew for whoever closed the
  vault, and under this run and table, so that no two draws have the same. The key is in a file beside the vault, in no
  statement and in no log.
#}
{% macro _keyed_draws(draws, people) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set mechanism = dbt_anonymize._mechanism_of_draws() -%}
    {%- set file = dbt_anonymize._file_of_vault() -%}
    {%- if not file -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "the vault must be a file where dbt_anonymize_python is false, since the key of draws lies beside it; it is"
            ~ " in memory or elsewhere. Attach a file, or write `mapping: class`, and no sample."
        ]) -%}
    {%- endif -%}
    {%- set key = "read_blob(" ~ dbt_anonymize._literal(file ~ ".key") ~ ")" -%}
    {%- set run = dbt_anonymize._literal(
        invocation_id ~ " " ~ draws ~ " " ~ (declaration.mechanism ~ " " if mechanism else "")
    ) -%}
    {%- set digits = [] -%}
    {%- for first in [1, 14] -%}
        {%- do digits.append(
            "(cast('0x' || substr(people.digits, " ~ first ~ ", 13) as bigint) / 4503599627370496.0)"
        ) -%}
    {%- endfor -%}
    insert into {{ draws }} (person, {{ declaration.drawn }}, identified_by{{ ", mechanism" if mechanism }})
    select
        people.person,
        {{ "substr(people.digits, 1, 32)" if declaration.drawn == "token"
            else dbt_anonymize._drawn_number(digits[0], declaration.strata, digits[1]) }},
        {{ dbt_anonymize._literal(declaration.person) }}{{ ", " ~ mechanism if mechanism }}
    from (
        select
            found.*,
            sha256(key.content || encode({{ run }} || cast(found.person as varchar))) as digits
        from ({{ people }}) as found
        cross join {{ key }} as key
    ) as people
    where not exists ({{ dbt_anonymize._known_draws(draws, mechanism) }})
{%- endmacro %}


{# Query of what a person, of the rows `people`, has drawn before. #}
{% macro _known_draws(draws, mechanism) -%}
    select 1 from {{ draws }} as known
    where known.person = people.person{{ " and known.mechanism = " ~ mechanism if mechanism }}
{%- endmacro %}


{# The mechanism for which draws are kept, as a literal; none: for all releases. #}
{% macro _mechanism_of_draws() -%}
    {%- set mechanism = model.config.meta.dbt_anonymize.get("mechanism") -%}
    {{ return(dbt_anonymize._literal(mechanism) if mechanism else none) }}
{%- endmacro %}


{# An expression that is random for every row and that nobody can foresee. Adapters without one do not compile. #}
{% macro _random_token() -%}{{ return(adapter.dispatch("_random_token", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___random_token() -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: mapping: token, sample and table need a random generator made for secrets; the adapter "
        ~ target.type ~ " has none that we know. Write mapping: class, and neither a sample nor a table."
    ) }}
{%- endmacro %}


{# The same as a number from 0 to below 1, of 52 bits: in version 4 the last 13 hexadecimal digits are random. #}
{% macro _random_number() -%}
    {%- set digits = "substring(" ~ dbt_anonymize._random_token() ~ ", 20)" -%}
    {{ return("cast(cast(('x' || " ~ digits ~ ") as bit(52)) as bigint) / 4503599627370496.0") }}
{%- endmacro %}


{# A draw of each of the rows `people`. In strata the draws of one stratum are spread evenly, so that below any share
   are as many as that share of them, rounded up or down. `random` is another number wherever it stands; else the
   second one, independent of it, is `random_within`. #}
{% macro _drawn_number(random, strata, random_within=none) -%}
    {%- set type = dbt_anonymize._type_double() -%}
    {%- if not strata -%}{{ return("cast(" ~ random ~ " as " ~ type ~ ")") }}{%- endif -%}
    {%- set number = "cast(" ~ (random_within or random) ~ " as " ~ type ~ ")" -%}
    {%- set stratum = [] -%}
    {%- for place in range(1, strata + 1) -%}{%- do stratum.append("people.stratum_" ~ place) -%}{%- endfor -%}
    {%- set partition = "(partition by " ~ stratum | join(", ") -%}
    {{ return(
        "(row_number() over " ~ partition ~ " order by " ~ random ~ ") - 1 + " ~ number ~ ") / count(*) over "
        ~ partition ~ ")"
    ) }}
{%- endmacro %}


{# A statement that makes a second build wait, so that nobody gets two tokens. #}
{% macro _lock_table(relation) -%}
    {{ return(adapter.dispatch("_lock_table", "dbt_anonymize")(relation)) }}
{%- endmacro %}

{% macro default___lock_table(relation) -%}{{ return("") }}{%- endmacro %}
