-- Views WITH (security_barrier): their conditions come before any that could tell of rows.
create table t (id int primary key, owner text, n int);
insert into t values (1, 'ann', 1), (2, 'ben', 0), (3, 'ann', 3), (4, 'ben', 2);
create function tell(anyelement) returns boolean language plpgsql cost 0.0000001 as 'begin raise notice ''%'', $1; return true; end';
create view open as select * from t where owner = 'ann';
create view closed with (security_barrier) as select * from t where owner = 'ann';
create view on_top as select id, n from closed where n > 0;
create view counted with (security_barrier = true) as select owner, count(*) as c, sum(n) as s from t group by owner having count(*) > 1;
create view both_of with (security_barrier) as select id, n from t where owner = 'ann' union all select id + 10, n from t where owner = 'ann';
select reloptions from pg_class where relname in ('closed', 'counted') order by relname;
select id from closed where tell(id) order by id;
select id from closed where 1 / n > 0 order by id;
select id from closed where n = 1 and tell(n);
select id from closed where id = 2 and tell(n);
select id from on_top where tell(id) order by id;
select id from on_top where 1 / n >= 0 order by id;
select id from (select * from closed where tell(owner)) c where tell(id) and id > 1;
select count(*) from closed c join t on t.id = c.id and tell(c.n);
select t.id from t left join closed c on c.id = t.id and 1 / c.n > 0 where c.id is not null order by 1;
select owner from counted where tell(owner) order by owner;
select owner from counted where owner = 'ben' and tell(s);
-- differs: PostgreSQL tells of hidden rows behind UNION ALL
select count(*) from both_of where tell(n);
select id from closed order by n desc limit 1;
select count(*) from (select id from closed where tell(id) for update) c;
insert into closed values (5, 'ben', 5);
insert into closed values (6, 'ann', 6) returning id;
alter view open set (security_barrier);
select id from open where 1 / n >= 0 order by id;
alter view open set (security_barrier = false);
select reloptions from pg_class where relname = 'open';
alter view open reset (security_barrier);
select reloptions from pg_class where relname = 'open';
create view bad with (security_barrier = maybe) as select 1;

-- Rows are changed behind the view's conditions.
update closed set n = 7 where id = 1;
update closed set n = 8 where tell(owner);
update closed set n = n + 1 where 10 / n > 0;
update closed set n = 5 where id = 2;
update closed set n = 5 where id = 2 and tell(owner);
update closed c set n = t.n from t where t.id = c.id and tell(c.id) and c.id = 3;
update closed set owner = 'ben' where id = 6 returning *;
update closed set n = (select count(*) from closed where tell(n));
delete from closed where tell(id) and id = 6;
delete from closed where id = 3 and 1 / n >= 0 returning id, owner;
with gone as (delete from closed where 10 / n > 0 returning id) select * from gone;
select * from t order by id;
explain (costs off) update closed set n = 1 where id = 2;
prepare changes(int) as update closed set n = $1 where tell(id);
insert into t values (10, 'ann', 1), (11, 'ben', 1), (12, 'ann', 2);
execute changes(5);
execute changes(6);
deallocate changes;

-- One over the other: each is asked before those above it.
create view upper with (security_barrier) as select id, owner, n from closed where tell(n);
create view uppermost as select id, n from upper where 1 / (n - 1) > -2;
update upper set n = 3 where tell(id);
update uppermost set n = 2 where tell(id) and id > 10;
delete from uppermost where tell(id) and id = 12;
create view plain_below as select id, owner, n from t where n > 0;
create view closed_above with (security_barrier) as select id, owner, n from plain_below where owner = 'ann';
update closed_above set n = n + 1 where tell(id);
delete from closed_above where tell(owner) and id = 11;

-- WITH CHECK OPTION; what is not known is no row of the view.
create view checked with (security_barrier, check_option = cascaded) as select id, owner, n from closed where n > 0;
insert into checked values (20, 'ann', 1), (21, 'ann', 2) returning *;
insert into checked values (22, 'ben', 1);
insert into checked values (23, 'ann', 0);
insert into checked values (24, 'ann', null);
insert into checked values (25, null, 1);
update checked set n = 0 where tell(id);
update checked set n = null where id = 20;
update checked set owner = 'ben' where id = 20;
update checked set n = 9 where id = 20 returning *;
create view local_one with (check_option = local) as select id, n from t where n > 0;
insert into local_one values (30, null);
update local_one set n = null where id = 20;

-- Policies come before any of them.
create role barred;
grant all on t to barred;
alter table t enable row level security;
create policy odd on t to barred using (id % 2 = 0);
create view asked with (security_barrier, security_invoker) as select id, owner, n from t where tell(owner);
grant all on asked to barred;
set role barred;
update asked set n = 4 where tell(id);
update asked set id = 41 where id = 20;
delete from asked where tell(n);
reset role;
select * from t order by id;

-- Nobody locks the rows of a materialized view.
create materialized view kept as select id, n from t;
select id from kept for update;
select id from kept for key share;
select k.id from kept k join t on t.id = k.id for update of t;
