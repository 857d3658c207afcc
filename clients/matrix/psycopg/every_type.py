"""Values of every kind of type through psycopg: their bytes as they come, sent back, and as objects."""
import psycopg
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.json import Jsonb
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

DEFINITIONS = [
    "CREATE TYPE mood_psycopg AS ENUM ('sad', 'happy')",
    "CREATE DOMAIN price_psycopg AS numeric(8,2) CHECK (value >= 0)",
    "CREATE TYPE pair_psycopg AS (a int, b text)",
    "CREATE TYPE textrange_psycopg AS RANGE (subtype = text)",
]
TEXTS = [
    ("mood_psycopg", "happy"), ("mood_psycopg[]", "{sad,NULL,happy}"), ("price_psycopg", "12.50"),
    ("pair_psycopg", '(1,"a b")'), ("pair_psycopg", "(,)"), ("pair_psycopg[]", '{"(1,a)","(2,\\"b c\\")"}'),
    ("textrange_psycopg", "[a,b)"), ("int4range", "[1,5)"), ("int4range", "empty"), ("int8range", "(,7)"),
    ("numrange", "(1.5,2.25]"), ("daterange", "[2024-02-29,infinity)"), ("tsrange", "(,)"),
    ("tstzrange", '["2024-02-29 12:00:00+00",)'), ("int4range[]", '{"[1,2)",empty}'),
    ("int4multirange", "{[1,3),[5,7)}"), ("nummultirange", "{}"), ("jsonb", '{"a": [1, 2.50, null], "b": "\\u20ac"}'),
    ("json", '{"a" : 1}'), ("jsonpath", '$."a"[*]?(@ > 1)'), ("bit(4)", "1010"), ("varbit", "10101"), ("varbit", ""),
    ("macaddr", "08:00:2b:01:02:03"), ("macaddr8", "08:00:2b:01:02:03:04:05"), ("money", "-1234.50"),
    ("xml", '<a b="1">\u20ac</a>'), ("point", "(1,-2.5)"), ("line", "{1,-1,0}"), ("lseg", "[(0,0),(1,1)]"),
    ("box", "(2,2),(0,0)"), ("path", "((0,0),(1,1),(2,0))"), ("path", "[(0,0),(1,1)]"), ("polygon", "((0,0),(1,1),(2,0))"),
    ("circle", "<(0.5,0),2>"), ("point[]", "{\"(0,0)\",\"(1,2)\"}"), ("tsvector", "'a':1A,3 'b c':2"),
    ("tsquery", "'a' & !( 'b':*A <-> 'c' )"), ("inet", "10.1.2.3/16"), ("cidr", "fe80::/10"), ("interval", "1 mon -2 days"),
    ("timetz", "12:30:00.5+02"), ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), ("pg_lsn", "16/B374D848"),
    ("text[]", '{a,"b,c",NULL}'), ("numeric", "-0.00012300"), ("float8", "-Infinity"), ("name", "n"), ("bytea", "\\x00ff"),
    ("numeric", "Infinity"), ("numeric", "NaN"), ("date", "infinity"), ("time", "24:00:00"), ("timestamp", "infinity"),
    ("timestamptz", "-infinity"), ("char(3)", "ab"), ("varchar(3)", "abc"), ('"char"', "x"), ("oid", "4294967295"), ("regtype", "integer"),
    ("regclass", "pg_class"), ("regprocedure", "abs(integer)"), ("int2vector", "1 2"), ("oidvector", "1 2"), ("xid8", "5"),
    ("pg_snapshot", "10:20:10,14"), ("tid", "(1,2)"), ("int4[]", "[0:1]={1,2}"), ("int4[]", "{{1,2},{3,4}}"), ("jsonb", "null"),
    ("tsvector", ""), ("datemultirange", "{[2024-01-01,2024-01-05)}"),
]


def make(connection):
    for definition in DEFINITIONS:
        connection.execute(definition)


def drop(connection):
    for definition in reversed(DEFINITIONS):
        _, kind, name, *_ = definition.split()
        connection.execute(f"DROP {kind} {name}")


def bytes_and_back(connection):
    """Checks that the server accepts its own binary form of a value, alone and in an array."""
    arrays = [(kind + "[]", f"ARRAY[%s::{kind}, NULL]", text) for kind, text in TEXTS if not kind.endswith("]")]
    for kind, made, text in [(kind, f"%s::{kind}", text) for kind, text in TEXTS] + arrays:
        with connection.cursor(binary=True) as cursor:
            cursor.execute(f"SELECT {made}", [text])
            data, oid = cursor.pgresult.get_value(0, 0), cursor.pgresult.ftype(0)
            assert cursor.pgresult.fformat(0) == 1, kind
        # A domain's values are sent as its base's, and are one again where that is said.
        expected = made.replace("%s", "$2")
        back = connection.pgconn.exec_params(f"SELECT $1::{kind}::text, ({expected})::text".encode(),
                                             [data, text.encode()], [oid, 0], [1, 0], 0)
        assert back.status == psycopg.pq.ExecStatus.TUPLES_OK, (kind, back.error_message)
        assert back.get_value(0, 0) == back.get_value(0, 1), (kind, back.get_value(0, 0), text)


def copied(connection):
    """The same through COPY in its binary form, all types in one row."""
    columns = ", ".join(f"c{number} {kind}" for number, (kind, _) in enumerate(TEXTS))
    connection.execute(f"CREATE TEMP TABLE every_type ({columns})")
    connection.execute(f"INSERT INTO every_type VALUES ({', '.join(['%s'] * len(TEXTS))})", [text for _, text in TEXTS])
    before = connection.execute("SELECT every_type::text FROM every_type").fetchone()
    with connection.cursor() as cursor:
        with cursor.copy("COPY every_type TO STDOUT (FORMAT BINARY)") as out:
            data = b"".join(bytes(block) for block in out)
        cursor.execute("DELETE FROM every_type")
        with cursor.copy("COPY every_type FROM STDIN (FORMAT BINARY)") as into:
            into.write(data)
    assert connection.execute("SELECT every_type::text FROM every_type").fetchone() == before


def objects(connection):
    """Checks values as Python objects, in text and binary format."""
    register_enum(EnumInfo.fetch(connection, "mood_psycopg"), connection)
    pair = CompositeInfo.fetch(connection, "pair_psycopg")
    register_composite(pair, connection)
    mood = EnumInfo.fetch(connection, "mood_psycopg")
    register_enum(mood, connection)
    values = [
        ("mood_psycopg", mood.enum.happy), ("pair_psycopg", pair.python_type(1, "a b")),
        ("pair_psycopg[]", [pair.python_type(1, "x"), pair.python_type(None, None)]), ("int4range", Range(1, 5)),
        ("int4range", Range(empty=True)), ("int4multirange", Multirange([Range(1, 3), Range(5, 7)])),
        ("int4range[]", [Range(1, 2), Range(None, 9)]),
    ]
    for binary in (False, True):
        for kind, value in values:
            place = "%b" if binary else "%t"
            with connection.cursor(binary=binary) as cursor:
                got = cursor.execute(f"SELECT {place}::{kind}", [value]).fetchone()[0]
            assert got == value, (kind, binary, got, value)
        with connection.cursor(binary=binary) as cursor:
            got = cursor.execute("SELECT %s::jsonb", [Jsonb({"a": [1, None, "€"]})]).fetchone()[0]
        assert got == {"a": [1, None, "€"]}, got
