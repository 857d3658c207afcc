-- CREATE SCHEMA with what it creates in the schema.
create role schema_maker;
create schema authorization schema_maker create table tab (id int primary key, b text) create view twice as select id * 2 as doubled from tab create index on tab (b) create sequence numbers grant select on tab to public;
-- differs: as PostgreSQL 18
select n.nspname, c.relname, c.relkind, pg_get_userbyid(c.relowner), c.relacl from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'schema_maker' order by 2;
select pg_get_viewdef('schema_maker.twice');
-- What refers to others comes after them, wherever it stands.
create schema turned create view v as select next, a from t, lateral nextval('s') next create trigger g before insert on t for each row execute function suppress_redundant_updates_trigger() create index i on t (a) create table t (a int default nextval('s')) create sequence s grant insert on t to schema_maker;
drop schema turned cascade;
create schema turned create trigger g before update on t for each row execute function suppress_redundant_updates_trigger() create view v as select a, b from t create view w as table v create index i on t (a) create table t (a int default 7, b text) create sequence s grant insert on t to schema_maker create unique index j on turned.t (b);
select relname, relkind from pg_class where relnamespace = 'turned'::regnamespace order by 1;
select pg_get_viewdef('turned.v'), pg_get_viewdef('turned.w');
select tgname from pg_trigger where tgrelid = 'turned.t'::regclass;
insert into turned.t (b) values ('x');
table turned.w;
show search_path;
-- Names of other schemas.
create schema other create sequence schema_not_existing.seq;
create schema other create table schema_not_existing.tab (id int);
create schema other create view schema_not_existing.view as select 1;
create schema other create index on schema_not_existing.tab (id);
create schema other create trigger schema_trig before insert on schema_not_existing.tab execute function schema_trig.no_func();
create schema other create index on turned (a);
create schema other create temp table t (a int);
create schema other create table other.t (a int) create view other.v as table other.t;
table other.v;
-- A failure leaves nothing.
create schema broken create table t (a int) create view v as select missing from t;
select count(*) from pg_namespace where nspname = 'broken';
create schema if not exists broken create table t (a int);
create schema turned create table t (a int);
do $$ begin execute format('grant create on database %I to schema_maker', current_database()); end $$;
begin;
create schema made create table t (a int) create table u (b int references t);
create schema made authorization schema_maker create table t (a int primary key) create table u (b int references t);
rollback;
create schema made authorization schema_maker create table t (a int primary key) create table u (b int references t) create view v as select * from t, u;
select relname, pg_get_userbyid(relowner) from pg_class where relnamespace = 'made'::regnamespace order by 1;
create table public.t (seen boolean);
create schema nearer create view v as select * from t create table t (inner_one int);
table nearer.v;
create schema empty_path authorization schema_maker create view v as select pg_typeof(now());
set search_path = '';
create schema alone create table t (a int) create view v as table t;
select pg_get_viewdef('alone.v');
show search_path;
reset search_path;
prepare p as select 1;
create schema in_one create table t (a int); create schema in_two create view v as select a from in_one.t create table t (b int);
select pg_get_viewdef('in_two.v');
do $$ begin create schema from_block create table t (a int) create view v as select * from t; end $$;
select pg_get_viewdef('from_block.v');
drop schema turned cascade;
do $$ begin execute format('revoke create on database %I from schema_maker', current_database()); end $$;
