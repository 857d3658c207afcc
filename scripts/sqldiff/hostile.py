"""Values of every type that are likely to be handled wrongly: empty, huge, infinite, at the ends of the range, badly formed. Also the
places of stored expressions, and the texts that places which run SQL from a text should survive."""
import calls

# By type; other types have the values of OTHERS.
VALUES = {
    **calls.NUMBERS,
    "bool": ["t", "f"],
    "text": calls.TEXTS + ["%", "\\\\", "(", "[a-", "a & b", "{", "$.a", "<a/>", "2020-01-01", "C", "UTF8", "simple", "w", "v", "w.v"],
    "date": calls.DATES + ["4714-11-24 BC", "5874898-01-01"],
    "time": calls.CLOCKS, "timetz": [clock + "+15:59" for clock in calls.CLOCKS] + ["00:00-15:59:59"],
    "timestamp": ["2020-02-29 12:00", "infinity", "-infinity", "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "epoch", "0001-01-01 BC"],
    "timestamptz": ["2020-02-29 12:00+02", "infinity", "-infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "epoch"],
    "interval": [*calls.INTERVALS, "2147483647 months", "-178956970 years -8 months", "2147483647 days", "-9223372036854775808 us"],
    "bytea": ["", "\\x", "\\x00", "\\xff00ff", "a\\\\000b", "\\x" + "00" * 300],
    "json": ["null", "{}", "[]", "\"\"", "0", "{\"a\": {\"b\": [1, null, {}]}}", "[[[]]]", "1e1000", "{\"\": \"\"}", "{\"a\": 1, \"a\": 2}", "\"\\ud800\"", ""],
    "jsonpath": ["$", "$.a", "strict $[*]", "lax $.**{2 to last}", "$ ? (@ > 1)", "$.a.datetime()", "-$", "$[last]", "$.a like_regex \"(\"", "\"\"", "$x", "$.keyvalue()", ""],
    "xml": ["<a/>", "<a b=\"c\">d</a>", "", "x", "<?xml version=\"1.0\"?><a/>", "<a", "<!DOCTYPE a [<!ENTITY e \"x\">]><a>&e;</a>", "<a/><b/>"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "inet": ["0.0.0.0/0", "255.255.255.255", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", "10.0.0.1/8", "::ffff:1.2.3.4"],
    "cidr": ["0.0.0.0/0", "10.0.0.0/8", "::/0", "ffff::/16"], "macaddr": ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"],
    "macaddr8": ["00:00:00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff:ff:ff"], "money": ["0", "92233720368547758.07", "-92233720368547758.08", "1.5"],
    "bit": ["0", "1", "", "101"], "varbit": ["", "0", "1", "1" * 300], "char": ["", "a", "\\377", "ä"], "name": ["", "a", "x" * 63, "w", "v", "int4"], "bpchar": ["", "a ", "  "], "varchar": ["", "a"],
    "point": ["(0,0)", "(NaN,NaN)", "(Infinity,-Infinity)", "(1e308,-1e308)", "(1e-308,0)"], "line": ["{1,1,1}", "{0,1,NaN}", "{1e308,1e308,0}", "{1,0,0}"],
    "lseg": ["[(0,0),(0,0)]", "[(0,0),(NaN,1)]", "[(1e308,1e308),(-1e308,-1e308)]"], "box": ["(0,0),(0,0)", "(NaN,0),(1,1)", "(1e308,1e308),(-1e308,-1e308)", "(Infinity,1),(0,0)"],
    "path": ["[(0,0)]", "((0,0),(1,1))", "[(NaN,0),(1,1)]", "((1e308,0),(0,1e308))", "[(0,0),(1,0),(1,1)]"], "polygon": ["((0,0))", "((0,0),(1,1),(1,0))", "((NaN,0),(1,1))", "((1e308,0),(0,1e308),(0,0))"],
    "circle": ["<(0,0),0>", "<(0,0),1e308>", "<(NaN,0),1>", "<(0,0),NaN>", "<(0,0),Infinity>"], "tsvector": ["", "a", "a:1A b:16383D", "'':1", "'a b':1,2,3"], "tsquery": ["", "a", "!a", "a & b", "a <-> b", "a <16384> b", "(a | b) & !c", "a:*AB"],
    "oid": ["0", "1", "4294967295", "23", "1259", "2147483648"], "xid": ["0", "3", "4294967295"], "xid8": ["0", "18446744073709551615"], "cid": ["0", "4294967295"], "tid": ["(0,0)", "(4294967295,65535)"],
    "pg_lsn": ["0/0", "FFFFFFFF/FFFFFFFF", "0/1"], "int2vector": ["", "1 2", "-1"], "oidvector": ["", "23 25", "0"], "refcursor": ["", "c", "none"], "aclitem": ["=r/postgres", "postgres=a*r/postgres"],
    "txid_snapshot": ["1:1:", "10:20:10,14,15"], "pg_snapshot": ["1:1:", "10:20:10,14,15"], "regclass": ["0", "v", "pg_class", "99999", "-"], "regtype": ["0", "int4", "99999", "text[]", "-", "numeric(3,1)"], "regproc": ["0", "now", "99999"],
    "regprocedure": ["0", "now()", "99999"], "regoper": ["0", "||/", "99999"], "regoperator": ["0", "+(int4,int4)", "99999"], "regnamespace": ["0", "w", "99999"], "regrole": ["0", "postgres", "99999"], "regconfig": ["0", "simple", "english", "99999"],
    "regdictionary": ["0", "simple", "99999"], "regcollation": ["0", "\"C\"", "99999"], "mood": ["low", "high", "none"], "positive": ["1", "0", "-5"], "pair": ["(1,x)", "(,)", "()", "(1,\"(\")"], "cstring": ["", "a", "1"],
    "record": ["(1)"], "pg_node_tree": [""], "unknown": ["", "a"], "nested": ["(\"(1,x)\",\"{low,NULL}\",1)", "(,,)"],
}
VALUES["jsonb"] = VALUES["json"]
VALUES["date"] = [value for value in VALUES["date"]]
OTHERS = ["", "0", "a", "{}"]
RANGES = {"int4range": ("int4", "1", "2147483647"), "int8range": ("int8", "1", "9223372036854775807"), "numrange": ("numeric", "1.5", "Infinity"), "daterange": ("date", "2020-01-01", "infinity"),
          "tsrange": ("timestamp", "2020-01-01", "infinity"), "tstzrange": ("timestamptz", "2020-01-01", "-infinity"), "spans": ("float8", "1", "NaN")}
for range_type, (_, low, high) in RANGES.items():
    VALUES[range_type] = ["empty", "(,)", f"[{low},{low}]", f"({low},{low})", f"[{low},{high}]", f"[{high},{low}]", f"(,{low})", f"[{low},)", f"[,{high}]"]
    many = {"int4range": "int4multirange", "int8range": "int8multirange", "numrange": "nummultirange", "daterange": "datemultirange", "tsrange": "tsmultirange", "tstzrange": "tstzmultirange", "spans": "spans_multi"}[range_type]
    VALUES[many] = ["{}", "{empty}", "{(,)}", f"{{[{low},{low}]}}", f"{{(,{low}),[{low},)}}", f"{{[{low},{high}]}}"]
PSEUDO = ["any", "anyelement", "anyarray", "anynonarray", "anyenum", "anyrange", "anymultirange", "anycompatible", "anycompatiblearray", "anycompatiblenonarray", "anycompatiblerange", "anycompatiblemultirange",
          "cstring", "internal", "void", "trigger", "event_trigger", "record", "unknown", "language_handler", "fdw_handler", "index_am_handler", "tsm_handler", "table_am_handler", "pg_ddl_command"]
BASES = [name for name in VALUES if name not in ("record", "unknown", "cstring", "pg_node_tree")]

# A table with a column of each type.
CELLS = ["create table cells (id int primary key, " + ", ".join(f"c_{name} {chr(34)}{name}{chr(34)}" for name in BASES) + ", c_ints int[], c_texts text[], c_moods mood[], c_pairs pair[])",
         "insert into cells (id) values (0)", "insert into cells (id, c_int4, c_text, c_ints, c_jsonb, c_numeric) values (1, 1, 'a', '{1,2}', '{\"a\": 1}', 'NaN')"]
# A schema with types of every kind.
SETUP = ["create schema w", "set search_path = w, public", "create type mood as enum ('low', 'mid', 'high')", "create type pair as (a int, b text)",
         "create domain positive as int check (value > 0)", "create type nested as (p pair, m mood[], d positive)", "create type spans as range (subtype = float8, multirange_type_name = spans_multi)",
         "create domain words as text[]", "create table kept (a int primary key, b text)", "insert into kept values (1, 'x'), (2, null)",
         "create procedure nothing() language plpgsql as 'begin end'", "create function one() returns int language sql immutable as 'select 1'",
         *CELLS]

# Definitions that store an expression: {e} of column c of type {t}, {k} of a constant alone. Later statements write
# through them.
STORED = ["create table s (c {t} check (({e}) is not null))", "create table s (c {t}); create index on s (({e}))", "create table s (c {t}); create unique index on s (c) where ({e}) is not null",
          "create table s (c {t}, x text generated always as (({e})::text) stored)", "create domain s_domain as {t} check (({d}) is not null); create table s (c s_domain)",
          "create table s (c {t}, x text default ({k})::text)", "create table s (c {t}); alter table s enable row level security; create policy p on s using (({e}) is not null) with check (({e}) is null); grant all on s to public; set role w_fuzz",
          "create table s (c {t}) partition by range (({e})); create table s1 partition of s default", "create table s (c {t}) partition by hash (({e})); create table s1 partition of s for values with (modulus 1, remainder 0)",
          "create table s (c {t}) partition by list (({e})); create table s1 partition of s for values in (null)", "create table s_base (c {t}); create view s as select c, {e} as x from s_base",
          "create table s (c {t}); create function s_body({t}) returns text language sql as $$ select ({p})::text $$; create index on s (s_body(c))",
          "create table s (c {t}); create function s_trigger() returns trigger language plpgsql as $$ begin perform {n}; return new; end $$; create trigger s_t before insert or update on s for each row when (({n}) is not null) execute function s_trigger()",
          "create table s (c {t}); create materialized view s_m as select {e} as x from s; refresh materialized view s_m", "create table s (c {t}); insert into s values (null); alter table s add column y text default ({k})::text",
          "create table s (c {t}); insert into s values (null), ({v}); alter table s alter c type text using ({e})::text", "create table s (c {t}, exclude using btree (({e}) with =))", "create table s (c {t}); create statistics s_s on c, ({e}) from s; analyze s",
          "create table s (c {t}); create function s_atomic(c {t}) returns text language sql begin atomic select ({e})::text; end; create view s_v as select s_atomic(c) from s"]
WRITES = ["insert into s values (null)", "insert into s (c) values ({v})", "insert into s (c) select null from generate_series(1, 3)", "update s set c = {v}", "update s set c = null", "select * from s", "select * from s where c is null", "copy s (c) from stdin",
          "analyze s", "delete from s", "vacuum s", "select s from s", "explain select * from s where c = {v}", "create table s_like (like s including all); insert into s_like (c) values ({v})"]
FORGET = ["rollback", "reset role", "drop table if exists s, s_base, s_like cascade", "drop view if exists s cascade", "drop domain if exists s_domain cascade", "drop routine if exists s_body cascade", "drop function if exists s_trigger cascade", "drop function if exists s_atomic cascade",
          "drop materialized view if exists s_m", "drop table if exists s, s_base cascade"]

# Texts given to what runs a text as SQL.
QUERIES = ["", " ", ";", ";;", " ; ", "--", "-- x\n", "/*", "/* */", "/**/;", "select", "select;", "select 1", "select 1;", "select 1; select 2", "select ; select", "select null", "select null::int", "values (1)", "table kept", "select from kept",
           "select a, b from kept", "select * from kept where false", "select b from kept", "select ''", "select '1'", "select 'a'::tsvector", "select null::tsvector", "select 'a'::tsquery, 'b'::tsquery", "select null::tsquery, null::tsquery", "select 'a'::tsquery",
           "select 'a'::tsvector, 1", "select 1 into x", "select $1", "select $1::int", "select 1 / 0", "select repeat('x', 100000)", "begin", "commit", "rollback", "savepoint s", "rollback to s", "release s", "start transaction", "prepare transaction 'x'",
           "insert into kept values (9)", "insert into kept values (9) returning a", "update kept set b = 'y'", "update kept set b = 'y' returning *", "delete from kept returning a", "with x as (delete from kept returning *) select * from x", "copy kept from stdin", "copy kept to stdout", "copy (select 1) to stdout",
           "declare c cursor for select 1", "fetch all from c", "close all", "close c", "move c", "explain select 1", "explain analyze insert into kept values (8)", "create table made as select 1", "create table made (a int)", "drop table kept", "drop schema w cascade", "truncate kept", "alter table kept drop column b", "alter table kept add column z int",
           "do $$ begin end $$", "do $$ begin raise 'x'; end $$", "call nothing()", "vacuum", "analyze kept", "listen x", "notify x", "discard all", "discard plans", "show all", "show search_path", "set search_path = ''", "set local statement_timeout = 0", "reset all", "prepare p as select 1", "execute p", "deallocate all", "lock table kept",
           "refresh materialized view m", "create index on kept (b)", "create function f() returns int language sql as 'select 1'", "set constraints all immediate", "set role nobody", "checkpoint", "reindex table kept", "cluster", "comment on table kept is 'x'", "grant select on kept to public", "create temp table kept (x int)",
           "x", "'", "$$", "\"", "select 'x", "select (", "select 1 from no_such", "\\", "\u00e4", "select 1\\;", "sel\u0001ect", "select * from ts_stat('')", "select query_to_xml('', true, true, '')"]
# {q} is such a text as a literal.
RUNNERS = ["select * from ts_stat({q})", "select * from ts_stat({q}, 'abcd')", "select ts_rewrite('a & b'::tsquery, {q})", "select ts_rewrite(null::tsquery, {q})", "do $o$ begin execute {q}; end $o$", "do $o$ declare x int; begin execute {q} into x; end $o$",
           "do $o$ declare x record; begin execute {q} into x; raise notice '%', x; end $o$", "do $o$ declare x record; begin execute {q} into strict x; end $o$", "do $o$ begin execute {q} using 1; end $o$", "do $o$ declare r record; begin for r in execute {q} loop raise notice '%', r; end loop; end $o$",
           "do $o$ declare r record; begin for r in execute {q} using 1, 'x' loop exit; end loop; end $o$", "do $o$ declare c refcursor; r record; begin open c for execute {q}; fetch c into r; close c; end $o$", "do $o$ declare c refcursor; begin open c scroll for execute {q} using 1; move last in c; end $o$",
           "create or replace function q() returns setof int language plpgsql as $o$ begin return query execute {q}; end $o$; select * from q()", "create or replace function q2() returns setof kept language plpgsql as $o$ begin return query execute {q} using 1; end $o$; select * from q2()",
           "create or replace function q3() returns setof record language plpgsql as $o$ begin return query execute {q}; end $o$; select * from q3() as x(a int)", "create or replace function q4() returns int language plpgsql as $o$ declare n int; begin execute {q}; get diagnostics n = row_count; return n; exception when others then return -1; end $o$; select q4(), q4()",
           "select query_to_xml({q}, true, false, '')", "select query_to_xml({q}, false, true, 'u')", "select query_to_xmlschema({q}, true, false, '')", "select query_to_xml_and_xmlschema({q}, true, true, '')", "begin; declare odd cursor for select * from kept; select cursor_to_xml({q}, 5, true, false, ''); commit",
           "select cursor_to_xmlschema({q}, true, false, '')", "create function f_body() returns int language sql as {q}; select f_body(); select * from f_body()", "create function f_void() returns void language sql as {q}; select f_void()", "create function f_set() returns setof kept language sql as {q}; select * from f_set()",
           "create procedure f_call() language sql as {q}; call f_call()", "create function f_pl() returns int language plpgsql as {q}; select f_pl()", "do {q}", "do language plpgsql {q}", "create function f_arg(int, text) returns text language sql as {q}; select f_arg(1, 'x'), f_arg(a, b) from kept",
           "create function f_trigger() returns trigger language plpgsql as {q}; create trigger f_t before insert on kept for each row execute function f_trigger(); insert into kept values (7, 'x')", "create event trigger e on ddl_command_start execute function {q}", "select {q}::regclass", "select {q}::regtype", "select to_regprocedure({q})",
           "select pg_get_serial_sequence({q}, {q})", "select nextval({q})", "select has_table_privilege({q}, {q})", "select parse_ident({q})", "select set_config({q}, {q}, true)", "select current_setting({q})", "select current_setting({q}, true)", "select pg_notify({q}, {q})", "select set_config('search_path', {q}, true)",
           "select set_config('TimeZone', {q}, true)", "select set_config('DateStyle', {q}, true)", "select format({q}, {q})", "select to_tsquery({q})", "select websearch_to_tsquery({q})", "select xpath({q}, '<a/>')", "select xmlparse(content {q})", "select {q}::xml", "select jsonb_path_query('{}', {q}::jsonpath)", "select pg_get_viewdef({q})",
           "select currval({q})", "select setval({q}, 1)", "select makeaclitem(0, 0, {q}, true)", "select txid_status({q}::bigint)", "select pg_input_is_valid({q}, {q})", "select database_to_xml(true, true, {q})", "select table_to_xml({q}, true, true, '')", "select schema_to_xml({q}, true, true, '')"]


def quoted(text):
    return "'" + text.replace("'", "''") + "'" if "\\" not in text else "e'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def type_name(name):
    """The type as a statement names it: some names are key words."""
    return f'"{name}"' if name in ("char", "any", "bit", "time", "timestamp", "interval") or name[:1].isupper() else name


class ValueMaker:
    def __init__(self, dice):
        self.dice = dice

    def text_of(self, name):
        dice = self.dice
        if name.endswith("[]"):
            return dice.choice(["{}", "{NULL}", self.array_of(name[:-2], 1), self.array_of(name[:-2], 2), "[5:6]={" + self.array_of(name[:-2], 1)[1:], "[2147483647:2147483647]={NULL}"])
        return dice.choice(VALUES.get(name, OTHERS))

    def array_of(self, name, depth):
        items = ['"' + self.text_of(name).replace("\\", "\\\\").replace('"', '\\"') + '"' if self.dice.random() < 0.8 else "NULL" for _ in range(self.dice.choice([1, 2, 3]))]
        return "{" + ",".join(items if depth == 1 else ["{" + item + "}" for item in items]) + "}"

    def constant(self, name):
        """An expression of the type that reads nothing."""
        dice, typed = self.dice, type_name(name)
        way = dice.random()
        if way < 0.12:
            return f"null::{typed}"
        if way < 0.16:
            return "null"
        if way < 0.22:
            return quoted(self.text_of(name))
        if way < 0.25 and name in ("text", "bytea", "varchar", "bpchar"):
            return f"repeat('x', {dice.choice([1000, 300000])})::{typed}"
        if way < 0.27 and name.endswith("[]"):
            return f"array_fill(null::{typed[:-2]}, array[{dice.choice(['0', '1000', '100, 100', '1,1,1,1,1,1'])}])"
        return f"{quoted(self.text_of(name))}::{typed}"

    def expression(self, name):
        """Returns an expression that may read the table of cells."""
        if self.dice.random() < 0.25 and name in BASES:
            return f"c_{name}"
        return self.constant(name)
