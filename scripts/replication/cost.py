"""What publishing costs TPC-B: its rate, and the processor time that our server spends per transaction."""
import statistics
import subprocess

from comparison.servers import POSTGRES, TO_NOWHERE, processor_seconds
from replication.pair import pgbench, psql

COLUMNS = ["", "transactions per second, median", "of the first", "each run", "our server's µs per transaction, median",
           "of the first", "each run"]
NOBODY, SLOT, READER, SUBSCRIBER = ("nobody publishes", "published, with a slot", "pg_recvlogical reads",
                                    "with a subscriber")


class Cost:
    def __init__(self, pair, arguments):
        self.pair = pair
        self.arguments = arguments
        self.rates = {name: [] for name in (NOBODY, SLOT, READER, SUBSCRIBER)}
        self.costs = {name: [] for name in self.rates}
        self.lags = []
        self.reader_lags = []

    def measure(self, name):
        ours = self.pair.ours
        before = processor_seconds(ours.process.pid)
        done = pgbench(ours, "-n", "-c", "8", "-j", "2", "-T", str(self.arguments.seconds), check=True)
        used = processor_seconds(ours.process.pid) - before
        lines = done.stdout.splitlines()
        count = next(int(line.split()[-1].split("/")[0]) for line in lines if "actually processed" in line)
        self.rates[name].append(next(float(line.split()[2]) for line in lines if line.startswith("tps")))
        self.costs[name].append(used / count * 1e6)

    def with_reader(self):
        """Measures sending alone: the reader, on the same processors, discards the messages."""
        ours = self.pair.ours
        tool = [POSTGRES / "pg_recvlogical", "-h", str(ours.folder), "-p", str(ours.port), "-U", "postgres", "-d",
                "postgres", "-S", "idle"]
        reader = subprocess.Popen([*tool, "--start", "-f", "/dev/null", "-s", "1", "-o", "proto_version=1", "-o",
                                   "publication_names=p"], **TO_NOWHERE)
        try:
            self.measure(READER)
            if reader.poll() is not None:
                raise SystemExit("pg_recvlogical has ended")
            self.reader_lags.append(int(psql(ours, "select pg_current_wal_lsn() - sent_lsn from pg_stat_replication")))
        finally:
            reader.terminate()
            reader.wait()

    def with_subscriber(self):
        pair = self.pair
        psql(pair.stock, "truncate pgbench_accounts, pgbench_branches, pgbench_tellers, pgbench_history, marks")
        pair.subscribe("p")
        pair.wait_until_copied(300)
        pair.wait_until_equal_position(300)
        self.measure(SUBSCRIBER)
        self.lags.append(pair.wait_until_equal_position(300))
        psql(pair.stock, "drop subscription s")

    def with_slot(self):
        self.measure(SLOT)

    def published(self, *measurements):
        ours = self.pair.ours
        psql(ours, "create publication p for all tables")
        for measurement in measurements:
            if measurement != self.with_subscriber:
                psql(ours, "select pg_create_logical_replication_slot('idle', 'pgoutput')")
            measurement()
            if measurement != self.with_subscriber:
                psql(ours, "select pg_drop_replication_slot('idle')")
        psql(ours, "drop publication p")

    def round(self):
        """Measures forward and backward, so that changes over time, such as growing tables, affect all alike."""
        self.measure(NOBODY)
        self.published(self.with_slot, self.with_reader, self.with_subscriber)
        self.published(self.with_subscriber, self.with_reader, self.with_slot)
        self.measure(NOBODY)

    def lines(self):
        lines = []
        for name, rates in self.rates.items():
            line = [name]
            for values, all_values in ((rates, self.rates), (self.costs[name], self.costs)):
                middle = statistics.median(values)
                line += [f"{middle:.0f}", f"{middle / statistics.median(all_values[NOBODY]):.3f}",
                         ", ".join(f"{value:.0f}" for value in values)]
            lines.append(line)
        return lines


def measure_cost(pair, arguments):
    """The page's lines, and by how much the subscriber was behind at most."""
    pgbench(pair.ours, "-i", "-q", "-s", "10", check=True)
    pgbench(pair.stock, "-i", "-q", "-I", "tp", check=True)
    for server in (pair.ours, pair.stock):
        psql(server, "create table marks (n int primary key)")
    cost = Cost(pair, arguments)
    for _ in range(arguments.rounds):
        cost.round()
        print(*("  ".join(line) for line in cost.lines()), sep="\n", flush=True)
    print(f"behind at the end of the load: {max(cost.lags):.2f} s at most; pg_recvlogical by bytes: {cost.reader_lags}")
    return cost.lines(), max(cost.lags)
