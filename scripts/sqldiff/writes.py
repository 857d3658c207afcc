"""Random INSERT, UPDATE, DELETE and MERGE whose outcome does not depend on the order of rows."""
from expressions import Scope
from pieces import Piece, Series
from servers import ORACLE
from tables import TableMaker


class WriteMaker:
    def __init__(self, random, tables, queries):
        self.random = random
        self.tables = [table for table in tables if not table.is_view]
        self.queries = queries
        self.values = TableMaker(random, queries.expressions)

    def statement(self):
        """A statement, and the table that it changes."""
        random = self.random
        self.queries.names = 0
        table = random.choice(self.tables)
        make = random.choice([self._insert, self._insert_select, self._upsert, self._update, self._update, self._update_from,
                              self._delete, self._delete_using, self._with_write, self._merge, self._merge])
        return make(table), table

    def _expression(self, kind, columns, depth=2):
        return self.queries.expressions.make(kind, Scope(columns), depth)

    def _columns_of(self, table, alias):
        return [(f"{alias}.{name}", kind) for name, kind in table.columns + table.virtual]

    def _returning(self, table, alias):
        if self.random.random() < 0.5:
            return ""
        targets = [Piece("target", self._expression(kind, self._columns_of(table, alias), 1), f" as r{n}")
                   for n, (_, kind) in enumerate(self.random.sample(table.columns, min(2, len(table.columns))))]
        if ORACLE >= 18 and self.random.random() < 0.5:
            before, after = self._columns_of(table, "old"), self._columns_of(table, "new")
            kind = self.random.choice(table.columns)[1]
            targets += [Piece("target", "old.id as o"), Piece("target", "new.id as n"),
                        Piece("target", self._expression(kind, before + after, 1), " as both_rows")]
        return Piece("clause", " returning ", Series(", ", (Piece("target", f"{alias}.id"), *targets)), optional=True)

    def _row(self, table):
        random = self.random
        parts = [str(random.randint(0, 60))]
        for _, kind in table.columns[1:]:
            parts.append("default" if random.random() < 0.1 else
                         self._cast(kind, self._expression(kind, [], 1)) if random.random() < 0.4 else self.values.value(kind))
        return Piece("row", "(", *[part for value in parts for part in (", ", value)][1:], ")")

    @staticmethod
    def _cast(kind, expression):
        # Make the computed value fit the column; a table's numeric has three digits behind the point.
        return Piece("=" + kind, expression)

    def _insert(self, table):
        names = ", ".join(name for name, _ in table.columns)
        rows = Series(", ", tuple(self._row(table) for _ in range(self.random.randint(1, 4))))
        return Piece("write", f"insert into {table.name} as w ({names}) values ", rows, self._returning(table, "w"))

    def _insert_select(self, table):
        kinds = [kind for _, kind in table.columns[1:]]
        names = ", ".join(name for name, _ in table.columns)
        query = self.queries.query(kinds, None, 1)
        numbered = ", ".join(f"q.c{n}" for n in range(len(kinds)))
        every = ", ".join(str(n + 1) for n in range(len(kinds)))
        inner = Piece("query", "select * from (", query, f") i({', '.join(f'c{n}' for n in range(len(kinds)))}) order by {every} limit 8")
        return Piece("write", f"insert into {table.name} as w ({names}) select 1000 + row_number() over (order by {numbered}), "
                     f"{numbered} from (", inner, ") q", self._returning(table, "w"))

    def _upsert(self, table):
        random = self.random
        names = ", ".join(name for name, _ in table.columns)
        row = self._row(table)
        target = random.choice(["(id)", "(id)", f"on constraint {table.name}_pkey", ""])
        if target == "" or random.random() < 0.3:
            action = f" on conflict {target} do nothing"
        else:
            both = self._columns_of(table, "w") + self._columns_of(table, "excluded")
            action = Piece("clause", f" on conflict {target} do update set ", self._changes(table, both))
            if random.random() < 0.3:
                action = Piece("clause", action, Piece("clause", " where ", self._expression("bool", both, 1), optional=True))
        return Piece("write", f"insert into {table.name} as w ({names}) values ", row, action, self._returning(table, "w"))

    def _changes(self, table, columns):
        random = self.random
        changed = random.sample(table.columns[1:], random.randint(1, min(3, len(table.columns) - 1)))
        if table.name == "child":
            changed = [("amount", "numeric")]
        if len(changed) > 1 and random.random() < 0.2:
            names = ", ".join(name for name, _ in changed)
            values = [self._cast(kind, self._expression(kind, columns)) for _, kind in changed]
            return Piece("changes", f"({names}) = row(", *[p for value in values for p in (", ", value)][1:], ")")
        return Series(", ", tuple(Piece("change", f"{name} = ", "default" if random.random() < 0.05 else
                                        self._cast(kind, self._expression(kind, columns))) for name, kind in changed))

    def _update(self, table):
        columns = self._columns_of(table, "w")
        where = Piece("clause", " where ", self._expression("bool", columns), optional=True)
        if self.random.random() < 0.15:
            key = self.random.randint(0, 30)
            return Piece("write", f"update {table.name} as w set id = {2000 + key} where id = {key}", self._returning(table, "w"))
        return Piece("write", f"update {table.name} as w set ", self._changes(table, columns), where, self._returning(table, "w"))

    def _update_from(self, table):
        other = self.random.choice(self.tables)
        columns = self._columns_of(table, "w") + self._columns_of(other, "o")
        # At most one row of the other table for each of this.
        extra = Piece("clause", " and ", self._expression("bool", columns, 1), optional=True)
        return Piece("write", f"update {table.name} as w set ", self._changes(table, columns), f" from {other.name} o where w.id = o.id",
                     extra, self._returning(table, "w"))

    def _delete(self, table):
        where = Piece("clause", " where ", self._expression("bool", self._columns_of(table, "w")))
        return Piece("write", f"delete from {table.name} as w", where, self._returning(table, "w"))

    def _delete_using(self, table):
        other = self.random.choice(self.tables)
        columns = self._columns_of(table, "w") + self._columns_of(other, "o")
        query = Piece("clause", self._expression("bool", columns, 1))
        return Piece("write", f"delete from {table.name} as w using {other.name} o where w.id = o.id and ", query)

    def _merge(self, table):
        random = self.random
        other = random.choice(self.tables)
        written, theirs = self._columns_of(table, "w"), self._columns_of(other, "o")
        # At most one row of the other table for each of this.
        extra = Piece("clause", " and ", self._expression("bool", written + theirs, 1), optional=True)
        kinds = random.sample(["matched", "matched", "not matched", "not matched by source"], random.randint(1, 4))
        if ORACLE < 17:
            kinds = [kind for kind in kinds if not kind.endswith("source")] or ["matched"]
        clauses = []
        for number, kind in enumerate(kinds):
            columns = {"matched": written + theirs, "not matched": theirs}.get(kind, written)
            if kind == "not matched":
                names = ", ".join(name for name, _ in table.columns)
                values = [part for _, of in table.columns[1:]
                          for part in (", ", self._cast(of, self._expression(of, theirs, 1)))]
                action = Piece("action", f"insert ({names}) values (o.id + 3000", *values, ")")
            else:
                action = random.choice(["delete", "do nothing", "update", "update", "update"])
                if action == "update":
                    action = Piece("action", "update set ", self._changes(table, columns))
            condition = ""
            if kind in kinds[number + 1:] or random.random() < 0.4:
                condition = Piece("clause", " and ", self._expression("bool", columns, 1))
            clauses.append(Piece("clause", f" when {kind}", condition, " then ", action))
        returning = ""
        if ORACLE >= 17 and random.random() < 0.5:
            returning = Piece("clause", " returning merge_action(), old.id as o, new.id as n, w.id", optional=True)
        return Piece("write", f"merge into {table.name} as w using {other.name} o on w.id = o.id", extra, *clauses, returning)

    def _with_write(self, table):
        inner = self.random.choice([self._insert, self._update, self._delete])(table)
        inner = Piece("write", *[part for part in inner.parts if not (isinstance(part, Piece) and part.optional and
                                 part.parts and part.parts[0] == " returning ")])
        names = ", ".join(f"w.{name}" for name, _ in table.columns[:3])
        return Piece("write", "with changed as (", inner, f" returning {names}) select *, count(*) over () from changed")
