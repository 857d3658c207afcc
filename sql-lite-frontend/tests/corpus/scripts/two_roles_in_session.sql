-- In one session a statement, an expression or a trigger's function runs as one role and then as
-- another: what the first one may do says nothing about the second. Every pair below runs as alice
-- (SECURITY DEFINER, or a foreign key's action) before and after it runs as bob.
create role alice;
create role bob;
grant create on schema public to alice;
set session authorization alice;
create table secret(x int); insert into secret values (1), (2);
create table written(x int);
create table t(id int, n int); create table d(id int, n int); create table s(id int); create table u(id int, n int);
create table e(id int, n int); create table f(id int, n int); create table v_base(id int, n int);
grant select, insert, update, delete on t, d, s, u, e, f, v_base to bob;
create function hidden() returns int language plpgsql as 'begin return 7; end';
revoke execute on function hidden() from public;

-- A trigger's statement.
create function read_secret() returns trigger language plpgsql as 'declare c int; begin select count(*) into c from secret; new.n := c; return new; end';
create trigger b before insert on t for each row execute function read_secret();
create function put_t(i int) returns void language sql security definer as 'insert into t values (i)';
set session authorization bob;
select put_t(1);
insert into t values (2);
select put_t(3);
insert into t values (4);
select * from t order by id;

-- The other role first.
set session authorization alice;
create table t2(id int, n int); grant insert on t2 to bob;
create trigger b before insert on t2 for each row execute function read_secret();
create function put_t2(i int) returns void language sql security definer as 'insert into t2 values (i)';
set session authorization bob;
insert into t2 values (2);
select put_t2(3);
insert into t2 values (4);

-- The same by SET ROLE, without a definer.
reset session authorization;
set role alice;
insert into t values (5);
set role bob;
insert into t values (6);
reset role;
insert into t values (7);
set role bob;
insert into t values (8);

-- FOR loops, expressions with a query, and those that call a function.
set session authorization alice;
create function loop_secret() returns trigger language plpgsql as 'declare r record; begin for r in select * from secret loop new.n := r.x; end loop; return new; end';
create function ask_secret() returns trigger language plpgsql as 'begin new.n := (select max(x) from secret); return new; end';
create function call_hidden() returns trigger language plpgsql as 'begin new.n := hidden(); return new; end';
create function call_hidden_in_query() returns trigger language plpgsql as 'begin select hidden() into new.n; return new; end';
create function if_secret() returns trigger language plpgsql as 'begin if exists (select from secret) then return new; end if; return null; end';
create function cursor_secret() returns trigger language plpgsql as 'declare c cursor for select x from secret; begin open c; fetch c into new.n; close c; return new; end';
create function dynamic_secret() returns trigger language plpgsql as 'begin execute ''select max(x) from secret'' into new.n; return new; end';
create function perform_secret() returns trigger language plpgsql as 'begin perform * from secret; return new; end';
create table l1(n int); create table l2(n int); create table l3(n int); create table l4(n int); create table l5(n int); create table l6(n int); create table l7(n int); create table l8(n int);
create trigger b before insert on l1 for each row execute function loop_secret();
create trigger b before insert on l2 for each row execute function ask_secret();
create trigger b before insert on l3 for each row execute function call_hidden();
create trigger b before insert on l4 for each row execute function call_hidden_in_query();
create trigger b before insert on l5 for each row execute function if_secret();
create trigger b before insert on l6 for each row execute function cursor_secret();
create trigger b before insert on l7 for each row execute function dynamic_secret();
create trigger b before insert on l8 for each row execute function perform_secret();
grant insert, select on l1, l2, l3, l4, l5, l6, l7, l8 to bob;
create function put_l() returns void language sql security definer as 'insert into l1 values (0); insert into l2 values (0); insert into l3 values (0); insert into l4 values (0); insert into l5 values (0); insert into l6 values (0); insert into l7 values (0); insert into l8 values (0)';
set session authorization bob;
select put_l();
insert into l1 values (0);
insert into l2 values (0);
insert into l3 values (0);
insert into l4 values (0);
insert into l5 values (0);
insert into l6 values (0);
insert into l7 values (0);
insert into l8 values (0);
select put_l();
insert into l1 values (0);
insert into l2 values (0);
insert into l3 values (0);
insert into l4 values (0);
insert into l5 values (0);
insert into l6 values (0);
insert into l7 values (0);
insert into l8 values (0);

-- Statements that write: a trigger of DELETE, of UPDATE, of statements with transition tables.
set session authorization alice;
create function write_old() returns trigger language plpgsql as 'begin insert into written values (old.id); return old; end';
create trigger a after delete on d for each row execute function write_old();
create trigger b before update on u for each row execute function write_old();
create function write_all() returns trigger language plpgsql as 'begin insert into written select id from now_there; return null; end';
create trigger a after insert on s referencing new table as now_there for each statement execute function write_all();
create function read_all() returns trigger language plpgsql as 'begin perform count(*) from now_gone, secret; return null; end';
create trigger b after delete on s referencing old table as now_gone for each statement execute function read_all();
insert into d values (1), (2), (3), (4); insert into u values (1), (2), (3), (4); insert into s values (1), (2), (3), (4);
create function del(i int) returns void language sql security definer as 'delete from d where id = i; update u set id = id where id = i; insert into s values (i); delete from s where id = i';
set session authorization bob;
select del(1);
delete from d where id = 2;
update u set id = id where id = 2;
insert into s values (5);
delete from s where id = 2;
select del(3);
delete from d where id = 2;
update u set id = id where id = 2;
insert into s values (5);
delete from s where id = 2;

-- INSTEAD OF, and a condition.
set session authorization alice;
create view v as select * from v_base; grant select, insert on v to bob;
create function instead() returns trigger language plpgsql as 'begin insert into written values (new.id); return new; end';
create trigger i instead of insert on v for each row execute function instead();
create function put_v(i int) returns void language sql security definer as 'insert into v values (i)';
create function nothing() returns trigger language plpgsql as 'begin return new; end';
create trigger w before insert on f for each row when (hidden() = 7) execute function nothing();
create function put_f(i int) returns void language sql security definer as 'insert into f values (i)';
set session authorization bob;
select put_v(1);
insert into v values (2);
select put_v(3);
insert into v values (4);
select put_f(1);
insert into f values (2);
select put_f(3);
insert into f values (4);

-- A foreign key's action fires a trigger as the owner of the table.
set session authorization alice;
create table parent(id int primary key); create table child(id int, p int references parent on delete cascade on update cascade);
grant select, update, delete on parent, child to bob;
create trigger a after delete on child for each row execute function write_old();
create trigger u before update on child for each row execute function write_old();
insert into parent values (1), (2), (3), (4); insert into child values (1, 1), (2, 2), (3, 3), (4, 4);
set session authorization bob;
-- differs: deferred triggers run as who is the user at their time
delete from parent where id = 1;
delete from child where id = 2;
-- differs: deferred triggers run as who is the user at their time
delete from parent where id = 3;
delete from child where id = 2;
update parent set id = 20 where id = 2;
update child set id = 20 where id = 2;

-- Functions that run as whoever calls them, called by a definer's function and without.
set session authorization alice;
create function sql_reads() returns bigint language sql as 'select count(*) from secret';
create function sql_calls() returns int language sql as 'select hidden() + 1';
create function sql_set() returns setof int language sql as 'select x from secret';
create function sql_writes() returns void language sql as 'insert into written values (0)';
create function pl_reads() returns bigint language plpgsql as 'begin return (select count(*) from secret); end';
create function pl_calls() returns int language plpgsql as 'begin return hidden(); end';
create function pl_set() returns setof int language plpgsql as 'begin return query select x from secret; end';
create procedure pl_procedure() language plpgsql as 'begin insert into written values (0); end';
create function pl_nested() returns int language plpgsql as 'begin return pl_calls(); end';
create function as_alice() returns text language plpgsql security definer as 'begin call pl_procedure(); perform sql_writes(); return concat_ws('' '', sql_reads(), sql_calls(), (select sum(x) from sql_set() x), pl_reads(), pl_calls(), (select sum(x) from pl_set() x), pl_nested()); end';
set session authorization bob;
select as_alice();
select sql_reads();
-- differs: the error's context
select sql_calls();
select * from sql_set();
select sql_writes();
select pl_reads();
select pl_calls();
select * from pl_set();
call pl_procedure();
select pl_nested();
select as_alice();
select sql_reads();
-- differs: the error's context
select sql_calls();
select * from sql_set();
select sql_writes();
select pl_reads();
select pl_calls();
select * from pl_set();
call pl_procedure();
select pl_nested();

-- One prepared statement, run by the session and by a definer's function.
set session authorization alice;
create function run_prepared(name text) returns bool language plpgsql security definer as 'begin execute ''execute '' || name; return true; end';
create view seen with (security_invoker) as select x from secret; grant select on seen to bob;
create view shown as select x from secret; grant select on shown to bob;
create table both_may(x int); grant select on both_may to bob;
set session authorization bob;
prepare p as select count(*) from secret;
prepare q as select hidden();
prepare w as insert into written values (1);
prepare y as select * from seen;
prepare z as select * from shown;
prepare o as select * from both_may;
select run_prepared('p'), run_prepared('q'), run_prepared('w'), run_prepared('y'), run_prepared('z'), run_prepared('o');
execute p;
execute q;
execute w;
execute y;
execute z;
execute o;
select run_prepared('p'), run_prepared('q'), run_prepared('w'), run_prepared('y'), run_prepared('z'), run_prepared('o');
execute p;
execute q;
execute w;
execute y;

-- The same by SET ROLE.
reset session authorization;
deallocate all;
prepare p as select count(*) from secret;
prepare q as select hidden();
execute p;
execute q;
set role bob;
execute p;
execute q;
set role alice;
execute p;
execute q;
set role bob;
execute p;
execute q;
reset role;
deallocate all;

-- What stands in definitions: checks, defaults, generated columns, domains, indexes, aggregates,
-- operators and casts call functions with the rights of the role that runs them.
set session authorization alice;
create function odd(i int) returns bool immutable language plpgsql as 'begin return i % 2 = 1; end';
create function same(i int) returns int immutable language plpgsql as 'begin return i; end';
create domain odd_int as int check (odd(value));
create table c1(x int check (odd(x))); create table c2(x int, y int default same(3)); create table c3(x int, y int generated always as (same(x)) stored);
create table c4(x odd_int); create table c5(x int); create index on c5 (same(x));
create aggregate last_of(int) (sfunc = int4larger, stype = int, finalfunc = same);
create operator @@@ (rightarg = int, function = same);
create type wrapped as (x int); create function wrap(i int) returns wrapped language plpgsql as 'begin return row(i)::wrapped; end'; create cast (int as wrapped) with function wrap(int);
revoke execute on function odd(int), same(int), wrap(int) from public;
grant insert, select on c1, c2, c3, c4, c5 to bob;
create function put_c() returns text language plpgsql security definer as 'begin insert into c1 values (1); insert into c2 values (1); insert into c3 values (1); insert into c4 values (1); insert into c5 values (1); return concat((1::odd_int)::text, last_of(x), @@@ max(x), (max(x)::wrapped)::text) from c1; end';
set session authorization bob;
select put_c();
insert into c1 values (1);
insert into c2 values (1);
insert into c3 values (1);
insert into c4 values (1);
insert into c5 values (1);
select 3::odd_int;
-- differs: the error's context
copy c1 from stdin;
1
\.
copy c2 (x) from stdin;
1
\.
-- differs: the error's context
copy c3 (x) from stdin;
1
\.
copy c4 from stdin;
1
\.
-- differs: the error's context
copy c5 from stdin;
1
\.
select last_of(x) from c1;
select @@@ x from c1;
select x::wrapped from c1;
select put_c();
insert into c1 values (1);
insert into c2 values (1);
insert into c3 values (1);
insert into c4 values (1);
insert into c5 values (1);
select 3::odd_int;

-- Policies: which rows a function's statement sees is said by who runs it.
set session authorization alice;
create table notes(owner name, note text); insert into notes values ('alice', 'a'), ('alice', 'b'), ('bob', 'c');
alter table notes enable row level security;
create policy own on notes using (owner = current_user);
grant select, insert on notes to bob;
create table counted(n int, m int); grant insert, select on counted to bob;
create function count_notes() returns trigger language plpgsql as 'begin new.n := (select count(*) from notes); select count(*) into new.m from notes where note > ''''; return new; end';
create trigger b before insert on counted for each row execute function count_notes();
create function put_counted() returns void language sql security definer as 'insert into counted values (0, 0)';
create function sql_notes() returns bigint language sql as 'select count(*) from notes';
create function definer_notes() returns bigint language plpgsql security definer as 'begin return sql_notes(); end';
create function add_note() returns trigger language plpgsql as 'begin insert into notes values (''alice'', ''new''); return new; end';
create table adds(x int); grant insert on adds to bob; create trigger b before insert on adds for each row execute function add_note();
create function put_adds() returns void language sql security definer as 'insert into adds values (0)';
set session authorization bob;
insert into counted values (0, 0);
select put_counted();
insert into counted values (0, 0);
select put_counted();
select * from counted;
select sql_notes(), definer_notes(), sql_notes();
prepare n as select count(*) from notes;
execute n;
select run_prepared('n');
execute n;
select put_adds();
insert into adds values (1);
select put_adds();
insert into adds values (1);
deallocate all;

-- Columns, sequences and relations by "$user".
reset session authorization;
create schema alice authorization alice;
create schema bob authorization bob;
set session authorization alice;
create table public.parts(a int, b int); insert into public.parts values (1, 2); grant select (a) on public.parts to bob;
create sequence public.numbers;
create table alice.mine(x text); insert into alice.mine values ('of alice');
create function public.read_parts() returns trigger language plpgsql as 'begin new.n := (select b from parts); return new; end';
create function public.next_number() returns trigger language plpgsql as 'begin new.n := nextval(''numbers''); return new; end';
create table public.p1(n int); create table public.p2(n int); grant insert on p1, p2 to bob;
create trigger b before insert on p1 for each row execute function read_parts();
create trigger b before insert on p2 for each row execute function next_number();
create function public.put_p() returns void language sql security definer as 'insert into p1 values (0); insert into p2 values (0)';
create function public.whose() returns text language plpgsql as 'begin return (select x from mine); end';
create function public.whose_sql() returns text language sql as 'select ''of '' || current_user';
create function public.whose_definer() returns text language plpgsql security definer as 'begin return whose() || '', '' || whose_sql(); end';
set session authorization bob;
create table bob.mine(x text); insert into bob.mine values ('of bob');
select put_p();
insert into p1 values (0);
insert into p2 values (0);
select put_p();
insert into p1 values (0);
insert into p2 values (0);
select whose(), whose_sql();
select whose_definer();
select whose(), whose_sql();

-- A cursor goes on with the rights that it was opened with.
set session authorization alice;
create function public.open_secret() returns refcursor language plpgsql security definer as 'declare c refcursor := ''cc''; begin open c for select * from secret; return c; end';
set session authorization bob;
begin; select open_secret(); fetch all in cc; commit;
begin; declare d cursor for select * from secret;
rollback;

-- Two functions whose bodies are one text, and whose names stand in it.
reset session authorization;
set check_function_bodies = off;
create function third_of(x int) returns setof int language sql as 'select first_of.x + 1 from generate_series(1, 2)';
create function first_of(x int, y int) returns setof int language sql as 'select first_of.x + 1 from generate_series(1, 2)';
select first_of(3, 4);
select third_of(3);

-- Names in a definer's function are its own role's.
create function public.deep() returns regclass language plpgsql security definer as 'begin return to_regclass(''mine''); end';
set role bob;
select to_regclass('mine'), deep(), to_regclass('mine');
set role alice;
select to_regclass('mine'), deep(), to_regclass('mine');
reset role;
