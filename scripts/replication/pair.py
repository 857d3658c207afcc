"""A server of ours and stock PostgreSQL 15 servers that subscribe to it, all of which can be killed."""
import signal
import subprocess
import time

from comparison.servers import POSTGRES, Postgres
from sharding.shard import Shard


class OurServer(Shard):
    settings = ()

    def command(self):
        extra = [word for setting in self.settings for word in ("-c", setting)]
        return super().command() + extra


def psql(server, text, check=True):
    done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", str(server.folder), "-p", str(server.port),
                           "-U", "postgres", "-d", "postgres", "-c", text], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"{text[:200]}\n{done.stderr}")
    return done.stdout.strip() if done.returncode == 0 else None


def pgbench(server, *words, **options):
    return subprocess.run([POSTGRES / "pgbench", "-h", str(server.folder), "-p", str(server.port), "-U", "postgres",
                           *words, "postgres"], capture_output=True, text=True, **options)


def kill_stock(stock):
    stock.process.send_signal(signal.SIGKILL)
    stock.process.wait()
    # Its children see that it is gone, and leave its shared memory then.
    for _ in range(100):
        time.sleep(0.1)
        try:
            stock.start()
            return
        except SystemExit:
            continue
    raise SystemExit("PostgreSQL does not start again")


def subscriber(home, port):
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    stock = Postgres(home, port, "64MB")
    stock.create()
    with open(stock.data / "postgresql.conf", "a") as file:
        file.write("wal_retrieve_retry_interval = 100ms\nmax_sync_workers_per_subscription = 4\nfsync = on\n"
                   "max_logical_replication_workers = 8\nmax_worker_processes = 16\n"
                   "max_prepared_transactions = 10\n")
    stock.start()
    return stock


class Pair:
    """One of our servers, and a server that can subscribe to it."""
    is_outgoing = True

    @property
    def publisher(self):
        return self.ours

    @property
    def subscriber(self):
        return self.stock

    def kill_publisher(self):
        self.ours.kill()
        self.ours.start()

    def kill_subscriber(self):
        kill_stock(self.stock)

    def __init__(self, scratch, arguments, settings=()):
        self.ours = OurServer(0, scratch, arguments.port, arguments.program.resolve())
        # With streaming, so that there are large transactions.
        memory = ("logical_decoding_work_mem=64kB",) if "streaming" in arguments.options else ()
        self.ours.settings = ("wal_level=logical", "max_prepared_transactions=10", *memory, *settings)
        self.options = f" with ({arguments.options})" if arguments.options else ""
        self.ours.start()
        self.stock = subscriber(scratch / "subscriber", arguments.port + 1)
        self.stocks = [self.stock]
        self.marks = 0

    def subscribe(self, publication, name="s", stock=None):
        psql(stock or self.stock, f"create subscription {name} connection '{self.address()}' publication "
                                  f"{publication}{self.options}")

    def address(self):
        return f"host={self.ours.folder} port={self.ours.port} user=postgres dbname=postgres"

    def wait_until_equal_position(self, seconds=60):
        """A mark that is written now arrives at the subscribers. Seconds until it has."""
        self.marks += 1
        psql(self.ours, f"insert into marks values ({self.marks})")
        begin = time.monotonic()
        for stock in self.stocks:
            while psql(stock, f"select 1 from marks where n = {self.marks}", check=False) != "1":
                if time.monotonic() > begin + seconds:
                    raise SystemExit(f"mark {self.marks} does not arrive within {seconds} s; see {stock.folder}/log")
                time.sleep(0.02)
        return time.monotonic() - begin

    def wait_until_copied(self, seconds=60):
        end = time.monotonic() + seconds
        for stock in self.stocks:
            while psql(stock, "select count(*) from pg_subscription_rel where srsubstate <> 'r'") != "0":
                if time.monotonic() > end:
                    raise SystemExit(f"the initial copy does not end within {seconds} s; see {stock.folder}/log")
                time.sleep(0.05)

    def stop(self):
        self.ours.stop()
        for stock in self.stocks:
            stock.stop()


class IncomingPair:
    """A stock PostgreSQL 15 that publishes, and a server of ours that subscribes to it."""
    is_outgoing = False

    def __init__(self, scratch, arguments, settings=()):
        self.subscriber = OurServer(0, scratch, arguments.port, arguments.program.resolve())
        self.subscriber.settings = ("wal_retrieve_retry_interval=100ms", "max_prepared_transactions=10", *settings)
        self.options = f" with ({arguments.options})" if arguments.options else ""
        self.subscriber.start()
        home = scratch / "publisher"
        home.mkdir()
        home.chmod(0o755)
        self.publisher = Postgres(home, arguments.port + 1, "64MB")
        self.publisher.create()
        with open(self.publisher.data / "postgresql.conf", "a") as file:
            file.write("wal_level = logical\nfsync = on\nlogical_decoding_work_mem = 64kB\n"
                       "max_prepared_transactions = 10\n")
        self.publisher.start()
        self.marks = 0

    def subscribe(self, publication, name="s"):
        address = f"host={self.publisher.folder} port={self.publisher.port} user=postgres dbname=postgres"
        psql(self.subscriber, f"create subscription {name} connection '{address}' publication "
                              f"{publication}{self.options}")

    def wait_until(self, question, answer, seconds=60):
        """Seconds until the subscriber gives that answer."""
        begin = time.monotonic()
        while psql(self.subscriber, question, check=False) != answer:
            if time.monotonic() > begin + seconds:
                raise SystemExit(f"{question}: not {answer} within {seconds} s; see {self.subscriber.folder}/log")
            time.sleep(0.02)
        return time.monotonic() - begin

    def wait_until_equal_position(self):
        self.marks += 1
        psql(self.publisher, f"insert into marks values ({self.marks})")
        return self.wait_until(f"select 1 from marks where n = {self.marks}", "1")

    def wait_until_copied(self):
        self.wait_until("select count(*) from pg_subscription_rel where srsubstate <> 'r'", "0")

    def kill_publisher(self):
        kill_stock(self.publisher)

    def kill_subscriber(self):
        self.subscriber.kill()
        self.subscriber.start()

    def stop(self):
        self.subscriber.stop()
        self.publisher.stop()
