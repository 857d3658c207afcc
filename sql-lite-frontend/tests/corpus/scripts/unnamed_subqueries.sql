-- Subqueries in FROM without an alias.

create table t (a int, b text);
insert into t values (1, 'one'), (2, 'two'), (3, null);
select * from (select a, b from t) order by a;
select a from (select a from t where a > 1) where a < 3;
select * from (values (1, 'x'), (2, 'y'));
select column1 + 1 from (values (1), (2)) order by 1 desc;
select * from (select 1 as x), (select 2 as y);
select * from (select 1 as x) cross join (select 2 as x);
select x from (select 1 as x), (select 2 as x);
select count(*) from (select 1 union all select 2);
select * from t, lateral (select a * 10 as ten where b is not null) order by a;
select * from t left join lateral (select upper(b) as u) on true order by a;
select * from t join (select a, 'again' as c from t) using (a) order by a;
select * from (select a from (select a from (select max(a) as a from t)));
select (select sum(x) from (select unnest(array[1, 2, 3]) as x));
select a from t where a in (select * from (select 2)) or exists (select from (select where false));
select * from ((select 1 as z));
select * from ((select 1 as z) union (select 2) order by 1);
with w as (select 5 as f) select * from (select f from w);
-- The name that views show qualifies nothing.
-- differs: PostgreSQL 15's hint is 18's detail
select unnamed_subquery.a from (select a from t);
-- differs: PostgreSQL 15's hint is 18's detail
select unnamed_subquery.* from (select a from t);
select unnamed_subquery from (select a from t);
select * from (select 1 as a) unnamed_subquery, (select 2 as b) where unnamed_subquery.a = 1;
select nothing from (select a from t);
select unnamed_subquery.a from (select 1 as a) unnamed_subquery, (select 2 as a);
select * from (select a from t), (select t.a);
select * from (select a from t) for update;
select * from (select a from t) for update of unnamed_subquery;
-- Views, writes, functions.
create view v as select x.a, b from (select a, b from t) x, (select 1 as one) where one = 1;
select pg_get_viewdef('v');
select pg_get_viewdef('v', true);
create view w as select * from (select a from t), (select b from t), (values (1));
select pg_get_viewdef('w');
create view u as select (select max(a) from (select a from t where a < z)) as m from (select 3 as z);
select pg_get_viewdef('u');
select * from u;
create view l as select * from t, lateral (select t.a + 1 as next);
select pg_get_viewdef('l', true);
select * from l order by a;
insert into t select * from (values (4, 'four'));
update t set b = c from (select 4 as k, 'FOUR' as c) where a = k returning a, b, c;
delete from t using (select 4 as k) where a = k returning *;
merge into t using (select 3 as k) on a = k when matched then update set b = 'three' returning merge_action(), t.*;
create function f() returns bigint language sql begin atomic select count(*) from (select distinct a from t); end;
select f();
do $$ declare r record; begin for r in select * from (select a from t order by a limit 1) loop raise notice '%', r.a; end loop; end $$;
prepare p as select * from (select $1::int as n) where n > $2;
execute p (2, 1);
