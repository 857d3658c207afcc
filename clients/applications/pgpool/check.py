"""pgpool-II in front: its pool, SHOW, queries by both protocols, errors, COPY, a cancel, its cache of queries."""
import os
import pathlib
import signal
import subprocess
import time

from steps import step

root = pathlib.Path(os.environ["PROGRAMS"])
port = int(os.environ["PORTS"])
here = os.getcwd()
library = root / "usr/lib/x86_64-linux-gnu"
environment = os.environ | {"LD_LIBRARY_PATH": f"{library}", "PGPOOLKEYFILE": f"{here}/key"}
pathlib.Path("pgpool.conf").write_text(f"""
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = {port}
pcp_port = {port + 1}
pcp_socket_dir = '{here}'
unix_socket_directories = '{here}'
socket_dir = '{here}'
backend_hostname0 = '{os.environ["SOCKETS"]}'
backend_port0 = {os.environ["PGPORT"]}
pid_file_name = '{here}/pgpool.pid'
logdir = '{here}'
num_init_children = 8
max_pool = 2
connection_cache = on
memory_cache_enabled = on
memqcache_oiddir = '{here}/oids'
memqcache_auto_cache_invalidation = on
enable_pool_hba = off
sr_check_period = 0
health_check_period = 0
""")
pathlib.Path("pcp.conf").write_text("")
pathlib.Path("oids").mkdir(exist_ok=True)
through = os.environ | {"PGPORT": str(port), "PGHOST": here}


def psql(*words, text=None):
    done = subprocess.run(["psql", "-XqAt", *words], env=through, capture_output=True, text=True, input=text, timeout=30)
    return done.stdout.strip() or done.stderr.strip()


def expect(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


program = next(one for one in (root / "usr/sbin/pgpool", root / "usr/bin/pgpool") if one.exists())
server = subprocess.Popen([program, "-n", "-f", "pgpool.conf", "-F", "pcp.conf"], env=environment)
try:
    with step("start"):
        for _ in range(100):
            if psql("-c", "SELECT 1") == "1":
                break
            time.sleep(0.1)
        expect(psql("-c", "SELECT 1"), "1")
    with step("statements"):
        psql("-c", "CREATE TABLE through (id int PRIMARY KEY, name text)")
        psql("-c", "INSERT INTO through SELECT i, 'n' || i FROM generate_series(1, 1000) i")
        expect(psql("-c", "SELECT count(*), max(name) FROM through"), "1000|n999")
        assert "division by zero" in psql("-c", "SELECT 1 / 0")
        expect(psql("-c", "BEGIN", "-c", "DELETE FROM through", "-c", "ROLLBACK", "-c", "SELECT count(*) FROM through"), "1000")
    with step("its cache is told of changes"):
        for name in ("a", "b"):
            psql("-c", f"UPDATE through SET name = '{name}' WHERE id = 1")
            for _ in range(3):
                expect(psql("-c", "SELECT name FROM through WHERE id = 1"), name)
    with step("COPY"):
        expect(psql("-c", "COPY through TO STDOUT").count("\n"), 999)
        psql("-c", "COPY through FROM STDIN", text="2000\tcopied\n\\.\n")
        expect(psql("-c", "SELECT name FROM through WHERE id = 2000"), "copied")
    with step("SHOW of its own"):
        assert "up" in psql("-c", "SHOW pool_nodes")
    with step("pgbench"):
        bench = ["pgbench", "-n", "-h", here, "-p", str(port)]
        for words in ([*bench, "-i", "-q", "-s", "1"], [*bench, "-c", "4", "-t", "100", "-M", "prepared"],
                      [*bench, "-c", "4", "-t", "100", "-M", "extended", "-S"]):
            done = subprocess.run(words, env=through, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr[-500:]
        expect(psql("-c", "SELECT count(*) FROM pgbench_history"), "400")
finally:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
