-- ON COMMIT DELETE ROWS is no DELETE: no trigger fires, however often the session commits.
create temp table t(a int) on commit delete rows;
create temp table log(what text);
create function note() returns trigger language plpgsql as 'begin insert into log values (tg_op || tg_level); return old; end';
create trigger a after delete on t for each row execute function note();
create trigger b before delete on t for each row execute function note();
create trigger s after delete on t for each statement execute function note();
begin; insert into t values (1), (2); select count(*) from t;
commit;
select * from t;
select * from log;
begin; insert into t values (3); delete from t;
commit;
select * from log order by 1;
truncate log;
insert into t values (4);
select 1;
select * from t;
select * from log;
begin;
copy t from stdin;
1
\.
commit;
select * from t;
begin; insert into t values (5); savepoint a; insert into t values (6); rollback to a; commit;
select * from t;
create temp table parent(id int primary key) on commit delete rows;
create temp table child(id int references parent) on commit delete rows;
begin; insert into parent values (1); insert into child values (1); commit;
select count(*) from parent;
select count(*) from child;
begin; create temp table once(a int) on commit delete rows; insert into once values (1); select * from once; commit;
select * from once;
drop table t;
begin; insert into once values (1); commit;
select * from once;
select * from log;
