{#
  `dbt_anonymize_owner` in each schema of a vault: the project and target that it belongs to, in a row without
  anonymization, and from which source each anonymization in it is. Another target would take identifiers away, mix
  members and releases, and give tokens of somebody to somebody else; so each command that writes looks here first.
#}
{% macro _claim_vaults() -%}
    {%- if flags.WHICH in ["test", "compile", "docs"] -%}{{ return("") }}{%- endif -%}
    {%- set places = dbt_anonymize._written_vaults() -%}
    {%- set errors = [] -%}
    {%- for place in places -%}
        {%- set misplaced = dbt_anonymize._vault_place_error(place) -%}
        {%- do errors.extend([misplaced] if misplaced else dbt_anonymize._vault_owner_errors(
            place.database, place.schema, place.sources, place.registers
        )) -%}
    {%- endfor -%}
    {%- if errors -%}{{ exceptions.raise_compiler_error("dbt_anonymize: " ~ errors | join("\n  - ")) }}{%- endif -%}
    {%- for place in places if not dbt_anonymize._is_trial() -%}
        {%- do dbt_anonymize._remember_vault_owner(place.database, place.schema, place.sources) -%}
    {%- endfor -%}
{%- endmacro %}


{#
  The schemas of vaults into which this command writes, a release too, as it is remembered there: each with the sources
  of the anonymizations that it writes, and the registers of all that it may hold.
#}
{% macro _written_vaults() -%}
    {%- set of_vault = ["dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- set kept, selected, sources, registers, vaults = {}, {}, {}, {}, {} -%}
    {%- for name in selected_resources -%}{%- do selected.update({name: true}) -%}{%- endfor -%}
    {%- for node in graph.nodes.values() if node.resource_type == "model" -%}
        {%- set declared = node.config.get("meta", {}).get("dbt_anonymize") or {} -%}
        {%- if node.config.materialized in of_vault -%}
            {%- do kept.setdefault(declared.anonymization, []).append(node) -%}
        {%- endif -%}
        {%- if declared.get("spec") -%}
            {%- do sources.update({declared.anonymization: declared.spec.source}) -%}
        {%- endif -%}
        {%- if node.config.materialized == "dbt_anonymize_release" -%}
            {%- do registers.update({declared.anonymization: none}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in registers -%}
        {%- do registers.update({name: dbt_anonymize._own_register(name)}) -%}
    {%- endfor -%}
    {%- for node in graph.nodes.values() if node.unique_id in selected
        and node.resource_type in ["model", "seed", "snapshot"] -%}
        {%- set name = (node.config.get("meta", {}).get("dbt_anonymize") or {}).get("anonymization") -%}
        {%- if node.config.materialized in of_vault -%}
            {%- set written = [node] -%}
        {%- elif dbt_anonymize._is_release(node) -%}
            {%- set written = kept.get(name, []) -%}
        {%- elif dbt_anonymize._lies_in_vault(node, kept) -%}
            {%- set written, name = [node], none -%}
        {%- else -%}
            {%- set written = [] -%}
        {%- endif -%}
        {%- for one in written -%}
            {%- set place = vaults.setdefault((one.database, one.schema), {
                "database": one.database, "schema": one.schema, "sources": {}, "registers": registers
            }) -%}
            {%- if name and name in sources -%}{%- do place.sources.update({name: sources[name]}) -%}{%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(vaults.values() | list) }}
{%- endmacro %}


{# Whether a seed or model of the project lies in a vault: where generated models do, or in the vault's file. #}
{% macro _lies_in_vault(node, kept) -%}
    {{ return(adapter.dispatch("_lies_in_vault", "dbt_anonymize")(node, kept)) }}
{%- endmacro %}

{% macro default___lies_in_vault(node, kept) -%}
    {%- for nodes in kept.values() -%}
        {%- for one in nodes if (one.database, one.schema) == (node.database, node.schema) -%}
            {{ return(true) }}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}

{% macro duckdb___lies_in_vault(node, kept) -%}
    {%- set vault = var("dbt_anonymize_vault_database", "vault") | lower -%}
    {{ return((node.database or "") | lower == vault and vault != target.database | lower) }}
{%- endmacro %}


{# A release writes beside what it reads of the vault: with `--defer` that could be the vault of another target. #}
{% macro _require_own_vault(anonymization, relation, kind) -%}
    {%- for node in graph.nodes.values()
        if relation and node.resource_type == "model" and node.name == anonymization ~ "_" ~ kind -%}
        {%- if (node.database or "", node.schema) != (relation.database or "", relation.schema) -%}
            {%- do dbt_anonymize._raise_errors(anonymization, [
                "a release is remembered in the vault of its own target; `--defer` leads to " ~ relation
                ~ " of another one, beside which it would write. Build " ~ node.name ~ " for this target too."
            ]) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{% macro _vault_owner_relation(database, schema) -%}
    {{ return(api.Relation.create(
        database=database, schema=schema, identifier="dbt_anonymize_owner", type="table"
    )) }}
{%- endmacro %}


{#
  Why this project and target may not write into a schema of a vault; an empty list if they may.
    sources    of the anonymizations that are written, by name: as the spec names them
    registers  relations where this target would have the registers of anonymizations, by name
#}
{% macro _vault_owner_errors(database, schema, sources, registers) -%}
    {%- set relation = dbt_anonymize._vault_owner_relation(database, schema) -%}
    {%- set place = relation.without_identifier() -%}
    {%- set here = "project " ~ project_name ~ ", target " ~ target.name -%}
    {%- set adopt = "`dbt-anonymize vault adopt --target " ~ target.name ~ "`" -%}
    {%- if load_relation(relation) is none -%}
        {%- set unclear = dbt_anonymize._vaults_of_others(place, registers) -%}
        {{ return([
            "a schema of a vault must belong to one project and target; " ~ place ~ " does not say to which, and "
            ~ unclear | join(", ") ~ " in it cannot be told to be of this one (" ~ here ~ "): the last release that it"
            ~ " remembers is in no register of this target. Nothing was written. If another target builds there too,"
            ~ " give this one a vault of its own in the profile; if the vault is of this target, take it over with "
            ~ adopt ~ "."
        ] if unclear else []) }}
    {%- endif -%}
    {{ return(dbt_anonymize._other_vault_owner(relation, sources)) }}
{%- endmacro %}


{# The same of a vault that remembers its owner. #}
{% macro _other_vault_owner(relation, sources) -%}
    {%- set place = relation.without_identifier() -%}
    {%- set here = "project " ~ project_name ~ ", target " ~ target.name -%}
    {%- set adopt = "`dbt-anonymize vault adopt --target " ~ target.name ~ "`" -%}
    {%- set errors = [] -%}
    {%- for row in run_query("select project, target, anonymization, source from " ~ relation).rows -%}
        {%- if row[2] is none and (row[0], row[1]) != (project_name, target.name) -%}
            {%- do errors.append(
                "a schema of a vault belongs to one project and target; " ~ place ~ " is of project " ~ row[0]
                ~ ", target " ~ row[1] ~ ", and this is " ~ here ~ ". Nothing was written. Give this target a vault of"
                ~ " its own in the profile; or, if the former one builds there no more, take it over with " ~ adopt
                ~ "."
            ) -%}
        {%- elif row[2] in sources and row[3] != sources[row[2]] -%}
            {%- do errors.append(
                "an anonymization in a vault is of one source; what " ~ place ~ " remembers of " ~ row[2] ~ " is of "
                ~ row[3] ~ ", and its spec names " ~ sources[row[2]] ~ " now, where the same key may be somebody else."
                ~ " Nothing was written. Name the former source again, give the anonymization another name, or, if"
                ~ " these are the same people, take it over with " ~ adopt ~ "."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}


{#
  Anonymizations of which a schema holds people and that cannot be told to be of this target. A vault without memory
  belongs to the target whose register has the last release that it remembers.
#}
{% macro _vaults_of_others(place, registers) -%}
    {%- set known, unclear, own = {}, [], [] -%}
    {%- for table in dbt_anonymize._tables_of_schema(place) -%}
        {%- do known.update({table: api.Relation.create(
            database=place.database, schema=place.schema, identifier=table
        )}) -%}
    {%- endfor -%}
    {%- set names = registers.keys() | list -%}
    {%- for table in known if table.endswith("_identifiers") and table[:-12] ~ "_releases" in known -%}
        {%- if table[:-12] not in names -%}{%- do names.append(table[:-12]) -%}{%- endif -%}
    {%- endfor -%}
    {%- for name in names -%}
        {%- set held = [] -%}
        {%- for kind in ["identifiers", "tokens", "sample", "members", "releases"] -%}
            {%- set relation = known.get(name ~ "_" ~ kind) -%}
            {%- if relation and run_query("select 1 from " ~ relation ~ " limit 1").rows | length > 0 -%}
                {%- do held.append(relation) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set register = registers.get(name) or api.Relation.create(
            database=target.database, schema=target.schema, identifier=name ~ "_register"
        ) -%}
        {%- set register = load_relation(register) if held else none -%}
        {%- set releases = known.get(name ~ "_releases") -%}
        {%- set is_own = register and releases and run_query(
            "select count(*) from " ~ register ~ " where released_at = (select max(released_at) from " ~ releases ~ ")"
        ).rows[0][0] > 0 -%}
        {%- if is_own -%}{%- do own.append(name) -%}{%- elif held -%}{%- do unclear.append(name) -%}{%- endif -%}
    {%- endfor -%}
    {%- set is_released = namespace(elsewhere=false) -%}
    {%- for name in unclear if name ~ "_releases" in known -%}{%- set is_released.elsewhere = true -%}{%- endfor -%}
    {#- What was never released is of whoever has the others beside it. -#}
    {{ return([] if own and not is_released.elsewhere else unclear) }}
{%- endmacro %}


{# The names of the tables of a schema, also of what no model makes. #}
{% macro _tables_of_schema(place) -%}
    {{ return(adapter.dispatch("_tables_of_schema", "dbt_anonymize")(place)) }}
{%- endmacro %}

{% macro default___tables_of_schema(place) -%}
    {{ return(run_query(
        "select table_name from information_schema.tables where table_schema = "
        ~ dbt_anonymize._literal(place.schema)
        ~ (" and lower(table_catalog) = " ~ dbt_anonymize._literal(place.database | lower) if place.database else "")
    ).columns[0].values()) }}
{%- endmacro %}


{#
  Writes what is not known yet: in one call, which is a transaction, and in one of its own, as DuckDB writes one
  database at a time. Of two that begin at once the second waits, and is refused.
#}
{% macro _remember_vault_owner(database, schema, sources) -%}
    {%- set relation = dbt_anonymize._vault_owner_relation(database, schema) -%}
    {%- set is_new = load_relation(relation) is none -%}
    {%- set known = [] if is_new else run_query("select anonymization from " ~ relation).columns[0].values() | list -%}
    {%- set rows = [dbt_anonymize._vault_owner_row(relation, none, none)] if none not in known else [] -%}
    {%- for name, source in sources.items() if name not in known -%}
        {%- do rows.append(dbt_anonymize._vault_owner_row(relation, name, source)) -%}
    {%- endfor -%}
    {%- if rows -%}
        {%- if is_new -%}{%- do adapter.create_schema(relation.without_identifier()) -%}{%- endif -%}
        {%- do dbt_anonymize._write_vault_owner(relation, rows) -%}
        {%- do adapter.commit() -%}
        {%- set errors = dbt_anonymize._other_vault_owner(relation, sources) -%}
        {%- if errors -%}{{ exceptions.raise_compiler_error("dbt_anonymize: " ~ errors[0]) }}{%- endif -%}
    {%- endif -%}
{%- endmacro %}


{% macro _write_vault_owner(relation, rows) -%}
    {%- do adapter.dispatch("_write_vault_owner", "dbt_anonymize")(relation, rows) -%}
{%- endmacro %}

{% macro default___write_vault_owner(relation, rows) -%}
    {%- call statement("remember_vault_owner") -%}
        {{ dbt_anonymize._vault_owner_table(relation) }};
        {{ dbt_anonymize._closed_to_others(relation, "select") }}
        {{ dbt_anonymize._lock_table(relation) }}
        {{ rows | join(";\n") }}
    {%- endcall -%}
{%- endmacro %}


{% macro _vault_owner_table(relation) -%}
create table if not exists {{ relation }} (
    project {{ dbt.type_string() }},
    target {{ dbt.type_string() }},
    anonymization {{ dbt.type_string() }},
    source {{ dbt.type_string() }}
)
{%- endmacro %}


{% macro _vault_owner_row(relation, anonymization, source) -%}
insert into {{ relation }} (project, target, anonymization, source)
select
    {%- for value in [project_name, target.name, anonymization, source] %}
    cast({{ "null" if value is none else dbt_anonymize._literal(value) }} as {{ dbt.type_string() }})
    {{- "," if not loop.last }}
    {%- endfor %}
where
    not exists (
        select 1
        from {{ relation }} as known
        where known.anonymization is not distinct from cast(
            {{ "null" if anonymization is none else dbt_anonymize._literal(anonymization) }} as {{ dbt.type_string() }}
        )
    )
{%- endmacro %}
