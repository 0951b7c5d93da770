{# The step that publishes the candidate outside the warehouse; none where the released table itself is the
   publication. #}
{% macro _publication(candidate, declaration) -%}
    {{ return(adapter.dispatch("_publication", "dbt_anonymize")(candidate, declaration)) }}
{%- endmacro %}

{% macro default___publication(candidate, declaration) -%}
    {%- if declaration.composition == "strict" -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "release.composition: strict compares files, which DuckDB alone publishes; got "
            ~ target.type ~ ". Write report."
        ]) -%}
    {%- endif -%}
    {%- if declaration.formats != ["duckdb"] -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "release.formats are of files, which DuckDB alone publishes; got " ~ target.type ~ ". Remove them."
        ]) -%}
    {%- endif -%}
    {%- if declaration.beside and not dbt_anonymize._publishes_beside() -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "several tables are released together by DuckDB with Python models, as one file, and by Postgres; got "
            ~ target.type ~ ". Release them from one of these."
        ]) -%}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro %}


{# Whether other tables are published with a release, in its transaction or file. #}
{% macro _publishes_beside() -%}{{ return(adapter.dispatch("_publishes_beside", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___publishes_beside() -%}{{ return(false) }}{%- endmacro %}

{#- What a command publishes may have changed since it was checked. -#}
{% macro duckdb___publishes_beside() -%}{{ return(dbt_anonymize._has_python()) }}{%- endmacro %}


{# A DuckDB file has no grants: who reads it reads all of it. So the release is a file of its own. #}
{% macro duckdb___publication(candidate, declaration) -%}
    {%- set keys = declaration.quasi_identifiers | map(attribute="name") | list -%}
    {%- set composition = {
        "quasi_identifiers": keys,
        "k": declaration.guarantees | selectattr("model", "in", ["k_anonymity", "alpha_k_anonymity"])
            | map(attribute="k") | max,
        "is_strict": declaration.composition == "strict",
        "are_drafts_named": dbt_anonymize._listed_targets("dbt_anonymize_published_targets") is not none,
        "beside": declaration.composition_beside or none,
    } -%}
    {%- set about = {
        "relation": dbt_anonymize._about_relation(declaration) | string,
        "comments": dbt_anonymize._comments_on_columns(declaration),
    } if declaration.about else none -%}
    {%- set tables = {} -%}
    {%- for name in declaration.beside -%}{%- do tables.update({name: ref(name) | string}) -%}{%- endfor -%}
    {{ return(dbt_anonymize._python_step("dbt_anonymize.release.publish", "publish", {
        "relation": candidate | string,
        "table": declaration.anonymization ~ "_anonymized",
        "folder": dbt_anonymize._project_folder(),
        "path": dbt_anonymize._release_path(declaration.anonymization),
        "composition": composition if not declaration.waits
            and dbt_anonymize._is_published(declaration.anonymization)
            and not dbt_anonymize._has_rows_of_another_tool(declaration.anonymization) else none,
        "formats": declaration.formats,
        "beside": {"about": about, "tables": tables},
    })) }}
{%- endmacro %}


{#
  `<n>_publication` beside a release that a command publishes: the steps as JSON, and a digest of the rows that were
  checked. It is written with the release, in one transaction; other rows are not published.
#}
{% macro _publication_table(release, declaration, steps) -%}
create or replace table {{ release.incorporate(path={"identifier": declaration.anonymization ~ "_publication"}) }} as
select
    {{ dbt_anonymize._literal(tojson(steps)) }} as steps,
    ({{ dbt_anonymize._digest_of_rows(release, declaration.columns) }}) as digest
{%- endmacro %}
