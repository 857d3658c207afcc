-- What is wrong with bodies in PL/pgSQL, and where.
create or replace function f() returns void language plpgsql as $$begin$$;
create or replace function f() returns void language plpgsql as $$begin if true then null; end;$$;
create or replace function f() returns void language plpgsql as $$begin if true then null; end if end$$;
create or replace function f() returns void language plpgsql as $$begin loop null; end if; end$$;
create or replace function f() returns void language plpgsql as $$begin x := 1; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; x text; begin end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare x int begin end$$;
create or replace function f() returns void language plpgsql as $$begin exit; end$$;
create or replace function f() returns void language plpgsql as $$begin continue; end$$;
create or replace function f() returns void language plpgsql as $$begin exit nowhere; end$$;
create or replace function f() returns void language plpgsql as $$begin continue l; end$$;
create or replace function f() returns void language plpgsql as $$begin return 1; end$$;
create or replace function f() returns void language plpgsql as $$begin return next 1; end$$;
create or replace function f() returns void language plpgsql as $$begin return query select 1; end$$;
create or replace function f() returns void language plpgsql as $$begin raise '% %', 1; end$$;
create or replace function f() returns void language plpgsql as $$begin raise '%', 1, 2; end$$;
create or replace function f() returns void language plpgsql as $$begin raise nosuch; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin raise sqlstate 'abc'; end$$;
create or replace function f() returns void language plpgsql as $$begin raise 'x' using nosuch = 'y'; end$$;
create or replace function f() returns void language plpgsql as $$begin raise; end$$;
create or replace function f() returns void language plpgsql as $$begin <<l>> null; end$$;
create or replace function f() returns void language plpgsql as $$declare x nosuchtype; begin end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare x int%type; begin end$$;
-- differs: the error's position
create or replace function f() returns void language plpgsql as $$declare x nosuch%rowtype; begin end$$;
create or replace function f() returns void language plpgsql as $$declare x constant int; begin end$$;
create or replace function f() returns void language plpgsql as $$begin select 1 frm t; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin null end$$;
create or replace function f() returns void language plpgsql as $$begin null; end; null;$$;
create or replace function f() returns void language plpgsql as $$begin for i in 1..2 loop end; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin for i in 1 loop null; end loop; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin for i in select 1 loop null; end loop; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin for 1 in 1..2 loop null; end loop; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin for a, b in select 1, 2 loop null; end loop; end$$;
create or replace function f() returns void language plpgsql as $$begin while loop null; end loop; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin foreach x in 1 loop null; end loop; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; begin foreach x in array loop null; end loop; end$$;
create or replace function f() returns void language plpgsql as $$begin case end case; end$$;
create or replace function f() returns void language plpgsql as $$begin case 1 when 1 then null; end; end$$;
-- differs: the error's position
create or replace function f() returns void language plpgsql as $$begin begin null; exception when nosuch then null; end; end$$;
create or replace function f() returns void language plpgsql as $$begin begin null; exception then null; end; end$$;
-- differs: bug: refused, where PostgreSQL finds out when it runs
create or replace function f() returns void language plpgsql as $$begin perform; end$$;
create or replace function f() returns void language plpgsql as $$begin execute; end$$;
create or replace function f() returns void language plpgsql as $$begin execute 'select 1' into; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; begin execute 'select 1' using x into x into x; end$$;
create or replace function f() returns void language plpgsql as $$begin get diagnostics; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; begin get diagnostics x = nosuch; end$$;
-- differs: the error's position
create or replace function f() returns void language plpgsql as $$declare x int; begin get stacked diagnostics x = row_count; end$$;
-- differs: the error's position
create or replace function f() returns void language plpgsql as $$declare x int; begin get diagnostics x = message_text; end$$;
create or replace function f() returns void language plpgsql as $$begin open c; end$$;
create or replace function f() returns void language plpgsql as $$declare c int; begin open c for select 1; end$$;
create or replace function f() returns void language plpgsql as $$declare c cursor for select 1; begin open c for select 1; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare c cursor(a int) for select a; begin open c; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare c cursor(a int) for select a; begin open c(1, 2); end$$;
create or replace function f() returns void language plpgsql as $$declare c cursor for select 1; begin fetch c; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin close; end$$;
create or replace function f() returns void language plpgsql as $$begin select 1 into; end$$;
create or replace function f() returns void language plpgsql as $$begin select 1 into x; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; begin select 1 into x into x; end$$;
-- differs: bug: refused, where PostgreSQL finds out when it runs
create or replace function f() returns void language plpgsql as $$declare x int; begin x := ; end$$;
create or replace function f() returns void language plpgsql as $$declare x int; begin x = 1 +; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare x int; begin x.y := 1; end$$;
-- differs: bug: refused, where PostgreSQL finds out when it runs
create or replace function f() returns void language plpgsql as $$declare r record; begin r.a.b := 1; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare x int[]; begin x[1 := 2; end$$;
create or replace function f() returns void language plpgsql as $$declare c constant int := 1; begin c := 2; end$$;
create or replace function f() returns void language plpgsql as $$declare a alias for $1; begin null; end$$;
create or replace function f() returns void language plpgsql as $$declare a alias for nosuch; begin null; end$$;
create or replace function f() returns void language plpgsql as $$#variable_conflict nosuch$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$#nosuch on begin end$$;
create or replace function f() returns void language plpgsql as $$begin commit and; end$$;
create or replace function f() returns void language plpgsql as $$begin commit to x; end$$;
create or replace function f() returns void language plpgsql as $$begin rollback to savepoint x; end$$;
create or replace function f() returns void language plpgsql as $$begin savepoint x; end$$;
create or replace function f() returns void language plpgsql as $$begin insert into; end$$;
create or replace function f() returns void language plpgsql as $$begin update t set; end$$;
create or replace function f() returns void language plpgsql as $$begin assert; end$$;
create or replace function f() returns void language plpgsql as $$begin call nosuch(); end$$;
create or replace function f() returns void language plpgsql as $$begin null; exception when others then null; when others then null; end$$;
create or replace function f() returns void language plpgsql as $$begin 'text'; end$$;
create or replace function f() returns void language plpgsql as $$begin 1; end$$;
create or replace function f() returns void language plpgsql as $$begin ; end$$;
create or replace function f() returns void language plpgsql as $$begin if then null; end if; end$$;
create or replace function f() returns void language plpgsql as $$begin elsif true then null; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$begin end if; end$$;
-- differs: said in other words
create or replace function f() returns void language plpgsql as $$declare x int := 'a' begin end$$;
create or replace function f() returns void language plpgsql as $$declare x int default; begin end$$;
create or replace function f() returns void language plpgsql as $$begin return return; end$$;
create or replace function f() returns void language plpgsql as $$begin "X" := 1; end$$;
create or replace function f() returns void language plpgsql as $$begin /* open$$;
create or replace function f() returns void language plpgsql as $$begin 'open$$;
create or replace function f() returns void language plpgsql as $$begin null; end extra$$;
create or replace function f() returns void language plpgsql as $$<<l>> begin null; end m$$;
create or replace function f() returns void language plpgsql as $$<<l>> begin <<k>> loop exit l; end loop k; end l$$;
create or replace function f() returns void language plpgsql as $$<<l>> loop null; end loop;$$;
create or replace function f() returns void language plpgsql as $$begin <<k>> loop null; end loop m; end$$;
create or replace function f() returns void language plpgsql as $$begin if true then null; else null; else null; end if; end$$;
create or replace function f() returns void language plpgsql as $$begin if true then null; else null; elsif true then null; end if; end$$;
create or replace function f() returns void language plpgsql as $$begin if true null; end if; end$$;
create or replace function f() returns void language plpgsql as $$begin loop exit when; end loop; end$$;
set check_function_bodies = off;
create or replace function f() returns void language plpgsql as $$begin if true; end$$;
select f();
create or replace function f(a int) returns int language plpgsql as $$declare x nosuch; begin return 1; end$$;
select f(1);
set check_function_bodies = on;
do $$begin$$;
do $$begin loop null; end if; end$$;
-- differs: said in other words
do $$declare x int begin end$$;
do $$begin exit nowhere; end$$;
do $$begin return next 1; end$$;
do $$begin raise '%', 1, 2; end$$;
do $$begin raise 'x' using nosuch = 'y'; end$$;
do $$declare x nosuchtype; begin end$$;
do $$declare x constant int; begin end$$;
do $$begin null; end; null;$$;
-- differs: said in other words
do $$begin for i in select 1 loop null; end loop; end$$;
do $$begin while loop null; end loop; end$$;
do $$begin case end case; end$$;
do $$begin begin null; exception then null; end; end$$;
