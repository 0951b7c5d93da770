select cast('hash größe' as TEXT) as person
