"""The two servers that are compared: a PostgreSQL 15 from its Debian package and our swizzled, each
with a cluster of its own below one scratch folder, reachable through unix sockets only."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import wire

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")


class Postgres:
    """PostgreSQL does not run as root: then it runs as the package's user postgres."""

    def __init__(self, scratch, port, icu_locale="", settings=()):
        self.folder = scratch / "postgres"
        self.port = port
        self.locale = f"locale_provider icu icu_locale '{icu_locale}'" if icu_locale else ""
        self.databases = 0
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self._command("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust",
                      "--locale=C", "-E", "UTF8", "-N")
        options = f"-p {port} -k {self.folder} -c listen_addresses= -c fsync=off -c max_prepared_transactions=5"
        options += "".join(f" -c {option}" for option in settings)
        self._command("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-o", options,
                      "-w", "start")

    def _command(self, name, *arguments):
        words = [str(POSTGRES / name), *map(str, arguments)]
        if os.getuid() == 0:
            words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stdout}{done.stderr}")

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
        """One more connection to the database that fresh() made last."""
        return wire.Connection(self.folder, self.port, database, user=user)

    def type_names(self):
        connection = wire.Connection(self.folder, self.port)
        rows = connection.run("select oid, typname from pg_type where oid < 16384")
        connection.close()
        return {int(value[0]): value[1] for kind, value in rows if kind == "row"}

    def stop(self):
        self._command("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


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
        """A connection to what is there when the server was killed and has recovered."""
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
