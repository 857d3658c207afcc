-- Aggregates and grouping: what counts, what is NULL, which columns may be named, DISTINCT, FILTER, ORDER BY.
create table s (id int primary key, g text, h int, n numeric, f float8, i int8, t text, d date, b bool, iv interval);
insert into s values
  (1, 'x', 1, 1.5, 1.5, 10, 'one', '2024-01-01', true, '1 day'),
  (2, 'x', 1, 2.5, 2.5, 20, 'two', '2024-01-02', false, '2 hours'),
  (3, 'x', 2, null, null, null, null, null, null, null),
  (4, 'y', 1, -3, 1e10, 9000000000, 'three', '2020-02-29', true, '1 month'),
  (5, 'y', 2, 4.25, -0.5, -1, 'two', '2024-01-01', true, '-1 day'),
  (6, null, 3, 0, 0, 0, '', '1999-12-31', false, '0'),
  (7, null, null, 7, 7, 7, 'seven', '2024-07-07', null, '7 days');
select count(*), count(g), count(n), count(distinct g), count(distinct h) from s;
select sum(h), sum(i), sum(n), sum(f), sum(iv) from s;
select avg(h), avg(i), avg(n), avg(f), avg(iv) from s;
select min(h), max(h), min(n), max(n), min(f), max(f), min(t), max(t), min(d), max(d), min(iv), max(iv) from s;
select pg_typeof(sum(h)), pg_typeof(sum(i)), pg_typeof(sum(n)), pg_typeof(sum(f)), pg_typeof(avg(h)), pg_typeof(avg(f)), pg_typeof(count(*)), pg_typeof(sum(iv)) from s;
select bool_and(b), bool_or(b), every(b) from s;
select bool_and(b), bool_or(b) from s where b is null;
select bit_and(h), bit_or(h), bit_xor(h) from s;
select stddev(h), variance(h), stddev_pop(h), var_pop(h), stddev_samp(n), var_samp(n) from s;
select round(stddev(f)::numeric, 3), round(variance(i)) from s;
select corr(h, id), covar_pop(h, id), covar_samp(h, id), regr_count(h, id), regr_slope(h, id), regr_intercept(h, id) from s;
select string_agg(t, ',') from (select t from s order by id) x;
select string_agg(t, ',' order by t), string_agg(distinct t, ';'), string_agg(t, '' order by id desc) from s;
select string_agg(t, h::text order by id) from s;
select string_agg(t, null order by id) from s;
select array_agg(h), array_agg(h order by h desc nulls last), array_agg(distinct h) from s where id < 5;
select array_agg(g order by id) filter (where h = 1) from s;
select array_agg(array[h, id] order by id) from s where h is not null;
select array_agg(x) from (values (array[1, 2]), (array[3])) v (x);
select count(*) filter (where b), count(*) filter (where not b), sum(h) filter (where g = 'x') from s;
select count(*), sum(h), max(h), min(t), avg(n), array_agg(h), string_agg(t, ','), bool_and(b) from s where false;
select g, count(*), sum(h) from s group by g order by g;
select g, h, count(*) from s group by g, h order by g, h;
select g, h, count(*) from s group by 1, 2 order by 1, 2;
select g as k, count(*) from s group by k order by k;
select h + 1 as h1, count(*) from s group by h1 order by 1;
select h + 1, count(*) from s group by h + 1 order by h + 1;
select h + 1 + 1, count(*) from s group by h + 1 order by 1;
select h + 2, count(*) from s group by h + 1;
select upper(g), count(*) from s group by upper(g) order by 1;
select upper(g), count(*) from s group by g order by 1;
select g, count(*) from s;
select g, h, count(*) from s group by g;
select g from s group by h;
select * from s group by g;
select * from s group by id order by id limit 2;
select g, t from s group by id order by id;
select s.*, count(*) from s group by id order by id limit 1;
select count(*) from s group by nosuch;
select count(*) from s group by 2;
select g, count(*) from s group by 2;
select count(*) from s group by count(*);
select count(*) from s group by 'x';
select count(*) from s group by 1.5;
select count(*) from s group by ();
select g from s group by g order by g;
select g from s group by g order by count(*) desc, g;
select g, max(h) from s group by g order by max(h) desc nulls last, g;
select g from s group by g order by h;
select g, count(*) from s group by g having count(*) > 2 order by g;
select g, count(*) from s group by g having g is not null order by g;
select g, count(*) as c from s group by g having c > 1;
select count(*) from s having count(*) > 3;
select count(*) from s having count(*) > 30;
select 1 from s having true;
select h from s having true;
select g from s group by g having h > 1;
select g from s where count(*) > 1 group by g;
select sum(count(*)) from s;
select sum(sum(h)) from s group by g;
select max(max(h)) over () from s group by g;
select sum(count(*)) over (), g from s group by g order by g;
select g, count(*), rank() over (order by count(*) desc, g) from s group by g order by 3;
-- differs: bug: it fails
select avg(distinct h), sum(distinct h), count(distinct (g, h)) from s;
select count(distinct g, h) from s;
select count(distinct *) from s;
select count() from s;
select count(g, h) from s;
select sum(t) from s;
select sum(g || 'x') from s;
select avg(b) from s;
select avg(d) from s;
select max(b) from s;
select nosuch(h) from s;
select nosuch_agg(distinct h) from s;
select upper(distinct g) from s;
select upper(g) filter (where true) from s;
select upper(g order by h) from s;
select string_agg(distinct t, ',' order by h) from s;
select string_agg(t) from s;
select sum(h order by nosuch) from s;
select max(h) filter (where count(*) > 1) from s;
select max(h) filter (where h) from s;
select count(*) filter (where h > (select 1)) from s;
select g, count(*) from s where h = 1 group by g having max(id) < 4 order by g;
select count(*), count(*) + 1, count(*) * 2 as double from s;
select case when count(*) > 3 then 'many' else 'few' end from s;
select g, case when count(*) > 2 then 'many' when g is null then 'none' else 'few' end from s group by g order by 1;
select coalesce(g, 'none'), count(*) from s group by g order by 1;
select coalesce(g, 'none') as g, count(*) from s group by 1 order by 1;
select coalesce(g, 'none') as g, count(*) from s group by g order by 1;
select d is null, count(*) from s group by d is null order by 1;
select date_trunc('year', d), count(*) from s group by 1 order by 1;
select extract(year from d) as y, count(*) from s group by y order by y;
select b, count(*) from s group by b order by b;
select n, count(*) from s group by n order by n;
select f, count(*) from s group by f order by f;
select iv, count(*) from s group by iv order by iv;
select array_agg(id order by id), h from s group by h order by h;
select h, array_agg(distinct g order by g) from s group by h order by h;
select distinct g from s order by g;
select distinct g, h from s order by g, h;
select distinct on (g) g, id, h from s order by g, h desc, id;
select distinct on (g) g, id from s order by h;
select distinct on (g, h) g, h, id from s order by g, h, id desc;
select distinct on (h % 2) h % 2, id from s order by h % 2, id;
select distinct g from s order by h;
select distinct h + 1 from s order by h + 1;
select distinct count(*) from s group by g order by 1;
select distinct on (1) g, id from s order by 1, 2;
select count(*) from (select distinct g, h from s) x;
select count(distinct t), count(t), count(distinct upper(t)) from s;
select max(id) from s where g = 'nothing';
select sum(h), g from s where g = 'nothing' group by g;
select min(id), max(id) from s;
select min(id) from s where id > 3;
select max(id) from s where id < 3;
select max(h), max(id) from s where h is not null;
select sum(i) from (values (9223372036854775807::int8), (1)) v (i);
select sum(i) from (values (2147483647), (1)) v (i);
select sum(i::int2) from (values (32767), (1)) v (i);
select sum(x) from (values ('NaN'::float8), (1)) v (x);
select max(x), min(x) from (values ('NaN'::float8), (1), ('Infinity')) v (x);
-- differs: bug: PostgreSQL refuses it
select avg(x) from (values (1e308::float8), (1e308)) v (x);
select sum(x) from (values ('NaN'::numeric), (1)) v (x);
select avg(x) from generate_series(1, 100) x;
select sum(x), count(x), avg(x) from generate_series(1, 10000) x;
select x % 3, count(*), sum(x) from generate_series(1, 1000) x group by 1 order by 1;
select x % 3, x % 5, count(*) from generate_series(1, 100) x group by 1, 2 having count(*) > 6 order by 1, 2;
-- differs: refused: WITHIN GROUP
select g, percentile_cont(0.5) within group (order by h) from s group by g order by g;
-- differs: refused: WITHIN GROUP
select mode() within group (order by h) from s;
-- differs: refused: GROUPING SETS, ROLLUP and CUBE
select g, h, count(*) from s group by grouping sets ((g), (h), ()) order by 1, 2, 3;
-- differs: refused: GROUPING SETS, ROLLUP and CUBE
select g, h, count(*) from s group by rollup (g, h) order by 1, 2, 3;
-- differs: refused: GROUPING SETS, ROLLUP and CUBE
select g, h, count(*) from s group by cube (g, h) order by 1, 2, 3;
-- differs: refused: function json_agg(text)
select json_agg(g) from s;
select any_value(g) from s;
select xmlagg(g) from s;
select count(*) from s s1, s s2 where s1.g = s2.g;
select s1.g, count(*) from s s1 join s s2 on s1.h = s2.h group by s1.g order by 1;
select g, sum(h) as total, sum(h)::float8 / count(*) as mean from s group by g order by total desc nulls last, g;
select sum(h) from s order by sum(h);
select sum(h) from s order by h;
select sum(h) from s limit 0;
select g, (select sum(h) from s s2 where s2.g = s.g) from s group by g order by g;
-- differs: refused: an aggregate of an outer query's columns inside a subquery
select (select count(s.h) from (values (1), (2)) v) from s;
select (select count(s.h + v.column1) from (values (1), (2)) v) from s order by id;
select greatest(max(h), 5), least(min(h), 0) from s;
select max(id) + max(h), -max(id), not bool_and(b) from s;
drop table s;
