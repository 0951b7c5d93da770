{#
  The quantile up to which `confidence` of Student's t distribution lies, or within which, on both sides of 0, it does.
  The first degrees of freedom are known, or solved while dbt compiles; above them the Cornish-Fisher expansion is close
  enough.
#}
{% macro student_t_quantile(degrees_of_freedom, confidence=0.95, two_sided=true) -%}
    {%- if confidence is not number or confidence <= 0.5 or confidence >= 1 -%}
        {{ exceptions.raise_compiler_error(
            "student_t_quantile: `confidence` must be a number in (0.5, 1); got: " ~ confidence
            ~ ". Set a share such as 0.95."
        ) }}
    {%- endif -%}
    {#- Reading a project asks for the SQL of every model, but looks at its references only. -#}
    {%- if not execute -%}
        {{ return("null") }}
    {%- endif -%}
    {%- set df = "cast((" ~ degrees_of_freedom ~ ") as " ~ dbt_anonymize._type_double() ~ ")" -%}
    {%- set tails = (1 - confidence) * (1 if two_sided else 2) -%}
    {%- set z = dbt_anonymize._normal_quantile(tails) -%}
case ({{ degrees_of_freedom }})
    when 0 then null
    {%- for quantile in dbt_anonymize._first_student_t_quantiles(tails) %}
    when {{ loop.index }} then {{ quantile }}
    {%- endfor %}
    else
        {{ z | round(12) }}
        + {{ ((z ** 3 + z) / 4) | round(12) }} / {{ df }}
        + {{ ((5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96) | round(12) }} / power({{ df }}, 2)
        + {{ ((3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384) | round(12) }} / power({{ df }}, 3)
        {%- set fourth = 79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z %}
        + {{ (fourth / 92160) | round(12) }} / power({{ df }}, 4)
end
{%- endmacro %}


{# The quantiles of 1 to 20 degrees of freedom: those of usual intervals are known, since solving them takes a while. #}
{% macro _first_student_t_quantiles(tails) -%}
    {%- set usual = {
        "0.050000000": [
            12.706204736175, 4.302652729749, 3.182446305284, 2.776445105198, 2.570581835636, 2.446911851145,
            2.364624251593, 2.306004135204, 2.262157162798, 2.228138851986, 2.200985160092, 2.178812829667,
            2.160368656463, 2.144786687918, 2.13144954556, 2.119905299221, 2.109815577833, 2.100922040241,
            2.093024054408, 2.085963447266,
        ],
        "0.100000000": [
            6.313751514675, 2.919985580354, 2.353363434802, 2.131846786327, 2.015048373333, 1.943180280515,
            1.89457860509, 1.859548037531, 1.833112932656, 1.812461122812, 1.795884818704, 1.782287555649,
            1.770933395987, 1.761310135775, 1.753050355693, 1.745883676276, 1.739606726075, 1.734063606618,
            1.729132811521, 1.724718242921,
        ],
    } -%}
    {%- set known = usual.get("%.9f" | format(tails)) -%}
    {%- if known -%}{{ return(known) }}{%- endif -%}
    {%- set solved = [] -%}
    {%- for number in range(1, 21) -%}
        {%- do solved.append(dbt_anonymize._student_t_quantile(number, tails) | round(12)) -%}
    {%- endfor -%}
    {{ return(solved) }}
{%- endmacro %}


{# The number beyond which, on both sides of 0, `tails` of the normal distribution lie: Newton's method from below. #}
{% macro _normal_quantile(tails) -%}
    {%- set found = namespace(z=0.0, step=1.0) -%}
    {%- for round in range(60) if found.step > 1e-12 -%}
        {%- set series = namespace(term=found.z, sum=found.z) -%}
        {%- for odd in range(3, 201, 2) -%}
            {%- set series.term = series.term * found.z * found.z / odd -%}
            {%- set series.sum = series.sum + series.term -%}
        {%- endfor -%}
        {%- set density = 2.718281828459045 ** (-found.z * found.z / 2) / 6.283185307179586 ** 0.5 -%}
        {%- set found.step = ((1 - tails) / 2 - density * series.sum) / density -%}
        {%- set found.z = found.z + found.step -%}
    {%- endfor -%}
    {{ return(found.z) }}
{%- endmacro %}


{#
  The same of Student's t with a whole number of degrees of freedom. With t = sqrt(df) / tan(angle) the tails are a
  finite sum of powers of the sine (Abramowitz and Stegun 26.7.3 and 26.7.4) that grows ever faster, so that Newton's
  method falls from pi/2 to the angle.
#}
{% macro _student_t_quantile(degrees_of_freedom, tails) -%}
    {%- set is_odd = degrees_of_freedom % 2 -%}
    {%- set factor = 2 / 3.141592653589793 if is_odd else 1.0 -%}
    {%- set found = namespace(angle=3.141592653589793 / 2, step=1.0, cotangent=0.0) -%}
    {%- for round in range(60) if found.step > 1e-14 -%}
        {%- set wave = namespace(term=1.0, sine=0.0, cosine=1.0) -%}
        {%- for power in range(1, 26) -%}
            {%- set wave.term = wave.term * found.angle / power -%}
            {%- if power % 2 -%}
                {%- set wave.sine = wave.sine + wave.term * (1 if power % 4 == 1 else -1) -%}
            {%- else -%}
                {%- set wave.cosine = wave.cosine + wave.term * (1 if power % 4 == 0 else -1) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set series = namespace(term=wave.sine if is_odd else 1.0, sum=0.0) -%}
        {%- for number in range(1 + is_odd, degrees_of_freedom, 2) -%}
            {%- set series.sum = series.sum + series.term -%}
            {%- set series.term = series.term * wave.sine * wave.sine * number / (number + 1) -%}
        {%- endfor -%}
        {%- set beyond = factor * (found.angle if is_odd else 1.0) - factor * wave.cosine * series.sum -%}
        {%- set found.step = (beyond - tails) * wave.sine / (factor * degrees_of_freedom * series.term) -%}
        {%- set found.cotangent = wave.cosine / wave.sine -%}
        {%- set found.angle = found.angle - found.step -%}
    {%- endfor -%}
    {{ return(degrees_of_freedom ** 0.5 * found.cotangent) }}
{%- endmacro %}
