-- MERGE into views and partitioned tables.

create table base (a int primary key, b int, c text default 'base');
insert into base values (1, 1), (2, 2), (3, 3), (-1, -1);
create table s (a int, b int);
insert into s values (-1, 100), (1, 100), (5, 500);
create view v as select b as vb, a as va from base where a > 0;
-- unordered
merge into v using s on v.va = s.a when matched then update set vb = s.b when not matched and s.a > 0 then insert (va, vb) values (s.a, s.b) returning merge_action(), v.*, old.vb, new.vb;
table base order by a;
merge into v using s on v.va = s.a when not matched then insert (va, vb) values (s.a + 100, s.b);
table base order by a;
-- unordered
merge into v using s on v.va = s.a when not matched by source then delete returning v.va;
table base order by a;
alter view v alter column vb set default 77;
merge into v using (values (8)) x (a) on va = x.a when not matched then insert (va) values (x.a);
create view checked as select * from base where a < 50 with check option;
merge into checked using s on checked.a = s.a when matched then update set a = 60;
merge into checked using (values (51)) x (a) on checked.a = x.a when not matched then insert (a) values (x.a);
merge into checked using (values (9)) x (a) on checked.a = x.a when not matched then insert (a) values (x.a) returning *;
create view computed as select a, b * 2 as bb from base;
merge into computed using s on computed.a = s.a when matched then update set bb = 1;
merge into computed using s on computed.a = s.a when not matched then insert values (s.a + 1000, 1);
merge into computed using s on computed.a = s.a when not matched then insert (a) values (s.a + 1000);
create view grouped as select a from base group by a;
merge into grouped using s on true when matched then delete;
merge into grouped using s on true when matched then update set a = 1;
merge into grouped using s on true when not matched then insert values (1);
create view barrier with (security_barrier) as select * from base where b > 50;
-- unordered
merge into barrier using s on barrier.a = s.a when matched then update set b = barrier.b + 1 when not matched then do nothing returning barrier.a, barrier.b;
-- INSTEAD OF triggers.
create view i as select a, b from base;
create function instead() returns trigger language plpgsql as $$
begin
  raise notice '% old % new %', tg_op, old, new;
  return coalesce(new, old);
end $$;
create trigger i_insert instead of insert on i for each row execute function instead();
merge into i using s on i.a = s.a when matched then delete when not matched then insert values (s.a, s.b);
merge into i using (values (700)) x (a) on i.a = x.a when not matched then insert values (x.a, 1) returning merge_action(), i.*, old, new;
create trigger i_update instead of update on i for each row execute function instead();
create trigger i_delete instead of delete on i for each row execute function instead();
merge into i using (values (1), (701)) x (a) on i.a = x.a when matched then update set b = 5 when not matched then insert values (x.a, 1);
merge into i using (values (1)) x (a) on i.a = x.a when matched then delete returning merge_action(), i.*, old, new;
merge into i using (values (1)) x (a) on i.a = x.a when matched then update set b = i.b + 1 returning merge_action(), i.*, old.b, new.b;
merge into i using (select 1) x on false when not matched by source and i.a = 1 then delete;
table base order by a;
-- Partitions.
create table p (a int, b int, c text) partition by list (a);
create table p1 partition of p for values in (1, 2);
create table p2 (c text, b int, a int);
alter table p attach partition p2 for values in (3, 4);
insert into p values (1, 1, 'x'), (3, 3, 'y');
-- unordered
merge into p using (values (1, 10), (2, 20), (3, 30), (4, 40)) x (a, b) on p.a = x.a when matched then update set b = x.b when not matched then insert values (x.a, x.b, 'new') returning merge_action(), p.tableoid::regclass, p.*;
select tableoid::regclass, * from p order by a;
-- unordered
merge into p using (values (1), (3)) x (a) on p.a = x.a when matched then update set a = 5 - p.a - 0 returning merge_action(), old.a, new.a;
-- unordered
merge into p using (values (1, 3), (4, 2)) x (a, n) on p.a = x.a when matched then update set a = x.n returning merge_action(), old.a, new.a, old.tableoid::regclass, new.tableoid::regclass;
select tableoid::regclass, * from p order by a, b;
merge into p using (values (9)) x (a) on p.a = x.a when not matched then insert values (x.a);
merge into p using (values (2)) x (a) on p.a = x.a when matched then update set a = 9;
merge into p using (values (2)) x (a) on p.a = x.a when matched then delete when not matched by source then update set c = 'rest';
select tableoid::regclass, * from p order by a, b;
merge into p1 using (values (3)) x (a) on p1.a = x.a when not matched then insert values (x.a);
merge into p using (values (3), (3)) x (a) on p.a = x.a when matched then update set b = 0;
merge into only p using (values (3)) x (a) on p.a = x.a when matched then delete when not matched then insert values (x.a, 33, 'only');
select tableoid::regclass, * from p order by a, b;
alter table p add unique (a, b);
merge into p using (values (3)) x (a) on p.a = x.a when not matched by source then delete when matched then update set b = p.b + 1;
select tableoid::regclass, * from p order by a, b;
create view pv as select a, b from p where b > 10;
-- unordered
merge into pv using (values (3), (1)) x (a) on pv.a = x.a when matched then update set b = 11 when not matched then insert values (x.a, 12) returning merge_action(), pv.*;
select tableoid::regclass, * from p order by a, b;
