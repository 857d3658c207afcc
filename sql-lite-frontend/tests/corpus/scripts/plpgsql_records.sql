-- Records of PL/pgSQL: their columns, what may be assigned to what.
create type pair as (x int, y text);
create table t (a int, b text);
insert into t values (1, 'one'), (2, 'two');
do $$declare r record; begin select 5, 10, 15 into r; raise notice '%', r; end$$;
do $$declare r record; begin select 5 as a, 10 as a, 15 as b into r; raise notice '% % %', r, r.a, r.b; end$$;
do $$declare r record; begin select t.*, s.* into r from t, t s where t.a = 1 and s.a = 2; raise notice '% %', r, to_json(r); end$$;
do $$declare r record; begin for r in select 1, 2, 3 union all select 4, 5, 6 loop raise notice '%', r; end loop; end$$;
do $$declare r record; begin r := row(1, 2, 'x'); raise notice '% %', r, r.f2; end$$;
do $$declare r record; begin execute 'select 1, 2, 3' into r; raise notice '%', r; end$$;
do $$declare r record; x int; begin select 5, 10 into r; x := r."?column?"; raise notice '%', x; end$$;
do $$declare r record; s text; begin select 5 as a, 'b' as b into r; s := r; raise notice '%', s; s := row(1, 2); raise notice '%', s; s := null::pair; raise notice '%', s; end$$;
do $$declare s text := (row(1, 'x'))::text; begin raise notice '%', s; end$$;
do $$declare p pair; s varchar; begin p := row(3, 'z'); s := p; raise notice '%', s; end$$;
do $$declare p pair; n int; begin p := row(3, 'z'); n := p; raise notice '%', n; end$$;
do $$declare p pair%rowtype; begin p.x := 1; p.y := 'q'; raise notice '%', p; end$$;
do $$declare p t%rowtype; begin select * into p from t where a = 2; raise notice '%', p; end$$;
do $$declare p none_such%rowtype; begin raise notice '%', p; end$$;
create function with_rowtype(p pair) returns text language plpgsql as $$declare q pair%rowtype; r public.pair%rowtype; begin q := p; r := q; r.x := r.x + 1; return q.x || r.y || r.x; end$$;
select with_rowtype(row(1, 'w'));
do $$declare p pair; a pair[] := array[row(1, 'a')::pair, row(2, 'b')::pair, null]; begin foreach p in array a loop raise notice '% % %', p, p.x, p is null; end loop; end$$;
do $$declare p record; a pair[] := array[row(1, 'a')::pair, row(2, 'b')::pair]; begin foreach p in array a loop raise notice '% %', p, p.y; end loop; end$$;
do $$declare x int; y text; a pair[] := array[row(1, 'a')::pair, row(2, 'b')::pair]; begin foreach x, y in array a loop raise notice '% %', x, y; end loop; end$$;
do $$declare x int; a pair[] := array[row(1, 'a')::pair]; begin foreach x in array a loop raise notice '%', x; end loop; end$$;
do $$declare x int; y int; begin foreach x, y in array array[1, 2] loop raise notice '%', x; end loop; end$$;
do $$declare p pair; begin foreach p in array array[1, 2] loop raise notice '%', p; end loop; end$$;
do $$declare p pair[]; a pair[] := array[[row(1, 'a')::pair], [row(2, 'b')::pair]]; begin foreach p slice 1 in array a loop raise notice '%', p; end loop; end$$;
-- EXPLAIN within PL/pgSQL.
create function explained(q text) returns setof text language plpgsql as $$declare line text; begin for line in execute 'explain (costs off) ' || q loop return next line; end loop; end$$;
select count(*) > 0 from explained('select * from t');
do $$declare line text; n int := 0; begin for line in explain (costs off) select * from t loop n := n + 1; end loop; raise notice '%', n > 0; end$$;
do $$declare line text; begin execute 'explain (costs off) select * from t where a = 1' into line; raise notice '%', line is not null; end$$;
create function explained_rows() returns table (line text) language plpgsql as $$begin return query explain (costs off) select * from t; end$$;
select count(*) > 0 from explained_rows();
create function explained_executed() returns table (line text) language plpgsql as $$begin return query execute 'explain (costs off) select * from t'; end$$;
select count(*) > 0 from explained_executed();
-- differs: refused: a cursor over EXPLAIN
do $$declare c refcursor; line text; begin open c for explain (costs off) select * from t; fetch c into line; raise notice '%', line is not null; close c; end$$;
-- differs: refused: a cursor over EXPLAIN
do $$declare c cursor for explain (costs off) select * from t; line text; begin open c; fetch c into line; raise notice '%', line is not null; close c; end$$;
do $$declare line json; begin execute 'explain (costs off, format json) select 1' into line; raise notice '%', json_typeof(line); end$$;
do $$declare r record; begin for r in execute 'show work_mem' loop raise notice '%', r.work_mem is not null; end loop; end$$;
do $$declare s text; begin show work_mem into s; end$$;
do $$declare s text; begin execute 'show server_version_num' into s; raise notice '%', s ~ '^15'; end$$;
do $$begin explain select 1; end$$;
do $$begin execute 'explain select 1'; perform 1; end$$;
do $$begin execute 'explain analyze insert into t values (3, ''three'')'; end$$;
select * from t order by a;
-- RETURNING into variables.
do $$declare n int; s text; begin execute 'insert into t values (4, ''four''), (5, ''five'') returning a, b' into n, s; raise notice '% %', n, s; end$$;
do $$declare n int; begin execute 'update t set b = b returning a' into n; raise notice '%', n; end$$;
do $$declare n int; begin execute 'update t set b = b returning a' into strict n; raise notice '%', n; end$$;
do $$declare r record; begin execute 'delete from t where a > 3 returning *' into r; raise notice '%', r; end$$;
do $$declare r record; begin execute 'delete from t where a > 30 returning *' into r; raise notice '% %', r, r.a is null; end$$;
do $$declare n int; begin update t set b = b returning a into n; raise notice '%', n; end$$;
do $$declare n int; begin select a into n from t order by a; raise notice '%', n; end$$;
do $$declare n int; begin insert into t values (6, 'six'), (7, 'seven') returning a into n; raise notice '%', n; end$$;
do $$declare n int; c int; begin execute 'update t set b = b where a = $1 returning a' into n using 1; get diagnostics c = row_count; raise notice '% %', n, c; end$$;
select * from t order by a;
