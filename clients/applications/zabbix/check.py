"""A monitor: its schema and data, its server, values that come for an item, a trigger that becomes a problem and recovers."""
import gzip
import json
import os
import pathlib
import socket
import struct
import subprocess
import time

from steps import step

root = pathlib.Path(os.environ["PROGRAMS"])
library = ":".join(str(root / one) for one in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
# It takes none above 32767.
port = int(os.environ["PORTS"]) % 30000 + 2000
here = os.getcwd()


def psql(*words, text=None):
    done = subprocess.run(["psql", "-XqAtv", "ON_ERROR_STOP=1", *words], capture_output=True, text=True, input=text, timeout=200)
    assert done.returncode == 0, done.stderr.strip()[-300:]
    return done.stdout.strip()


def until(query, wanted):
    for _ in range(300):
        if (got := psql("-c", query)) == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{query}: {got!r} instead of {wanted!r}")


def send(value):
    request = json.dumps({"request": "sender data", "data": [{"host": "boiler", "key": "heat", "value": value}]}).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as server:
        server.sendall(b"ZBXD\1" + struct.pack("<II", len(request), 0) + request)
        answer = b""
        while part := server.recv(4096):
            answer += part
    return json.loads(answer[13:])["info"]


with step("schema"):
    folder = root / "usr/share/zabbix-server-pgsql"
    for name in ("schema", "images", "data"):
        psql("-1", text=gzip.open(folder / f"{name}.sql.gz", "rt").read())
    assert int(psql("-c", "SELECT count(*) FROM items")) > 10000
with step("a host"):
    psql("-1", text="""
INSERT INTO hosts (hostid, host, name, status) VALUES (90001, 'boiler', 'Boiler', 0);
INSERT INTO items (itemid, type, hostid, name, key_, value_type, history, trends, params, description, posts, headers)
  VALUES (90001, 2, 90001, 'Heat', 'heat', 0, '7d', '365d', '', '', '', '');
INSERT INTO item_rtdata (itemid) VALUES (90001);
INSERT INTO triggers (triggerid, expression, description, status, priority, comments, opdata)
  VALUES (90001, '{90001}>100', 'Boiler is hot', 0, 4, '', '');
INSERT INTO functions (functionid, itemid, triggerid, name, parameter) VALUES (90001, 90001, 90001, 'last', '$');
""")
pathlib.Path("server.conf").write_text(f"""
ListenPort={port}
ListenIP=127.0.0.1
LogType=console
PidFile={here}/pid
SocketDir={here}
DBHost={os.environ["PGHOST"]}
DBPort={os.environ["PGPORT"]}
DBName={os.environ["PGDATABASE"]}
DBUser={os.environ["PGUSER"]}
DBPassword={os.environ["PGPASSWORD"]}
StartPollers=1
StartPollersUnreachable=1
StartPingers=0
StartDiscoverers=0
StartHTTPPollers=0
StartTrappers=1
StartPreprocessors=1
StartDBSyncers=2
StartEscalators=1
StartAlerters=1
CacheUpdateFrequency=1
AllowRoot=1
AllowUnsupportedDBVersions=1
""")
server = subprocess.Popen([root / "usr/sbin/zabbix_server", "-f", "-c", "server.conf"],
                          env=os.environ | {"LD_LIBRARY_PATH": library})
try:
    with step("values"):
        for attempt in range(300):
            assert server.poll() is None, "the server has ended"
            try:
                if "processed: 1" in send("20.5"):
                    break
            except OSError:
                pass
            time.sleep(0.1)
        until("SELECT value FROM history WHERE itemid = 90001 ORDER BY clock DESC, ns DESC LIMIT 1", "20.5")
    with step("a problem"):
        send("140")
        until("SELECT count(*), max(name) FROM problem WHERE objectid = 90001 AND r_eventid IS NULL", "1|Boiler is hot")
    with step("its recovery"):
        send("60")
        until("SELECT count(*) FROM problem WHERE objectid = 90001 AND r_eventid IS NOT NULL", "1")
        until("SELECT value FROM triggers WHERE triggerid = 90001", "0")
    with step("what it says of itself"):
        assert psql("-c", "SELECT count(*) FROM ha_node WHERE status = 3") == "1"
finally:
    server.terminate()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
