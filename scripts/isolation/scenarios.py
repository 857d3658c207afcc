"""Two sessions and one row: what the first does to it, what the second makes of that. Every pair of
both, at each level and in each order, is a scenario."""

LEVELS = {"rc": "READ COMMITTED", "rr": "REPEATABLE READ", "ser": "SERIALIZABLE"}

DROP = "drop materialized view if exists m;\ndrop table if exists c, p, t, o, n;\n"
ROW_TABLES = DROP + """create table t (id int primary key, u int unique, b int, g int);
create index on t (g);
create table o (id int primary key)"""
ROW_ROWS = """delete from t;
delete from o;
insert into t values (1, 10, 100, 0), (2, 20, 200, 0), (3, 30, 300, 1), (4, null, 400, 2), (5, null, 400, 2);
insert into o values (1), (2), (3)"""

# Changes of row 1; 4 and 5 look alike.
ROW_CHANGES = {
    "deleted": ["delete from t where id = 1"],
    "moved": ["update t set id = 9 where id = 1"],
    "moved twice": ["update t set id = 8 where id = 1", "update t set id = 9 where id = 8"],
    "moved and back": ["update t set id = 9 where id = 1", "update t set id = 1, b = b + 1 where id = 9"],
    "moved and deleted": ["update t set id = 9 where id = 1", "delete from t where id = 9"],
    "moved, another instead": ["update t set id = 9 where id = 1", "insert into t values (1, 11, 111, 0)"],
    "moved, another moved there": ["update t set id = 9 where id = 1", "update t set id = 1 where id = 2"],
    "exchanged": ["update t set id = 9 where id = 1", "update t set id = 1 where id = 2",
                  "update t set id = 2 where id = 9"],
    "its like moves there": ["update t set id = 9 where id = 4", "update t set id = 4 where id = 5"],
    "its like comes instead": ["update t set id = 9 where id = 4", "insert into t values (4, null, 400, 2)"],
    "deleted, the same instead": ["delete from t where id = 4", "insert into t values (4, null, 400, 2)"],
    "deleted, another instead": ["delete from t where id = 1", "insert into t values (1, 11, 111, 0)"],
    "changed": ["update t set b = b + 1 where id = 1"],
    "changed and moved": ["update t set b = b + 1 where id = 1", "update t set id = 9 where id = 1"],
    "changed so that it fits no more": ["update t set g = 5, u = 50 where id = 1"],
    "moved by a savepoint that went": ["savepoint s", "update t set id = 9 where id = 1", "rollback to s",
                                       "update t set b = b + 1 where id = 1"],
}
# Statements of the other session.
ROW_ANSWERS = {
    "update by key": "update t set b = b + 1000 where id = 1 returning *",
    "update of all": "update t set b = b + 1000 returning *",
    "update by index": "update t set b = b + 1000 where g = 0 returning *",
    "update by unique": "update t set b = b + 1000 where u = 10 returning *",
    "update by join": "update t set b = b + 1000 from o where t.id = o.id returning t.*",
    "move": "update t set id = 7 where id = 1 returning *",
    "delete by key": "delete from t where id = 1 returning *",
    "delete of all": "delete from t returning *",
    "delete by index": "delete from t where g = 0 returning *",
    "update of likes": "update t set b = b + 1000 where g = 2 returning *",
    "delete of likes": "delete from t where b = 400 returning *",
    "for update": "select * from t where id = 1 for update",
    "for no key update": "select * from t where g = 0 for no key update",
    "for share": "select * from t for share",
    "for key share": "select * from t where id = 1 for key share",
    "insert": "insert into t values (1, 70, 700, 7)",
    "insert or update": "insert into t values (1, 70, 700, 7) on conflict (id) do update set b = t.b + 1000 returning *",
    "insert or update by unique":
        "insert into t values (7, 10, 700, 7) on conflict (u) do update set b = t.b + 1000 returning *",
    "insert or nothing": "insert into t values (1, 70, 700, 7) on conflict do nothing returning *",
    "insert of what moves in, or nothing": "insert into t values (9, 90, 900, 9) on conflict do nothing returning *",
    "insert of what moves in, or update":
        "insert into t values (9, 90, 900, 9) on conflict (id) do update set b = t.b + 1000 returning *",
}

# The same for MERGE, as PostgreSQL 18 has it.
MERGE_ANSWERS = {
    "merge that updates": """merge into t using o on t.id = o.id
when matched then update set b = t.b + 1000 returning merge_action(), old.b, t.*""",
    "merge that deletes": """merge into t using (values (1), (4)) v (i) on t.id = v.i
when matched then delete returning merge_action(), t.*""",
    "merge that updates or inserts": """merge into t using (values (1), (6), (9)) v (i) on t.id = v.i
when matched then update set b = t.b + 1000 when not matched then insert values (v.i, null, 600, 6)
returning merge_action(), t.*""",
    "merge by another column": """merge into t using (values (10, 50), (20, 60)) v (k, i) on t.u = v.k
when matched and t.b > 100 then delete when matched then update set b = t.b + 1000
when not matched then insert values (v.i, null, 700, 7) returning merge_action(), old.id, old.b, t.*""",
    "merge by a column that is no key": """merge into t using (values (0, 70), (2, 80)) v (k, i) on t.g = v.k
when matched and t.id = 9 then do nothing when matched then update set b = t.b + 1000
when not matched then insert values (v.i, null, 700, 7) returning merge_action(), t.*""",
    "merge of what has no source": """merge into t using (values (2), (3)) v (i) on t.id = v.i
when not matched by source and t.b > 399 then update set b = 1 when not matched by source then delete
returning merge_action(), t.*""",
    "merge of all": """merge into t using (values (10, 50), (20, 60), (77, 70)) v (k, i) on t.u = v.k
when matched then update set b = t.b + 1000 when not matched then insert values (v.i, null, 700, 7)
when not matched by source then update set b = -t.b returning merge_action(), t.*""",
}

# A row that goes to another partition is another row there.
PARTITION_TABLES = DROP + """create table t (id int, k int, b int, primary key (id, k)) partition by list (k);
create table t1 partition of t for values in (1);
create table t2 (b int, k int not null, id int not null);
alter table t attach partition t2 for values in (2);
create table td partition of t default;
create index on t (b);
create table o (id int primary key)"""
PARTITION_ROWS = """delete from t;
delete from o;
insert into t values (1, 1, 100), (2, 1, 200), (3, 2, 300), (4, 7, 400);
insert into o values (1), (2), (3)"""
PARTITION_CHANGES = {
    "row of a part deleted": ["delete from t where id = 1"],
    "row to another part": ["update t set k = 2 where id = 1"],
    "row to another part and back": ["update t set k = 2 where id = 1", "update t set k = 1, b = b + 1 where id = 1"],
    "row to another part and on": ["update t set k = 2 where id = 1", "update t set k = 8 where id = 1"],
    "row to another part, another comes": ["update t set k = 2 where id = 1", "insert into t values (1, 1, 111)"],
    "row to another part, deleted there": ["update t set k = 2 where id = 1", "delete from t where id = 1"],
    "row of a part changed": ["update t set b = b + 1 where id = 1"],
    "row of a part changed, to another": ["update t set b = b + 1 where id = 1", "update t set k = 2 where id = 1"],
    "row to another part by a savepoint that went": ["savepoint s", "update t set k = 2 where id = 1",
                                                     "rollback to s", "update t set b = b + 1 where id = 1"],
    "row of a part gets another key": ["update t set id = 9 where id = 1"],
}
PARTITION_ANSWERS = {
    "update by key": "update t set b = b + 1000 where id = 1 and k = 1 returning *",
    "update of all": "update t set b = b + 1000 returning *",
    "update by index": "update t set b = b + 1000 where b = 100 returning *",
    "update by join": "update t set b = b + 1000 from o where t.id = o.id returning t.*",
    "move": "update t set k = 2 where id = 1 returning *",
    "move elsewhere": "update t set k = 5 where id = 1 returning *",
    "delete by key": "delete from t where id = 1 and k = 1 returning *",
    "delete of all": "delete from t returning *",
    "delete in the part": "delete from t1 returning *",
    "for update": "select * from t where id = 1 for update",
    "for share": "select * from t for share",
    "for key share": "select * from t where id = 1 for key share",
    "skip locked": "select * from t for update skip locked",
    "insert": "insert into t values (1, 1, 700)",
    "insert or update": "insert into t values (1, 1, 7) on conflict (id, k) do update set b = t.b + 1000 returning *",
    "insert or nothing": "insert into t values (1, 1, 700) on conflict do nothing returning *",
    "insert of what comes, or nothing": "insert into t values (1, 2, 900) on conflict do nothing returning *",
    "insert of what comes, or update":
        "insert into t values (1, 2, 9) on conflict (id, k) do update set b = t.b + 1000 returning *",
}

# Parents and children: what of the two comes first.
KEY_TABLES = DROP + """create table p (id int primary key, v int);
create table c (id int primary key, p int default 3 references p {actions});
{index}create table o (id int primary key)"""
KEY_ROWS = """delete from c;
delete from p;
insert into p values (1, 0), (2, 0), (3, 0);
insert into c values (20, 2){child}"""
KEY_ACTIONS = {
    "no action": "",
    "restrict": "on delete restrict on update restrict",
    "cascade": "on delete cascade on update cascade",
    "set null": "on delete set null on update set null",
    "set default": "on delete set default on update set default",
    "deferred": "deferrable initially deferred",
}
CHILD_CHANGES = {
    "child comes": ["insert into c values (11, 1)"],
    "child is moved here": ["update c set p = 1 where id = 20"],
    "child goes": ["delete from c where id = 10"],
    "child is moved away": ["update c set p = 2 where id = 10"],
    "child's key changes": ["update c set id = 12 where id = 10"],
    "child comes and goes": ["insert into c values (11, 1)", "delete from c where id in (10, 11)"],
}
PARENT_CHANGES = {
    "parent goes": ["delete from p where id = 1"],
    "parent's key changes": ["update p set id = 9 where id = 1"],
    "parent goes and comes": ["delete from c where p = 1", "delete from p where id = 1", "insert into p values (1, 7)"],
    "parent changes": ["update p set v = 1 where id = 1"],
}


# Definitions in a transaction whose snapshot is older than the newest rows.
DEFINITION_TABLES = DROP + """create table t (id int primary key, v int, w text);
create index x on t (w);
create table o (id int primary key);
insert into t values (1, 1, 'a'), (2, 2, 'b');
create materialized view m as select v from t"""
DEFINITION_CHANGES = {
    "a row comes": "insert into t values (3, 3, 'c')",
    "a row goes": "delete from t where id = 2",
    "a value changes": "update t set v = 20 where id = 2",
    "a value is repeated": "update t set v = 1 where id = 2",
    "a value is negative": "update t set v = -2 where id = 2",
    "a value is null": "update t set w = null where id = 2",
    "a key changes": "update t set id = 9 where id = 2",
}
DEFINITIONS = ["create index on t (v)", "create unique index on t (v)", "create index on t (v) where v > 1",
               "create index on t ((v + 1))", "alter table t alter v type bigint", "alter table t add check (v > 0)",
               "alter table t alter w set not null", "alter table t add unique (v)",
               "alter table t add foreign key (v) references o", "alter table t add n int default 7",
               "alter table t add n int generated always as (v * 2) stored", "alter table t drop constraint t_pkey",
               "alter table t drop constraint t_pkey, add primary key (v)", "reindex table t", "truncate t",
               "refresh materialized view m", "alter table t drop v cascade", "create table n as select * from t"]

# Bookings that must not overlap.
BOOKING_TABLES = DROP + """create extension if not exists btree_gist;
create table t (id int primary key, room int, during int4range, exclude using gist (room with =, during with &&));
create table o (id int primary key)"""
BOOKING_ROWS = """delete from t;
insert into t values (1, 1, '[1,5)'), (2, 1, '[5,9)'), (3, 2, '[1,9)')"""
BOOKING_CHANGES = {
    "booked": ["insert into t values (9, 1, '[20,30)')"],
    "booked later": ["insert into t values (9, 1, '[40,50)')"],
    "booked elsewhere": ["insert into t values (9, 5, '[20,30)')"],
    "given up": ["delete from t where id = 2"],
    "shortened": ["update t set during = '[5,6)' where id = 2"],
    "taken elsewhere": ["update t set room = 7 where id = 2"],
    "moved there": ["update t set during = '[20,30)' where id = 2"],
    "given up and taken": ["delete from t where id = 2", "insert into t values (9, 1, '[6,9)')"],
    "its key changes": ["update t set id = 12 where id = 2"],
}
BOOKING_ANSWERS = {
    "book the new": "insert into t values (8, 1, '[25,35)')",
    "book the old": "insert into t values (8, 1, '[6,8)')",
    "book the new, or nothing": "insert into t values (8, 1, '[25,35)') on conflict do nothing",
    "book the old, or nothing": "insert into t values (8, 1, '[6,8)') on conflict do nothing",
    "move to the new": "update t set during = '[25,35)' where id = 1",
    "stretch over the old": "update t set during = '[1,7)' where id = 1",
}

# Statements of several parts, each of which sees the state before the statement.
PARTS = [
    "with i as (insert into c values (11, 1) returning 1) select count(*) from c",
    "with i as (insert into c values (11, 1) returning 1) select count(*) from c, i",
    "with i as (insert into p values (4, 0) returning 1) select count(*) from p",
    "with d as (delete from c returning 1) select count(*) from c",
    "with u as (update p set v = 5 returning v) select sum(v) from p",
    "with u as (update p set id = 9 where id = 3 returning v) select max(id) from p",
    "with d as (delete from p where id = 1) delete from c where p = 1",
    "with d as (delete from c where p = 2) delete from p where id = 2",
    "with d as (delete from p where id = 2) select 1",
    "with d as (delete from p where id = 2 returning *), i as (insert into c values (12, 2)) select * from d",
    "with u as (update c set p = 9 where p = 2) update p set id = 9 where id = 2",
    "with i as (insert into p values (7, 0)) insert into c values (17, 7)",
    "with i as (insert into c values (17, 7)) insert into p values (7, 0)",
    "insert into p select id + 10, v from p",
    "insert into c select id + 1, p from c where exists (select from p where p.id = c.p)",
    "update p set id = id + 10 where id = 3 returning (select max(id) from p)",
]


class Scenario:
    """`tables` are made anew where they differ from the scenario before, or always; `rows` each time."""

    def __init__(self, name, tables, rows, steps, shown, changes_tables=False):
        self.name, self.tables, self.rows, self.steps = name, tables, rows, steps
        self.shown, self.changes_tables = shown, changes_tables


def _steps(order, level, first, second):
    """Returns the steps by session. The second session takes its snapshot before the first one acts."""
    begin = [(2, f"begin isolation level {LEVELS[level]}"), (2, "select count(*) from o")]
    change = [(1, f"begin isolation level {LEVELS[level]}")] + [(1, text) for text in first]
    answer = [(2, text) for text in second]
    if order == "after":
        return begin + change + [(1, "commit")] + answer + [(2, "commit")]
    end = "commit" if order == "beside" else "rollback"
    return begin + change + answer + [(1, end), (2, "commit")]


def scenarios():
    for level in LEVELS:
        for order in ("after", "beside", "undone"):
            for changed, first in ROW_CHANGES.items():
                for answered, second in ROW_ANSWERS.items():
                    yield Scenario(f"{level}, {order}: {changed}; {answered}", ROW_TABLES, ROW_ROWS,
                                   _steps(order, level, first, [second]), ["t"])
                for answered, second in MERGE_ANSWERS.items():
                    yield Scenario(f"{level}, {order}: {changed}; {answered}", ROW_TABLES, ROW_ROWS,
                                   _steps(order, level, first, [second]), ["t"])
            for changed, first in BOOKING_CHANGES.items():
                for answered, second in BOOKING_ANSWERS.items():
                    yield Scenario(f"{level}, {order}: {changed}; {answered}", BOOKING_TABLES, BOOKING_ROWS,
                                   _steps(order, level, first, [second]), ["t"])
            for changed, first in PARTITION_CHANGES.items():
                for answered, second in PARTITION_ANSWERS.items():
                    yield Scenario(f"{level}, {order}: {changed}; {answered}", PARTITION_TABLES, PARTITION_ROWS,
                                   _steps(order, level, first, [second]), ["t", "t1"])
            yield from _key_scenarios(level, order)
        yield from _definitions(level)
        for text in PARTS:
            steps = [(2, f"begin isolation level {LEVELS[level]}"), (2, "select count(*) from p"), (2, text),
                     (2, "commit")]
            yield Scenario(f"{level}, alone: {text}", KEY_TABLES.format(actions="", index=""),
                           KEY_ROWS.format(child=""), steps, ["p", "c"])


def _definitions(level):
    for changed, first in DEFINITION_CHANGES.items():
        for text in DEFINITIONS:
            steps = _steps("after", level, [first], [text, "select count(*) from t", "select * from t where w = 'b'",
                                                     "select * from t where v = 2", "select * from t where v = 20"])
            yield Scenario(f"{level}, definition: {changed}; {text}", DEFINITION_TABLES, "", steps,
                           ["t", "t where v between 3 and 30", "t where w >= 'a'", "m"], changes_tables=True)


def _key_scenarios(level, order):
    for action, words in KEY_ACTIONS.items():
        for changed, first in CHILD_CHANGES.items():
            child = "" if "comes" in changed or "here" in changed else ", (10, 1)"
            tables = KEY_TABLES.format(actions=words, index="create index on c (p);\n" if order == "after" else "")
            rows = KEY_ROWS.format(child=child)
            for answered, second in PARENT_CHANGES.items():
                if answered == "parent goes and comes":
                    continue
                yield Scenario(f"{level}, {order}, {action}: {changed}; {answered}", tables, rows,
                               _steps(order, level, first, second), ["p", "c"])
        rows = KEY_ROWS.format(child="")
        for changed, first in PARENT_CHANGES.items():
            for answered in ("child comes", "child is moved here"):
                yield Scenario(f"{level}, {order}, {action}: {changed}; {answered}", tables, rows,
                               _steps(order, level, first, CHILD_CHANGES[answered]), ["p", "c"])
