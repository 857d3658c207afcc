"""psycopg 3: text and binary, pipeline, COPY, server-side cursors, errors."""
import datetime
import decimal
import sys

import psycopg

import every_type

failures = 0


def step(name, body):
    global failures
    try:
        body()
        print(f"ok {name}")
    except Exception as error:  # every kind of failure is a line of the report
        print(f"FAIL {name}: {type(error).__name__} {error}".replace("\n", " "))
        failures += 1


connection = psycopg.connect("", autocommit=True)


def create():
    connection.execute(
        "CREATE TEMP TABLE m (k int PRIMARY KEY, t text, n numeric, b bytea, d timestamptz, f float8, u bool)"
    )


VALUES = [
    1,
    "text \u20ac",
    decimal.Decimal("123456789.123456789"),
    b"\x00\x01\xff",
    datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.timezone.utc),
    1.5,
    True,
]


def round_trip(binary):
    def body():
        with connection.cursor(binary=binary) as cursor:
            cursor.execute("DELETE FROM m")
            cursor.execute("INSERT INTO m VALUES (%s, %s, %s, %s, %s, %s, %s)", VALUES)
            row = cursor.execute("SELECT * FROM m").fetchone()
            assert list(row) == VALUES, row

    return body


def null():
    assert connection.execute("SELECT %s::int", [None]).fetchone() == (None,)


def prepared():
    for i in range(20):
        row = connection.execute("SELECT %s::int + 1", [i], prepare=True).fetchone()
        assert row == (i + 1,)


def unique():
    try:
        connection.execute("INSERT INTO m (k) VALUES (1)")
    except psycopg.errors.UniqueViolation as error:
        assert error.diag.constraint_name == "m_pkey", error.diag.constraint_name
        return
    raise AssertionError("no error")


def rollback():
    try:
        with connection.transaction():
            connection.execute("DELETE FROM m")
            raise psycopg.Rollback
    except psycopg.Rollback:
        pass
    assert connection.execute("SELECT count(*) FROM m").fetchone() == (1,)


def nested():
    with connection.transaction():
        connection.execute("INSERT INTO m (k) VALUES (2)")
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO m (k) VALUES (3)")
    assert connection.execute("SELECT count(*) FROM m").fetchone() == (2,)


def pipeline():
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int", [i]) for i in range(50)]
    assert [c.fetchone()[0] for c in cursors] == list(range(50))


def copy():
    connection.execute("CREATE TEMP TABLE c (k int PRIMARY KEY, v text)")
    with connection.cursor() as cursor:
        with cursor.copy("COPY c FROM STDIN") as into:
            for i in range(1000):
                into.write_row((i, f"tab\t{i}"))
        with cursor.copy("COPY c TO STDOUT") as out:
            rows = sum(1 for _ in out.rows())
    assert rows == 1000, rows


def copy_binary():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM c")
        with cursor.copy("COPY c FROM STDIN (FORMAT BINARY)") as into:
            into.set_types(["int4", "text"])
            for i in range(100):
                into.write_row((i, str(i)))
    assert connection.execute("SELECT count(*), sum(k) FROM c").fetchone() == (100, 4950)


def server_cursor():
    with connection.transaction():
        with connection.cursor(name="walk") as cursor:
            cursor.execute("SELECT k FROM c ORDER BY k")
            cursor.itersize = 7
            assert [row[0] for row in cursor] == list(range(100))


def arrays():
    row = connection.execute("SELECT %s::int[], 3 = ANY(%s)", [[1, 2, 3], [3, 4]]).fetchone()
    assert row == ([1, 2, 3], True), row


step("create", create)
step("round trip, text", round_trip(False))
step("round trip, binary", round_trip(True))
step("null", null)
step("prepared", prepared)
step("unique violation", unique)
step("rollback", rollback)
step("nested transaction", nested)
step("pipeline", pipeline)
step("copy", copy)
step("copy binary", copy_binary)
step("server-side cursor", server_cursor)
step("arrays", arrays)
step("types of ours", lambda: every_type.make(connection))
step("bytes of every type", lambda: every_type.bytes_and_back(connection))
step("copy binary of every type", lambda: every_type.copied(connection))
step("enums, composites, ranges, jsonb as objects", lambda: every_type.objects(connection))
step("types dropped", lambda: (connection.execute("DROP TABLE every_type"), every_type.drop(connection)))
sys.exit(failures)
