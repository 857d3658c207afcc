-- Types of parameters, from all their uses.
create table t (id int primary key, v text, d date, n numeric);
insert into t values (1, 'one', '2024-01-01', 1.5), (2, 'two', null, null);
-- parameters: 1
select $1 where $1 = 1;
-- parameters: 1
select id from t where $1 is null or id = $1;
-- parameters: 1
select id from t where id = $1 or $1 is null;
-- parameters: 1
select id from t where $1::int is null or id = $1;
-- parameters: (null)
select id from t where $1 is null;
-- parameters: 1
select $1::int, $1::bigint;
-- parameters: 1
select $1::int, $1;
-- parameters: 1
select $1, $1::int;
-- parameters: 1
select $1 + 1, $1 || 'x';
-- parameters: x
select $1 || 'x', $1 + 1;
-- parameters: 1
select id from t where id = $1 and v = $1;
-- parameters: 1
select id from t where v = $1 and id = $1;
-- parameters: 1
select v = $1 from t where id = $1;
-- parameters: 1
update t set v = $1 where id = $1;
-- parameters: 1
update t set id = id where v = $1 and id = $1;
-- parameters: 1
insert into t (id, v) values ($1, $1);
-- parameters: 2
insert into t (id, n) values ($1, $1);
-- parameters: 1
delete from t where id = $1 and v = $1;
-- parameters: 1
select count($1), $1::int;
-- parameters: 1
select pg_typeof($1), $1::int;
-- parameters: 1
select $1::int, pg_typeof($1);
-- parameters: 1
select pg_typeof($1);
-- parameters: 1
select json_build_array($1);
-- parameters: 1
select coalesce($1, 1), $1::text;
-- parameters: 1
select coalesce($1, 1), $1::int;
-- parameters: 1
select case when id = $1 then $1 else 2 end from t order by 1;
-- parameters: 1
select id from t where id in ($1, $1);
-- parameters: 1
select id from t where id in (1, 2) and $1 in (1, 2.5);
-- parameters: {1}
select id from t where id = any ($1);
-- parameters: {1}
select id from t where id = any ($1) or id = $1;
-- parameters: 1
select $1 union select 1;
-- parameters: 1
select 1 union select $1;
-- parameters: 1
select $1 union select $1;
-- parameters: 1
select $1 union select $1 union select 2;
-- parameters: 1
select distinct $1 union select 'a' order by 1;
-- parameters: 1
select distinct $1 union select 2;
-- parameters: 1
select 1.5 union all (select $1 limit 1) order by 1;
-- parameters: a
select 'b' intersect select $1;
-- parameters: 1
select 'a', 1 union select 'b', $1 order by 1;
-- parameters: 1
select null union select $1::int union select null order by 1;
-- parameters: 1
select x from (select $1 as x union all select id from t) s where x > 1 order by 1;
-- parameters: a
select $1 union all select v from t order by 1;
-- parameters: 1
select x from (select $1 as x) s where x = 1;
-- parameters: a
select x from (select $1 as x) s where x = 'a';
-- parameters: 1
with s as (select $1 as x) select x from s where x::int = 1;
-- parameters: 1
select (select $1) + 1;
-- parameters: 1
select (select $1::int) + $1;
-- parameters: 1
select id from t where id = (select $1);
-- parameters: 1
select exists (select 1 from t where id = $1) and $1 = 1;
-- parameters: 1
values ($1), (1);
-- parameters: 1
values (1), ($1);
-- parameters: 1
values ($1), ('x');
-- parameters: 1 | 2
select $1 = $2;
-- parameters: 1 | 2
select $1 = $2, $1 + 1;
-- parameters: 1 | 2
select $1 + 1, $1 = $2;
-- parameters: 1
select $1 = $1;
-- parameters: 1
select array[$1, 1], $1;
-- parameters: 1
select row($1, 1) = row(1, 1);
-- parameters: 1
select ($1, id) = (1, 2) from t order by id;
-- parameters: 1
select id from t order by $1, id;
-- parameters: 1
select id from t order by id limit $1;
-- parameters: 1
select id from t where id = $1 order by id limit $1;
-- parameters: 1
select distinct $1 from t;
-- parameters: 1
select $1 from t group by $1;
-- parameters: 1
select $1, count(*) from t group by 1;
-- parameters: 1
select -$1, $1::int;
-- parameters: 1
select @ $1;
-- parameters: 1
select abs($1);
-- parameters: 1
select upper($1), length($1);
-- parameters: 2024-01-01
select id from t where d = $1 and d > $1 - 1;
-- parameters: 2024-01-01
select id from t where d > $1 - interval '1 day';
-- parameters: 2024-01-01
select $1 + interval '1 day', $1::date;
-- parameters: 1 day
select now() > now() - $1;
-- parameters: 1
select id from t where n > $1 and id > $1;
-- parameters: 1
select id from t where id between $1 and $1 + 1;
-- parameters: 1
select nullif($1, 1), greatest($1, 2);
-- parameters: a
select $1 is distinct from 'a', $1 = 'b';
-- parameters: a
select $1 like 'a%' and v = $1 from t order by id;
-- parameters: 1
select t.id from t join t u on t.id = $1 and u.v = $1;
-- parameters: 1 | 2
select id from t where (id, v) = ($1, $2);
-- parameters: 1 | 2
select $2::int;
-- parameters: 1
select sum($1) from t;
-- parameters: 1
select sum(id + $1), max($1) from t;
-- parameters: 1
insert into t (id, v) select $1, $1;
-- parameters: 3 | x
insert into t (id, v) select $1, $2;
-- parameters: 4 | x
insert into t (id, v) select $1, $2 union select 5, 'y';
-- parameters: 6
insert into t (id) values ($1), (7) returning $1;
-- parameters: 6
insert into t (id) values ($1) on conflict (id) do update set v = $1;
-- parameters: 1
update t set n = $1 where id = $1;
-- parameters: 1
update t set (id, v) = ($1, $1) where false;
-- parameters: 1
select nosuch from t where id = $1 and v = $1;
-- parameters: 1
select v + 1 from t where nosuch = $1;
select nosuch1 from t where nosuch2;
select sum(id) from t where sum(id) > 1;
select nosuch1 from t group by nosuch2;
select nosuch1 from t having nosuch2;
select id from t where nosuch1 group by nosuch2 having nosuch3 order by nosuch4 limit nosuch5;
select id from t group by nosuch2 having nosuch3 order by nosuch4;
select id from t order by nosuch1 limit nosuch2;
select id from t window w as (order by nosuch1) order by nosuch2;
select id from t limit nosuch1 offset nosuch2;
prepare p1 as select $1 where $1 = 1;
prepare p2 as select id from t where $1 is null or id = $1;
prepare p3 (int) as select id from t where $1 is null or id = $1 order by id;
execute p3 (null);
prepare p4 as select id = $1, v = $1 from t;
drop table t;
