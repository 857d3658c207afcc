-- MERGE: actions by kinds of rows, values, refusals, RETURNING.

create table t (a int primary key, b int, c text default 'none');
create table s (a int, b int);
insert into t values (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three');
insert into s values (2, 200), (3, 300), (4, 400);
merge into t using s on t.a = s.a when matched then update set b = s.b;
table t order by a;
merge into t using s on t.a = s.a when not matched then insert values (s.a, s.b, 'new');
table t order by a;
merge into t using s on t.a = s.a when matched and s.a > 3 then delete;
table t order by a;
merge into t using s on t.a = s.a when not matched by source then delete;
table t order by a;
merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = t.b + s.b, c = 'sum' when matched then delete when not matched then insert (a, b) values (s.a, s.b);
table t order by a;
merge into t using s on t.a = s.a when matched then do nothing when not matched then do nothing;
table t order by a;
truncate t;
insert into t values (1, 10), (2, 20), (9, 90);
merge into t using s on t.a = s.a when matched then update set b = s.b when not matched then insert (a, c) values (s.a, default) when not matched by source and t.a > 5 then delete when not matched by source then update set c = 'left';
table t order by a;
-- The first action whose condition holds is taken.
truncate t;
insert into t values (1, 1), (2, 2), (3, 3);
merge into t using (values (1, 'x'), (2, 'y'), (3, 'z'), (4, 'w')) as v (k, n) on a = k when matched and n = 'x' then update set c = 'first' when matched and n in ('x', 'y') then update set c = 'second' when matched then delete when not matched and n = 'q' then insert values (k, 0, 'q') when not matched then insert values (k, k, n);
table t order by a;
-- Sources of every kind.
create view sv as select a, b from s where a <> 3;
merge into t using sv on t.a = sv.a when matched then update set b = sv.b when not matched then insert values (sv.a, sv.b);
table t order by a;
merge into t using (select a, max(b) as m from s group by a) q on q.a = t.a when matched then update set b = m;
table t order by a;
with q as (select a, b + 1 as b from s) merge into t using q on q.a = t.a when matched then update set b = q.b when not matched then insert values (q.a, q.b, 'cte');
table t order by a;
merge into t using generate_series(1, 6) g on g = t.a when not matched then insert values (g, g, 'series');
table t order by a;
merge into t using s join (values (2, 'j'), (4, 'k')) v (a2, n) on s.a = v.a2 on t.a = s.a when matched then update set c = n;
table t order by a;
merge into t using s natural join (select a, b as b2 from s) x on t.a = s.a when matched then update set b = -b2;
merge into t using s x natural join (select a from s) y on t.a = x.a when matched then update set b = -x.b;
table t order by a;
merge into only t as target using s as source on target.a = source.a when matched then update set b = source.b;
table t order by a;
merge into t using t as other on t.a = other.a + 1 when matched and other.a = 1 then update set c = 'after ' || other.c;
table t order by a;
merge into t using (select 1 where false) e on true when not matched by source then update set b = 0;
table t order by a;
merge into t using (select 1) e on false when not matched then insert values (100, 1, 'hundred');
table t order by a;
merge into t using (select 1) e on a = 100 when matched then delete;
-- Several columns, rows, defaults, subqueries.
merge into t using s on t.a = s.a when matched then update set (b, c) = (s.b, 'pair');
table t order by a;
merge into t using s on t.a = s.a when matched then update set (b, c) = row (s.b + 1, default);
table t order by a;
merge into t using s on t.a = s.a when matched then update set (c, b) = (select 'sub', count(*) from s z where z.a <= s.a);
table t order by a;
merge into t using s on t.a = s.a when matched and exists (select from s z where z.b = t.b * 100) then update set c = (select max(z.b)::text from s z);
table t order by a;
merge into t using (select 77 as k) v on a = k when not matched then insert (c, a) values ((select string_agg(a::text, ',' order by a) from s), k);
table t order by a;
merge into t using (select 78 as k) v on a = k when not matched then insert default values;
create table d (a int default 5, b text default 'dee');
merge into d using (select 1) v on false when not matched then insert default values;
merge into d using (values (1), (2)) v (k) on false when not matched and k = 1 then insert (b) values (default) when not matched then insert values (k);
table d order by a, b;
-- Affecting a row twice.
create table twice (a int, n int);
insert into twice values (1, 1), (1, 2);
merge into t using twice w on t.a = w.a when matched then update set b = w.n;
merge into t using twice w on t.a = w.a when matched then delete;
merge into t using twice w on t.a = w.a when matched and w.n = 1 then update set b = 1 when matched then do nothing;
merge into t using twice w on t.a = w.a when matched and w.n = 3 then delete;
merge into t using twice w on t.a = w.a + 500 when not matched then insert values (w.a + 500, w.n);
table t order by a;
-- RETURNING.
truncate t;
insert into t values (1, 10, 'one'), (2, 20, 'two');
-- unordered
merge into t using s on t.a = s.a when matched then update set b = s.b when not matched then insert values (s.a, s.b, 'new') returning merge_action(), t.*;
-- unordered
merge into t using s on t.a = s.a when matched and s.a = 2 then delete when matched then update set b = 1 when not matched by source then update set c = 'nobody' returning *;
-- unordered
merge into t using s on t.a = s.a when matched then delete when not matched then insert values (s.a, s.b) when not matched by source then delete returning merge_action() as what, old.a as was, new.a as is_now, s.a, t.a, t, old, new;
table t order by a;
-- unordered
merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = t.b + 1 returning with (old as before, new as after) merge_action(), before.b, after.b, b - before.b as grown, s.b;
merge into t using s on t.a = s.a when matched and s.a = 2 then do nothing returning merge_action(), t.*;
merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = 7 returning (select merge_action() || t.b), lower(merge_action()), case merge_action() when 'UPDATE' then 1 else 2 end;
with m as (merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = 8 returning merge_action() as act, t.a, old.b as o, new.b as n) select * from m;
with m as (merge into t using s on t.a = s.a when matched then delete returning merge_action() as act, t.a) select act, count(*) from m group by act;
with m as (merge into t using s on t.a = s.a when matched then delete) select 1 as one;
table t order by a;
with i as (insert into t values (2, 22) returning a, b) merge into t using i on t.a = i.a when matched then delete when not matched then insert values (i.a + 60, i.b, 'of i');
table t order by a;
copy (merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = 0 returning merge_action(), t.a, t.b) to stdout;
copy (merge into t using s on t.a = s.a when matched and s.a = 2 then update set b = 0) to stdout;
-- Parameters.
-- parameters: 2 | 5
merge into t using (select $1::int as k) v on a = k when matched then update set b = $2 returning t.a, t.b;
-- parameters: 50 | x
merge into t using (values (1)) v on a = $1 when matched then delete when not matched then insert values ($1, 1, $2) returning merge_action(), a, c;
prepare m (int, int) as merge into t using (values ($1, $2)) v (k, n) on t.a = k when matched then update set b = t.b + n when not matched then insert values (k, n) returning merge_action(), a, b;
execute m (50, 5);
execute m (51, 5);
execute m (51, 5);
execute m (51, null);
deallocate m;
-- Keys, checks, NOT NULL.
create table k (a int primary key, b int unique, n int not null default 1, check (b < 1000));
insert into k values (1, 1), (2, 2);
merge into k using s on k.a = s.a when not matched then insert values (s.a, 1);
merge into k using s on k.a = s.a when matched then update set b = 1;
merge into k using s on k.a = s.a when matched then update set b = 1000 + s.b;
merge into k using s on k.a = s.a when not matched then insert values (s.a, s.b * 10);
merge into k using s on k.a = s.a when matched then update set n = null;
merge into k using s on k.a = s.a when not matched then insert values (s.a, s.b, null);
merge into k using s on k.a = s.a when not matched then insert values (1, s.b);
merge into k using (values (1, 2), (2, 3)) v (o, n) on k.a = v.o when matched then update set a = v.n + 10;
table k order by a;
-- Generated and identity columns.
create table g (id int generated always as identity, a int, twice int generated always as (a * 2) stored, e int generated by default as identity (start 100));
merge into g using s on g.a = s.a when not matched then insert (a) values (s.a);
select * from g order by a;
merge into g using s on g.a = s.a when matched then update set a = g.a + 10, twice = default;
select * from g order by a;
merge into g using s on g.a = s.a when not matched then insert (id, a) values (1, s.a);
merge into g using s on g.a = s.a when not matched then insert (id, a) overriding system value values (-s.a, s.a);
merge into g using (values (70)) v (a) on g.a = v.a when not matched then insert (id, a, e) overriding user value values (5, v.a, 6);
select * from g order by a;
merge into g using s on g.a = s.a when not matched then insert (a, twice) values (s.a, 1);
merge into g using s on g.a = s.a when matched then update set twice = 1;
merge into g using s on g.a = s.a when matched then update set id = 1;
merge into g using (values (71)) v (a) on g.a = v.a when not matched then insert (id, a, twice) values (default, v.a, default) returning a, twice;
-- Foreign keys.
create table parent (a int primary key);
create table child (a int references parent on delete cascade, b int);
insert into parent values (1), (2);
merge into child using s on child.a = s.a when not matched then insert values (s.a, s.b);
merge into child using (values (1), (2)) v (a) on child.a = v.a when not matched then insert values (v.a, v.a);
merge into child using (values (1), (2)) v (a) on child.a = v.a when matched then update set a = 3;
merge into parent using (values (1)) v (a) on parent.a = v.a when matched then delete;
table child;
-- What is refused.
merge into t using s on t.a = s.a when matched then delete when matched then do nothing;
merge into t using s on t.a = s.a when matched then delete when not matched then do nothing when matched and true then delete;
merge into t using s on t.a = s.a when not matched and t.a = 1 then insert values (1);
merge into t using s on t.a = s.a when not matched then insert values (t.a);
merge into t using s on t.a = s.a when not matched by source and s.a = 1 then delete;
merge into t using s on t.a = s.a when not matched by source then update set b = s.a;
merge into t using s on t.a = s.a when matched and count(*) > 1 then delete;
merge into t using s on t.a = s.a when matched and row_number() over () > 1 then delete;
merge into t using s on t.a = s.a when matched and generate_series(1, 2) = 1 then delete;
merge into t using s on t.a = s.a when not matched then insert values (count(*));
merge into t using s on t.a = s.a when matched then update set b = count(*);
merge into t using s on t.a = s.a when matched and t.xmin = '1' then delete;
merge into t using s on t.a = s.a when matched and t.tableoid = 1 then delete;
merge into t using s on t.a = s.a when matched and t.ctid is null then delete;
merge into t using s on t.a = s.a when matched and s.a then delete;
merge into t using s on t.a = s.a when not matched then insert (a, b) values (1);
merge into t using s on t.a = s.a when not matched then insert (a) values (1, 2);
merge into t using s on t.a = s.a when not matched then insert (a, z) values (1, 2);
merge into t using s on t.a = s.a when not matched then insert (a, a) values (1, 2);
merge into t using s on t.a = s.a when matched then update set z = 1;
merge into t using s on t.a = s.a when matched then update set b = 1, b = 2;
merge into t using s on t.a = s.a when matched then update set a = 'x';
merge into t using s on t.a = s.a when not matched then insert values ('x');
merge into t using s on b = 1 when matched then delete;
merge into t using s on t.a = s.z when matched then delete;
merge into t using s on t.a < s.a when matched then delete when not matched then insert values (1) when not matched by source then delete;
with recursive x as (select 1) merge into t using s on t.a = s.a when matched then delete;
merge into t using t on true when matched then delete;
merge into t using s t on true when matched then delete;
merge into t x using s x on true when matched then delete;
-- differs: the error's detail, which is a hint as in PostgreSQL 15
merge into t using lateral (select t.a) q on true when matched then delete;
merge into nope using s on true when matched then delete;
merge into t using nope on true when matched then delete;
merge into t using s on t.a = s.a when matched then insert values (1);
merge into t using s on t.a = s.a when matched then update set a = merge_action();
merge into t using (select merge_action()) q on true when matched then delete;
merge into t using s on t.a = s.a when matched then delete returning count(*);
select merge_action();
update t set a = 1 returning merge_action();
create materialized view mv as select * from t;
create sequence sq;
merge into mv using s on true when matched then delete;
merge into sq using s on true when matched then delete;
begin read only;
merge into t using s on t.a = s.a when matched then delete;
rollback;
-- Part assignments.
create table p (a int primary key, l int[], j jsonb);
insert into p values (1, '{1,2}', '{"x": 1}');
merge into p using (values (1, 5), (2, 6)) v (k, n) on a = k when matched then update set l[2] = n, j['x'] = to_jsonb(n) when not matched then insert (a, l[1], l[3]) values (k, n, n);
table p order by a;
-- In functions.
create function merge_sql(int, int) returns setof t language sql begin atomic merge into t using (select $1 as k) v on a = k when matched then update set b = $2 when not matched then insert values (k, $2, 'by function') returning t.*; end;
select * from merge_sql(900, 1);
select * from merge_sql(900, 2);
create function merge_text(int) returns text language sql as 'merge into t using (select $1 as k) v on a = k when matched then delete returning merge_action()';
select merge_text(900), merge_text(900);
create function merge_plpgsql(int) returns text language plpgsql as $$
declare n bigint; act text;
begin
  merge into t using generate_series(1000, 1000 + $1 - 1) g on t.a = g when matched then delete when not matched then insert values (g, g, 'plpgsql');
  get diagnostics n = row_count;
  act := n || ' ' || found;
  merge into t using (select 5000) v on false when matched then delete;
  get diagnostics n = row_count;
  return act || ' ' || n || ' ' || found;
end $$;
select merge_plpgsql(3);
select merge_plpgsql(3);
do $$
declare act text; was int;
begin
  merge into t using (select 2000) v (k) on a = k when not matched then insert values (k, 1) returning merge_action(), old.a into act, was;
  raise notice '% %', act, was;
end $$;
do $$
declare r record;
begin
  for r in merge into t using (select 2000) v (k) on a = k when matched then update set b = t.b + 1 returning merge_action() as act, old.b as o, new.b as n loop
    raise notice '%', r;
  end loop;
end $$;
create table logged (what text);
create function volatile_merge() returns int language sql as 'merge into t using (select 2000) v (k) on a = k when matched then delete returning a';
select volatile_merge();
-- Constants that fail, and empty tables.
merge into t using s on t.a = s.a when matched and 1 / 0 = 1 then delete;
create table none (a int);
merge into none using none n2 on none.a = n2.a when matched then delete when not matched then insert values (1) when not matched by source then delete;
merge into none using s on none.a = s.a when not matched then insert values (s.a);
merge into none using s on none.a = s.a when matched then update set a = 1 / (none.a - none.a);
select count(*) from none;
