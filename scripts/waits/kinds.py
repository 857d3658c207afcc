"""What one session does to an object in an open transaction, and what another makes of the object meanwhile: for
each kind of object every change with every use, ended both ways.

A kind has `setup` (what is there before), `changes` (name: statements of the first session, ended by COMMIT or
ROLLBACK) and `uses` (what the second session does). A use is a statement, or several with " ;; " between them of
which all but the last are done before the change begins. Everything lies in the schemas w and v, of which w is the
search path, or has a name that begins with w_."""
import dataclasses

BASE = """create schema w; create schema v; set search_path = w; create role w_r; create role w_q;
create table o (a int primary key, b text, c int); insert into o values (1, 'x', 1), (2, 'y', 2);
create function one() returns int language sql immutable as 'select 1';
grant all on schema w, v to w_r; grant select on o to w_r"""


@dataclasses.dataclass
class Kind:
    name: str
    setup: str
    changes: dict
    uses: list


def changes_by(statements):
    """Uses that are changes as well, each under its own text."""
    return {statement: statement for statement in statements if " ;; " not in statement}


SCHEMA_CHANGES = {
    "its schema goes": "drop schema w cascade",
    "its schema is renamed": "alter schema w rename to w_9",
    "its schema is another": "alter schema w rename to w_9; create schema w",
}

# --- tables --------------------------------------------------------------------------------------------------
TABLE = """create table t (a int primary key, b text, c int default 1);
insert into t values (1, 'x', 1), (2, 'y', 2); create index i on t (b); create unique index u on t (c);
create table child (a int references t, b text); insert into child values (1, 'z');
create view r as select a, b from t;
create function read() returns bigint language sql as 'select count(*) from t';
create function add() returns bigint language plpgsql as
 'begin insert into t values (7, null, 7); return (select count(*) from t); end';
create procedure clear() language plpgsql as 'begin delete from child; delete from t; end';
create function note() returns trigger language plpgsql as
 'begin insert into t values (new.a + 90, null, new.a + 90); return new; end';
create trigger note before insert on o for each row execute function note();
create trigger own after update on t for each row execute function note();
grant all on t to w_r; create table f (a int, b text, c int)"""
TABLE_CHANGES = {
    "goes": "drop table t cascade",
    "is made again": "drop table t cascade; create table t (a int primary key, b text, c int default 1)",
    "is made with other columns": "drop table t cascade; create table t (x text)",
    "becomes a view": "drop table t cascade; create view t as select 1 as a, 'x'::text as b, 2 as c",
    "becomes a materialized view": "drop table t cascade; create materialized view t as select 1 as a, 'x'::text as b, 2 as c",
    "becomes a sequence": "drop table t cascade; create sequence t",
    "becomes an index": "drop table t cascade; create index t on o (b)",
    "becomes a type": "drop table t cascade; create type t as (a int, b text)",
    "becomes temporary": "drop table t cascade; create temp table t (a int, b text, c int)",
    "is renamed": "alter table t rename to t9",
    "is another": "alter table t rename to t9; alter table f rename to t",
    "is moved": "alter table t set schema v",
    "is moved and made again": "alter table t set schema v; create table t (a int primary key, b text, c int)",
    "has a column more": "alter table t add column d int default 5",
    "has a column less": "alter table t drop column b cascade",
    "has another type": "drop view r; alter table t alter a type text using a::text || 'k' , drop constraint t_pkey cascade",
    "has wider numbers": "drop view r; alter table t alter c type bigint",
    "has a column renamed": "alter table t rename a to z",
    "has columns exchanged": "alter table t rename a to z; alter table t rename c to a; alter table t rename z to c",
    "loses its key": "alter table t drop constraint t_pkey cascade",
    "loses its indexes": "drop index i, u",
    "has an index more": "create index j on t (c, a)",
    "has a check": "alter table t add constraint k check (a < 3)",
    "has a default": "alter table t alter b set default 'd', alter b set not null",
    "is emptied": "truncate t cascade",
    "is given away": "alter table t owner to w_q",
    "is forbidden": "revoke all on t from w_r",
    "loses its trigger": "drop trigger own on t",
    "loses its trigger's function": "drop function note() cascade",
    "is replaced by hand": "create table t8 as table t; drop table t cascade; alter table t8 rename to t",
    **SCHEMA_CHANGES,
    "its schema is made again": "drop schema w cascade; create schema w; create table w.t (a int primary key, b text, c int)",
}
TABLE_UPON = [
    "create view z as select a, b from t", "create view z as table t", "create materialized view z as select * from t",
    "create table z (like t including all)", "create table z as table t", "create table z (a int references t)",
    "alter table f add foreign key (a) references t", "alter table f add foreign key (c) references t (c) not valid",
    "create index z on t (a, b)", "create unique index z on t (b)", "create index z on t ((a + 1)) where b > 'a'",
    "create trigger z before insert on t for each row execute function note()",
    "create constraint trigger z after insert on o from t for each row execute function note()",
    "create statistics z on a, b from t", "create publication w_p for table t", "create publication w_p for table t (a) where (a > 0)",
    "create sequence z owned by t.a", "create function z(t) returns int language sql as 'select ($1).a'",
    "create function z() returns setof t language sql as 'select * from t'", "create function z() returns int language sql begin atomic select a from t; end",
    "create function z(x t.a%type) returns int language sql as 'select 1'",
    "create type z as (x t)", "create table z (x t)", "create domain z as t", "alter table f add column x t",
    "create aggregate z(t) (sfunc = array_append, stype = t[])", "create cast (t as int) with function one()",
    "create temp table z (x t)", "create temp view z as select * from t",
    "create rule z as on insert to t do nothing", "alter sequence if exists none owned by t.a",
]
TABLE_DEFINE = [
    "alter table t add column z int", "alter table t add column z int default 7 check (z > 0)", "alter table t drop column b",
    "alter table t drop column b cascade", "alter table t alter c type bigint", "alter table t alter b set default 'q'",
    "alter table t alter b set not null", "alter table t add check (a > 0)", "alter table t add unique (b)",
    "alter table t drop constraint t_pkey cascade", "alter table t rename to z", "alter table t rename b to z",
    "alter table t set schema v", "alter table t owner to w_q", "alter table t set (fillfactor = 50)",
    "alter table t replica identity full", "alter table t disable trigger own", "alter table t cluster on i",
    "alter table t rename constraint t_pkey to z", "alter table t alter a add generated always as identity",
    "alter table if exists t add column z int", "alter table t alter b set statistics 5",
    "alter trigger own on t rename to z", "drop trigger own on t", "drop table t", "drop table t cascade", "drop table if exists t cascade",
    "drop table t, child", "drop schema w cascade", "drop schema w", "drop owned by w_r", "reassign owned by w_r to w_q",
    "comment on table t is 'x'", "comment on column t.b is 'x'", "comment on constraint t_pkey on t is 'x'",
    "comment on trigger own on t is 'x'", "grant select on t to w_q", "grant select (b) on t to w_q",
    "revoke all on t from w_r", "grant select on all tables in schema w to w_q", "truncate t", "truncate t cascade", "truncate child, t restart identity",
    "reindex table t", "create table t (a int)", "create table if not exists t (a int)", "create view t as select 1",
    "create or replace view t as select 1", "create sequence t", "create type t as enum ('a')",
]
TABLE_USES = [
    "select a, b from t", "select * from t where a = 1", "select count(*) from t", "select b from t where b = 'x'",
    "select * from t for update", "select t from t", "select * from r", "table t", "select * from o join t using (a)",
    "select a from o where a in (select a from t)", "with x as (delete from t returning *) select count(*) from x",
    "insert into t values (5)", "insert into t (a, b) values (5, 'q')", "insert into t default values",
    "insert into t values (1) on conflict (a) do update set b = 'w'", "insert into t select a + 10 from t",
    "insert into child values (2)", "insert into o values (9)", "update t set b = 'q'", "update t set c = 5 where a = 1", "delete from t",
    "delete from t where a = 2", "delete from t using o where o.a = t.a", "merge into t using o on t.a = o.a when matched then delete",
    "copy t from stdin", "copy t (a, b) from stdin where a > 0", "copy t to stdout", "copy (select * from t) to stdout",
    "lock table t", "begin ;; lock table t", "begin ;; lock table t in access share mode", "begin ;; lock table t nowait",
    "begin ;; lock table r", "explain select * from t", "explain analyze select * from t", "explain (costs off) insert into t values (1)",
    "analyze t", "analyze t (b)", "vacuum t", "vacuum full t", "analyze", "cluster t using i", "reindex schema w", "refresh materialized view t",
    "prepare p as select * from t ;; execute p", "prepare p(int) as insert into t values ($1) ;; execute p(8)",
    "prepare p as select * from t ;; execute p ;; execute p", "prepare p(int) as update t set b = 'k' where a = $1 ;; execute p(1) ;; execute p(1)",
    "prepare p as select * from t", "prepare p as select * from r ;; execute p ;; create table z as execute p",
    "prepare p as select * from t ;; explain execute p",
    "declare k cursor with hold for select * from t", "begin ;; declare k cursor for select * from t",
    "declare k cursor with hold for select * from t ;; fetch all from k", "select read()", "select read() ;; select read()",
    "select add() ;; select add()", "select add()", "call clear()", "call clear() ;; call clear()", "do 'begin perform * from t; end'",
    "do 'declare x t; begin x.a := 1; end'", "do 'declare x t%rowtype; begin select * into x from t; end'", "select null::t",
    "select 't'::regclass", "select pg_relation_size('t')", "select row(1, 'x', 1)::t", "select has_table_privilege('w_r', 't', 'select')",
    "set role w_r ;; select * from t", "set role w_r ;; insert into t values (6)", "set role w_r ;; select read()",
    "set role w_r ;; select * from t ;; select * from t", "set role w_r ;; alter table t add column z int", "set role w_r ;; truncate t",
    "set role w_r ;; copy t from stdin", "set role w_r ;; lock table t", "set role w_r ;; create view v.z as select * from t",
    "set role w_r ;; drop table t",
    "begin ;; savepoint s ;; insert into t values (6)", "begin isolation level repeatable read ;; select 1 ;; select * from t",
    "begin isolation level repeatable read ;; select 1 ;; insert into t values (6)",
    "begin isolation level serializable ;; select 1 ;; update t set b = 'q'",
    "begin ;; create table z (a int) ;; insert into z select a from t", "create temp table t2 as select 1 as x ;; insert into t2 select a from t",
    "select to_regclass('t') is null", "select * from pg_indexes where tablename = 't'", "select a, pg_get_viewdef('r') from o",
    "select swizzle_verify('t')",
]

# --- views ---------------------------------------------------------------------------------------------------
VIEW = """create table t (a int primary key, b text); insert into t values (1, 'x');
create view r as select a, b from t; create view rr as select a from r; create table f (a int, b text);
create function put() returns trigger language plpgsql as 'begin return new; end';
create function read() returns bigint language plpgsql as 'begin return (select count(*) from r); end';
create materialized view m as select a from r; create unique index mi on m (a); grant all on r, rr, m to w_r"""
VIEW_CHANGES = {
    "goes": "drop view r cascade",
    "is made again": "drop view r cascade; create view r as select a, b from t",
    "is replaced": "create or replace view r as select a, b from t where a > 5",
    "has a column more": "create or replace view r as select a, b, 5 as c from t",
    "is made with other columns": "drop view r cascade; create view r as select 'q'::text as x",
    "becomes a table": "drop view r cascade; create table r (a int, b text)",
    "becomes a materialized view": "drop view r cascade; create materialized view r as select a, b from t",
    "becomes a sequence": "drop view r cascade; create sequence r",
    "is renamed": "alter view r rename to r9",
    "is another": "alter view r rename to r9; alter table f rename to r",
    "has a column renamed": "alter view r rename column b to z",
    "is moved": "alter view r set schema v",
    "gets a trigger": "create trigger z instead of insert on r for each row execute function put()",
    "its table goes": "drop table t cascade",
    "its table has a column more": "alter table t add column d int",
    "its table's column goes": "alter table t drop column b cascade",
    "its table is another": "alter table t rename to t9; alter table f rename to t",
    "is given away": "alter view r owner to w_q",
    "is forbidden": "revoke all on r from w_r",
    "the upper one goes": "drop view rr cascade",
    "the upper one is replaced": "create or replace view rr as select a from t where a > 9",
    "the materialized one goes": "drop materialized view m",
    "the materialized one is made again": "drop materialized view m; create materialized view m as select b from t",
    "the materialized one is refreshed": "refresh materialized view m",
    "the materialized one's index goes": "drop index mi",
    **SCHEMA_CHANGES,
}
VIEW_UPON = [
    "create view z as select * from r", "create materialized view z as select a from r", "create table z as table r",
    "create table z (like r)", "create function z() returns setof r language sql as 'select * from r'", "create function z(r) returns int language sql as 'select 1'",
    "create type z as (x r)", "create table z (x r)", "create view z as select * from m", "create table z as table m",
    "create trigger z instead of insert on r for each row execute function put()", "create trigger z instead of update on rr for each row execute function put()",
    "create index z on m (a)", "create index z on r (a)", "create publication w_p for table r", "create publication w_p for table m",
    "create function z() returns bigint language sql begin atomic select count(*) from r; end",
]
VIEW_USES = [
    "select * from r", "select * from r ;; select * from r", "select * from rr", "select * from m", "select count(*) from r where a = 1",
    "insert into r values (5, 'q')", "update r set b = 'q'", "delete from r", "insert into rr values (6)", "delete from rr where a = 1",
    "copy r to stdout", "copy r from stdin", "copy m to stdout", "begin ;; lock table r", "begin ;; lock table rr", "begin ;; lock table m", "explain select * from rr",
    "refresh materialized view m", "refresh materialized view concurrently m", "refresh materialized view m with no data",
    "drop view r", "drop view r cascade", "drop view rr", "drop view rr cascade", "drop materialized view m", "drop table t", "drop table t cascade", "drop table if exists r",
    "alter view r rename to z", "alter view r rename column b to z", "alter view r set schema v", "alter view r owner to w_q",
    "alter view r alter column a set default 5", "alter view r set (security_barrier)", "alter view if exists r rename to z", "alter table r rename to z",
    "alter materialized view m rename to z", "alter materialized view m set schema v", "alter materialized view m owner to w_q", "alter materialized view m rename column a to z",
    "create or replace view r as select a, b from t", "create or replace view r as select a, b, 1 as z from t", "create or replace view rr as select a from r where a < 5",
    "comment on view r is 'x'", "comment on column r.a is 'x'", "comment on materialized view m is 'x'", "grant select on r to w_q", "grant select on m to w_q", "revoke all on r from w_r",
    "alter table t drop column b", "alter table t drop column b cascade", "alter table t alter b type varchar(9)", "truncate t", "truncate r", "analyze r", "analyze m", "vacuum m",
    "prepare p as select * from rr ;; execute p", "prepare p as select * from rr ;; execute p ;; execute p", "prepare p as insert into r values (7) ;; execute p", "select read()", "select read() ;; select read()",
    "declare k cursor with hold for select * from rr", "select pg_get_viewdef('r')", "select pg_get_viewdef('rr')", "select null::r", "select r from r",
    "select * from information_schema.views where table_schema = 'w'", "set role w_r ;; select * from rr", "set role w_r ;; select * from m", "set role w_r ;; drop view r", "set role w_r ;; insert into r values (8)",
    "begin isolation level repeatable read ;; select 1 ;; select * from rr", "reindex table m", "cluster m using mi", "select * from r for update",
]

# --- sequences -----------------------------------------------------------------------------------------------
SEQUENCE = """create sequence s; create table t (a serial, b int default nextval('s'), c int generated by default as identity);
create function f() returns bigint language sql as $$select nextval('s')$$; grant all on sequence s to w_r; grant all on t to w_r;
create view r as select last_value as n from s"""
SEQUENCE_CHANGES = {
    "goes": "drop sequence s cascade",
    "is made again": "drop sequence s cascade; create sequence s start 100",
    "becomes a table": "drop sequence s cascade; create table s (a int)",
    "becomes a view": "drop sequence s cascade; create view s as select 1",
    "is renamed": "alter sequence s rename to s9",
    "is another": "alter sequence s rename to s9; create sequence s start 50",
    "is moved": "alter sequence s set schema v",
    "is altered": "alter sequence s increment 7 maxvalue 9 cycle",
    "has another type": "alter sequence s as smallint",
    "is restarted": "alter sequence s restart 500",
    "is owned": "alter sequence s owned by t.b",
    "the serial is another's": "alter sequence t_a_seq owned by none",
    "is given away": "alter sequence s owner to w_q",
    "is forbidden": "revoke all on sequence s from w_r",
    "the table goes": "drop table t",
    "the serial goes": "drop sequence t_a_seq cascade",
    "the serial's column goes": "alter table t drop column a",
    "the identity ends": "alter table t alter c drop identity",
    "the default goes": "alter table t alter b drop default",
    "the table is emptied": "truncate t restart identity",
    **SCHEMA_CHANGES,
}
SEQUENCE_UPON = [
    "create table z (a int default nextval('s'))", "alter table t alter a set default nextval('s')", "alter sequence s owned by t.b", "create view z as select * from s",
    "create view z as select nextval('s')", "create table z (like t including all)", "create function z() returns bigint language sql begin atomic select nextval('s'); end",
    "create sequence z owned by t.b",
]
SEQUENCE_USES = [
    "select nextval('s')", "select nextval('s') ;; select nextval('s')", "select nextval('s') ;; select currval('s')", "select nextval('s') ;; select lastval()", "select setval('s', 7)", "select last_value from s", "select * from s",
    "insert into t default values", "insert into t default values ;; insert into t default values", "insert into t (b) select 1", "copy t (b) from stdin", "select f()", "select f() ;; select f()", "select * from r",
    "drop sequence s", "drop sequence s cascade", "drop sequence t_a_seq", "drop sequence t_a_seq cascade", "drop sequence t_c_seq", "drop table t", "alter table t drop column a",
    "alter sequence s restart", "alter sequence s increment 3", "alter sequence s as int", "alter sequence s rename to z", "alter sequence s owner to w_q", "alter sequence s set schema v", "alter sequence s owned by none",
    "alter sequence t_a_seq owned by none", "alter sequence t_c_seq restart", "alter sequence if exists s restart", "alter table t alter c drop identity", "alter table t alter c restart with 40", "alter table t alter c set increment 4",
    "alter table t alter b drop default", "alter table s rename to z",
    "comment on sequence s is 'x'", "grant usage on sequence s to w_q", "revoke all on sequence s from w_r", "grant usage on all sequences in schema w to w_q", "create sequence s", "create sequence if not exists s", "create table s (a int)",
    "truncate t restart identity", "alter sequence t_a_seq owner to w_q", "alter table t owner to w_q", "alter table t set schema v",
    "prepare p as select nextval('s') ;; execute p ;; execute p", "prepare p as insert into t default values ;; execute p ;; execute p", "set role w_r ;; select nextval('s')", "set role w_r ;; insert into t default values", "set role w_r ;; select nextval('s') ;; select nextval('s')",
    "select * from pg_sequences where schemaname = 'w'", "select pg_get_serial_sequence('t', 'a')", "select pg_sequence_last_value('s')", "begin ;; lock table s", "copy s to stdout",
    "do $$begin perform nextval('s'); end$$ ;; do $$begin perform nextval('s'); end$$",
]

# --- indexes and constraints -----------------------------------------------------------------------------------
INDEX = """create table t (a int primary key, b text, c int, d int4range, constraint k check (c > 0), constraint uc unique (b, c), constraint x exclude using gist (d with &&));
create index i on t (b); create unique index u on t (c); create index g on t ((a + one()));
create table child (a int, constraint fk foreign key (a) references t on delete cascade); insert into t values (1, 'x', 1), (2, 'y', 2); insert into child values (1);
create table f (a int, b text)"""
INDEX_CHANGES = {
    "goes": "drop index i",
    "is made again": "drop index i; create index i on t (b)",
    "is made elsewhere": "drop index i; create index i on o (b)",
    "becomes a table": "drop index i; create table i (a int)",
    "is renamed": "alter index i rename to i9",
    "is another": "alter index i rename to i9; alter index u rename to i",
    "its table goes": "drop table t cascade",
    "its table is made again": "drop table t cascade; create table t (a int primary key, b text, c int); create index i on t (c)",
    "its table is renamed": "alter table t rename to t9",
    "its column goes": "alter table t drop column b cascade",
    "its column is another": "alter table t alter b type int using 1",
    "the unique one goes": "drop index u",
    "the unique one is a constraint": "alter table t add constraint u unique using index u",
    "the function goes": "drop function one() cascade",
    "the key goes": "alter table t drop constraint t_pkey cascade",
    "the key is another": "alter table t drop constraint t_pkey cascade; alter table t add primary key (c)",
    "the check goes": "alter table t drop constraint k",
    "the check is another": "alter table t drop constraint k, add constraint k check (c > -5)",
    "the constraint goes": "alter table t drop constraint uc",
    "the exclusion goes": "alter table t drop constraint x",
    "the foreign key goes": "alter table child drop constraint fk",
    "the foreign key is another": "alter table child drop constraint fk, add constraint fk foreign key (a) references t not valid",
    "a name is exchanged": "alter table t rename constraint k to k9",
    "the table is moved": "alter table t set schema v",
    "is written anew": "reindex table t",
    **SCHEMA_CHANGES,
}
INDEX_UPON = [
    "create index z on t (b)", "create unique index z on t (c, b)", "create index if not exists i on t (c)", "create index concurrently z on t (b)", "alter table t add constraint z unique using index u",
    "alter table f add foreign key (a) references t", "alter table f add constraint z foreign key (a) references t (c)", "create table z (a int references t (c))", "alter table t replica identity using index u",
    "alter table t cluster on i", "create table z (like t including all)", "create statistics z on b, c from t", "create materialized view z as select a, b from t group by a",
    "create view z as select a, b from t group by a", "insert into child values (2)", "insert into t values (3, 'z', 3)",
]
INDEX_USES = [
    "drop index i", "drop index i cascade", "drop index if exists i", "drop index u", "drop index i, u", "drop index concurrently i", "drop index t_pkey", "drop index uc",
    "alter index i rename to z", "alter index u rename to z", "alter index if exists i rename to z", "alter index i set (fillfactor = 50)", "alter index t_pkey rename to z", "alter index i set schema v", "alter table i rename to z",
    "comment on index i is 'x'", "comment on constraint k on t is 'x'", "comment on constraint uc on t is 'x'", "comment on constraint fk on child is 'x'", "reindex index i", "reindex index concurrently i", "reindex table t", "reindex table concurrently t", "reindex schema w",
    "cluster t using i", "alter table t drop constraint k", "alter table t drop constraint uc", "alter table t drop constraint t_pkey", "alter table t drop constraint t_pkey cascade", "alter table t drop constraint x", "alter table child drop constraint fk",
    "alter table t rename constraint k to z", "alter table t rename constraint uc to z", "alter table child validate constraint fk", "alter table t validate constraint k", "alter table child alter constraint fk deferrable",
    "alter table t drop column b", "alter table t drop column b cascade", "alter table t alter b type varchar(20)", "alter table t alter c type bigint", "alter table t rename b to z", "alter table t add primary key (c)", "drop table t", "drop table t cascade", "drop table child",
    "select * from t where b = 'x'", "select * from t where b = 'x' ;; select * from t where b = 'x'", "select c from t order by c", "select a, b from t group by a", "prepare p as select a, b from t group by a ;; execute p ;; execute p", "select * from t where a + one() = 2",
    "insert into t values (4, 'w', 4)", "insert into t values (4, 'w', 4) on conflict (c) do nothing", "insert into t values (4, 'w', 1) on conflict on constraint uc do nothing", "insert into t values (1, 'w', 9) on conflict (a) do update set b = 'k'",
    "prepare p as insert into t values (4, 'w', 4) on conflict (c) do nothing ;; execute p", "prepare p as insert into t values (4, 'w', 4) on conflict on constraint uc do nothing ;; execute p", "insert into t values (5, 'w', -1)", "insert into t values (6, 'w', 6, '[1,2)')", "update t set b = 'm'", "update t set a = 9 where a = 2", "delete from t where a = 1", "delete from t",
    "insert into child values (2)", "insert into child values (77)", "update child set a = 2", "truncate t", "truncate t cascade", "select pg_get_indexdef('i'::regclass)", "select * from pg_indexes where schemaname = 'w'", "begin ;; set constraints fk deferred", "begin ;; set constraints all immediate",
    "begin ;; insert into child values (1) ;; set constraints all immediate", "analyze t", "explain select * from t where b = 'x'", "copy t (a, b, c) from stdin",
]

# --- schemas -------------------------------------------------------------------------------------------------
SCHEMA = """create table v.t (a int primary key); create view v.r as select a from v.t; create function v.f() returns int language sql as 'select 1';
create type v.e as enum ('a'); create sequence v.s; create table f (a int); create schema v2; grant usage on schema v to w_r; alter schema v owner to w_r"""
SCHEMA_OWN_CHANGES = {
    "goes": "drop schema v cascade",
    "is made again": "drop schema v cascade; create schema v",
    "is made again with all": "drop schema v cascade; create schema v; create table v.t (a int primary key); create sequence v.s; create type v.e as enum ('a')",
    "is renamed": "alter schema v rename to v9",
    "is another": "alter schema v rename to v9; alter schema v2 rename to v",
    "is given away": "alter schema v owner to w_q",
    "is forbidden": "revoke all on schema v from w_r",
    "is allowed": "grant all on schema v to w_q",
    "gets a table": "create table v.z (a int)",
    "gets a type": "create type v.z as enum ('k')",
    "gets a function": "create function v.z() returns int language sql as 'select 2'",
    "gets a collation": "create collation v.z (provider = icu, locale = 'sv')",
    "gets a dictionary": "create text search dictionary v.z (template = simple)",
    "gets an operator": "create operator v.#+# (function = int4pl, leftarg = int4, rightarg = int4)",
    "gets a table from elsewhere": "alter table f set schema v",
    "has default rights": "alter default privileges in schema v grant select on tables to w_q",
    "is published": "create publication w_p for tables in schema v",
    "is all gone": "drop owned by w_r cascade",
}
SCHEMA_UPON = [
    "create table v.z (a int)", "create table v.z as select 1", "create view v.z as select 1", "create materialized view v.z as select 1 as a", "create sequence v.z", "create type v.z as enum ('a')", "create type v.z as (a int)", "create type v.z",
    "create domain v.z as int", "create type v.z as range (subtype = int4)", "create function v.z() returns int language sql as 'select 1'", "create procedure v.z() language sql as 'select 1'", "create aggregate v.z(int) (sfunc = int4pl, stype = int)",
    "create operator v.#+# (function = int4pl, leftarg = int4, rightarg = int4)", "create collation v.z (provider = icu, locale = 'sv')", "create text search dictionary v.z (template = simple)", "create text search configuration v.z (copy = simple)",
    "create statistics v.z on a, b from o", "create extension citext schema v", "create extension hstore schema v", "alter table f set schema v", "alter function one() set schema v", "create view z as select * from v.r", "create table z (x v.e)",
    "create index z on v.t (a)", "alter default privileges in schema v grant select on tables to w_q", "create publication w_p for tables in schema v", "create table z (a int references v.t)", "grant all on schema v to w_q",
]
SCHEMA_USES = [
    "drop schema v", "drop schema v cascade", "drop schema if exists v", "drop schema v, v2 cascade", "alter schema v rename to v3", "alter schema v owner to w_q", "alter schema v2 rename to v9", "comment on schema v is 'x'", "grant usage on schema v to w_q", "revoke all on schema v from w_r",
    "grant select on all tables in schema v to w_q", "grant execute on all functions in schema v to w_q", "create schema v", "create schema if not exists v", "create schema v9", "create schema v create table z (a int)", "create schema if not exists v3 authorization w_r", "select * from v.t", "select * from v.r", "select * from v.t ;; select * from v.t", "insert into v.t values (1)",
    "select v.f()", "select v.f() ;; select v.f()", "select 'a'::v.e", "select nextval('v.s')", "drop table v.t cascade", "drop type v.e", "alter table v.t rename to z", "alter table v.t set schema w", "alter type v.e set schema w", "alter function v.f() set schema w", "alter sequence v.s set schema w", "alter view v.r set schema w",
    "set search_path = v ;; select * from t", "set search_path = v ;; create table z (a int)", "set search_path = v, w ;; select f()", "set search_path = v ;; select current_schema()", "set search_path = v, w", "create temp table z as select * from v.t", "reindex schema v", "prepare p as select * from v.r ;; execute p ;; execute p",
    "set role w_r ;; select v.f()", "set role w_r ;; create table v.z (a int)", "set role w_r ;; drop schema v cascade", "set role w_r ;; create schema v4", "select count(*) from pg_namespace where nspname like 'v%'", "select 'v'::regnamespace", "do 'begin create table v.z (a int); end'",
    "reassign owned by w_r to w_q", "drop owned by w_r", "drop role w_r", "alter extension citext set schema v", "create extension citext ;; alter extension citext set schema v", "create extension citext ;; drop schema v cascade",
]

# --- routines ------------------------------------------------------------------------------------------------
ROUTINE = """create function f(int) returns int language sql immutable as 'select $1 + 1'; create function f(text) returns text language sql as 'select $1';
create procedure p(int) language plpgsql as 'begin perform f($1); end'; create function g() returns int language plpgsql as 'begin return f(1); end';
create function h() returns int language sql as 'select f(1)'; create function st(int, int) returns int language sql immutable as 'select $1 + $2';
create aggregate ag(int) (sfunc = st, stype = int, initcond = '0'); create operator #+# (function = st, leftarg = int, rightarg = int);
create type e as enum ('a', 'b'); create function ce(e) returns int language sql immutable as 'select 1'; create cast (e as int) with function ce(e);
create function tr() returns trigger language plpgsql as 'begin new.c := f(new.a); return new; end'; create table t (a int, b text, c int default f(1), check (f(a) > -1000));
create trigger tr before insert on t for each row execute function tr(); create view r as select f(a) as x from t; create table f9 (a int);
grant execute on function f(int) to w_r; grant all on t, r to w_r; create function srf() returns setof int language sql as 'select 1 union select 2'; create function dep(int default 3) returns int language sql as 'select $1'"""
ROUTINE_CHANGES = {
    "goes": "drop function f(int) cascade",
    "is made again": "drop function f(int) cascade; create function f(int) returns int language sql as 'select $1 + 100'",
    "is replaced": "create or replace function f(int) returns int language sql volatile as 'select $1 + 1000'",
    "is replaced in PL/pgSQL": "create or replace function f(int) returns int language plpgsql as 'begin return 5; end'",
    "is made with other arguments": "drop function f(int) cascade; create function f(bigint) returns int language sql as 'select 7'",
    "is made with another result": "drop function f(int) cascade; create function f(int) returns text language sql as $$select 'q'::text$$",
    "becomes a procedure": "drop function f(int) cascade; create procedure f(int) language sql as 'select 1'",
    "becomes an aggregate": "drop function f(int) cascade; create aggregate f(int) (sfunc = st, stype = int)",
    "is renamed": "alter function f(int) rename to f8",
    "is another": "alter function f(int) rename to f8; create function f(int) returns int language sql as 'select 8'",
    "is moved": "alter function f(int) set schema v",
    "is strict": "alter function f(int) strict volatile",
    "is given away": "alter function f(int) owner to w_q",
    "is forbidden": "revoke all on function f(int) from w_r, public",
    "both go": "drop function f(int) cascade; drop function f(text)",
    "the procedure goes": "drop procedure p(int)",
    "the procedure is replaced": "create or replace procedure p(int) language sql as 'delete from t'",
    "the procedure becomes a function": "drop procedure p(int); create function p(int) returns int language sql as 'select 1'",
    "the aggregate goes": "drop aggregate ag(int)",
    "the aggregate is made again": "drop aggregate ag(int); create aggregate ag(int) (sfunc = int4mul, stype = int, initcond = '1')",
    "the aggregate's step goes": "drop function st(int, int) cascade",
    "the aggregate's step is replaced": "create or replace function st(int, int) returns int language sql as 'select 17'",
    "the operator goes": "drop operator #+# (int, int)",
    "the operator is made again": "drop operator #+# (int, int); create operator #+# (function = int4mul, leftarg = int, rightarg = int)",
    "the cast goes": "drop cast (e as int)",
    "the cast is another": "drop cast (e as int); create cast (e as int) with inout",
    "the cast's function goes": "drop function ce(e) cascade",
    "the type goes": "drop type e cascade",
    "the trigger's function goes": "drop function tr() cascade",
    "the trigger's function is replaced": "create or replace function tr() returns trigger language plpgsql as 'begin return null; end'",
    "the trigger goes": "drop trigger tr on t",
    "the trigger is made again": "drop trigger tr on t; create trigger tr after insert on t for each row execute function tr()",
    "the trigger is renamed": "alter trigger tr on t rename to tr9",
    "the trigger sleeps": "alter table t disable trigger tr",
    "the table goes": "drop table t cascade",
    "the callers go": "drop function g(), h()",
    "the set goes": "drop function srf()",
    "a better one comes": "create function f(numeric) returns int language sql as 'select 9'; create function dep() returns int language sql as 'select 4'",
    **SCHEMA_CHANGES,
}
ROUTINE_UPON = [
    "create view z as select f(1) as x", "create view z as select ag(a) as x from t", "create view z as select 1 #+# 2 as x", "create view z as select 'a'::e::int as x", "create materialized view z as select f(1) as x", "create table z (a int default f(2))", "create table z (a int check (f(a) > 0))",
    "create table z (a int, b int generated always as (f(a)) stored)", "alter table t alter a set default f(5)", "alter table t add column z int default f(1)", "alter table t add check (f(a) < 1000)", "create index z on t (f(a))", "create index z on t (a) where f(a) > 1", "create domain z as int check (f(value) > 0)", "create domain z as int default f(1)",
    "create trigger z before insert on t for each row execute function tr()", "create trigger z before insert on t for each row when (f(new.a) > 0) execute function tr()", "create or replace trigger tr before update on t for each row execute function tr()", "create aggregate z(int) (sfunc = st, stype = int)", "create aggregate z(int) (sfunc = int4pl, stype = int, finalfunc = f)",
    "create operator #*# (function = st, leftarg = int, rightarg = int)", "create operator #+# (function = st, leftarg = int, rightarg = bigint)", "create cast (e as bigint) with function ce(e)", "create function z() returns int language sql begin atomic select f(1); end", "create function z(int default f(1)) returns int language sql as 'select $1'",
    "create function z() returns int language sql as 'select f(1)'", "create statistics z on (f(a)), b from t", "create publication w_p for table t where (a > 0)", "create type z as range (subtype = int4, subtype_diff = st)", "create view z as select dep()", "create table z as select f(1) as x",
]
ROUTINE_USES = [
    "select f(1)", "select f(1) ;; select f(1)", "select f('x')", "select f(1::smallint)", "select f(f(1))", "select * from f(1)", "select * from srf()", "select dep()", "call p(1)", "call p(1) ;; call p(1)", "select g()", "select g() ;; select g()", "select h() ;; select h()", "select ag(a) from o", "select ag(a) from o ;; select ag(a) from o", "select ag(a) over (order by a) from o",
    "select 1 #+# 2", "select 1 #+# 2 ;; select 1 #+# 2", "select 'a'::e::int", "select 'a'::e::int ;; select 'a'::e::int", "select * from r", "insert into t values (1)", "insert into t values (1) ;; insert into t values (1)", "insert into t (a) select 1", "copy t (a) from stdin", "update t set a = 1", "select a from t where f(a) = 1",
    "prepare q as select f(1) ;; execute q ;; execute q", "prepare q as select ag(a) from o ;; execute q ;; execute q", "prepare q as select 1 #+# 2 ;; execute q ;; execute q", "prepare q as select 'a'::e::int ;; execute q ;; execute q", "prepare q(int) as insert into t values ($1) ;; execute q(1) ;; execute q(1)", "prepare q as select h() ;; execute q ;; execute q",
    "do 'begin perform f(1); end' ;; do 'begin perform f(1); end'", "declare k cursor with hold for select f(1)", "drop function f(int)", "drop function f(int) cascade", "drop function f", "drop function if exists f(int)", "drop function f(int), f(text) cascade", "drop routine f(int)", "drop procedure p(int)", "drop procedure p", "drop aggregate ag(int)", "drop aggregate ag(int) cascade",
    "drop function st(int, int)", "drop function st(int, int) cascade", "drop operator #+# (int, int)", "drop cast (e as int)", "drop function ce(e)", "drop function ce(e) cascade", "drop type e", "drop type e cascade", "drop function tr()", "drop function tr() cascade", "drop trigger tr on t", "drop trigger if exists tr on t", "drop table t",
    "alter function f(int) rename to z", "alter function f(int) owner to w_q", "alter function f(int) set schema v", "alter function f(int) strict", "alter function f(int) set work_mem = '1MB'", "alter function f(int) rename to g", "alter procedure p(int) rename to z", "alter procedure p(int) security definer", "alter aggregate ag(int) rename to z", "alter aggregate ag(int) owner to w_q", "alter aggregate ag(int) set schema v", "alter routine f(int) cost 5",
    "alter operator #+# (int, int) owner to w_q", "alter operator #+# (int, int) set schema v", "alter trigger tr on t rename to z", "alter table t disable trigger tr", "alter table t enable always trigger tr", "alter table t alter c drop default", "alter table t drop constraint t_a_check",
    "create or replace function f(int) returns int language sql as 'select 2'", "create or replace function f(int) returns text language sql as 'select 2'", "create function f(int) returns int language sql as 'select 2'", "create or replace procedure p(int) language sql as 'select 3'", "create or replace function st(int, int) returns int language sql as 'select 5'", "create or replace aggregate ag(int) (sfunc = st, stype = int)", "create or replace function tr() returns trigger language plpgsql as 'begin return new; end'",
    "create or replace function dep(int default 8) returns int language sql as 'select $1'", "comment on function f(int) is 'x'", "comment on procedure p(int) is 'x'", "comment on aggregate ag(int) is 'x'", "comment on operator #+# (int, int) is 'x'", "comment on cast (e as int) is 'x'", "comment on trigger tr on t is 'x'", "grant execute on function f(int) to w_q", "grant execute on procedure p(int) to w_q", "grant execute on function f to w_q", "revoke all on function f(int) from public, w_r",
    "grant execute on all routines in schema w to w_q", "select 'f(int)'::regprocedure", "select 'srf'::regproc", "select '#+#(int,int)'::regoperator", "select pg_get_functiondef('f(int)'::regprocedure)", "select * from information_schema.routines where routine_schema = 'w' and false", "set role w_r ;; select f(1)", "set role w_r ;; select f(1) ;; select f(1)", "set role w_r ;; select h()", "set role w_r ;; insert into t values (2)", "set role w_r ;; drop function f(int)",
    "begin isolation level repeatable read ;; select 1 ;; select f(1)", "create temp table z (a int default f(1))", "create temp view z as select f(1) as x", "create temp table z (a int check (f(a) > 0)) ;; insert into z values (1)", "create temp view z as select f(1) as x ;; select * from z", "create temp table z (a e) ;; insert into z values ('a')", "alter function f(int) depends on extension plpgsql", "truncate t", "analyze t", "reindex table t",
]

# --- types ---------------------------------------------------------------------------------------------------
def types(name, made, changes, more_uses, value):
    setup = f"""{made}; create table t (a int, x ty); insert into t values (1, {value}); create table f (a int); create type other as enum ('q', 'a'); create type other2 as (k int);
create function fn2(ty, ty) returns boolean language sql immutable as 'select true'; create view r as select x from t;
create function fn(ty) returns ty language sql immutable as 'select $1'; create function pl() returns text language plpgsql as $$declare x ty := {value}; begin return x::text; end$$;
create domain d2 as ty; create table arr (x ty[]); grant usage on type ty to w_r; grant all on t to w_r"""
    noun = "domain" if name == "domain" else "type"
    all_changes = {
        "goes": "drop type ty cascade",
        "is made again": f"drop type ty cascade; {made}",
        "becomes an enum": "drop type ty cascade; create type ty as enum ('k', 'l')",
        "becomes a domain": "drop type ty cascade; create domain ty as text check (value <> 'no')",
        "becomes a composite": "drop type ty cascade; create type ty as (p int, q text)",
        "becomes a table": "drop type ty cascade; create table ty (p int, q text)",
        "becomes a shell": "drop type ty cascade; create type ty",
        "is renamed": f"alter {noun} ty rename to ty9",
        "is another": f"alter {noun} ty rename to ty9; alter type other rename to ty",
        "is moved": f"alter {noun} ty set schema v",
        "is given away": f"alter {noun} ty owner to w_q",
        "is forbidden": "revoke all on type ty from w_r, public",
        "the column goes": "alter table t drop column x cascade",
        "the table goes": "drop table t cascade",
        "the function goes": "drop function fn(ty)",
        "the domain over it goes": "drop domain d2",
        "the array's table goes": "drop table arr",
        **changes, **SCHEMA_CHANGES,
    }
    upon = [
        "create table z (x ty)", "create table z (x ty[])", f"create table z (x text default {value}::ty::text)", f"create table z (x text, check (x <> {value}::ty::text))", "create table z (like t)", "create table z as select x from t", "alter table f add column x ty", f"alter table f add column x ty default {value}", "alter table f alter a type ty using null", "create view z as select x from t",
        f"create view z as select {value}::ty as x", "create materialized view z as select x from t", "create domain z as ty", "create domain z as ty[]", "create type z as (x ty)", "alter type other2 add attribute x ty", "create type z as range (subtype = ty)", "create function z(ty) returns int language sql as 'select 1'", "create function z() returns ty language sql as 'select null::ty'", "create function z() returns setof ty language sql as 'select null::ty'",
        "create function z(out x ty, out y int) language sql as 'select null::ty, 1'", "create function z() returns table (x ty) language sql as 'select null::ty'", f"create function z() returns text language sql begin atomic select {value}::ty::text; end", "create function z() returns int language plpgsql as 'declare x ty; begin return 1; end'", "create aggregate z(ty) (sfunc = array_append, stype = ty[])", "create cast (ty as bigint) with inout",
        "create operator === (function = fn2, leftarg = ty, rightarg = ty)", "create index z on t (x)", f"create index z on t (a) where x = {value}", "create index z on t (fn(x))", "create temp table z (x ty)", "create temp view z as select x from t", "create sequence z as ty", "create statistics z on a, x from t", f"create domain z as text check (value <> {value}::ty::text)",
    ]
    uses = [
        "select x from t", f"select {value}::ty", f"select {value}::ty ;; select {value}::ty", "select fn(x) from t", f"select fn({value})", "select pl()", "select pl() ;; select pl()", "select * from r", "select x::text from t order by x", "select null::ty[]", "select * from arr", f"insert into t values (2, {value})", f"insert into t values (2, {value}) ;; insert into t values (2, {value})", "insert into t default values", f"insert into arr values (array[{value}]::ty[])",
        f"update t set x = {value}", f"delete from t where x = {value}", "copy t from stdin", "copy t to stdout", "prepare p as select x from t ;; execute p ;; execute p", f"prepare p as select {value}::ty ;; execute p ;; execute p", "prepare p(ty) as select $1 ;; execute p(null)", f"prepare p(ty) as insert into t values (3, $1) ;; execute p({value}) ;; execute p({value})", "declare k cursor with hold for select x from t", "declare k cursor with hold for select x from t ;; fetch all from k",
        "begin isolation level repeatable read ;; select 1 ;; select x from t", f"begin isolation level repeatable read ;; select 1 ;; insert into t values (4, {value})", "create temp table z (x ty) ;; select * from z", f"create temp table z (x ty) ;; insert into z values ({value})", "create temp view z as select x from t ;; select * from z", f"do $$declare x ty := {value}; begin end$$", f"do $$declare x ty := {value}; begin end$$ ;; do $$declare x ty := {value}; begin end$$",
        "drop type ty", "drop type ty cascade", "drop type if exists ty", "drop domain ty", "drop domain ty cascade", "drop domain d2", "drop table t", "drop function fn(ty)", "drop function fn", f"alter {noun} ty rename to z", f"alter {noun} ty owner to w_q", f"alter {noun} ty set schema v", "alter table t alter x type text using x::text", "alter table t drop column x", "alter table t drop column x cascade", "alter table t alter x set default null", "alter table t alter x drop default",
        f"comment on {noun} ty is 'x'", "comment on type ty is 'x'", f"grant usage on {noun} ty to w_q", "revoke all on type ty from w_r", "create type ty as enum ('n')", "create domain ty as int", "create type ty as (n int)", "create table ty (n int)", "create type ty", "select 'ty'::regtype", "select format_type('ty'::regtype, null)", "select pg_typeof(x) from t", "truncate t", "analyze t", "reindex table t", f"alter domain d2 set default {value}", "set role w_r ;; create table v.z (x w.ty)", f"set role w_r ;; select {value}::ty", "set role w_r ;; drop type ty",
        "alter table f add column z d2", "explain select x from t", "select jsonb_agg(x) from t", "select row_to_json(t) from t", "select array_agg(x) from t", "select x from t group by x", "select max(a) from t where x is not null",
        *more_uses,
    ]
    return Kind(name, setup, {**all_changes, **changes_by(upon)}, upon + uses)


ENUM = types("enum", "create type ty as enum ('a', 'b', 'c')", {
    "has a value more": "alter type ty add value 'z'", "has a value between": "alter type ty add value 'ab' before 'b'", "has a value renamed": "alter type ty rename value 'a' to 'A'",
}, ["alter type ty add value 'y'", "alter type ty add value if not exists 'z'", "alter type ty add value 'k' after 'a'", "alter type ty rename value 'a' to 'aa'", "alter type ty rename value 'b' to 'z'", "select 'A'::ty", "select 'z'::ty", "select enum_range(null::ty)", "select enum_first(null::ty)", "select x from t where x < 'c'"], "'a'")
DOMAIN = types("domain", "create domain ty as text default 'd' constraint k check (value <> 'no')", {
    "has a check more": "alter domain ty add constraint k2 check (length(value) < 9)", "has a check that does not hold": "delete from t; alter domain ty add constraint k2 check (value <> 'a')", "has a check less": "alter domain ty drop constraint k",
    "is not null": "alter domain ty set not null", "has another default": "alter domain ty set default 'e'", "has its check renamed": "alter domain ty rename constraint k to k9",
}, ["alter domain ty add check (value <> 'qq')", "alter domain ty add constraint k3 check (value <> 'qq') not valid", "alter domain ty drop constraint k", "alter domain ty drop constraint if exists k", "alter domain ty validate constraint k", "alter domain ty set not null", "alter domain ty drop not null", "alter domain ty set default 'm'", "alter domain ty drop default", "alter domain ty rename constraint k to z",
    "comment on constraint k on domain ty is 'x'", "insert into t (a) values (5)", "insert into t values (6, null)", "insert into t values (6, 'no')", "alter type ty rename to z", "create table z (x ty) ;; insert into z values ('a')", "select 'no'::ty", "alter domain d2 add check (value <> 'm')"], "'a'")
COMPOSITE = types("composite", "create type ty as (p int, q text)", {
    "has a field more": "drop table t, arr cascade; drop domain d2; alter type ty add attribute z int", "has a field less": "drop table t, arr cascade; drop domain d2; alter type ty drop attribute q", "has a field of another type": "drop table t, arr cascade; drop domain d2; alter type ty alter attribute p type bigint", "has a field renamed": "alter type ty rename attribute q to z",
}, ["alter type ty add attribute y int", "alter type ty add attribute y int cascade", "alter type ty drop attribute q", "alter type ty drop attribute q cascade", "alter type ty alter attribute p type text", "alter type ty rename attribute q to y", "alter type ty rename attribute q to y cascade", "comment on column ty.q is 'x'", "select (x).q from t", "select (x).* from t", "update t set x.q = 'm'", "insert into t (x.p) values (4)", "select row(1, 'k')::ty", "create table z of ty", "do $$declare x ty; begin x.q := 'k'; end$$ ;; do $$declare x ty; begin x.q := 'k'; end$$", "select * from jsonb_populate_record(null::ty, '{}')"], "'(1,a)'")
RANGE = types("range", "create type ty as range (subtype = float8, multirange_type_name = tym)", {"its multirange is renamed": "alter type tym rename to tym9"},
              ["select tym(x) from t", "create table z (x tym)", "create view z as select tym(x) from t", "drop type tym", "alter type tym rename to z", "select ty(1, 2)", "select ty(1, 2) ;; select ty(1, 2)", "select lower(x) from t", "select x && ty(1, 2) from t", "select range_agg(x) from t", "alter table t add exclude using gist (x with &&)", "create index z on t using gist (x)", "create type z as range (subtype = float8, multirange_type_name = tym)"], "'[1,2)'")

# --- collations and text search ------------------------------------------------------------------------------
COLLATION = """create collation co (provider = icu, locale = 'sv'); create collation co2 (provider = icu, locale = 'de'); create table t (a int, x text collate co); insert into t values (1, 'ö'), (2, 'z'); create index i on t (x);
create table f (a text); create view r as select x from t where x > 'a' collate co; create function fn(text) returns boolean language sql as 'select $1 < ''a'' collate co'; create domain d as text collate co; grant all on t to w_r;
create function tr() returns trigger language plpgsql as 'begin return new; end'"""
COLLATION_CHANGES = {
    "goes": "drop collation co cascade", "is made again": "drop collation co cascade; create collation co (provider = icu, locale = 'sv')", "is made otherwise": "drop collation co cascade; create collation co (provider = icu, locale = 'und', deterministic = false)",
    "is renamed": "alter collation co rename to co9", "is another": "alter collation co rename to co9; alter collation co2 rename to co", "is moved": "alter collation co set schema v", "is given away": "alter collation co owner to w_q", "is refreshed": "alter collation co refresh version",
    "the column goes": "alter table t drop column x cascade", "the table goes": "drop table t cascade", "the index goes": "drop index i", "the domain goes": "drop domain d", **SCHEMA_CHANGES,
}
COLLATION_UPON = [
    "create table z (x text collate co)", "alter table f add column x text collate co", "alter table f alter a type text collate co", "create index z on f (a collate co)", "create index z on t (x)", "create index z on f ((a || 'x') collate co)", "create view z as select a collate co as x from f", "create view z as select x from t", "create materialized view z as select x from t", "create domain z as text collate co",
    "create type z as (x text collate co)", "create type z as range (subtype = text, collation = co)", "create table z (a text, check (a > 'b' collate co))", "create table z (a boolean default 'a' < 'b' collate co)", "create function z() returns boolean language sql begin atomic select 'a' < 'b' collate co; end", "create collation z from co", "create table z (like t)", "create table z as select x from t", "create temp table z (x text collate co)", "create statistics z on a, x from t", "create trigger z before insert on t for each row when (new.x > 'a' collate co) execute function tr()",
    "create temp table z (x d)", "create function z(x text default 'a' collate co) returns text language sql as 'select x'",
]
COLLATION_USES = [
    "select x from t order by x", "select x from t order by x ;; select x from t order by x", "select 'a' < 'b' collate co", "select 'a' < 'b' collate co ;; select 'a' < 'b' collate co", "select * from r", "select fn('x')", "select fn('x') ;; select fn('x')", "insert into t values (3, 'q')", "update t set x = 'k'", "delete from t where x > 'a'", "copy t from stdin", "copy t to stdout", "select x from t where x = 'z'", "select max(x) from t",
    "prepare p as select x from t order by x ;; execute p ;; execute p", "prepare p as select 'a' < 'b' collate co ;; execute p ;; execute p", "declare k cursor with hold for select x from t order by x", "drop collation co", "drop collation co cascade", "drop collation if exists co", "drop table t", "drop domain d", "drop index i", "alter collation co rename to z", "alter collation co owner to w_q", "alter collation co set schema v", "alter collation co refresh version", "alter collation co2 rename to z",
    "comment on collation co is 'x'", "create collation co (provider = icu, locale = 'fr')", "create collation if not exists co (provider = icu, locale = 'fr')", "alter table t alter x type text collate \"C\"", "alter table t drop column x", "reindex table t", "reindex index i", "analyze t", "select 'co'::regcollation", "select collation for ('a' collate co)", "set role w_r ;; select x from t order by x", "set role w_r ;; drop collation co", "do $$declare x text collate co; begin end$$ ;; do $$declare x text collate co; begin end$$", "select pg_get_viewdef('r')", "truncate t",
]
TEXT = """create text search dictionary di (template = simple, accept = false); create text search dictionary di2 (template = simple); create text search configuration cf (copy = simple); alter text search configuration cf alter mapping for asciiword with di, simple; create text search configuration cf2 (copy = english);
create table t (a text, v tsvector generated always as (to_tsvector('w.cf', a)) stored); insert into t (a) values ('one two'); create table f (a text); create view r as select to_tsvector('w.cf', a) as x from t; create function fn() returns tsvector language sql as $$select to_tsvector('w.cf', 'a b')$$; create index i on f using gin (to_tsvector('w.cf', a)); grant all on t to w_r"""
TEXT_CHANGES = {
    "goes": "drop text search configuration cf cascade", "is made again": "drop text search configuration cf cascade; create text search configuration cf (copy = english)", "is renamed": "alter text search configuration cf rename to cf9", "is another": "alter text search configuration cf rename to cf9; alter text search configuration cf2 rename to cf", "is moved": "alter text search configuration cf set schema v",
    "is given away": "alter text search configuration cf owner to w_q", "maps otherwise": "alter text search configuration cf alter mapping for asciiword with simple", "maps less": "alter text search configuration cf drop mapping for asciiword", "the dictionary goes": "drop text search dictionary di cascade", "the dictionary is made again": "drop text search dictionary di cascade; create text search dictionary di (template = snowball, language = english)", "the dictionary is altered": "alter text search dictionary di (accept = true)",
    "the dictionary is renamed": "alter text search dictionary di rename to di9", "the dictionary is another": "alter text search dictionary di rename to di9; alter text search dictionary di2 rename to di", "the table goes": "drop table t cascade", **SCHEMA_CHANGES,
}
TEXT_UPON = [
    "create view z as select to_tsvector('w.cf', a) as x from f", "create table z (a text, v tsvector default to_tsvector('w.cf', 'k'))", "create table z (a text, v tsvector generated always as (to_tsvector('w.cf', a)) stored)", "create index z on f using gin (to_tsvector('w.cf', a))", "create table z (c regconfig default 'w.cf')", "create view z as select 'w.cf'::regconfig as x", "create view z as select ts_lexize('w.di', 'a') as x", "create text search configuration z (copy = cf)",
    "alter text search configuration cf2 alter mapping for asciiword with di", "alter text search configuration cf add mapping for url_path with di", "create materialized view z as select to_tsvector('w.cf', a) as x from f", "create function z() returns tsvector language sql begin atomic select to_tsvector('w.cf', 'x'); end", "create table z (like t including all)", "create trigger z before insert on f for each row execute function tsvector_update_trigger(a, 'w.cf', a)",
]
TEXT_USES = [
    "select to_tsvector('w.cf', 'a b')", "select to_tsvector('w.cf', 'a b') ;; select to_tsvector('w.cf', 'a b')", "select to_tsquery('w.cf', 'a')", "select ts_lexize('w.di', 'a')", "select ts_lexize('w.di', 'a') ;; select ts_lexize('w.di', 'a')", "select * from r", "select fn()", "select fn() ;; select fn()", "insert into t (a) values ('x')", "insert into f values ('x y')", "update t set a = 'k'", "copy t (a) from stdin", "select * from ts_debug('w.cf', 'a b')", "select ts_headline('w.cf', 'a b', 'a')", "set default_text_search_config = 'w.cf'", "set default_text_search_config = 'w.cf' ;; select to_tsvector('a b')",
    "prepare p as select to_tsvector('w.cf', 'a b') ;; execute p ;; execute p", "drop text search configuration cf", "drop text search configuration cf cascade", "drop text search configuration if exists cf", "drop text search dictionary di", "drop text search dictionary di cascade", "drop text search dictionary di2", "alter text search configuration cf rename to z", "alter text search configuration cf owner to w_q", "alter text search configuration cf set schema v", "alter text search configuration cf drop mapping for asciiword", "alter text search configuration cf drop mapping if exists for asciiword", "alter text search configuration cf alter mapping replace di with di2", "alter text search configuration cf add mapping for asciiword with di2", "alter text search dictionary di rename to z", "alter text search dictionary di owner to w_q", "alter text search dictionary di set schema v", "alter text search dictionary di (accept = true)",
    "comment on text search configuration cf is 'x'", "comment on text search dictionary di is 'x'", "create text search configuration cf (copy = simple)", "create text search dictionary di (template = simple)", "select 'w.cf'::regconfig", "select 'w.di'::regdictionary", "drop table t", "drop table f", "alter table t drop column v", "set role w_r ;; select to_tsvector('w.cf', 'a b')", "set role w_r ;; drop text search configuration cf", "reindex table f", "analyze f",
]

# --- roles, databases, publications, extensions, slots ----------------------------------------------------------
ROLE = """create role w_a createdb; create role w_b; grant w_a to w_b; grant w_r to w_a; create table t (a int); insert into t values (1); grant all on t to w_a with grant option; set role w_a; grant select on t to w_b; reset role; create table f9 (a int); alter table f9 owner to w_a; grant create on schema w, v to w_a; create view r as select a from t; alter view r owner to w_a;
create function fn() returns bigint language sql security definer as 'select count(*) from t'; alter function fn() owner to w_a; alter default privileges for role w_a grant select on tables to w_b; alter role w_a set work_mem = '1MB'"""
ROLE_CHANGES = {
    "goes": "drop owned by w_a cascade; drop role w_a", "is made again": "drop owned by w_a cascade; drop role w_a; create role w_a", "is given to another and goes": "reassign owned by w_a to w_q; drop owned by w_a cascade; drop role w_a", "is renamed": "alter role w_a rename to w_z", "is another": "alter role w_a rename to w_z; alter role w_b rename to w_a", "is a superuser": "alter role w_a superuser", "may less": "alter role w_a nocreatedb noinherit",
    "loses a member": "revoke w_a from w_b", "loses a membership": "revoke w_r from w_a", "loses the right": "revoke all on t from w_a cascade", "owns nothing": "reassign owned by w_a to w_q", "has nothing": "drop owned by w_a cascade", "the member goes": "drop owned by w_b cascade; drop role w_b", "the member is made again": "drop owned by w_b cascade; drop role w_b; create role w_b", "the table goes": "drop table t cascade",
    "owns a table": "create table z (a int); alter table z owner to w_a", "owns a schema": "create schema w_s authorization w_a", "gets a right": "grant select on o to w_a", "gets a role": "grant w_q to w_a", "gets a default": "alter default privileges for role w_a in schema w grant all on tables to w_q", "gets a setting": "alter role w_a set search_path = v", "gets a type": "create type e as enum ('a'); alter type e owner to w_a", "gets a function": "alter function one() owner to w_a",
    "makes a table": "set local role w_a; create temp table zz (a int)", "owns a publication": "create publication w_p; alter publication w_p owner to w_a", "grants": "set local role w_a; grant select on t to w_q",
}
ROLE_USES = [
    "drop role w_a", "drop role if exists w_a", "drop role w_b", "drop role w_a, w_b", "drop owned by w_a", "drop owned by w_a cascade", "drop owned by w_b", "reassign owned by w_a to w_q", "reassign owned by w_q to w_a", "alter role w_a rename to w_y", "alter role w_a nocreatedb", "alter role w_a set work_mem = '2MB'", "alter role w_a reset all", "alter role w_a password 'x'", "alter role w_a superuser", "comment on role w_a is 'x'", "grant w_a to w_q", "grant w_q to w_a", "grant w_q to w_a with admin option", "revoke w_a from w_b", "revoke w_r from w_a", "create role w_a", "create role w_y in role w_a", "create role w_y role w_a", "create role w_y admin w_b",
    "create table z (a int) ;; alter table z owner to w_a", "alter table t owner to w_a", "alter table f9 owner to w_q", "alter view r owner to w_q", "alter schema v owner to w_a", "alter function one() owner to w_a", "create type e as enum ('a') ;; alter type e owner to w_a", "create domain d as int ;; alter domain d owner to w_a", "create sequence s ;; alter sequence s owner to w_a", "create collation co (provider = icu, locale = 'sv') ;; alter collation co owner to w_a", "create publication w_p ;; alter publication w_p owner to w_a", "create text search dictionary di (template = simple) ;; alter text search dictionary di owner to w_a", "create aggregate ag(int) (sfunc = int4pl, stype = int) ;; alter aggregate ag(int) owner to w_a", "create operator #+# (function = int4pl, leftarg = int, rightarg = int) ;; alter operator #+# (int, int) owner to w_a", "create materialized view m as select 1 as a ;; alter materialized view m owner to w_a", "create statistics st on a, b from o ;; alter statistics st owner to w_a",
    "create schema w_s authorization w_a", "grant select on o to w_a", "grant select (a) on o to w_a", "grant usage on schema v to w_a", "grant all on all tables in schema w to w_a", "grant execute on function one() to w_a", "create sequence s ;; grant usage on sequence s to w_a", "create type e as enum ('a') ;; grant usage on type e to w_a", "grant connect on database script to w_a", "grant select on o to w_b granted by w_a", "revoke select on t from w_a", "revoke select on t from w_a cascade", "revoke select on t from w_b", "alter default privileges for role w_a grant all on tables to w_q", "alter default privileges grant select on tables to w_a", "alter default privileges for role w_a revoke select on tables from w_b",
    "set role w_a", "set role w_a ;; select * from t", "set role w_a ;; select current_user", "set role w_a ;; create table v.z (a int)", "set role w_b ;; select * from t", "set role w_b ;; select * from r", "set role w_b ;; set role w_a", "set role w_a ;; grant select on t to w_q", "set role w_a ;; alter table f9 add column z int", "set role w_a ;; drop table f9", "set role w_a ;; create temp table z (a int)", "set role w_a ;; drop role w_b", "set role w_a ;; alter default privileges grant select on tables to w_q", "set session authorization w_a", "set session authorization w_a ;; select * from t", "set session authorization w_a ;; create table v.z (a int)", "set session authorization w_a ;; reset role",
    "select fn()", "select fn() ;; select fn()", "select * from r", "select * from r ;; select * from r", "prepare p as select * from r ;; execute p ;; execute p", "select has_table_privilege('w_a', 't', 'select')", "select pg_has_role('w_b', 'w_a', 'member')", "select 'w_a'::regrole", "select rolname from pg_roles where rolname like 'w\\_%' order by 1", "create policy z on t to w_a", "create user mapping for w_a server none", "create database w_d owner w_a", "select pg_get_userbyid(relowner) from pg_class where relname = 'f9'", "alter role w_a in database script set work_mem = '3MB'",
]
DATABASE = """create database w_d; create database w_e; alter database w_d set work_mem = '1MB'; grant connect on database w_d to w_r"""
# Statements that are refused in transaction blocks wait for no session: a database's changes are of its description.
DATABASE_CHANGES = {
    "is renamed": "alter database w_d rename to w_f", "is another": "alter database w_d rename to w_f; alter database w_e rename to w_d", "is given away": "alter database w_d owner to w_q", "has a setting": "alter database w_d set work_mem = '5MB'", "has a limit": "alter database w_d connection limit 3", "is forbidden": "revoke all on database w_d from public, w_r", "is described": "comment on database w_d is 'x'", "the role goes": "drop owned by w_r cascade; drop role w_r", "nobody": "alter database w_d allow_connections false",
}
DATABASE_USES = [
    "drop database w_d", "drop database if exists w_d", "drop database w_d with (force)", "alter database w_d rename to w_g", "alter database w_e rename to w_f", "alter database w_d owner to w_q", "alter database w_d owner to w_r", "alter database w_d set work_mem = '3MB'", "alter database w_d reset all", "alter database w_d connection limit 5", "alter database w_d refresh collation version", "comment on database w_d is 'y'", "grant connect on database w_d to w_q", "grant connect on database w_d to w_r", "revoke all on database w_d from w_r",
    "create database w_d", "create database w_f", "create database w_g template w_d", "create database w_g owner w_r", "alter role w_r in database w_d set work_mem = '3MB'", "select datname from pg_database where datname like 'w\\_%' order by 1", "select has_database_privilege('w_r', 'w_d', 'connect')",
]
PUBLICATION = """create table t (a int primary key, b text, c int); create table t2 (a int primary key); create publication w_p for table t (a, b) where (a > 0); create publication w_s for tables in schema v; create publication w_all for all tables; create table v.x (a int primary key); alter publication w_p owner to w_r; create function imm(int) returns int language sql immutable as 'select 1'"""
PUBLICATION_CHANGES = {
    "goes": "drop publication w_p", "is made again": "drop publication w_p; create publication w_p for table t2", "is renamed": "alter publication w_p rename to w_9", "is another": "alter publication w_p rename to w_9; alter publication w_s rename to w_p", "has a table more": "alter publication w_p add table t2", "has a table less": "alter publication w_p drop table t", "has other tables": "alter publication w_p set table t2", "tells less": "alter publication w_p set (publish = 'insert')", "is given away": "alter publication w_p owner to w_q",
    "the table goes": "drop table t", "the table is made again": "drop table t; create table t (a int primary key, b text, c int)", "the table is renamed": "alter table t rename to t9", "the table is another": "alter table t rename to t9; alter table t2 rename to t", "the table is moved": "alter table t set schema v", "a column goes": "alter table t drop column c", "a published column goes": "alter table t drop column b cascade", "a column is renamed": "alter table t rename a to z", "the key goes": "alter table t drop constraint t_pkey", "the identity is full": "alter table t replica identity full",
    "the schema goes": "drop schema v cascade", "the schema is renamed": "alter schema v rename to v9", "the schema is made again": "drop schema v cascade; create schema v", "the second table goes": "drop table t2", "the second table becomes a view": "drop table t2; create view t2 as select 1 as a", "the one of the schema goes": "drop publication w_s", "the one of all goes": "drop publication w_all", **SCHEMA_CHANGES,
}
PUBLICATION_USES = [
    "drop publication w_p", "drop publication if exists w_p", "drop publication w_p, w_s", "alter publication w_p rename to w_z", "alter publication w_p owner to w_q", "alter publication w_p add table t2", "alter publication w_p add table t", "alter publication w_p add table t, t2", "alter publication w_p drop table t", "alter publication w_p drop table t2", "alter publication w_p set table t, t2", "alter publication w_p set table t (a)", "alter publication w_p set table t where (a > 5)", "alter publication w_p set (publish = 'update')", "alter publication w_p add tables in schema v", "alter publication w_p set tables in schema v", "alter publication w_s drop tables in schema v", "alter publication w_s add table t2", "alter publication w_s set tables in schema w, v", "alter publication w_s add tables in schema w",
    "comment on publication w_p is 'x'", "create publication w_p", "create publication w_p for table t2", "create publication w_z for table t", "create publication w_z for table t, t2", "create publication w_z for table t (a, c) where (c > 1)", "create publication w_z for tables in schema v", "create publication w_z for tables in schema v, w", "create publication w_z for table t2, tables in schema v", "drop table t", "drop table t2", "drop table t cascade", "drop schema v cascade", "alter schema v rename to v3", "alter table t drop column b", "alter table t drop column b cascade", "alter table t drop column c", "alter table t rename to z", "alter table t set schema v", "alter table t alter b type varchar(9)", "alter table t rename b to z", "alter table t replica identity nothing", "alter table t drop constraint t_pkey", "alter table v.x set schema w", "create table v.z (a int primary key)",
    "insert into t values (1, 'a', 1)", "insert into t values (1, 'a', 1) ;; update t set b = 'k'", "insert into t values (1, 'a', 1) ;; delete from t", "insert into t values (1, 'a', 1) ;; update t set c = 5", "prepare p as delete from t ;; execute p ;; execute p", "prepare p as update t set b = 'k' ;; execute p ;; execute p", "insert into v.x values (1)", "delete from v.x", "truncate t", "truncate t, t2", "copy t (a) from stdin", "select * from pg_publication_tables where pubname like 'w\\_%' and false", "select count(*) from pg_publication_tables where pubname = 'w_p'", "select pg_get_publication_tables('w_p')", "select * from pg_get_publication_tables('w_all') limit 0", "reassign owned by w_r to w_q", "drop owned by w_r",
]
SLOT = """create table t (a int primary key, b text); select pg_create_logical_replication_slot('w_l', 'pgoutput'); create publication w_p for table t"""
SLOT_CHANGES = {"goes": "select pg_drop_replication_slot('w_l')", "is made again": "select pg_drop_replication_slot('w_l'); select pg_create_logical_replication_slot('w_l', 'pgoutput')", "the table is written": "insert into t values (1)", "the table is new": "drop table t cascade; create table t (a int primary key); insert into t values (1)", "the publication goes": "drop publication w_p"}
SLOT_USES = [
    "select pg_drop_replication_slot('w_l')", "select pg_create_logical_replication_slot('w_l', 'pgoutput') is null", "select count(*) from pg_logical_slot_get_binary_changes('w_l', null, null, 'proto_version', '1', 'publication_names', 'w_p')", "select count(*) from pg_logical_slot_peek_binary_changes('w_l', null, null, 'proto_version', '1', 'publication_names', 'w_p')", "select pg_replication_slot_advance('w_l', pg_current_wal_lsn()) is null", "select slot_name from pg_replication_slots order by 1", "drop table t", "insert into t values (2)", "drop publication w_p", "alter table t add column z int",
]
EXTENSION = """create extension citext; create extension hstore; create extension btree_gist; create extension pg_trgm; create table t (a int, x citext, h hstore); insert into t values (1, 'A', 'a=>1'); create view r as select x from t; create index i on t using gin (h); create table f (a text, b int, d int4range); create index ti on f using gin (a gin_trgm_ops); alter table f add exclude using gist (b with =, d with &&)"""
EXTENSION_CHANGES = {
    "goes": "drop extension citext cascade", "is made again": "drop extension citext cascade; create extension citext", "is made elsewhere": "drop extension citext cascade; create extension citext schema v", "is moved": "alter extension citext set schema v", "is no type's": "drop extension citext cascade; create type citext as enum ('a')", "hstore goes": "drop extension hstore cascade", "hstore is made again": "drop extension hstore cascade; create extension hstore", "trigrams go": "drop extension pg_trgm cascade", "btree_gist goes": "drop extension btree_gist cascade",
    "the table goes": "drop table t cascade", "another comes": "create extension \"uuid-ossp\"", "a function goes": "drop function if exists none()", "is described": "comment on extension citext is 'x'", **SCHEMA_CHANGES,
}
EXTENSION_UPON = ["create table z (x citext)", "create view z as select x from t", "create view z as select 'a'::citext = 'A' as x", "create view z as select h -> 'a' as x from t", "create index z on t (x)", "create index z on t using gin (h)", "create index z on f using gin (a gin_trgm_ops)", "create table z (b int, d int4range, exclude using gist (b with =, d with &&))", "create function z(citext) returns int language sql as 'select 1'", "create domain z as citext", "create materialized view z as select x from t", "alter table f add column x citext", "create table z (x citext[])", "create view z as select similarity(a, 'b') as x from f", "create aggregate z(citext) (sfunc = array_append, stype = citext[])", "create table z (h hstore default 'a=>1')", "create cast (hstore as bigint) with inout"]
EXTENSION_USES = [
    "drop extension citext", "drop extension citext cascade", "drop extension if exists citext", "drop extension citext, hstore cascade", "drop extension pg_trgm", "drop extension btree_gist", "alter extension citext set schema v", "alter extension citext update", "comment on extension citext is 'y'", "create extension citext", "create extension if not exists citext", "create extension \"uuid-ossp\"", "create extension citext schema v", "drop type citext", "drop type citext cascade", "drop function similarity(text, text)", "select x = 'a' from t", "select x = 'a' from t ;; select x = 'a' from t", "select * from r", "select h -> 'a' from t", "select * from t where h ? 'a'", "insert into t values (2, 'b', 'b=>2')", "update t set x = 'k'", "copy t from stdin", "copy t to stdout", "select similarity('a', 'b')", "select similarity('a', 'b') ;; select similarity('a', 'b')", "select a from f where a like '%abc%'", "insert into f values ('abc', 1, '[1,2)')", "prepare p as select x = 'a' from t ;; execute p ;; execute p", "prepare p as select h -> 'a' from t ;; execute p ;; execute p", "drop table t", "drop schema w cascade", "drop schema w", "alter table t drop column x", "alter table t drop column x cascade", "alter table t alter x type text", "select 'citext'::regtype", "select 'a'::citext", "reindex table t", "analyze t", "select uuid_generate_v4() is null", "truncate t",
]
TEMPORARY = """create type e as enum ('a', 'b'); create domain d as int check (value > 0); create function f(int) returns int language sql as 'select $1'; create sequence s; create table t (a int primary key, x e); create collation co (provider = icu, locale = 'sv'); create type c as (p int)"""
TEMPORARY_CHANGES = {
    "the type goes": "drop type e cascade", "the domain goes": "drop domain d cascade", "the function goes": "drop function f(int) cascade", "the sequence goes": "drop sequence s cascade", "the table goes": "drop table t cascade", "the table is another": "drop table t cascade; create table t (z text)", "the collation goes": "drop collation co cascade", "the composite goes": "drop type c cascade", "the type is another": "drop type e cascade; create type e as enum ('z')", "the function is another": "drop function f(int) cascade; create function f(int) returns text language sql as 'select null::text'", **SCHEMA_CHANGES,
}
TEMPORARY_PARTS = ["create temp table z (a int, x e)", "create temp table z (a d)", "create temp table z (a int default f(1))", "create temp table z (a int default nextval('s'))", "create temp view z as select * from t", "create temp table z (a text collate co)", "create temp table z (a int check (f(a) > 0))", "create temp table z (x c)", "create temp table z (a int, x e) on commit delete rows", "create temp sequence z", "create temp table z (like t including all)", "create temp table z as select * from t", "create index on pg_temp.zz (f(a))", "create function pg_temp.z(e) returns int language sql as 'select 1'", "create temp table z (x t)"]
TEMPORARY_USES = TEMPORARY_PARTS + [f"{part} ;; {use}" for part in TEMPORARY_PARTS if "pg_temp" not in part for use in ("select * from z", "insert into z default values", "drop table z", "alter table z add column y e", "truncate z", "discard temp")] + [
    "create temp table t (a int) ;; select * from t", "create temp table t (a int) ;; insert into t values (1)", "create temp table t (a int) ;; drop table t", "create temp table z (a int primary key) ;; alter table z add foreign key (a) references t", "begin ;; create temp table z (x e) on commit drop ;; insert into z values ('a')", "create temp table z (x e) ;; drop type e", "create temp table z (x e) ;; drop type e cascade", "create temp table z (a d) ;; alter domain d add check (value < 100)", "create temp table z (a d) ;; drop domain d", "create temp view z as select * from t ;; drop table t", "create temp view z as select * from t ;; drop table t cascade", "create temp view z as select * from t ;; alter table t add column y int", "discard all", "discard plans",
]
# --- row security ------------------------------------------------------------------------------------------
POLICY = """create table m (a int, b text); insert into m values (1, 'k'); create table t (a int primary key, b text, c int); insert into t values (1, 'x', 1), (2, 'y', 2);
create function ok(int) returns boolean language sql as 'select $1 < 10'; create type e as enum ('a', 'b'); create view r as select a, b from t; create table f (a int, b text, c int);
create policy p on t to w_r using (a in (select a from m) and ok(c)) with check (b <> 'bad'); create policy q on t as restrictive for select using ('a'::e <> 'b'::e);
alter table t enable row level security; grant all on t, m, r to w_r, w_q"""
POLICY_CHANGES = {
    "goes": "drop policy p on t", "is made again": "drop policy p on t; create policy p on t to w_r using (true)", "is altered": "alter policy p on t using (a > 1)", "is for others": "alter policy p on t to w_q",
    "is for all": "alter policy p on t to public", "is renamed": "alter policy p on t rename to p9", "restricts": "create policy z on t as restrictive using (false)", "is off": "alter table t disable row level security",
    "is forced": "alter table t force row level security", "what it reads goes": "drop table m cascade", "what it reads is another": "drop table m cascade; create table m (z int)", "a column that it reads goes": "alter table t drop column c cascade",
    "a column of its subquery goes": "alter table m drop column a cascade", "a column is renamed": "alter table t rename a to z", "its function goes": "drop function ok(int) cascade",
    "its function is replaced": "create or replace function ok(int) returns boolean language sql as 'select false'", "its type goes": "drop type e cascade", "the table goes": "drop table t cascade", "the table is another": "alter table t rename to t9; alter table f rename to t",
    "the table is given away": "alter table t owner to w_r", "the role may bypass": "alter role w_r bypassrls", "the role owns nothing": "drop owned by w_r", **SCHEMA_CHANGES,
}
POLICY_UPON = [
    "create policy z on t using (ok(a))", "create policy z on t using (exists (select from m where m.a = t.a))", "create policy z on f using (a in (select a from t))", "create policy z on t to w_q with check (true)", "create policy z on m using ('a'::e = 'a'::e)",
    "create view z as select * from t", "create materialized view z as select * from t", "create table z as select * from t", "create table z (like t including all)",
]
POLICY_USES = [
    "drop policy p on t", "drop policy if exists p on t", "alter policy p on t using (c = 1)", "alter policy p on t to w_q", "alter policy p on t rename to z", "alter policy q on t rename to p", "comment on policy p on t is 'x'", "alter table t enable row level security", "alter table t disable row level security", "alter table t force row level security",
    "select a from t order by a", "set role w_r ;; select a from t order by a", "set role w_r ;; select a from t order by a ;; select a from t order by a", "set role w_q ;; select a from t order by a", "set role w_r ;; select a from r order by a", "set role w_r ;; select a from t for update", "set role w_r ;; insert into t values (3, 'q', 3)", "set role w_r ;; insert into t values (3, 'bad', 3)",
    "set role w_r ;; insert into t values (1, 'q', 3) on conflict (a) do update set b = 'w'", "set role w_r ;; update t set b = 'bad'", "set role w_r ;; update t set b = 'w' where a = 1", "set role w_r ;; delete from t", "set role w_r ;; copy t to stdout", "set role w_r ;; set row_security = off ;; select a from t",
    "set role w_r ;; prepare s as select a from t order by a ;; execute s ;; execute s", "prepare s as select a from t order by a ;; execute s ;; set role w_r ;; execute s", "set role w_r ;; begin isolation level repeatable read ;; select 1 ;; select a from t order by a", "drop table m", "drop table m cascade", "drop table t", "drop table t cascade", "drop function ok(int)", "drop function ok(int) cascade", "drop type e", "drop type e cascade",
    "alter table t drop column c", "alter table t drop column c cascade", "alter table t alter c type bigint", "alter table t rename c to z", "alter table m drop column a", "alter table m rename a to z", "alter function ok(int) rename to ok9", "drop role w_r", "drop owned by w_r", "reassign owned by w_r to w_q", "select policyname, qual, with_check from pg_policies order by 1", "select row_security_active('t')", "set role w_r ;; select row_security_active('t')", "drop schema w cascade", "truncate t",
]


def tables():
    define = [one for one in TABLE_DEFINE]
    return Kind("table", TABLE, {**TABLE_CHANGES, **changes_by(TABLE_UPON)}, TABLE_UPON + define + TABLE_USES)


def with_upon(name, setup, changes, upon, uses):
    return Kind(name, setup, {**changes, **changes_by(upon)}, upon + uses)


def kinds():
    return [
        tables(), with_upon("view", VIEW, VIEW_CHANGES, VIEW_UPON, VIEW_USES), with_upon("sequence", SEQUENCE, SEQUENCE_CHANGES, SEQUENCE_UPON, SEQUENCE_USES),
        with_upon("index", INDEX, INDEX_CHANGES, INDEX_UPON, INDEX_USES), with_upon("schema", SCHEMA, SCHEMA_OWN_CHANGES, SCHEMA_UPON, SCHEMA_USES),
        with_upon("routine", ROUTINE, ROUTINE_CHANGES, ROUTINE_UPON, ROUTINE_USES), ENUM, DOMAIN, COMPOSITE, RANGE,
        with_upon("collation", COLLATION, COLLATION_CHANGES, COLLATION_UPON, COLLATION_USES), with_upon("text search", TEXT, TEXT_CHANGES, TEXT_UPON, TEXT_USES),
        Kind("role", ROLE, ROLE_CHANGES, ROLE_USES), Kind("database", DATABASE, DATABASE_CHANGES, DATABASE_USES),
        Kind("publication", PUBLICATION, PUBLICATION_CHANGES, PUBLICATION_USES), Kind("slot", SLOT, SLOT_CHANGES, SLOT_USES),
        with_upon("extension", EXTENSION, EXTENSION_CHANGES, EXTENSION_UPON, EXTENSION_USES), Kind("temporary", TEMPORARY, TEMPORARY_CHANGES, TEMPORARY_USES),
        with_upon("policy", POLICY, POLICY_CHANGES, POLICY_UPON, POLICY_USES),
    ]
