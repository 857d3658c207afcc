"""A RADIUS server that asks the database who may log in, and writes there who did: its schema, queries, accounting."""
import os
import pathlib
import shutil
import subprocess
import time

from steps import step

root = pathlib.Path(os.environ["PROGRAMS"])
library = root / "usr/lib"
environment = os.environ | {"LD_LIBRARY_PATH": f"{library}/freeradius:{library}/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"}
port = int(os.environ["PORTS"])
here = pathlib.Path.cwd()
etc = root / "etc/freeradius/3.0"
shutil.copytree(etc / "mods-config/sql", here / "sql", dirs_exist_ok=True)
(here / "radiusd.conf").write_text(f"""
prefix = {here}
name = check
logdir = {here}
run_dir = {here}
db_dir = {here}
libdir = {library}/freeradius
pidfile = {here}/radiusd.pid
max_request_time = 10
cleanup_delay = 0
log {{
  destination = stdout
}}
security {{
  allow_vulnerable_openssl = yes
}}
client loopback {{
  ipaddr = 127.0.0.1
  secret = checking
}}
thread pool {{
  start_servers = 2
  max_servers = 4
}}
instantiate {{
  expr
}}
modules {{
  expr {{
  }}
  pap {{
  }}
  sql {{
    dialect = "postgresql"
    driver = "rlm_sql_postgresql"
    server = "{os.environ["PGHOST"]}"
    port = {os.environ["PGPORT"]}
    login = "{os.environ["PGUSER"]}"
    password = "{os.environ["PGPASSWORD"]}"
    radius_db = "{os.environ["PGDATABASE"]}"
    acct_table1 = "radacct"
    acct_table2 = "radacct"
    postauth_table = "radpostauth"
    authcheck_table = "radcheck"
    groupcheck_table = "radgroupcheck"
    authreply_table = "radreply"
    groupreply_table = "radgroupreply"
    usergroup_table = "radusergroup"
    client_table = "nas"
    group_attribute = "SQL-Group"
    delete_stale_sessions = yes
    read_clients = no
    pool {{
      start = 2
      min = 1
      max = 4
      spare = 1
      uses = 0
      lifetime = 0
      idle_timeout = 60
    }}
    $INCLUDE {here}/sql/main/postgresql/queries.conf
  }}
}}
server default {{
  listen {{
    type = auth
    ipaddr = 127.0.0.1
    port = {port}
  }}
  listen {{
    type = acct
    ipaddr = 127.0.0.1
    port = {port + 1}
  }}
  authorize {{
    sql
    pap
  }}
  authenticate {{
    Auth-Type PAP {{
      pap
    }}
  }}
  accounting {{
    sql
  }}
  post-auth {{
    sql
    Post-Auth-Type REJECT {{
      sql
    }}
  }}
}}
""")


def psql(*words):
    done = subprocess.run(["psql", "-XqAtv", "ON_ERROR_STOP=1", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def expect(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def client(where, kind, *attributes):
    done = subprocess.run([root / "usr/bin/radclient", "-D", root / "usr/share/freeradius", "-x", "-r", "2", "-t", "3",
                           f"127.0.0.1:{where}", kind, "checking"], env=environment, input=", ".join(attributes) + "\n",
                          capture_output=True, text=True, timeout=60)
    print(done.stdout, done.stderr)
    return done.stdout


with step("schema"):
    psql("-f", here / "sql/main/postgresql/schema.sql")
    psql("-c", "INSERT INTO radcheck (username, attribute, op, value) VALUES ('ada', 'Cleartext-Password', ':=', 'secret')",
         "-c", "INSERT INTO radusergroup (username, groupname) VALUES ('ada', 'staff')",
         "-c", "INSERT INTO radgroupreply (groupname, attribute, op, value) VALUES ('staff', 'Session-Timeout', ':=', '3600')",
         "-c", "INSERT INTO radreply (username, attribute, op, value) VALUES ('ada', 'Reply-Message', ':=', 'Welcome')")
server = subprocess.Popen([root / "usr/sbin/freeradius", "-f", "-l", "stdout", "-d", here, "-n", "radiusd", "-D", root / "usr/share/freeradius"],
                          env=environment)
try:
    with step("who may log in"):
        for _ in range(100):
            said = client(port, "auth", 'User-Name = "ada"', 'User-Password = "secret"')
            if "Access-Accept" in said:
                break
            assert server.poll() is None, "the server has ended"
            time.sleep(0.1)
        assert "Welcome" in said and "Session-Timeout = 3600" in said, said
    with step("who may not"):
        assert "Access-Reject" in client(port, "auth", 'User-Name = "ada"', 'User-Password = "guessed"')
        assert "Access-Reject" in client(port, "auth", 'User-Name = "bo"', 'User-Password = "secret"')
        expect(psql("-c", "SELECT username, reply, count(*) FROM radpostauth GROUP BY 1, 2 ORDER BY 1, 2"),
               "ada|Access-Accept|1\nada|Access-Reject|1\nbo|Access-Reject|1")
    with step("accounting"):
        session = ['User-Name = "ada"', 'Acct-Session-Id = "s1"', "NAS-IP-Address = 127.0.0.1", "NAS-Port = 1",
                   "Framed-IP-Address = 10.0.0.7", 'Acct-Unique-Session-Id = "u1"']
        for status, more in (("Start", []), ("Interim-Update", ["Acct-Session-Time = 30", "Acct-Input-Octets = 100"]),
                             ("Stop", ["Acct-Session-Time = 60", "Acct-Input-Octets = 5000", "Acct-Terminate-Cause = User-Request"])):
            assert "Accounting-Response" in client(port + 1, "acct", *session, f"Acct-Status-Type = {status}", *more)
        expect(psql("-c", "SELECT username, framedipaddress, acctsessiontime, acctinputoctets, acctstoptime IS NOT NULL, "
                          "acctterminatecause FROM radacct"), "ada|10.0.0.7|60|5000|t|User-Request")
finally:
    server.terminate()
    server.wait(20)
