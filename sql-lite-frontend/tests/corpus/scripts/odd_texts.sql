-- Texts that routines run as SQL, and that are not what they should be.

do $o$ begin execute 'select $1::int'; end $o$;

do $o$ declare x int; begin execute 'select $1::int' into x; end $o$;

do $o$ declare x record; begin execute 'select $1::int' into strict x; end $o$;

do $o$ declare r record; begin for r in execute 'select $1::int' loop null; end loop; end $o$;

do $o$ declare c refcursor; begin open c for execute 'select $1::int'; end $o$;

create function odd() returns setof int language plpgsql as $o$ begin return query execute 'select $1::int'; end $o$;

select * from odd();

select * from ts_stat('select $1::tsvector');

select ts_rewrite('a'::tsquery, 'select $1::tsquery, $2::tsquery');

do $o$ declare x int; begin execute 'select $1::int + $1' into x using 20; raise notice '%', x; end $o$;

do $o$ declare c refcursor; r record; begin open c for execute 'select $1::int'; fetch c into r; close c; end $o$;

-- A result that no input tells the type of.

create function odd_range(anyelement) returns anyrange language plpgsql as $$ begin return $1; end $$;

create function odd_multirange(anyarray) returns anymultirange language sql as $$ select null $$;

create function odd_compatible(anyelement) returns anycompatible language sql as $$ select null $$;

create function odd_compatible_range(anycompatible) returns anycompatiblerange language sql as $$ select null $$;

create function odd_element(anycompatible) returns anyelement language sql as $$ select null $$;

create aggregate odd_aggregate(anycompatible) (sfunc = array_append, stype = anyarray);

create function good_range(anyrange) returns anymultirange language sql as $$ select multirange($1) $$;

select good_range('[1,2]'::int4range);
