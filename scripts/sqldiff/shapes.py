"""Random statements of shapes in which what a name, a row or a call means depends on where it stands:
recursion through WITH queries, aggregates of an enclosing query, calls that return sets within one
another, VARIADIC arrays, keys of mixed types, and ALTER of every kind."""
from pieces import Piece, Series

EDGES = "(values (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1)) e(a, b)"
AGGREGATES = ["sum({})", "count({})", "max({})", "count(distinct {})", "sum({} order by {} desc)", "array_agg({} order by {})",
              "count(*)", "string_agg({}::text, ',' order by {})", "percentile_cont(0.5) within group (order by {})"]
SETS = ["generate_series(1, {})", "generate_series({}, 3)", "unnest(array[{}, 7])", "unnest(array[[1, {}], [3, 4]])",
        "generate_series({}, {})", "string_to_table(concat({}, ',b'), ',')::text || ''", "abs(generate_series(-1, {}))",
        "generate_subscripts(array[{}, 5], 1)", "jsonb_array_elements_text(jsonb_build_array({}, 'x'))::text"]
ARRAYS = ["array[1, 2]", "array['a', null, 'c']", "'{}'::text[]", "null::int[]", "array[[1, 2], [3, 4]]", "array[1.50, null]",
          "array['2020-02-29'::date]", "array[true, false]", "'{a,1}'::text[]", "array[row(1, 'x')]", "array['{\"a\":1}'::json]", "'x'", "1", "null"]
TAKERS = ["concat({})", "concat_ws('-', {})", "format('%s|%s|%s', {})", "num_nulls({})", "num_nonnulls({})", "json_build_array({})",
          "jsonb_build_array({})", "json_build_object({})", "jsonb_build_object({})", "concat('x', {})", "format('%2$s %1$s', {})",
          "num_nulls(1, {})", "json_build_array('k', {})"]
KEY_TYPES = [["int", "bigint", "smallint", "numeric", "float8", "float4", "numeric(6,2)"], ["text", "varchar(5)", "char(4)", "name"],
             ["date", "timestamp", "timestamptz"], ["time", "interval", "timetz"], ["bool", "uuid"]]
KEY_VALUES = {0: ["1", "2", "1.0", "2.50", "null", "-1", "32768", "1e0", "0.1", "3000000000"], 1: ["'a'", "'a '", "'ab'", "''", "null", "'abcdef'"],
              2: ["'2020-01-01'", "'2020-01-01 12:00'", "'infinity'", "null", "'2020-02-29'"], 3: ["'10:00'", "'00:00'", "null", "'24:00'"],
              4: ["true", "'00000000-0000-4000-8000-000000000001'", "null"]}


class ShapeMaker:
    def __init__(self, random):
        self.random = random

    def statement(self):
        """A query, and whether its rows come in one order."""
        make = self.random.choice([self._recursive, self._recursive, self._outer_aggregate, self._outer_aggregate, self._sets, self._sets,
                                   self._variadic])
        return make(), False

    # ---- recursion

    def _recursive(self):
        random = self.random
        if random.random() < 0.25:
            inner = self._recursion("r", "o.a, o.b", random.randint(0, 1))
            return Piece("query", "select o.a, (", inner, " select ", random.choice(["count(*)", "max(x)", "string_agg(y::text, ',' order by y, x)"]),
                         f" from r) from {EDGES.replace(' e(', ' o(')}")
        body = self._recursion("r", None, random.randint(0, 2))
        last = random.choice(["select * from r", "select x, count(*) from r group by x", "select r.x, s.y from r join r s on r.x = s.y and r.d = s.d",
                              "select * from r where x in (select y from r)", "select y, (select max(x) from r i where i.y = r.y) from r",
                              "(select * from r) union all (select * from r)", "select * from r where exists (select 1 from r i where i.x > r.x)"])
        return Piece("query", body, " ", last)

    def _recursion(self, name, outside, depth):
        """WITH RECURSIVE name(x, y, d): d ends it."""
        random = self.random
        columns = ["a", "b"] if outside is None else outside.split(", ")
        x, y = random.choice(columns), random.choice(columns)
        source = "" if outside else f" from {EDGES}" + random.choice(["", " where a = 1", " where b > 3", " where a = b"])
        first = Piece("query", f"select {x}, {y}, 0{source}")
        if depth > 0 and random.random() < 0.3:
            first = Piece("query", "(", self._recursion("f", outside, depth - 1), " select x, y, 0 from f)")
        with_both = ""
        if random.random() < 0.15:
            with_both = Piece("clause", "with both_parts as (select 1 as one) ", optional=True)
        union = random.choice(["union all", "union"])
        bound = random.randint(1, 3)
        return Piece("with", f"with recursive {name}(x, y, d) as (", with_both, first, f" {union} ", self._term(name, bound, depth), ")")

    def _term(self, name, bound, depth):
        random = self.random
        x, y = random.choice(["x", "y", "x + 1", "1"]), random.choice(["x", "y", "y - 1"])
        plain = f"select {x}, {y}, d + 1 from {{}} where d < {bound}"
        joined = f"select {random.choice(['q.x', 'q.y', 'e.b'])}, {random.choice(['q.x', 'q.y', 'e.b'])}, d + 1 from {{}} q join {EDGES} on e.a = " \
                 f"{random.choice(['q.x', 'q.y'])} where d < {bound}"
        distinct = f"select distinct {x}, {y}, d + 1 from {{}} where d < {bound}"
        term = random.choice([plain, joined, joined, distinct])
        way = random.random()
        if way < 0.35:
            return Piece("query", term.format(name))
        if way < 0.6:
            kept = random.choice(["", " materialized", " not materialized"])
            return Piece("query", f"(with w as{kept} (select * from {name}) ", term.format("w"), random.choice([
                "", " and x in (select y from w)", " and exists (select 1 from w i where i.y = 1)", " and y <= (select max(x) from w)"]), ")")
        if way < 0.7:
            return Piece("query", f"(with w as (select * from {name}), v as (select x, y, d from w where x > 0) ", term.format("v"), ")")
        if way < 0.8:
            return Piece("query", term.format(f"(select * from {name} order by 1, 2, 3 limit 5) s") if "join" not in term and "q." not in term
                         else term.format(name))
        if way < 0.9 and depth > 0:
            # Recursion over the previous round's rows.
            return Piece("query", f"(with recursive i(x, y, d) as (select x, y, d from {name} union all select x + 1, y, d from i where x < 3) "
                         f"select x, y, d + 1 from i where d < {bound})")
        return Piece("query", f"select l.x, l.y, {name}.d + 1 from {name}, lateral (select {name}.y as x, b as y from {EDGES} where a = {name}.x) l "
                     f"where {name}.d < {bound}")

    # ---- aggregates of an enclosing query

    def _outer_aggregate(self):
        random = self.random
        source = "(values (1, 'a', 10), (1, 'b', 20), (2, 'a', 5), (2, 'c', null), (3, null, 7)) o(g, t, n)"
        inner = "(values (1, 2), (2, 4), (3, null)) i(k, m)"
        columns = random.choice([["o.n"], ["o.n", "o.g"], ["o.n", "i.m"], ["i.m", "i.k"]])
        conditions = ["o.n > 5", "o.t = 'a'", "i.k < 3", "o.n > i.k", "o.t is not null", "true", "o.g = i.k", "(select o.n > 5)",
                      "exists (select 1 from (values (1)) z(z) where z = o.g)", "o.g in (select 1)"]
        # An order is whole: equal values look alike.
        value = random.choice(columns)
        call = random.choice(AGGREGATES).replace("{}", value)
        aggregate = Piece("=x", call, Piece("clause", f" filter (where {random.choice(conditions)})", optional=True)
                          if random.random() < 0.7 else "")
        inside = Piece("query", "select ", aggregate, random.choice(["", f" from {inner} where i.k = 1", f" from {inner} limit 1", f" from {inner}"]))
        if random.random() < 0.2:
            inside = Piece("query", "select (", inside, f") from {inner} where k = 2")
        grouped = random.random() < 0.7
        place = random.choice(["list", "list", "list", "having", "order"])
        head = "select " + ("g" if grouped else "1")
        tail = " group by g" if grouped else ""
        if place == "having":
            return Piece("query", f"{head} from {source}{tail} having (", inside, ") is not null")
        if place == "order":
            return Piece("query", f"{head} from {source}{tail} order by (", inside, ")")
        return Piece("query", head, ", (", inside, f") as v from {source}{tail}")

    # ---- calls that return sets

    def _set(self, depth):
        random = self.random
        template = random.choice(SETS[:6] if depth > 0 else SETS)
        parts = []
        for number, text in enumerate(template.split("{}")):
            if number:
                numeric = depth > 0 and random.random() < 0.5
                parts.append(self._set_number(depth - 1) if numeric else random.choice(["n", "id", "2", "1", "3"]))
            parts.append(text)
        return Piece("=set", *parts)

    def _set_number(self, depth):
        random = self.random
        inside = self._set_number(depth - 1) if depth > 0 and random.random() < 0.4 else random.choice(["n", "id", "2"])
        return Piece("=setn", random.choice(["generate_series(1, ", "generate_series(0, "]), inside, ")")

    def _sets(self):
        random = self.random
        source = "(values (1, 2), (2, 1), (3, 0), (4, null)) l(id, n)"
        sets = [self._set(random.randint(0, 2)) for _ in range(random.choice([1, 1, 2, 3]))]
        targets = [Piece("target", made, f" as s{number}") for number, made in enumerate(sets)]
        way = random.random()
        if way < 0.3:
            names = [f"s{number}" for number in range(len(sets))]
            keys = random.choice([", ".join(names), ", ".join(str(n + 1) for n in range(len(sets)))])
            return Piece("query", "select ", Series(", ", tuple(targets)), ", count(*), sum(id) from ", source, f" group by {keys}")
        if way < 0.4:
            return Piece("query", "select ", Series(", ", tuple(targets)), ", n, count(*) from ", source, " group by n, s0")
        if way < 0.55:
            every = ", ".join(str(n + 1) for n in range(len(sets) + 1))
            return Piece("query", "select distinct on (s0) ", Series(", ", tuple(targets)), f", id from {source} order by {every}")
        if way < 0.65:
            return Piece("query", "select id from ", source, " order by ", sets[0])
        if way < 0.75:
            every = ", ".join(str(n + 1) for n in range(len(sets) + 1))
            return Piece("query", "select id, ", Series(", ", tuple(targets)), f" from {source} order by {every} limit {random.randint(1, 5)}")
        if way < 0.8:
            return Piece("query", "select distinct ", Series(", ", tuple(targets)), f" from {source}")
        if way < 0.87:
            return Piece("query", "select row_number() over (order by id), ", Series(", ", tuple(targets)), f" from {source}")
        if way < 0.93:
            return Piece("query", "select max(id), ", Piece("=set", "generate_series(1, ", random.choice(["count(*)", "max(n)", "3"]), ")"),
                         f" from {source}", random.choice(["", " group by n", " group by n, generate_series(1, 2)"]))
        return Piece("query", "select id, n, ", Series(", ", tuple(targets)), f" from {source}")

    # ---- VARIADIC

    def _variadic(self):
        random = self.random
        call = random.choice(TAKERS).format("variadic " + random.choice(ARRAYS))
        if random.random() < 0.2:
            call = call.replace("variadic ", "")
        return Piece("query", f"select {call}")

    # ---- sessions: keys of mixed types, ALTER

    def session(self):
        return self.random.choice([self._mixed_keys, self._alters, self._alters])()

    @staticmethod
    def _steps(setup, steps, ends):
        # Objects that a case leaves behind go with its schema.
        before = ["drop schema if exists shapes cascade", "create schema shapes", "set search_path = shapes"]
        after = ["drop schema shapes cascade", "reset search_path"]
        return Series(";\n", tuple([Piece("fixed", text) for text in before + setup] + [Piece("step", step, optional=True) for step in steps] +
                                   [Piece("fixed", text) for text in ends + after]))

    def _mixed_keys(self):
        random = self.random
        family = random.randrange(len(KEY_TYPES))
        here, there = random.choice(KEY_TYPES[family]), random.choice(KEY_TYPES[random.choice([family, family, family, 0])])
        action = random.choice(["", " on delete cascade", " on update cascade", " on delete set null on update cascade"])
        setup = [f"create table mp (k {here} primary key, v int)",
                 f"create table mc (id int primary key, k {there} references mp{action})"]
        steps = []
        for number in range(random.randint(4, 10)):
            value = random.choice(KEY_VALUES[family])
            steps.append(random.choice([
                f"insert into mp values ({value}, {number})", f"insert into mp values ({value}, {number})", f"insert into mc values ({number}, {value})",
                f"insert into mc values ({number}, {value})", f"delete from mp where k = {value}", f"update mp set k = {value} where v = {number % 4}",
                f"update mc set k = {value} where id = {number % 4}", "select mp.k, id from mp join mc on mp.k = mc.k order by id",
                "select count(*) from mp where k in (select k from mc)", "delete from mp", f"create index on mc (k)",
                "select id from mc where not exists (select 1 from mp where mp.k = mc.k) order by id"]))
        return self._steps(setup, steps, ["select k, v from mp order by v", "select id, k from mc order by id"])

    def _alters(self):
        random = self.random
        setup = ["create table ar (id int primary key)", "insert into ar values (1), (2)",
                 "create table al (id int primary key, a int default 5, b text, c numeric(6,2) not null default 0)",
                 "insert into al values (1, 1, 'x', 1.5), (2, 2, '7', 2), (3, null, null, 3)"]
        if random.random() < 0.5:
            setup.append(random.choice(["create view av as select id, b from al", "create view av as select id, a, b, c from al where id > 1",
                                        "create view av as select id, b, count(*) as n from al group by id", "create view av as select * from al"]))
        parts = ["add column d int", "add column d int default 4", "add column d text not null default 'n'", "add column d int not null",
                 "add column d int generated always as (a + 1) stored", "add column if not exists a int", "add column xmin int", "add column d int unique",
                 "add column d int references ar", "add column d int check (d > 0)", "drop column a", "drop column b cascade",
                 "drop column if exists zz", "drop column id", "drop column id cascade", "alter a type bigint", "alter a type text", "alter b type int using b::int",
                 "alter a type numeric(5,1) using a * 1.25", "alter b type int", "alter c type int", "alter b type varchar(1)", "alter id type bigint",
                 "alter a set default 9", "alter a drop default", "alter a set not null", "alter a drop not null", "alter c drop not null", "alter id drop not null",
                 "alter c set default 'x'", "add constraint k1 check (a > 0)", "add constraint k1 check (a > 1) not valid", "add constraint k2 unique (a)",
                 "add constraint k3 foreign key (a) references ar", "add constraint k3 foreign key (a) references ar not valid", "validate constraint k1",
                 "validate constraint k3", "drop constraint k1", "drop constraint if exists k2", "drop constraint al_pkey", "drop constraint al_pkey cascade",
                 "add primary key (a)", "add constraint k4 unique (b, a)", "alter a add generated always as identity", "alter c add generated by default as identity",
                 "alter id add generated by default as identity", "alter id drop identity if exists", "alter d drop expression if exists",
                 "alter b set statistics 5", "set (fillfactor = 70)", "alter a set storage plain", "rename constraint al_pkey to pk"]
        others = ["alter table al rename a to a2", "alter table al rename column b to xmax", "alter table al rename to al2", "alter table al2 rename to al",
                  "alter view av alter id set default 77", "alter view av alter b set default 'vd'", "alter view av alter b drop default",
                  "alter view av rename b to bb", "insert into av (id) values (50)", "insert into av (id, b) values (51, default)", "alter table av add column z int",
                  "alter index al_pkey rename to pk", "create index ai on al (a)", "drop index ai", "drop index concurrently ai", "alter sequence al_d_seq restart with 10",
                  "insert into al (id) values (10)", "insert into al (id, b) values (11, 'y'), (12, 'z')", "update al set a = 3 where id = 1", "delete from al where id = 2",
                  "create table al3 (like al including all, id int)", "create temp table al4 (x, y) as select 1, 2, 3", "select * from av order by 1", "alter view av rename to av",
                  "create or replace view av as select id, b, a from al"]
        steps = []
        for _ in range(random.randint(3, 9)):
            if random.random() < 0.35:
                steps.append(random.choice(others))
            else:
                steps.append("alter table al " + ", ".join(random.sample([part for part in parts if not part.startswith("rename")], random.choice([1, 1, 1, 2, 3]))))
        return self._steps(setup, steps, ["select * from al order by 1", "select * from av order by 1", "select conname, contype from pg_constraint where contype <> 'n' and conrelid = "
                                          "to_regclass('al') order by 1", "select attname, format_type(atttypid, atttypmod), attnotnull, atthasdef from pg_attribute "
                                          "where attrelid = to_regclass('al') and attnum > 0 and not attisdropped order by attnum"])
