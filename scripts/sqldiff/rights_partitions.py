"""Partitioned tables: who has rights to the whole, to parts of it or to columns, what policies of either show and let be
written, who may attach, detach and change what; a row that moves, and one that nothing takes."""
from rights_rows import CLEAN, items_of, word_of  # noqa: F401

# Options with which each role is created, and its grants.
SUBJECTS = {
    "whole": ("", ("select, insert, update, delete on p.t, p.v, p.vi", "truncate, references, trigger on p.t")),
    "reader": ("", ("select on p.t, p.v, p.vi",)),
    "writer": ("", ("insert, update, delete on p.t, p.v, p.vi",)),
    "inserter": ("", ("insert on p.t",)),
    "part": ("", ("select, insert, update, delete on p.t1, p.v1", "truncate, references, trigger on p.t1")),
    "middle": ("", ("select, insert, update, delete on p.t2",)),
    "columns": ("", ("select (id, owner), insert (id, owner), update (owner) on p.t", "select (id, level) on p.t1")),
    "bens": ("in role ben", ()),
    "owners": ("in role holder", ()),
    "creator": ("", ("create on schema p", "select on p.t")),
    "bypass": ("bypassrls", ("select, insert, update, delete on p.t, p.vi",)),
    "super": ("superuser", ()),
    "nobody": ("", ()),
}
ROLES = ("holder", "ben", *SUBJECTS)

SETUP = (
    "create role holder login", "create role ben login",
    *(f"create role {name} login {made}" for name, (made, _) in SUBJECTS.items()),
    "create schema p authorization holder", "create schema q", f"grant all on schema q to {', '.join(ROLES)}",
    f"grant usage on schema p to {', '.join(ROLES)}", "grant create on schema p to ben",
    "set role holder",
    "create table p.t (id int primary key, owner text, level int check (level < 90), body text) partition by range (id)",
    "create table p.t1 partition of p.t for values from (1) to (8)",
    "create table p.t2 partition of p.t for values from (8) to (15) partition by list (id)",
    "create table p.t2a partition of p.t2 for values in (8, 9, 10, 11)", "create table p.t2b partition of p.t2 for values in (12, 13, 14)",
    "create table p.t3 (level int not null, id int not null, body text, owner text, check (level < 100))",
    "alter table p.t3 alter level drop not null, add constraint t_level_check check (level < 90)",
    "alter table p.t attach partition p.t3 for values from (15) to (21)",
    "create index t_owner on p.t (owner)", "create view p.v as select id, owner, level, body from p.t",
    "create view p.vi with (security_invoker) as select id, owner, level, body from p.t", "create view p.v1 as select id, owner, level, body from p.t1",
    "insert into p.t select i, (array['whole', 'part', 'ben', 'holder', 'bypass'])[1 + i % 5], i % 4, 'x' || i from generate_series(1, 20) i",
    "create table p.child (x int references p.t1, y int)", "insert into p.child values (1, 1)",
    "create table p.of (id int not null, owner text, level int check (level < 90), body text)",
    "create function p.note() returns trigger language plpgsql as 'begin raise notice ''%'', tg_table_name; return new; end'",
    "create function p.rows() returns setof p.t language sql stable security definer as 'select * from p.t'",
    "reset role", "alter table p.t2b owner to ben", "create table q.mine (id int, owner text)",
    "create table q.of (id int not null, owner text, level int, body text, constraint t_level_check check (level < 90))", "alter table q.of owner to ben",
    f"grant all on q.mine to {', '.join(ROLES)}",
)

RELATIONS = ("p.t", "p.t1", "p.t2", "p.t2b", "p.t3", "p.v", "p.vi", "p.v1")
READS = (
    "select id from {}", "select owner from {}", "select level from {}", "select * from {}", "select count(*) from {}", "table only {}",
    "select id from {} where id = 3", "select id from {} where id = 13", "select id from {} where id > 11 and level = 1", "select max(id) from {}",
    "select tableoid::regclass from {}", "select id from {} where owner = current_user", "select id from {} for update",
    "select id from {} where id = 13 for key share", "select id from {} order by id limit 2", "select a.id from {} a join {} b using (id) where b.level = 1",
    "select {1} from {}", "select id from q.mine union all select id from {}", "copy (select id from {} order by id) to stdout",
    "copy {} to stdout", "explain select id from {} where level = 1", "create table q.z as select id from {}", "lock table {} in access share mode",
    "lock table {}", "analyze {}", "set local row_security = off; select id from {}", "insert into q.mine select id, owner from {} returning id",
    "delete from q.mine using {} x where x.id = mine.id", "select 1 / count(*) from pg_stats where tablename = '{1}'", "select id from p.rows()",
    "select 1 / count(*) from information_schema.tables where table_name = '{1}'", "select 1 / count(*) from information_schema.columns where table_name = '{1}'",
    "select has_table_privilege('{}', 'select'), has_any_column_privilege('{}', 'insert')", "declare k cursor for select id from {}; fetch all from k",
)
WRITES = (
    "insert into {} values (7, current_user, 1, 'n')", "insert into {} (id, owner) values (30, current_user)", "insert into {} (id, owner) values (3, current_user)",
    "insert into {} (id, owner, level) values (13, 'ben', 99)", "insert into {} (id, owner) values (14, 'nobody') returning id",
    "insert into {} (id, owner) values (5, 'part') on conflict do nothing", "insert into {} (id, owner) values (5, 'part') on conflict (id) do update set owner = excluded.owner",
    "insert into {} (id, owner) values (13, 'part') on conflict (id) do update set level = 2 returning level",
    "delete from {} where id = 19; insert into {} (id, owner) values (19, current_user) returning *", "insert into {} select id + 100, owner, level, body from {}",
    "update {} set level = 1", "update {} set owner = 'part' where id = 3", "update {} set owner = current_user", "update {} set level = 2 where id = 13 returning id",
    "update {} set id = id + 100 where id = 20", "delete from {} where id = 9; update {} set id = 9 where id = 2", "delete from {} where id = 2; update {} set id = 2 where id = 13 returning *",
    "update {} set id = 8 where id = 8", "update {} set level = 99 where id = 17", "update {} set (owner, level) = ('ben', 3) where id = 16", "update only {} set level = 1",
    "delete from {}", "delete from {} where id = 13", "delete from {} where level = 2 returning id", "delete from only {}", "select count(ctid) from {}", "delete from {} where id > 15 and owner = current_user",
    "copy {} from stdin", "copy {} (id, owner) from stdin", "truncate {}", "truncate only {}", "truncate {} cascade", "explain update {} set level = 1", "explain delete from {}",
    "with w as (update {} set level = 2 where id = 12 returning id) table w", "merge into {} t using q.mine m on m.id = t.id when matched then delete",
    "set local row_security = off; update {} set level = 1", "set local row_security = off; delete from {} where id > 11",
)
DEFINITIONS = (
    "alter table p.t attach partition p.of for values from (21) to (30)", "alter table p.t attach partition q.of for values from (21) to (30)", "alter table p.t attach partition p.of default",
    "alter table p.t attach partition p.t1 for values from (21) to (30)", "alter table p.t2 attach partition p.of for values in (30)", "alter table p.t attach partition p.v for values from (21) to (30)",
    "alter table p.t detach partition p.t1", "alter table p.t detach partition p.t2", "alter table p.t2 detach partition p.t2b", "alter table p.t detach partition p.t2b", "alter table p.t detach partition p.t1; insert into p.t1 (id) values (40); table p.t1",
    "create table p.z partition of p.t for values from (21) to (30)", "create table q.z partition of p.t for values from (21) to (30)", "create table q.z partition of p.t default", "create table q.z partition of p.t2 for values in (50)",
    "create table q.z partition of p.t2b default", "create temp table z partition of p.t default", "create table q.z (like p.t including all)", "create table q.z (like p.t2b)", "create table q.z () inherits (p.t1)",
    "drop table p.t", "drop table p.t cascade", "drop table p.t1", "drop table p.t1 cascade", "drop table p.t2", "drop table p.t2b", "drop table p.t3", "drop index p.t_owner", "drop index p.t1_owner_idx", "drop index p.t2b_owner_idx",
    "alter table p.t add column z int default 5", "alter table p.t1 add column z int", "alter table p.t2b add column z int", "alter table p.t drop column body cascade", "alter table p.t2b drop column body", "alter table p.t rename owner to z", "alter table p.t2b rename owner to z",
    "alter table p.t alter level type bigint", "alter table p.t alter body set not null", "alter table p.t2b alter body set not null", "alter table p.t2b alter body set default 'd'", "alter table p.t alter body set default 'd'; insert into p.t (id) values (7)",
    "alter table p.t rename constraint t_level_check to z", "alter table p.t2b rename constraint t_level_check to z", "alter table p.t add check (id > 0)", "alter table p.t add constraint z check (level < 1)", "alter table p.t2b add constraint z check (level < 9)", "alter table p.t drop constraint t_level_check", "alter table p.t2b drop constraint t_level_check", "alter table p.t drop constraint t_pkey cascade",
    "alter table p.t2b drop constraint t2b_pkey", "alter table p.t add foreign key (id) references p.t1", "create index on p.t (level)", "create index on p.t2b (level)", "create unique index on p.t (id)", "create index on only p.t (level)", "alter index p.t_owner attach partition p.t2b_owner_idx",
    "create trigger z before insert on p.t for each row execute function p.note(); insert into p.t (id) values (7)", "create trigger z after update on p.t for each statement execute function p.note(); update p.t set level = 1 where id = 13", "create trigger z before insert on p.t2b for each row execute function p.note()",
    "create trigger z before insert on p.t1 for each row execute function p.note()", "alter table p.t disable trigger all", "alter table p.t2b disable trigger all", "alter table p.t owner to ben", "alter table p.t1 owner to ben", "alter table p.t2b owner to holder", "alter table p.t2b owner to current_user",
    "alter table p.t rename to z", "alter table p.t2b rename to z", "alter table p.t set schema q", "alter table p.t2b set schema q", "grant select on p.t to nobody", "grant select on p.t2b to nobody", "grant select on p.t1 to nobody", "grant all on p.t to ben with grant option",
    "revoke all on p.t from whole", "revoke all on p.t2b from ben", "comment on table p.t is 'x'", "comment on table p.t2b is 'x'", "comment on index p.t2b_owner_idx is 'x'", "alter table p.t enable row level security", "alter table p.t2b enable row level security", "alter table p.t2b force row level security",
    "create policy z on p.t using (true)", "create policy z on p.t2b using (false)", "create policy z on p.t2b using (false); alter table p.t2b enable row level security; select id from p.t", "drop policy if exists a on p.t", "create publication z for table p.t1",
    "reindex table p.t2b", "reindex table p.t1", "reindex index p.t2b_owner_idx", "cluster p.t2b using t2b_owner_idx", "vacuum p.t2b", "vacuum p.t", "analyze p.t", "create statistics z on id, owner from p.t2b", "create rule z as on insert to p.t do nothing", "create view q.z as select id from p.t2b; table q.z",
    "create view q.z as select id from p.t; table q.z", "create table q.z (x int references p.t2b)", "create table q.z (x int references p.t1)", "create table q.z (x int references p.t)", "select pg_get_partkeydef('p.t'::regclass), pg_partition_root('p.t2b')", "select relid, isleaf from pg_partition_tree('p.t')",
    "select pg_get_expr(relpartbound, oid) from pg_class where relname like 't2%' and relpartbound is not null", "select partattrs from pg_partitioned_table", "insert into p.child values (13, 1)", "insert into p.child values (2, 1)", "delete from p.t where id = 1", "update p.t set id = 19 where id = 1", "delete from p.t1 where id = 1",
    "reassign owned by ben to holder", "drop owned by ben", "drop owned by whole", "drop role ben", "security label on table p.t is 'x'", "alter table p.t set (fillfactor = 50)", "alter table p.t2b set (fillfactor = 50)", "alter table p.t set unlogged", "alter table p.t no inherit p.t2b", "alter table p.t2b no inherit p.t2",
    "alter table p.t2b replica identity full", "alter table only p.t add column z int", "alter table only p.t add check (id > 0)", "alter table p.t1 validate constraint t_level_check", "alter table p.t2b alter id drop not null", "alter table p.t alter id drop not null",
)

OWN = "owner = current_user"
SECURE = "alter table {} enable row level security"
STATES = {
    "whole": (SECURE.format("p.t"), f"create policy a on p.t using ({OWN})"),
    "whole, by command": (SECURE.format("p.t"), "create policy a on p.t for select using (level < 3)", "create policy b on p.t for insert with check (level = 1)", f"create policy c on p.t for update using ({OWN}) with check (level <> 0)", "create policy d on p.t for delete using (level = 2)"),
    "parts": (SECURE.format("p.t1"), SECURE.format("p.t2b"), f"create policy a on p.t1 using ({OWN})", "create policy a on p.t2b using (level = 1) with check (level < 3)"),
    "middle": (SECURE.format("p.t2"), "create policy a on p.t2 to middle, whole using (id <> 13)"),
    "both": (SECURE.format("p.t"), SECURE.format("p.t1"), SECURE.format("p.t2b"), "create policy a on p.t using (level < 3)", "create policy a on p.t1 using (id > 4)", "create policy b on p.t as restrictive for update with check (id <> 2)"),
    "forced": (SECURE.format("p.t"), SECURE.format("p.t2b"), "alter table p.t force row level security", "alter table p.t2b force row level security", f"create policy a on p.t using ({OWN} or level = 3)", "create policy a on p.t2b using (level = 0)"),
}


def told(stored):
    """Returns the information in the answer: no function here is called with rows, so nothing else reveals them."""
    return stored


def allows_more(stored, role, cell, expected, got):
    """Rows, details and counts that PostgreSQL does not give."""
    return got.startswith("00000") and expected.startswith("00000") and bool(items_of(got) - items_of(expected)) and not cell[2].startswith(("explain", "analyze"))


def cells():
    for name in RELATIONS:
        for form in READS + WRITES:
            statement = form.replace("{1}", name.split(".")[-1]).replace("{}", name)
            yield "simple", statement
            if ";" not in statement and statement.startswith(("select", "insert", "update", "delete", "with")):
                yield "kept", statement


def definitions():
    for statement in DEFINITIONS:
        yield "simple", statement


def pages():
    everything, defining = list(dict.fromkeys(cells())), list(definitions())
    granted = tuple(f"grant {what} to {name}" for name, (_, rights) in SUBJECTS.items() for what in rights)
    yield "granted", granted, everything + defining
    for name, statements in STATES.items():
        yield f"policies: {name}", (CLEAN, *statements), everything + (defining if name == "both" else [])
    taken = ("revoke all on p.t from whole, columns", "revoke all on p.t1 from part", "alter table p.t2b owner to holder", "revoke holder from owners")
    yield "revoked", (CLEAN, *taken), everything + defining
