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
-- differs: refused: changing rows through a security_barrier view
update closed set n = 7 where id = 1;
-- differs: refused: changing rows through a security_barrier view
delete from closed where id = 3;
