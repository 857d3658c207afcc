-- MERGE: the triggers that it fires.

create table t (a int primary key, b int);
create function told() returns trigger language plpgsql as $$
begin
  if tg_level = 'ROW' then
    raise notice '% % % old % new %', tg_name, tg_when, tg_op, old, new;
  else
    raise notice '% % %', tg_name, tg_when, tg_op;
  end if;
  return coalesce(new, old);
end $$;
create trigger bs before insert or update or delete on t for each statement execute function told();
create trigger rb before insert or update or delete on t for each row execute function told();
create trigger ra after insert or update or delete on t for each row execute function told();
create trigger sa after insert or update or delete on t for each statement execute function told();
insert into t values (1, 1);
merge into t using (values (1)) v (k) on a = k when matched then update set b = 2;
merge into t using (values (2)) v (k) on a = k when not matched then insert values (k, 3);
merge into t using (values (2)) v (k) on a = k when matched then delete;
merge into t using (values (7)) v (k) on a = k when matched then delete when not matched and false then insert values (k) when not matched by source and false then update set b = 1;
merge into t using (values (7)) v (k) on a = k when matched then do nothing;
merge into t using (values (1)) v (k) on a = k when matched and b = 0 then delete when matched then update set b = t.b + 1 when not matched then insert values (1, 1);
-- A trigger may change the row, or leave it.
create function changes() returns trigger language plpgsql as $$
begin
  if new.b = 100 then return null; end if;
  new.b := new.b + 1000;
  return new;
end $$;
create trigger c before insert or update on t for each row execute function changes();
merge into t using (values (1)) v (k) on a = k when matched then update set b = 5 returning merge_action(), t.*;
merge into t using (values (1)) v (k) on a = k when matched then update set b = 100 returning merge_action(), t.*;
merge into t using (values (3)) v (k) on a = k when not matched then insert values (k, 100) returning merge_action(), t.*;
merge into t using (values (3)) v (k) on a = k when not matched then insert values (k, 101) returning merge_action(), t.*;
-- UPDATE OF counts the columns of all actions.
drop trigger bs on t;
drop trigger rb on t;
drop trigger ra on t;
drop trigger sa on t;
drop trigger c on t;
create trigger of_b after update of b on t for each row execute function told();
create trigger of_a after update of a on t for each statement execute function told();
merge into t using (values (1)) v (k) on a = k when matched then update set a = 10;
merge into t using (values (10)) v (k) on a = k when matched and b = -1 then update set a = 4 when matched then update set b = 4;
-- Conditions, and transition tables.
drop trigger of_b on t;
drop trigger of_a on t;
create trigger w after update on t for each row when (old.b < new.b) execute function told();
merge into t using (values (10)) v (k) on a = k when matched then update set b = 3;
merge into t using (values (10)) v (k) on a = k when matched then update set b = 5;
create function shows_new() returns trigger language plpgsql as $$
begin
  raise notice '% %: %', tg_name, tg_op, (select string_agg(n::text, ' ' order by n.a) from n);
  return null;
end $$;
create function shows_old() returns trigger language plpgsql as $$
begin
  raise notice '% %: %', tg_name, tg_op, (select string_agg(o::text, ' ' order by o.a) from o);
  return null;
end $$;
create trigger ti after insert on t referencing new table as n for each statement execute function shows_new();
create trigger tu after update on t referencing new table as n for each statement execute function shows_new();
create trigger tuo after update on t referencing old table as o for each statement execute function shows_old();
create trigger td after delete on t referencing old table as o for each statement execute function shows_old();
insert into t values (20, 20), (21, 21), (22, 22);
merge into t using (values (20), (21), (50), (51)) v (k) on a = k when matched and k = 20 then update set b = 0 when matched then delete when not matched then insert values (k, k) when not matched by source and a = 22 then update set b = -22;
table t order by a;
-- A row that its own trigger changes.
create function touches() returns trigger language plpgsql as $$
begin
  update t set b = b + 1 where a = old.a;
  return coalesce(new, old);
end $$;
create table u (a int primary key, b int);
insert into u values (1, 1);
create function touches_u() returns trigger language plpgsql as $$
begin
  update u set b = b + 1 where a = old.a and b < 5;
  return coalesce(new, old);
end $$;
create trigger touch before delete on u for each row execute function touches_u();
merge into u using (values (1)) v (k) on a = k when matched then delete;
table u;
-- Partitions: rows that move are removed and inserted.
create table p (a int, b int) partition by list (a);
create table p1 partition of p for values in (1);
create table p2 partition of p for values in (2);
insert into p values (1, 1);
create trigger ps before insert or update or delete on p for each statement execute function told();
create trigger pr before insert or update or delete on p for each row execute function told();
create trigger pa after insert or update or delete on p for each row execute function told();
merge into p using (values (1)) v (k) on a = k when matched then update set a = 2;
merge into p using (values (1)) v (k) on a = k when matched then delete when not matched then insert values (1, 5);
merge into p using (values (2)) v (k) on a = k when matched then delete;
-- Constraint triggers wait.
create table w (a int);
create constraint trigger ct after insert or update on w deferrable initially deferred for each row execute function told();
begin;
merge into w using (values (1)) v (k) on a = k when not matched then insert values (k);
merge into w using (values (1)) v (k) on a = k when matched then update set a = 2;
commit;
