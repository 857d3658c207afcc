-- A materialized view's query is run as its owner, whoever refreshes it.
create role maker;
create role other;
grant create on schema public to maker;
create table hidden (a int);
insert into hidden values (1);
set role maker;
create function who(int) returns text language plpgsql as 'begin return current_user; end';
create materialized view m as select i, who(i) as who, current_user::text as cu, session_user = current_user as is_session from generate_series(1, 2) i;
select * from m;
reset role;
refresh materialized view m;
select * from m;
create unique index on m (i);
refresh materialized view concurrently m;
select * from m;
select current_user = session_user;
set role maker;
create or replace function who(int) returns text language plpgsql as 'begin execute ''alter role maker superuser''; return current_user; end';
reset role;
-- differs: as PostgreSQL 18
refresh materialized view m;
-- differs: as PostgreSQL 18
refresh materialized view concurrently m;
select rolsuper from pg_roles where rolname = 'maker';
select current_user = session_user;
set role maker;
create or replace function who(int) returns text language plpgsql as 'begin return (select count(*) from hidden); end';
reset role;
-- differs: the context has the function's schema
refresh materialized view m;
set role other;
refresh materialized view m;
reset role;
create materialized view mine as select a from hidden;
refresh materialized view mine;
select * from mine;
