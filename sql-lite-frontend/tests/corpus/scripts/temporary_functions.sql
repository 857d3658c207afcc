-- Functions and procedures of a session: the schema pg_temp.
create function plain(int) returns text language sql as $$ select 'permanent ' || $1 $$;
create function pg_temp.plain(int) returns text language sql as $$ select 'temporary ' || $1 $$;
create function pg_temp.own(a int, b text default 'x') returns text language plpgsql as $$ begin return b || a; end $$;
select plain(1), pg_temp.plain(1);
select own(1);
select pg_temp.own(1), pg_temp.own(b => 'y', a => 2);
select pg_temp.nosuch();
select pg_temp.own('a');
set search_path = pg_temp, public;
select own(1);
select plain(1);
reset search_path;
create function pg_temp.own(a int, b text) returns text language sql as 'select b';
create or replace function pg_temp.own(a int, b text default 'z') returns text language sql as 'select b';
select pg_temp.own(1);
select proname, pronamespace = pg_my_temp_schema() as temporary, pg_function_is_visible(oid) from pg_proc where proname in ('own', 'plain') order by 1, 2;
select n.nspname ~ '^pg_temp_' from pg_proc p join pg_namespace n on n.oid = p.pronamespace where proname = 'own';
select has_function_privilege('pg_temp.own(int, text)', 'execute');
create procedure pg_temp.work(inout a int) language plpgsql as $$ begin a := a + 1; end $$;
call pg_temp.work(4);
call work(4);
create table t (a int);
create function pg_temp.rows() returns setof t language sql as 'select * from t';
insert into t values (1), (2);
select * from pg_temp.rows();
create temp table tt (a int default length(pg_temp.plain(3)), check (a > length(pg_temp.own(1))));
insert into tt default values;
select a from tt;
-- differs: the number of the session's schema
insert into tt values (0);
create temp view tv as select pg_temp.plain(a) as p from t;
select * from tv order by 1;
create function pg_temp.note() returns trigger language plpgsql as $$ begin raise notice '% %', tg_op, new; return new; end $$;
create trigger n before insert on tt for each row execute function pg_temp.note();
-- differs: the number of the session's schema
insert into tt values (30);
create function pg_temp.caller() returns text language sql return pg_temp.plain(7);
select pg_temp.caller();
-- differs: the number of the session's schema
drop function pg_temp.plain(int);
-- differs: the number of the session's schema
drop function pg_temp.own;
drop table tt cascade;
-- differs: the number of the session's schema
drop function pg_temp.plain(int) cascade;
select pg_temp.plain(1);
select pg_temp.caller();
alter function pg_temp.own rename to other;
select pg_temp.other(1);
alter function pg_temp.other(int, text) set schema public;
alter function plain(int) set schema pg_temp;
alter function pg_temp.other(int, text) cost 7;
comment on function pg_temp.other(int, text) is 'of this session';
select obj_description('pg_temp.other(int, text)'::regprocedure);
begin;
create function pg_temp.short() returns int language sql as 'select 1';
select pg_temp.short();
rollback;
select pg_temp.short();
begin;
create function pg_temp.short() returns int language sql as 'select 1';
prepare transaction 'with temporary';
-- Objects that outlive the session.
-- differs: refused: temporary functions in permanent objects
create view lasting as select pg_temp.other(1);
-- differs: refused: temporary functions in permanent objects
create trigger n before insert on t for each row execute function pg_temp.note();
discard temp;
select count(*) from pg_proc where proname in ('other', 'note', 'rows', 'work');
create database home;
-- connect: home
create function pg_temp.again() returns int language sql as 'select 5';
create table t (a int);
create temp view v as select pg_temp.again() from t;
select pg_temp.again(), count(*) from v;
-- connect: home
-- differs: the error's text where the session has no temporary objects yet
select pg_temp.again();
select count(*) from pg_proc where proname = 'again';
select count(*) from pg_class where relname = 'v';
create role limited;
revoke temporary on database home from public;
set role limited;
create function pg_temp.denied() returns int language sql as 'select 1';
