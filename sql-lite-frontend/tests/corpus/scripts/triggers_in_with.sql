-- AFTER triggers of statements within WITH fire when the whole statement has written everything.
create table work (id int primary key, note text);
create table told (n serial primary key, what text);
create function tell() returns trigger language plpgsql as $$ begin insert into told (what) values (tg_when || ' ' || tg_op || ' ' || tg_level || ' ' || coalesce(case when tg_level = 'ROW' then case when tg_op = 'DELETE' then old.id else new.id end::text end, '')); return null; end $$;
create trigger work_row after insert or update or delete on work for each row execute function tell();
create trigger work_statement after insert or update or delete on work for each statement execute function tell();

with made as (insert into work values (1, 'a'), (2, 'b') returning id) select id from made order by id;
select what from told order by n;
truncate told restart identity;
-- Nobody asks for what it returns.
with made as (insert into work values (3, 'c')) select 1 as one;
with changed as (update work set note = 'd' where id = 1 returning id), gone as (delete from work where id = 2 returning id)
select (select count(*) from changed) as changed, (select count(*) from gone) as gone;
select what from told order by n;
truncate told restart identity;
with made as (insert into work values (4, 'd') returning id) update work set note = 'e' where id in (1, 3);
-- unordered
select what from told order by n;
truncate told restart identity;
with made as (insert into work values (5, 'e') returning id) insert into work select id + 1, 'f' from made returning id;
-- differs: two statements write the same table, and PostgreSQL fires one trigger for both
select what from told order by n;
truncate told restart identity;

-- Within functions.
create function make(int) returns int language plpgsql as $$ declare made int; begin with made as (insert into work values ($1, 'made') returning id) select max(id) from made into made; return made; end $$;
select make(10), make(11);
create function make_sql(int) returns int language sql as $$ with made as (insert into work values ($1, 'made') returning id) select id from made $$;
select make_sql(12);
do $$ declare row record; begin for row in with made as (insert into work values (13, 'x'), (14, 'y') returning id) select id from made order by id loop insert into told (what) values ('the loop has ' || row.id); end loop; execute 'with made as (insert into work values (15, ''z'') returning id) select id from made'; perform 1 from told where what like '%15%'; insert into told (what) values ('found ' || found); end $$;
create function all_made() returns setof int language plpgsql as $$ begin return query with made as (insert into work values (16, 'q'), (17, 'r') returning id) select id from made; end $$;
select count(*) from all_made();
select what from told order by n;
truncate told restart identity;

-- Prepared, and run again and again.
prepare make_prepared (int) as with made as (insert into work values ($1, 'p') returning id) select id from made;
execute make_prepared(20);
execute make_prepared(21);
execute make_prepared(20);
execute make_prepared(22);
select what from told order by n;
truncate told restart identity;

-- Conditions, and tables of what was changed.
drop trigger work_statement on work;
drop trigger work_row on work;
create trigger work_row after insert or update on work for each row when (new.id % 2 = 0) execute function tell();
with made as (insert into work values (30, 'a'), (31, 'b'), (32, 'c') returning id) select count(*) from made;
create function count_made() returns trigger language plpgsql as $$ begin insert into told (what) select 'made ' || count(*) || ' up to ' || max(id) from made_rows; return null; end $$;
create trigger work_made after insert on work referencing new table as made_rows for each statement execute function count_made();
with made as (insert into work values (40, 'a'), (41, 'b') returning id) select count(*) from made;
select what from told order by n;
truncate told restart identity;

-- A constraint's trigger waits for the end of the transaction.
create constraint trigger work_last after insert on work deferrable initially deferred for each row execute function tell();
begin;
with made as (insert into work values (51, 'a') returning id) select id from made;
select what from told order by n;
commit;
select what from told order by n;
truncate told restart identity;

-- What a trigger refuses takes back the statement.
create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no %', new.id; end $$;
create trigger work_refused after insert on work for each row when (new.note = 'no') execute function refuse();
with made as (insert into work values (60, 'no') returning id) select id from made;
select count(*) from work where id = 60;
-- As keys do.
create table part (id int primary key, of int references work);
with made as (insert into part values (1, 99) returning id) select id from made;
with gone as (delete from work where id = 1 returning id), made as (insert into part values (2, 1) returning id)
select count(*) from gone, made;
with made as (insert into part values (3, 3) returning id), gone as (delete from part where id = 3 returning id)
select count(*) from made;
select * from part;
