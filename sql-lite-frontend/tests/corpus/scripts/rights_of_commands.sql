-- CREATE DATABASE … TEMPLATE: a database that is no template is copied by its owner alone.
create role maker createdb;
create role other createdb;
set session authorization other;
create database of_other;
set session authorization maker;
create database copied template of_other;
create database copied template postgres;
create database copied template template1;
create database copied template nowhere;
drop database copied;
reset session authorization;
alter database of_other is_template true;
set session authorization maker;
create database copied template of_other;
drop database copied;
reset session authorization;
alter database of_other is_template false;
drop database of_other;

-- REINDEX of a schema or of the database is its owner's, whoever owns the tables.
create schema of_maker authorization maker;
create table of_maker.t(a int primary key, b int); create index on of_maker.t (b);
create materialized view of_maker.m as select 1 as one; create index on of_maker.m (one);
grant usage on schema of_maker to other;
set session authorization maker;
reindex schema of_maker;
reindex table of_maker.t;
reindex index of_maker.t_b_idx;
set session authorization other;
reindex schema of_maker;
reindex table of_maker.t;
reset session authorization;

-- VACUUM FULL.
set session authorization other;
vacuum full of_maker.t;
vacuum full of_maker.nothing;
reset session authorization;
vacuum full of_maker.t;
