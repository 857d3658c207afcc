-- PREPARE, EXECUTE, DEALLOCATE, and parameters through Parse and Bind: inferred types, casts, errors.
create table t (id int primary key, v text, n numeric, d date, b boolean, a int[]);
insert into t select x, 'v' || x, x * 1.5, date '2024-01-01' + x, x % 2 = 0, array[x, x + 1] from generate_series(1, 5) x;
prepare p1 as select * from t where id = $1;
execute p1(2);
execute p1('3');
execute p1(2.4);
execute p1('x');
execute p1;
execute p1(1, 2);
execute nosuch(1);
prepare p1 as select 1;
deallocate p1;
execute p1(1);
deallocate p1;
prepare p2 (int, text) as select $1 + 1, $2 || '!';
execute p2(1, 'x');
execute p2(1 + 1, upper('y'));
execute p2((select 1), 'x');
execute p2(null, null);
execute p2('5', 6);
prepare p3 (nosuchtype) as select $1;
prepare p4 as select $1;
execute p4('text');
prepare p5 as select $1 + $2;
prepare p6 as insert into t (id, v) values ($1, $2) returning *;
execute p6(10, 'ten');
execute p6(10, 'ten');
prepare p7 as update t set v = $2 where id = $1;
execute p7(10, 'TEN');
prepare p8 as delete from t where id = any ($1);
execute p8('{10,11}');
prepare p9 as select count(*) from t;
execute p9;
execute p9();
insert into t (id) values (50);
execute p9;
delete from t where id = 50;
alter table t add column extra int;
prepare p10 as select * from t where id = 1;
execute p10;
alter table t drop column extra;
execute p10;
prepare p11 as select nosuch from t;
prepare p12 as create table x (a int);
prepare p13 as values ($1::int), ($1 + 1);
execute p13(5);
prepare p14 as select * from t where v like $1 order by id limit $2 offset $3;
execute p14('v%', 2, 1);
prepare p15 as with x as (select $1::int as n) select n, pg_typeof(n) from x;
execute p15(7);
prepare p16 as select $2::text, $1::int;
execute p16(1, 'two');
prepare p17 as select $1::int, $3::int;
select name, parameter_types, from_sql from pg_prepared_statements where name in ('p2', 'p6', 'p14') order by name;
create table made as execute p9;
select * from made;
explain (costs off) execute p2(1, 'x');
deallocate all;
select count(*) from pg_prepared_statements;
execute p2(1, 'x');
deallocate prepare nosuch;
prepare "Quoted" as select 1 as one;
execute "Quoted";
execute quoted;
discard plans;
execute "Quoted";
discard all;
execute "Quoted";
-- parameters: 3
select * from t where id = $1;
-- parameters: 3 | v3
select id from t where id = $1 and v = $2;
-- parameters: x
-- differs: the error's context
select * from t where id = $1;
-- parameters: (null)
select * from t where id = $1;
-- parameters: (null)
select * from t where id is not distinct from $1;
-- parameters: abc
select $1;
-- parameters: abc
select $1::text || 'x', length($1);
-- parameters: 5
select $1 + 1;
-- parameters: 5
select $1 || 'x';
-- parameters: 5 | 6
select $1 + $2;
-- parameters: 5 | 6
select $1 = $2;
-- parameters: 5 | 6
select $1::int8 + $2;
-- parameters: 2.5
select id from t where n > $1 order by id;
-- parameters: 2024-01-03
select id from t where d > $1 order by id;
-- parameters: 2
select d + $1 from t where id = 1;
-- parameters: 1 day
select d + $1::interval from t where id = 1;
-- parameters: t
select id from t where b = $1 order by id;
-- parameters: {1,3}
select id from t where id = any ($1) order by id;
-- parameters: {2,3}
select id from t where a = $1;
-- parameters: 1 | 2 | 3
select id from t where id in ($1, $2, $3) order by id;
-- parameters: 1 | 3
select id from t where id between $1 and $2 order by id;
-- parameters: 2 | 1
select id from t order by id limit $1 offset $2;
-- parameters: v%
select count(*) from t where v like $1;
-- parameters: x
select coalesce($1, 'y'), coalesce(null, $1), nullif($1, 'x');
-- parameters: 1
select case when $1 then 'yes' else 'no' end;
-- parameters: 1
select case $1 when 1 then 'one' else 'other' end;
-- parameters: 4 | four
insert into t (id, v) values ($1, $2) on conflict (id) do update set v = excluded.v returning v;
-- parameters: 20 | twenty | 1.25 | 2024-12-31 | f | {9}
insert into t values ($1, $2, $3, $4, $5, $6) returning *;
-- parameters: 99.5 | 20
update t set n = $1 where id = $2 returning n;
-- parameters: 20
delete from t where id = $1 returning id, v;
-- parameters: 3
select generate_series(1, $1);
-- parameters: 3
select * from generate_series(1, $1) g;
-- parameters: month
select date_trunc($1, d) from t where id = 1;
-- parameters: 1
select $1 where $1 = 1;
-- parameters: 1
select $1, $1::text;
-- parameters: 1
select $1::int, $1::text;
-- parameters: 1 | 2
select $2::int;
-- parameters: 1
select 1; select 2;
-- parameters: 1
select array[$1, 2], array[$1]::text[];
-- parameters: 1 | x
select row($1::int, $2::text);
-- parameters: 1
select (select $1::int + id from t where id = $1);
-- parameters: 7
select exists (select 1 from t where id = $1), $1 in (select id from t);
-- parameters: 1
select sum($1::int) from t;
-- parameters: 2
select id % $1, count(*) from t group by id % $1 order by 1;
-- parameters: 2
select id % $1, count(*) from t group by 1 order by 1;
-- parameters: 1
values ($1);
-- parameters: 1 | a
values ($1::int, $2), (2, 'b');
-- parameters: 1
select 'x' from t where id = $1 for update;
-- parameters: 1
create table nope as select $1::int as x;
-- parameters: 2 | two
create table if not exists made as select id, $2 as said, $2 || 'x' as more from t where id <= $1 order by id;
select * from made order by id;
-- parameters: 1 | a
create temp table made_too (n, v) on commit preserve rows as values ($1::int, $2), (7, 'b');
select * from made_too order by n;
-- parameters: 3
create table made_three as with w as (select $1::int as n) select n + 1 as m from w with no data;
select * from made_three;
-- parameters: 1
-- differs: the parameters are told before it is refused
create materialized view seen as select $1::int as x;
-- parameters: x
-- differs: the error's context
create table failed as select $1::int as x;
-- parameters: 1
create table failed as select no_such from t where id = $1;
-- parameters: 1
-- differs: refused: EXPLAIN of CREATE TABLE AS
explain (costs off) create table failed as select $1::int as x;
drop table nope, made, made_too, made_three;
-- parameters: 1
set work_mem = $1;
-- parameters: a
select $1 like 'a%', $1 ~ 'a', $1 similar to 'a';
-- parameters: a | b
select $1 < $2, greatest($1, $2);
-- parameters: 5
select interval '1 day' * $1;
-- parameters: 5
select timestamp '2024-01-01' + $1;
-- parameters: Europe/Berlin
select timestamptz '2024-01-01 00:00+00' at time zone $1;
-- parameters: 3
select substring('abcdef' from $1), substr('abcdef', $1), left('abcdef', $1);
-- parameters: 3
select round(2.71828, $1), repeat('x', $1);
-- parameters: 1
select $0;
drop table t, made;
