-- OLD and NEW in RETURNING.

create table t (a int primary key, b text, c int default 7);
insert into t values (1, 'x') returning old, new, old.*, new.*;
insert into t values (2, 'y') returning old.a, new.a, a, new.c - coalesce(old.c, 0) as grown, old is null, new is null, old.tableoid, new.tableoid::regclass;
update t set b = b || '!' where a = 1 returning old.b, new.b, b, old, new;
update t set c = c + 1 returning with (old as o) o.c, c, new.c where false;
update t set c = c + 1 where a = 2 returning with (old as o) o.c, c, new.c;
update t set c = c + 1 where a = 2 returning with (old as o, new as n) o.c, n.c, o.*, n.*;
update t set c = c + 1 where a = 2 returning with (new as n) old.c, n.c;
update t set c = c + 1 where a = 2 returning *;
update t set c = c + 1 where a = 2 returning old.*;
delete from t where a = 2 returning old, new, old.*, new.*, a, new.a is null;
-- ON CONFLICT.
insert into t values (1, 'again'), (3, 'third') on conflict (a) do update set b = excluded.b returning old, new, old.b, new.b;
insert into t values (4, 'fourth'), (1, 'once more'), (5, 'fifth') on conflict (a) do update set b = excluded.b returning old.b, new.b, old.a is null as is_new;
insert into t values (1, 'no'), (6, 'six') on conflict do nothing returning old.b, new.b;
insert into t select 7, 'seven' returning old.a, new.a;
-- Joined.
update t set b = v.n from (values (1, 'n1'), (3, 'n3')) v (k, n) where a = k and a = 1 returning old.b, new.b, v.*;
delete from t using (values (3)) v (k) where a = k returning old.b, new.b, k;
update t old set c = 1 where a = 1 returning old.c, new.c;
update t set c = 2 from (values (1, 50)) old (k, c) where a = k returning old.c, new.c;
-- Subqueries and expressions.
update t set c = 5 where a = 1 returning (select old.c + new.c), (select string_agg(z.b, ',' order by z.a) from t z where z.c <= old.c), array[old.c, new.c], row (old.a, new.c);
update t set c = 6 where a = 1 returning to_jsonb(old) - 'b' as o, to_jsonb(new) - 'b' as n;
with u as (update t set c = c * 2 where a = 1 returning old.c as o, new.c as n) select o, n, n - o as d from u;
-- Generated columns, triggers.
create table g (a int, twice int generated always as (a * 2) stored);
insert into g values (1) returning old.twice, new.twice;
update g set a = 5 returning old.twice, new.twice;
create function up() returns trigger language plpgsql as 'begin new.a := new.a + 100; return new; end';
create trigger up before insert or update on g for each row execute function up();
update g set a = 6 returning old.*, new.*;
insert into g values (2) returning old.a, new.a;
-- Views.
create view v as select a as va, b as vb from t where a < 100;
update v set vb = 'view' where va = 1 returning old.vb, new.vb, old, new;
insert into v values (8, 'eight') returning old.va, new.va, old, new;
delete from v where va = 8 returning old.va, new.va, old, new;
create view i as select a, c from t;
create function nothing() returns trigger language plpgsql as 'begin if tg_op = ''DELETE'' then return old; end if; new.c := -1; return new; end';
create trigger i instead of insert or update or delete on i for each row execute function nothing();
insert into i values (9, 9) returning old, new, old.c, new.c;
update i set c = 9 where a = 1 returning old, new, old.c, new.c;
delete from i where a = 1 returning old, new, old.c, new.c;
-- Partitions.
create table p (a int, b int) partition by range (a);
create table p1 partition of p for values from (0) to (10);
create table p2 (b int, a int);
alter table p attach partition p2 for values from (10) to (20);
insert into p values (1, 1), (11, 1) returning old, new, new.tableoid::regclass;
update p set a = a + 1 where a = 1 returning old.*, new.*, old.tableoid::regclass, new.tableoid::regclass;
update p set a = 12 where a = 2 returning old.*, new.*, old.tableoid::regclass, new.tableoid::regclass;
update p1 set b = 1 returning old.b;
delete from p where a = 11 returning old.*, new.*, old.tableoid::regclass;
alter table p add primary key (a);
insert into p values (12, 5), (13, 6) on conflict (a) do update set b = excluded.b returning old.*, new.*;
-- What is refused.
update t set c = 1 returning with (old as o, old as p) 1;
update t set c = 1 returning with (new as o, new as p) 1;
update t set c = 1 returning with (old as o, new as o) 1;
update t set c = 1 returning with (old as t) 1;
update t set c = 1 from g returning with (old as g) 1;
update t set c = 1 returning with (old as o) old.a;
update t set c = 1 returning old.nothing;
update t set c = 1 returning nothing;
select old.a from t;
update t set c = old.c returning 1;
insert into t values (50, old.b) returning 1;
insert into t values (1, 'x') on conflict (a) do update set b = old.b returning 1;
-- In functions.
create function changed(int, text) returns table (o text, n text) language sql begin atomic update t set b = $2 where a = $1 returning old.b, new.b; end;
select * from changed(1, 'by function');
create function changed2() returns text language plpgsql as $$
declare o text; n text;
begin
  update t set b = 'plpgsql' where a = 1 returning old.b, new.b into o, n;
  return o || ' -> ' || n;
end $$;
select changed2();
create function in_trigger() returns trigger language plpgsql as $$
declare x text;
begin
  update t set b = 'inner' where t.a = 1 returning old.b into x;
  return new;
end $$;
create trigger in_trigger before insert on g for each row execute function in_trigger();
insert into g values (3);
create or replace function in_trigger() returns trigger language plpgsql as $$
declare x text;
begin
  update t set b = 'inner' where t.a = 1 returning with (old as before) before.b into x;
  raise notice '%', x;
  return new;
end $$;
insert into g values (3) returning new.a;
-- parameters: 1 | z
update t set b = $2 where a = $1 returning old.a, new.b;
-- Rights.
create role u;
grant select (a), update (b), insert on t to u;
set role u;
update t set b = 'q' where a = 1 returning old.a, new.a;
update t set b = 'q' where a = 1 returning old.b;
update t set b = 'q' where a = 1 returning new.b;
insert into t values (70, 'q') returning new.a;
insert into t values (71, 'q') returning new.b;
insert into t values (72, 'q') returning old.b;
insert into t values (72, 'q') returning old;
reset role;
select count(*) from t;
