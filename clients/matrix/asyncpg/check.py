"""asyncpg: everything binary, named statements, named portals, binary COPY."""
import asyncio
import datetime
import decimal
import sys

import asyncpg

failures = 0


async def step(name, body):
    global failures
    try:
        await body()
        print(f"ok {name}")
    except Exception as error:
        print(f"FAIL {name}: {type(error).__name__} {error}".replace("\n", " "))
        failures += 1


async def main():
    connection = await asyncpg.connect()

    async def create():
        await connection.execute(
            "CREATE TEMP TABLE m (k int PRIMARY KEY, t text, n numeric, b bytea, d timestamptz)"
        )

    async def round_trip():
        values = (
            1,
            "text \u20ac",
            decimal.Decimal("12.50"),
            b"\x00\xff",
            datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc),
        )
        await connection.execute("INSERT INTO m VALUES ($1, $2, $3, $4, $5)", *values)
        row = await connection.fetchrow("SELECT * FROM m WHERE k = $1", 1)
        assert tuple(row) == values, row

    async def prepared():
        statement = await connection.prepare("SELECT $1::int8 + 1")
        for i in range(20):
            assert await statement.fetchval(i) == i + 1

    async def transaction():
        try:
            async with connection.transaction():
                await connection.execute("DELETE FROM m")
                raise KeyError
        except KeyError:
            pass
        assert await connection.fetchval("SELECT count(*) FROM m") == 1

    async def unique():
        try:
            await connection.execute("INSERT INTO m (k) VALUES (1)")
        except asyncpg.UniqueViolationError as error:
            assert error.constraint_name == "m_pkey"
            return
        raise AssertionError("no error")

    async def many():
        await connection.executemany(
            "INSERT INTO m (k, t) VALUES ($1, $2)", [(i, str(i)) for i in range(10, 110)]
        )
        assert await connection.fetchval("SELECT count(*) FROM m") == 101

    async def cursor():
        async with connection.transaction():
            keys = [row["k"] async for row in connection.cursor("SELECT k FROM m ORDER BY k", prefetch=7)]
        assert len(keys) == 101

    async def copy():
        await connection.copy_records_to_table("m", records=[(i, str(i)) for i in range(200, 300)], columns=["k", "t"])
        assert await connection.fetchval("SELECT count(*) FROM m") == 201

    async def arrays():
        assert await connection.fetchval("SELECT $1::int[]", [1, 2, None]) == [1, 2, None]

    async def cancel():
        other = await asyncpg.connect()
        try:
            await asyncio.wait_for(other.execute("SELECT pg_sleep(30)"), timeout=0.3)
        except asyncio.TimeoutError:
            pass
        assert await other.fetchval("SELECT 1") == 1
        await other.close()

    async def pool():
        async with asyncpg.create_pool(min_size=2, max_size=4) as connections:
            answers = await asyncio.gather(*(connections.fetchval("SELECT $1::int", i) for i in range(50)))
        assert answers == list(range(50))

    for body in (create, round_trip, prepared, transaction, unique, many, cursor, copy, arrays, cancel, pool):
        await step(body.__name__.replace("_", " "), body)
    await connection.close()


asyncio.run(main())
sys.exit(failures)
