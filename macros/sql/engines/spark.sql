{# Spark has no databases above schemas. #}
{% macro spark___vault_database() -%}{{ return(none) }}{%- endmacro %}


{% macro spark___raise_in_sql(message, like) -%}
    {{ return("raise_error(" ~ dbt_anonymize._literal(message) ~ ")") }}
{%- endmacro %}


{# A column may have a collation of its own. #}
{% macro spark___as_bytes(expression) -%}{{ return("cast(" ~ expression ~ " as binary)") }}{%- endmacro %}


{# As JSON, in which NULL, a text that says so and the place of a column differ; in decimals, which do not overflow. #}
{# Of times to_json writes milliseconds, unless it is told. #}
{% macro spark___sum_of_hashes(relation_alias) -%}
    {%- set time = "yyyy-MM-dd HH:mm:ss.SSSSSS" -%}
    {%- set formats = "map('timestampFormat', '" ~ time ~ "XXX', 'timestampNTZFormat', '" ~ time ~ "')" -%}
    {%- set row = "to_json(struct(" ~ relation_alias ~ ".*), " ~ formats ~ ")" -%}
    {{ return("coalesce(sum(cast(xxhash64(" ~ row ~ ") as decimal(38, 0))), 0)") }}
{%- endmacro %}


{#
  Load a seed as it is: the macro of dbt-spark writes values between quotes that it does not escape, makes a text of
  NULL, and prints every line of a seed that cannot be loaded. Here each value is a literal, and a cell that does not
  fit its column is counted and named by its line, never shown.
#}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set names = agate_table.column_names | list -%}
    {%- set overridden = model["config"].get("column_types", {}) -%}
    {%- set types, columns = [], [] -%}
    {%- for name in names -%}
        {%- do types.append(overridden.get(name, adapter.convert_type(agate_table, loop.index0))) -%}
        {%- do columns.append("cell_" ~ loop.index) -%}
    {%- endfor -%}
    {%- set view = dbt_anonymize._quote("dbt_anonymize_seed_" ~ model.name) -%}
    {%- set statements = [] -%}
    {%- for chunk in agate_table.rows | batch(1000) -%}
        {%- set lines = [] -%}
        {%- set first = loop.index0 * 1000 + 2 -%}
        {%- for row in chunk -%}
            {%- set cells = [first + loop.index0] -%}
            {%- for cell in row -%}
                {%- do cells.append("null" if cell is none else dbt_anonymize._literal(cell)) -%}
            {%- endfor -%}
            {%- do lines.append("(" ~ cells | join(", ") ~ ")") -%}
        {%- endfor -%}
        {%- do adapter.add_query(
            "create or replace temporary view " ~ view ~ " as select * from values\n" ~ lines | join(",\n")
            ~ "\nas cells(line, " ~ columns | join(", ") ~ ")", abridge_sql_log=True
        ) -%}
        {%- do dbt_anonymize._check_cells_of_seed(model, view, names, types) -%}
        {%- set cast_columns = [] -%}
        {%- for type in types -%}
            {%- do cast_columns.append("cast(cell_" ~ loop.index ~ " as " ~ type ~ ")") -%}
        {%- endfor -%}
        {%- set sql = "insert into " ~ this.render() ~ "\nselect " ~ cast_columns | join(", ") ~ "\nfrom " ~ view -%}
        {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
        {%- do statements.append(sql) -%}
    {%- endfor -%}
    {%- do adapter.add_query("drop view if exists " ~ view) -%}
    {{ return(statements | first) }}
{%- endmacro %}


{% macro _check_cells_of_seed(model, view, names, types) -%}
    {%- set unfit = [] -%}
    {%- for type in types -%}
        {%- do unfit.append(
            "select line, " ~ loop.index0 ~ " as place from " ~ view ~ " where cell_" ~ loop.index
            ~ " is not null and try_cast(cell_" ~ loop.index ~ " as " ~ type ~ ") is null"
        ) -%}
    {%- endfor -%}
    {%- set found = run_query(
        "select * from (" ~ unfit | join(" union all ") ~ ") as unfit order by line, place limit 10"
    ).rows -%}
    {%- if found -%}
        {%- set places = [] -%}
        {%- for cell in found -%}
            {%- do places.append(
                "line " ~ cell[0] ~ " column " ~ names[cell[1]] ~ " (not " ~ types[cell[1]] ~ ")"
            ) -%}
        {%- endfor -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": every line of the file must fit the table; the first that do not: "
            ~ places | join(", ") ~ ". Correct them (dates are written year-month-day), or change column_types of the"
            ~ " seed and run `dbt seed --full-refresh -s " ~ model.name ~ "`."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The loader of dbt-spark would build from other values than those of the file. #}
{% macro spark___check_seed_loading() -%}
    {%- set seeds = graph.nodes.values() | selectattr("resource_type", "equalto", "seed") -%}
    {%- set selected = seeds | map(attribute="unique_id") | select("in", selected_resources) | list -%}
    {%- if adapter.dispatch("load_csv_rows", "dbt").macro.package_name == "dbt_spark" and selected -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: seeds must be loaded by the macro of this package on Spark; that of dbt-spark writes NULL"
            ~ " as the text None, and prints the lines of a seed that has a quote. Add to dbt_project.yml:\n"
            ~ "dispatch:\n  - macro_namespace: dbt\n    search_order: [" ~ project_name ~ ", dbt_anonymize, dbt]"
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The difference of two points in time is an interval here; of those with a time zone, one in local time. #}
{% macro spark___seconds_between(lower, upper, types) -%}
    {%- if "timestamp_ntz" in types -%}
        {%- set ends = "cast(" ~ upper ~ " as timestamp_ntz) - cast(" ~ lower ~ " as timestamp_ntz)" -%}
        {{ return("cast(cast(" ~ ends ~ " as interval second) as decimal(20, 6))") }}
    {%- endif -%}
    {{ return("(unix_micros(" ~ upper ~ ") - unix_micros(" ~ lower ~ ")) / 1e6") }}
{%- endmacro %}

{# The type of a column shows its collation. #}
{% macro spark___collated(relation, columns) -%}
    {%- set collated = [] -%}
    {%- for column in columns if "collate" in column.dtype | lower -%}
        {%- do collated.append(column.name) -%}
    {%- endfor -%}
    {{ return(collated) }}
{%- endmacro %}

{% macro spark___by_bytes(name) -%}{{ return(name ~ " collate UTF8_BINARY") }}{%- endmacro %}

{# `timestamp` is a point in time that is shown in the zone of the session. #}
{% macro spark___zoned_types() -%}{{ return("timestamp(_ltz)?$") }}{%- endmacro %}

{% macro spark___without_zone(name) -%}
    {{ return("cast(" ~ name ~ " as timestamp_ntz), under spark.sql.session.timeZone") }}
{%- endmacro %}

{% macro spark___days_between(lower, upper) -%}
    {{ return(dbt_anonymize.spark___seconds_between(lower, upper, ["timestamp_ntz"]) ~ " / 86400") }}
{%- endmacro %}


{#
  Write, check, publish, as everywhere, without transactions: the rows are written and checked in the schema of the
  target, copied into a new folder of the release, and a view, which is replaced in one step, changes over to it. The
  earlier folder is removed: two releases beside each other would tell more than one. The register comes before the
  view: it may have a release that was stopped there, and never lacks one.
#}
{% materialization dbt_anonymize_release, adapter="spark" %}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- do dbt_anonymize._refuse_on_spark(declaration) -%}
    {%- set target_relation = this.incorporate(type="view") -%}
    {%- set existing_relation = load_cached_relation(this) -%}
    {%- if dbt_anonymize._is_trial() and existing_relation is not none -%}
        {#- A build of no rows or a sample tries the SQL; it must not take away what is released. -#}
        {% call statement("main") -%}
            select 1 as nothing from ({{ sql }}) as candidate
        {%- endcall %}
        {{ return({"relations": [existing_relation]}) }}
    {%- endif -%}
    {%- set candidate = this.incorporate(
        path={"schema": target.schema, "identifier": this.identifier ~ "__candidate"}, type="table"
    ) -%}
    {%- set folder = this.incorporate(
        path={"identifier": this.identifier ~ "__" ~ run_started_at.strftime("%Y%m%d%H%M%S%f")}, type="table"
    ) -%}
    {%- set counts = dbt_anonymize._counts_of(candidate) -%}
    {%- set checked = counts if declaration.is_counted else candidate -%}
    {%- set names = [] -%}
    {%- for column in declaration.columns -%}{%- do names.append(dbt_anonymize._quote(column)) -%}{%- endfor -%}
    {{ run_hooks(pre_hooks) }}

    {%- do dbt_anonymize._drop_tables([candidate, counts]) -%}
    {% call statement("main") -%}
        {{ create_table_as(False, checked, sql) }}
    {%- endcall %}
    {%- if not dbt_anonymize._is_trial() -%}{%- do dbt_anonymize._check_release(candidate) -%}{%- endif -%}
    {% call statement("copy") -%}
        create table {{ folder }} using parquet as
        {{ dbt_anonymize._ordered_copy(checked, names, declaration.is_counted) }}
    {%- endcall %}
    {%- do dbt_anonymize._check_copy(checked, folder, names, declaration.is_counted) -%}
    {%- if not dbt_anonymize._is_trial() -%}{%- do dbt_anonymize._register_release(declaration, folder) -%}{%- endif -%}
    {%- if existing_relation is not none and not existing_relation.is_view -%}
        {%- do adapter.drop_relation(existing_relation) -%}
    {%- endif -%}
    {% call statement("publish") -%}
        create or replace view {{ target_relation }} ({{ dbt_anonymize._described_columns(declaration) }})
        as select {{ names | join(", ") }} from {{ folder }}
    {%- endcall %}
    {%- if not dbt_anonymize._is_trial() -%}{%- do dbt_anonymize._write_about(candidate, declaration) -%}{%- endif -%}
    {%- do dbt_anonymize._drop_earlier_folders(folder) -%}
    {%- do dbt_anonymize._drop_tables([checked]) -%}
    {%- if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._say_what_is_next(declaration.anonymization) -%}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}

    {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}


{# Columns of the view, with comments where the release says what it is. #}
{% macro _described_columns(declaration) -%}
    {%- set comments = dbt_anonymize._comments_on_columns(declaration) if declaration.about else {} -%}
    {%- set columns = [] -%}
    {%- for name in declaration.columns -%}
        {%- do columns.append(
            dbt_anonymize._quote(name)
            ~ (" comment " ~ dbt_anonymize._literal(comments[name]) if name in comments else "")
        ) -%}
    {%- endfor -%}
    {{ return(columns | join(", ")) }}
{%- endmacro %}


{# What a release on Spark cannot keep, said before anything is written. #}
{% macro _refuse_on_spark(declaration) -%}
    {%- set errors = [] -%}
    {%- if config.get("grants") -%}
        {%- do errors.append(
            "+grants must be empty: Spark has none. Let the file system say who reads the folder of the release."
        ) -%}
    {%- endif -%}
    {%- if declaration.budget -%}
        {%- do errors.append("differential_privacy must not be declared: its budget needs transactions.") -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
    {%- do dbt_anonymize._publication(this, declaration) -%}
    {%- do dbt_anonymize._recomputation(this, declaration) -%}
{%- endmacro %}


{% macro spark___is_counted_here() -%}{{ return(true) }}{%- endmacro %}

{# The copy is. #}
{% macro spark___is_ordered_here() -%}{{ return(false) }}{%- endmacro %}

{# What is grouped by becomes 0.0 where it is -0.0. A text does not change, and with it rows would have to be sorted. #}
{% macro spark___counted_values(columns, typed) -%}
    {%- set texts, values = [], [] -%}
    {%- if typed -%}
        {%- for column in adapter.get_columns_in_relation(typed) if column.dtype == "string" -%}
            {%- do texts.append(dbt_anonymize._quote(column.name)) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for column in columns -%}
        {%- do values.append(column if column in texts + ["cqi"] else "any_value(" ~ column ~ ") as " ~ column) -%}
    {%- endfor -%}
    {{ return(values) }}
{%- endmacro %}


{# Select of the rows to be published, ordered by what is released, so that their order carries nothing else. Counts are
   put in order before they are repeated, in parts, so that no list is long, and about a million rows by a task. #}
{% macro _ordered_copy(checked, names, is_counted) -%}
{%- set listed = names | join(", ") -%}
{%- if is_counted -%}
{%- set tasks = (run_query("select coalesce(sum(records), 0) from " ~ checked).rows[0][0] | int) // 1000000 + 1 -%}
select {{ listed }}
from (
    select {{ listed }}, explode(array_repeat(true, records)) as records
    from (
        select *
        from (
            select /*+ repartition_by_range({{ tasks }}, {{ listed }}) */
                {{ listed }},
                explode(concat(
                    array_repeat(32768, cast(records div 32768 as int)), array(cast(records % 32768 as int))
                )) as records
            from {{ checked }}
        ) as parts
        sort by {{ listed }}
    ) as ordered
) as repeated
{%- else -%}
select {{ listed }}
from {{ checked }}
order by {{ listed }}
{%- endif -%}
{%- endmacro %}


{# What is published are the very rows that were checked. #}
{% macro _check_copy(checked, folder, names, is_counted) -%}
    {%- set before = dbt_anonymize._digest_of_copy(checked, names, "records" if is_counted else "1") -%}
    {%- set copied = dbt_anonymize._digest_of_copy(folder, names, "1") -%}
    {%- if run_query(before).rows[0][0] != run_query(copied).rows[0][0] -%}
        {%- do dbt_anonymize._drop_tables([folder]) -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": the rows to be published must be those that were checked; they differ."
            ~ " Nothing is published; somebody else writes there."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# Query of a text that differs where rows do, whatever their order: their number, and two sums of 64-bit hashes. A hash
   passes over NULL, and takes -0.0 for 0.0, so that each value is also hashed as a text, and whether it is there. #}
{% macro _digest_of_copy(relation, names, records) -%}
    {%- set hashed, sums = [], ["sum(" ~ records ~ ")"] -%}
    {%- for name in names -%}
        {%- set shown = dbt_anonymize._as_bytes(dbt_anonymize._as_text(name)) -%}
        {%- do hashed.extend([name ~ " is null", name, shown]) -%}
    {%- endfor -%}
    {%- for first in [1, 2] -%}
        {%- set hash = "xxhash64(" ~ first ~ ", " ~ hashed | join(", ") ~ ")" -%}
        {%- do sums.append("sum(cast(" ~ hash ~ " as decimal(38, 0)) * " ~ records ~ ")") -%}
    {%- endfor -%}
    {{ return("select concat_ws(' ', " ~ sums | join(", ") ~ ") from " ~ relation) }}
{%- endmacro %}


{% macro _drop_tables(relations) -%}
    {%- for relation in relations -%}
        {% call statement("dropped") -%}
            drop table if exists {{ relation }}
        {%- endcall %}
    {%- endfor -%}
{%- endmacro %}


{# Also those that a build left behind which stopped before it had published. #}
{% macro _drop_earlier_folders(folder) -%}
    {%- set prefix = this.identifier ~ "__" -%}
    {%- for row in run_query("show tables in " ~ folder.without_identifier() ~ " like '" ~ prefix ~ "*'").rows -%}
        {%- set name = row["tableName"] -%}
        {%- if name != folder.identifier and modules.re.fullmatch("[0-9]{20}", name[prefix | length:]) -%}
            {% call statement("earlier_folder") -%}
                drop table if exists {{ folder.incorporate(path={"identifier": name}) }}
            {%- endcall %}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{# Re-linking, which reads earlier releases, needs transactions. #}
{% macro spark___remember_release(declaration) -%}{%- endmacro %}


{# Without grants nobody can be let in. #}
{% macro spark___custodian_grants() -%}
    {%- if var("dbt_anonymize_custodians", []) -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize_custodians must be empty: Spark has no grants. Let the file system say who reads the folder"
            ~ " of dbt_anonymize_vault_location."
        ) }}
    {%- endif -%}
    {{ return({}) }}
{%- endmacro %}


{# The vault is a database in a folder of its own, which the file system can close. #}
{% macro spark__create_schema(relation) -%}
    {%- set folder = var("dbt_anonymize_vault_location", "") -%}
    {%- set is_vault = relation.schema in dbt_anonymize._vault_schemas() -%}
    {%- if is_vault -%}{%- do dbt_anonymize._check_vault_location(relation.schema) -%}{%- endif -%}
    {%- call statement("create_schema") -%}
        create schema if not exists {{ relation }}
        {%- if is_vault %} location {{ dbt_anonymize._literal(folder ~ "/" ~ relation.schema) }}{% endif %}
    {%- endcall -%}
{%- endmacro %}


{% macro _vault_schemas() -%}
    {%- set of_vault = ["dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- set nodes = graph.nodes.values() | selectattr("config.materialized", "in", of_vault) -%}
    {{ return(nodes | map(attribute="schema") | unique | list) }}
{%- endmacro %}


{% macro _check_vault_location(schema) -%}
    {%- set folder = dbt_anonymize._path_of(var("dbt_anonymize_vault_location", "")) -%}
    {%- set warehouse = dbt_anonymize._path_of(run_query("set spark.sql.warehouse.dir").rows[0][1]) -%}
    {%- set errors = [] -%}
    {%- if not folder or (folder ~ "/").startswith(warehouse ~ "/") -%}
        {%- do errors.append(
            "the vault must be a folder of its own, outside of that of the warehouse, since Spark has no grants; got "
            ~ (var("dbt_anonymize_vault_location", "") or "none")
            ~ ". Set the variable dbt_anonymize_vault_location to a folder that only custodians can read."
        ) -%}
    {%- elif schema in dbt_anonymize._schemas_of_others() -%}
        {%- do errors.append(
            "the vault must be a schema of its own; got " ~ schema ~ ", which is also that of the target or of a"
            ~ " release. Choose another with the variable dbt_anonymize_vault_schema."
        ) -%}
    {%- endif -%}
    {%- if errors -%}{{ exceptions.raise_compiler_error("dbt_anonymize: " ~ errors[0]) }}{%- endif -%}
{%- endmacro %}


{# A path without scheme and without the slash at its end. #}
{% macro _path_of(location) -%}
    {{ return(modules.re.sub("/+$", "", modules.re.sub("^[a-z0-9]+:/*", "/", location))) }}
{%- endmacro %}


{# Before a seed brings identifiers: the database may have been made elsewhere, or by a macro of the project. #}
{% macro spark___closed_vault_schemas() -%}
    {%- for schema in dbt_anonymize._vault_schemas() -%}
        {%- do dbt_anonymize._check_vault_location(schema) -%}
        {%- set known = run_query("show schemas like " ~ dbt_anonymize._literal(schema)).rows -%}
        {%- for row in (run_query("describe schema " ~ schema).rows if known else []) if row[0] == "Location" -%}
            {%- set folder = var("dbt_anonymize_vault_location") ~ "/" ~ schema -%}
            {%- if dbt_anonymize._path_of(row[1]) != dbt_anonymize._path_of(folder) -%}
                {{ exceptions.raise_compiler_error(
                    "dbt_anonymize: the database of the vault, " ~ schema ~ ", must lie in " ~ folder ~ "; it lies in "
                    ~ row[1] ~ ". Drop it if it is empty; search_order of the dispatch of dbt must name dbt_anonymize."
                ) }}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return("") }}
{%- endmacro %}


{% macro spark___check_vault_place(anonymization) -%}
    {%- do exceptions.warn(
        "WARNING: anonymization " ~ anonymization ~ ": only custodians may read the vault; Spark has no grants, and"
        ~ " cannot see to it. Close " ~ var("dbt_anonymize_vault_location") ~ " to others in the file system."
    ) -%}
{%- endmacro %}


{# In the order of the values: the macro of dbt-spark has none. #}
{% macro spark___listed_features(level) -%}
    {%- set feature = "name || ' at level ' || " ~ level -%}
    {{ return(
        "array_join(transform(array_sort(collect_list(struct(name, value, " ~ feature
        ~ " as feature))), found -> found.feature), ', ')"
    ) }}
{%- endmacro %}


{# There are no temporary tables, only views, which would be computed again in every round. #}
{% macro spark___scratch(name) -%}
    {{ return(dbt_anonymize._quote(target.schema) ~ "." ~ dbt_anonymize._quote(model.name ~ "__" ~ name)) }}
{%- endmacro %}

{% macro spark___create_scratch(table) -%}{{ return("create table " ~ table ~ " using parquet") }}{%- endmacro %}

{# One at a time; what a build left behind that stopped in between is dropped. #}
{% macro spark___run_statements(statements) -%}
    {%- set results = [] -%}
    {%- for statement in statements -%}
        {%- set created = modules.re.match("create table (`.*`) using parquet as\n", statement) -%}
        {%- if created -%}{%- do run_query("drop table if exists " ~ created.group(1)) -%}{%- endif -%}
        {%- do results.append(run_query(statement)) -%}
    {%- endfor -%}
    {{ return(results | last) }}
{%- endmacro %}


{#
  A CTE is computed again for each mention, and its plan is written out again in that of each CTE after it; of a hundred
  nested selects there is no plan at all. So each statement has only the CTEs that it needs.
#}
{% macro spark___in_steps(names, sql) -%}
    {{ return(dbt_anonymize._kept_steps(names, sql) if dbt_anonymize._is_building() and names else sql) }}
{%- endmacro %}

{% macro spark___after_steps() -%}{{ return(["{{ dbt_anonymize._forget_steps() }}"]) }}{%- endmacro %}

{# They hold people. #}
{% macro _forget_steps() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set names = model.name ~ "__dbt_anonymize_*" -%}
    {%- set schema = dbt_anonymize._quote(target.schema) -%}
    {%- for row in run_query("show tables in " ~ schema ~ " like '" ~ names ~ "'").rows -%}
        {%- do run_query("drop table " ~ this.incorporate(
            path={"schema": target.schema, "identifier": row["tableName"]}
        )) -%}
    {%- endfor -%}
{%- endmacro %}


{# Its floor() is a bigint, the largest one where the number is larger. Beyond 2^53 every double is whole. #}
{% macro spark___mask_floor(number) -%}
    {{ return("(case when abs(" ~ number ~ ") < 9e15 then floor(" ~ number ~ ") else " ~ number ~ " end)") }}
{%- endmacro %}


{# date_trunc() takes a point in time without zone for one of the zone of the session, where it may not exist. #}
{% macro spark___mask_truncated(date, unit) -%}
    {%- set day = "cast(" ~ date ~ " as date)" -%}
    {%- if unit == "hour" -%}
        {%- set hour = "hour(cast(" ~ date ~ " as timestamp_ntz))" -%}
        {{ return("cast(" ~ day ~ " as timestamp_ntz) + make_dt_interval(0, " ~ hour ~ ")") }}
    {%- endif -%}
    {{ return(day if unit == "day" else "trunc(" ~ day ~ ", '" ~ unit ~ "')") }}
{%- endmacro %}

{% macro spark___mask_dates() -%}{{ return("date|timestamp_ntz") }}{%- endmacro %}


{# Without bases every tuple is joined with each subset. #}
{% macro spark___are_subsets_planned(frequencies, counted_whole) -%}{{ return(true) }}{%- endmacro %}


{# The 255 subsets of eight quasi-identifiers as rows: as many branches of a union are planned for minutes. #}
{% macro spark___listed_subsets(subsets, quasi_identifiers, ones_in, bases) -%}
{%- set rows, number = [], quasi_identifiers | length -%}
{%- for subset in subsets -%}
    {%- set names = [] -%}
    {%- for position in subset -%}{%- do names.append(quasi_identifiers[position]) -%}{%- endfor -%}
    {%- set base = bases.of_subset[loop.index0] if bases else none -%}
    {%- do rows.append([
        loop.index,
        dbt_anonymize._literal(names | join(", ")),
        subset | length,
        "cast(" ~ ones_in[loop.index0] ~ " as " ~ dbt.type_bigint() ~ ")",
        -1 if base is none else base,
    ] + dbt_anonymize._marked_columns(subset, number)) -%}
{%- endfor %}

subsets as (

    {{ dbt_anonymize._marked_rows(
        rows, ["subset_number", "quasi_identifiers", "size", "one_in", "base"], number
    ) }}

),
{%- endmacro %}

{# Whether a subset has each of the columns. #}
{% macro _marked_columns(subset, number) -%}
    {%- set cells = [] -%}
    {%- for position in range(number) -%}
        {%- do cells.append("true" if position in subset else "false") -%}
    {%- endfor -%}
    {{ return(cells) }}
{%- endmacro %}

{# Select of rows that end in what _marked_columns returns. #}
{% macro _marked_rows(rows, columns, number) -%}
    {%- set lines, marks = [], [] -%}
    {%- for row in rows -%}{%- do lines.append("(" ~ row | join(", ") ~ ")") -%}{%- endfor -%}
    {%- for position in range(number) -%}{%- do marks.append("has_" ~ (position + 1)) -%}{%- endfor -%}
    select listed.*
    from values
        {{ lines | join(",\n        ") }}
    as listed ({{ (columns + marks) | join(", ") }})
{%- endmacro %}


{#
  `based` has the tuples themselves, as number -1, and the classes of every base; each subset is grouped from its own.
  In one query, whose plan does not grow with the subsets.
#}
{% macro spark___classes_of_subsets(subsets, tuples, ones_in, bases=none) -%}
{%- set number = subsets | map("length") | select("equalto", 1) | list | length -%}
{%- set hashed, of_subset, of_base, codes, rows = [], [], [], [], [] -%}
{%- for position in range(number) -%}
    {%- set place = position + 1 -%}
    {%- do codes.append("code_" ~ place) -%}
    {%- do of_base.append("if(bases.has_" ~ place ~ ", code_" ~ place ~ ", 0)") -%}
    {%- do of_subset.append("if(subsets.has_" ~ place ~ ", code_" ~ place ~ ", 0)") -%}
    {%- do hashed.append(of_subset[-1] ~ " * " ~ dbt_anonymize._hash_factor(position)) -%}
{%- endfor -%}
{%- for base in bases.columns if bases -%}
    {%- do rows.append([loop.index0] + dbt_anonymize._marked_columns(base, number)) -%}
{%- endfor %}

based as (

    select
        -1 as base,
        {{ codes | join(",\n        ") }},
        records
    from {{ tuples }}
    {%- if rows %}
    union all
    select
        bases.base,
        {%- for code in of_base %}
        {{ code }} as {{ codes[loop.index0] }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as records
    from {{ tuples }}
    cross join (
    {{ dbt_anonymize._marked_rows(rows, ["base"], number) }}
    ) as bases
    group by
        bases.base,
        {{ of_base | join(",\n        ") }}
    {%- endif %}

),

classes as (

    select
        subsets.subset_number,
        sum(records) as class_size
    from based
    inner join subsets on based.base = subsets.base
    where mod(mod({{ hashed | join(" + ") }}, 2147483647), subsets.one_in) = 0
    group by
        subsets.subset_number,
        {{ of_subset | join(",\n        ") }}

),
{%- endmacro %}
