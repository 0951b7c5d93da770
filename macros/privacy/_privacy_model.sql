{#
  What generic SQL knows of one guarantee: the file of its model says it in `_<model>_model`. dbt follows only calls
  that are written out, so a new model has its line here; no spec declares one whose extension is missing.
    measures            what is measured of the attribute in every class, see _attribute_measures
    conditions          what breaks it beside the measures, over `class_size` and `population_size` of a class
    counts_everybody    whether it counts the subjects of the whole table
    is_estimated        whether a class breaks it that is smaller than `demanded_size` says
    demanded_size       query of that size, `k`, in one row; reads `table_size`, a relation with the column `subjects`
    needs_population    whether it counts in a table of the population
    needs_seeds         whether its hierarchies must be seeds, which are written without looking at the data
    needs_loss          whether it reads `class_loss`, what the labels of a class lose
    average_risk        limit of the mean risk of all released classes together
    in_release          guarantee that the released rows suffice to count again, and, where a subject is declared and
    in_release_of_subjects  they do not say whose they are, what they show of it at least; none: nothing
    least_values        number of values that the attribute must have, and
    too_few_values      what is wrong otherwise, where <values> stands for those that it has
    requires            what it requires in words; none: its parameters
#}
{% macro _privacy_model(guarantee, table_size=none, population_size=none) -%}
    {%- set facts = {
        "measures": [],
        "conditions": [],
        "counts_everybody": false,
        "is_estimated": false,
        "demanded_size": none,
        "needs_population": false,
        "needs_seeds": false,
        "needs_loss": false,
        "average_risk": none,
        "in_release": none,
        "in_release_of_subjects": none,
        "least_values": 0,
        "too_few_values": none,
        "requires": none,
    } -%}
    {%- set name = guarantee.model -%}
    {%- if name == "k_anonymity" -%}{%- do facts.update(dbt_anonymize._k_anonymity_model(guarantee)) -%}
    {%- elif name == "k_map" -%}
        {%- do facts.update(dbt_anonymize._k_map_model(guarantee, table_size, population_size)) -%}
    {%- elif name == "alpha_k_anonymity" -%}{%- do facts.update(dbt_anonymize._alpha_k_anonymity_model(guarantee)) -%}
    {%- elif name == "l_diversity" -%}{%- do facts.update(dbt_anonymize._l_diversity_model(guarantee)) -%}
    {%- elif name == "t_closeness" -%}{%- do facts.update(dbt_anonymize._t_closeness_model(guarantee)) -%}
    {%- elif name == "n_t_closeness" -%}{%- do facts.update(dbt_anonymize._n_t_closeness_model(guarantee)) -%}
    {%- elif name == "beta_likeness" -%}{%- do facts.update(dbt_anonymize._beta_likeness_model(guarantee)) -%}
    {%- elif name == "delta_disclosure" -%}{%- do facts.update(dbt_anonymize._delta_disclosure_model(guarantee)) -%}
    {%- elif name == "delta_presence" -%}{%- do facts.update(dbt_anonymize._delta_presence_model(guarantee)) -%}
    {%- elif name == "reidentification_risk" -%}
        {%- do facts.update(dbt_anonymize._reidentification_risk_model(guarantee)) -%}
    {#- Of extensions. -#}
    {%- elif name == "no_attack" -%}{%- do facts.update(dbt_anonymize._no_attack_model(guarantee)) -%}
    {%- elif name == "profitable" -%}{%- do facts.update(dbt_anonymize._profitable_model(guarantee)) -%}
    {%- elif name == "differential_privacy" -%}
        {%- do facts.update(dbt_anonymize._differential_privacy_model(guarantee)) -%}
    {%- else -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": unknown privacy model " ~ name
            ~ ". Correct guarantees in the spec and run `dbt-anonymize generate`."
        ) }}
    {%- endif -%}
    {{ return(facts) }}
{%- endmacro %}


{# Whether a fact of _privacy_model holds of any of the guarantees. #}
{% macro _is_any(guarantees, fact) -%}
    {%- for guarantee in guarantees if dbt_anonymize._privacy_model(guarantee)[fact] -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}


{# What is measured of every sensitive attribute, also where nothing is guaranteed of it. #}
{% macro _measured_by_default(attribute) -%}
    {{ return([
        {"model": "l_diversity", "attribute": attribute, "variant": "distinct"},
        {"model": "l_diversity", "attribute": attribute, "variant": "entropy"},
        {"model": "alpha_k_anonymity", "attribute": attribute},
        {"model": "t_closeness", "attribute": attribute},
        {"model": "beta_likeness", "attribute": attribute, "variant": "basic"},
        {"model": "delta_disclosure", "attribute": attribute},
    ]) }}
{%- endmacro %}


{# A guarantee in words, for messages: its name and parameters, never a value of the data. #}
{% macro _guarantee_text(guarantee, requires=none) -%}
    {%- set requires = requires or dbt_anonymize._guarantee_parameters_text(guarantee) -%}
    {{ return(dbt_anonymize._guaranteed(guarantee) ~ " requires " ~ requires) }}
{%- endmacro %}


{# The same as the name of something: `l_diversity of illness (l = 2)`. #}
{% macro _guarantee_name(guarantee) -%}
    {%- set parameters = dbt_anonymize._guarantee_parameters_text(guarantee) -%}
    {{ return(dbt_anonymize._guaranteed(guarantee) ~ " (" ~ parameters ~ ")") }}
{%- endmacro %}


{% macro _guaranteed(guarantee) -%}
    {{ return(guarantee.model ~ (" of " ~ guarantee.attribute if guarantee.attribute else "")) }}
{%- endmacro %}


{% macro _guarantee_parameters_text(guarantee) -%}
    {%- set parameters = [] -%}
    {%- for parameter, value in guarantee.items() if parameter not in ["model", "attribute", "values"] -%}
        {%- do parameters.append(parameter ~ " = " ~ value) -%}
    {%- endfor -%}
    {{ return(parameters | join(", ")) }}
{%- endmacro %}


{# The attributes that guarantees are about, each once. #}
{% macro _guaranteed_attributes(guarantees) -%}
    {%- set attributes = [] -%}
    {%- for guarantee in guarantees if guarantee.attribute and guarantee.attribute not in attributes -%}
        {%- do attributes.append(guarantee.attribute) -%}
    {%- endfor -%}
    {{ return(attributes) }}
{%- endmacro %}
