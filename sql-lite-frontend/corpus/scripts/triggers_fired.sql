-- Triggers in PL/pgSQL: what fires, when, in which order, and what it sees.
create table acc(id int primary key, v int, updated_at timestamptz, note text);
create table log(n serial, op text, old_v int, new_v int, tg text);
create function stamp() returns trigger language plpgsql as $$ begin new.updated_at := '2020-01-01'; new.note := coalesce(new.note,'') || tg_op || tg_nargs || coalesce(tg_argv[0],'-'); return new; end $$;
create function audit() returns trigger language plpgsql as $$ begin
 if tg_op = 'DELETE' then insert into log(op,old_v,tg) values (tg_op, old.v, tg_name || tg_when || tg_level || tg_table_name); return old;
 elsif tg_op = 'UPDATE' then insert into log(op,old_v,new_v,tg) values (tg_op, old.v, new.v, tg_name); return new;
 else insert into log(op,new_v,tg) values (tg_op, new.v, tg_name); return new; end if; end $$;
create function skip() returns trigger language plpgsql as $$ begin if new.v < 0 then return null; end if; return new; end $$;
create function stmt() returns trigger language plpgsql as $$ begin raise notice '% % % %', tg_name, tg_when, tg_level, tg_op; return null; end $$;
create function boom() returns trigger language plpgsql as $$ begin if new.v = 13 then raise exception 'no 13' using hint='pick another', errcode='P0042'; end if; return new; end $$;
create trigger a_stamp before insert or update on acc for each row execute function stamp('x');
create trigger b_skip before insert or update of v on acc for each row execute function skip();
create trigger c_boom before insert or update on acc for each row when (new.v > 10) execute function boom();
create trigger z_audit after insert or update or delete on acc for each row execute function audit();
create trigger s1 before insert or update or delete or truncate on acc for each statement execute function stmt();
create trigger s2 after insert or update or delete or truncate on acc for each statement execute function stmt();
insert into acc(id,v) values (1,1),(2,-5),(3,3);
insert into acc(id,v) values (4,13);
update acc set v = v + 1;
update acc set v = -1 where id = 1;
delete from acc where id = 1;
delete from acc where id = 999;
insert into acc(id,v) values (3,9) on conflict (id) do update set v = excluded.v;
select id, v, updated_at::date, note from acc order by id;
select * from log order by n;
begin; savepoint a; insert into acc(id,v) values (20,2); rollback to a; select count(*) from log; commit;
select count(*) from log;
truncate acc;
select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1;
alter table acc disable trigger z_audit;
insert into acc(id,v) values (30,3); select count(*) from log;
drop function audit();
drop function audit() cascade;
drop trigger s1 on acc;
drop trigger s2 on acc;
create function rec() returns trigger language plpgsql as $$ begin if new.id < 1005 then insert into acc(id,v) values (new.id+1, 1); end if; return new; end $$;
create trigger r after insert on acc for each row execute function rec();
insert into acc(id,v) values (1000,20);
select id, v, note from acc where id >= 1000 order by id;
-- differs: the error's context
select stamp();
-- differs: the error's context
create function bad(int) returns trigger language plpgsql as $$ begin return new; end $$;
create function noret() returns trigger language plpgsql as $$ begin end $$;
drop trigger r on acc; create trigger n before insert on acc for each row execute function noret();
insert into acc(id,v) values (2000,1);
create function badfield() returns trigger language plpgsql as $$ begin new.nosuch := 1; return new; end $$;
drop trigger n on acc; create trigger n before insert on acc for each row execute function badfield();
-- differs: the error's context
insert into acc(id,v) values (2000,1);
do $$ begin raise notice 'sum %', (select sum(i) from generate_series(1,10) i); end $$;
create table dflt(v int default 7, w int check (w > 0), x int generated always as (w + 1) stored);
create function fill(v int, w int) returns int language plpgsql as $$ declare x int := 5; begin insert into dflt(w) values (fill.w); return x; end $$;
select fill(1, 2);
select fill(1, -2);
select * from dflt;
drop table acc;
