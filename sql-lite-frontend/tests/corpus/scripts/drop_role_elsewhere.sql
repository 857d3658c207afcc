-- DROP ROLE asks all databases.
create role leaver; create role stays;
create database beside;
create database between;
create database home;
-- connect: beside
alter schema public owner to leaver;
create table t(a int, b int); grant select (a), update (b) on t to leaver;
create table of_leaver(a int); alter table of_leaver owner to leaver; grant select on of_leaver to stays;
create function f() returns int language sql as 'select 1'; grant execute on function f() to leaver;
alter default privileges for role stays in schema public grant select on tables to leaver;
alter table t enable row level security; create policy p on t to leaver;
-- connect: between
create table t(a int);
grant select on t to leaver;
drop role leaver;
-- connect: home
create table public.here(a int);
drop role leaver;
alter table here owner to leaver;
create view seen as select * from here; grant select on seen to leaver;
create materialized view stored as select 1 as one; alter materialized view stored owner to leaver;
create sequence numbers; grant usage on sequence numbers to leaver;
create type mood as enum ('ok'); alter type mood owner to leaver;
drop role leaver;
drop owned by leaver cascade;
drop role leaver;
-- connect: between
revoke all on t from leaver;
-- connect: beside
drop owned by leaver cascade;
-- connect: home
drop role leaver;
drop role stays;
-- connect: beside
drop owned by stays;
-- connect: home
drop role stays;
