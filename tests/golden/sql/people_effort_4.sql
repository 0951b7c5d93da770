with

microdata as (

    select * from "w"."main"."people_microdata"

),

generalized as not materialized (

    select
        microdata."person_number",
        microdata."illness",
        microdata."blood",
        microdata."income",
        microdata."remark",
        microdata."outcome",
        recoding."age",
        recoding."age_lower",
        recoding."age_upper",
        recoding."age_level",
        recoding."birth_day",
        recoding."birth_day_lower",
        recoding."birth_day_upper",
        recoding."birth_day_level",
        recoding."city",
        recoding."city_level",
        recoding."job",
        recoding."job_level"
    from microdata
    left join "w"."main"."people_recoding_4" as recoding
        on microdata."person_number" = recoding."person_number"

),

classes as (

    select
        effort,
        "age",
        "birth_day",
        "city",
        "job",
        equivalence_class,
        class_size,
        is_suppressed
    from "w"."main"."people_classes"
    where effort = 4

),

effort as (

    select
        generalized."person_number",
        generalized."age",
        generalized."age_lower",
        generalized."age_upper",
        generalized."age_level",
        generalized."birth_day",
        generalized."birth_day_lower",
        generalized."birth_day_upper",
        generalized."birth_day_level",
        generalized."city",
        generalized."city_level",
        generalized."job",
        generalized."job_level",
        generalized."illness",
        generalized."blood",
        generalized."income",
        generalized."remark",
        generalized."outcome",
        case
            when classes.effort is null
                then error('people_effort_4: the equivalence class of a record is not in people_classes. Build again from the microdata on.')
            else classes.equivalence_class
        end as equivalence_class,
        case
            when classes.effort is null
                then error('people_effort_4: the equivalence class of a record is not in people_classes. Build again from the microdata on.')
            else classes.class_size
        end as class_size,
        case
            when classes.effort is null
                then error('people_effort_4: the equivalence class of a record is not in people_classes. Build again from the microdata on.')
            else classes.is_suppressed
        end as is_suppressed
    from generalized
    left join classes
        on
            generalized."age" = classes."age"
            and generalized."birth_day" = classes."birth_day"
            and generalized."city" = classes."city"
            and generalized."job" = classes."job"

)

select * from effort
