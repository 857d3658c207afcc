-- What the grammar and the analysis refuse, with message and position.
selec 1;
select;
select 1 +;
select * from;
select * form t;
select (1;
select 1);
select 'unterminated;
';
select "unterminated;
";
select "";
select 1 where;
select 1 order by;
select 1 from from;
select 1 as;
select 1 as select;
select a.b.c.d.e;
select 1 limit 1 limit 2;
select * from t where;
create tabel t (a int);
create table (a int);
create table t a int;
create table t (a);
create table t (a int,);
create table t (,a int);
insert t values (1);
insert into t value (1);
insert into t (1) values (1);
update t a = 1;
update set a = 1;
delete t;
delete from;
drop t;
drop table;
alter t add column a int;
alter table t add;
grant all;
begin transaction nosuch;
/* open comment;
*/ select 1 /* nested /* comment */ here */ as one; -- end
select 1 -- comment;
;
select $1;
select :x;
select @1;
-- differs: refused: operator integer @@ integer
select 1 @@ 2;
select !1;
select 5 !;
select 1 <=> 2;
select 1 != 2, 1 <> 2, 1 = 1;
select 1 === 1;
select 'a' 'b';
select 'a'
'b';
-- differs: refused: the type bit
select e'\x41', e'\u0041', u&'\0041', b'101', x'1F';
-- differs: another error
select e'\xZZ', e'\u00';
select e'\uD800';
-- differs: the error's hint
select U&'\00';
-- differs: refused: the type bit
select b'102';
-- differs: refused: the type bit
select x'1G';
-- differs: another message
select 1_000;
-- differs: another message
select 0x1F;
select 1e, 2;
select 1.2.3;
select 1..2;
select .5, 5., 1e5, 1.5e-3;
select 12345678901234567890, 1234567890123;
-- differs: another message
select 123abc;
select true and;
select not;
select 1 in;
select 1 in ();
select 1 between 2;
select case when 1 then 2;
select case end;
select case 1 when 2 then 3 end;
select case when true then 1 else 'x' end;
select cast(1 as);
select cast(1 as nosuch);
select 1::nosuch;
select '1'::int::text::int;
select int '5', date '2024-01-01', float8 '1.5', nosuch '5';
-- differs: bug: it fails
select interval '1' day, interval '1 2' day to hour, interval '5' nosuch;
select extract(nosuch from now());
select extract(year now());
select extract(epoch from interval '1 day');
select position('b' in 'abc'), position('b', 'abc');
select overlay('abcdef' placing 'XX' from 2 for 3), trim(both 'x' from 'xax'), trim('x' 'y');
select substring('abc' from 2 for 1), substring('abc', 2), substring('abc' for 2);
select nosuch();
select upper();
select upper(1);
select upper('a', 'b');
select abs('x');
select length(5);
select 'a' + 1;
select 'a' || 1;
select 1 || 2;
select 1 + true;
select -'a';
select -'5';
select not 1;
select not 'x';
select 1 and 2;
select null and true, null or true;
select 1 = 'x';
select 1 = '1';
select date '2024-01-01' = 1;
select '2024-01-01' = date '2024-01-01';
select array[1, 'x'];
select array[1, 2.5], array['a', null], array[]::int[];
select array[];
select array[[1], [2, 3]];
select (array[1,2,3])[2], (array[1,2,3])[5], (array[1,2,3])[1:2], ('{1,2}'::int[])[1];
select 1[1];
select row(1, 2) = row(1), row(1, 2) = (1, 2);
select row();
select (1, 2) < (1, 3), (1, null) = (1, 2);
-- differs: bug: it fails
select (row(1, 2)).f1;
-- differs: the error's position
select (1).a;
select a;
select a.b;
select t.* from nosuch t;
select *;
select * from (select 1) x, x;
select count(*) count, 1 "order", 2 as "Two";
select 1 a, 2 a order by a;
select 1 as a order by a + 1;
select 1 as a group by b;
select distinct on () 1;
select current_date(), 1;
select current_user, session_user, user, current_role, current_catalog is not null, current_schema;
-- differs: no notice
select localtime(7) is not null;
select now(1);
select pg_typeof(current_timestamp(0)), pg_typeof(localtimestamp), pg_typeof(current_time);
-- differs: the error's position
select default;
-- differs: the error's position
select 1 + default;
-- differs: the error's position
values (default);
values (1, 2), (3);
table nosuch;
explain nosuch;
explain (nosuch) select 1;
explain (costs maybe) select 1;
show nosuch;
set nosuch = 1;
set work_mem = 'x';
set work_mem = '1';
-- differs: bug: PostgreSQL refuses it
set datestyle = nosuch;
set timezone = 'No/Where';
reset nosuch;
-- differs: bug: it fails
set my.own = 'x';
-- differs: bug: it fails
show my.own;
-- differs: bug: it fails
select current_setting('my.own'), current_setting('nosuch.own', true);
select current_setting('nosuch');
-- differs: another message
select set_config('my.own', 'y', false), set_config('nosuch', 'y', false);
select 1 from generate_series(1, 2) g (a, b);
select generate_series(1, 2), generate_series(1, 3);
select generate_series(1, 5, 0);
select * from generate_series(5, 1);
select * from generate_series(5, 1, -2) as g;
select * from upper('x');
select * from upper('x') as u (c);
select * from now() as n where n is null;
select * from nosuch(1);
-- differs: another error
select * from count(*);
select * from unnest(array[1, 2], array['a']) as u (x, y);
select * from unnest(array[1, 2]) with ordinality;
select * from unnest(array['x', 'y']) with ordinality as u (v, n) where n = 2;
select unnest(array[1, 2]), unnest(array[3]);
select * from rows from (generate_series(1, 2), generate_series(1, 3)) as r (a, b);
-- differs: another error
select * from generate_series(1, 2) as g (x text);
select 1 where generate_series(1, 2) = 1;
-- differs: refused: an aggregate of an outer query's columns inside a subquery
select sum(generate_series(1, 3));
-- differs: bug: PostgreSQL refuses it
select case when true then generate_series(1, 2) end;
-- differs: bug: PostgreSQL refuses it
select coalesce(generate_series(1, 2), 0);
select 1/0;
select 1.0/0, 1 % 0;
select 0.0::float8/0;
select 2147483647 + 1;
-- differs: bug: PostgreSQL refuses it
select -2147483648 / -1;
select 32767::int2 + 1::int2;
select 9223372036854775807 + 1;
select 9223372036854775807 * 2;
-- differs: bug: PostgreSQL refuses it
select abs(-2147483648);
select (-9223372036854775808) / -1, -(-9223372036854775807 - 1);
select 1e308 * 10::float8, exp(1000::float8);
select sqrt(-1), ln(0), ln(-1);
select power(0, -1), 10 ^ 400;
select 'abc'::int, '12x'::int;
select '99999999999'::int;
select ''::int;
select 'x'::bool;
select 'x'::date;
select '2024-13-01'::date;
select '25:00'::time;
select to_date('2024-99-01', 'YYYY-MM-DD');
select to_number('x', '999');
select chr(0), chr(-1);
select chr(1114112);
select repeat('x', -1), repeat('x', 2000000000);
select substring('abc', 1, -1);
select split_part('a,b', ',', 0), split_part('a,b', ',', -1);
select 'a' like 'b\', 'a' like 'a\';
select 'a' ~ '(', 'a' ~ '[';
select regexp_replace('abc', 'b', 'x', 'z');
-- differs: bug: other rows
select to_char(1, 'nosuch'), to_char(now(), '') is null;
select decode('xyz', 'hex');
select decode('x', 'nosuch'), encode('a', 'nosuch');
select convert_from('\xff', 'UTF8');
select uuid 'x';
select int4 '5' + text '5';
select nullif(1, 'x');
select coalesce(1, 'x');
select greatest(1, 'x');
select lpad('x', 5, ''), rpad('x', 5, 'ab');
select format('%s %I %L %%', 'a', 'B c', 'd''e'), format('%z', 1);
select format('%s');
select quote_ident('a b'), quote_literal('a''b'), quote_nullable(null);
select width_bucket(5, 0, 10, 0);
select array_fill(1, array[2, 2]), array_fill(1, array[-1]);
select string_to_array('a,b', ','), array_to_string(array[1, null, 3], ',', '*');
select make_date(2024, 13, 1);
select make_time(25, 0, 0);
select date_part('nosuch', now());
select date_trunc('nosuch', now());
select age('2024-01-01', '2020-02-29'), age(null::timestamp);
select 'infinity'::timestamp - 'infinity'::timestamp;
select '1 month'::interval > '30 days'::interval, '1 month'::interval = '30 days'::interval;
select 'now'::date = current_date, 'today'::date = current_date, 'tomorrow'::date - 'yesterday'::date;
