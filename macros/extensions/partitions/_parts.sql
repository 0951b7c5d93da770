{#
  Tables in parts: each row has the digest of what its partition was made of, which is the state of the partition in the
  source and the SQL of the model. So the rows themselves say which partitions are as they should be.
#}

{# What makes a relation a table in parts, for the body macro of it: `relation_name` knows them. See `_more`. #}
{% macro _in_parts(relation_name, more) -%}
    {{ return(dbt_anonymize._filled_in(more, {
        "materialized": "dbt_anonymize_partitions",
        "meta": {"parts_of": relation_name},
        "checks": ["{{ dbt_anonymize._check_parts() }}"],
    })) }}
{%- endmacro %}


{# SQL of the digest of a part, made of that of what it is made of. #}
{% macro _digest_of_part(digest) -%}
    {#- While dbt parses, the definition is being made of this SQL. -#}
    {%- set definition = model.config.meta.dbt_anonymize.definition if execute else "" -%}
    {{ return("md5(" ~ digest ~ " || " ~ dbt_anonymize._literal(" " ~ definition) ~ ")") }}
{%- endmacro %}


{# CTE with the digest of each partition of the source. #}
{% macro _digests_of_partitions(partitions) -%}
partitions as (

    select
        partition_value,
        {{ dbt_anonymize._digest_of_part("fingerprint") }} as partition_digest
    from {{ partitions }}

),
{%- endmacro %}


{# The digest of a record; NULL of one whose partition nobody has counted. #}
{% macro _digest_of_partition(value) -%}
    {{ return(
        "case\n        when " ~ value ~ " is not null then partitions.partition_digest\n"
        ~ "        else (\n            select missing.partition_digest\n            from partitions as missing\n"
        ~ "            where missing.partition_value is null\n        )\n"
        ~ "    end as partition_digest"
    ) }}
{%- endmacro %}


{#
  The parts of this model: `wanted`, each with its `digest`, `records` and, of the source, `value`; `kept`, the digests
  of those that are there as they should be, with all records; and `present`, how many different ones are there.
#}
{% macro _parts_of_model(takes_all=false) -%}
    {%- set parts_of = model.config.meta.dbt_anonymize.parts_of -%}
    {%- set is_of_source = parts_of.endswith("_partitions") -%}
    {%- set rows = run_query(
        "select " ~ dbt_anonymize._digest_of_part("fingerprint") ~ ", records, "
        ~ dbt_anonymize._as_text("partition_value") ~ ", run_id from " ~ ref(parts_of)
        if is_of_source else
        "select " ~ dbt_anonymize._digest_of_part("partition_digest") ~ ", count(*), partition_digest, null from "
        ~ ref(parts_of) ~ " group by partition_digest"
    ).rows -%}
    {%- set named = [] if takes_all or not is_of_source else dbt_anonymize._named_partitions(rows) -%}
    {%- set there = {} -%}
    {%- set existing = load_relation(this) -%}
    {%- if existing is not none and existing.type == "table" and (takes_all or not should_full_refresh()) -%}
        {%- if "partition_digest" in adapter.get_columns_in_relation(existing) | map(attribute="name") -%}
            {%- set records = "count(*)" if is_of_source else "sum(records)" -%}
            {%- for row in run_query(
                "select partition_digest, " ~ records ~ " from " ~ this ~ " group by partition_digest"
            ).rows -%}
                {%- do there.update({row[0]: row[1]}) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endif -%}
    {%- set wanted, kept = [], [] -%}
    {%- for row in rows -%}
        {%- do wanted.append({"digest": row[0], "records": row[1], "value": row[2], "run_id": row[3]}) -%}
        {%- if there.get(row[0]) == row[1] and row[2] not in named -%}{%- do kept.append(row[0]) -%}{%- endif -%}
    {%- endfor -%}
    {{ return({"wanted": wanted, "kept": kept, "present": there | length, "is_of_source": is_of_source}) }}
{%- endmacro %}


{# The partitions that a run names so that they are built again, whatever is known of them. #}
{% macro _named_partitions(rows) -%}
    {%- set variable = "dbt_anonymize_partitions" -%}
    {%- set given, known, named = var(variable, []), [], [] -%}
    {%- for row in rows -%}{%- do known.append(row[2]) -%}{%- endfor -%}
    {%- if given is string or given is mapping or given is not iterable -%}
        {{ exceptions.raise_compiler_error(
            "the variable " ~ variable ~ " must be a list of values of the partition column; got "
            ~ dbt_anonymize._shown(given) ~ ". Write " ~ variable ~ ": ['" ~ dbt_anonymize._shown(given) ~ "']."
        ) }}
    {%- endif -%}
    {%- for value in given -%}
        {%- do named.append(none if value is none else value | string) -%}
    {%- endfor -%}
    {%- set unknown = named | reject("in", known) | list -%}
    {%- if unknown -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": the variable " ~ variable ~ " must name partitions of the source; it has no "
            ~ dbt_anonymize._shown(unknown | join(", ")) ~ ". Correct it: they are in " ~ this.identifier
            | replace("_microdata_parts", "_partitions") ~ "."
        ) }}
    {%- endif -%}
    {{ return(named) }}
{%- endmacro %}


{# Condition on the source by which it is read; none for all of it. #}
{% macro _due_partitions(source, partition_by) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return(none) }}{%- endif -%}
    {%- set column = adapter.get_columns_in_relation(source) | selectattr("name", "equalto", partition_by) | first -%}
    {#- One that is missing stops the microdata, with all other errors. -#}
    {%- if not column -%}{{ return(none) }}{%- endif -%}
    {%- set parts = dbt_anonymize._parts_of_model() -%}
    {%- set name = model.config.meta.dbt_anonymize.anonymization -%}
    {%- if parts.wanted | rejectattr("run_id", "equalto", invocation_id) | list -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "the partitions of the source must be looked at in the same run; they are of another one. Run"
            ~ " `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {%- set due = parts.wanted | rejectattr("digest", "in", parts.kept) | list -%}
    {%- do log(
        name ~ ": " ~ due | length ~ " of " ~ parts.wanted | length ~ " partitions "
        ~ ("is" if due | length == 1 else "are") ~ " built", info=true
    ) -%}
    {%- if not parts.kept -%}{{ return(none) }}{%- endif -%}
    {%- set quoted, values, conditions = dbt_anonymize._quote(column.name), [], [] -%}
    {%- for part in due -%}
        {%- if part.value is none -%}
            {%- do conditions.append(quoted ~ " is null") -%}
        {%- else -%}
            {%- do values.append("cast(" ~ dbt_anonymize._literal(part.value) ~ " as " ~ column.data_type ~ ")") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if values -%}{%- do conditions.append(quoted ~ " in (" ~ values | join(", ") ~ ")") -%}{%- endif -%}
    {{ return(conditions | join(" or ") or "1 = 0") }}
{%- endmacro %}


{# The same of rows that have a digest already. #}
{% macro _due_digests() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return(none) }}{%- endif -%}
    {%- set parts = dbt_anonymize._parts_of_model() -%}
    {%- set values = [] -%}
    {%- for part in parts.wanted if part.digest not in parts.kept -%}
        {%- do values.append(dbt_anonymize._literal(part.value)) -%}
    {%- endfor -%}
    {{ return("partition_digest in (" ~ values | join(", ") ~ ")" if values else "1 = 0") }}
{%- endmacro %}


{# After the build, in its transaction: each part is there, with the records that were counted before. #}
{% macro _check_parts() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set parts = dbt_anonymize._parts_of_model(takes_all=true) -%}
    {%- set wrong = parts.wanted | length - parts.kept | length -%}
    {%- if wrong > 0 or parts.present != parts.wanted | length -%}
        {%- do dbt_anonymize._raise_errors(model.name, [
            "every partition must have the records that were counted before; " ~ [wrong, 1] | max ~ " of "
            ~ parts.wanted | length ~ " have not. The source changed while it was read, or another build ran. Build"
            ~ " again."
        ]) -%}
    {%- endif -%}
{%- endmacro %}
