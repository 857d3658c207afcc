"""A name server whose zones are rows: its schema, pdnsutil's changes, answers over UDP, DNSSEC keys."""
import os
import pathlib
import random
import socket
import struct
import subprocess
import time

from steps import step

root = pathlib.Path(os.environ["PROGRAMS"])
libraries = root / "usr/lib/x86_64-linux-gnu"
environment = os.environ | {"LD_LIBRARY_PATH": f"{libraries}:{libraries}/pdns"}
port = int(os.environ["PORTS"])
pathlib.Path("pdns.conf").write_text(f"""
launch=gpgsql
module-dir={libraries}/pdns
gpgsql-host={os.environ["PGHOST"]}
gpgsql-port={os.environ["PGPORT"]}
gpgsql-dbname={os.environ["PGDATABASE"]}
gpgsql-user={os.environ["PGUSER"]}
gpgsql-password={os.environ["PGPASSWORD"]}
gpgsql-dnssec=yes
local-address=127.0.0.1
local-port={port}
socket-dir={os.getcwd()}
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
""")


def util(*words):
    done = subprocess.run([root / "usr/bin/pdnsutil", "--config-dir=.", *words], env=environment, capture_output=True,
                          text=True, timeout=60)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, f"{' '.join(words)}: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]}"
    return done.stdout


def ask(name, kind):
    """The reply code and how many answers; asked again while the server starts."""
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0" + struct.pack("!HH", kind, 1)
    for _ in range(50):
        number = random.randrange(65536)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(1)
            client.sendto(struct.pack("!HHHHHH", number, 0, 1, 0, 0, 0) + question, ("127.0.0.1", port))
            try:
                answer = client.recv(4096)
            except OSError:
                time.sleep(0.1)
                continue
        _, flags, _, answers, _, _ = struct.unpack("!HHHHHH", answer[:12])
        return flags & 15, answers
    raise AssertionError("no answer")


with step("schema"):
    schema = next(root.rglob("schema.pgsql.sql"))
    done = subprocess.run(["psql", "-Xqv", "ON_ERROR_STOP=1", "-f", schema], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
with step("zones"):
    util("create-zone", "example.org", "ns1.example.org")
    util("add-record", "example.org", "www", "A", "192.0.2.1")
    util("add-record", "example.org", "www", "A", "192.0.2.2")
    util("add-record", "example.org", "@", "MX", "10 mail.example.org")
    util("add-record", "example.org", "*.wild", "TXT", '"anything"')
    assert "example.org" in util("list-all-zones")
    assert "mail.example.org" in util("list-zone", "example.org")
server = subprocess.Popen([root / "usr/sbin/pdns_server", "--config-dir=.", "--daemon=no", "--guardian=no"], env=environment)
try:
    with step("answers"):
        assert ask("www.example.org", 1) == (0, 2)
        assert ask("example.org", 15) == (0, 1)
        assert ask("a.b.wild.example.org", 16) == (0, 1)
        assert ask("nobody.example.org", 1) == (3, 0)
    with step("a change is answered at once"):
        util("replace-rrset", "example.org", "www", "A", "192.0.2.9")
        assert ask("www.example.org", 1) == (0, 1)
    with step("DNSSEC"):
        util("secure-zone", "example.org")
        util("rectify-zone", "example.org")
        assert "CSK" in util("show-zone", "example.org")
        assert ask("example.org", 48) == (0, 1)
        util("check-zone", "example.org")
    with step("delete"):
        util("delete-zone", "example.org")
        assert ask("www.example.org", 1)[0] == 5
finally:
    server.terminate()
    server.wait(20)
