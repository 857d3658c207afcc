"""Our server and PostgreSQL 15 as processes, set up alike: data below one folder, a unix socket without
passwords beside it, TCP on loopback with SCRAM, the same memory for pages."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
PASSWORD = "compare-password"
TICK = os.sysconf("SC_CLK_TCK")
TO_NOWHERE = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def postgres_version():
    """Returns the version in the form "PostgreSQL 15.18"."""
    said = subprocess.run([POSTGRES / "postgres", "--version"], capture_output=True, text=True).stdout
    return "PostgreSQL " + said.split(") ")[1].split()[0]


def stat_fields(pid):
    # The name may hold blanks; what follows its last bracket does not.
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processor_seconds(pid):
    """Returns the processor seconds of a process and its children, including those that have ended."""
    total = sum(map(int, stat_fields(pid)[11:15]))
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = stat_fields(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
    return total / TICK


class Server:
    name = ""
    process = None

    def __init__(self, home, port, buffers="4GB"):
        self.port = port
        self.folder = home / self.name
        self.buffers = buffers
        # Of the configuration, by name, beside those that all comparisons have.
        self.configuration = {}

    def configured(self, settings):
        """The words of the command line for these and the server's own settings."""
        return [word for name, value in (settings | self.configuration).items() for word in ("-c", f"{name}={value}")]

    def start(self):
        self.launch(self.command())

    def address(self, kind):
        return str(self.folder) if kind == "unix" else "127.0.0.1"

    def environment(self, kind="unix"):
        return os.environ | {"PGHOST": self.address(kind), "PGPORT": str(self.port),
                             "PGUSER": "postgres", "PGDATABASE": "postgres", "PGPASSWORD": PASSWORD}

    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def wait_until_it_answers(self):
        for _ in range(3000):
            if subprocess.run(["psql", "-qAtc", "SELECT 1"], env=self.environment(), **TO_NOWHERE).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        last = (self.folder / "log").read_text(errors="replace")[-2000:]
        raise SystemExit(f"{self.name} does not start; the end of its log:\n{last}")

    def launch(self, words):
        log = open(self.folder / "log", "a")
        self.process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
        self.wait_until_it_answers()

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self.process = None


class Swizzle(Server):
    name = "swizzle"

    def __init__(self, home, port, program, data="data", connections=10_100, buffers="4GB"):
        super().__init__(home, port, buffers)
        self.program = program
        self.data = self.folder / data
        self.connections = connections

    def create(self):
        shutil.rmtree(self.data, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "password").write_text(PASSWORD)
        subprocess.run([self.program, "init", "-D", self.data, "-U", "postgres", "--pwfile",
                        self.folder / "password"], check=True, **TO_NOWHERE)
        (self.data / "swizzle_hba.conf").write_text(
            "local all all trust\n"
            "host all all 127.0.0.1/32 scram-sha-256\n")

    def command(self):
        return [str(word) for word in
                (self.program, "-D", self.data, "-p", self.port, "-k", self.folder,
                 *self.configured({"shared_buffers": self.buffers, "max_connections": self.connections}))]


class Postgres(Server):
    name = "postgres"

    def __init__(self, home, port, buffers="4GB"):
        super().__init__(home, port, buffers)
        self.data = self.folder / "data"

    @staticmethod
    def as_user(words):
        """PostgreSQL does not run as root: then it runs as the package's user."""
        if os.getuid() == 0:
            words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
        return [str(word) for word in words]

    def create(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        (self.folder / "password").write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, "postgres", "postgres")
        subprocess.run(self.as_user([POSTGRES / "initdb", "-D", self.data, "-U", "postgres",
                                     "--pwfile", self.folder / "password", "--auth-local=trust",
                                     "--auth-host=scram-sha-256", "--locale=C", "-E", "UTF8"]),
                       check=True, cwd=self.folder, **TO_NOWHERE)

    def command(self):
        return self.as_user([POSTGRES / "postgres", "-D", self.data, "-p", self.port, "-k", self.folder,
                             *self.configured({"shared_buffers": self.buffers, "max_wal_size": "20GB"})])
