"""A SIP server: its schema and tools, registrations with passwords, messages that are relayed, kept for who is away and
accounted for, two servers that find each other's phones in the database, what one loads and writes back."""
import hashlib
import os
import pathlib
import re
import socket
import subprocess
import threading
import time
import uuid

from steps import step

root = pathlib.Path(os.environ["PROGRAMS"])
libraries = root / "usr/lib/x86_64-linux-gnu"
port = int(os.environ["PORTS"])
database = os.environ["PGDATABASE"]
address = f"{os.environ['PGHOST']}:{os.environ['PGPORT']}"
here = pathlib.Path.cwd()
environment = os.environ | {"LD_LIBRARY_PATH": f"{libraries}:{libraries}/kamailio:{root}/lib/x86_64-linux-gnu",
                            "MYLIBDIR": str(libraries / "kamailio/kamctl")}
# Kamailio's tools look for the schema here when the package is not installed.
(here / "postgres").symlink_to(root / "usr/share/kamailio/postgres")
(here / ".kamctlrc").write_text(f"""
SIP_DOMAIN=example.org
DBENGINE=PGSQL
DBHOST={os.environ["PGHOST"]}
DBPORT={os.environ["PGPORT"]}
DBNAME={database}
DBROOTUSER=postgres
DBRWUSER=kamailio_check
DBRWPW=written
DBROUSER=kamailio_check_reader
DBROPW=read
STORE_PLAINTEXT_PW=0
INSTALL_EXTRA_TABLES=yes
INSTALL_PRESENCE_TABLES=yes
INSTALL_DBUID_TABLES=yes
ACL_GROUPS=staff
""")


def run(*words, text=""):
    done = subprocess.run([str(word) for word in words], env=environment, input=text, capture_output=True, text=True, timeout=100)
    print(done.stdout[-2000:], done.stderr[-2000:])
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, f"{words[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
    return done.stdout


def kamctl(*words):
    return run(root / "usr/sbin/kamctl", *words)


def psql(statement, base=database):
    return run("psql", "-XqAtv", "ON_ERROR_STOP=1", "-d", base, "-c", statement).strip()


def expect(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def until(seconds, condition):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s")


class Phone:
    """A SIP client that registers, sends messages and receives its own."""
    def __init__(self, name, password, server):
        self.name, self.password, self.server = name, password, server
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(3)
        self.contact = f"sip:{name}@127.0.0.1:{self.socket.getsockname()[1]}"
        self.call, self.count = uuid.uuid4().hex, 0
        self.inbox = []

    def take(self):
        """The next reply; messages are answered and kept on the way."""
        while True:
            data, sender = self.socket.recvfrom(65535)
            text = data.decode()
            if text.startswith("SIP/2.0"):
                if not text.startswith("SIP/2.0 100"):
                    return text
                continue
            kept = re.findall(r"^(?:Via|From|To|Call-ID|CSeq):.*\r\n", text, re.M | re.I)
            self.socket.sendto(("SIP/2.0 200 OK\r\n" + "".join(kept) + "Content-Length: 0\r\n\r\n").encode(), sender)
            body = text.split("\r\n\r\n", 1)[1]
            if body not in self.inbox:
                self.inbox.append(body)

    def listen(self, wanted):
        """Waits until a message with these words has come."""
        end = time.monotonic() + 15
        while not any(wanted in one for one in self.inbox):
            assert time.monotonic() < end, f"no {wanted!r} among {self.inbox}"
            try:
                self.take()
            except TimeoutError:
                pass

    def ask(self, method, uri, to, headers="", body="", login=""):
        self.count += 1
        request = (f"{method} {uri} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:{self.socket.getsockname()[1]};branch=z9hG4bK{uuid.uuid4().hex};rport\r\n"
                   f"From: <sip:{self.name}@example.org>;tag={self.call[:8]}\r\nTo: <{to}>\r\nCall-ID: {self.call}\r\nCSeq: {self.count} {method}\r\n"
                   f"Max-Forwards: 20\r\n{headers}{login}Content-Length: {len(body.encode())}\r\n\r\n{body}")
        # As is the way over UDP, again where no answer comes.
        for _ in range(5):
            self.socket.sendto(request.encode(), ("127.0.0.1", self.server))
            try:
                while f"CSeq: {self.count} " not in (reply := self.take()):
                    pass
                break
            except TimeoutError:
                continue
        else:
            raise AssertionError(f"no answer to {method}")
        code = int(reply.split()[1])
        challenge = re.search(r'^(WWW|Proxy)-Authenticate: Digest realm="([^"]+)", nonce="([^"]+)"', reply, re.M)
        if challenge and not login:
            def digest(*parts):
                return hashlib.md5(":".join(parts).encode()).hexdigest()
            kind, realm, nonce = challenge.groups()
            response = digest(digest(self.name, realm, self.password), nonce, digest(method, uri))
            name = "Authorization" if kind == "WWW" else "Proxy-Authorization"
            return self.ask(method, uri, to, headers, body, f'{name}: Digest username="{self.name}", realm="{realm}", nonce="{nonce}", uri="{uri}", '
                                                            f'response="{response}", algorithm=MD5\r\n')
        return code, reply

    def register(self, seconds=600):
        return self.ask("REGISTER", "sip:example.org", f"sip:{self.name}@example.org", f"Contact: <{self.contact}>;q=0.5\r\nExpires: {seconds}\r\n")

    def send(self, to, text):
        return self.ask("MESSAGE", f"sip:{to}@example.org", f"sip:{to}@example.org", "Content-Type: text/plain\r\n", text)[0]


def relay(sender, receiver, to, text):
    """A message that the receiver answers, before its sender hears of it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(sender.send(to, text)))
    thread.start()
    receiver.listen(text)
    thread.join()
    expect(answers, [200])


MODULES = """db_postgres kex corex tm tmx sl rr pv maxfwd usrloc registrar textops siputils xlog auth auth_db acc alias_db
domain msilo htable sqlops dialplan group uri_db""".split()


def start(number):
    """Starts one of the servers, which share only the database."""
    url = f"postgres://kamailio_check:written@{address}/{database}"
    (here / f"{number}.cfg").write_text(f"""#!KAMAILIO
debug=1
log_stderror=yes
children=2
disable_tcp=yes
auto_aliases=no
listen=udp:127.0.0.1:{port + number}
server_id={number + 1}
mpath="{libraries}/kamailio/modules/"
""" + "".join(f'loadmodule "{one}.so"\n' for one in MODULES) + f"""
modparam("usrloc|auth_db|acc|alias_db|domain|msilo|htable|dialplan|group|uri_db", "db_url", "{url}")
modparam("sqlops", "sqlcon", "check=>{url}")
modparam("usrloc", "db_mode", 3)
modparam("usrloc", "timer_interval", 1)
modparam("registrar", "min_expires", 1)
modparam("auth_db", "password_column", "ha1")
modparam("auth_db", "calculate_ha1", 0)
modparam("usrloc|auth_db|alias_db|group|uri_db", "use_domain", 1)
modparam("domain", "register_myself", 1)
modparam("acc", "db_flag", 1)
modparam("acc", "db_missed_flag", 2)
modparam("acc", "failed_transaction_flag", 3)
modparam("acc", "db_extra", "src_user=$fU;dst_user=$rU")
modparam("msilo", "check_time", 1)
modparam("msilo", "clean_period", 1)
modparam("msilo", "outbound_proxy", "sip:127.0.0.1:{port + number}")
modparam("htable", "htable", "seen=>size=8;dbtable=htable;dbmode=1")
""" + """
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("REGISTER")) {
    if (!auth_check("$fd", "subscriber", "1")) { auth_challenge("$fd", "0"); exit; }
    $sht(seen=>$tU) = $(sht(seen=>$tU){s.int}) + 1;
    save("location");
    m_dump();
    exit;
  }
  if (!is_method("MESSAGE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  if (!is_from_local() || !is_uri_host_local()) { sl_send_reply("403", "Elsewhere"); exit; }
  # Stored messages are sent by the server itself.
  if ($sp != $Rp) {
    if (!auth_check("$fd", "subscriber", "1")) { auth_challenge("$fd", "0"); exit; }
    consume_credentials();
    if ($rU == "chief" && !is_user_in("From", "staff")) { sl_send_reply("403", "Not Staff"); exit; }
  }
  dp_translate("1", "$rU/$rU");
  alias_db_lookup("dbaliases");
  sql_query("check", "select count(*) from location where username = '$(rU{s.escape.common})'", "found");
  if ($dbr(found=>[0,0]) == 0) {
    if (!does_uri_exist()) { sl_send_reply("404", "Not Found"); exit; }
    if (m_store("$ru")) { sl_send_reply("202", "Accepted"); } else { sl_send_reply("503", "Not Kept"); }
    exit;
  }
  sql_result_free("found");
  setflag(1);
  setflag(2);
  setflag(3);
  if (!lookup("location")) { sl_send_reply("480", "Away"); exit; }
  t_relay();
}
""")
    made = subprocess.Popen([root / "usr/sbin/kamailio", "-DD", "-E", "-f", f"{number}.cfg", "-Y", here, "-P", f"{number}.pid", "-m", "64", "-w", here],
                            env=environment)
    probe = Phone("nobody", "", port + number)
    probe.socket.settimeout(0.5)
    for _ in range(50):
        assert made.poll() is None, "the server has ended"
        try:
            expect(probe.ask("OPTIONS", "sip:example.org", "sip:example.org")[0], 405)
            return made
        except AssertionError as fault:
            if "no answer" not in str(fault):
                raise
    raise AssertionError("the server does not answer")


def stop(server):
    server.terminate()
    expect(server.wait(20), 0)


with step("schema"):
    # Its tool wants to make the database itself, and two users beside it.
    psql(f"DROP DATABASE {database}", "postgres")
    psql("DROP ROLE IF EXISTS kamailio_check", "postgres")
    psql("DROP ROLE IF EXISTS kamailio_check_reader", "postgres")
    run(root / "usr/sbin/kamdbctl", "create")
    run(root / "usr/sbin/kamdbctl", "dbuid")
    assert int(psql("SELECT count(*) FROM version")) > 60
with step("its tools"):
    for name in ("ada", "bo", "chief"):
        kamctl("add", f"{name}@example.org", name + "1")
    kamctl("passwd", "ada@example.org", "secret")
    kamctl("domain", "add", "example.org")
    kamctl("alias_db", "add", "office@example.org", "ada@example.org")
    kamctl("acl", "grant", "ada@example.org", "staff")
    kamctl("acl", "grant", "bo@example.org", "staff")
    kamctl("acl", "revoke", "bo@example.org", "staff")
    assert "ada" in kamctl("acl", "show")
    try:
        kamctl("add", "ada@example.org", "again")
        raise RuntimeError("added twice")
    except AssertionError:
        pass
    for table in ("acc", "missed_calls"):
        psql(f"ALTER TABLE {table} ADD COLUMN src_user VARCHAR(64) NOT NULL DEFAULT '', ADD COLUMN dst_user VARCHAR(64) NOT NULL DEFAULT ''")
    psql("INSERT INTO dialplan (dpid, pr, match_op, match_exp, match_len, subst_exp, repl_exp, attrs) "
         "VALUES (1, 1, 1, '^9([a-z]+)$', 0, '^9([a-z]+)$', '\\1', '')")
    psql("INSERT INTO htable (key_name, key_type, value_type, key_value) VALUES ('bo', 0, 1, '40')")
    expect(psql("SELECT string_agg(username, ' ' ORDER BY username) FROM subscriber"), "ada bo chief")
servers = []
try:
    with step("servers"):
        servers += [start(0), start(1)]
    ada, bo, chief = Phone("ada", "secret", port), Phone("bo", "bo1", port + 1), Phone("chief", "chief1", port + 1)
    with step("registrations"):
        expect(Phone("ada", "guessed", port).register()[0], 401)
        expect(Phone("nobody", "x", port).register()[0], 401)
        expect(ada.register()[0], 200)
        expect(bo.register()[0], 200)
        second = Phone("ada", "secret", port + 1)
        code, reply = second.register()
        expect((code, len(re.findall(r"<sip:ada@127.0.0.1:", reply))), (200, 2))
        expect(psql("SELECT username, count(*), min(q) FROM location GROUP BY 1 ORDER BY 1"), "ada|2|0.5\nbo|1|0.5")
        expect(second.register(0)[0], 200)
        expect(psql("SELECT count(*) FROM location WHERE username = 'ada'"), "1")
    with step("messages"):
        for sender, receiver, to, text in ((ada, bo, "bo", "hello bo"), (bo, ada, "ada", "it's ada"), (bo, ada, "office", "by an alias"), (bo, ada, "9ada", "by a plan")):
            relay(sender, receiver, to, text)
        expect(bo.send("nobody", "x"), 404)
        expect(bo.send("chief", "x"), 403)
        until(10, lambda: psql("SELECT src_user, dst_user, sip_code, count(*) FROM acc GROUP BY 1, 2, 3 ORDER BY 1, 2") == "ada|bo|200|1\nbo|ada|200|3")
    with step("messages for who is away"):
        for i in range(3):
            expect(ada.send("chief", f"kept {i} — é"), 202)
        expect(psql("SELECT count(*), min(inc_time) > 0 FROM silo WHERE username = 'chief'"), "3|t")
        expect(chief.register()[0], 200)
        for i in range(3):
            chief.listen(f"kept {i} — é")
        until(10, lambda: psql("SELECT count(*) FROM silo") == "0")
    with step("who stays away"):
        # The phone is there no more; the server hears nothing from it.
        expect(bo.register(1)[0], 200)
        until(20, lambda: psql("SELECT count(*) FROM location WHERE username = 'bo'") == "0")
        expect(ada.send("bo", "later"), 202)
    with step("stop and start"):
        # The last to stop writes back what it has counted, on top of what it had loaded.
        for server in servers:
            stop(server)
        expect(psql("SELECT key_name, key_value FROM htable ORDER BY 1"), "ada|2\nbo|42\nchief|1")
        servers[:] = [start(0)]
        chief.server = port
        relay(ada, chief, "chief", "still there")
finally:
    for server in servers:
        server.terminate()
    for server in servers:
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
with step("backup, drop, restore"):
    before = psql("SELECT count(*), sum(id) FROM acc")
    run(root / "usr/sbin/kamdbctl", "backup", here / "backup")
    run(root / "usr/sbin/kamdbctl", "restore", here / "backup")
    expect(psql("SELECT count(*), sum(id) FROM acc"), before)
    run(root / "usr/sbin/kamdbctl", "drop", text="y\n")
