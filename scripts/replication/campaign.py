"""The campaign of kills: a subscriber kept equal, table by table and row by row."""
import random
import subprocess
import threading
import time

from comparison.servers import POSTGRES
from replication.pair import pgbench, psql

TABLES = {
    "pgbench_accounts": "aid", "pgbench_branches": "bid", "pgbench_tellers": "tid",
    "pgbench_history": "tid, bid, aid, delta, mtime", "odd": "id", "kinds": "id", "everything": "a, b",
    "filtered": "id", "listed": "id", "emptied": "id", "marks": "n"}
SCHEMA = """
create type mood as enum ('sad', 'ok', 'happy');
create table odd (id int primary key, big text, n numeric, at timestamptz);
create table kinds (id int primary key, i8 int8, f8 float8, b bool, d date, iv interval, j jsonb, raw bytea,
  list int[], m mood, u uuid, c char(4));
create table everything (a int, b text);
alter table everything replica identity full;
create table filtered (id int primary key, v int);
create table listed (id int primary key, shown text{hidden});
create table emptied (id int primary key, t text);
create table marks (n int primary key);
"""
PUBLICATION = """
create publication all_of_it for table pgbench_accounts, pgbench_branches, pgbench_tellers, pgbench_history, odd,
  kinds, everything, filtered where (id % 2 = 0), listed (id, shown), emptied, marks;
insert into kinds select n, n * 1000000007::int8, n / 7.0, n % 2 = 0, date '2026-01-01' + n, make_interval(mins => n),
  jsonb_build_object('n', n), decode(lpad(to_hex(n), 8, '0'), 'hex'), array[n, null, n + 1],
  (array['sad', 'ok', 'happy'])[1 + n % 3]::mood, null, 'ab' from generate_series(1, 200) n;
insert into filtered select n, n from generate_series(1, 50) n;
insert into listed select n, 'shown ' || n, 'hidden' from generate_series(1, 20) n;
"""


def rows(server, table, filtered):
    what = "id, shown" if table == "listed" else "*"
    where = " where id % 2 = 0" if table == "filtered" and filtered else ""
    return psql(server, f"copy (select {what} from {table}{where} order by {TABLES[table]}) to stdout", check=False)


def differing(publisher, subscriber):
    return [table for table in TABLES if rows(publisher, table, True) != rows(subscriber, table, False)]


class OddLoad:
    """A load with the cases that pgbench lacks: large values, subtransactions, changing keys, TRUNCATE, rows that come
    to pass a filter, large transactions, definitions."""

    def __init__(self, server, seed):
        self.server = server
        self.random = random.Random(seed)
        self.columns = 0
        # Perhaps of a load before that a kill has ended.
        self.may_have_prepared = True

    def finish_prepared(self, commits):
        gids = psql(self.server, "select gid from pg_prepared_xacts", check=False)
        if gids is None:
            return
        ends = [psql(self.server, f"{'commit' if commits else 'rollback'} prepared '{gid}'", check=False)
                for gid in gids.splitlines()]
        self.may_have_prepared = None in ends

    def step(self):
        n = self.random.randrange(1, 400)
        choice = self.random.randrange(12)
        other = self.random.randrange(1, 400)
        text = [
            f"insert into odd values ({n}, repeat(md5('{other}'), {self.random.choice((1, 40, 4000))}), {n}.25, now())"
            " on conflict (id) do update set big = excluded.big, n = odd.n + 1",
            f"update odd set id = id + 1000 where id = {n} and not exists (select from odd where id = {n + 1000})",
            f"delete from odd where id in ({n}, {n + 1000})",
            f"begin; insert into everything values ({n}, 'kept'); savepoint s; insert into everything values ({n}, "
            f"'undone'); rollback to s; update everything set b = 'changed' where a = {other}; commit",
            f"update filtered set id = id + 51 where id = {n % 50 + 1} and not exists "
            f"(select from filtered where id = {n % 50 + 52}); insert into filtered values ({n % 100 + 1}, 0) "
            "on conflict (id) do update set v = filtered.v + 1",
            f"update listed set hidden = hidden || '+', shown = 'shown {other}' where id = {n % 20 + 1}",
            f"insert into emptied select n, 'x' from generate_series({n}, {n + 50}) n on conflict do nothing",
            "truncate emptied" if n % 3 == 0 else f"delete from everything where a = {n}",
            f"update kinds set j = j || jsonb_build_object('k{n % 5}', {n}), m = 'happy', raw = raw || '\\x00ff'::bytea "
            f"where id = {n % 200 + 1}",
            f"begin; insert into emptied select n, repeat('y', 100) from generate_series(100000, 103000) n on conflict "
            f"do nothing; delete from emptied where id >= 100000 and id % 2 = 0; commit",
            f"begin; insert into emptied select n, repeat('y', 100) from generate_series(200000, 202000) n on conflict "
            f"do nothing; savepoint a; insert into emptied select n, repeat('z', 100) from generate_series(210000, "
            f"213000) n on conflict do nothing; savepoint b; update emptied set t = 'b' where id = {other}; rollback to "
            f"{'a' if n % 2 else 'b'}; delete from emptied where id >= 200000 and id % 3 = 0; commit",
            f"begin; update filtered set v = v + 1 where id = {n % 50 + 1}; insert into everything values ({n}, "
            f"'prepared'); prepare transaction 'odd {n}'",
        ][choice]
        # Its locks would be waited for.
        if self.may_have_prepared:
            self.finish_prepared(n % 3 != 0)
        psql(self.server, text, check=False)
        if choice == 11:
            self.may_have_prepared = True
            self.finish_prepared(n % 3 != 0)


class Load:
    def __init__(self, server, seed):
        self.odd = OddLoad(server, seed)
        self.server = server
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.run_pgbench), threading.Thread(target=self.run_odd)]
        for thread in self.threads:
            thread.start()

    def run_pgbench(self):
        while not self.ends.is_set():
            # The load ends with its server; its committed changes stay.
            pgbench(self.server, "-n", "-c", "4", "-T", "1", timeout=120)

    def run_odd(self):
        while not self.ends.is_set():
            self.odd.step()

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def prepare(pair):
    pgbench(pair.publisher, "-i", "-q", "-s", "1", check=True)
    pgbench(pair.subscriber, "-i", "-q", "-I", "tp", check=True)
    psql(pair.publisher, SCHEMA.format(hidden=", hidden text"))
    psql(pair.subscriber, SCHEMA.format(hidden=""))
    psql(pair.publisher, PUBLICATION)


def read_with_recvlogical(pair):
    """Returns the kinds of messages that pg_recvlogical receives for two transactions."""
    tool = [POSTGRES / "pg_recvlogical", "-h", str(pair.publisher.folder), "-p", str(pair.publisher.port), "-U", "postgres",
            "-d", "postgres", "-S", "by_tool"]
    subprocess.run([*tool, "--create-slot", "-P", "pgoutput"], check=True)
    psql(pair.publisher, "insert into odd values (-1, 'one', 1, now())")
    psql(pair.publisher, "update odd set big = 'two' where id = -1; delete from odd where id = -1")
    end = psql(pair.publisher, "select pg_current_wal_lsn()")
    psql(pair.publisher, "insert into marks values (-1)")
    file = pair.publisher.folder / "received"
    subprocess.run([*tool, "--start", "-f", file, "-E", end, "-o", "proto_version=1", "-o",
                    "publication_names=all_of_it"], check=True, timeout=30)
    psql(pair.publisher, "delete from marks where n = -1")
    subprocess.run([*tool, "--drop-slot"], check=True)
    kinds = "".join(line[:1].decode() for line in file.read_bytes().split(b"\n") if line[:1] in b"BRIUDC" and line)
    if "BRIC" not in kinds or "U" not in kinds or "D" not in kinds:
        raise SystemExit(f"pg_recvlogical has read {kinds!r}")


def campaign(pair, arguments):
    prepare(pair)
    if pair.is_outgoing:
        read_with_recvlogical(pair)
    pair.subscribe("all_of_it")
    pair.wait_until_copied()
    pair.wait_until_equal_position()
    if different := differing(pair.publisher, pair.subscriber):
        raise SystemExit(f"differs after the initial copy: {different}")
    chance = random.Random(arguments.seed)
    lags, killed = [], {"publisher": 0, "subscriber": 0}
    for kill in range(arguments.kills):
        load = Load(pair.publisher, arguments.seed * 1000 + kill)
        time.sleep(arguments.seconds * (0.5 + chance.random()))
        side = ("publisher", "subscriber")[kill % 2 if arguments.kills < 4 else chance.randrange(2)]
        if side == "publisher":
            pair.kill_publisher()
        else:
            pair.kill_subscriber()
        killed[side] += 1
        time.sleep(0.2)
        load.stop()
        lags.append(pair.wait_until_equal_position())
        different = differing(pair.publisher, pair.subscriber)
        print(f"kill {kill + 1} of {side}: equal after {lags[-1]:.2f} s" if not different
              else f"kill {kill + 1} of {side}: DIFFERENT {different}", flush=True)
        if different:
            return None
    counts = {table: rows(pair.publisher, table, True).count("\n") + 1 for table in ("pgbench_history", "odd", "everything")}
    psql(pair.subscriber, "drop subscription s")
    if psql(pair.publisher, "select count(*) from pg_replication_slots") != "0":
        raise SystemExit("the subscription has left its slot")
    return f"{killed['publisher']} kills of the publisher and {killed['subscriber']} of the subscriber, tables equal after each; {counts}; slowest catch-up {max(lags, default=0):.1f} s"
