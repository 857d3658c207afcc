"""Random tables: columns of many types, keys, checks, indexes of every kind, rows with NULLs and
duplicates. What is made is text alone, so that it can be run on any server."""
import dataclasses
import re

import servers
from expressions import DEFINED, TYPES, UNORDERED, WORDS

DECLARED = {"numeric": "numeric(12,3)", "text": "text"}


@dataclasses.dataclass
class Table:
    name: str
    columns: list  # (name, type)
    key: str = "id"
    rows: int = 0
    is_view: bool = False
    virtual: list = dataclasses.field(default_factory=list)  # the same of columns that are only read


class TableMaker:
    def __init__(self, random, expressions):
        self.random = random
        self.expressions = expressions

    def value(self, kind):
        """Returns a value as written in VALUES, from a small domain, so that there are duplicates."""
        random = self.random
        if random.random() < 0.12:
            return "null"
        if kind in ("int2", "int4"):
            return str(random.choice([random.randint(0, 9), random.randint(-100, 100)]))
        if kind == "int8":
            return str(random.choice([random.randint(0, 9), random.randint(-10**12, 10**12)]))
        if kind == "numeric":
            return random.choice([f"{random.randint(-999, 999) / 8:.3f}", str(random.randint(0, 5))])
        if kind == "float8":
            return str(random.randint(-400, 400) / 4)
        if kind == "bool":
            return random.choice(["true", "false"])
        if kind == "text":
            return "'" + random.choice(WORDS + [f"w{random.randint(0, 30)}"]).replace("'", "''") + "'"
        if kind == "date":
            return f"'202{random.randint(0, 3)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}'"
        if kind in ("timestamp", "timestamptz"):
            return (f"'202{random.randint(0, 3)}-{random.randint(1, 12):02}-{random.randint(1, 28):02} "
                    f"{random.randint(0, 23):02}:{random.choice(['00', '30'])}:00'")
        literal = self.expressions.literal(kind)
        return "'" + literal.text + "'"

    def make(self, name, rows):
        """The table and the statements that make it."""
        random = self.random
        columns = [("id", "int4")]
        used = random.sample(TYPES, random.randint(3, 7)) + ["int4", "text"]
        for number, kind in enumerate(used):
            columns.append((f"{re.sub('[(].*', '', kind.replace('[]', 's'))[:5]}_{number}", kind))
        lines = ["id int4 primary key"]
        for column, kind in columns[1:]:
            extra = ""
            if random.random() < 0.1 and kind in ("int4", "text"):
                extra = " default " + {"int4": "7", "text": "'none'"}[kind]
            collation = ' collate "sv-x-icu"' if kind == "text" and random.random() < 0.25 else ""
            lines.append(f"{column} {DECLARED.get(kind, kind)}{collation}{extra}")
        virtual = self._virtual(columns) if servers.ORACLE >= 18 and random.random() < 0.5 else []
        lines += [f"{column} {kind} generated always as ({value})" for column, kind, value in virtual]
        statements = [f"create table {name} (" + ", ".join(lines) + ")"]
        table = Table(name, columns, rows=rows)
        if rows:
            ids = random.sample(range(rows * 2), rows)
            values = ["(" + ", ".join([str(number)] + [self.value(kind) for _, kind in columns[1:]]) + ")"
                      for number in ids]
            for at in range(0, len(values), 100):
                statements.append(f"insert into {name} values " + ", ".join(values[at:at + 100]))
        for number in range(random.randint(0, 4)):
            statements.append(self._index(table, number))
        if random.random() < 0.5:
            statements.append(f"analyze {name}")
        table.virtual = [(column, kind) for column, kind, _ in virtual]
        return table, statements

    def _virtual(self, columns):
        """Virtual generated columns, the last ones: names, types, expressions."""
        (number, _), (text, _) = columns[-2:]
        known = [("vint", "int4", f"coalesce({number}, 3) % 5"), ("vtext", "text", f"'v' || {text}"),
                 ("vbool", "bool", f"{number} > id"), ("vid", "int4", "id - 2")]
        return self.random.sample(known, self.random.randint(1, 3))

    def _index(self, table, number):
        random = self.random
        simple = [name for name, kind in table.columns[1:]
                  if not kind.endswith("[]") and kind != "bytea" and kind not in UNORDERED]
        columns = random.sample(simple, min(len(simple), random.randint(1, 2)))
        entries = [column + random.choice(["", "", " desc", " nulls first", " desc nulls last"]) for column in columns]
        texts = [name for name, kind in table.columns if kind == "text"]
        numbers = [name for name, kind in table.columns[1:] if kind == "int4"]
        if random.random() < 0.25:
            entries[0] = random.choice([f"lower({random.choice(texts)})", f"(abs({random.choice(numbers)}))",
                                        f"(length({random.choice(texts)}) + 1)"])
        unique = ""
        if random.random() < 0.2:
            unique = "unique "
            entries.append("id")
        text = f"create {unique}index {table.name}_i{number} on {table.name} (" + ", ".join(entries) + ")"
        if random.random() < 0.2:
            text += f" include ({random.choice(simple)})"
        if random.random() < 0.25:
            text += " where " + random.choice([f"{random.choice(numbers)} > 0", f"{random.choice(texts)} is not null",
                                               f"{random.choice(numbers)} is null", f"{random.choice(texts)} = 'a'"])
        return text

    def database(self):
        """Tables with few, no and many rows, a view, a table that refers to another."""
        tables = []
        statements = list(DEFINED)
        for number, rows in enumerate([self.random.randint(5, 15), self.random.randint(20, 50), 0, 300]):
            table, made = self.make(f"t{number}", rows)
            tables.append(table)
            statements += made
        parent = tables[0]
        statements.append(f"create table child (id int4 primary key, parent int4 references {parent.name} "
                          f"on delete {self.random.choice(['cascade', 'set null', 'no action'])} "
                          f"on update {self.random.choice(['cascade', 'no action'])}, "
                          "amount numeric(12,3) check (amount > -1000), note varchar(20))")
        statements.append(f"insert into child select g, (select id from {parent.name} order by id offset g % 5 limit 1), "
                          "g / 4.0, 'n' || g % 3 from generate_series(1, 20) g")
        tables.append(Table("child", [("id", "int4"), ("parent", "int4"), ("amount", "numeric")], rows=20))
        viewed = tables[1]
        shown = viewed.columns[:4]
        statements.append(f"create view v as select {', '.join(name for name, _ in shown)} from {viewed.name} where id % 3 <> 0")
        tables.append(Table("v", shown, rows=20, is_view=True))
        return tables, statements
