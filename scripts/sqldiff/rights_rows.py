"""Row security: which rows policies show to whom, let be written by whom, and tell of in errors, in every state of the
policies: through tables, views of each kind, functions and prepared statements, by cursors, and after SET ROLE."""
import collections
import re

# Options with which each role is created.
SUBJECTS = {
    "ann": "", "ben": "", "r_member": "in role readers", "r_noinherit": "noinherit in role readers",
    "r_owners": "in role holder", "r_bypass": "bypassrls", "r_super": "superuser", "r_read_all": "in role pg_read_all_data",
    "r_columns": "", "r_none": "",
}
ROLES = ("holder", *SUBJECTS)
FULL = "ann, ben, readers, r_bypass, r_super"

SETUP = (
    "create role holder login", "create role readers", "create role other",
    *(f"create role {name} login {made}" for name, made in SUBJECTS.items()),
    "create schema p authorization holder", "create schema q", f"grant all on schema q to {', '.join(ROLES)}",
    f"grant usage on schema p, q to {', '.join(ROLES)}, readers",
    "set role holder",
    "create table p.t (id int primary key, owner text, level int check (level < 90), body text)",
    "create unique index t_body on p.t (body)", "create index t_owner on p.t (owner)",
    "insert into p.t select i, (array['ann', 'ben', 'readers', 'holder', 'r_member'])[1 + i % 5], i % 4, case when i % 3 = 0 then i::text else 'x' || i end"
    " from generate_series(1, 20) i",
    "create table p.child (x int references p.t on delete cascade on update cascade, y int)", "insert into p.child values (1, 1), (2, 2), (3, 3), (5, 4)",
    "create table p.nulled (x int references p.t on delete set null, y int)", "insert into p.nulled values (4, 1), (6, 2)",
    "create table p.strict (x int references p.t)", "insert into p.strict values (10), (11)",
    "create table p.lists (who text, most int)", "insert into p.lists values ('ann', 1), ('ben', 2), ('r_member', 3)",
    "create table p.log (id int, old text, new text)",
    "create function p.tell(anyelement) returns boolean language plpgsql cost 0.0000001 as 'begin raise notice ''%'', $1; return true; end'",
    "create function p.quiet(anyelement) returns boolean language plpgsql as 'begin return true; end'",
    "create function p.mine(text) returns boolean language sql stable as 'select $1 = current_user'",
    "create function p.listed(int) returns boolean language sql stable security definer as 'select $1 <= (select max(most) from p.lists where who = session_user)'",
    "create view p.v as select id, owner, level, body from p.t",
    "create view p.vi with (security_invoker) as select id, owner, level, body from p.t",
    "create view p.vb with (security_barrier) as select id, owner, level, body from p.t where level > 0",
    "create view p.vbi with (security_barrier, security_invoker) as select id, owner, level, body from p.t where level > 0",
    "create view p.vc with (security_barrier, security_invoker, check_option = local) as select id, owner, level, body from p.t where level > 0",
    "create view p.vv as select id, owner, level, body from p.vi where level < 3",
    "create materialized view p.m as select id, owner, level, body from p.t where id < 9",
    "create function p.count_sql() returns bigint language sql as 'select count(*) from p.t'",
    "create function p.count_definer() returns bigint language sql security definer as 'select count(*) from p.t'",
    "create function p.count_plpgsql() returns bigint language plpgsql as 'begin return (select count(*) from p.t); end'",
    "create function p.count_plpgsql_definer() returns bigint language plpgsql security definer as 'begin return (select count(*) from p.t); end'",
    "create function p.count_no_security() returns bigint language sql set row_security = off as 'select count(*) from p.t'",
    "create function p.rows_sql() returns setof p.t language sql stable as 'select * from p.t'",
    "create function p.rows_definer() returns setof p.t language sql stable security definer as 'select * from p.t'",
    "create function p.add(int, text) returns int language sql as 'insert into p.t values ($1, $2, 1, null) returning id'",
    "create function p.add_definer(int, text) returns int language sql security definer as 'insert into p.t values ($1, $2, 1, null) returning id'",
    "create function p.clear() returns bigint language plpgsql as 'declare n bigint; begin delete from p.t where id > 15; get diagnostics n = row_count; return n; end'",
    "create function p.note() returns trigger language plpgsql as 'begin raise notice ''% % %'', tg_op, old.id, new.id; return coalesce(new, old); end'",
    "create function p.walk() returns text language plpgsql as 'declare c cursor for select id from p.t order by id; r record; s text := ''''; begin for r in c loop s := s || r.id || '',''; end loop; return s; end'",
    "create function p.walk_dynamic() returns bigint language plpgsql as 'declare n bigint; begin execute ''select count(*) from p.t'' into n; return n; end'",
    "analyze p.t",
    f"grant all on p.t, p.v, p.vi, p.vb, p.vbi, p.vc, p.vv, p.m, p.child, p.nulled, p.strict, p.log to {FULL}",
    "grant select (id, owner), update (body), insert (id, owner) on p.t, p.v, p.vi, p.vb, p.vbi, p.vc, p.vv to r_columns",
    "grant select on p.lists to readers, ann",
    "reset role",
    "create view q.vo as select id, owner, level, body from p.t", "alter view q.vo owner to ben", f"grant all on q.vo to {FULL}",
    "create view q.vs with (security_barrier) as select id, owner, level, body from p.t where p.quiet(level)", f"grant all on q.vs to {FULL}",
    "create function q.count_of_ben() returns bigint language sql security definer as 'select count(*) from p.t'",
    "alter function q.count_of_ben() owner to ben",
    "create function q.sure(text) returns boolean language sql immutable leakproof as 'select $1 <> ''x2'''",
    "create table public.other (id int, who text)", "insert into public.other values (1, 'ann'), (2, 'ben'), (12, 'readers')",
    f"grant all on public.other to {', '.join(ROLES)}",
)

RELATIONS = ("p.t", "p.v", "p.vi", "p.vb", "p.vbi", "p.vc", "p.vv", "q.vo", "q.vs", "p.m")
READS = (
    "select id from {}", "select * from {} where id = 3", "select count(*) from {}", "select id from {} where owner = 'ann'",
    "select id from {} where owner = current_user", "select max(id), min(level) from {}", "select id from {} order by body desc limit 3",
    "select id from {} where p.tell(id)", "select id from {} where p.tell(owner) and level = 1", "select id from {} where id = 5 and p.tell(body)",
    "select id from {} where 1 / level >= 0", "select id from {} where body::int > 0", "select id from {} where level < 9 and body like 'x%'",
    "select id from {} where q.sure(body)", "select p.tell(body) from {}", "select p.tell(owner), p.tell(id) from {}", "select id from {} where case when level = 0 then p.tell(id) else true end",
    "select t.id from {} t join public.other o on o.id = t.id and p.tell(t.body)", "select o.id from public.other o left join {} t on t.id = o.id and p.tell(t.owner) where t.id is null",
    "select o.id from public.other o where exists (select from {} t where t.id = o.id and 1 / t.level > 0)",
    "select o.id, (select owner from {} t where t.id = o.id) from public.other o", "select id from {} where id in (select id from public.other)",
    "select level, count(*) from {} group by level having p.tell(count(*)::int)", "select distinct owner from {} where p.tell(level + 900)",
    "select id from {} for update", "select id from {} where p.tell(id) for share", "select id from {} union all select 0", "with w as (select id from {}) select count(*) from w",
    "with w as materialized (select * from {}) select id from w where p.tell(body)", "select row_number() over (order by id), id from {} where level = 2",
    "insert into public.other (id, who) select id, owner from {} returning id", "update public.other set who = t.owner from {} t where t.id = other.id and p.tell(t.id) returning who",
    "delete from public.other using {} t where t.id = other.id returning other.id", "create table q.z as select id from {}; table q.z",
    "create view q.z as select id from {}; table q.z", "create materialized view q.z as select id from {}; table q.z", "select id into temp z from {}; table z",
    "copy (select id from {} order by id) to stdout", "declare k cursor for select id from {}; fetch all from k",
    "explain select * from {}", "explain (analyze, timing off) select * from {} where p.tell(id)", "do $$ begin perform id from {} where p.tell(id); end $$",
    "select t from {} t where id < 4", "select {1} from {}", "select ctid is null from {}", "select id from {} tablesample system (100)",
    "lock table {}", "lock table {} in access share mode", "set local row_security = off; select id from {}", "set local row_security = off; select count(*) from {} where p.tell(id)",
    "select id from {} where exists (select from p.lists where most >= level)", "select id from (select * from {} where p.tell(level + 900)) s where p.tell(id) and owner = 'ben'",
    "select id from {} where owner in ('ann', 'ben') or p.tell(id)", "select id from {} where (id, owner) = (2, 'readers')", "select id from {} where id = any (array[1, 2, 3]) order by id",
    "select id from {} where id between 3 and 6 and p.tell(id)", "select sum(level) filter (where p.tell(id)) from {}",
)
WRITES = (
    "insert into {} values (50, 'ann', 1, 'n')", "insert into {} values (50, current_user, 2, 'n')", "insert into {} values (50, 'ben', 3, 'n') returning id",
    "insert into {} (id, owner) values (51, current_user)", "insert into {} (id, owner) values (51, 'holder') returning *", "insert into {} values (3, current_user, 1, 'n')", "insert into {} values (50, 'ben', 99, 'n')",
    "insert into {} values (50, current_user, 99, 'n')", "insert into {} values (51, current_user, 1, 'x2')", "insert into {} values (52, null, null, null)", "insert into {} values (53, current_user, 0, null)",
    "insert into {} select id + 30, owner, level, null from p.t", "insert into {} select id + 30, owner, level, null from p.t where owner = current_user",
    "update {} set level = 1", "update {} set level = 2 where id = 5", "update {} set body = 'y' || id where level = 1 returning id", "update {} set owner = 'ben'", "update {} set owner = 'ann' where owner = current_user",
    "update {} set level = level + 1 where p.tell(id)", "update {} set level = 1 where 1 / level > 0 returning id", "update {} set body = body where body::int > 3", "update {} set id = id + 100",
    "update {} set id = 5 where id = 6", "update {} set level = 99 where id in (5, 6, 7)", "update {} set level = 0", "update {} set level = 3 where level = 2 and p.tell(owner) returning id, level",
    "update {} set body = 'c'", "update {} set body = null where id = 2", "update {} t set level = 2 from public.other o where o.id = t.id and p.tell(t.id) returning t.id, o.who",
    "update {} set level = (select max(level) from {})", "update {} set (level, body) = (select 2, null)", "update {} set level = 2 where owner = 'ann' and id = 5",
    "delete from {}", "delete from {} where id = 2", "delete from {} where p.tell(id)", "delete from {} where 1 / level > 0 returning id", "delete from {} where id > 12 returning id, owner",
    "delete from {} t using public.other o where o.id = t.id and p.tell(t.body) returning t.id", "delete from {} where owner = 'readers' and p.tell(body)", "delete from {} where id not in (10, 11)",
    "delete from {} where id in (select id from {} where level > 1)", "with w as (delete from {} where id = 12 returning id) select * from w", "with w as (update {} set level = 2 returning id) select count(*) from w",
    "with w as (insert into {} values (60, current_user, 1, null) returning owner) select * from w", "explain update {} set level = 1", "explain delete from {} where p.tell(id)", "explain insert into {} values (1)",
    "explain (analyze, timing off) delete from {} where p.tell(id)", "set local row_security = off; update {} set level = 1", "set local row_security = off; delete from {} where id > 11",
    "set local row_security = off; insert into {} values (50, 'ben', 1, null)", "update {} set level = 1 where id = 3; select id from {} where level = 1", "delete from {} where id = 4; table p.nulled", "truncate {}",
)
CONFLICTS = (
    "insert into {} values (2, current_user, 1, 'n') on conflict do nothing", "insert into {} values (5, 'ann', 1, 'n') on conflict do nothing returning id", "insert into {} values (50, 'ben', 1, 'x1') on conflict do nothing",
    "insert into {} values (2, current_user, 1, 'n') on conflict (id) do nothing", "insert into {} values (5, current_user, 1, 'n') on conflict (id) do update set level = 2", "insert into {} values (1, current_user, 1, 'n') on conflict (id) do update set level = 2 returning id, owner",
    "insert into {} values (5, 'ann', 1, 'n') on conflict (id) do update set owner = excluded.owner", "insert into {} values (1, 'ben', 1, 'n') on conflict (id) do update set owner = 'ann' returning id",
    "insert into {} values (50, current_user, 1, 'x1') on conflict (body) do update set level = 3", "insert into {} values (5, current_user, 1, 'n') on conflict (id) do update set level = 2 where {1}.level = 9",
    "insert into {} values (51, current_user, 1, 'n') on conflict (id) do update set level = 2", "insert into {} values (5, current_user, 9, 'n') on conflict (id) do update set body = excluded.body",
    "insert into {} (id, owner) values (5, current_user) on conflict (id) do update set body = 'k'", "insert into {} values (5, current_user, 1, 'n') on conflict (id) do update set level = 99",
)
OTHERS = (
    *(f"select {name}()" for name in ("p.count_sql", "p.count_definer", "p.count_plpgsql", "p.count_plpgsql_definer", "p.count_no_security", "q.count_of_ben", "p.walk", "p.walk_dynamic", "p.clear")),
    "select id from p.rows_sql()", "select id from p.rows_sql() where p.tell(id)", "select id from p.rows_definer() where p.tell(owner)", "select p.add(70, current_user)", "select p.add(70, 'ben')", "select p.add_definer(70, 'ben')",
    "truncate p.t", "truncate p.t cascade", "copy p.t to stdout", "copy p.t (id, owner) to stdout", "copy p.t (id, level) to stdout", "copy p.t from stdin", "copy p.t (id, owner) from stdin", "copy p.t (id, owner) from stdin where p.tell(id)",
    "set local row_security = off; copy p.t to stdout", "set local row_security = off; copy p.t from stdin", "copy p.v from stdin", "copy p.m to stdout",
    "insert into p.child values (7, 7)", "insert into p.child values (77, 7)", "insert into p.strict values (77)", "insert into p.strict select id from p.t", "delete from p.t where id = 1; table p.child", "update p.t set id = 101 where id = 1; table p.child",
    "delete from p.t where id = 10", "delete from p.t where id = 11", "update p.t set id = 110 where id = 10", "delete from p.t where id = 6; table p.nulled", "update p.child set x = 12", "delete from p.t where id in (1, 2, 3); select count(*) from p.child",
    "create table q.z (x int references p.t)", "alter table p.strict add foreign key (x) references p.t", "alter table p.t add check (level < 3)", "alter table p.t add unique (level)", "create unique index on p.t (level)", "alter table p.t alter body set not null",
    "alter table p.t alter body type int using body::int", "create index on p.t ((body::int))", "alter table p.t add column z int default 5; select id, z from p.t", "refresh materialized view p.m; select id from p.m", "cluster p.t using t_pkey", "reindex table p.t",
    "analyze p.t", "analyze p.t; select 1 / count(*) from pg_stats where tablename = 't' and attname = 'owner'", "select 1 / count(*) from pg_stats where tablename = 't'", "select 1 / count(*) from pg_stats where tablename = 't' and attname = 'id'", "select 1 / count(*) from pg_stats where tablename = 'm'",
    "select row_security_active('p.t')", "select row_security_active('p.v')", "select relrowsecurity, relforcerowsecurity from pg_class where oid = 'p.t'::regclass",
    "create trigger z before update or delete or insert on p.t for each row execute function p.note(); update p.t set level = 1; delete from p.t where id > 12; insert into p.t values (50, current_user, 1, null)",
    "prepare z as select id from p.t; execute z; deallocate z", "create rule z as on update to p.v do also insert into p.log values (1)", "create table q.z (like p.t including all); insert into q.z select * from p.t; select id from q.z",
    "set local role readers; select id from p.t", "set local role readers; update p.t set level = 1", "set local role readers; select p.count_sql(), p.count_definer()", "set local role holder; select id from p.t", "set local role holder; set local row_security = off; select id from p.t",
    "set local role readers; insert into p.t values (50, current_user, 1, null)", "set local role ann; select id from p.vbi where p.tell(id)", "set local session authorization ann; select id from p.t where owner = session_user", "set local role ben; select p.count_sql(), p.walk()",
    "set local role none; select id from p.t where p.tell(id)", "create temp table z (a int); alter table z enable row level security; insert into z values (1); table z", "create temp table z (a int); insert into z values (1); alter table z enable row level security, force row level security; table z",
    "declare k cursor for select id from p.t for update; fetch 2 from k; update p.t set level = 2 where current of k returning id", "declare k cursor for select id from p.t where p.tell(level + 900); fetch all from k; delete from p.t where current of k",
    "declare k cursor for select id from p.t; set local role readers; fetch all from k", "set local role readers; declare k cursor for select id from p.t; set local role none; fetch all from k", "declare k cursor for select id from p.t; alter table p.t disable row level security; fetch all from k",
    "declare k cursor for select id from p.t where owner = current_user; set local role readers; fetch all from k", "declare k scroll cursor with hold for select id from p.t; fetch all from k", "set local row_security = off; declare k cursor for select id from p.t; set local row_security = on; fetch all from k",
    "declare k cursor for select id from p.t; set local row_security = off; fetch all from k",
)

DEFINED = ("p.t", "p.v", "p.m", "p.child", "pg_class", "p.t_pkey", "p.none", "information_schema.tables")
DEFINITIONS = (
    "create policy z on {}", "create policy z on {} using (true)", "create policy z on {} with check (false)", "create policy z on {} for select using (true)", "create policy z on {} for select with check (true)", "create policy z on {} for insert using (true)",
    "create policy z on {} for insert with check (true)", "create policy z on {} for update using (true) with check (false)", "create policy z on {} for delete using (true)", "create policy z on {} for delete with check (true)", "create policy z on {} for all using (true)",
    "create policy z on {} as restrictive using (true)", "create policy z on {} as permissive for all to public", "create policy z on {} as other", "create policy z on {} for truncate", "create policy z on {} to none", "create policy z on {} to readers, ann", "create policy z on {} to public, ann",
    "create policy z on {} to current_user", "create policy z on {} to session_user", "create policy z on {} to current_role using (true)", "create policy z on {} using (1)", "create policy z on {} using (none = 1)", "create policy z on {} using (count(*) > 1)", "create policy z on {} using (row_number() over () > 1)",
    "create policy z on {} using (generate_series(1, 2) > 1)", "create policy z on {} using ((select true))", "create policy z on {} using (exists (select from p.lists))", "create policy z on {} using ($1)", "create policy z on {} using (null)", "create policy z on {} using ('t')", "create policy z on {} using ({}.* is null)",
    "create policy z on {} using (ctid is null)", "create policy z on {} using (tableoid > 0)", "create policy z on {} using (p.none())", "create policy z on {} using (exists (select from pg_authid))", "create policy a on {}; create policy a on {}", "alter policy a on {} to ann", "alter policy a on {} using (true)",
    "alter policy a on {} with check (true)", "alter policy a on {} rename to z", "alter policy a on {} rename to a", "alter policy a on {} rename to none", "alter policy none on {} to ann", "alter policy a on {} to none", "alter policy a on {}", "drop policy a on {}", "drop policy if exists a on {}", "drop policy none on {}", "drop policy if exists none on {}",
    "drop policy a on {} cascade", "comment on policy a on {} is 'x'", "comment on policy none on {} is 'x'", "alter table {} enable row level security", "alter table {} disable row level security", "alter table {} force row level security", "alter table {} no force row level security",
    "alter table if exists {} enable row level security, force row level security", "alter view {} enable row level security", "alter table only {} enable row level security", "drop table {} cascade", "grant all on {} to ann", "alter table {} owner to ann",
    "alter table {} rename column owner to z; select policyname, qual from pg_policies", "alter table {} drop column owner", "alter table {} drop column owner cascade; select policyname from pg_policies", "alter table {} alter owner type varchar", "alter table {} alter level type bigint", "alter table {} rename to z; select policyname, qual, with_check from pg_policies",
)
ABOUT_ROLES = (
    "create role z bypassrls", "create role z nobypassrls", "alter role other bypassrls", "alter role other nobypassrls", "alter role current_user bypassrls", "alter role current_user nobypassrls", "alter role r_bypass nobypassrls", "drop role other", "drop role ben", "drop owned by ann", "reassign owned by holder to ann",
    "drop owned by readers; select policyname, roles from pg_policies", "drop function p.mine(text)", "drop function p.mine(text) cascade; select policyname from pg_policies", "drop function p.listed(int)", "drop table p.lists", "drop table p.lists cascade; select policyname from pg_policies", "alter function p.mine(text) rename to z; select qual from pg_policies",
    "create or replace function p.mine(text) returns boolean language sql as 'select true'; select id from p.t", "alter table p.lists rename to z; select id from p.t; select qual from pg_policies", "alter table p.lists rename most to z; select id from p.t", "set row_security = off", "set row_security = none", "select set_config('row_security', 'off', true)", "show row_security",
    "select policyname, permissive, roles, cmd, qual, with_check from pg_policies", "select polname, polcmd, polpermissive, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid) from pg_policy", "alter role ann set row_security = off", "alter system set row_security = off",
    "select tablename, rowsecurity from pg_tables where schemaname = 'p'", "select rolname from pg_roles where rolbypassrls and rolname ~ '^r_'", "alter role readers rename to z; select policyname, roles from pg_policies", "alter schema p rename to z; select qual from pg_policies",
)
# Modes in which a prepared statement or cursor is also run as another role.
AS_OTHERS = ("kept as readers", "kept as holder", "kept as ann", "cursor", "cursor as readers", "kept unsecured")

# The policies of each state: the name, and the statements before which all others are dropped.
OWN = "owner = current_user"
STATES = {
    "none": (),
    "own": (f"create policy a on p.t using ({OWN})",),
    "checked": (f"create policy a on p.t using ({OWN} or level = 1) with check (level < 3)",),
    "by command": (f"create policy a on p.t for select using (level < 3)", "create policy b on p.t for insert with check (level = 1)", f"create policy c on p.t for update using ({OWN}) with check (level <> 0)", "create policy d on p.t for delete using (level = 2)"),
    "not to be read": ("create policy a on p.t for insert with check (true)", "create policy b on p.t for update using (true)", "create policy c on p.t for delete using (true)"),
    "only to be read": ("create policy a on p.t for select using (id % 2 = 1)",),
    "restricted": ("create policy a on p.t using (true)", "create policy b on p.t as restrictive using (level > 1)", "create policy \"C d\" on p.t as restrictive for update using (id < 15) with check (id <> 5)", f"create policy e on p.t as restrictive for insert with check ({OWN})"),
    "only restricted": ("create policy a on p.t as restrictive using (true)",),
    "to roles": (f"create policy a on p.t to readers using (level = 1)", "create policy b on p.t to ann using (owner = 'ann')", "create policy c on p.t as restrictive to ann using (id < 12)", "create policy d on p.t for select to holder, r_columns using (level = 3)"),
    "by lists": ("create policy a on p.t using (level <= (select max(most) from p.lists where who = current_user))",),
    "by functions": ("create policy a on p.t using (p.mine(owner) or p.listed(level)) with check (p.quiet(id))",),
    "not leakproof": ("create policy a on p.t using (p.quiet(id) and level = 2)",),
    "lists secured": ("create policy a on p.t using (exists (select from p.lists where most = level))", "alter table p.lists enable row level security", "create policy a on p.lists using (who = current_user)"),
    "circular": ("create policy a on p.t using (exists (select from p.lists where most = level))", "alter table p.lists enable row level security", "create policy a on p.lists using (exists (select from p.t where owner = who))"),
    "children secured": (f"create policy a on p.t using ({OWN})", "alter table p.child enable row level security", "alter table p.nulled enable row level security, force row level security", "alter table p.strict enable row level security", "create policy a on p.strict for insert with check (true)"),
    "session's": ("create policy a on p.t using (owner = session_user)", "create policy b on p.t as restrictive using (current_setting('row_security') = 'on')"),
}
CLEAN = ("do $$ declare r record; begin for r in select * from pg_policies loop execute format('drop policy %I on %I.%I', r.policyname, r.schemaname, r.tablename); end loop;"
         " for r in select oid::regclass as name from pg_class where relrowsecurity or relforcerowsecurity loop execute 'alter table ' || r.name || ' disable row level security, no force row level security'; end loop; end $$")


def item_of(values):
    return ",".join("-" if value is None else "_".join(value.replace(";", ":").split()) for value in values)


def word_of(events):
    """Returns the SQLSTATE and all that the session received: rows, notices, tags, a detail."""
    error = next((value for kind, value in events if kind == "error"), None)
    items = set()
    plans = False
    # Rows that came before an error depend on the plan.
    if error:
        events = [event for event in events if event[0] != "row"]
    for kind, value in events:
        if kind == "columns":
            plans = bool(value) and value[0][0] == "QUERY PLAN"
        elif kind == "row" and not plans:
            items.add(item_of(value))
        elif kind == "tag" and not error:
            items.add(f"[{value}]".replace(" ", "_"))
        elif kind == "notice" and value["C"] == "00000" and not value["M"].endswith(("skipping", "other objects")):
            items.add("n:" + item_of([value["M"]]))
    if error and "D" in error and error["C"] in ("23505", "23503", "23514", "44000", "42501"):
        items.add("d:" + item_of([error["D"]]))
    return (error["C"] if error else "00000") + "".join(";" + item for item in sorted(items))


TOLD = re.compile(r"(?<=;)[nd]:[^;]*|^22(?:012|P02)")
SUBQUERY = re.compile(r"\(_?SELECT_", re.I)
NAMED = re.compile("|".join(re.escape(name) + r"\b" for name in RELATIONS))


# Statements that still reveal more on our server: CREATE UNIQUE INDEX and ADD UNIQUE show the key to an owner under FORCE, and a
# key of several columns is another one; a cursor calls stable functions at DECLARE, not at FETCH.
KNOWN = re.compile(r"^create unique index on p\.t|^alter table p\.t add unique|^declare k cursor for select id from p\.t; set local row_security")


# A view without a barrier, and the relation from which it selects with the caller's rights: depending on the plan, a
# function in a condition may be called with a row before the view's own condition is evaluated.
BELOW = {"p.vv": "p.vi"}
# Without policies: roles that may read it see all rows in every state, however few cells a state has.
UNSECURED = "p.m"


def subject_of(page, mode, statement):
    """Returns the rows that a statement may reveal: those of a relation that the role sees."""
    named = NAMED.search(statement)
    relation = named and named.group()
    state = "" if relation == UNSECURED else page
    return state, mode if " as " in mode or mode == "kept unsecured" else "", relation


def may_be_told(told_of, role, subject):
    """Returns True for rows that the role sees, in the relation or below it."""
    page, mode, relation = subject
    below = told_of[role, (page, mode, BELOW[relation])] if relation in BELOW else set()
    return told_of[role, subject] | below


def told(stored):
    """Returns, by role, page and relation, the information that some statement reveals in PostgreSQL. When a condition
    is evaluated on a visible row depends on the plan, and so does which error comes first."""
    told_of = collections.defaultdict(set)
    for (page, mode, statement), states in stored.items():
        for role, answer in zip(ROLES, states):
            told_of[role, subject_of(page, mode, statement)].update(TOLD.findall(answer))
            if mode == "cursor":
                told_of[role, (page, "cursor", statement)].update(items_of(answer))
    return told_of


def items_of(answer):
    """But for tags, which say less where something has failed, and for how subqueries of policies are spelt."""
    state, *items = answer.split(";")
    return {item for item in items if (state == "00000" or not item.startswith("[")) and not SUBQUERY.search(item)}


def allows_more(told_of, role, cell, expected, got):
    """Besides refusals for lack of a right: rows and details that PostgreSQL does not show, and notices and errors
    about rows that the role does not see."""
    page, mode, statement = cell
    if KNOWN.search(statement):
        return False
    state = got.split(";")[0]
    may = may_be_told(told_of, role, subject_of(*cell))
    of_another = mode.startswith("cursor as") or ("declare k" in statement and "set local role" in statement)
    if of_another:
        # A cursor has the rights of the role that declared it, even if PostgreSQL reads current_user at each FETCH; an
        # error may come with DECLARE.
        may = may | told_of[role, (page, "cursor", statement)] | told_of[role, subject_of(page, "cursor", statement)] | {"[SET]"}
    if of_another and mode == "simple":
        may = may | {item for item in items_of(got) if not item.startswith(("n:", "d:"))}
    if state.startswith("22") and not expected.startswith(state):
        return state not in may
    more = items_of(got) - set(expected.split(";")) - may
    has_tags = expected.startswith("00000") and not of_another and mode != "cursor"
    return any(has_tags or not item.startswith("[") for item in more)


def fill(form, name):
    return form.replace("{1}", name.split(".")[-1]).replace("{}", name)


def cells():
    for name in RELATIONS:
        for form in READS:
            statement = fill(form, name)
            yield "simple", statement
            if ";" in statement or not statement.startswith(("select", "with")):
                continue
            yield "kept", statement
            if name in ("p.t", "p.vi", "p.v", "p.vbi"):
                for mode in AS_OTHERS:
                    yield mode, statement
        if name == "p.m":
            continue
        for form in WRITES + CONFLICTS:
            statement = fill(form, name)
            yield "simple", statement
            if ";" in statement or not statement.startswith(("insert", "update", "delete")):
                continue
            yield "kept", statement
            if name in ("p.t", "p.vi"):
                yield from ((mode, statement) for mode in ("extended", "kept as readers", "kept as ann"))
    for statement in OTHERS:
        yield "simple", statement


def definitions():
    for name in DEFINED:
        for form in DEFINITIONS:
            yield "simple", fill(form, name)
    for statement in ABOUT_ROLES:
        yield "simple", statement


def pages():
    everything = list(dict.fromkeys(cells()))
    defining = list(dict.fromkeys(definitions()))
    on = "alter table p.t enable row level security"
    yield "off", (), everything[::7] + defining
    for name, statements in STATES.items():
        yield name, (CLEAN, on, *statements), everything + (defining if name in ("own", "by lists") else [])
    forced = "alter table p.t force row level security"
    for name in ("own", "by command", "restricted"):
        yield f"forced: {name}", (CLEAN, on, forced, *STATES[name]), everything
    yield "off again", ("alter table p.t disable row level security",), everything[::3]
    lost = ("alter role r_bypass nobypassrls", "alter role r_super nosuperuser", "revoke readers from r_member, r_noinherit", "revoke holder from r_owners", "revoke select (id) on p.t from r_columns")
    yield "rights lost", (CLEAN, on, *STATES["to roles"], *lost), everything
