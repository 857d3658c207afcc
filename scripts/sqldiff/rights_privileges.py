"""Every kind of statement by roles that have one right or attribute each: as granted, after REVOKE and
after the attributes are gone, in sessions that were open all the time; through views and SET ROLE,
over both protocols, by EXECUTE of what was prepared just now and of what was prepared before."""

# Options with which each role is created, and its grants.
SUBJECTS = {
    "r_none": ("", ()),
    "r_select": ("", ("select on p.t", "select on p.v", "select on p.vi", "select on p.m", "select on p.s")),
    "r_insert": ("", ("insert on p.t", "insert on p.v", "insert on p.vi")),
    "r_update": ("", ("update on p.t", "update on p.v", "update on p.vi", "update on p.s")),
    "r_delete": ("", ("delete on p.t", "delete on p.v", "delete on p.vi")),
    "r_truncate": ("", ("truncate on p.t",)),
    "r_references": ("", ("references on p.t",)),
    "r_trigger": ("", ("trigger on p.t",)),
    "r_usage": ("", ("usage on sequence p.s",)),
    "r_read_write": ("", ("select, update on p.t", "select, update on p.v", "select, update on p.vi")),
    "r_upsert": ("", ("insert, update on p.t", "select (a) on p.t")),
    "r_all": ("", ("all on p.t", "all on p.v", "all on p.vi", "all on p.m", "all on sequence p.s")),
    "r_option": ("", ("select, insert on p.t", "usage on sequence p.s")),
    "r_columns": ("", ("select (a), update (b), insert (a, b) on p.t", "select (a), update (b), insert (a, b) on p.v",
                       "select (a), update (b), insert (a, b) on p.vi")),
    "r_column_b": ("", ("select (b), references (a) on p.t", "select (b) on p.v", "select (b) on p.m")),
    "r_create": ("", ("create on schema p",)),
    "r_no_schema": ("", ()),
    "r_member": ("in role readers", ()),
    "r_noinherit": ("noinherit in role readers", ()),
    "r_admin": ("", ("readers",)),
    "r_owners": ("in role owner", ()),
    "r_createrole": ("createrole", ()),
    "r_createdb": ("createdb", ()),
    "r_replication": ("replication", ()),
    "r_bypassrls": ("bypassrls", ()),
    "r_read_all": ("in role pg_read_all_data", ()),
    "r_write_all": ("in role pg_write_all_data", ()),
    "r_monitor": ("in role pg_monitor", ()),
    "r_signal": ("in role pg_signal_backend", ()),
    "r_checkpoint": ("in role pg_checkpoint", ()),
    "r_super": ("superuser", ()),
}
OPTIONS = {"r_option": " with grant option", "r_admin": " with admin option"}
ROLES = ("owner", *SUBJECTS)
ATTRIBUTES = ("superuser", "createrole", "createdb", "replication", "bypassrls")

SETUP = (
    "create role owner login", "create role readers", "create role other", "create role su superuser",
    "create role rep replication", "create schema p authorization owner",
    *(f"create role {name} login {made}" for name, (made, _) in SUBJECTS.items()),
    "create schema q", f"grant all on schema q to {', '.join(ROLES)}",
    "set role owner",
    "create table p.t (a int primary key, b int, c int)", "insert into p.t values (1, 1, 1), (2, 2, 2)",
    "create table p.child (x int references p.t)", "create index t_b on p.t (b)",
    "create view p.v as select a, b, c from p.t", "create view p.vv as select a, b from p.v where c > 0",
    "create view p.vi with (security_invoker) as select a, b, c from p.t",
    "create materialized view p.m as select a, b from p.t", "create sequence p.s",
    "create table p.ident (i int generated always as identity, x int)", "analyze p.t",
    "grant select on p.t, p.v to readers",
    "reset role",
    "create table public.mine (a int, b int)", f"grant all on public.mine to {', '.join(ROLES)}",
)

READS = (
    "select a from {}", "select b from {}", "select c from {}", "select * from {}", "select count(*) from {}",
    "select 1 from {} where b = 1", "select a from {} order by b", "select a from {} group by a having max(b) > 0",
    "select {}.a from {} join public.mine m on m.b = {}.b", "select (select max(b) from {})",
    "select x from {} x", "select x.* from {} x where x.a = 1", "table {}",
    "with w as (select b from {}) select 1", "with w as (select b from {}) select * from w",
    "select a from {} for update", "select a from {} for share", "select a from {} for key share of {}",
    "select a from (select * from {}) s for update", "select a from {} union select 1",
    "select exists (select from {})", "insert into public.mine (a) select a from {}",
    "insert into public.mine (b) select b from {}", "update public.mine set a = 1 from {} x where x.b = mine.b",
    "delete from public.mine using {} x where x.a = mine.a", "create table q.z as select a from {}",
    "create view q.z as select b from {}", "create view q.z as select b from {}; select * from q.z",
    "create materialized view q.z as select b from {}", "create temp table z as select b from {}",
    "explain select b from {}", "explain (analyze, timing off) select b from {}",
    "declare k cursor for select b from {}", "copy (select b from {}) to stdout", "select lag(b) over (order by a) from {}",
    "select a from {} limit (select max(b) from {})", "select tableoid from {}",
)
WRITES = (
    "insert into {} (a) values (7)", "insert into {} (a, b) values (7, 7)", "insert into {} values (7, 7, 7)",
    "insert into {} (c) values (1)", "insert into {} default values", "insert into {} (a, b) values (7, 7) returning a",
    "insert into {} (a, b) values (7, 7) returning b", "insert into {} (a, b) values (7, 7) returning *",
    "insert into {} (a, b) select 7, 7", "update {} set b = 1", "update {} set a = a", "update {} set c = 1",
    "update {} set b = 1 where a = 1", "update {} set b = 1 where c = 1", "update {} set b = a", "update {} set b = c",
    "update {} set b = 1 returning a", "update {} set b = 1 returning c", "update {} set b = 1 returning 1",
    "update {} set (b, c) = (1, 1)", "update {} set b = m.a from public.mine m", "update {} set b = (select 1)",
    "delete from {}", "delete from {} where a = 1", "delete from {} where b = 1", "delete from {} returning a",
    "delete from {} returning 1", "delete from {} using public.mine m where m.a = 1",
    "explain insert into {} (a) values (7)", "explain update {} set b = 1", "explain update {} set b = 1 where c = 1",
    "explain delete from {}", "with w as (insert into {} (a, b) values (7, 7) returning 1) select 1",
    "with w as (update {} set b = 1 returning a) select a from w", "with w as (delete from {}) select 1",
)
ON_TABLE = (
    "insert into p.t (a, b) values (1, 1) on conflict do nothing",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do nothing",
    "insert into p.t (a, b) values (1, 1) on conflict on constraint t_pkey do nothing",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = 1",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = excluded.b",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = excluded.a",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = t.b",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set c = 1",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = 1 where excluded.c = 1",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = 1 where t.c = 1",
    "insert into p.t (a, b) values (1, 1) on conflict (a) do update set b = 1 returning c",
    "truncate p.t cascade", "truncate p.t, p.child", "lock table p.t", "lock table p.t in access share mode",
    "lock table p.t in row share mode", "lock table p.t in row exclusive mode", "lock table p.t in share mode",
    "lock table p.t in exclusive mode", "lock table p.v in access share mode", "lock table p.v", "lock table p.vi in access share mode", "lock table p.vi",
    "copy p.t to stdout", "copy p.t (a) to stdout", "copy p.t (b) to stdout", "copy p.t (a, b) from stdin",
    "copy p.t from stdin", "copy p.m to stdout", "copy p.v from stdin", "copy p.v to stdout", "copy p.vi (a) to stdout", "copy p.s to stdout", "copy p.m from stdin", "truncate only p.t",
    "create table q.z (a int references p.t)", "create table q.z (a int references p.t (a))",
    "create table q.z (like p.t)", "create table q.z (like p.t including all)", "create table q.z (like p.v)",
    "create table q.z () inherits (p.t)", "create index on p.t (c)", "create unique index on p.t (c)",
    "create table p.z (a int)", "create view p.z as select 1", "create sequence p.z", "create temp table z (a int)",
    "create table public.z (a int)", "create schema z", "create schema z authorization other",
    "create schema z authorization current_user", "alter table p.t add column z int", "alter table p.t drop column c",
    "alter table p.t rename to z", "alter table p.t rename column b to z", "alter table p.t alter column b type bigint",
    "alter table p.t owner to current_user", "alter table p.t owner to other", "alter table p.t set schema q",
    "alter view p.v rename to z", "alter view p.v set (security_invoker)", "alter sequence p.s restart",
    "alter sequence p.s rename to z", "alter index p.t_b rename to z", "alter schema p rename to z",
    "alter schema p owner to other", "alter schema p owner to current_user", "drop table p.child", "drop table p.t cascade",
    "drop view p.vv", "drop index p.t_b", "drop sequence p.s", "drop materialized view p.m", "drop schema p cascade",
    "comment on table p.t is 'x'", "comment on column p.t.a is 'x'", "comment on schema p is 'x'",
    "comment on role other is 'x'", "comment on index p.t_b is 'x'", "reindex table p.t", "reindex index p.t_b",
    "refresh materialized view p.m", "analyze p.t", "cluster p.t using t_b", "create or replace view p.v as select 1 as a, 2 as b, 3 as c",
    "grant select on p.t to other", "grant insert on p.t to other", "grant all on p.t to other",
    "grant select (a) on p.t to other", "grant select on p.t to other with grant option", "grant usage on sequence p.s to other",
    "grant usage on schema p to other", "revoke select on p.t from readers", "revoke all on p.t from owner",
    "grant select on all tables in schema p to other", "alter default privileges in schema p grant select on tables to other",
    "alter default privileges for role owner grant select on tables to other",
    "grant connect on database template1 to other", "select nextval('p.s')", "select setval('p.s', 5)", "select setval('p.s', 5, false)",
    "select nextval('p.s'); select currval('p.s')", "select nextval('p.s'); select lastval()",
    "select last_value from p.s", "select * from p.s", "insert into p.ident (x) values (1)",
    "select pg_sequence_last_value('p.s'::regclass)", "select 1 / count(last_value) from pg_sequences where sequencename = 's'",
    "select 1 / count(*) from pg_stats where tablename = 't' and attname = 'a'",
    "select 1 / count(*) from pg_stats where tablename = 't' and attname = 'b'",
    "select 1 / count(*) from pg_stats where tablename = 't' and attname = 'c'",
    "select 1 / count(*) from information_schema.tables where table_name = 't'",
    "select 1 / count(*) from information_schema.columns where table_name = 't' and column_name = 'b'",
    "select 1 / count(*) from information_schema.table_privileges where table_name = 't'",
    "select 1 / count(*) from information_schema.table_constraints where table_name = 't'",
    "select 1 / count(*) from information_schema.sequences where sequence_name = 's'",
    "select 1 / count(*) from information_schema.views where table_name = 'v' and view_definition is not null",
    "select 1 / count(*) from information_schema.schemata where schema_name = 'p'",
    "select 1 / count(column_default) from information_schema.columns where table_name = 'serial'",
    "select * from pg_authid", "select rolpassword from pg_roles", "select * from pg_shadow", "select * from pg_statistic",
    "select 1 / count(*) from pg_settings where name = 'hba_file'", "show hba_file", "show data_directory", "show log_min_duration_statement",
    "select current_setting('hba_file')", "select current_setting('config_file', true)",
    "select 'p.t'::regclass", "select pg_get_viewdef('p.v'::regclass)", "select pg_relation_size('p.t'::regclass)",
    *(f"select 1 / has_table_privilege('p.t', '{right}')::int" for right in
      ("select", "insert", "update", "delete", "truncate", "references", "trigger", "select with grant option")),
    *(f"select 1 / has_column_privilege('p.t', '{column}', '{right}')::int" for column in "abc"
      for right in ("select", "insert", "update", "references")),
    *(f"select 1 / has_any_column_privilege('p.v', '{right}')::int" for right in ("select", "insert", "update")),
    *(f"select 1 / has_schema_privilege('p', '{right}')::int" for right in ("usage", "create")),
    *(f"select 1 / has_sequence_privilege('p.s', '{right}')::int" for right in ("usage", "select", "update")),
    *(f"select 1 / pg_has_role('{role}', '{how}')::int" for role in ("readers", "owner", "pg_read_all_data", "su")
      for how in ("member", "usage")),
)
ON_ROLES = (
    "create role z", "create role z login", "create role z superuser", "create role z createrole", "create role z createdb",
    "create role z replication", "create role z bypassrls", "create role z in role su", "create role z in role other",
    "create role z in role pg_read_all_data", "create role z in role pg_database_owner", "create role z role other",
    "create role z superuser role other", "create role z password 'x'", "create role pg_z", "create role other",
    "alter role other login", "alter role other superuser", "alter role other nosuperuser", "alter role other createrole",
    "alter role other createdb", "alter role other replication", "alter role other bypassrls", "alter role other password 'x'",
    "alter role other noinherit", "alter role other connection limit 1", "alter role other valid until 'infinity'",
    "alter role other rename to z", "alter role other set work_mem = '1MB'", "alter role su login", "alter role su nosuperuser",
    "alter role su password 'x'", "alter role su rename to z", "alter role su set work_mem = '1MB'", "alter role rep login",
    "alter role rep noreplication", "alter role rep rename to z", "alter role rep password 'x'", "alter role postgres login",
    "alter role postgres rename to z", "alter role current_user login", "alter role current_user superuser",
    "alter role current_user password 'x'", "alter role current_user set work_mem = '1MB'",
    "alter role current_user set log_min_duration_statement = 5", "alter role pg_monitor login", "alter group other add user readers",
    "alter group su add user readers", "alter group su add user current_user", "drop role other", "drop role su",
    "drop role rep", "drop role pg_monitor", "drop role current_user", "grant other to readers", "grant su to readers",
    "grant su to current_user", "grant rep to readers", "grant pg_read_all_data to readers", "grant pg_database_owner to readers",
    "grant postgres to current_user", "grant readers to pg_database_owner", "revoke readers from r_member", "revoke su from readers",
    "grant readers to other", "grant readers to other with admin option", "grant readers to current_user",
    "grant readers to current_user with admin option", "grant readers to other granted by owner",
    "grant readers to other granted by r_admin", "grant readers to su", "grant readers, other to rep",
    "revoke readers from other", "revoke readers from r_admin", "revoke admin option for readers from r_admin",
    "revoke readers from r_member granted by owner", "revoke admin option for su from readers",
    "create role z admin other", "create role z admin su", "create role z in role readers",
    "create role z in role readers admin current_user", "create role z admin current_user role su",
    "alter group readers add user other", "alter group readers drop user r_member", "drop role readers",
    "alter role readers login", "alter role readers rename to z", "comment on role readers is 'x'",
    "grant readers to readers", "grant readers to pg_database_owner with admin option",
    "grant pg_database_owner to readers with admin option", "grant pg_monitor to other with admin option",
    "grant owner to current_user with admin option", "grant current_user to other with admin option",
    *(f"select 1 / pg_has_role('{role}', '{how} with admin option')::int" for role in ("readers", "owner", "su")
      for how in ("member", "usage")), "select 1 / pg_has_role(current_user, 'member with admin option')::int",
    "select 1 / count(*) from information_schema.administrable_role_authorizations where role_name = 'readers'",
    "select 1 / count(*) from information_schema.applicable_roles where role_name = 'readers'",
    "select 1 / count(*) from information_schema.enabled_roles where role_name = 'readers'",
    "select 1 / count(*) from information_schema.applicable_roles where role_name = 'pg_database_owner'",
    "set role readers", "set role owner", "set role su", "set role postgres", "set role none", "set role other",
    "set role pg_read_all_data", "set session authorization other", "set session authorization su", "set session authorization default",
    "select set_config('role', 'su', false)", "select set_config('session_authorization', 'su', true)",
    "set role readers; select a from p.t", "set role readers; reset role; select a from p.t", "set role owner; drop table p.child",
    "set role owner; create table p.z (a int); reset role; select * from p.z", "set role owner; create temp table z (a int); reset role; select * from z",
    "create temp table z (a int); set role readers; select * from z", "create temp table z (a int); set role readers; insert into z values (1)",
    "create temp table z (a int); set role readers; drop table z",
    "set session authorization other; select a from p.t", "set log_min_duration_statement = 5", "reset log_min_duration_statement",
    "select set_config('log_min_duration_statement', '5', false)", "set session_preload_libraries = ''", "set work_mem = '1MB'",
    "alter system set work_mem = '1MB'", "create database z template none", "alter database template1 connection limit 5",
    "alter database template1 owner to current_user", "alter database template1 rename to z", "alter database template1 set work_mem = '1MB'",
    "drop database template1", "reassign owned by other to readers", "drop owned by other", "drop owned by su",
    "checkpoint", "select pg_reload_conf()", "select pg_stat_reset()", "select pg_cancel_backend(0)", "select pg_terminate_backend(0)",
    "select pg_rotate_logfile()", "select pg_read_file('none')", "select pg_ls_dir('.')", "copy p.t to '/nowhere/x'", "copy p.t from program 'none'",
    "select pg_switch_wal()", "select pg_ls_waldir()", "load 'none'", "create extension none", "create language none",
    "alter default privileges grant select on tables to other", "alter default privileges for role su grant select on tables to other",
    "security label on role other is 'x'", "comment on role su is 'x'", "comment on database template1 is 'x'",
    "create publication z for all tables", "create subscription z connection '' publication z", "create tablespace z location '/nowhere'",
    "create event trigger z on ddl_command_start execute function z()", "alter large object 1 owner to other",
)


def cells():
    for name in ("p.t", "p.v", "p.vv", "p.vi", "p.m"):
        for form in READS:
            statement = form.replace("{}.", "y.").replace("of {}", "of y").replace("from {} join", f"from {name} y join")
            if " y." in statement and f"{name} y" not in statement:
                statement = statement.replace("from {}", f"from {name} y")
            if statement.endswith("of y"):
                statement = statement.replace("from {}", f"from {name} y")
            statement = statement.replace("{}", name)
            for mode in ("simple", "extended", "kept") if ";" not in statement else ("simple",):
                yield mode, statement
    for name in ("p.t", "p.v", "p.vv", "p.vi"):
        for form in WRITES:
            if name == "p.vv" and (" c" in form or "(7, 7, 7)" in form):
                continue
            for mode in ("simple", "kept"):
                yield mode, form.format(name)
    for statement in ON_TABLE:
        yield "simple", statement
        if statement.startswith(("insert", "select")) and ";" not in statement:
            yield "kept", statement
    for statement in ON_ROLES:
        yield "simple", statement


def pages():
    everything = list(dict.fromkeys(cells()))
    granted = [f"grant usage on schema p to {', '.join(n for n in ROLES if n != 'r_no_schema')}"]
    granted += [f"grant {what} to {name}{OPTIONS.get(name, '')}" for name, (_, rights) in SUBJECTS.items() for what in rights]
    yield "granted", granted, everything
    revoked = [f"revoke all on all tables in schema p from {', '.join(SUBJECTS)} cascade",
               f"revoke all on all sequences in schema p from {', '.join(SUBJECTS)}",
               "revoke create on schema p from r_create", "revoke readers from r_member, r_noinherit", "revoke admin option for readers from r_admin",
               "revoke owner from r_owners", "revoke pg_read_all_data from r_read_all",
               "revoke pg_write_all_data from r_write_all"]
    yield "revoked", revoked, everything
    lost = [f"alter role {name} no{made}" for name, (made, _) in SUBJECTS.items() if made in ATTRIBUTES]
    lost += ["revoke pg_checkpoint from r_checkpoint", "revoke pg_monitor from r_monitor", "revoke pg_signal_backend from r_signal"]
    yield "attributes lost", lost, everything
