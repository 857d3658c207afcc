-- Names of objects in a list beside a number that is shown as one.
create table t (a int);
create type mood as enum ('a');
select 't'::regclass in ('t', 'pg_class'), 'pg_type'::regclass not in ('t', 'pg_class');
select 't'::regclass in ('t');
select 't'::regclass in ('t', null), 't'::regclass in ('nothere', 't');
select 't'::regclass in ('t', 5);
select 't'::regclass in ('t', '1259'::oid);
select 'mood'::regtype in ('int4', 'mood'), 'lower(text)'::regprocedure in ('upper(text)', 'lower(text)');
select relname from pg_class where oid::regclass in ('t', 'pg_class') order by 1;
select relname from pg_class where oid in ('t'::regclass, 'pg_class'::regclass) order by 1;
create view seen as select relname from pg_class where oid::regclass in ('t', 'pg_class');
alter table t rename to u;
select * from seen order by 1;
drop view seen;
drop table u;
drop type mood;
