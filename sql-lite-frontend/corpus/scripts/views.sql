-- Views: definition, dependents, renaming below and above, replacement, writes.
create table base (id int primary key, name text not null, amount numeric(8,2) default 0);
insert into base values (1, 'one', 1.5), (2, 'two', 2.5), (3, 'three', null);
create view v as select id, name from base where id < 3;
select * from v order by id;
select v.name from v where id = 1;
select count(*) from v;
create view v as select 1 as a;
create or replace view v as select id, name from base where id < 4;
select count(*) from v;
create or replace view v as select id, name, amount from base;
select * from v order by id;
create or replace view v as select id from base;
create or replace view v as select id, name as title, amount from base;
create or replace view v as select id::bigint, name, amount from base;
create or replace view v as select name, id, amount from base;
create view w (a, b) as select id, name from base;
select a, b from w order by a;
create view w2 (a, b, c) as select id, name from base;
create view w2 (a) as select id, name from base;
select * from w2 order by a;
create view bad as select nosuch from base;
create view bad as select * from nosuch;
create view bad as select 1 as a, 2 as a;
create view bad as select $1;
create view bad as insert into base values (9, 'x');
create view unknown_type as select 'text' as t, null as n;
select pg_typeof(t), pg_typeof(n) from unknown_type;
create view over_view as select name || '!' as shout from v where id > 1;
select * from over_view order by 1;
drop view v;
drop view v cascade;
select * from over_view;
create view v as select * from base;
alter table base add column extra int default 9;
select * from v order by id limit 1;
alter table base rename column name to title;
select * from v order by id limit 1;
select title from v;
select name from v order by id limit 1;
alter table base rename to base2;
select count(*) from v;
alter view v rename to v2;
select count(*) from v2;
alter view v2 rename column name to heading;
select heading from v2 order by id limit 1;
alter table v2 rename column heading to name;
alter view v2 rename column nosuch to x;
alter table base2 rename column title to name;
alter table base2 rename to base;
alter table base drop column amount;
alter table base drop column extra;
drop table base;
drop table base restrict;
drop table v2;
drop view base;
drop view nosuch;
drop view if exists nosuch;
select viewname from pg_views where schemaname = 'public' order by 1;
select relname, relkind from pg_class where relname in ('base', 'v2', 'w') order by 1;
create view joined as select b1.id, b2.name as other from base b1 join base b2 on b2.id = b1.id + 1;
select * from joined order by id;
create view grouped as select length(name) as len, count(*) as n from base group by 1;
select * from grouped order by len;
select * from grouped where n > 1;
create view with_window as select id, row_number() over (order by name) as n from base;
select * from with_window order by n;
select * from with_window where id = 2;
create view with_limit as select id from base order by id desc limit 2;
select * from with_limit where id < 3;
create view with_distinct as select distinct length(name) as l from base;
select count(*) from with_distinct;
create view with_sub as select id, (select count(*) from base b2 where b2.id <= b1.id) as n from base b1;
select * from with_sub order by id;
create view with_case as select id, case when id > 1 then 'big' else 'small' end as size, coalesce(name, '-') as nm from base;
select size, count(*) from with_case group by size order by size;
create view with_values as values (1, 'x'), (2, 'y');
select column2 from with_values where column1 = 2;
create view with_series as select n, n * n as sq from generate_series(1, 4) n;
select sum(sq) from with_series;
create view with_union as select id from base union select 100;
select * from with_union order by id;
create temp view tv as select id from base;
select count(*) from tv;
create view on_temp as select * from tv;
create temporary table tt (a int);
create view uses_temp as select * from tt;
drop view uses_temp;
create view v_any as select * from base where id = any (array[1, 3]);
select id from v_any order by id;
create view v_in as select * from base where id in (1, 2) and name like 't%' or name is null;
select id from v_in;
create view v_cast as select id::text as t, id::numeric(5,1) as n, '2024-01-01'::date + id as d from base;
select * from v_cast order by t;
create view v_quoted as select id as "The Id", name as "select" from base;
select "The Id" from v_quoted where "select" = 'one';
create view "V Q" as select * from v_quoted;
select * from "V Q" order by 1;
create or replace view v_new as select 1 as one;
select * from v_new;
create or replace temp view v_new as select 2 as one;
-- differs: bug: other rows
select * from v_new;
select * from public.v_new;
drop view v_new;
select * from v_new;
-- differs: refused: WITH CHECK OPTION
create view v_check as select id, name from base where id < 10 with check option;
create recursive view v_rec (n) as values (1) union all select n + 1 from v_rec where n < 4;
select * from v_rec;
-- differs: refused: INSERT on a view
insert into w values (10, 'x');
-- differs: refused: UPDATE on a view
update w set b = 'x' where a = 1;
-- differs: refused: DELETE on a view
delete from w where a = 1;
-- differs: refused: INSERT on a view
insert into grouped values (1, 1);
-- differs: refused: UPDATE on a view
update joined set other = 'x';
-- differs: bug: other rows
select * from w order by a;
comment on view w is 'the view w';
select obj_description('w'::regclass);
create view many as select b1.id as i1, b2.id as i2, b1.name as n1 from base b1, base b2 where b1.id < b2.id;
-- differs: bug: other rows
select * from many order by 1, 2;
-- differs: bug: other rows
select m.i1, b.name from many m join base b on b.id = m.i2 order by 1, 2;
-- differs: bug: other rows
explain (costs off) select * from w where a = 1;
-- differs: refused: materialized views
create materialized view mv as select * from base;
-- differs: refused: REFRESH MATERIALIZED VIEW
refresh materialized view mv;
drop view w, w2;
drop schema if exists views_schema;
create schema views_schema;
create view views_schema.inside as select id from public.base;
select count(*) from views_schema.inside;
drop schema views_schema cascade;
-- differs: no notice
drop table base cascade;
