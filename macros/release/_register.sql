{#
  `<n>_register` beside `<n>_results`: a row per release, which nothing overwrites. It counts and holds no record. The
  row is written before the release is published, of the rows that will be (`released`, where they have not their place
  yet), and committed with it; what composition with the release before shows is added once the vault remembers both.
#}
{% macro _register_release(declaration, released=none) -%}
    {%- set name = declaration.anonymization -%}
    {%- if not dbt_anonymize._is_published(name) -%}{{ return("") }}{%- endif -%}
    {%- set results = ref(name ~ "_results") -%}
    {%- set register = dbt_anonymize._own_register(name) -%}
    {%- set types = dbt_anonymize._register_types() -%}
    {%- set columns = [] -%}
    {%- for column, type in types.items() -%}{%- do columns.append(column ~ " " ~ type) -%}{%- endfor -%}
    {#- With --defer there may be no schema of this target; the adapter's own way to make it ends the transaction. -#}
    {%- if load_relation(register) is none and results.schema != register.schema -%}
        {%- do create_schema(register.without_identifier()) -%}
    {%- endif -%}
    {% call statement("create_register") -%}
        create table if not exists {{ register }} ({{ columns | join(", ") }})
    {%- endcall %}
    {%- if "content" not in adapter.get_columns_in_relation(register) | map(attribute="name") -%}
        {#- Written by a version that did not digest what it released. -#}
        {%- do alter_relation_add_remove_columns(register, [api.Column.create("content", types.content)], none) -%}
    {%- endif -%}
    {% call statement("register_release") -%}
        insert into {{ register }} ({{ types | join(", ") }})
        {{ dbt_anonymize._registered_release(declaration, register, results, types, released or this) }}
    {%- endcall %}
    {%- for one in declaration.registers -%}
        {%- do dbt_anonymize._register_figures(declaration, one, register) -%}
    {%- endfor -%}
{%- endmacro %}


{# Keeps the rows of the released effort of a relation of figures, with the number of the release. #}
{% macro _register_figures(declaration, given, register) -%}
    {%- set kept = register.incorporate(path={"identifier": given.kept}) -%}
    {%- set figures, columns = ref(given.figures), given.columns | join(", ") -%}
    {%- set last = "(select max(release) from " ~ register ~ ")" -%}
    {% call statement("create_" ~ given.kept) -%}
        create table if not exists {{ kept }} as
        select cast(null as {{ dbt.type_bigint() }}) as release, {{ columns }} from {{ figures }} where 1 = 0
    {%- endcall %}
    {#- Where the register was dropped, its numbers begin again. #}
    {% call statement("clear_" ~ given.kept) -%}
        delete from {{ kept }} where release >= {{ last }}
    {%- endcall %}
    {% call statement("register_" ~ given.kept) -%}
        insert into {{ kept }} (release, {{ columns }})
        select {{ last }}, {{ columns }} from {{ figures }}
        where effort = {{ dbt_anonymize._released_effort(declaration) }}
    {%- endcall %}
{%- endmacro %}


{% macro _register_relation(beside, anonymization) -%}
    {{ return(api.Relation.create(
        database=beside.database, schema=beside.schema, identifier=anonymization ~ "_register", type="table"
    )) }}
{%- endmacro %}


{# Type of each column, in order. Those of composition are NULL where the vault does not remember both releases;
   `content` is a digest of the released rows, by which findings are known to be about them. #}
{% macro _register_types() -%}
    {%- set bigint, double, text = dbt.type_bigint(), dbt_anonymize._type_double(), dbt.type_string() -%}
    {{ return({
        "release": bigint,
        "released_at": dbt.type_timestamp(),
        "effort": bigint,
        "levels": text,
        "spec": text,
        "hierarchies": text,
        "source": text,
        "records": bigint,
        "suppressed_records": bigint,
        "released_records": bigint,
        "equivalence_classes": bigint,
        "k": bigint,
        "highest_risk": double,
        "average_risk": double,
        "qf": double,
        "qf_low": double,
        "qf_high": double,
        "qnf": double,
        "q": double,
        "joined_records": bigint,
        "left_records": bigint,
        "moved_records": bigint,
        "joint_classes_below_k": bigint,
        "records_below_k": bigint,
        "content": text,
    }) }}
{%- endmacro %}


{# Each column with its level, as `age 2`. #}
{% macro _named_levels(levels) -%}
    {%- set named = [] -%}
    {%- for column, level in levels.items() -%}{%- do named.append(column ~ " " ~ level) -%}{%- endfor -%}
    {{ return(named) }}
{%- endmacro %}


{% macro _registered_release(declaration, register, results, types, relation) -%}
{%- set name, chosen = declaration.anonymization, dbt_anonymize._released_effort(declaration) -%}
{%- set levels = dbt_anonymize._named_levels(dict(declaration.levels).get(chosen, {})) -%}
{%- if chosen in (declaration.external or []) -%}
    {%- do levels.append(dbt_anonymize._of_another_tool()) -%}
{%- endif -%}
{%- set risks = dbt_anonymize._prosecutor_risks() -%}
{%- set known = {
    "release": "(select coalesce(max(register.release), 0) + 1 from " ~ register ~ " as register)",
    "released_at": dbt_anonymize._literal(run_started_at.strftime("%Y-%m-%d %H:%M:%S")),
    "levels": dbt_anonymize._literal(levels | join(", ")) if levels else "null",
    "spec": "results.fingerprint",
    "hierarchies": dbt_anonymize._digest_of_relations(dbt_anonymize._named_relations(declaration.hierarchies)),
    "source": dbt_anonymize._digest_of_relations(
        [ref(name ~ "_microdata")] + dbt_anonymize._named_relations(declaration.read_beside)
    ),
    "content": dbt_anonymize._digest_of_relations([relation]),
    "qf": "results.qf_mean",
} -%}
with

classes as (

    {% if declaration.waits -%}
    {#- Members are released, as they were; the effort has the records as they are. -#}
    select count(*) as class_size
    from {{ ref(name ~ "_membership") }}
    where cqi is not null
    group by cqi
    {%- elif chosen in (declaration.external or []) -%}
    select
        count(*) as class_size,
        count(*) as records
    from {{ ref(name ~ "_effort_" ~ chosen) }}
    group by equivalence_class
    {%- else -%}
    select
        class_size,
        records
    from {{ ref(name ~ "_classes") }}
    where
        effort = {{ chosen }}
        and not is_suppressed
    {%- endif %}

),

released as (

    select
        count(*) as equivalence_classes,
        sum({{ "class_size" if declaration.waits else "records" }}) as released_records,
        min(class_size) as k,
        {{ risks.highest_risk }} as highest_risk,
        {{ risks.average_risk }} as average_risk
    from classes

)

select
    {%- for column, type in types.items() %}
    {%- set own = column in [
        "released_records", "equivalence_classes", "k", "highest_risk", "average_risk"
    ] -%}
    {%- set is_later = column.endswith("_below_k") or column in ["joined_records", "left_records", "moved_records"] %}
    cast({{
        "null" if is_later else known.get(column) or (("released." if own else "results.") ~ column)
    }} as {{ type }}) as {{ column }}{{ "," if not loop.last }}
    {%- endfor %}
from {{ results }} as results
cross join released
where results.is_chosen
{%- endmacro %}


{# The levels of a release whose rows another tool made. #}
{% macro _of_another_tool() -%}{{ return("of another tool") }}{%- endmacro %}


{# Whether another tool made the rows of this release or of the one before, so that nobody joined or left. #}
{% macro _has_rows_of_another_tool(anonymization) -%}
    {%- set levels = run_query(
        "select levels from " ~ dbt_anonymize._own_register(anonymization) ~ " order by release desc limit 2"
    ).columns[0].values() -%}
    {{ return(dbt_anonymize._of_another_tool() in levels) }}
{%- endmacro %}


{#
  Relations of refs that efforts read, so that they are there: `ref` would draw another edge in the graph. As with
  `ref`, what another state of the project has stands for what this target has not built.
#}
{% macro _named_relations(names) -%}
    {%- set relations = [] -%}
    {%- for node in graph.nodes.values() -%}
        {%- if node.name in names and node.resource_type in ["model", "seed", "snapshot"] -%}
            {%- set own = adapter.get_relation(node.database, node.schema, node.alias) -%}
            {%- set deferred = node.get("defer_relation") -%}
            {%- set is_favored = flags.FAVOR_STATE and node.unique_id not in selected_resources -%}
            {%- set place = deferred if deferred and (is_favored or not own) else node -%}
            {%- do relations.append(
                api.Relation.create(database=place.database, schema=place.schema, identifier=place.alias)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(relations | sort(attribute="identifier")) }}
{%- endmacro %}


{# SQL of eight hexadecimal digits that change with the rows of relations, whatever their order. #}
{% macro _digest_of_relations(relations) -%}
    {%- set digests = [] -%}
    {%- for relation in relations -%}
        {%- set digest = "count(*) || ' ' || " ~ dbt_anonymize._sum_of_hashes("digested") -%}
        {%- do digests.append("(select " ~ digest ~ " from " ~ relation ~ " as digested)") -%}
    {%- endfor -%}
    {{ return("substring(md5(" ~ digests | join(" || ' ' || ") ~ "), 1, 8)") }}
{%- endmacro %}


{# Adds what composition with the release before shows, in a transaction of its own; nothing where the vault does not
   know it. #}
{% macro _compose_register(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- if declaration.mapping == "none" or not dbt_anonymize._is_published(name) -%}{{ return("") }}{%- endif -%}
    {%- set register = dbt_anonymize._own_register(name) -%}
    {%- set releases = dbt_anonymize._releases_relation(name) -%}
    {%- set times = run_query(
        "select " ~ dbt_anonymize._as_text("released_at") ~ " from " ~ register ~ " order by release desc limit 2"
    ).columns[0].values() -%}
    {%- if times | length == 2 -%}
        {%- set row = run_query(
            dbt_anonymize._composed_releases(releases, times[1], times[0], dbt_anonymize._least_records(declaration))
        ).rows[0] -%}
        {%- if row[0] is not none -%}
            {% call statement("compose_register") -%}
                update {{ register }} set
                    {%- for column in dbt_anonymize._composed_columns() %}
                    {{ column }} = {{ row[loop.index0] | int }}{{ "," if not loop.last }}
                    {%- endfor %}
                where release = (select max(release) from {{ register }})
            {%- endcall %}
            {%- do dbt_anonymize._commit_step() -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}


{# Fewest records of a class that is released. #}
{% macro _least_records(declaration) -%}
    {%- set least = [] -%}
    {%- for guarantee in declaration.guarantees -%}
        {%- set counted = dbt_anonymize._privacy_model(guarantee).in_release_of_subjects -%}
        {%- if counted and counted.model == "k_anonymity" -%}{%- do least.append(counted.k) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(least | max) }}
{%- endmacro %}


{% macro _composed_columns() -%}
    {{ return(["joined_records", "left_records", "moved_records", "joint_classes_below_k", "records_below_k"]) }}
{%- endmacro %}
