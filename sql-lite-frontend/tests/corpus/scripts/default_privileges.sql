-- ALTER DEFAULT PRIVILEGES: what new objects are granted.

create role reader;

create role writer;

create role owner;

create schema s;

alter default privileges grant select on tables to reader;

create table one (a int);

create view seen as select a from one;

create sequence counter;

select relname, relacl from pg_class where relname in ('one', 'seen', 'counter') order by 1;

alter default privileges in schema s grant insert, update on tables to writer with grant option;

alter default privileges in schema s grant usage on sequences to public;

create table s.two (a serial, b int);

select relname, relacl from pg_class where relname in ('two', 'two_a_seq') order by 1;

alter default privileges for role owner grant all on tables to reader;

alter default privileges for role owner in schema s revoke select on tables from reader;

alter default privileges for role owner in schema s grant select on tables to writer;

create table three (a int);

grant create, usage on schema s to owner;

set role owner;

create table s.four (a int);

reset role;

select relname, relacl from pg_class where relname in ('three', 'four') order by 1;

select defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl from pg_default_acl order by defaclrole::regrole::text, defaclnamespace::regnamespace::text, defaclobjtype;

alter default privileges grant usage on schemas to reader;

create schema t;

select nspname, nspacl from pg_namespace where nspname in ('s', 't') order by 1;

alter default privileges in schema s grant usage on schemas to reader;

alter default privileges grant select (a) on tables to reader;

alter default privileges grant usage on tables to reader;

alter default privileges grant insert on sequences to reader;

alter default privileges grant select on schemas to reader;

alter default privileges grant nonsense on tables to reader;

alter default privileges in schema nowhere grant select on tables to reader;

alter default privileges for role nobody grant select on tables to reader;

alter default privileges grant select on tables to nobody;

alter default privileges grant select on tables to public with grant option;

set role reader;

alter default privileges for role owner grant select on tables to reader;

alter default privileges grant select on tables to public;

reset role;

drop role writer;

alter default privileges in schema s revoke all on tables from writer cascade;

alter default privileges for role owner in schema s revoke all on tables from writer;

alter default privileges revoke select on tables from reader;

alter default privileges revoke usage on schemas from reader;

create table five (a int);

select relname, relacl from pg_class where relname = 'five';

select defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl from pg_default_acl order by defaclrole::regrole::text, defaclnamespace::regnamespace::text, defaclobjtype;

drop schema s cascade;

select defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl from pg_default_acl order by defaclrole::regrole::text, defaclnamespace::regnamespace::text, defaclobjtype;

begin;

alter default privileges grant select on tables to reader;

create table six (a int);

select relacl from pg_class where relname = 'six';

rollback;

create table seven (a int);

select relacl from pg_class where relname = 'seven';

alter default privileges revoke all on tables from postgres;

create table eight (a int);

select relacl from pg_class where relname = 'eight';

alter default privileges grant all on tables to postgres;

select count(*) from pg_default_acl where defaclrole = 'postgres'::regrole;
