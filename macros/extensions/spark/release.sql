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


{% macro spark___check_engine() -%}{%- do dbt_anonymize._refuse_python_models() -%}{%- endmacro %}


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


{# It is replaced in one step, as the view of the rows is. #}
{% macro spark___publish_about(about, facts) -%}
    {% call statement("about") -%}
        create or replace view {{ about.incorporate(type="view") }} as
        {{- facts }}
    {%- endcall %}
{%- endmacro %}


{# Re-linking, which reads earlier releases, needs transactions. #}
{% macro spark___remember_release(declaration) -%}{%- endmacro %}
