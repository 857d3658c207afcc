-- Triggers of partitioned tables and of partitions.
create table p (a int, b text) partition by list (a);
create table p1 partition of p for values in (1);
create function say() returns trigger language plpgsql as $$ begin raise notice '% % % % on %: % -> %', tg_name, tg_when, tg_level, tg_op, tg_relid::regclass, case when tg_op in ('UPDATE', 'DELETE') and tg_level = 'ROW' then old.b end, case when tg_op in ('UPDATE', 'INSERT') and tg_level = 'ROW' then new.b end; if tg_op = 'DELETE' then return old; end if; return new; end $$;
create trigger before_row before insert or update or delete on p for each row execute function say();
create trigger after_row after insert or update or delete on p for each row execute function say();
create trigger before_all before insert or update or delete on p for each statement execute function say();
create trigger after_all after insert or update or delete on p for each statement execute function say();
create table p2 partition of p for values in (2);
create trigger own before insert on p1 for each row execute function say();
create trigger own_all before insert on p1 for each statement execute function say();
insert into p values (1, 'one'), (2, 'two');
insert into p1 values (1, 'direct');
update p set b = b || '!' where a = 1;
update p set a = 2 where b = 'one!';
delete from p where a = 2;
select tgrelid::regclass, tgname, tgparentid <> 0 as child, tgenabled from pg_trigger order by 1, 2;
drop trigger before_row on p1;
-- differs: an SQLSTATE that tells what is wrong
alter trigger before_row on p1 rename to other;
alter trigger before_row on p rename to first_row;
alter table p disable trigger after_row;
insert into p values (2, 'quiet');
alter table p1 disable trigger first_row;
insert into p values (1, 'quieter');
drop trigger first_row on p;
drop trigger after_row on p;
insert into p values (1, 'x'), (2, 'y');
drop trigger before_all on p;
drop trigger after_all on p;
drop trigger own on p1;
drop trigger own_all on p1;
select count(*) from pg_trigger;
-- A trigger that changes rows.
create function other_b() returns trigger language plpgsql as $$ begin new.b := upper(new.b); return new; end $$;
create function other_a() returns trigger language plpgsql as $$ begin new.a := new.a + 1; return new; end $$;
create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger b before insert on p for each row execute function other_b();
insert into p values (1, 'lower') returning *;
create trigger c before insert on p for each row when (new.b = 'MOVE') execute function other_a();
-- differs: the error's detail names the first of the triggers
insert into p values (1, 'move');
create trigger d before insert or update or delete on p for each row when (pg_trigger_depth() = 0) execute function nothing();
insert into p values (1, 'nothing') returning *;
update p set a = 2 where a = 1;
delete from p;
select count(*) from p;
drop trigger d on p;
drop trigger c on p;
-- Transition tables.
create function count_rows() returns trigger language plpgsql as $$ declare n int; begin if tg_op <> 'DELETE' then select count(*) into n from news; raise notice '% new', n; end if; if tg_op <> 'INSERT' then select count(*) into n from olds; raise notice '% old', n; end if; return null; end $$;
create trigger tr after update on p referencing old table as olds for each row execute function count_rows();
create trigger tr after update on p1 referencing old table as olds for each row execute function count_rows();
create trigger ti after insert on p referencing new table as news for each statement execute function count_rows();
create trigger tu after update on p referencing old table as olds new table as news for each statement execute function count_rows();
create trigger td after delete on p referencing old table as olds for each statement execute function count_rows();
insert into p values (1, 'a'), (2, 'b'), (1, 'c');
update p set a = 2 where b = 'A';
update p set b = 'z' where a = 2;
delete from p where a = 1;
-- ATTACH and DETACH.
create table p3 (b text, a int);
alter table p attach partition p3 for values in (3);
-- differs: the notice comes behind the rows' description
insert into p values (3, 'three') returning *;
alter table p detach partition p3;
select count(*) from pg_trigger where tgrelid = 'p3'::regclass;
create constraint trigger ct after insert on p deferrable initially deferred for each row execute function say();
begin;
insert into p values (1, 'later');
commit;
create trigger it instead of insert on p for each row execute function say();
create or replace trigger b before insert on p for each row execute function say();
insert into p values (1, 'replaced');
