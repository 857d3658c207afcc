-- Functions of a table's owner that maintenance runs have the owner's rights, whoever asks for it.
create role maker;
create role other;
grant maker to other;
grant create on schema public to maker;
create table seen (place text, who text);
create table attempt (command text);
grant select, insert, delete on seen, attempt to public;
set role maker;
create function note(place text) returns void language plpgsql as 'declare c text; begin insert into seen values (place, current_user); for c in select command from attempt loop execute c; end loop; end';
create function f(v int, place text) returns int immutable language plpgsql as 'begin perform note(place); return v; end';
create table t (a int, b int, g int generated always as (f(1, 'generated')) stored, d int default f(1, 'default'), check (f(b, 'check') > 0));
insert into t values (1, 1);
-- differs: the context has the function's schema
create index t_expression on t (f(a, 'expression'));
-- differs: the context has the function's schema
create index t_predicate on t (a) where f(b, 'predicate') > 0;
-- differs: the context has the function's schema
alter table t add constraint t_exclusion exclude using btree (f(a, 'exclusion') with =);
create table k (a int primary key);
create index k_expression on k (f(a, 'key'));
insert into k values (1);
create table r (a int references k on update cascade on delete cascade, b int default 1, check (f(a, 'cascade check') > 0));
create index r_expression on r (f(a, 'cascade index'));
insert into r values (1);
create function tell() returns trigger language plpgsql as 'begin perform note(tg_argv[0]); if tg_op = ''DELETE'' then return old; end if; return new; end';
create trigger b before update or delete on r for each row execute function tell('before');
create trigger a after update or delete on r for each row execute function tell('after');
-- differs: the context has the function's schema
create materialized view m as select a, f(b, 'view') as b from t;
create unique index on m (a);
create index m_expression on m (f(b, 'view index'));
create table z (a int, b int, check (f(b, 'rewritten check') > 0));
insert into z values (1, 1);
-- differs: the context has the function's schema
create index z_expression on z (f(a, 'rewritten index'));
create domain dom as int;
create table dt (a dom);
insert into dt values (1);
-- differs: the context has the function's schema
create index on dt (f(a, 'domain'));
create type pair as (x int, y int);
create table pt (p pair, a int);
insert into pt values ((1, 1), 1);
-- differs: the context has the function's schema
create index on pt (f(a, 'attribute'));
create table l (a int);
insert into l values (1);
reset role;
create function tried(command text) returns text language plpgsql as 'declare found text; begin delete from seen; execute command; select string_agg(distinct place || '' as '' || who, '', '' order by place || '' as '' || who) into found from seen; return coalesce(found, ''nothing''); exception when others then return sqlstate || '': '' || sqlerrm; end';
create table statements (n int, command text);
insert into statements values
  (1, 'create index i1 on t (f(a, ''new expression''))'),
  (2, 'create index i2 on t (a) where f(b, ''new predicate'') > 0'),
  (3, 'create unique index i3 on t (f(a, ''new unique''))'),
  (4, 'alter table t add constraint c4 exclude using btree (f(a, ''new exclusion'') with =)'),
  (5, 'alter table t add constraint c5 exclude using btree (a with =) where (f(b, ''exclusion predicate'') > 0)'),
  (6, 'reindex table t'),
  (7, 'reindex index t_expression'),
  (8, 'reindex index t_predicate'),
  (9, 'reindex index t_exclusion'),
  (10, 'analyze t'),
  (11, 'truncate l'),
  (12, 'alter table z add primary key (a)'),
  (13, 'alter table z alter a type int using f(a, ''using'')'),
  (14, 'alter table l add column b int default f(1, ''column default'')'),
  (15, 'alter table l add column c int generated always as (f(1, ''column generated'')) stored'),
  (16, 'alter table l add check (f(a, ''new check'') > 0)'),
  (17, 'alter table l add column e int check (f(a, ''column check'') > 0)'),
  (18, 'alter table l add primary key (a)'),
  (19, 'create index i19 on m (f(b, ''new view index''))'),
  (20, 'reindex table m'),
  (21, 'refresh materialized view m'),
  (22, 'refresh materialized view concurrently m'),
  (23, 'update t set a = a'),
  (24, 'update k set a = a + 1'),
  (25, 'delete from k'),
  (26, 'alter domain dom add check (value > 0)'),
  (27, 'alter domain dom add check (f(value, ''domain check'') > 0)'),
  (28, 'alter type pair alter attribute y type bigint cascade'),
  (29, 'alter type pair add attribute z int'),
  (30, 'create materialized view m30 as select f(b, ''new view'') from t'),
  (31, 'create table t31 as select f(b, ''table as'') from t');
-- differs: ours samples no expressions, and asks indexes and checks of rewritten tables and unchanged rows again
select n, command, tried(command) from statements order by n;
select string_agg(attname, ', ' order by attnum) from pg_attribute where attrelid = 't'::regclass and attnum > 0;
-- What such a function may not do.
create table attempts (n int, command text);
insert into attempts values
  (1, 'alter role maker superuser'),
  (2, 'reset role'),
  (3, 'set role none'),
  (4, 'set local role none'),
  (5, 'set role other'),
  (6, 'select set_config(''role'', ''none'', false)'),
  (7, 'select set_config(''role'', ''none'', true)'),
  (8, 'reset session authorization'),
  (9, 'set session authorization default'),
  (10, 'set session authorization maker'),
  (11, 'select set_config(''session_authorization'', ''maker'', false)'),
  (12, 'create temp table x (a int)'),
  (13, 'create temp table x as select 1 as a'),
  (14, 'create temp view x as select 1 as a'),
  (15, 'create temp sequence x'),
  (16, 'declare c cursor with hold for select note(''held'')'),
  (17, 'prepare p as select 1'),
  (18, 'deallocate all'),
  (19, 'listen c'),
  (20, 'unlisten *'),
  (21, 'discard plans'),
  (22, 'close all'),
  (23, 'insert into deferred values (1)'),
  (25, 'select definer()'),
  (26, 'select setter()'),
  (27, 'do ''begin begin execute ''''reset role''''; exception when others then raise exception ''''caught %'''', sqlerrm; end; end'''),
  (28, 'do ''begin begin perform 1 / 0; exception when others then null; end; execute ''''alter role maker superuser''''; end'''),
  (29, 'select 1 / 0'),
  (30, 'create table x (a int)'),
  (31, 'reset all'),
  (32, 'set work_mem = ''123kB''');
set role maker;
create table deferred (a int);
create function late() returns trigger language plpgsql as 'begin execute ''alter role maker superuser''; return null; end';
create constraint trigger late after insert on deferred deferrable initially deferred for each row execute function late();
create function definer() returns text security definer language plpgsql as 'begin execute ''reset role''; return current_user; end';
create function setter() returns text language plpgsql set role = 'none' as 'begin execute ''alter role maker superuser''; return current_user; end';
create table v (a int, b int);
insert into v values (1, 1);
-- differs: the context has the function's schema
create index v_index on v (f(a, 'index'));
create table vv (a int, b int);
insert into vv values (1, 1);
-- differs: the context has the function's schema
create index vv_index on vv (f(a, 'index'));
-- differs: the context has the function's schema
create materialized view w as select a, f(b, 'view') as b from v;
create unique index on w (a);
create index w_index on w (f(b, 'view index'));
reset role;
create function attempted(what text, by text) returns text language plpgsql as 'begin insert into attempt values (what); execute by; delete from attempt; return ''done''; exception when others then return sqlstate || '': '' || sqlerrm; end';
select n, command, attempted(command, 'refresh materialized view w') as refreshed from attempts order by n;
select n, command, attempted(command, 'refresh materialized view concurrently w') as concurrently from attempts order by n;
select n, command, attempted(command, 'reindex index v_index') as reindexed from attempts order by n;
select n, command, attempted(command, 'reindex index w_index') as reindexed from attempts order by n;
select n, command, attempted(command, 'create index made on v (f(a, ''made''))') as created from attempts where n < 32 order by n;
select n, command, attempted(command, 'alter table vv alter b type int using b + 0') as rewritten from attempts order by n;
select rolsuper from pg_roles where rolname = 'maker';
select current_user = session_user;
show work_mem;
select count(*) from pg_class where relname = 'x';
-- The settings of a function that such a function changes are as before.
set role other;
insert into attempt values ('set search_path = nowhere'), ('set session_replication_role = origin');
reindex index v_index;
delete from attempt where command like '%replica%';
refresh materialized view w;
show search_path;
select current_user, session_user = current_user as is_session;
reset role;
delete from attempt;
-- After an error, also in a block with savepoints, everybody is who they were.
begin;
savepoint s;
insert into attempt values ('select 1 / 0');
reindex index v_index;
rollback to s;
select current_user = session_user;
set role other;
savepoint s;
set role maker;
rollback to s;
select current_user;
refresh materialized view w;
select current_user;
commit;
reset role;
-- A function with its owner's rights does not change roles either.
set role maker;
create or replace function definer() returns text security definer language plpgsql as 'begin set role maker; return current_user; end';
reset role;
select definer();
set role other;
select definer();
reset role;
set role maker;
create or replace function definer() returns text security definer language plpgsql as 'begin perform set_config(''session_authorization'', ''maker'', false); return current_user; end';
reset role;
select definer();
select setter();
set role maker;
-- differs: refused when it is made, not when it is called
create or replace function setter() returns text security definer language plpgsql set role = 'none' as 'begin return current_user; end';
reset role;
-- differs: so the one before is called
select setter();
create function plain() returns text language plpgsql set role = 'maker' as 'begin return current_user; end';
select plain();
select current_user = session_user;
