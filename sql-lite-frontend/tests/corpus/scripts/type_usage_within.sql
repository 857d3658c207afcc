-- USAGE of the types that views, tables made of queries and policies name or have as columns.
create role maker;
grant create on schema public to maker;
create type pair as (a int, b int);
create domain small as int;
create table kept (p pair, s small, n int);
grant select on kept to maker;
revoke usage on type pair from public;
revoke usage on domain small from public;
set role maker;
create view v1 as select ('(0,1)'::pair).a;
create view v2 as select s from kept;
create view v3 as select n from kept where s is not null;
create view v4 as select 1 as n where 1::small > 0;
create view v5 as select n from kept where array[n] = '{1}'::small[];
create table t1 as select 1::small as a;
create table t2 as select s from kept;
create table t3 as select n from kept where s is not null;
create materialized view m1 as select ('(0,1)'::pair).a;
create materialized view m2 as select s from kept;
create materialized view m3 as select n from kept where s is not null;
select s into t4 from kept;
create table mine (a int);
create policy p1 on mine using (a > ('(0,1)'::pair).a);
create policy p2 on mine with check (a > 1::small);
create policy p3 on mine using (a > 1);
create table t5 (a int check (a > 1::small));
create table t6 (a int default ('(0,1)'::pair).a);
create table t7 (a int, b int generated always as (a + 1::small) stored);
alter table mine add check (a > ('(0,1)'::pair).a);
alter table mine alter a set default 1::small;
alter table mine add b int default 1::small;
-- differs: the type is named without its schema
create index on mine (a) where a > 1::small;
create table t8 (a int) partition by range ((a + ('(0,1)'::pair).a));
-- differs: the error's position
create domain of_default as int default 1::small;
create domain of_check as int check (value > 1::small);
alter domain of_check add check (value > 1::small);
-- differs: the error's position
create function of_argument(a int default 1::small) returns int language sql as 'select 1';
create table t9 (a int default 1, check (a > 0));
select ('(0,1)'::pair).a, 1::small;
reset role;
grant usage on type pair to maker;
set role maker;
create view v1 as select ('(0,1)'::pair).a;
create policy p1 on mine using (a > ('(0,1)'::pair).a);
reset role;
