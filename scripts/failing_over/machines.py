"""Three machines' worth on loopback: on each a Patroni and the server that it starts, with HAProxy in front of all."""
import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.request

from comparison.servers import ROOT

PASSWORD = "failover"
PROGRAMS = ROOT / "packaging" / "patroni"
# The shortest that Patroni allows: a machine that is gone is replaced after TTL seconds at the latest.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 1, 3


class Machine:
    """A Patroni, and the server that it starts."""

    def __init__(self, number, cluster):
        self.name = f"node{number}"
        self.cluster = cluster
        self.home = cluster.home / self.name
        self.data = self.home / "data"
        self.port = cluster.port + number
        self.rest = cluster.port + 10 + number
        self.raft = cluster.port + 20 + number
        self.process = None

    def configuration(self):
        cluster = self.cluster
        others = [other.raft for other in cluster.machines if other is not self]
        parameters = {"unix_socket_directories": str(self.home), "shared_buffers": "64MB", "reactor_threads": 1,
                      "wal_retrieve_retry_interval": "500ms", "checkpoint_timeout": "30s"}
        return {
            "scope": "failover", "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "raft": {"data_dir": str(self.home / "raft"), "self_addr": f"127.0.0.1:{self.raft}",
                     "partner_addrs": [f"127.0.0.1:{port}" for port in others]},
            "bootstrap": {
                "dcs": {"ttl": TTL, "loop_wait": LOOP_WAIT, "retry_timeout": RETRY_TIMEOUT,
                        "maximum_lag_on_failover": 1 << 30,
                        # A primary that has ended fails over: it is not started again in its place.
                        "primary_start_timeout": 0,
                        "synchronous_mode": cluster.is_synchronous,
                        "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": {}}},
                "initdb": [{"encoding": "UTF8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data), "bin_dir": str(PROGRAMS), "pgpass": str(self.home / "pgpass"),
                "authentication": {"superuser": {"username": "postgres", "password": PASSWORD},
                                   "replication": {"username": "standby", "password": PASSWORD}},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 scram-sha-256",
                           "host replication standby 127.0.0.1/32 scram-sha-256",
                           "host replication postgres 127.0.0.1/32 scram-sha-256"],
                "parameters": parameters,
            },
        }

    def start(self):
        self.home.mkdir(exist_ok=True)
        file = self.home / "patroni.yml"
        file.write_text(json.dumps(self.configuration(), indent=1))
        log = open(self.home / "log", "ab")
        self.process = subprocess.Popen([self.cluster.patroni, file], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                        env=os.environ | {"SWIZZLED": str(self.cluster.program)})

    def server_process(self):
        """The process id of its server, or None."""
        try:
            number = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            os.kill(number, 0)
        except (OSError, ValueError):
            return None
        # The id may have gone to another process.
        words = pathlib.Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
        return number if str(self.data).encode() in words else None

    def signal_server(self, number):
        process = self.server_process()
        if process is not None:
            os.kill(process, number)

    def signal_all(self, number):
        """As if the machine had lost its power, stood still, or went on."""
        self.process.send_signal(number)
        self.signal_server(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.signal_all(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    def __init__(self, home, port, program, tools, is_synchronous):
        self.home, self.port, self.program = home, port, program
        self.patroni, self.haproxy = tools
        self.is_synchronous = is_synchronous
        self.machines = [Machine(number, self) for number in (1, 2, 3)]
        self.balancer = None
        self.balanced_port = port + 30 if self.haproxy else None

    def start(self):
        for machine in self.machines:
            machine.start()
        if self.haproxy:
            self.start_balancer()

    def start_balancer(self):
        servers = "\n".join(f"  server {m.name} 127.0.0.1:{m.port} check port {m.rest}" for m in self.machines)
        file = self.home / "haproxy.cfg"
        file.write_text(f"""global
  maxconn 200
defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  timeout check 2s
listen primary
  bind 127.0.0.1:{self.balanced_port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
""")
        log = open(self.home / "haproxy.log", "ab")
        libraries = ":".join(str(path) for path in (self.haproxy / "usr/lib").glob("*-linux-gnu"))
        self.balancer = subprocess.Popen([self.haproxy / "usr/sbin/haproxy", "-db", "-f", file], stdout=log, stderr=log,
                                         env=os.environ | {"LD_LIBRARY_PATH": libraries})

    def conninfo(self):
        """Where clients connect: HAProxy, or all three by libpq's own means."""
        common = f"user=postgres password={PASSWORD} dbname=postgres connect_timeout=2"
        if self.haproxy:
            return f"host=127.0.0.1 port={self.balanced_port} {common}"
        ports = ",".join(str(machine.port) for machine in self.machines)
        return f"host=127.0.0.1,127.0.0.1,127.0.0.1 port={ports} target_session_attrs=read-write {common}"

    def members(self):
        """What the first Patroni that answers says of all, by name."""
        for machine in self.machines:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{machine.rest}/cluster", timeout=2) as answer:
                    return {member["name"]: member for member in json.load(answer)["members"]}
            except (OSError, urllib.error.URLError, ValueError):
                continue
        return {}

    def leader(self):
        members = self.members()
        for machine in self.machines:
            member = members.get(machine.name, {})
            if member.get("role") == "leader" and member.get("state") == "running":
                return machine
        return None

    def is_whole(self):
        """One leads, and two follow on its timeline; at least one of them counts where commits wait."""
        members = list(self.members().values())
        leaders = [member for member in members if member["role"] == "leader" and member["state"] == "running"]
        others = [member for member in members if member["role"] != "leader"]
        if len(leaders) != 1 or len(others) != 2:
            return False
        follow = all(member["state"] == "streaming" and member.get("timeline") == leaders[0].get("timeline")
                     for member in others)
        counts = not self.is_synchronous or any(member["role"] in ("sync_standby", "quorum_standby") for member in others)
        return follow and counts

    def wait_until_whole(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.is_whole():
                return
            time.sleep(0.5)
        raise RuntimeError(f"the cluster is not whole after {seconds} s: {json.dumps(self.members())}")

    def stop(self):
        for machine in self.machines:
            if machine.process is not None and machine.process.poll() is None:
                machine.signal_all(signal.SIGCONT)
        # All at once: none shall take over from another.
        for machine in self.machines:
            if machine.process is not None and machine.process.poll() is None:
                machine.process.send_signal(signal.SIGTERM)
        for machine in self.machines:
            machine.stop()
            machine.signal_server(signal.SIGKILL)
        if self.balancer is not None:
            self.balancer.terminate()
            self.balancer.wait()
