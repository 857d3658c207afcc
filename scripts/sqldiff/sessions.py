"""Random transactions of several requests: savepoints, cursors in all directions, deferred keys, and
statements that fail in the middle."""
from pieces import Piece, Series

DIRECTIONS = ["next", "prior", "first", "last", "absolute {n}", "relative {m}", "forward {p}", "backward {p}", "all", "forward all",
              "backward all", "{m}", "absolute -{p}", "relative 0", "0"]
TROUBLE = ["select 1 / 0", "select * from no_such_table", "select no_such_column", "insert into par values (1, 1)", "insert into chi values (100, 99)",
           "savepoint", "select 'x'::int", "update par set id = 2 where id = 1", "fetch from nobody", "rollback to nowhere", "commit and nothing"]


class SessionMaker:
    """Over two tables of its own, which each session makes and its end takes away."""

    def __init__(self, random):
        self.random = random

    def statement(self):
        random = self.random
        deferral = random.choice(["", " deferrable", " deferrable initially deferred"])
        action = random.choice(["", " on delete cascade", " on delete set null", " on update cascade on delete restrict"])
        setup = ["begin" + random.choice(["", " isolation level repeatable read", " isolation level serializable"]),
                 "create temp table par (id int primary key, v int unique)",
                 f"create temp table chi (id int primary key, p int references par{action}{deferral})",
                 "insert into par select g, g * 10 from generate_series(1, 6) g",
                 "insert into chi select g, g % 4 + 1 from generate_series(1, 8) g"]
        self.cursors = []
        steps = [Piece("step", self._step(), optional=True) for _ in range(random.randint(4, 14))]
        ends = ["select * from par order by id", "select * from chi order by id", random.choice(["rollback", "commit"]), "rollback", "close all",
                "drop table if exists chi, par"]
        return Series(";\n", tuple([Piece("fixed", text) for text in setup] + steps + [Piece("fixed", text) for text in ends]))

    def _step(self):
        random = self.random
        n = random.randint(1, 9)
        way = random.random()
        if way < 0.2:
            return random.choice([f"savepoint s{n % 3}", f"rollback to s{n % 3}", f"release s{n % 3}"])
        if way < 0.3:
            return random.choice(TROUBLE)
        if way < 0.4 or not self.cursors:
            name = f"c{random.randint(1, 2)}"
            self.cursors.append(name)
            # Without either word PostgreSQL lets a cursor go back where its plan can; ours always can.
            options = random.choice(["scroll ", "no scroll ", "insensitive no scroll ", "scroll "])
            hold = random.choice(["", "", " with hold"])
            query = random.choice(["select * from par order by id", "select id, p from chi order by id desc", "select generate_series(1, 5)",
                                   "select id, v from par where v > 20 order by id", "select count(*) from chi",
                                   "select par.id, chi.id from par left join chi on p = par.id order by 1, 2",
                                   "select 10 / (4 - id) from par order by id"])
            return f"declare {name} {options}cursor{hold} for {query}"
        if way < 0.65:
            direction = random.choice(DIRECTIONS).format(n=n, m=random.randint(-3, 3), p=random.randint(0, 4))
            return f"{random.choice(['fetch', 'fetch', 'fetch', 'move'])} {direction} from {random.choice(self.cursors)}"
        if way < 0.7:
            return random.choice([f"close {random.choice(self.cursors)}", "close all", "set constraints all immediate", "set constraints all deferred"])
        return random.choice([f"insert into par values ({n}, {n * 10})", f"insert into chi values ({n + 4}, {n})", f"delete from par where id = {n}",
                              f"delete from chi where p = {n}", f"update par set id = id + 10 where id = {n}", f"update par set v = v + 1 where id >= {n}",
                              f"update chi set p = {n} where id = {n}", "update par set v = 70 - v", f"update chi set p = p + 1 where id < {n}",
                              f"insert into par values ({n}, 5) on conflict (id) do update set v = excluded.v + par.v returning *",
                              f"insert into par values ({n}, {n * 10}), ({n + 6}, {n}) on conflict do nothing",
                              "update par set id = 7 - id", f"delete from par where id = {n} returning *", "truncate chi",
                              f"with d as (delete from chi where id = {n} returning p) insert into chi select 50 + p, p from d returning *",
                              "select count(*), sum(v) from par", f"update par set v = {n} where current of {random.choice(self.cursors)}",
                              f"delete from chi using par where p = par.id and v = {n * 10}",
                              "create temp table more (a int) on commit drop", "alter table chi add column x int default 5", "select * from chi order by id limit 3"])
