-- CONTEXT of errors and notices through several routines; WHERE CURRENT OF; SECURITY DEFINER.
create table t(a int primary key, b text);
insert into t values (1, 'one'), (2, 'two'), (3, 'three');
create function inner_says(x int) returns int language plpgsql as $$ begin raise notice 'inner %', x; if x = 13 then raise exception 'thirteen'; end if; return x; end $$;
create function outer_says(x int) returns int language plpgsql as $$ declare y int; begin raise notice 'outer'; perform inner_says(x); y := inner_says(x); select inner_says(x) into y; execute 'select inner_says($1)' into y using x; return inner_says(y); end $$;
select outer_says(1);
select outer_says(13);
do $$ begin perform outer_says(2); end $$;
create function in_sql(x int) returns int language sql volatile as $$ select inner_says(x) + inner_says(x + 1) $$;
create function in_sql_two(x int) returns int language sql volatile as $$ select 1; select inner_says(a) from t where a = x $$;
select in_sql_two(1);
do $$ declare r record; begin for r in select inner_says(a) from t order by a loop raise notice 'row'; end loop; end $$;
do $$ begin if inner_says(1) = 1 then raise notice 'if'; end if; while inner_says(2) < 0 loop null; end loop; end $$;
do $$ begin return; exception when others then null; end $$;
do $$ begin perform inner_says(13); exception when others then raise notice 'caught % in %', sqlerrm, inner_says(4); end $$;
create procedure p_says(x int) language plpgsql as $$ begin raise notice 'p'; perform inner_says(x); end $$;
create procedure p_calls(x int) language plpgsql as $$ begin call p_says(x); call p_says(13); end $$;
call p_calls(1);
create function trig_says() returns trigger language plpgsql as $$ begin raise notice 'trigger %', inner_says(new.a); return new; end $$;
create trigger ts before insert on t for each row execute function trig_says();
insert into t values (10, 'ten');
do $$ begin insert into t values (11, 'eleven'); insert into t values (13, 'x'); end $$;
create function where_am_i() returns text language plpgsql as $$ declare c text; begin get diagnostics c = pg_context; return c; end $$;
create function asks() returns text language plpgsql as $$ declare c text; begin select where_am_i() into c; return c; end $$;
select where_am_i();
select asks();
do $$ begin raise notice '%', asks(); end $$;
do $$ declare c text; begin perform inner_says(13); exception when others then get stacked diagnostics c = pg_exception_context; raise notice '%', c; end $$;
do $$ begin drop table if exists nothing_there; end $$;
do $$ begin create table if not exists t(a int); end $$;
do $$ begin execute 'drop table if exists nothing_there'; end $$;
create function fails_to_compile() returns int language plpgsql as $$ declare r t%rowtype; begin r.nope := 1; return 1; end $$;
select fails_to_compile();
set check_function_bodies = off;
create function never_read() returns int language plpgsql as $$ begin
 if true
 return 1; end $$;
reset check_function_bodies;
-- differs: the line of a body that cannot be read is that of the fault
select never_read();
-- differs: the line of a body that cannot be read is that of the fault
do $$ begin perform never_read(); end $$;
-- differs: the line of a body that cannot be read is that of the fault
do $$ declare x int; begin x := never_read() + 1; end $$;
do $$ declare x int; begin x := (select 'abc')::int; end $$;
do $$ declare x int; begin x := 'abc' || 1; end $$;
do $$ declare x int; begin x := nosuch + 1; end $$;
do $$ declare x int; begin x := (select nosuch from t); end $$;
do $$ declare x int[]; begin x[nosuch] := 1; end $$;
do $$ declare x int; begin x := (select a from t); end $$;
do $$ begin if nosuch then null; end if; end $$;
do $$ begin for i in nosuch .. 2 loop null; end loop; end $$;
do $$ begin perform nosuch; end $$;
do $$ begin execute 'select nosuch'; end $$;
do $$ begin raise notice '%', nosuch; end $$;
do $$ declare x int := nosuch; begin null; end $$;
do $$ declare x int := 1 / 0; begin null; end $$;
do $$ declare x varchar(2) := 'abc'; begin null; end $$;
create function bad_return() returns int language plpgsql as $$ begin return 'abc'; end $$;
select bad_return();
create function bad_return_too() returns int language plpgsql as $$ begin return 1 / 0; end $$;
select bad_return_too();
-- WHERE CURRENT OF
do $$ declare c cursor for select * from t where a < 10 order by a for update; r record; begin open c; fetch c into r; update t set b = 'changed ' || r.a where current of c; fetch c into r; delete from t where current of c; close c; end $$;
select * from t order by a;
do $$ declare c cursor for select * from t where a < 10 order by a; begin for r in c loop update t set b = b || '!' where current of c; end loop; end $$;
select * from t order by a;
-- differs: portals without a name are counted otherwise
do $$ declare c refcursor; r record; begin open c for select * from t where a = 1 for update; update t set b = 'x' where current of c; end $$;
do $$ declare c refcursor; begin update t set b = 'x' where current of c; end $$;
-- differs: a cursor's own name
do $$ declare c cursor for select count(*) as n from t; r record; begin open c; fetch c into r; update t set b = 'x' where current of c; end $$;
do $$ begin update t set b = 'x' where current of nosuch; end $$;
do $$ declare c cursor(k int) for select * from t where a > k order by a for update; begin for r in c(1) loop delete from t where current of c returning a into strict r; raise notice '%', r; end loop; end $$;
select * from t order by a;
-- SECURITY DEFINER
create role low;
create table secret(a int);
create function reads_secret() returns bigint language plpgsql security definer as $$ begin insert into secret values (1); raise notice '% %', current_user = session_user, (select count(*) from secret); return (select count(*) from secret); end $$;
create function reads_plainly() returns bigint language plpgsql as $$ begin return (select count(*) from secret); end $$;
create function definer_calls() returns bigint language plpgsql security definer as $$ declare n bigint; begin n := reads_plainly(); execute 'select count(*) from secret' into n; return n; end $$;
create function definer_fails() returns int language plpgsql security definer as $$ begin raise exception 'as %', current_user <> 'low'; end $$;
set role low;
select reads_secret();
select reads_plainly();
select definer_calls();
select definer_fails();
select current_user;
do $$ begin perform reads_secret(); perform definer_fails(); exception when others then raise notice '% %', sqlerrm, current_user; end $$;
select count(*) from secret;
reset role;
create function sets_path() returns text language plpgsql set search_path = pg_catalog as $$ begin return current_setting('search_path'); end $$;
select sets_path(), current_setting('search_path');
create function definer_of_low() returns text language plpgsql security definer as $$ begin return current_user; end $$;
alter function definer_of_low() owner to low;
select definer_of_low(), current_user = session_user;
drop function definer_of_low();
drop role low;
