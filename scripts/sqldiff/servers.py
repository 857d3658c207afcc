"""The two servers that are compared, a PostgreSQL and our swizzled, each with a cluster of its own. PostgreSQL 15
comes from its Debian package, 18 from a root of its own (scripts/oracle)."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import wire

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The version of PostgreSQL that is asked.
ORACLE = int(os.environ.get("SWIZZLE_ORACLE", "15"))


class Cluster:
    """A cluster of a PostgreSQL version, and its programs. A version that this machine's packages lack has a root of
    its own (scripts/oracle), with its cluster below that and not below `scratch`. PostgreSQL does not run as root, so
    root runs it as the package's user postgres."""

    def __init__(self, scratch, port, settings=(), version=ORACLE, addresses=""):
        is_packaged = version == 15
        build = pathlib.Path(os.environ.get("SWIZZLE_BUILD_ROOT", ROOT / "build")).resolve()
        self.root = pathlib.Path("/") if is_packaged else build / f"oracle-{version}"
        self.programs = pathlib.Path(f"usr/lib/postgresql/{version}/bin")
        self.folder = scratch / "postgres" if is_packaged else self.root / "srv" / f"postgres-{port}"
        self.inside = pathlib.Path("/") / self.folder.resolve().relative_to(self.root)
        self.port = port
        self.version = version
        self.settings = f"-p {port} -k {self.inside} -c listen_addresses={addresses} -c fsync=off"
        # A root of its own has no /dev/shm.
        self.settings += " -c max_prepared_transactions=5" + ("" if is_packaged else " -c dynamic_shared_memory_type=mmap")
        self.settings += "".join(f" -c {option}" for option in settings)

    def is_there(self):
        return (self.root / self.programs / "postgres").exists()

    def start(self):
        """Starts it as a new cluster."""
        if not self.is_there():
            raise SystemExit(f"no PostgreSQL in {self.root / self.programs}; scripts/oracle can make one")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if os.getuid() == 0:
            shutil.chown(self.folder, *self._user())
        self._command("initdb", "-D", self.inside / "data", "-U", "postgres", "-A", "trust",
                      "--locale=C", "-E", "UTF8", "-N")
        self._command("pg_ctl", "-D", self.inside / "data", "-l", self.inside / "log", "-o", self.settings,
                      "-w", "start")

    def _user(self):
        """The numbers of user and group, which a root of its own has in a file of its own."""
        for line in (self.root / "etc/passwd").read_text().splitlines():
            name, _, user, group = line.split(":")[:4]
            if name == "postgres":
                return int(user), int(group)
        raise SystemExit(f"no user postgres in {self.root}")

    def _run(self, name, *arguments):
        words = [f"/{self.programs / name}", *map(str, arguments)]
        if os.getuid() == 0:
            user, group = self._user()
            words = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *words]
            if self.root != pathlib.Path("/"):
                words = ["chroot", str(self.root), *words]
        return subprocess.run(words, capture_output=True, text=True, cwd=self.folder)

    def _command(self, name, *arguments):
        done = self._run(name, *arguments)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stdout}{done.stderr}")

    def is_running(self):
        return self.folder.is_dir() and self._run("pg_ctl", "-D", self.inside / "data", "status").returncode == 0

    def stop(self):
        self._command("pg_ctl", "-D", self.inside / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def has_postgres():
    return Cluster(pathlib.Path("/tmp"), 0).is_there()


class Postgres(Cluster):
    """A running PostgreSQL, by default the one that SWIZZLE_ORACLE names."""

    def __init__(self, scratch, port, icu_locale="", settings=(), version=ORACLE):
        super().__init__(scratch, port, settings, version)
        self.locale = f"locale_provider icu icu_locale '{icu_locale}'" if icu_locale else ""
        self.databases = 0
        self.start()

    def fresh(self):
        """A connection to an empty database."""
        self.databases += 1
        with_all = wire.Connection(self.folder, self.port)
        for (name,) in [v for k, v in with_all.run("select datname from pg_database where oid >= 16384")
                        if k == "row"]:
            with_all.run(f'drop database "{name}" with (force)')
        # Roles belong to no database and would stay behind otherwise.
        for (name,) in [v for k, v in with_all.run("select rolname from pg_roles where oid >= 16384")
                        if k == "row"]:
            with_all.run(f'drop role "{name}"')
        with_all.run(f"create database script template template0 {self.locale}")
        with_all.close()
        return self.again()

    def again(self, user="postgres", database="script"):
        """Opens another connection to the database that fresh() created last."""
        return wire.Connection(self.folder, self.port, database, user=user)

    def type_names(self):
        connection = wire.Connection(self.folder, self.port)
        rows = connection.run("select oid, typname from pg_type where oid < 16384")
        connection.close()
        return {int(value[0]): value[1] for kind, value in rows if kind == "row"}


class Swizzle:
    def __init__(self, scratch, port, program, icu_locale="", settings=(), address_space=resource.RLIM_INFINITY):
        self.address_space = address_space
        self.options = [word for option in settings for word in ("-c", option)]
        self.folder = scratch / "swizzle"
        self.locale = ["--locale-provider", "icu", "--icu-locale", icu_locale] if icu_locale else []
        self.port = port
        self.program = program
        self.process = None

    def fresh(self):
        self.stop()
        self.folder.mkdir(parents=True)
        (self.folder / "password").write_text("of no use here\n")
        subprocess.run([self.program, "init", "-D", self.folder / "data", "-U", "postgres", "--pwfile",
                        self.folder / "password", *self.locale], check=True, capture_output=True)
        (self.folder / "data" / "swizzle_hba.conf").write_text("local all all trust\n")
        return self._start()

    def after_kill(self):
        """Opens a connection to the database after the server was killed and has recovered."""
        self.process.kill()
        self.process.wait()
        return self._start()

    def _start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                [self.program, "-D", self.folder / "data", "-p", str(self.port), "-k", self.folder, "-h", "",
                 "-c", "shared_buffers=128MB", "-c", "max_prepared_transactions=5", *self.options], stdout=log, stderr=log,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space)))
        for _ in range(300):
            try:
                return wire.Connection(self.folder, self.port)
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise SystemExit("swizzled does not start:\n" + (self.folder / "log").read_text())

    def again(self, user="postgres", database="postgres"):
        return wire.Connection(self.folder, self.port, database, user=user)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)
