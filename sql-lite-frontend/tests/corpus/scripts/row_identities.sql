-- ctid of tables with a primary key of several columns: what postgres_fdw and the like write rows by.
-- Its value is the server's own, so it is not shown.
create table t (a int, b text, v text, primary key (b, a));
insert into t select g, 'b' || g % 3, 'v' || g from generate_series(1, 9) g;
create table other (id int primary key, a int);
insert into other select g, g from generate_series(1, 3) g;
create table bare (a int);
insert into bare values (1), (1);

select count(ctid), count(distinct ctid) from t;
select pg_typeof(ctid) from t limit 1;
select a, ctid = t.ctid from t where a < 3 order by a;
select count(*) from t x join t y on x.ctid = y.ctid;
select x.a from t x where x.ctid = (select ctid from t where a = 4);
select a from t where ctid in (select ctid from t where a in (2, 5)) order by a;
select o.id, t.ctid is null from other o left join t on t.a = o.a + 7 order by o.id;

-- Of several of a kind all but one are deleted.
insert into t select g, 'c', 'v' || g % 2 from generate_series(11, 16) g;
delete from t where b = 'c' and ctid not in (select min(ctid) from t where b = 'c' group by v);
select v, count(*) from t where b = 'c' group by v order by v;

-- Found by it.
do $$
declare
  place tid; --
  n int; --
begin
  select ctid into place from t where a = 4; --
  update t set v = 'by ctid' where ctid = place; --
  get diagnostics n = row_count; --
  raise notice '% updated', n; --
  update t set v = 'again' where ctid = place; --
  get diagnostics n = row_count; --
  raise notice '% updated', n; --
  select ctid into place from t where a = 4 for update; --
  begin
    update t set v = 'taken back' where ctid = place; --
    raise exception 'no'; --
  exception when raise_exception then
    raise notice '%', sqlerrm; --
  end; --
  update t set v = v || ', twice' where place = ctid; --
  get diagnostics n = row_count; --
  raise notice '% updated', n; --
  select ctid into place from t where a = 5; --
  delete from t where t.ctid = place; --
  get diagnostics n = row_count; --
  raise notice '% deleted', n; --
  delete from t where ctid = place; --
  get diagnostics n = row_count; --
  raise notice '% deleted', n; --
end $$;
select a, b, v from t where b <> 'c' order by a;

-- As a cursor gives it, under locks.
begin isolation level repeatable read;
declare c cursor for select a, b, v from t where a < 3 order by a for update;
fetch 1 from c;
prepare change(tid, text) as update t set v = $2 where ctid = $1;
rollback;
deallocate all;
update t set v = 'where' where ctid = null;
update t set v = 'from other' from other o where o.a = t.a and o.id = 2;
update other set a = 100 where other.ctid = (select o.ctid from other o where id = 3);
select * from other order by id;
select ctid from missing;
select o.ctid from other;
select ctid from t, other;
select ctid from (select 1 as x) s;
select max(ctid) is not null, min(ctid) < max(ctid) from t;
select count(*) from t group by ctid having count(*) > 1;
create view shown as select a, ctid is not null as there from t;
select * from shown where a < 3 order by a;
create table checked (a int primary key, check (ctid is not null));
create index on t ((ctid::text));
drop view shown;

select ctid is not null from bare;
-- differs: refused: ctid that the transaction has not read
update t set v = 'x' where ctid = '(0,1)' and a = 77;
-- differs: refused: ctid that the transaction has not read
select v from t where ctid = '(4294967295,1)';
