{% macro table(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "table_cells", "table_efforts", "table_results", "dimensions", "content", "numbers",
    "minimum_frequency",
], {"levels": [], "is_strict": false, "counts": "people"}) -%}
{{ config(
    materialized="dbt_anonymize_table",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    schema=dbt_anonymize._release_schema(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization,
        "folder": dbt_anonymize._release_folder(),
        "content": given.content,
        "minimum_frequency": given.minimum_frequency,
        "counts": given.counts,
    }},
) }}
{%- set chosen = dbt_anonymize._chosen_protection(given) -%}
{%- if chosen and dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_against_cells(given, chosen) -%}
{%- endif -%}
{%- if not chosen -%}
    {{ return("select * from " ~ this) }}
{%- endif -%}
{%- set columns = [] -%}
{%- for name in given.dimensions + given.levels + [given.counts] + given.numbers + ["status"] -%}
    {%- do columns.append(dbt_anonymize._quote(name)) -%}
{%- endfor -%}
select
    {{ columns | join(",\n    ") }}
from {{ given.table_efforts }}
where
    kind = 'cell'
    and effort = {{ chosen }}
order by
    {{ columns[: (given.dimensions + given.levels) | length] | join(",\n    ") }}
{%- endmacro %}


{# The chosen effort, or a stop; none where no effort may replace the table that was released before. #}
{% macro _chosen_protection(given) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return(1) }}{%- endif -%}
    {%- do dbt_anonymize._warn_of_lost_memory(given.anonymization) -%}
    {%- set reasons = [] -%}
    {%- for effort, is_chosen, reason in run_query(
        "select effort, is_chosen, reason from " ~ given.table_results ~ " order by effort"
    ).rows -%}
        {%- if is_chosen -%}{{ return(effort | int) }}{%- endif -%}
        {%- do reasons.append("effort " ~ effort ~ " " ~ reason) -%}
    {%- endfor -%}
    {%- set reasons = reasons | join("; ") -%}
    {%- if not dbt_anonymize._released_protections(given.anonymization) -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            "an effort of the table must qualify; " ~ (reasons or "there are no results") ~ ". In anonymizations/"
            ~ given.anonymization ~ ".yml, coarsen dimensions by levels, show fewer margins, or declare another effort."
        ]) -%}
    {%- endif -%}
    {%- if load_relation(this) is none -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            "the table was released before and no effort may replace it (" ~ reasons ~ "); " ~ this ~ " is not there."
            ~ " Restore it from a backup, or release another table under another name, of other people or with noise"
        ]) -%}
    {%- endif -%}
    {%- if given.is_strict -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            "the table that was released before may be replaced by no effort (" ~ reasons ~ "), and composition is"
            ~ " strict. Leave composition out, so that it stays as it is"
        ]) -%}
    {%- endif -%}
    {%- do exceptions.warn(
        "anonymization " ~ given.anonymization ~ ": the table that was released before stays as it is: " ~ reasons
        ~ ". Show a table that changes with noise, or give each period labels of its own and no total over them."
    ) -%}
    {{ return(none) }}
{%- endmacro %}


{# A table is there and the vault does not know of it: the next one could tell who came and left since. #}
{% macro _warn_of_lost_memory(anonymization) -%}
    {%- set releases = dbt_anonymize._table_releases(anonymization) -%}
    {%- if load_relation(this) is not none and load_relation(releases) is none
        and dbt_anonymize._is_table_published(anonymization) -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ anonymization ~ ": what a table shows is compared with what it showed before; "
            ~ releases ~ " is not there, though " ~ this ~ " is. If that was handed out, restore the vault from a"
            ~ " backup and build again; if it was a draft, there is nothing to do."
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# What is shown as it is must be what was counted, in a cell that may be shown. #}
{% macro _check_against_cells(given, chosen) -%}
    {%- set wrong = run_query(
        "select count(*) from " ~ given.table_efforts ~ " as efforts left join " ~ given.table_cells ~ " as cells"
        ~ " on efforts.effort = cells.effort and efforts.cell = cells.cell where efforts.effort = " ~ chosen
        ~ " and efforts.status = 'published' and (cells.people is null or cells." ~ given.counts ~ " <> efforts."
        ~ given.counts
        ~ " or cells.people < " ~ given.minimum_frequency ~ ")"
    ).rows[0][0] -%}
    {%- if wrong > 0 -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            "every shown cell must be as it was counted, with at least " ~ given.minimum_frequency ~ " people; " ~ wrong
            ~ " are not. The efforts are of other data; run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{#
  As a release of records is published: built beside the earlier one, checked, remembered in the vault, and then put in
  its place. On DuckDB it is a file of its own.
#}
{% materialization dbt_anonymize_table, default %}
    {%- set target_relation = this.incorporate(type="table") -%}
    {%- set existing_relation = load_cached_relation(this) -%}
    {%- if dbt_anonymize._is_trial() and existing_relation is not none -%}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [existing_relation]}) }}
    {%- endif -%}
    {%- set candidate = make_intermediate_relation(target_relation) -%}
    {%- set existing_type = existing_relation.type if existing_relation else "table" -%}
    {%- set backup_relation = make_backup_relation(target_relation, existing_type) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {{ drop_relation_if_exists(load_cached_relation(candidate)) }}
    {{ drop_relation_if_exists(load_cached_relation(backup_relation)) }}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {% call statement("main") -%}
        {{ create_table_as(False, candidate, sql) }}
    {%- endcall %}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._check_table(candidate, declaration, sql) -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {%- if not dbt_anonymize._is_trial() and dbt_anonymize._is_table_published(declaration.anonymization) -%}
        {%- do dbt_anonymize._remember_table(declaration) -%}
    {%- endif -%}
    {% call statement("swap") -%}
        select 1 as begins_a_transaction
    {%- endcall %}
    {%- if not dbt_anonymize._is_trial() and dbt_anonymize._is_table_published(declaration.anonymization) -%}
        {%- do dbt_anonymize._register_table(declaration.anonymization, candidate) -%}
    {%- endif -%}
    {{ dbt_anonymize._swap_in(candidate, target_relation, existing_relation, backup_relation) }}
    {%- do apply_grants(
        target_relation, config.get("grants"), should_revoke(existing_relation, full_refresh_mode=True)
    ) -%}
    {%- do persist_docs(target_relation, model) -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- set step = adapter.dispatch("_publication_of_table", "dbt_anonymize")(candidate, declaration) -%}
        {%- if step -%}
            {% call statement("publish", language="python") -%}
                {{ dbt_anonymize._python_code(step) }}
            {%- endcall %}
        {%- endif -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {{ drop_relation_if_exists(backup_relation) }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{# The last gate, on the very rows that are about to be published; a table that stays is published already. #}
{% macro _check_table(candidate, declaration, sql) -%}
    {%- if sql | trim == "select * from " ~ this -%}{{ return("") }}{%- endif -%}
    {#- Fewer records than people there are not. -#}
    {%- set count = declaration.counts -%}
    {%- set counts = run_query(
        "select count(*), count(case when status = 'published' and " ~ count ~ " > 0 and " ~ count ~ " < "
        ~ declaration.minimum_frequency ~ " then 1 end), count(case when status = 'hidden' and " ~ count
        ~ " is not null or status <> 'hidden' and " ~ count ~ " is null then 1 end) from " ~ candidate
    ).rows[0] -%}
    {%- set errors = [] -%}
    {%- if counts[0] == 0 -%}{%- do errors.append("the table must have cells; it has none.") -%}{%- endif -%}
    {%- if counts[1] or counts[2] -%}
        {%- do errors.append(
            "every cell must be hidden or have at least " ~ declaration.minimum_frequency ~ " people; " ~ counts[1]
            ~ " shown cells have fewer, and " ~ counts[2] ~ " do not say rightly whether they are hidden. Run"
            ~ " `dbt build -s +" ~ model.name ~ "`."
        ) -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
{%- endmacro %}


{# Before publishing, in a transaction of its own: what is remembered and was never published only keeps later tables
   from changing. Cells that are remembered are of the same people, or the table would not be released. #}
{% macro _remember_table(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- set releases = dbt_anonymize._table_releases(name) -%}
    {%- set cells, efforts, results =
        ref(name ~ "_table_cells"), ref(name ~ "_table_efforts"), ref(name ~ "_table_results") -%}
    {%- do dbt_anonymize._create_schema_of(releases) -%}
    {% call statement("table_releases_exist") -%}
        create table if not exists {{ releases }} (
            released_at {{ dbt.type_timestamp() }},
            protection {{ dbt.type_string() }},
            cell {{ dbt.type_string() }},
            people {{ dbt.type_bigint() }},
            keys {{ dbt.type_bigint() }},
            sums {{ dbt.type_string() }},
            status {{ dbt.type_string() }}
        );
        {{ dbt_anonymize._closed_to_others(releases, "select") }}
        {{ dbt_anonymize._lock_table(releases) }}
    {%- endcall %}
    {%- set shown = (
        results ~ " as results inner join " ~ efforts ~ " as efforts on results.effort = efforts.effort inner join "
        ~ cells ~ " as cells on efforts.effort = cells.effort and efforts.cell = cells.cell"
    ) -%}
    {%- set as = (
        "results.protection || " ~ dbt_anonymize._literal(dbt_anonymize._released_as("", declaration.content))
    ) -%}
    {%- set unlike = run_query(
        "select count(*) from (select 1 as cell from " ~ results ~ " as results inner join " ~ releases
        ~ " as known on known.protection <> " ~ as ~ " where results.is_chosen union all select 1 as cell from "
        ~ shown ~ " inner join " ~ releases ~ " as known on known.cell = cells.cell where results.is_chosen"
        ~ " and efforts.kind = 'cell' and known.status in ('published', 'hidden')"
        ~ " and (known.people <> cells.people or known.keys <> cells.keys or known.sums <> cells.sums"
        ~ " or known.status <> efforts.status)) as unlike"
    ).rows[0][0] -%}
    {%- if unlike > 0 -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "a table must be compared with all that was released before; another build released meanwhile, or this"
            ~ " step was run alone. Run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {% call statement("remember_table") -%}
        insert into {{ releases }} (released_at, protection, cell, people, keys, sums, status)
        select
            cast({{ dbt_anonymize._literal(run_started_at.strftime("%Y-%m-%d %H:%M:%S")) }}
                as {{ dbt.type_timestamp() }}),
            {{ as }},
            cells.cell,
            cells.people,
            cells.keys,
            cells.sums,
            efforts.status
        from {{ shown }}
        where
            results.is_chosen
            and efforts.kind = 'cell'
            and not exists (
                select 1
                from {{ releases }} as known
                where
                    known.protection = {{ as }}
                    and known.cell = cells.cell
            )
    {%- endcall %}
    {%- do dbt_anonymize._commit_step() -%}
{%- endmacro %}


{# The step that publishes the candidate outside the warehouse; none where the released table itself is it. #}
{% macro default___publication_of_table(candidate, declaration) -%}{{ return(none) }}{%- endmacro %}

{% macro duckdb___publication_of_table(candidate, declaration) -%}
    {%- if not dbt_anonymize._has_python() -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "a table is published by Python on DuckDB; dbt_anonymize_python is false. Remove it from the vars."
        ]) -%}
    {%- endif -%}
    {{ return(dbt_anonymize._python_step("dbt_anonymize.release.publish", "publish", {
        "relation": candidate | string,
        "table": declaration.anonymization ~ "_table",
        "folder": dbt_anonymize._project_folder(),
        "path": dbt_anonymize._release_path(declaration.anonymization),
    })) }}
{%- endmacro %}
