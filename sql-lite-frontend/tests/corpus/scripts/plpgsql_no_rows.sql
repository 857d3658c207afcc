-- Where a query has no row, a record has its columns all the same, and NULLs in them.
create table things (id int primary key, name text, price numeric(8,2));
do $$ declare r record; begin select * into r from things where id = 1; raise notice '% % % % %', r.id, r.name is null, r is null, r, found; end $$;
do $$ declare r record; begin select 1 as one, 'x' as two into r where false; raise notice '% %', r.one, r.two is null; raise notice '%', r.three; end $$;
do $$ declare r record; begin execute 'select id, name from things where id = $1' into r using 5; raise notice '% %', r.id, r; end $$;
do $$ declare r record; begin r := row(1, 2); select name into r from things; raise notice '% %', r.name, r; end $$;
do $$ declare r things; begin select * into r from things; raise notice '% % %', r.id, r is null, r; end $$;
do $$ declare r things%rowtype; begin r.id := 3; select id, name into r from things where false; raise notice '% %', r.id, r; end $$;
do $$ declare a int := 1; b text := 'x'; begin select id, name into a, b from things; raise notice '% %', a, b; end $$;
do $$ declare r record; begin for r in select id, price from things loop raise notice 'never'; end loop; raise notice '% % %', r.price, r, found; end $$;
do $$ declare r record; c cursor for select id as number from things; begin open c; fetch c into r; raise notice '% % %', r.number, r, found; close c; for s in c loop raise notice 'never'; end loop; end $$;
do $$ declare r record; begin update things set price = 1 where id = 1 returning id, price into r; raise notice '% %', r.price, r; end $$;
do $$ declare r record; begin insert into things values (1, 'a', 2) on conflict do nothing returning * into r; raise notice '%', r; insert into things values (1, 'a', 2) on conflict do nothing returning * into r; raise notice '% %', r.name, r; end $$;
do $$ declare r record; begin delete from things where id = 7 returning name into r; if r.name is null then raise notice 'nothing'; end if; end $$;
do $$ declare r record; begin raise notice '%', r.id; end $$;
-- differs: a record that has no columns yet cannot be read as a whole
do $$ declare r record; begin r := null; raise notice '%', r; raise notice '%', r.id; end $$;
create function maybe(int) returns record language plpgsql as $$ declare r record; begin select id, name into r from things where id = $1; return r; end $$;
select maybe(1), maybe(2);
select maybe(2) is null;
create function shared(int) returns things language plpgsql as $$ declare r things; begin select * into r from things where id = $1; return r; end $$;
select shared(1)::text, shared(2)::text, shared(2) is null;
create function of_all(int) returns setof things language plpgsql as $$ declare r record; begin select * into r from things where id = $1; return next r; end $$;
select id, name, price::text from of_all(1) union all select id, name, price::text from of_all(2);
do $$ declare r record; begin for i in 1..2 loop select * into r from things where id = i; raise notice '% %', i, coalesce(r.name, 'none'); end loop; end $$;
do $$ declare r record; begin select 1 as a into r; select 2 as b, 3 as c into r where false; raise notice '% %', r.b, r.c; raise notice '%', r.a; end $$;
do $$ declare r record; begin select * into strict r from things where id = 9; end $$;
