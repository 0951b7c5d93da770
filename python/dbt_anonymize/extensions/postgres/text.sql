-- Floats as Postgres writes them: whole ones without a point, and so on. Both engines write the
-- fewest digits that tell a double from all others (in about one of a thousand Postgres writes one
-- more); they differ in where they put them. Postgres has an exponent from 15 digits before the
-- point on (6 of a `real`), DuckDB from 16 on. Of a `real` DuckDB may write too many.
-- Each argument is used a few times only: DuckDB writes a macro out wherever it is called.

-- Whether a text is nearer to a `real` than half way to its neighbours.
create macro dbt_anonymize_tells(written, number) as coalesce(
    try_cast(cast(written as double) + (cast(written as double) - number) * 1e-6 as float)
        = try_cast(number as float),
    false
);

create macro dbt_anonymize_fewest(number) as case
    when dbt_anonymize_tells(printf('%.5e', number), number) then printf('%.5e', number)
    when dbt_anonymize_tells(printf('%.6e', number), number) then printf('%.6e', number)
    when dbt_anonymize_tells(printf('%.7e', number), number) then printf('%.7e', number)
    else printf('%.8e', number)
end;

create macro dbt_anonymize_whole(written) as
    replace(regexp_replace(written, '\.0$', ''), 'inf', 'Infinity');

create macro dbt_anonymize_placed(written, size) as case
    when size = 0 or (size >= 1e-4 and size < 1e6)
        then dbt_anonymize_whole(cast(cast(written as double) as varchar))
    else regexp_replace(written, '\.?0*e', 'e')
end;

create macro dbt_anonymize_double(number) as case
    when isnan(number) then 'NaN'
    when abs(number) >= 1e15 and abs(number) < 1e16 then replace(
        regexp_replace(
            replace(cast(number as varchar), '.', ''),
            '^(-?[0-9])([0-9]*?)0*$',
            '\1.\2e+15'
        ),
        '.e',
        'e'
    )
    else dbt_anonymize_whole(cast(number as varchar))
end;

create macro dbt_anonymize_real(number) as case
    when isfinite(number) then dbt_anonymize_placed(
        dbt_anonymize_fewest(number),
        abs(cast(dbt_anonymize_fewest(number) as double))
    )
    else dbt_anonymize_double(number)
end;

create macro dbt_anonymize_text(found) as case typeof(found)
    when 'DOUBLE' then dbt_anonymize_double(try_cast(found as double))
    when 'FLOAT' then dbt_anonymize_real(try_cast(found as double))
    else cast(found as varchar)
end;
