"""What the campaign of kills does not do: each trial has servers of its own, and answers with what it has seen."""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

from comparison.programs import newest_clients
from comparison.servers import ROOT
from replication.pair import Pair, kill_stock, pgbench, psql, subscriber

TPCB_KEYS = {"pgbench_accounts": "aid", "pgbench_branches": "bid", "pgbench_tellers": "tid",
             "pgbench_history": "tid, bid, aid, delta, mtime"}


MAKE_UNREAD = "select * from pg_create_logical_replication_slot('unread', 'pgoutput')"


def require(fine, problem):
    if not fine:
        raise SystemExit(problem)


def rows(server, table, order, what="*"):
    """A checksum of all rows in their order, as text."""
    return psql(server, f"select count(*), md5(string_agg(r::text, ';' order by {order})) from "
                        f"(select {what} from {table}) r")


def require_equal(pair, tables=None, stock=None):
    for table, order in (tables or TPCB_KEYS).items():
        here, there = rows(pair.ours, table, order), rows(stock or pair.stock, table, order)
        require(here == there, f"{table} differs: {here} here, {there} there")


def make_tpcb(pair, scale=1):
    pgbench(pair.ours, "-i", "-q", "-s", str(scale), check=True)
    psql(pair.ours, "create table marks (n int primary key)")
    for stock in pair.stocks:
        pgbench(stock, "-i", "-q", "-I", "tp", check=True)
        psql(stock, "create table marks (n int primary key)")


def resident_kb(server, which="VmRSS"):
    lines = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(which)).split()[1])


def forget_peak(server):
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")


class Load:
    """pgbench until it is stopped; over kills of its server."""

    def __init__(self, server, *words):
        self.ends = threading.Event()
        self.transactions = 0
        self.failed = []

        def run():
            while not self.ends.is_set():
                done = pgbench(server, "-n", "-c", "4", "-T", "1", *words, timeout=120)
                self.failed += [line for line in done.stderr.splitlines() if "ERROR" in line]
                for line in done.stdout.splitlines():
                    if "actually processed" in line:
                        self.transactions += int(line.split()[-1].split("/")[0])

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def stop(self):
        self.ends.set()
        self.thread.join()


def many_rows(pair, arguments):
    """A transaction of a million rows inserted, and of a million updated."""
    make_tpcb(pair)
    shape = "create table many (id int primary key, v int not null, t text)"
    for server in (pair.ours, pair.stock):
        psql(server, shape)
    psql(pair.ours, "create publication p for all tables")
    pair.subscribe("p")
    pair.wait_until_copied()
    pair.wait_until_equal_position()
    said = []
    for name, text in (("inserted", "insert into many select n, n, md5(n::text) from generate_series(1, 1000000) n"),
                       ("updated", "update many set v = v + 1")):
        # Take the memory of the pool and of the statement itself first, without a reader.
        before = resident_kb(pair.ours)
        begin = time.monotonic()
        psql(pair.ours, text)
        wrote = time.monotonic() - begin
        ran = resident_kb(pair.ours)
        forget_peak(pair.ours)
        pair.wait_until_equal_position(240)
        took = time.monotonic() - begin
        peak = resident_kb(pair.ours, "VmHWM")
        require_equal(pair, {"many": "id"})
        said.append(f"{name}: {wrote:.1f} s here, there after {took:.1f} s; server {before // 1024} MB before, "
                    f"{ran // 1024} MB when committed, {peak // 1024} MB at most while it was sent")
        # logical_decoding_work_mem is 64 MB.
        require(peak - ran < 200 * 1024, f"the server grew by {(peak - ran) // 1024} MB while it sent: {said}")
    return "; ".join(said)


def definitions(pair, arguments):
    """Columns that come, change and go on both sides under load."""
    make_tpcb(pair)
    psql(pair.ours, "create publication p for all tables")
    pair.subscribe("p")
    pair.wait_until_copied()
    load = Load(pair.ours)
    changes = 0
    try:
        for n in range(6):
            # First where more may be than is told; a column goes first where it is told.
            add = f"alter table pgbench_accounts add column extra{n} int default {n}"
            for server in (pair.stock, pair.ours):
                psql(server, add)
            time.sleep(0.5)
            psql(pair.ours, f"update pgbench_accounts set extra{n} = aid where aid <= 500")
            for server in (pair.stock, pair.ours):
                psql(server, f"alter table pgbench_tellers alter column tbalance type {('int8', 'int4')[n % 2]}")
            if n % 2 == 1:
                drop = f"alter table pgbench_accounts drop column extra{n - 1}"
                psql(pair.ours, drop)
                pair.wait_until_equal_position()
                psql(pair.stock, drop)
            changes += 2
            time.sleep(0.3)
    finally:
        load.stop()
    pair.wait_until_equal_position()
    require_equal(pair)
    require(not load.failed, f"pgbench: {load.failed[:3]}")
    return f"{changes + 3} ALTER TABLE on each side beside {load.transactions} transactions, no statement failed"


def two_subscribers(pair, arguments):
    """Two that subscribe to different publications, one of which is killed."""
    second = subscriber(pair.stock.folder.parent.parent / "second", arguments.port + 2)
    pair.stocks.append(second)
    make_tpcb(pair)
    psql(pair.ours, "create publication p for all tables; create publication few for table "
                    "pgbench_accounts where (aid % 10 = 0), pgbench_history, marks")
    pair.subscribe("p")
    pair.subscribe("few", "t", second)
    pair.wait_until_copied()
    load = Load(pair.ours)
    try:
        for side in ("second", "ours", "first", "second"):
            time.sleep(1)
            if side == "ours":
                pair.ours.kill()
                pair.ours.start()
            else:
                kill_stock(second if side == "second" else pair.stock)
    finally:
        load.stop()
    pair.wait_until_equal_position()
    require_equal(pair)
    some = "(select * from pgbench_accounts where aid % 10 = 0) a"
    require(rows(pair.ours, some, "aid") == rows(second, "pgbench_accounts", "aid"), "the filtered accounts differ")
    require_equal(pair, {"pgbench_history": TPCB_KEYS["pgbench_history"]}, second)
    return f"one killed twice, the other and the server once; {load.transactions} transactions or more"


def small_pool(pair, arguments):
    """Data larger than the pool, and the server killed."""
    make_tpcb(pair, 6)
    size = int(psql(pair.ours, "select sum(pg_total_relation_size(oid)) from pg_class where relname like 'pgbench%' "
                               "and relkind = 'r'"))
    pool = psql(pair.ours, "show shared_buffers")
    psql(pair.ours, "create publication p for all tables")
    pair.subscribe("p")
    pair.wait_until_copied(200)
    load = Load(pair.ours)
    try:
        for _ in range(3):
            time.sleep(1.5)
            pair.ours.kill()
            pair.ours.start()
        psql(pair.ours, "update pgbench_accounts set abalance = abalance + 1 where aid % 4 = 0")
    finally:
        load.stop()
    pair.wait_until_equal_position(200)
    require_equal(pair)
    return f"{size >> 20} MB of tables in a pool of {pool}, three kills, an UPDATE of every fourth row"


def killed_definitions(pair, arguments):
    """Kills within CREATE, ALTER and DROP PUBLICATION, while others write."""
    make_tpcb(pair)
    chance = random.Random(arguments.seed)
    load = Load(pair.ours)
    there = 0
    try:
        for kill in range(12):
            script = ("create publication p for all tables; drop publication p; create publication p for table "
                      "pgbench_accounts where (aid > 10); alter publication p add table pgbench_history; "
                      "drop publication p;") * 20 + "create publication p for all tables"
            words = ["psql", "-XqAt", "-h", pair.ours.folder, "-p", str(pair.ours.port), "-U", "postgres", "-d", "postgres"]
            writer = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, text=True)
            # One statement after the other, each with a commit of its own.
            writer.stdin.write("drop publication if exists p;\n" + script.replace("; ", ";\n").replace(";create", ";\ncreate") + ";\n")
            writer.stdin.flush()
            time.sleep(chance.uniform(0.01, 0.25))
            pair.ours.kill()
            writer.kill()
            writer.wait()
            pair.ours.start()
            count = psql(pair.ours, "select count(*) from pg_publication")
            members = psql(pair.ours, "select count(*) from pg_publication_rel r where not exists (select from "
                                      "pg_publication p where p.oid = r.prpubid)")
            require(count in ("0", "1") and members == "0", f"kill {kill}: {count} publications, {members} members of none")
            there += int(count)
            found = psql(pair.ours, "select * from swizzle_verify()")
            require(found == "", f"kill {kill}: swizzle_verify() says {found}")
    finally:
        load.stop()
    psql(pair.ours, "drop publication if exists p")
    psql(pair.ours, "create publication p for all tables")
    pair.subscribe("p")
    pair.wait_until_copied()
    pair.wait_until_equal_position()
    require_equal(pair)
    return f"12 kills, the publication was there after {there} of them; then subscribed to"


def full_disk(pair, arguments):
    """A slot without a reader: bounded by max_slot_wal_keep_size; without a bound, until the disk is full."""
    psql(pair.ours, "create table t (id int primary key, v text); create publication p for all tables")
    psql(pair.ours, MAKE_UNREAD)
    fill = "insert into t select n, repeat('x', 200) from generate_series({0} * 20000 + 1, {0} * 20000 + 20000) n"
    # Some 700 MB of log, in segments of 64 MB, which are used again.
    for n in range(75):
        psql(pair.ours, fill.format(n))
    psql(pair.ours, "checkpoint")
    status = psql(pair.ours, "select wal_status from pg_replication_slots")
    require(status == "lost", f"the slot is {status}")
    log = sum(file.stat().st_size for file in (pair.ours.folder / "data/engine/log").iterdir())
    require(0 < log < 450 << 20, f"{log >> 20} MB of log are left")
    psql(pair.ours, "select pg_drop_replication_slot('unread')")
    bounded = f"with max_slot_wal_keep_size the slot was lost, and the log had {log >> 20} MB of files after 1,500,000 rows"
    if os.getuid() != 0:
        return bounded + "; a full disk was not tried, which takes root"
    return bounded + "; " + on_full_disk(pair, arguments, fill)


def on_full_disk(pair, arguments, fill):
    """The server's directory on a file system of 700 MB."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="swizzle-full-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700m", "tmpfs", home], check=True)
    small = None
    try:
        small = type(pair.ours)(0, home, arguments.port + 3, arguments.program.resolve())
        # Recovery needs less than the disk, so that it is the slot that fills it.
        small.settings = ("wal_level=logical", "shared_buffers=64MB", "max_wal_size=96MB")
        small.start()
        psql(small, "create table t (id int primary key, v text); create publication p for all tables")
        psql(small, MAKE_UNREAD)
        refused = None
        for n in range(200):
            if psql(small, fill.format(n), check=False) is None:
                refused = n
                break
        require(refused is not None, "the disk does not fill")
        require(psql(small, "select length(v) from t where id = 7") == "200", "a row cannot be read on the full disk")
        require(psql(small, "select count(*) from t") == str(refused * 20000), "rows cannot be counted on the full disk")
        small.kill()
        small.start()
        require(psql(small, "select count(*) from t") == str(refused * 20000), "rows are missing after a kill")
        psql(small, "select pg_drop_replication_slot('unread')")
        # Log that recovery needs is released as pages are written.
        for _ in range(100):
            psql(small, "checkpoint")
            if psql(small, "delete from t where id % 16 = 0", check=False) is not None:
                break
            time.sleep(0.2)
        psql(small, "insert into t select n, 'y' from generate_series(50000001, 50001000) n")
        require(psql(small, "select * from swizzle_verify()") == "", "swizzle_verify() finds something")
        return (f"without it a disk of 700 MB was full after {refused * 20000} rows: the statement was refused, all that "
                "was committed was there, also after a kill, and the slot's end made room")
    finally:
        if small:
            small.stop()
        subprocess.run(["umount", home], check=False)
        shutil.rmtree(home, ignore_errors=True)


def tpcc(pair, arguments):
    """TPC-C over the wire; its consistency conditions are asked of the subscriber."""
    program = arguments.program.resolve().parent.parent / "tpcc" / "swizzle-tpcc"
    program = program if program.exists() else ROOT / "build/release/tpcc/swizzle-tpcc"

    def run(server, what, *words):
        url = f"postgresql://postgres@/postgres?host={server.folder}&port={server.port}"
        done = subprocess.run([program, what, "--backend", "wire", "--url", url, "--warehouses", "2", *words],
                              capture_output=True, text=True, timeout=200)
        return done

    def run_until_killed(seconds):
        return run(pair.ours, "run", "--sessions", "4", "--duration", str(seconds), "--warm-up", "0")

    loaded = run(pair.ours, "load")
    require(loaded.returncode == 0, f"swizzle-tpcc load: {loaded.stderr[-500:]}")
    psql(pair.ours, "create table marks (n int primary key)")
    dump = subprocess.run([newest_clients() / "pg_dump", "-h", pair.ours.folder, "-p", str(pair.ours.port), "-U", "postgres", "-s",
                           "postgres"], check=True, capture_output=True, text=True).stdout
    # 15 does not have that setting. Not by -c: newer versions of pg_dump write commands of psql.
    subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", pair.stock.folder, "-p", str(pair.stock.port), "-U",
                    "postgres", "-d", "postgres"], check=True, input=dump.replace("SET transaction_timeout = 0;\n", ""), text=True, stdout=subprocess.DEVNULL)
    # Tables without a key are told row by row as a whole.
    keyless = psql(pair.ours, "select relname from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace "
                              "and not exists (select from pg_index i where i.indrelid = c.oid and indisprimary)").split()
    for table in keyless:
        psql(pair.ours, f"alter table {table} replica identity full")
    psql(pair.ours, "create publication p for all tables")
    pair.subscribe("p")
    pair.wait_until_copied(200)
    for side in ("ours", "subscriber", "none"):
        runner = threading.Thread(target=run_until_killed, args=(5,))
        runner.start()
        time.sleep(3)
        if side == "ours":
            pair.ours.kill()
            pair.ours.start()
        elif side == "subscriber":
            kill_stock(pair.stock)
        runner.join()
    lag = pair.wait_until_equal_position(120)
    tables = psql(pair.ours, "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace "
                             "and relname <> 'marks'").split()
    require_equal(pair, {table: "r::text collate \"C\"" for table in tables})
    orders = psql(pair.ours, "select count(*) from orders", check=False) or "?"
    checked = run(pair.stock, "check")
    require(checked.returncode == 0, f"swizzle-tpcc check of the subscriber: {checked.stdout[-800:]}{checked.stderr[-400:]}")
    return (f"{len(tables)} tables, {orders} orders, both sides killed once: equal, and the consistency conditions hold at "
            f"the subscriber; behind at the end by {lag:.2f} s")


TRIALS = {"many-rows": (many_rows, ()), "definitions": (definitions, ()), "two-subscribers": (two_subscribers, ()),
          "small-pool": (small_pool, ("shared_buffers=16MB",)), "killed-definitions": (killed_definitions, ()),
          "full-disk": (full_disk, ("max_slot_wal_keep_size=64MB", "max_wal_size=96MB")), "tpcc": (tpcc, ())}


def run_trials(names, arguments, scratch):
    """The page's lines; the first that fails ends the script."""
    lines = []
    for name in names:
        trial, settings = TRIALS[name]
        home = scratch / name
        home.mkdir()
        home.chmod(0o755)
        pair = Pair(home, arguments, settings)
        try:
            what = trial(pair, arguments)
        finally:
            pair.stop()
        shutil.rmtree(home, ignore_errors=True)
        lines.append([name, what])
        print(f"{name}: {what}", flush=True)
    return lines
