"""Random uses of every routine, operator, cast and aggregate that a server's catalog names, with hostile values."""
import re

import hostile
import survival
from survival import Step

# Routines that are not called, and why.
EXCLUDED = [(r"^pg_(terminate|cancel)_backend$|^pg_reload_conf$|^pg_rotate_logfile|^pg_promote$|^pg_wal_replay", "ends or changes what others run"),
            (r"^pg_sleep", "waits as long as it is told"),
            (r"^swizzle_backup|^pg_(file|logfile)_|^pg_(read|ls|stat)_|^lo_(im|ex)port|^pg_switch_wal|^pg_create_restore_point|^pg_backup|backup_(start|stop)", "writes or shows files"),
            (r"replication_(slot|origin)|^pg_logical", "keeps the log from then on"),
            (r"^pg_stat_reset|^pg_export_snapshot$|^pg_stat_statements_reset", "changes what later cases see"),
            (r"^pg_advisory|^pg_try_advisory", "keeps locks from later cases")]
# Functions whose answers differ between two servers without a fault.
OWN_ANSWERS = re.compile(r"^(pg_|txid_|now$|.*timestamp|clock|random|gen_random|version|inet_|current|session|user|has_|hash|query_to|.*_to_xml|database_to|table_to|schema_to|swizzle|.*in$|.*out$|.*recv$|.*send$|uuid_|row_security|set_config|setval|nextval|timeofday|setseed)")
ELEMENTS = {"any", "anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray"}
ARRAYS = {"anyarray", "anycompatiblearray"}
RANGE = {"anyrange": "int4range", "anycompatiblerange": "int4range", "anymultirange": "int4multirange", "anycompatiblemultirange": "int4multirange", "anyenum": "mood"}


class Catalog:
    """Types, routines, operators and casts as the server names them."""

    def __init__(self, connection):
        rows = lambda text: [value for kind, value in connection.run(text) if kind == "row"]  # noqa: E731
        self.types = {}
        for oid, name, element, kind, category in rows("select oid, typname, typelem, typtype, typcategory from pg_type order by oid"):
            self.types[oid] = (name, element, kind, category)
        self.names = {oid: self.name_of(oid) for oid in self.types}
        self.all_types = sorted({name for oid, name in self.names.items() if self.types[oid][2] in "bdermp" and not re.search("pg_toast|^_pg_", name)})
        # Names of composite types of catalogs would be most of them.
        self.plain = [name for oid, name in self.names.items() if self.types[oid][2] in "bderm" and not name.endswith("[]")]
        self.routines, self.aggregates, self.windows = [], [], []
        for name, kind, returns_set, arguments, result, variadic, schema in rows(
                "select proname, prokind, proretset, proargtypes::text, prorettype::text, provariadic::text, pronamespace::regnamespace::text from pg_proc "
                "where pronamespace <> 'w'::regnamespace order by proname, oid"):
            if any(re.search(pattern, name) for pattern, _ in EXCLUDED):
                continue
            shown = '"' + name + '"' if re.search(r"[^a-z0-9_]", name) else f'"{name}"'
            routine = Routine(shown if schema == "pg_catalog" else f"{schema}.{shown}", [self.names.get(oid, "text") for oid in arguments.split()],
                              self.names.get(result, "text"), returns_set == "t", variadic != "0", kind)
            (self.aggregates if kind == "a" else self.windows if kind == "w" else self.routines).append(routine)
        self.operators = [(name, self.names.get(left, ""), self.names.get(right, "")) for name, left, right in
                          rows("select oprname, oprleft::text, oprright::text from pg_operator order by oprname, oprleft, oprright")]
        self.operator_names = sorted({name for name, _, _ in self.operators})
        self.casts = [(self.names.get(source, "text"), self.names.get(target, "text")) for source, target in
                      rows("select castsource::text, casttarget::text from pg_cast order by 1, 2")]

    def name_of(self, oid):
        name, element, _, category = self.types[oid]
        if category == "A" and element in self.types and name.startswith("_"):
            return self.types[element][0] + "[]"
        return name


class Routine:
    def __init__(self, name, arguments, result, returns_set, variadic, kind):
        self.name, self.arguments, self.result, self.returns_set, self.variadic, self.kind = name, arguments, result, returns_set, variadic, kind

    def compared(self):
        return not OWN_ANSWERS.search(self.name.strip('"').split('"')[-1])


def quoted_list(words):
    return ", ".join(f"'{word}'" for word in words)


class Around:
    """Hands out a list in random order, again and again, so that nothing is left out."""

    def __init__(self, dice, items):
        self.dice, self.items, self.left = dice, list(items), []

    def next(self):
        if not self.left:
            self.left = self.items[:]
            self.dice.shuffle(self.left)
        return self.left.pop()


class Maker:
    def __init__(self, dice, catalog):
        self.dice, self.catalog = dice, catalog
        self.values = hostile.ValueMaker(dice)
        self.routines, self.aggregates = Around(dice, catalog.routines), Around(dice, catalog.aggregates)
        self.windows, self.operators, self.casts = Around(dice, catalog.windows or catalog.aggregates), Around(dice, catalog.operators), Around(dice, catalog.casts)
        self.pairs = Around(dice, [(left, right) for left in catalog.all_types for right in catalog.all_types])
        self.stored_in, self.run_by = Around(dice, hostile.STORED), Around(dice, [(runner, query) for runner in hostile.RUNNERS for query in hostile.QUERIES])
        self.kinds = [self.calls] * 8 + [self.operations] * 3 + [self.conversions] * 3 + [self.groups] * 3 + [self.stored] * 6 + [self.texts] * 3 + [self.all_pairs] * 2 + [self.pseudo_types, self.made_of] * 2

    def case(self):
        return self.dice.choice(self.kinds)()

    def concrete(self, wanted, element):
        """A type for a parameter of a polymorphic type."""
        dice = self.dice
        if dice.random() < 0.05:
            return dice.choice(self.catalog.all_types)
        if wanted in hostile.PSEUDO and dice.random() < 0.12:
            return wanted
        if wanted in ELEMENTS:
            return element if dice.random() < 0.8 else dice.choice(self.catalog.plain)
        if wanted in ARRAYS:
            return (element if dice.random() < 0.8 else dice.choice(self.catalog.plain)) + "[]"
        if wanted in RANGE:
            return dice.choice([RANGE[wanted], *(name for name in hostile.VALUES if name.endswith("multirange" if "multi" in wanted else "range") and (("multi" in name) == ("multi" in wanted)))])
        return wanted

    def arguments(self, routine, make):
        dice = self.dice
        element = dice.choice(["int4", "int4", "text", "numeric", "float8", "date", "mood", "pair", "jsonb", dice.choice(self.catalog.plain)])
        wanted = [self.concrete(name, element) for name in routine.arguments]
        if dice.random() < 0.02:
            wanted = wanted[:-1] if dice.random() < 0.5 else [*wanted, "int4"]
        made = [make(name) for name in wanted]
        if routine.variadic and made:
            if routine.arguments[-1] == "any":
                made += [make(dice.choice(self.catalog.plain)) for _ in range(dice.choice([0, 1, 3]))]
            if dice.random() < 0.7 and routine.arguments[-1] != "any":
                made[-1] = "variadic " + made[-1]
        return made

    def call(self, routine, make):
        return f"{routine.name}({', '.join(self.arguments(routine, make))})"

    def way(self):
        return self.dice.choice(["simple", "simple", "extended", "binary"])

    def calls(self):
        steps = []
        for _ in range(30):
            routine = self.routines.next()
            over = self.dice.random() < 0.3
            parameters = []
            make = self.values.expression if over else self.values.constant
            if self.dice.random() < 0.12:
                def make(name):  # noqa: F811
                    parameters.append(None if self.dice.random() < 0.1 else self.values.text_of(name))
                    return f"${len(parameters)}" + self.dice.choice(["", f"::{hostile.type_name(name)}"])
            made = self.call(routine, make)
            if routine.kind == "p":
                text = f"call {made}"
            elif routine.returns_set:
                text = self.dice.choice([f"select * from {made} as s limit 5", f"select {made} limit 5", f"select s from {made} s limit 5", f"select count(*) from (select * from {made} with ordinality limit 5) s", f"select case when true then {made} end limit 5", f"insert into kept (b) select ({made})::text limit 2",
                                         f"update kept set b = ({made})::text", f"select 1 limit ({made})", f"select 1 from kept order by {made} limit 5", f"select count({made}) from kept", f"values ({made})", f"select coalesce({made}, null) limit 5", f"select {made}, {made} limit 5", f"select 1 where {made} is null",
                                         f"select * from kept, lateral {made} s limit 5", f"select * from rows from ({made}, generate_series(1, 3)) limit 5", f"select 1 from kept group by {made} limit 5", f"select distinct on ({made}) 1 limit 5", f"delete from kept returning {made}", f"select row_number() over (order by {made}) limit 5"])
            elif over:
                text = self.dice.choice([f"select {made} from cells", f"select count(*) from cells where {made} is null", f"select 1 from cells group by {made}", f"select id from cells order by {made}", f"select distinct {made} from cells",
                                         f"select {made} from cells a join cells b using (id)" if "c_" not in made else f"select {made} is not distinct from {made} from cells"])
            else:
                text = self.dice.choice([f"select {made}", f"select {made}", f"select {made}", f"select * from {made} as s", f"select ({made})::text", f"values ({made}), (null)", f"select coalesce({made}, {made})", f"select array[{made}]", f"select row({made}, 1)", f"explain (verbose) select {made}",
                                         f"select case when {made} is null then {made} end", f"select 1 where {made} is not null", f"select ({made}).*", f"select pg_typeof({made})"])
            way = self.dice.choice(["extended", "binary"]) if parameters else self.way()
            steps.append(Step(text, way=way, compared=routine.compared() and way != "binary" and not text.startswith("explain"), parameters=tuple(parameters)))
        return steps

    def operation(self, make):
        name, left, right = self.operators.next()
        element = self.dice.choice(["int4", "text", "numeric"])
        one = make(self.concrete(left, element)) if left else ""
        two = make(self.concrete(right, element)) if right else ""
        if right.endswith("[]") and self.dice.random() < 0.1:
            return f"{one} operator(pg_catalog.{name}) {self.dice.choice(['any', 'all'])} ({two})"
        return f"({one} {name} {two})"

    def operations(self):
        steps = []
        for _ in range(30):
            made = self.operation(self.values.constant if self.dice.random() < 0.6 else self.values.expression)
            source = " from cells" if "c_" in made else ""
            steps.append(Step(self.dice.choice([f"select {made}{source}", f"select 1{source or ' from cells'} where {made} is not null", f"select count(*){source or ' from cells'} group by {made}", f"select max(id) from cells{' group by ' + made if source else ''} having ({made}) is null" if not source else f"select {made}{source} order by 1"]),
                              way=self.way()))
        return steps

    def conversions(self):
        steps = []
        for _ in range(30):
            source, target = self.casts.next() if self.dice.random() < 0.5 else (self.dice.choice(self.catalog.all_types), self.dice.choice(self.catalog.all_types))
            value, typed = self.values.expression(source), hostile.type_name(target)
            where = " from cells" if "c_" in value else ""
            steps.append(Step(self.dice.choice([f"select ({value})::{typed}{where}", f"select cast({value} as {typed}){where}", f"select ({value})::text::{typed}{where}", f"select ({value})::{typed}::text{where}",
                                                f"select array[{value}]::{typed}[]{where}", f"select to_jsonb(({value})::{typed}){where}", f"select ({value})::{typed}({self.dice.choice(['0', '1', '5', '-1', '10,3', '99999999'])}){where}",
                                                f"update cells set c_{target} = {value} where id = 1" if target in hostile.BASES else f"select {value}{where} union select null::{typed}",
                                                f"select {value}{where} intersect select {self.values.constant(target)}", f"select * from json_populate_record(null::pair, to_json(({value})::{typed})){where}" if not where else f"select ({value})::{typed} is null{where}"]), way=self.way()))
        steps.append(Step("rollback"))
        return steps

    def groups(self):
        steps = []
        for _ in range(20):
            window = self.dice.random() < 0.3
            routine = self.windows.next() if window else self.aggregates.next()
            made = self.arguments(routine, self.values.expression)
            words = ", ".join(made) if made or routine.kind == "w" else "*"
            order = self.dice.choice(["", "", f" order by {self.values.expression(self.dice.choice(self.catalog.plain))}"])
            inside = self.dice.choice(["", "", "distinct ", "all "]) if made else ""
            filtered = self.dice.choice(["", "", " filter (where id > 0)", " filter (where false)"])
            frame = self.dice.choice(["", f"partition by {self.values.expression(self.dice.choice(self.catalog.plain))}", "order by id", "order by id rows between 1 preceding and unbounded following", "order by id range between 1 preceding and current row exclude ties", "order by id groups 2 preceding",
                                      f"order by {self.values.expression('numeric')} range between {self.values.constant('numeric')} preceding and {self.values.constant('numeric')} following",
                                      f"order by {self.values.expression('timestamp')} range {self.values.constant('interval')} preceding"])
            call = f"{routine.name}({inside}{words}{order if made and not window else ''})"
            odd = [f"select 1 from cells where {call} is null", f"select max({call}) from cells", f"select 1 from cells group by {call}", f"select (select {call} from kept limit 1) from cells", f"update kept set b = ({call})::text", f"select {call}{filtered} from cells group by rollup (id)",
                   f"select {call} from cells having {call} is null", f"select 1 from cells order by {call}", f"select {call}", f"insert into kept (b) values (({call})::text)", f"select {call} from cells limit {call}", f"select * from kept, lateral (select {call}) s", f"delete from kept returning {call}"]
            text = [f"select {call}{filtered} from cells", f"select {call}{filtered} from cells group by id", f"select {call} from cells where false", f"select {routine.name}({words}) within group (order by {self.values.expression(self.dice.choice(self.catalog.plain))}) from cells",
                    f"select {routine.name}({words}){filtered} over ({frame}) from cells"]
            steps.append(Step(self.dice.choice(odd) if self.dice.random() < 0.15 else text[4] if window else self.dice.choice(text), way=self.way(), compared=not order))
        return steps

    def stored(self):
        """An expression in a place that keeps it, and writes through it."""
        dice, column = self.dice, "\0"
        kind = dice.choice(self.catalog.plain if dice.random() < 0.7 else self.catalog.all_types)
        for _ in range(60):
            if dice.random() < 0.6:
                routine = self.routines.next()
                if routine.kind != "f" or routine.returns_set or not routine.arguments or routine.result in ("void", "trigger", "internal"):
                    continue
                place = dice.randrange(len(routine.arguments))
                kind = self.concrete(routine.arguments[place], kind)
                made = self.arguments(routine, self.values.constant)
                if place < len(made):
                    made[place] = column
                made = f"{routine.name}({', '.join(made)})"
            elif dice.random() < 0.5:
                name, left, right = self.operators.next()
                if not left:
                    continue
                kind = self.concrete(left, "int4")
                made = f"({column} {name} {self.values.constant(self.concrete(right, kind)) if dice.random() < 0.7 else column})"
            else:
                made = dice.choice([f"{column}::{hostile.type_name(dice.choice(self.catalog.plain))}", f"({column})", f"array[{column}]", f"row({column})", f"coalesce({column}, {column})", f"({column} = {column})", f"({column} is distinct from null)", f"{column}::text::{hostile.type_name(kind)}",
                                    f"greatest({column}, {self.values.constant(kind)})", f"({column} in ({self.values.constant(kind)}, null))", f"one() + length({column}::text)", f"case {column} when {self.values.constant(kind)} then 1 end", f"({column} collate \"C\")", f"({column}).a", f"({column})[1]"])
            break
        filled = {"t": hostile.type_name(kind), "e": made.replace(column, "c"), "d": made.replace(column, "value"), "k": made.replace(column, self.values.constant(kind)), "p": made.replace(column, "$1"),
                  "n": made.replace(column, "new.c"), "v": self.values.constant(kind)}

        def fill(text):
            filled["v"] = self.values.constant(kind)
            return re.sub(r"\{([tedkpnv])\}", lambda found: filled[found.group(1)], text)

        place = fill(self.stored_in.next())
        steps = [Step(place)] if "$$" in place or "atomic" in place else [Step(text) for text in place.split("; ")]
        steps += [Step(fill(text), way=self.way(), compared="explain" not in text) for text in dice.sample(hostile.WRITES, 7)]
        if dice.random() < 0.06:
            steps.append(survival.KILL)
            steps += [Step(fill(text)) for text in hostile.WRITES[:5]]
        return steps + [Step(text, compared=False) for text in hostile.FORGET]

    def texts(self):
        steps = []
        for _ in range(12):
            runner, query = self.run_by.next()
            steps.append(Step("begin", compared=False))
            literal = hostile.quoted(query)
            # Inside a body that is quoted with dollars the literal needs no more quotes.
            steps += [Step(runner.replace("{q}", literal), compared="xml" not in runner), Step("rollback", compared=False)]
            if self.dice.random() < 0.3:
                steps += [Step(runner.replace("{q}", literal), compared=False), Step("rollback", compared=False), Step("set search_path = w, public", compared=False)]
        steps += [Step(survival.SESSION, compared=False)]
        return steps

    def all_pairs(self):
        """Every operator over some pairs of types, parsed only."""
        texts = []
        for _ in range(4):
            left, right = self.pairs.next()
            for name in self.catalog.operator_names:
                texts.append(f"select null::{hostile.type_name(left)} {name} null::{hostile.type_name(right)}")
        for _ in range(40):
            left, right = self.pairs.next()
            one, two = (f"null::{hostile.type_name(name)}" for name in (left, right))
            texts += [f"select coalesce({one}, {two})", f"select {one} is distinct from {two}", f"select {one} in ({two})", f"select array[{one}, {two}]", f"select {one} = any ({two})", f"select {one}::{hostile.type_name(right)}",
                      f"select {one} union select {two}", f"select {one} between {two} and {one}", f"select nullif({one}, {two})", f"select greatest({one}, {two})", f"select case {one} when {two} then 1 end", f"select ({one})[{two}]",
                      f"select row({one}) < row({two})", f"select x from (values ({one}), ({two})) v(x) order by x"]
        return [Step("\n".join(texts), way="parses")]

    def made_of(self):
        """Aggregates, operators, casts, ranges and triggers that are made of routines of the catalog."""
        dice, steps = self.dice, []
        for _ in range(8):
            routine = self.routines.next()
            types = [self.concrete(name, dice.choice(["int4", "text", "numeric"])) for name in routine.arguments]
            if routine.result == "trigger":
                steps += [Step(text, compared=False) for text in (
                    f"create trigger z {dice.choice(['before', 'after'])} insert or update or delete on kept for each {dice.choice(['row', 'row', 'statement'])} execute function {routine.name}({dice.choice(['', quoted_list(['a', 'b'])])})",
                    "insert into kept values (5, 'x')", "update kept set b = 'y'", "delete from kept where a = 5", "drop trigger if exists z on kept")]
                continue
            if not types or routine.returns_set:
                continue
            names = [hostile.type_name(name) for name in types]
            state, rest, first = names[0], ", ".join(names[1:]) or "*", self.values.constant
            other = self.routines.next()
            made = [
                (f"create aggregate z({rest}) (sfunc = {routine.name}, stype = {state}{dice.choice(['', ', initcond = ' + hostile.quoted(self.values.text_of(types[0]))])}{dice.choice(['', f', finalfunc = {other.name}', f', combinefunc = {routine.name}', ', parallel = safe'])})",
                 [f"select z({', '.join(map(self.values.expression, types[1:])) or '*'}) from cells", f"select z({', '.join(map(self.values.expression, types[1:])) or '*'}) over (order by id) from cells", f"select z(distinct {', '.join(map(self.values.expression, types[1:])) or '*'}) from cells group by id"], f"drop aggregate if exists z({rest})"),
                (f"create operator ### (function = {routine.name}, {'rightarg = ' + names[0] if len(names) == 1 else 'leftarg = ' + names[0] + ', rightarg = ' + names[1]}{dice.choice(['', ', commutator = ###', ', negator = ##@', ', hashes, merges', ', restrict = eqsel, join = eqjoinsel'])})",
                 [f"select {first(types[0]) if len(types) > 1 else ''} ### {first(types[-1])}", f"select 1 from cells where ({first(types[0]) if len(types) > 1 else ''} ### {first(types[-1])}) is null"], f"drop operator if exists ### ({'none, ' + names[0] if len(names) == 1 else ', '.join(names[:2])})"),
                (f"create cast ({names[0]} as {hostile.type_name(routine.result)}) with function {routine.name}({', '.join(names)}) {dice.choice(['', 'as assignment', 'as implicit'])}",
                 [f"select {first(types[0])}::{hostile.type_name(routine.result)}", f"update cells set c_{routine.result} = {first(types[0])}", f"select coalesce({first(types[0])}, {first(routine.result)})"], f"drop cast if exists ({names[0]} as {hostile.type_name(routine.result)})"),
                (f"create type z as range (subtype = {names[0]}{dice.choice(['', f', subtype_diff = {routine.name}', ', collation = pg_catalog.' + chr(34) + 'C' + chr(34), f', canonical = {routine.name}'])})",
                 [f"select z({first(types[0])}, {first(types[0])})", f"select '[{self.values.text_of(types[0]).replace(chr(39), '')},)'::z && 'empty'::z", f"create table s (a z, exclude using gist (a with &&)); insert into s values (z({first(types[0])}, null)), ('(,)'); select * from s order by a; drop table s", f"select range_agg(z({first(types[0])}, null))"], "drop type if exists z cascade"),
                (f"create function z({', '.join(f'a{number} {name} default {first(kind)}' for number, (name, kind) in enumerate(zip(names, types)))}) returns {hostile.type_name(routine.result)} language {dice.choice(['sql', 'sql immutable', 'sql strict'])} as $$ select {routine.name}({', '.join(f'${number + 1}' for number in range(len(names)))}) $$",
                 ["select z()", f"select z({first(types[0])})", f"select z(a0 => {first(types[0])})", "select * from z()", f"select z(c_{types[0]}) from cells"], "drop function if exists z"),
                (f"create function z(x {dice.choice(['anyelement', 'anyarray', 'anyrange', 'anycompatible', 'anyenum', 'anymultirange', names[0]])}, y {dice.choice(['anyelement', 'anyarray', 'anycompatible', 'anycompatiblearray', 'anyrange', names[0]])}) returns {dice.choice(['anyelement', 'anyarray', 'anycompatible', 'anyrange', 'setof anyelement', 'text', 'record'])} language {dice.choice(['sql', 'plpgsql'])} as {dice.choice(['$$ select x $$', '$$ select array[x] $$', '$$ begin return x; end $$', '$$ select x || y $$', '$$ declare z x%type; begin z := y; return z; end $$'])}",
                 [f"select z({first(types[0])}, {first(types[0])})", "select z(null, null)", "select z(1, array[2])", f"select z(c_{types[0]}, {first(dice.choice(self.catalog.all_types))}) from cells", "select z('[1,2]'::int4range, 3)", f"select * from z(null::{hostile.type_name(dice.choice(hostile.PSEUDO))}, 1)", "select z('low'::mood, null)"], "drop function if exists z"),
            ]
            create, uses, drop = dice.choice(made)
            steps += [Step(create, compared=False), *(Step(text, way=self.way(), compared=False) for text in uses), Step(drop, compared=False)]
        return steps

    def pseudo_types(self):
        """Routines and other statements over pseudo-types."""
        dice, steps = self.dice, []
        name = lambda: hostile.type_name(dice.choice(hostile.PSEUDO))  # noqa: E731
        for _ in range(25):
            routine = self.routines.next()
            made = ", ".join(f"null::{name()}" for _ in routine.arguments)
            steps.append(Step(dice.choice([
                f"select {routine.name}({made})", f"select {routine.name}({made})", f"select * from {routine.name}({made}) s", f"select max(null::{name()})", f"select null::{name()} from cells order by 1", f"select distinct null::{name()}", f"create temp table z (a {name()}); drop table z",
                f"create domain z as {name()}", f"create type z as (a {name()})", f"create type z as range (subtype = {name()})", f"create aggregate z({name()}) (sfunc = array_append, stype = {name()})", f"create function z({name()}) returns {name()} language sql as 'select $1'",
                f"create function z(x {name()}, out y {name()}) language plpgsql as 'begin y := x; end'", f"prepare z({name()}) as select $1; execute z(null); deallocate z", f"select array[null::{name()}]", f"select row(null::{name()})", f"select pg_typeof(null::{name()})", f"select null::{name()} is null",
                f"select to_jsonb(null::{name()})", f"copy (select null::{name()}) to stdout", f"create view z as select null::{name()} as a", f"declare z cursor with hold for select null::{name()}; fetch z; close z", f"do $$ declare x {name()}; begin x := null; raise notice '%', x; end $$",
                f"select lag(null::{name()}) over ()", f"select x.a from (select null::{name()} as a) x group by 1", f"select null::{name()}::text", f"select 'a'::{name()}", f"select json_populate_record(null::{name()}, '{{}}')", f"select unnest(null::{name()})", f"create cast ({name()} as {name()}) without function",
                f"create operator ### (leftarg = {name()}, rightarg = {name()}, function = range_eq)", f"select null::{name()}[]", f"select format('%s', null::{name()})", f"select null::{name()} union select null::{name()}", f"alter table cells add column z {name()}"]),
                way=self.way(), compared=False))
        return steps
