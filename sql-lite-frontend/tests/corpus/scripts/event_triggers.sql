-- Event triggers: their definition, when they run, and what their functions can ask.
create function note() returns event_trigger language plpgsql as $$
begin
  raise notice '% %', tg_event, tg_tag; --
end $$;
create function tell_defined() returns event_trigger language plpgsql as $$
declare
  r record; --
begin
  for r in select * from pg_event_trigger_ddl_commands() order by object_type, object_identity loop
    raise notice '% %: % "%" in %, %, part %', tg_event, r.command_tag, r.object_type, r.object_identity, r.schema_name, r.in_extension, r.objsubid; --
  end loop; --
end $$;
create function tell_dropped() returns event_trigger language plpgsql as $$
declare
  r record; --
begin
  for r in select * from pg_event_trigger_dropped_objects() where object_type not in ('type', 'table constraint', 'default value', 'toast table', 'rule', 'domain constraint') and schema_name is distinct from 'pg_toast' order by object_type, object_identity loop
    raise notice '% %: % "%" in %, name %, original %, temporary %, % %', tg_event, tg_tag, r.object_type, r.object_identity, r.schema_name, r.object_name, r.original, r.is_temporary, r.address_names, r.address_args; --
  end loop; --
end $$;

-- Refused.
create event trigger bad on nothing execute function note();
create event trigger bad on ddl_command_end execute function nowhere();
create event trigger bad on ddl_command_end execute function lower();
create function plain() returns trigger language plpgsql as 'begin return null; end';
create event trigger bad on ddl_command_end execute function plain();
create event trigger bad on ddl_command_start when tag in ('create table', 'make table') execute function note();
create event trigger bad on ddl_command_start when tag in ('CREATE ROLE') execute function note();
create event trigger bad on ddl_command_start when tag in ('create event trigger') execute function note();
create event trigger bad on ddl_command_start when tag in ('insert') execute function note();
create event trigger bad on ddl_command_start when tag in ('create table') and tag in ('create view') execute function note();
create event trigger bad on ddl_command_start when color in ('red') execute function note();
create event trigger bad on table_rewrite when tag in ('create table') execute function note();
create function bad() returns event_trigger language sql as 'select 1';
create function bad(int) returns event_trigger language plpgsql as 'begin end';
create function bad() returns event_trigger language plpgsql as 'begin return 1; end';
select note();
select * from note();
select * from pg_event_trigger_ddl_commands();
select * from pg_event_trigger_dropped_objects();
select pg_event_trigger_table_rewrite_oid();
select pg_event_trigger_table_rewrite_reason();
alter event trigger nowhere disable;
alter event trigger nowhere rename to other;
drop event trigger nowhere;
drop event trigger if exists nowhere;
comment on event trigger nowhere is 'x';

-- When they run.
create event trigger a_start on ddl_command_start execute function note();
create event trigger b_start on ddl_command_start when tag in ('create table', 'DROP TABLE') execute function note();
create event trigger c_end on ddl_command_end execute function tell_defined();
create event trigger d_drop on sql_drop execute function tell_dropped();
create event trigger a_start on ddl_command_end execute function note();
select evtname, evtevent, evtenabled, evttags, evtfoid::regproc, evtowner = (select oid from pg_roles where rolname = current_user) as own from pg_event_trigger order by evtname;
create table t (id serial primary key, v text unique, check (v <> ''));
create table if not exists t (a int);
create table copy as select 1 as a;
select 2 as b into copied;
create view seen as select id from t;
-- differs: a view that gets another column is altered besides
create or replace view seen as select id, v from t;
create materialized view kept as select id from t;
refresh materialized view kept;
create index t_lower on t (lower(v));
create sequence counter;
alter sequence counter restart;
alter table t add column w int default 7;
alter table t alter column w type bigint;
alter table t rename column w to x;
alter table t rename to renamed;
alter table renamed rename to t;
create type color as enum ('red');
alter type color add value 'blue';
create type pair as (a int, b int);
create domain positive as int check (value > 0);
create function f(a int, b text default 'x') returns int language sql as 'select a';
create or replace function f(a int, b text default 'x') returns int language sql as 'select a + 1';
alter function f(int, text) stable;
create procedure p() language sql as 'select 1';
create aggregate total(int) (sfunc = int4pl, stype = int);
create function tf() returns trigger language plpgsql as 'begin return new; end';
create trigger tr before insert on t for each row execute function tf();
create policy pol on t using (true);
create schema s;
create collation s.c (provider = icu, locale = 'de');
comment on table t is 'a table';
comment on column t.v is 'a column';
grant select on t to public;
revoke select on t from public;
grant execute on function f(int, text) to public;
create temp table temporary_one (a int primary key);
do $$ begin create table made_in_do (a int); end $$;
create role event_role;
create database event_db;
drop database event_db;
truncate t;
insert into t (v) values ('a');
analyze t;
begin;
create table undone (a int);
rollback;
select count(*) from pg_class where relname = 'undone';

-- What is dropped.
alter table t drop column x;
alter table t drop constraint t_v_check;
drop index t_lower;
drop trigger tr on t;
drop policy pol on t;
drop table copy, copied;
drop table temporary_one;
drop view seen;
drop function f(int, text);
drop procedure p();
drop aggregate total(int);
drop type color;
drop domain positive;
drop sequence counter;
create table s.inner_one (a int primary key);
-- differs: the order of what it drops
drop schema s cascade;
drop materialized view kept;
drop table t cascade;
drop table made_in_do;
drop table if exists nowhere;

-- Order, switches, errors.
alter event trigger a_start rename to z_start;
create table o1 (a int);
alter event trigger b_start disable;
create table o2 (a int);
set session_replication_role = replica;
create table o3 (a int);
alter event trigger b_start enable replica;
create table o4 (a int);
alter event trigger c_end enable always;
create table o5 (a int);
reset session_replication_role;
create table o6 (a int);
alter event trigger b_start enable;
set event_triggers = off;
create table o7 (a int);
reset event_triggers;
drop table o1, o2, o3, o4, o5, o6, o7;
create function refuse() returns event_trigger language plpgsql as $$
begin
  raise exception 'no % here', tg_tag; --
end $$;
create event trigger no_views on ddl_command_end when tag in ('create view') execute function refuse();
create view v as select 1 as a;
select count(*) from pg_class where relname = 'v';
create table fine (a int);
drop event trigger no_views;
create function make_log() returns event_trigger language plpgsql as $$
declare
  n int; --
begin
  select count(*) into n from pg_event_trigger_ddl_commands(); --
  insert into log values (tg_tag, n); --
end $$;
create table log (tag text, n int);
create event trigger logs on ddl_command_end when tag in ('create table', 'alter table') execute function make_log();
create table logged (a int);
alter table logged add b int;
select * from log;
drop event trigger logs;

-- Tables that are written anew.
create function tell_rewrite() returns event_trigger language plpgsql as $$
begin
  raise notice '% of % for %', tg_event, pg_event_trigger_table_rewrite_oid()::regclass, pg_event_trigger_table_rewrite_reason(); --
end $$;
create event trigger rewrites on table_rewrite when tag in ('alter table') execute function tell_rewrite();
insert into logged values (1, 2);
alter table logged alter column b type bigint;
alter table logged alter column b type bigint;
alter table logged add c int default 5;
alter table logged add d float default random();
drop event trigger rewrites;

-- Owners, comments, what depends on what.
comment on event trigger z_start is 'the first';
select obj_description(oid, 'pg_event_trigger') from pg_event_trigger where evtname = 'z_start';
select pg_describe_object('pg_event_trigger'::regclass, oid, 0), (pg_identify_object('pg_event_trigger'::regclass, oid, 0)).* from pg_event_trigger where evtname = 'z_start';
alter event trigger z_start owner to event_role;
drop function note();
drop function note() cascade;
select evtname from pg_event_trigger order by 1;
set role event_role;
create event trigger mine on ddl_command_end execute function tell_defined();
alter event trigger c_end disable;
drop event trigger c_end;
reset role;
drop event trigger c_end;
drop event trigger d_drop;
drop role event_role;
select count(*) from pg_event_trigger;
