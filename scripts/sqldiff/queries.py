"""Random SELECTs over random tables. Their answers do not depend on the order of rows: what is
limited is ordered by every column, what is grouped has one look for equal values."""
import servers
from expressions import COMMON, NUMBERS, Expressions, Scope, settled
from pieces import Piece, Series
from tables import Table

JOINS = ["join", "join", "left join", "left join", "right join", "full join"]
SORTED = ["", " desc", " nulls first", " desc nulls last", " asc nulls last"]


class QueryMaker:
    def __init__(self, random, tables):
        self.random = random
        self.tables = tables
        self.expressions = Expressions(random)
        self.expressions.subquery = self.subquery
        self.names = 0
        self.known = []  # WITH queries in scope: tables by another name

    def name(self, stem="a"):
        self.names += 1
        return f"{stem}{self.names}"

    def types(self, most=4):
        return [self.random.choice(COMMON) for _ in range(self.random.randint(1, most))]

    # ---- FROM

    def item(self, depth, scope, lateral):
        """A FROM item: the piece, its columns, and a list that orders its rows wholly, if there is one."""
        random = self.random
        alias = self.name()
        kind = random.random()
        if depth > 0 and kind < 0.2:
            types = self.types()
            outer = scope if lateral else scope.outer
            query = self.query(types, outer, depth - 1)
            names = [f"c{n}" for n in range(len(types))]
            word = "lateral " if lateral else ""
            if servers.ORACLE >= 18 and random.random() < 0.3:
                names = [f"{alias}{name}" for name in names]
                return (Piece("item", f"{word}(select * from (", query, f") {alias}({', '.join(names)}))"),
                        list(zip(names, types)), None)
            return (Piece("item", f"{word}(", query, f") {alias}({', '.join(names)})"),
                    [(f"{alias}.{name}", kind) for name, kind in zip(names, types)], None)
        if depth > 0 and kind > 0.93:
            # A join in parentheses: it may be the right side of another.
            piece, inner, order = self.source(depth - 1, scope.outer)
            if isinstance(piece.parts[0], Piece):
                piece = Piece("item", "(", piece, ")")
            return piece, inner.columns, order
        if kind < 0.25:
            return (Piece("item", f"generate_series(1, {random.randint(0, 6)}) {alias}(g)"), [(f"{alias}.g", "int4")],
                    [f"{alias}.g"])
        if kind < 0.28:
            array = self.expressions.make("int4[]", scope if lateral else Scope([]), 1)
            return (Piece("item", "unnest(", array, f") with ordinality {alias}(u, o)"),
                    [(f"{alias}.u", "int4"), (f"{alias}.o", "int8")], None)
        if servers.ORACLE >= 18 and kind < 0.3:
            document = self.expressions.make("jsonb", scope if lateral else Scope([]), 1)
            error = random.choice(["", " error on error", " null on empty", " default 5 on error"])
            return (Piece("item", "json_table(", document, f", '{random.choice(['$[*]', '$', '$.a[*]', '$.*'])}' columns (o for ordinality, a int{error}, "
                          f"b text path '$.b', j jsonb path '$' with wrapper, e bool exists path '$.a', nested path '$.a[*]' columns (v text path '$'))) {alias}"),
                    [(f"{alias}.o", "int4"), (f"{alias}.a", "int4"), (f"{alias}.b", "text"), (f"{alias}.j", "jsonb"), (f"{alias}.e", "bool"), (f"{alias}.v", "text")], None)
        if kind < 0.32:
            types = self.types(3)
            names = [f"v{n}" for n in range(len(types))]
            return (Piece("item", "(", self.values(types), f") {alias}({', '.join(names)})"),
                    [(f"{alias}.{name}", kind) for name, kind in zip(names, types)], None)
        if self.known and kind < 0.5:
            table = random.choice(self.known)
            return (Piece("item", f"{table.name} {alias}"),
                    [(f"{alias}.{name}", kind) for name, kind in table.columns], None)
        table = random.choice(self.tables)
        columns = [(f"{alias}.{name}", kind) for name, kind in table.columns + table.virtual]
        if not table.is_view and random.random() < 0.1:
            # Every row has these; their values are the server's own.
            columns += [(f"({alias}.xmin is not null)", "bool"), (f"({alias}.ctid >= '(0,0)')", "bool")]
        return Piece("item", f"{table.name} {alias}"), columns, [f"{alias}.id"]

    def values(self, types):
        rows = []
        for _ in range(self.random.randint(1, 4)):
            # Typed in every row: a column of unknown literals alone would be text.
            rows.append(Piece("row", "(", *self._commas([Piece("=" + t, self.expressions.literal(t), f"::{t}") for t in types]), ")"))
        return Piece("query", "values ", Series(", ", rows))

    @staticmethod
    def _commas(pieces):
        return [part for piece in pieces for part in (", ", piece)][1:]

    def source(self, depth, outer):
        """FROM: the piece, the scope and the order of all its rows, if there is one."""
        random = self.random
        scope = Scope([], outer)
        piece, columns, order = self.item(depth, scope, False)
        scope.columns += columns
        for _ in range(random.choice([0, 0, 1, 1, 1, 2, 3]) if depth > 0 else random.choice([0, 0, 1])):
            lateral = random.random() < 0.15
            right, columns, more = self.item(depth - 1, scope, lateral)
            before = list(scope.columns)
            scope.columns += columns
            order = order + more if order and more else None
            kind = random.choice(JOINS)
            if lateral and kind in ("right join", "full join"):
                kind = "left join"
            if random.random() < 0.15:
                piece = Piece("item", piece, " cross join ", right)
                continue
            if kind in ("right join", "full join", "left join"):
                order = None
            condition = self._condition(before, columns, scope, kind, depth)
            piece = Piece("item", piece, f" {kind} ", right, " on ", condition)
        return piece, scope, order

    def sources(self, depth, outer):
        """The same with commas."""
        piece, scope, order = self.source(depth, outer)
        if depth > 0 and self.random.random() < 0.12:
            right, columns, more = self.item(depth - 1, scope, self.random.random() < 0.15)
            scope.columns += columns
            order = order + more if order and more else None
            piece = Piece("items", piece, ", ", right)
        return piece, scope, order

    def _condition(self, left, right, scope, kind, depth):
        random = self.random
        pairs = [(a, b) for a, t in left for b, u in right if t == u or (t in NUMBERS and u in NUMBERS)]
        # Only an equality can be a FULL JOIN's condition.
        inner = Scope(left + right, scope.outer)
        if pairs and (kind == "full join" or random.random() < 0.85):
            a, b = random.choice(pairs)
            condition = Piece("=bool", f"{a} = {b}")
            if random.random() < 0.3 and kind != "full join":
                condition = Piece("=bool", condition, " and ", self.expressions.make("bool", inner, min(depth, 1)))
            return condition
        if kind == "full join":
            return Piece("=bool", f"{left[0][0]}::text = {right[0][0]}::text")
        return self.expressions.make("bool", inner, min(depth, 1))

    # ---- SELECT

    def query(self, types, outer, depth, ordered=False):
        """A query with columns of these types. An ordered one comes in one order alone."""
        random = self.random
        way = random.random()
        if depth > 0 and way < 0.12:
            return self._set_operation(types, outer, depth)
        if way < 0.15:
            return self.values(types)
        if way < 0.45:
            body = self._grouped(types, outer, depth)
        elif way < 0.55:
            body = self._windowed(types, outer, depth)
        elif way < 0.6:
            return self._distinct_on(types, outer, depth)
        else:
            body = self._plain(types, outer, depth)
        if ordered or random.random() < 0.15:
            return Piece("query", body, self.order(types), self._limit())
        return body

    def order(self, types):
        numbers = list(range(1, len(types) + 1))
        self.random.shuffle(numbers)
        return Piece("clause", " order by " + ", ".join(f"{n}{self.random.choice(SORTED)}" for n in numbers))

    def _limit(self):
        random = self.random
        text = ""
        if random.random() < 0.6:
            text += random.choice([f" limit {random.randint(0, 10)}", f" fetch first {random.randint(1, 5)} rows only"])
        if random.random() < 0.3:
            text = (f" offset {random.randint(0, 5)}" + text)
        return Piece("clause", text, optional=True)

    def _where(self, scope, depth):
        if self.random.random() < 0.3:
            return ""
        return Piece("clause", " where ", self.expressions.make("bool", scope, max(depth, 1)), optional=True)

    def _targets(self, types, scope, depth):
        targets = [settled(kind, self.expressions.make(kind, scope, depth)) for kind in types]
        return [Piece("target", target, f" as c{n}") for n, target in enumerate(targets, 1)]

    def _plain(self, types, outer, depth):
        if self.random.random() < 0.08:
            return Piece("query", "select ", *self._commas(self._targets(types, Scope([], outer), 2)))
        source, scope, _ = self.sources(depth, outer)
        distinct = "distinct " if self.random.random() < 0.15 else ""
        return Piece("query", f"select {distinct}", *self._commas(self._targets(types, scope, min(depth + 1, 3))), " from ",
                     source, self._where(scope, depth))

    def _distinct_on(self, types, outer, depth):
        source, scope, _ = self.sources(depth, outer)
        key_type = self.random.choice(["int4", "text", "date", "bool"])
        key = self.expressions.make(key_type, scope, 1)
        if not scope.of_type(key_type):
            return self._plain(types, outer, depth)
        key = Piece("=" + key_type, "(", key, ")")
        order = ", ".join(f"{n}{self.random.choice(SORTED)}" for n in range(2, len(types) + 2))
        inner = Piece("query", "select distinct on (", key, ") ", key, " as k, ",
                      *self._commas(self._targets(types, scope, 2)), " from ", source, self._where(scope, depth),
                      " order by ", key, f", {order}")
        names = ", ".join(f"c{n}" for n in range(1, len(types) + 1))
        return Piece("query", f"select {names} from (", inner, f") {self.name('d')}")

    def aggregate(self, kind, scope):
        """An aggregate with a result of this type, or None."""
        random = self.random
        make = lambda wanted: self.expressions.make(wanted, scope, random.randint(0, 2))
        some = random.choice(COMMON)
        distinct = random.choice(["", "", "distinct "])
        sortable = kind not in ("bool", "uuid", "bytea", "text[]", "int4[]", "varbit", "macaddr", "int4range", "numrange", "daterange", "int4multirange")
        ways = []
        if kind == "int8":
            ways += [lambda: ("count(*)",), lambda: ("count(", make(some), ")"),
                     lambda: (f"count({distinct}", settled(some, make(some)), ")"),
                     lambda: (f"sum({distinct}", make("int4"), ")"), lambda: ("sum(", make("int2"), ")")]
        if kind == "numeric":
            ways += [lambda: ("sum(", make("numeric"), ")"), lambda: ("sum(", make("int8"), ")"),
                     lambda: (f"avg({distinct}", make("int4"), ")"), lambda: ("avg(", make("numeric"), ")"),
                     lambda: ("var_samp(", make("int4"), ")"), lambda: ("stddev_pop(", make("numeric"), ")")]
        if kind == "float8":
            ways += [lambda: ("sum(round(", make("float8"), "))"), lambda: ("avg(round(", make("float8"), "))")]
        if kind == "bool":
            ways += [lambda: ("bool_and(", make("bool"), ")"), lambda: ("bool_or(", make("bool"), ")"),
                     lambda: ("every(", make("bool"), ")")]
        if kind == "int4":
            ways += [lambda: ("bit_and(", make("int4"), ")"), lambda: ("bit_or(", make("int4"), ")")]
        if kind == "text":
            def joined():
                value = make("text")
                return ("string_agg(", distinct, value, ", ',' order by ", value, random.choice([" desc", ""]), ")") \
                    if not distinct else ("string_agg(distinct ", value, ", ',')")
            ways += [joined]
        if kind in ("int4[]", "text[]"):
            def collected():
                value = make(kind[:-2])
                return ("array_agg(", value, " order by ", value, random.choice(["", " desc", " nulls first"]), ")") \
                    if not distinct else ("array_agg(distinct ", value, ")")
            ways += [collected]
        if sortable:
            ways += [lambda: (random.choice(["min(", "max("]), settled(kind, make(kind)), ")")] * 2
        if not ways:
            return None
        parts = random.choice(ways)()
        if random.random() < 0.15:
            parts += (Piece("clause", " filter (where ", make("bool"), ")", optional=True),)
        return Piece("=" + kind, *parts)

    def _grouped(self, types, outer, depth):
        random = self.random
        source, scope, _ = self.sources(depth, outer)
        subquery, self.expressions.subquery = self.expressions.subquery, None
        keys = []
        for _ in range(random.choice([0, 1, 1, 1, 2])):
            kind = random.choice(COMMON)
            local = Scope(scope.columns)
            if local.of_type(kind):
                key = settled(kind, self.expressions.make(kind, local, random.choice([0, 0, 1])))
                if isinstance(key, Piece) and key.parts and "null::" not in str(key.parts[0]) and \
                        any(column in "".join(_texts(key)) for column, _ in scope.columns):
                    keys.append((Piece("=" + kind, "(", key, ")"), kind))
        columns = list(keys)
        # Several grouping sets: a key is NULL in the groups of a set without it.
        sets = random.choice(["rollup(", "cube(", "grouping sets ((), ", "distinct cube("]) if keys and random.random() < 0.3 else ""
        if sets:
            columns.append((Piece("=int4", "grouping(", Series(", ", tuple(key for key, _ in keys)), ")"), "int4"))
        for kind in dict.fromkeys([*types, "int8"]):
            for _ in range(2):
                made = self.aggregate(kind, Scope(scope.columns))
                if made:
                    columns.append((made, kind))
        self.expressions.subquery = subquery
        over = Scope(columns, outer)
        where = self._where(scope, depth)
        self.expressions.subquery = None
        targets = self._targets(types, over, random.choice([0, 1, 2]))
        having = Piece("clause", " having ", self.expressions.make("bool", over, 2), optional=True) if random.random() < 0.25 else ""
        self.expressions.subquery = subquery
        parts = ["select ", *self._commas(targets), " from ", source, where]
        if keys:
            parts += [" group by ", sets, Series(", ", tuple(key for key, _ in keys)), ")" if sets else ""]
        elif random.random() < 0.1:
            parts += [" group by ()"]
        return Piece("query", *parts, having)

    def _windowed(self, types, outer, depth):
        random = self.random
        source, scope, order = self.sources(depth, outer)
        subquery, self.expressions.subquery = self.expressions.subquery, None
        columns = list(scope.columns)
        for kind in ["int8", random.choice(types)]:
            columns.append((Piece("=" + kind, self._window(kind, scope, order)), kind))
        where = self._where(scope, depth)
        targets = self._targets(types, Scope(columns, outer), 1)
        self.expressions.subquery = subquery
        return Piece("query", "select ", *self._commas(targets), " from ", source, where)

    def _window(self, kind, scope, order):
        """A window function's call. Which row comes first among equals shows only where `order` says it."""
        random = self.random
        make = lambda wanted: settled(wanted, self.expressions.make(wanted, scope, 1))
        over = []
        if random.random() < 0.6:
            over.append(Piece("clause", "partition by ", make(random.choice(COMMON)), " ", optional=True))
        sort = Piece("clause", "order by ", make(random.choice(COMMON)), random.choice(SORTED))
        if order and random.random() < 0.6:
            sort = Piece("clause", sort, ", " + ", ".join(order))
            frame = random.choice(["", "", " rows between 1 preceding and 1 following", " rows unbounded preceding",
                                   " rows between current row and unbounded following",
                                   " rows between 2 preceding and 1 preceding"])
            call = random.choice([Piece("call", "first_value(", make(kind), ")"), Piece("call", "last_value(", make(kind), ")"),
                                  Piece("call", "lag(", make(kind), ")"), Piece("call", "lead(", make(kind), ", 2)"),
                                  Piece("call", "nth_value(", make(kind), ", 2)")])
            if kind == "int8" and random.random() < 0.5:
                call = random.choice(["row_number()", "ntile(3)::int8", "count(*)"])
            elif random.random() < 0.4:
                call = self._plain_aggregate(kind, scope) or call
            if isinstance(call, str) and call.endswith("::int8"):
                return Piece("=int8", call[:-6], " over (", *over, sort, ")::int8")
            return Piece("=" + kind, call, " over (", *over, sort, frame, ")")
        if kind == "int8" and random.random() < 0.5:
            call = random.choice(["rank()", "dense_rank()", "count(*)"])
            return Piece("=int8", call, " over (", *over, sort, ")")
        if kind == "float8" and random.random() < 0.5:
            return Piece("=float8", random.choice(["percent_rank()", "cume_dist()"]), " over (", *over, sort, ")")
        call = self._plain_aggregate(kind, scope)
        if not call:
            return self.expressions.literal(kind)
        if random.random() < 0.5:
            over.append(sort)
        return Piece("=" + kind, call, " over (", *over, ")")

    def _plain_aggregate(self, kind, scope):
        make = lambda wanted: settled(wanted, self.expressions.make(wanted, scope, 1))
        if kind == "int8":
            return Piece("call", self.random.choice(["count(", "sum("]), make("int4"), ")")
        if kind == "numeric":
            return Piece("call", self.random.choice(["sum(", "avg("]), make("numeric"), ")")
        if kind == "float8":
            return Piece("call", "sum(round(", make("float8"), "))")
        if kind == "bool":
            return Piece("call", self.random.choice(["bool_and(", "bool_or("]), make("bool"), ")")
        if kind in ("uuid", "bytea", "int4[]", "text[]"):
            return None
        return Piece("call", self.random.choice(["min(", "max("]), make(kind), ")")

    def _set_operation(self, types, outer, depth):
        random = self.random
        word = random.choice(["union", "union all", "intersect", "except", "intersect all", "except all", "union all"])
        left = self.query(types, outer, depth - 1)
        right = self.query(types, outer, depth - 1)
        return Piece("query", "(", left, f") {word} (", right, ")")

    # ---- subqueries and WITH

    def subquery(self, kind, scope, depth):
        random = self.random
        if kind == "bool":
            some = random.choice(COMMON)
            way = random.random()
            if way < 0.4:
                return Piece("=bool", random.choice(["", "not "]), "exists (", self.query(["int4"], scope, 0), ")")
            value = self.expressions.make(some, scope, 1)
            inner = self.query([some], scope, 0)
            if way < 0.8:
                return Piece("=bool", "(", value, random.choice([" in (", " not in ("]), inner, "))")
            word = random.choice(["= any", "> all", "<> all", "<= any", "= all"])
            return Piece("=bool", "(", value, f" {word} (", inner, "))")
        source, inner, _ = self.source(0, scope)
        made = self.aggregate(kind, Scope(inner.columns))
        if made:
            return Piece("=" + kind, "(select ", made, " from ", source, self._where(inner, 0), ")")
        if kind.endswith("[]") and random.random() < 0.5:
            inner = self.query([kind[:-2]], scope, 0)
            return Piece("=" + kind, "array(select * from (", inner, f") {self.name('q')} order by 1)")
        return None

    def statement(self, depth):
        """A whole SELECT, and whether its rows come in one order alone."""
        random = self.random
        types = self.types(5)
        self.names = 0
        self.known = []
        parts = []
        if random.random() < 0.2:
            parts = self._with(depth)
        ordered = random.random() < 0.4
        body = self.query(types, None, depth)
        if ordered:
            # A query with an order of its own, or a set operation, goes inside.
            body = Piece("query", "select * from (", body, f") {self.name('q')}", self.order(types), self._limit())
        self.known = []
        return Piece("statement", *parts, body), ordered

    def _with(self, depth):
        random = self.random
        parts = ["with "]
        recursive = random.random() < 0.25
        if recursive:
            kind = random.choice(["int4", "text"])
            step = {"int4": "x + n", "text": "left(x || n, 20)"}[kind]
            start = self.expressions.make(kind, Scope([]), 1)
            union = random.choice(["union", "union all"])
            parts = ["with recursive r(n, x) as (select 1, ", start, f" {union} select n + 1, {step} from r where n < "
                     f"{random.randint(1, 8)})"]
            self.known.append(Table("r", [("n", "int4"), ("x", kind)]))
        for number in range(random.randint(0 if recursive else 1, 2)):
            types = self.types(3)
            name = f"w{number}"
            names = [f"c{n}" for n in range(len(types))]
            query = self.query(types, None, max(depth - 1, 0))
            how = random.choice(["", "", "materialized ", "not materialized "])
            parts += [", " if len(parts) > 1 else "", f"{name}({', '.join(names)}) as {how}(", query, ")"]
            self.known.append(Table(name, list(zip(names, types))))
        return parts + [" "]


def _texts(piece):
    if isinstance(piece, str):
        yield piece
    else:
        for part in piece.parts:
            yield from _texts(part)
