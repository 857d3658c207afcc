"""GRANT and REVOKE themselves: what lists of rights say after one more of them, by whoever may or may not, in states that
random histories of grants by many have left; also default privileges, members, owners that change, DROP OWNED."""
import random

# Options with which each role is created. Some inherit rights through others, also on two paths.
SUBJECTS = {
    "ann": "", "ben": "", "team": "", "club": "in role team", "member": "in role club", "twice": "in role team, ben",
    "apart": "noinherit in role team", "heir": "in role holder", "admin": "createrole", "super": "superuser", "nobody": "",
}
ROLES = ("holder", *SUBJECTS)
GRANTEES = ("ann", "ben", "team", "club", "member", "nobody", "public", "current_user", "holder")

SHOWN = (
    "select 'r.' || relname || coalesce(relacl::text, '-') from pg_class where relnamespace = to_regnamespace('p')"
    " union all select 'a.' || attname || coalesce(attacl::text, '-') from pg_attribute where attrelid = to_regclass('p.t') and attnum > 0"
    " union all select 'f.' || proname || coalesce(proacl::text, '-') from pg_proc where pronamespace = to_regnamespace('p')"
    " union all select 't.' || typname || coalesce(typacl::text, '-') from pg_type where typname in ('e', 'd')"
    " union all select 'n.' || nspname || coalesce(nspacl::text, '-') from pg_namespace where nspname in ('p', 'q')"
    " union all select 'd.' || pg_get_userbyid(defaclrole) || defaclobjtype::text || (defaclnamespace <> 0)::text || defaclacl::text from pg_default_acl"
    " union all select 'm.' || roleid::regrole || member::regrole || grantor::regrole || admin_option::text from pg_auth_members where roleid > 16000"
)

# Statements that begin each page.
ANEW = (
    "drop schema if exists p, q cascade", "create schema p authorization holder", "grant usage on schema p to public", "set role holder",
    "create table p.t (a int, b int)", "create view p.v as select a, b from p.t", "create sequence p.s",
    "create function p.f() returns int language sql as 'select 1'", "create procedure p.p() language sql as 'select 1'",
    "create type p.e as enum ('x')", "create domain p.d as int",
    "reset role", "create schema q authorization holder",
)
SETUP = (
    "create role holder login", *(f"create role {name} login {made}" for name, made in SUBJECTS.items()),
    f"create view public.shown as {SHOWN}", "grant select on public.shown to public",
)

# Of each kind of object: how GRANT names it, and what can be granted.
OBJECTS = {
    "p.t": ("select", "insert", "update", "delete", "truncate", "references", "trigger", "all"),
    "table p.v": ("select", "insert", "all"), "sequence p.s": ("usage", "select", "update", "all"),
    "function p.f()": ("execute", "all"), "procedure p.p()": ("execute",), "type p.e": ("usage", "all"), "domain p.d": ("usage",),
    "schema q": ("usage", "create", "all"), "all tables in schema p": ("select", "update", "all"),
}
COLUMNS = ("select", "insert", "update", "references", "all")


def word_of(events):
    """Returns the SQLSTATE, the codes of notices, and the items of each list shown, in any order."""
    error = next((value["C"] for kind, value in events if kind == "error"), None)
    words = {"notice=" + value["C"] for kind, value in events if kind == "notice"}
    if error:
        return ";".join((error, *sorted(words)))
    for kind, value in events:
        if kind == "row" and value and value[0]:
            name, brace, items = value[0].partition("{")
            words.update(f"{name}={item}" for item in items.rstrip("}").split(",")) if brace else words.add(value[0])
    return ";".join(("00000", *sorted(words))).replace(" ", "_")


def one_of(chance, grants_only=False):
    """A GRANT or REVOKE."""
    on_columns = chance.random() < 0.25
    where = "p.t" if on_columns else chance.choice(tuple(OBJECTS))
    of = COLUMNS if on_columns else OBJECTS[where]
    names = chance.sample(of, min(len(of), chance.choice((1, 1, 1, 2))))
    names = ["all"] if "all" in names else names
    rights = ", ".join(f"{name} ({chance.choice(('a', 'b', 'a, b'))})" if on_columns else name for name in names)
    who = ", ".join(chance.sample(GRANTEES, chance.choice((1, 1, 1, 2))))
    if grants_only or chance.random() < 0.5:
        return f"grant {rights} on {where} to {who}{chance.choice(('', ' with grant option'))}"
    return f"revoke {chance.choice(('', '', 'grant option for '))}{rights} on {where} from {who}{chance.choice(('', ' cascade', ' restrict'))}"


OTHERS = (
    "grant select on p.t to ann granted by holder", "grant select on p.t to ann granted by current_user", "revoke select on p.t from ann granted by ann",
    "alter table p.t owner to ben", "alter table p.t owner to team", "alter table p.t owner to current_user", "alter sequence p.s owner to ann", "alter function p.f() owner to team",
    "alter type p.e owner to ben", "alter domain p.d owner to ann", "alter schema q owner to team", "alter schema q owner to ann",
    "drop owned by ann", "drop owned by ben", "drop owned by team", "drop owned by club cascade", "drop owned by holder", "drop owned by current_user", "drop owned by team, ann",
    "reassign owned by holder to ben", "reassign owned by ben to ann", "drop role ann", "drop role nobody", "drop role team",
    "grant team to ann", "grant team to ann with admin option", "grant club to team", "grant team to nobody granted by current_user", "grant team to nobody granted by ann",
    "revoke team from club", "revoke admin option for team from ann", "revoke team from both", "revoke team from nobody", "grant holder to nobody", "revoke holder from heir", "grant team, ben to nobody with admin option",
    "create table q.z (a int)", "create table p.z (a int)", "alter table p.t add column c int; grant select (c) on p.t to ann", "alter table p.t drop column a cascade", "create table q.z (like p.t)",
    "create or replace function p.f() returns int language sql as 'select 2'", "create or replace view p.v as select a, b, 1 as c from p.t", "alter table p.t rename to z", "alter table p.t alter a type bigint",
    "alter default privileges grant select on tables to ann", "alter default privileges in schema p grant all on tables to ben with grant option", "alter default privileges for role holder grant insert on tables to team",
    "alter default privileges for role team revoke execute on functions from public", "alter default privileges for role current_user, team grant usage on schemas to club", "alter default privileges for role holder in schema p grant usage on types to ann, public",
    "alter default privileges revoke all on tables from current_user", "alter default privileges in schema p revoke all on tables from ben cascade", "alter default privileges grant select on tables to public with grant option",
    "alter default privileges for role holder in schema q grant select on tables to ann; create table q.z (a int)", "alter default privileges grant select, update on tables to ann, team; create table q.z (a int)", "alter default privileges revoke usage on types from public; create type q.z as enum ()",
    "grant all on p.nothing to ann", "grant select on p.t to nothing", "grant execute on p.t to ann", "grant select on sequence p.t to ann", "grant select (c) on p.t to ann", "grant insert, execute (a) on p.t to ann", "grant delete (a) on p.t to ann", "grant usage on p.s to ann", "grant delete on p.s to ann",
    "grant usage on type p.t to ann", "grant usage on domain p.e to ann", "grant execute on function p.p() to ann", "grant execute on routine p.p() to ann", "grant select on all sequences in schema p to ann", "grant execute on all routines in schema p to ann", "revoke all on all functions in schema p from public, current_user",
    "grant all on p.t to current_user; /* by oneself */ revoke all on p.t from current_user cascade", "grant select on p.t to current_user", "grant select (a), update on p.t to ann", "revoke select (a), update on p.t from ann, ben cascade", "revoke all on p.t from holder", "revoke all on p.t from public, current_user", "revoke all on p.t from ann, ben, team, club, member, nobody cascade", "grant all on p.t, p.v to ann",
)

# Our DROP OWNED also revokes grants made by others than the owner, and a role may give up its rights. PostgreSQL keeps them,
# with a warning or 42501, and they prevent DROP ROLE.
DIFFERS = "drop owned"


def allows_more(told_of, role, cell, expected, got):
    """Any list that is not PostgreSQL's; of DROP OWNED one that has more."""
    if not (got.startswith("00000") and expected.startswith("00000")):
        return False
    if cell[2].startswith(DIFFERS):
        # Default rights may be listed there or not.
        return any(not item.endswith("-") for item in lists_of(got) - lists_of(expected))
    return lists_of(got) != lists_of(expected)


def lists_of(answer):
    return {item for item in answer.split(";") if not item.startswith("notice=")}


def told(stored):
    return stored


def history(seed):
    """Grants by many, some of them passed on, some taken back."""
    chance = random.Random(seed)
    for step in range(40):
        who = "holder" if step < 12 else chance.choice(("holder", "ann", "ben", "team", "club", "member", "twice", "apart"))
        yield f"/*may fail*/ set role {who}; {one_of(chance, step < 12)}; reset role"


def pages():
    for seed in range(12):
        chance = random.Random(1000 + seed)
        cells = [one_of(chance) for _ in range(180)] + list(OTHERS)
        yield f"history {seed}", (*ANEW, *(history(seed) if seed else ())), [("simple", f"{cell}; table shown") for cell in dict.fromkeys(cells)]
