"""Random bodies in PL/pgSQL: blocks, loops, conditions, handlers, queries and writes over one table, as DO, as
functions that return a value or a set, and as triggers. Every loop is bounded, so that a body ends."""
import textwrap

TABLE = ["create table b (id int primary key, n int, s text, ok bool)",
         "insert into b select g, g * 3 - 10, 'row ' || g, g % 3 = 0 from generate_series(1, 12) g",
         "insert into b values (20, null, null, null)",
         "create table log (at int generated always as identity, line text)"]
INTEGERS, TEXTS, FLAGS, ARRAYS = ["i", "j", "k"], ["s", "t"], ["f", "g"], ["a"]
CONDITIONS = ["division_by_zero", "unique_violation", "raise_exception", "no_data_found", "too_many_rows", "numeric_value_out_of_range",
              "invalid_text_representation", "null_value_not_allowed", "others", "sqlstate 'P0009'", "check_violation", "case_not_found"]
LEVELS = ["notice", "warning", "info"]


class BodyMaker:
    def __init__(self, random):
        self.random = random
        self.loops = []  # labels of the loops around, "" for one without
        self.returns = ""
        self.records = False
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    # expressions ------------------------------------------------------------------------------------------------
    def integer(self, depth=0):
        one = self.random.randrange(16 if depth < 3 else 5)
        if one < 2:
            return str(self.random.choice([0, 1, 2, 3, 5, -1, 7, 10, 100, 2147483647]))
        if one < 5:
            return self.pick(*INTEGERS)
        if one < 9:
            return f"({self.integer(depth + 1)} {self.pick('+', '-', '*', '/', '%')} {self.integer(depth + 1)})"
        if one == 9:
            return f"coalesce({self.integer(depth + 1)}, {self.integer(depth + 1)})"
        if one == 10:
            return f"length({self.text(depth + 1)})"
        if one == 11:
            return f"case when {self.flag(depth + 1)} then {self.integer(depth + 1)} else {self.integer(depth + 1)} end"
        if one == 12:
            return f"(select {self.pick('count(*)::int', 'max(n)', 'min(id)', 'sum(n)::int')} from b where {self.row_condition(depth + 1)})"
        if one == 13:
            return f"a[{self.integer(depth + 1)}]"
        if one == 14:
            return f"{self.text(depth + 1)}::int"
        return "r.n" if self.records else "array_length(a, 1)"

    def text(self, depth=0):
        one = self.random.randrange(9 if depth < 3 else 4)
        if one < 2:
            return self.pick("'x'", "'12'", "''", "'a b'", "null::text", "'-7'")
        if one < 4:
            return self.pick(*TEXTS)
        if one == 4:
            return f"({self.text(depth + 1)} || {self.text(depth + 1)})"
        if one == 5:
            return f"{self.integer(depth + 1)}::text"
        if one == 6:
            return f"upper({self.text(depth + 1)})"
        if one == 7:
            return f"format('%s-%s', {self.integer(depth + 1)}, {self.text(depth + 1)})"
        return "r.s" if self.records else f"left({self.text(depth + 1)}, 3)"

    def flag(self, depth=0):
        one = self.random.randrange(9 if depth < 3 else 3)
        if one == 0:
            return self.pick("true", "false", "found", *FLAGS)
        if one < 4:
            return f"{self.integer(depth + 1)} {self.pick('<', '>', '=', '<=', '<>')} {self.integer(depth + 1)}"
        if one == 4:
            return f"({self.flag(depth + 1)} {self.pick('and', 'or')} {self.flag(depth + 1)})"
        if one == 5:
            return f"not {self.pick(*FLAGS)}"
        if one == 6:
            return f"{self.pick(self.integer(depth + 1), self.text(depth + 1))} is {self.pick('', 'not ')}null"
        if one == 7:
            return f"{self.text(depth + 1)} like '%{self.pick('x', '1', 'r')}%'"
        return f"exists (select from b where {self.row_condition(depth + 1)})"

    def row_condition(self, depth=0):
        return self.pick(f"b.id = {self.integer(depth + 1)}", f"b.id > {self.integer(depth + 1)}", "b.ok", "b.n is null",
                         f"b.s = {self.text(depth + 1)}", f"b.id between 3 and {self.random.randrange(3, 9)}")

    def value(self):
        return self.pick(self.integer(), self.text(), self.flag(), self.integer())

    # statements -------------------------------------------------------------------------------------------------
    def assignment(self):
        one = self.random.randrange(8)
        if one < 3:
            return f"{self.pick(*INTEGERS)} := {self.integer()};"
        if one < 5:
            return f"{self.pick(*TEXTS)} := {self.text()};"
        if one == 5:
            return f"{self.pick(*FLAGS)} {self.pick(':=', '=')} {self.flag()};"
        if one == 6:
            return f"a[{self.random.randrange(1, 5)}] := {self.integer()};"
        if self.records:
            return f"r.n := {self.integer()};"
        return self.pick(f"a := a || {self.integer()};", f"i := {self.text()};", f"s := {self.integer()};", "a[2:3] := array[7, 8];")

    def notice(self):
        if self.random.randrange(4) == 0:
            return f"raise {self.pick(*LEVELS)} using message = coalesce({self.text()}, 'none'), detail = 'd', hint = 'h';"
        count = self.random.randrange(1, 4)
        values = ", ".join(self.value() for _ in range(count))
        return f"raise {self.pick(*LEVELS)} '{' '.join('%' * 1 for _ in range(count))}', {values};"

    def failure(self):
        return self.pick("raise exception 'stop %', i;", "raise division_by_zero;", "raise exception using errcode = 'P0009', message = 'nine';",
                         f"perform 1 / ({self.integer()});", "raise sqlstate 'P0009';", f"i := 'x' || {self.text()};",
                         f"insert into b values ({self.integer()}, 1);", "assert i > 0, 'i is ' || coalesce(i::text, 'null');")

    def query(self):
        strict = self.pick("", "", "strict ")
        return self.pick(f"select n, s into {strict}i, s from b where {self.row_condition()} order by id;",
                         f"select * into {strict}r2 from b where {self.row_condition()} order by id; raise notice '%', r2.id;",
                         f"perform n from b where {self.row_condition()}; f := found;",
                         f"execute 'select n from b where id = $1' into {strict}j using {self.integer()};",
                         f"execute format('select %L::text', {self.text()}) into t;",
                         f"i := (select n from b where {self.row_condition()} order by id limit 1);")

    def write(self):
        one = self.pick(f"update b set n = {self.integer()} where {self.row_condition()}",
                        f"insert into b values ({self.random.randrange(1, 60)}, {self.integer()}, {self.text()}, {self.flag()})",
                        f"delete from b where {self.row_condition()}",
                        f"insert into b values ({self.random.randrange(1, 60)}) on conflict (id) do update set n = {self.integer()}",
                        f"insert into log (line) values ({self.text()})")
        return self.pick(f"{one};", f"{one};", f"{one}; get diagnostics k = row_count; raise notice 'rows %', k;",
                         f"{one} returning {self.pick('1', '1 + 1')} into j; g := found;")

    def choice(self, depth):
        if self.random.randrange(2):
            branches = f"if {self.flag()} then\n{self.steps(depth)}\n"
            for _ in range(self.random.randrange(2)):
                branches += f"elsif {self.flag()} then\n{self.steps(depth)}\n"
            if self.random.randrange(2):
                branches += f"else\n{self.steps(depth)}\n"
            return branches + "end if;"
        searched = self.random.randrange(2)
        head = "case\n" if searched else f"case {self.integer()}\n"
        for _ in range(self.random.randrange(1, 3)):
            when = self.flag() if searched else f"{self.integer()}, {self.integer()}"
            head += f"when {when} then\n{self.steps(depth)}\n"
        if self.random.randrange(3):
            head += f"else\n{self.steps(depth)}\n"
        return head + "end case;"

    def loop(self, depth):
        label = ""
        if self.random.randrange(3) == 0:
            self.fresh += 1
            label = f"l{self.fresh}"
        head = f"<<{label}>>\n" if label else ""
        self.loops.append(label)
        before = self.records
        kind = self.random.randrange(6)
        tail = "end loop" + (f" {label}" if label and self.random.randrange(2) else "") + ";"
        if kind == 0:
            step = self.pick("", "", " by 2")
            text = f"for i in {self.pick('', 'reverse ')}{self.random.randrange(0, 5)} .. {self.random.randrange(0, 5)}{step} loop\n{self.steps(depth)}\n{tail}"
        elif kind == 1:
            self.records = True
            text = (f"for r in select * from b where {self.row_condition()} order by id {self.pick('', 'desc ')}limit 4 loop\n{self.steps(depth)}\n{tail}")
        elif kind == 2:
            self.fresh += 1
            count = f"c{self.fresh}"
            text = (f"declare {count} int := 0; begin\n{head}while {count} < {self.random.randrange(1, 4)} loop\n{count} := {count} + 1;\n"
                    f"{self.steps(depth)}\n{tail}\nend;")
            head = ""
        elif kind == 3:
            text = f"foreach {self.pick(*INTEGERS)} in array {self.pick('a', 'array[4, 5, null, 6]')} loop\n{self.steps(depth)}\n{tail}"
        elif kind == 4:
            text = (f"for i, s in execute 'select id, s from b where id < $1 order by id limit 3' using {self.integer()} loop\n"
                    f"{self.steps(depth)}\n{tail}")
        else:
            self.fresh += 1
            count = f"c{self.fresh}"
            text = (f"declare {count} int := 0; begin\n{head}loop\n{count} := {count} + 1;\nexit when {count} > {self.random.randrange(1, 4)};\n"
                    f"{self.steps(depth)}\n{tail}\nend;")
            head = ""
        self.loops.pop()
        self.records = before
        return head + text

    def jump(self):
        named = [label for label in self.loops if label]
        target = f" {self.random.choice(named)}" if named and self.random.randrange(2) else ""
        return f"{self.pick('exit', 'continue')}{target}{self.pick('', f' when {self.flag()}')};"

    def block(self, depth):
        declared = self.pick("", f"declare i int := {self.integer()};\n", f"declare s text = {self.text()}; x constant int := 5;\n")
        text = f"{declared}begin\n{self.steps(depth)}\n"
        if self.random.randrange(3):
            text += "exception\n"
            for _ in range(self.random.randrange(1, 3)):
                names = " or ".join(self.random.sample(CONDITIONS, self.random.randrange(1, 3)))
                what = self.pick(f"raise notice 'caught % %', sqlstate, sqlerrm;\n{self.steps(depth)}",
                                 "get stacked diagnostics s = message_text, t = returned_sqlstate; raise notice '% %', s, t;", "raise;",
                                 self.steps(depth))
                text += f"when {names} then\n{what}\n"
        return text + "end;"

    def cursor(self, depth):
        self.fresh += 1
        name = f"cur{self.fresh}"
        return (f"declare {name} cursor(least int) for select id, n from b where id > least order by id; begin\nopen {name}({self.integer()});\n"
                f"fetch {self.pick('', 'next from ', 'relative 2 from ')}{name} into i, j;\nf := found;\n{self.steps(depth)}\n"
                f"{self.pick('move ' + name + ';', '')}\n{self.pick(f'close {name};', '')}\nend;")

    def answer(self):
        if self.returns == "set":
            return self.pick(f"return next {self.integer()};", f"return query select n from b where {self.row_condition()} order by id limit 3;", "return;")
        if self.returns == "value":
            return f"return {self.integer()};"
        return self.notice() if self.returns else "return;"

    def step(self, depth):
        simple = [self.assignment] * 6 + [self.notice] * 3 + [self.query] * 2 + [self.write] * 2
        nested = [self.choice] * 3 + [self.loop] * 3 + [self.block] * 2 + [self.cursor]
        one = self.random.randrange(14)
        if one == 0:
            return self.failure()
        if one == 1 and self.loops:
            return self.jump()
        if one == 2 and self.random.randrange(3) == 0:
            return self.answer()
        if one < 6 and depth < 3:
            return self.random.choice(nested)(depth + 1)
        return self.random.choice(simple)()

    def steps(self, depth):
        return textwrap.indent("\n".join(self.step(depth) for _ in range(self.random.randrange(1, 4))), "  ")

    def body(self, returns):
        self.returns, self.loops, self.records = returns, [], False
        declared = ("declare i int := 1; j int := 2; k int; s text := 'x'; t text; f bool := true; g bool; a int[] := '{1,2,3}'; r record; r2 b;\n")
        if self.random.randrange(6) == 0:
            declared = "#print_strict_params on\n" + declared
        last = {"value": "return i;", "set": "return next i;"}.get(returns, "")
        text = f"{declared}begin\nselect 1 as id, 2 as n, 'r'::text as s, true as ok into r;\n{self.steps(0)}\n{self.steps(0)}\n  raise notice '% % % % % % %', i, j, k, s, t, a, f;\n  {last}\n"
        if self.random.randrange(4) == 0:
            text += f"exception when {self.pick(*CONDITIONS)} then\n  raise notice 'last %', sqlerrm;\n  {last}\n"
        return text + "end"

    def case(self):
        """The requests of one case."""
        kind = self.random.randrange(6)
        if kind < 3:
            return [f"do $body$ {self.body('')} $body$"]
        if kind == 3:
            return [f"create or replace function fn(i int, s text) returns int language plpgsql as $body$ {self.body('value')} $body$",
                    f"select fn({self.random.randrange(-3, 9)}, 'q')", "select fn(id, s) from b where id < 4 order by id"]
        if kind == 4:
            return [f"create or replace function fs(j int) returns setof int language plpgsql as $body$ {self.body('set')} $body$",
                    f"select * from fs({self.random.randrange(0, 6)})"]
        body = self.body("trigger").removesuffix("end") + f"  return {self.pick('new', 'old', 'null', 'coalesce(new, old)')};\nend"
        return ["drop trigger if exists tr on b",
                f"create or replace function tf() returns trigger language plpgsql as $body$ {body} $body$",
                f"create trigger tr {self.pick('before', 'after')} insert or update or delete on b for each {self.pick('row', 'statement')} "
                f"when (pg_trigger_depth() = 0) execute function tf()",
                f"update b set n = n + 1 where id in (2, {self.random.randrange(3, 20)})", f"insert into b values ({self.random.randrange(60, 99)}, 1)",
                f"delete from b where id = {self.random.randrange(1, 14)}", "drop trigger tr on b"]
